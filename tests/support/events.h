/* support/events.h - records as lines, so that a test can say what it expects at a glance. */
#ifndef WR_TEST_EVENTS_H
#define WR_TEST_EVENTS_H

#include <stddef.h>

struct kafka_records;

/*
 * The records of one topic, a line each, in their order; in storage that the next call overwrites.
 *
 *   KEY OP BEFORE -> AFTER [HEADER=VALUE…]    a change event
 *   KEY - [HEADER=VALUE…]                     a tombstone
 *   KEY VALUE [HEADER=VALUE…]                 anything else
 *
 * Everything is as it was published; `null` is a key, value, before, after or header that is null.
 * The headers walrelay.lsn, walrelay.seq and walrelay.commit are left out.
 */
const char *events_of(const struct kafka_records *records, const char *topic);

/* The names of all topics that have a record, a line each, sorted. As above. */
const char *events_topics(const struct kafka_records *records);

#define expect_events(records, topic, expected)                                                    \
    cr_expect_str_eq(events_of((records), (topic)), (expected), "%s has\n%s", (topic),             \
                     events_of((records), (topic)))

#endif /* WR_TEST_EVENTS_H */
