/* relay/snapshot_report.h - what a person who waits for a snapshot wants to know. */
#ifndef WR_RELAY_SNAPSHOT_REPORT_H
#define WR_RELAY_SNAPSHOT_REPORT_H

#include <stdbool.h>
#include <stdint.h>

struct relay;

struct snapshot_report {
    uint64_t first_count; /* intake_record_count() when it began */
    int64_t started_us;
    int64_t logged_us;
    int64_t shown_us;
    bool is_terminal;
    bool is_warned; /* of the WAL that the slot keeps */
};

/* Says how much there is to read, and what that costs the server meanwhile. */
void snapshot_report_begin(struct snapshot_report *report, struct relay *r);
/* To be called now and then: a line of log every few seconds, a line on a terminal more often. */
void snapshot_report_step(struct snapshot_report *report, struct relay *r);
void snapshot_report_end(const struct snapshot_report *report);

#endif /* WR_RELAY_SNAPSHOT_REPORT_H */
