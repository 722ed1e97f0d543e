#include "router/heartbeat.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "config/config.h"
#include "decoder/datum.h"
#include "router/schemas.h"

enum { TOPIC_TEXT_MAX = 4096 }; /* of the configuration, checked there */

void heartbeat_topic(const struct config *config, struct wr_buffer *out)
{
    wr_buffer_init(out, TOPIC_TEXT_MAX);
    if (config->topic_heartbeat_name != NULL && config->topic_heartbeat_name[0] != '\0') {
        wr_buffer_add_str(out, config->topic_heartbeat_name);
        return;
    }
    wr_buffer_add_str(out, config->topic_heartbeat_prefix);
    wr_buffer_add_str(out, config->topic_delimiter);
    wr_buffer_add_str(out, config->topic_prefix);
}

/* A structure of one member in `scratch`; DATUM_NULL when there is no room. */
static struct datum structure(struct wr_arena *scratch, struct wr_slice name, struct datum value)
{
    struct datum_field *field = wr_arena_alloc(scratch, 1, sizeof(*field));

    if (field == NULL) {
        return (struct datum){.kind = DATUM_NULL};
    }
    *field = (struct datum_field){.name = name, .value = value};
    return (struct datum){.kind = DATUM_STRUCT, .as.structure = {field, 1}};
}

enum wr_status heartbeat_record(const struct schemas *schemas, struct wr_slice topic,
                                const struct change_source *source, struct wr_arena *scratch,
                                struct record *out, struct wr_error *err)
{
    const struct datum server = {.kind = DATUM_STRING, .as.bytes = source->connector->name};
    const struct datum now = {.kind = DATUM_INT, .as.integer = source->now_ns / 1000000};
    struct datum key = structure(scratch, WR_SLICE("serverName"), server);
    struct datum value = structure(scratch, WR_SLICE("ts_ms"), now);

    *out = (struct record){
        .source = source,
        .topic = topic,
        .partition = 0,
        .timestamp_ms = -1,
        .key = {.kind = PART_DATUM, .schema = schemas->heartbeat_key, .as.datum = key},
        .value = {.kind = PART_DATUM, .schema = schemas->heartbeat_value, .as.datum = value},
    };
    return key.kind == DATUM_STRUCT && value.kind == DATUM_STRUCT
               ? WR_OK
               : wr_fail(err, WR_FATAL, "router",
                         "a heartbeat does not fit the memory of one message");
}
