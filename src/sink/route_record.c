#include "sink/route_record.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "sink/sink.h"

/* Decimal digits and nothing else, below 2^63: what search engines take as a version. */
static bool read_number(struct wr_slice text, uint64_t *out)
{
    uint64_t number = 0;

    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] < '0' || text.data[i] > '9' || number > INT64_MAX / 10) {
            return false;
        }
        number = number * 10 + (uint64_t)(text.data[i] - '0');
    }
    *out = number;
    return text.size > 0 && number <= INT64_MAX;
}

static const char *take_lsn(struct sink_record *record, struct wr_slice value)
{
    return read_number(value, &record->lsn) ? NULL : "header walrelay.lsn is no LSN";
}

static const char *take_seq(struct sink_record *record, struct wr_slice value)
{
    return read_number(value, &record->seq) ? NULL : "header walrelay.seq is no number";
}

static const char *take_commit(struct sink_record *record, struct wr_slice value)
{
    uint64_t number = 0;

    if (!read_number(value, &number)) {
        return NULL; /* years before 1970: only the lag hangs on it */
    }
    record->commit_us = (int64_t)number;
    return NULL;
}

static const char *take_op(struct sink_record *record, struct wr_slice value)
{
    if (value.size != 1 || memchr("cudrt", value.data[0], 5) == NULL) {
        return "header walrelay.op is of a walrelay newer than this one";
    }
    record->op = value.data[0];
    return NULL;
}

static const char *take_table(struct sink_record *record, struct wr_slice value)
{
    record->table = value;
    return NULL;
}

static const char *take_types(struct sink_record *record, struct wr_slice value)
{
    record->types = value;
    return NULL;
}

static const char *take_left_out(struct sink_record *record, struct wr_slice value)
{
    record->left_out = value;
    return NULL;
}

static const char *take_moved_from(struct sink_record *record, struct wr_slice value)
{
    record->moved_from = value;
    return NULL;
}

const char *route_record_header(struct sink_record *record, const char *name, struct wr_slice value)
{
    static const struct {
        const char *name;
        const char *(*take)(struct sink_record *record, struct wr_slice value);
    } headers[] = {
        {"walrelay.lsn", take_lsn},
        {"walrelay.seq", take_seq},
        {"walrelay.commit", take_commit},
        {"walrelay.op", take_op},
        {"walrelay.table", take_table},
        {"walrelay.types", take_types},
        {"walrelay.unavailable", take_left_out},
        {"walrelay.moved.from", take_moved_from},
    };

    for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
        if (strcmp(headers[i].name, name) == 0) {
            return headers[i].take(record, value);
        }
    }
    return NULL;
}

const char *route_record_check(const struct sink_record *record)
{
    if (record->lsn == 0) {
        return "header walrelay.lsn is missing: it is no record of a route";
    }
    if (record->op == '\0') {
        return "header walrelay.op is missing: it is no record of a route";
    }
    if (record->table.size == 0) {
        return "header walrelay.table is missing: it is no record of a route";
    }
    return NULL;
}

bool route_record_is_foreign_tombstone(const struct sink_record *record)
{
    return record->value_is_null && record->lsn == 0 && record->op == '\0';
}
