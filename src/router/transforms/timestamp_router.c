/* org.apache.kafka.connect.transforms.TimestampRouter: the record's time becomes part of its topic.
 */
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/date_format.h"
#include "config/transform_config.h"
#include "router/topic.h"
#include "router/transform.h"
#include "router/transforms/smt.h"

enum { NAME_SIZE_MAX = 4096 };

static enum wr_status timestamp_router_make(const struct transform_config *config,
                                            struct transform *t, struct wr_error *err)
{
    struct wr_date_format *format = NULL;
    enum wr_status status =
        wr_date_format_new(config->as.timestamp_router.timestamp_format, &format, err);

    t->state = format;
    return status;
}

static void timestamp_router_free(struct transform *t)
{
    wr_date_format_free(t->state);
}

static bool take(const char **next, const char *word)
{
    size_t size = strlen(word);

    if (strncmp(*next, word, size) != 0) {
        return false;
    }
    *next += size;
    return true;
}

/* False: the time has no such text. */
static bool write_name(const struct transform *t, const struct record *record,
                       struct wr_buffer *out)
{
    bool is_written = true;

    for (const char *next = t->config->as.timestamp_router.topic_format; *next != '\0';) {
        if (take(&next, "${topic}")) {
            wr_buffer_add_slice(out, record->topic);
        } else if (take(&next, "${timestamp}")) {
            is_written &= wr_date_format_write(t->state, record->timestamp_ms, out);
        } else {
            wr_buffer_add_char(out, *next++);
        }
    }
    return is_written;
}

static enum wr_status timestamp_router_apply(const struct transform *t, const void *compiled,
                                             struct record *record, struct wr_arena *scratch,
                                             bool *keep, struct wr_error *err)
{
    struct smt_call call = {.transform = t, .record = record, .part = &record->value};
    struct wr_buffer name;
    enum wr_status status = WR_OK;

    (void)compiled;
    *keep = true;
    if (record->timestamp_ms < 0) {
        return smt_reject(&call, err, "the record has no timestamp: only EventRouter gives it one");
    }
    wr_buffer_init(&name, NAME_SIZE_MAX);
    bool is_written = write_name(t, record, &name);
    const char *problem = topic_problem(wr_buffer_slice(&name));
    const char *copy = wr_arena_strndup(scratch, name.data, name.size);
    if (!is_written || name.failed || problem != NULL) {
        status = smt_reject(&call, err, "topic %.*s: its new name %s", (int)record->topic.size,
                            record->topic.data, problem == NULL ? "cannot be made" : problem);
    } else if (copy == NULL) {
        status = smt_no_room(&call, err);
    } else {
        record->topic = (struct wr_slice){copy, name.size};
    }
    wr_buffer_done(&name);
    return status;
}

const struct transform_ops timestamp_router_ops = {
    .make = timestamp_router_make,
    .free = timestamp_router_free,
    .apply = timestamp_router_apply,
};
