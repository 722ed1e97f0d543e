#include "relay/ask.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/json_write.h"
#include "base/lsn.h"
#include "config/config.h"
#include "relay/message_signal.h"
#include "streamer/message_send.h"

enum { SIGNAL_SIZE_MAX = 1 << 20 };

static const struct {
    const char *type; /* of Debezium's signal */
    const char *verb;
} kinds[] = {
    [ASK_EXECUTE] = {"execute-snapshot", "asked for a snapshot of"},
    [ASK_STOP] = {"stop-snapshot", "asked to stop the snapshot of"},
    [ASK_PAUSE] = {"pause-snapshot", "asked to pause the snapshot"},
    [ASK_RESUME] = {"resume-snapshot", "asked to go on with the snapshot"},
};

static void add_tables(const struct ask *ask, struct wr_buffer *out)
{
    WR_BUFFER_LITERAL(out, ",\"data-collections\":[");
    for (size_t i = 0; i < ask->table_count; i++) {
        wr_buffer_add_str(out, i == 0 ? "" : ",");
        wr_json_string(out, wr_slice_str(ask->tables[i]));
    }
    wr_buffer_add_char(out, ']');
}

/* "TABLE=SQL": the first '=' ends the table, which is an expression. */
static void add_filters(const struct ask *ask, struct wr_buffer *out)
{
    WR_BUFFER_LITERAL(out, ",\"additional-conditions\":[");
    for (size_t i = 0; i < ask->filter_count; i++) {
        size_t size = strcspn(ask->filters[i], "=");
        wr_buffer_add_str(out, i == 0 ? "" : ",");
        WR_BUFFER_LITERAL(out, "{\"data-collection\":");
        wr_json_string(out, (struct wr_slice){ask->filters[i], size});
        WR_BUFFER_LITERAL(out, ",\"filter\":");
        wr_json_string(out, wr_slice_str(ask->filters[i] + size + 1));
        wr_buffer_add_char(out, '}');
    }
    wr_buffer_add_char(out, ']');
}

static void make_signal(const struct ask *ask, const char *id, struct wr_buffer *out)
{
    WR_BUFFER_LITERAL(out, "{\"id\":");
    wr_json_string(out, wr_slice_str(id));
    WR_BUFFER_LITERAL(out, ",\"type\":");
    wr_json_string(out, wr_slice_str(kinds[ask->kind].type));
    WR_BUFFER_LITERAL(out, ",\"data\":{\"type\":\"incremental\"");
    if (ask->table_count > 0) {
        add_tables(ask, out);
    }
    if (ask->filter_count > 0) {
        add_filters(ask, out);
    }
    if (ask->surrogate_key != NULL) {
        WR_BUFFER_LITERAL(out, ",\"surrogate-key\":");
        wr_json_string(out, wr_slice_str(ask->surrogate_key));
    }
    WR_BUFFER_LITERAL(out, "}}");
}

static void tell(const struct config *config, const struct ask *ask, const char *id,
                 const struct message_receipt *receipt, struct wr_buffer *out)
{
    char text[128];

    wr_buffer_add_str(out, kinds[ask->kind].verb);
    for (size_t i = 0; i < ask->table_count; i++) {
        wr_buffer_add_str(out, i == 0 ? " " : ", ");
        wr_buffer_add_str(out, ask->tables[i]);
    }
    wr_buffer_add_str(out, ask->kind == ASK_STOP && ask->table_count == 0 ? " all tables" : "");
    (void)snprintf(text, sizeof(text), " (signal %s, at " WR_LSN_FMT ")\n", id,
                   WR_LSN_ARGS(receipt->lsn));
    wr_buffer_add_str(out, text);
    if (!receipt->is_read) {
        WR_BUFFER_LITERAL(out, "no relay reads the slot ");
        wr_buffer_add_str(out, config->slot_name);
        WR_BUFFER_LITERAL(out, " now: the next one that starts will see it\n");
    }
}

enum wr_status ask_relay(const struct config *config, const struct ask *ask,
                         struct wr_buffer *answer, struct wr_error *err)
{
    struct message_receipt receipt = {0};
    struct wr_buffer json = {0};
    struct wr_buffer content = {0};
    enum wr_status status = WR_OK;
    char id[64];

    (void)snprintf(id, sizeof(id), "walrelay-%" PRIx64 "-%d", (uint64_t)wr_clock_realtime_ns(),
                   (int)getpid());
    wr_buffer_init(&json, SIGNAL_SIZE_MAX);
    wr_buffer_init(&content, SIGNAL_SIZE_MAX);
    make_signal(ask, id, &json);
    message_signal_write(config, wr_buffer_slice(&json), &content);
    wr_buffer_add_char(&content, '\0');
    if (json.failed || content.failed) {
        status =
            wr_fail(err, WR_FATAL, "snapshot", "more than %d bytes are asked for", SIGNAL_SIZE_MAX);
    } else {
        status = message_send(config, MESSAGE_SIGNAL_PREFIX, content.data, &receipt, err);
    }
    if (status == WR_OK) {
        tell(config, ask, id, &receipt, answer);
    }
    wr_buffer_done(&json);
    wr_buffer_done(&content);
    return status;
}
