#include "support/load.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "support/postgres.h"
#include "support/topic.h"

enum { PARTITION_COUNT = 4, WRITER_TIMEOUT_MS = 120000, NUMBER_SIZE_MAX = 24 };

/* What is known of a row. */
struct row {
    bool has_come;
    char lsn[NUMBER_SIZE_MAX];
    char seq[NUMBER_SIZE_MAX];
};

struct check {
    int row_count;
    struct row *rows;               /* by id */
    int last_ids[LOAD_KEY_COUNT];   /* 0: none yet */
    int partitions[LOAD_KEY_COUNT]; /* from 1 on; 0: not known yet */
    struct load_result result;
};

const char *load_topic(const struct live *l)
{
    static char topic[128];

    snprintf(topic, sizeof(topic), "%s.public.load", l->prefix);
    return topic;
}

void load_create(struct live *l)
{
    pg_exec(l->sql, "create table load (id int primary key, k int not null, v text not null)");
    pg_exec(l->sql, "create publication wr_pub for table load");
    live_set(l, "message.key.columns=public.load:k");
    topic_create(l->services.bootstrap, load_topic(l), PARTITION_COUNT, NULL);
}

struct process load_start(const struct live *l, int row_count)
{
    char sql[1024];
    char path[LIVE_PATH_SIZE + 16];
    char target[256];
    const char *const psql[] = {"psql", "-X", "-q", "-v",   "ON_ERROR_STOP=1",
                                "-f",   path, "-d", target, NULL};

    cr_assert_lt(row_count, LOAD_ROWS_MAX);
    snprintf(sql, sizeof(sql),
             "do $$ declare last int := (select coalesce(max(id), 0) from load); begin"
             " while last < %d loop"
             " insert into load select g, g %% %d, repeat('v', 100)"
             " from generate_series(last + 1, last + %d) g;"
             " commit;"
             " last := last + %d;"
             " end loop; end $$;\n",
             row_count, LOAD_KEY_COUNT, LOAD_TRANSACTION_ROWS, LOAD_TRANSACTION_ROWS);
    snprintf(path, sizeof(path), "%s/load.sql", l->directory);
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file, "%s", path);
    fputs(sql, file);
    fclose(file);
    snprintf(target, sizeof(target), "host=%s port=%s user=%s dbname=%s", l->services.pg_host,
             l->services.pg_port, l->services.pg_user, l->name);
    return process_start(psql, NULL);
}

void load_wait(const struct live *l, struct process *writer)
{
    if (!process_wait(writer, WRITER_TIMEOUT_MS) || writer->exit_code != 0) {
        live_fail(l, "the rows could not be written");
    }
}

/* The digits behind `name` in `text`; -1 when there are none. */
static int number_behind(const rd_kafka_message_t *message, const char *name)
{
    const char *start = memmem(message->payload, message->len, name, strlen(name));

    return start == NULL ? -1 : (int)strtol(start + strlen(name), NULL, 10);
}

static void header(const rd_kafka_message_t *message, const char *name, char out[NUMBER_SIZE_MAX])
{
    rd_kafka_headers_t *headers = NULL;
    const void *value = NULL;
    size_t size = 0;

    cr_assert_eq(rd_kafka_message_headers(message, &headers), RD_KAFKA_RESP_ERR_NO_ERROR);
    cr_assert_eq(rd_kafka_header_get_last(headers, name, &value, &size), RD_KAFKA_RESP_ERR_NO_ERROR,
                 "no header %s", name);
    cr_assert_lt(size, NUMBER_SIZE_MAX);
    snprintf(out, NUMBER_SIZE_MAX, "%.*s", (int)size, (const char *)value);
}

static void check_row(struct check *check, int id, const rd_kafka_message_t *message)
{
    struct row *row = &check->rows[id];
    struct row now = {.has_come = true};

    header(message, "walrelay.lsn", now.lsn);
    header(message, "walrelay.seq", now.seq);
    if (row->has_come) {
        check->result.repeated_count++;
        cr_assert_str_eq(now.lsn, row->lsn, "row %d came again with another LSN", id);
        cr_assert_str_eq(now.seq, row->seq, "row %d came again with another number", id);
    }
    *row = now;
}

static void check_message(void *context, const rd_kafka_message_t *message)
{
    struct check *check = context;
    int id = number_behind(message, "\"after\":{\"id\":");

    cr_assert(id >= 1 && id <= check->row_count, "row %d was never written", id);
    int key = id % LOAD_KEY_COUNT;
    int expected_id = check->last_ids[key] == 0 ? (key == 0 ? LOAD_KEY_COUNT : key)
                                                : check->last_ids[key] + LOAD_KEY_COUNT;
    cr_assert(id <= expected_id, "key %d: row %d comes where %d should", key, id, expected_id);
    check->result.step_back_count += id < expected_id;
    check->last_ids[key] = id;
    int partition = message->partition + 1;
    cr_assert(check->partitions[key] == 0 || check->partitions[key] == partition,
              "key %d is in two partitions", key);
    check->partitions[key] = partition;
    check_row(check, id, message);
}

struct load_result load_check(const struct live *l, int row_count)
{
    struct check check = {
        .row_count = row_count,
        .rows = calloc((size_t)row_count + 1, sizeof(*check.rows)),
    };

    cr_assert_not_null(check.rows);
    check.result.record_count =
        topic_read(l->services.bootstrap, load_topic(l), check_message, &check);
    for (int id = 1; id <= row_count; id++) {
        cr_assert(check.rows[id].has_come, "row %d is lost", id);
    }
    free(check.rows);
    return check.result;
}
