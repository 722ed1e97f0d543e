#include "relay/refusal.h"

#include <stdio.h>

#include "base/log.h"
#include "config/config.h"
#include "decoder/relation.h"
#include "publisher/publisher.h"
#include "router/record.h"

enum { KEY_SHOWN_MAX = 80 };

/* Printable and short, for a line that a person reads. */
static void show_key(const struct publisher_record *record, char *out, size_t size)
{
    size_t count = record->key.size < KEY_SHOWN_MAX ? record->key.size : KEY_SHOWN_MAX;

    if (count > size - 1) {
        count = size - 1;
    }
    for (size_t i = 0; i < count; i++) {
        char c = record->key.data[i];
        out[i] = (unsigned char)c < ' ' ? '?' : c;
    }
    out[count] = '\0';
}

static const char *table_of(const struct record *record, char *out, size_t size)
{
    if (record->change == NULL) {
        return "a logical message";
    }
    (void)snprintf(out, size, "%s.%s", record->change->relation->schema,
                   record->change->relation->table);
    return out;
}

enum wr_status refusal_of_record(const struct record *record, const struct publisher_record *r,
                                 wr_lsn version, struct wr_error *err)
{
    char table[256];
    char key[KEY_SHOWN_MAX + 1];
    struct wr_error inner = *err;

    show_key(r, key, sizeof(key));
    return wr_fail(
        err, WR_REJECT, inner.where, "table=%s topic=%.*s key=%s size=%zu lsn=" WR_LSN_FMT ": %s",
        table_of(record, table, sizeof(table)), (int)record->topic.size, record->topic.data, key,
        r->key.size + r->value.size,
        WR_LSN_ARGS(record->source->lsn == 0 ? version : record->source->lsn), inner.text);
}

enum wr_status refusal_of_change(const struct change *change, struct wr_error *err)
{
    struct wr_error inner = *err;

    return wr_fail(err, WR_REJECT, inner.where, "%s (table=%s.%s lsn=" WR_LSN_FMT ")", inner.text,
                   change->relation->schema, change->relation->table,
                   WR_LSN_ARGS(change->source.lsn));
}

bool refusal_is_passed_over(const struct config *config, const struct wr_error *err)
{
    bool is_quiet = config->event_failure == EVENT_FAILURE_SKIP;

    if (config->errors_tolerance != TOLERANCE_NONE || config->event_failure == EVENT_FAILURE_FAIL) {
        return false;
    }
    wr_log(is_quiet ? WR_LOG_DEBUG : WR_LOG_WARN, err->where, WR_MSG(err->text),
           WR_STR("event.processing.failure.handling.mode", is_quiet ? "skip" : "warn"));
    return true;
}
