#include "streamer/start_sql.h"

#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "config/config.h"
#include "streamer/command.h"

enum { NAME_LIST_SIZE_MAX = 1 << 16 };

/* The name is an identifier inside a list inside a literal, so that it is quoted twice: without
 * the inner quotes the server folds it to lower case and takes a comma for the list's. */
static void add_publication_names(struct wr_buffer *sql, const char *name)
{
    struct wr_buffer list = {0};

    wr_buffer_init(&list, NAME_LIST_SIZE_MAX);
    command_add_identifier(&list, name);
    wr_buffer_add_char(&list, '\0');
    if (list.failed) {
        sql->failed = true;
    } else {
        command_add_literal(sql, list.data);
    }
    wr_buffer_done(&list);
}

static bool has_param(const struct config *config, const char *name)
{
    const struct config_pairs *params = &config->slot_stream_params;

    for (size_t i = 0; i < params->count; i++) {
        if (strcmp(params->items[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* slot.stream.params, as they are: the server knows which of them exist. */
static void add_params(const struct config *config, struct wr_buffer *sql)
{
    const struct config_pairs *params = &config->slot_stream_params;

    for (size_t i = 0; i < params->count; i++) {
        WR_BUFFER_LITERAL(sql, ", ");
        command_add_identifier(sql, params->items[i].name);
        WR_BUFFER_LITERAL(sql, " ");
        command_add_literal(sql, params->items[i].value);
    }
}

void start_sql_write(struct wr_buffer *sql, const struct config *config, const char *slot_name,
                     wr_lsn start, bool with_messages)
{
    char lsn[32];

    (void)snprintf(lsn, sizeof(lsn), WR_LSN_FMT, WR_LSN_ARGS(start));
    WR_BUFFER_LITERAL(sql, "START_REPLICATION SLOT ");
    command_add_identifier(sql, slot_name);
    WR_BUFFER_LITERAL(sql, " LOGICAL ");
    wr_buffer_add_str(sql, lsn);
    WR_BUFFER_LITERAL(sql, " (proto_version '1', publication_names ");
    add_publication_names(sql, config->publication_name);
    if (with_messages && !has_param(config, "messages")) {
        WR_BUFFER_LITERAL(sql, ", messages 'true'");
    }
    add_params(config, sql);
    wr_buffer_add_str(sql, ")");
    wr_buffer_add_char(sql, '\0');
}
