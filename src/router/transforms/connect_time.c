#include "router/transforms/connect_time.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/date_format.h"
#include "decoder/schema.h"

enum { MS_PER_DAY = 86400000, TEXT_SIZE_MAX = 64 };

static const struct {
    const char *name;
    const char *pattern;
    enum schema_type type;
} TYPES[] = {
    [CONNECT_TIME_DATE] = {"org.apache.kafka.connect.data.Date", "yyyy-MM-dd", SCHEMA_INT32},
    [CONNECT_TIME_TIME] = {"org.apache.kafka.connect.data.Time", "HH:mm:ss.SSS'Z'", SCHEMA_INT32},
    [CONNECT_TIME_TIMESTAMP] = {"org.apache.kafka.connect.data.Timestamp",
                                "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'", SCHEMA_INT64},
};

enum connect_time connect_time_of(const struct schema *schema)
{
    for (int type = CONNECT_TIME_DATE; type <= CONNECT_TIME_TIMESTAMP; type++) {
        if (schema->name != NULL && strcmp(schema->name, TYPES[type].name) == 0) {
            return (enum connect_time)type;
        }
    }
    return CONNECT_TIME_NONE;
}

const struct schema *connect_time_schema(enum connect_time type, bool is_optional,
                                         struct wr_arena *arena)
{
    assert(type != CONNECT_TIME_NONE);

    struct schema *schema = schema_new(arena, TYPES[type].type);
    if (schema != NULL) {
        schema->name = TYPES[type].name;
        schema->version = 1;
        schema->is_optional = is_optional;
    }
    return schema;
}

bool connect_time_ms(enum connect_time type, int64_t value, int64_t *time_ms)
{
    *time_ms = value;
    return type != CONNECT_TIME_DATE || !__builtin_mul_overflow(value, MS_PER_DAY, time_ms);
}

int64_t connect_time_value(enum connect_time type, int64_t time_ms)
{
    int64_t rest = time_ms % MS_PER_DAY;

    switch (type) {
    case CONNECT_TIME_DATE:
        return time_ms / MS_PER_DAY - (rest < 0 ? 1 : 0);
    case CONNECT_TIME_TIME:
        return rest + (rest < 0 ? MS_PER_DAY : 0);
    case CONNECT_TIME_TIMESTAMP:
    case CONNECT_TIME_NONE:
        break;
    }
    return time_ms;
}

bool connect_time_write(enum connect_time type, int64_t value, struct wr_arena *arena,
                        struct wr_slice *out)
{
    struct wr_date_format *format = NULL;
    struct wr_error err;
    struct wr_buffer text;
    int64_t time_ms = 0;

    assert(type != CONNECT_TIME_NONE);
    if (!connect_time_ms(type, value, &time_ms)) {
        return false;
    }
    if (wr_date_format_new(TYPES[type].pattern, &format, &err) != WR_OK) {
        abort(); /* these patterns are right */
    }
    wr_buffer_init(&text, TEXT_SIZE_MAX);
    bool is_written = wr_date_format_write(format, time_ms, &text);
    *out = (struct wr_slice){wr_arena_strndup(arena, text.data, text.size), text.size};
    wr_buffer_done(&text);
    wr_date_format_free(format);
    return is_written;
}
