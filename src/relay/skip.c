#include "relay/skip.h"

enum wr_status skip_begin(struct skip *skip, wr_lsn commit_lsn, struct wr_error *err)
{
    skip->commit_lsn = commit_lsn;
    skip->change_count = 0;
    skip->until_count = commit_lsn < skip->end_lsn ? UINT64_MAX : 0;
    if (skip->partial_lsn == 0 || commit_lsn < skip->end_lsn) {
        return WR_OK;
    }
    if (commit_lsn != skip->partial_lsn) {
        return wr_fail(err, WR_FATAL, "relay",
                       "Kafka has %" PRIu64 " changes of the transaction at " WR_LSN_FMT
                       ", and the server sends the one at " WR_LSN_FMT " instead: the slot was "
                       "moved, or this is another server",
                       skip->partial_count, WR_LSN_ARGS(skip->partial_lsn),
                       WR_LSN_ARGS(commit_lsn));
    }
    skip->until_count = skip->partial_count;
    return WR_OK;
}

void skip_message(struct skip *skip, wr_lsn lsn)
{
    skip->change_count = 0;
    skip->until_count = lsn < skip->end_lsn ? UINT64_MAX : 0;
}

enum wr_status skip_commit(struct skip *skip, struct wr_error *err)
{
    bool is_partial = skip->until_count != 0 && skip->until_count != UINT64_MAX;

    if (is_partial && skip->change_count < skip->until_count) {
        return wr_fail(err, WR_FATAL, "relay",
                       "Kafka has %" PRIu64 " changes of the transaction at " WR_LSN_FMT
                       ", and the server sends %" PRIu64,
                       skip->until_count, WR_LSN_ARGS(skip->partial_lsn), skip->change_count);
    }
    if (is_partial) {
        skip->until_count = 0; /* what the end of a transaction makes is new */
        skip->partial_lsn = 0;
    }
    return WR_OK;
}

void skip_done(struct skip *skip)
{
    skip->until_count = 0;
}
