#include "relay/snapshot_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "config/config.h"
#include "relay/intake.h"
#include "relay/state.h"
#include "streamer/catalog_pg.h"
#include "streamer/snapshot.h"

enum {
    LOG_INTERVAL_US = 5000000,
    SHOW_INTERVAL_US = 500000,
    MEGABYTE = 1 << 20,
    WAL_SHARE_MIN = 4, /* warns when less than a quarter of the WAL that may be kept is left */
};

/* Where it stands, as numbers. */
struct standing {
    struct snapshot_progress progress;
    uint64_t records;
    uint64_t records_per_s;
    int share; /* percent; it is never done before it is done */
    int64_t left_s;
};

static struct standing stand(const struct snapshot_report *report, const struct relay *r)
{
    struct standing now = {.records = intake_record_count(r->intake) - report->first_count};
    int64_t taken_us = wr_clock_monotonic_us() - report->started_us + 1;

    snapshot_progress_read(r->snapshot, &now.progress);
    now.records_per_s = now.records * 1000000 / (uint64_t)taken_us;
    double share =
        now.progress.size == 0 ? 0 : (double)now.progress.size_read / (double)now.progress.size;
    now.share = share >= 0.99 ? 99 : (int)(share * 100);
    now.left_s = share > 0 ? (int64_t)((double)taken_us / 1e6 * (1 - share) / share) : 0;
    return now;
}

/* A slot that the server gives up takes the snapshot with it. */
static void warn_of_wal(struct snapshot_report *report, struct relay *r, const struct slot_wal *wal)
{
    bool is_short = wal->is_bounded && wal->left_size / (WAL_SHARE_MIN - 1) < wal->kept_size;

    if (is_short && !report->is_warned) {
        report->is_warned = true;
        wr_log(WR_LOG_WARN, "snapshot",
               WR_MSG("the server will soon give up the slot, and the snapshot with it: raise "
                      "max_slot_wal_keep_size"),
               WR_STR("slot.name", r->config->slot_name),
               WR_INT("wal_kept_mb", (int64_t)(wal->kept_size / MEGABYTE)),
               WR_INT("wal_left_mb", (int64_t)(wal->left_size / MEGABYTE)));
    }
}

static void log_standing(struct snapshot_report *report, struct relay *r)
{
    enum snapshot_slot kind = r->notes != NULL ? SNAPSHOT_SLOT_LASTING : SNAPSHOT_SLOT_TEMPORARY;
    struct standing now = stand(report, r);
    struct slot_wal wal = {0};
    struct wr_error ignored;

    /* Only to say it: a connection that is lost is found by who needs it. */
    if (catalog_slot_wal(r->catalog, kind, &wal, &ignored) == WR_OK) {
        warn_of_wal(report, r, &wal);
    }
    wr_log(WR_LOG_INFO, "snapshot", WR_MSG("snapshot goes on"), WR_STR("table", now.progress.table),
           WR_INT("records", now.records), WR_INT("records_s", now.records_per_s),
           WR_INT("percent", now.share), WR_INT("left_s", now.left_s),
           WR_INT("wal_kept_mb", (int64_t)(wal.kept_size / MEGABYTE)));
}

/* The cursor goes back to the start of the line, so that the next line of log takes its place. */
static void show_standing(const struct snapshot_report *report, const struct relay *r)
{
    struct standing now = stand(report, r);

    (void)fprintf(stderr,
                  "\033[Ksnapshot: %s, %" PRIu64 " rows, %" PRIu64 " rows/s, %d %%, %" PRId64
                  ":%02" PRId64 " left\r",
                  now.progress.table, now.records, now.records_per_s, now.share, now.left_s / 60,
                  now.left_s % 60);
    (void)fflush(stderr);
}

void snapshot_report_begin(struct snapshot_report *report, struct relay *r)
{
    struct snapshot_progress progress;
    int64_t now_us = wr_clock_monotonic_us();

    *report = (struct snapshot_report){
        .first_count = intake_record_count(r->intake),
        .started_us = now_us,
        .logged_us = now_us,
        .is_terminal = isatty(STDERR_FILENO) == 1,
    };
    snapshot_progress_read(r->snapshot, &progress);
    wr_log(WR_LOG_INFO, "snapshot",
           WR_MSG("reading tables; until they are read the server keeps the WAL from here on, and "
                  "vacuum keeps what is deleted meanwhile"),
           WR_INT("tables", progress.table_count), WR_INT("tables_done", progress.resumed_count),
           WR_INT("size_mb", (int64_t)(progress.size / MEGABYTE)),
           WR_INT("snapshot.max.threads", r->config->snapshot_thread_count));
}

void snapshot_report_step(struct snapshot_report *report, struct relay *r)
{
    int64_t now_us = wr_clock_monotonic_us();

    if (report->is_terminal && now_us - report->shown_us >= SHOW_INTERVAL_US) {
        report->shown_us = now_us;
        show_standing(report, r);
    }
    if (now_us - report->logged_us >= LOG_INTERVAL_US) {
        report->logged_us = now_us;
        log_standing(report, r);
    }
}

void snapshot_report_end(const struct snapshot_report *report)
{
    if (report->is_terminal) {
        (void)fputs("\033[K", stderr);
    }
}
