/* Notifications of incremental snapshots: Debezium's, field by field. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "config/config.h"
#include "relay/incremental_run.h"
#include "relay/notify.h"
#include "relay/state.h"

enum { TEXT_SIZE_MAX = 16 << 20 };

static const char AGGREGATE[] = "Incremental Snapshot";

/* The tables of a run that are not done, the one that is being read among them. */
static void list_tables(const struct incremental *inc, uint64_t run, struct wr_buffer *out)
{
    const char *comma = "";

    for (size_t i = 0; i < inc->state.count; i++) {
        const struct incremental_item *item = &inc->state.items[i];
        if (item->run == run && item->serial >= inc->progress.serial) {
            wr_buffer_add_str(out, comma);
            wr_buffer_add_str(out, item->name);
            comma = ",";
        }
    }
    wr_buffer_add_char(out, '\0');
}

static const char *text_of(const struct wr_buffer *text)
{
    return text->failed ? "" : text->data;
}

/* Java's String.valueOf of each column. */
static void join_key(const struct incremental_key *key, struct wr_buffer *out)
{
    for (uint16_t i = 0; i < key->count; i++) {
        wr_buffer_add_str(out, i == 0 ? "" : ",");
        wr_buffer_add_str(out, key->texts[i]);
    }
    wr_buffer_add_str(out, key->count == 0 ? "<null>" : "");
    wr_buffer_add_char(out, '\0');
}

enum wr_status incremental_tell_run(struct incremental *inc, const char *type, const char *id,
                                    uint64_t run, bool lists_tables, struct wr_error *err)
{
    struct wr_buffer tables = {0};

    wr_buffer_init(&tables, TEXT_SIZE_MAX);
    list_tables(inc, run, &tables);
    struct notification notification = {.id = id, .type = type, .aggregate_type = AGGREGATE};
    notify_add(&notification, "connector_name", inc->r->config->topic_prefix);
    if (lists_tables) {
        notify_add(&notification, "data_collections", text_of(&tables));
    }
    enum wr_status status = notify(inc->r, &notification, err);
    wr_buffer_done(&tables);
    return status;
}

enum wr_status incremental_tell_aborted(struct incremental *inc, const char *id, const char *tables,
                                        struct wr_error *err)
{
    struct notification notification = {.id = id, .type = "ABORTED", .aggregate_type = AGGREGATE};

    notify_add(&notification, "connector_name", inc->r->config->topic_prefix);
    if (tables != NULL) {
        notify_add(&notification, "data_collections", tables);
    }
    return notify(inc->r, &notification, err);
}

enum wr_status incremental_tell_progress(struct incremental *inc,
                                         const struct incremental_key *last, struct wr_error *err)
{
    const struct incremental_item *item = incremental_current(inc);
    struct wr_buffer texts[3] = {0};

    for (size_t i = 0; i < 3; i++) {
        wr_buffer_init(&texts[i], TEXT_SIZE_MAX);
    }
    list_tables(inc, item->run, &texts[0]);
    join_key(&inc->progress.max, &texts[1]);
    join_key(last, &texts[2]);
    struct notification notification = {
        .id = item->id, .type = "IN_PROGRESS", .aggregate_type = AGGREGATE};
    notify_add(&notification, "current_collection_in_progress", item->name);
    notify_add(&notification, "connector_name", inc->r->config->topic_prefix);
    notify_add(&notification, "maximum_key", text_of(&texts[1]));
    notify_add(&notification, "last_processed_key", text_of(&texts[2]));
    notify_add(&notification, "data_collections", text_of(&texts[0]));
    enum wr_status status = notify(inc->r, &notification, err);
    for (size_t i = 0; i < 3; i++) {
        wr_buffer_done(&texts[i]);
    }
    return status;
}

enum wr_status incremental_tell_table(struct incremental *inc, const char *status_text,
                                      struct wr_error *err)
{
    const struct incremental_item *item = incremental_current(inc);
    struct wr_buffer tables = {0};
    char rows[24];

    wr_buffer_init(&tables, TEXT_SIZE_MAX);
    list_tables(inc, item->run, &tables);
    (void)snprintf(rows, sizeof(rows), "%" PRIu64, inc->progress.row_count);
    struct notification notification = {
        .id = item->id, .type = "TABLE_SCAN_COMPLETED", .aggregate_type = AGGREGATE};
    notify_add(&notification, "scanned_collection", item->name);
    notify_add(&notification, "connector_name", inc->r->config->topic_prefix);
    notify_add(&notification, "total_rows_scanned", rows);
    notify_add(&notification, "status", status_text);
    notify_add(&notification, "data_collections", text_of(&tables));
    enum wr_status status = notify(inc->r, &notification, err);
    wr_buffer_done(&tables);
    return status;
}
