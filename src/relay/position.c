#include "relay/position.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "config/config.h"

#define REMEDY                                                                                     \
    "; start once with --accept-gap to go on all the same, or take a new snapshot: drop the slot " \
    "and start once with --accept-gap and snapshot.mode=initial"

void position_key(const struct config *config, char out[POSITION_NAME_SIZE])
{
    (void)snprintf(out, POSITION_NAME_SIZE, "position/%s/%s", config->slot_name,
                   config->topic_prefix);
}

void position_topic(const struct config *config, char out[POSITION_NAME_SIZE])
{
    (void)snprintf(out, POSITION_NAME_SIZE, "walrelay.state.%s", config->slot_name);
}

size_t position_write(const struct position *p, char out[POSITION_VALUE_SIZE])
{
    int size = snprintf(out, POSITION_VALUE_SIZE,
                        "{\"system_identifier\":%" PRIu64 ",\"timeline\":%" PRIu32
                        ",\"acked_lsn\":%" PRIu64 ",\"last_end_lsn\":%" PRIu64
                        ",\"partial\":{\"commit_lsn\":%" PRIu64 ",\"seq\":%" PRIu64
                        "},\"txn_no\":%" PRIu64 "}",
                        p->system_identifier, p->timeline, p->acked_lsn, p->last_end_lsn,
                        p->partial_lsn, p->partial_count, p->txn_no);

    return (size_t)size;
}

bool position_read(struct wr_slice value, struct position *out)
{
    char text[POSITION_VALUE_SIZE];
    int end = 0;

    *out = (struct position){0};
    if (value.data == NULL || value.size >= sizeof(text)) {
        return false;
    }
    memcpy(text, value.data, value.size);
    text[value.size] = '\0';
    int count =
        sscanf(text,
               "{\"system_identifier\":%" SCNu64 ",\"timeline\":%" SCNu32 ",\"acked_lsn\":%" SCNu64
               ",\"last_end_lsn\":%" SCNu64 ",\"partial\":{\"commit_lsn\":%" SCNu64
               ",\"seq\":%" SCNu64 "},\"txn_no\":%" SCNu64 "}%n",
               &out->system_identifier, &out->timeline, &out->acked_lsn, &out->last_end_lsn,
               &out->partial_lsn, &out->partial_count, &out->txn_no, &end);
    if (count != 7 || (size_t)end != value.size || out->last_end_lsn > out->acked_lsn) {
        *out = (struct position){0};
        return false;
    }
    out->is_known = true;
    return true;
}

/* Whether it is the server that the position is of. */
static enum wr_status check_server(const struct position *p, const struct position_server *s,
                                   struct wr_error *err)
{
    if (s->system_identifier != p->system_identifier) {
        return wr_fail(err, WR_FATAL, "position",
                       "another cluster: its system identifier is %" PRIu64
                       ", but what was published for slot %s came from %" PRIu64
                       " (up to " WR_LSN_FMT "); check database.hostname" REMEDY,
                       s->system_identifier, s->slot_name, p->system_identifier,
                       WR_LSN_ARGS(p->last_end_lsn));
    }
    if (s->timeline < p->timeline || s->wal_lsn < p->last_end_lsn) {
        return wr_fail(err, WR_FATAL, "position",
                       "an older server: it stands at " WR_LSN_FMT " of timeline %" PRIu32
                       ", before what was published for slot %s (" WR_LSN_FMT
                       " of timeline %" PRIu32 "): it was restored, or failed over to, and Kafka "
                       "has changes that it never had" REMEDY,
                       WR_LSN_ARGS(s->wal_lsn), s->timeline, s->slot_name,
                       WR_LSN_ARGS(p->last_end_lsn), p->timeline);
    }
    if (s->timeline > p->timeline && s->switch_lsn != 0 && p->last_end_lsn > s->switch_lsn) {
        return wr_fail(err, WR_FATAL, "position",
                       "the server has left timeline %" PRIu32 " at " WR_LSN_FMT
                       ", but what was published for slot %s goes on to " WR_LSN_FMT
                       ": Kafka has changes that were lost in a failover, and others stand in "
                       "their place" REMEDY,
                       p->timeline, WR_LSN_ARGS(s->switch_lsn), s->slot_name,
                       WR_LSN_ARGS(p->last_end_lsn));
    }
    return WR_OK;
}

enum wr_status position_check(const struct position *p, const struct position_server *s,
                              struct wr_error *err)
{
    if (!p->is_known) {
        return WR_OK;
    }
    enum wr_status status = check_server(p, s, err);
    if (status != WR_OK) {
        return status;
    }
    if (!s->has_slot && !s->has_snapshot_slot) {
        return wr_fail(err, WR_FATAL, "position",
                       "slot %s is missing, though changes up to " WR_LSN_FMT
                       " were published from it: it was dropped, or the server failed over "
                       "without it, and the changes since are lost" REMEDY,
                       s->slot_name, WR_LSN_ARGS(p->acked_lsn));
    }
    if (s->has_slot && s->confirmed_lsn > p->acked_lsn) {
        return wr_fail(err, WR_FATAL, "position",
                       "slot %s is ahead: it stands at " WR_LSN_FMT
                       ", but only changes up to " WR_LSN_FMT
                       " were published: it was made anew or moved by somebody else, and the "
                       "changes between are lost" REMEDY,
                       s->slot_name, WR_LSN_ARGS(s->confirmed_lsn), WR_LSN_ARGS(p->acked_lsn));
    }
    return WR_OK;
}
