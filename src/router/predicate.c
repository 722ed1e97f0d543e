#include "router/predicate.h"

#include <stdlib.h>

#include "base/regex.h"
#include "config/transform_config.h"
#include "router/record.h"

enum wr_status predicate_init(struct predicate *p, const struct predicate_config *config,
                              struct wr_error *err)
{
    *p = (struct predicate){.config = config};
    if (config->kind != PREDICATE_TOPIC_NAME_MATCHES) {
        return WR_OK;
    }
    return wr_regex_new(config->pattern, false, &p->pattern, err);
}

void predicate_done(struct predicate *p)
{
    wr_regex_free(p->pattern);
}

bool predicate_matches_topic(const struct predicate *p, struct wr_slice topic)
{
    return p->pattern != NULL && wr_regex_matches(p->pattern, topic);
}

bool predicate_holds(const struct predicate *p, const struct record *record)
{
    switch (p->config->kind) {
    case PREDICATE_TOPIC_NAME_MATCHES:
        return predicate_matches_topic(p, record->topic);
    case PREDICATE_RECORD_IS_TOMBSTONE:
        return record_is_tombstone(record);
    case PREDICATE_HAS_HEADER_KEY:
        return record_header_find(record, p->config->header) != NULL;
    }
    abort();
}
