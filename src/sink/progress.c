#include "sink/progress.h"

#include <stdbool.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/log.h"
#include "config/route_config.h"
#include "sink/batch.h"
#include "sink/consumer.h"

enum {
    REFUSALS_TOLD_MAX = 100, /* a table that cannot be taken at all does not fill the disk */
    KEY_SHOWN_MAX = 200,
};

/* A tie between the clocks of two machines may make it negative. */
static int64_t age_us(int64_t commit_us)
{
    int64_t age = commit_us == 0 ? 0 : wr_clock_realtime_ns() / 1000 - commit_us;

    return age < 0 ? 0 : age;
}

void sink_progress_applied(struct sink_progress *p, const struct batch *b)
{
    p->applied += (int64_t)(b->message_count - b->superseded - b->refusal_count - b->skipped);
    p->superseded += (int64_t)b->superseded;
    p->skipped += (int64_t)b->skipped;
    int64_t age = b->record_count == 0 ? 0 : age_us(b->records[0].commit_us);
    if (age > p->delay_us_max) {
        p->delay_us_max = age;
    }
}

/* A key that is no text is shown as far as it is one. */
static const char *shown_key(const struct consumer_message *m, char *out, size_t size)
{
    struct wr_slice key = consumer_message_key(m);
    size_t length = key.size < KEY_SHOWN_MAX ? key.size : KEY_SHOWN_MAX;

    (void)snprintf(out, size, "%.*s%s", (int)length, key.data == NULL ? "" : key.data,
                   length < key.size ? "…" : "");
    return out;
}

void sink_progress_refusal(struct sink_progress *p, const struct route_config *route,
                           const struct consumer_message *m, const char *reason)
{
    char key[KEY_SHOWN_MAX + 8];

    p->refused++;
    if (p->refusals_told++ < REFUSALS_TOLD_MAX || p->refused % 10000 == 0) {
        wr_log(WR_LOG_WARN, "sink", WR_MSG("record refused"), WR_STR("route", route->name),
               WR_STR("topic", consumer_message_topic(m)),
               WR_INT("partition", consumer_message_number(m)),
               WR_INT("offset", consumer_message_offset(m)),
               WR_STR("key", shown_key(m, key, sizeof(key))), WR_STR("reason", reason),
               WR_INT("refused", p->refused));
    }
}

enum wr_status sink_progress_fail(const struct route_config *route,
                                  const struct consumer_message *m, const char *reason,
                                  struct wr_error *err)
{
    char key[KEY_SHOWN_MAX + 8];

    return wr_fail(err, WR_FATAL, "sink",
                   "route %s stops at topic %s partition %d offset %lld key \"%s\": %.300s "
                   "(errors.tolerance=all goes on without it)",
                   route->name, consumer_message_topic(m), consumer_message_number(m),
                   (long long)consumer_message_offset(m), shown_key(m, key, sizeof(key)), reason);
}

static int64_t oldest_us(const struct batch *b)
{
    return b != NULL && b->record_count > 0 ? b->records[0].commit_us : 0;
}

void sink_progress_log(struct sink_progress *p, const struct route_config *route,
                       struct consumer *c, const struct batch *applying,
                       const struct batch *filling, int64_t now_us)
{
    int64_t interval_us = route->sink.report_ms * 1000;
    bool is_first = p->told_at_us == 0;

    if (interval_us == 0 || (!is_first && now_us - p->told_at_us < interval_us)) {
        return;
    }
    int64_t lag = consumer_lag(c);
    bool has_moved = p->applied + p->superseded + p->refused + p->skipped != p->told_applied;
    p->told_at_us = now_us;
    if (is_first || (!has_moved && lag <= 0)) {
        return; /* nothing came, nothing waits */
    }
    int64_t since = oldest_us(applying != NULL ? applying : filling);
    wr_log(WR_LOG_INFO, "sink", WR_MSG("progress"), WR_STR("route", route->name),
           WR_INT("applied", p->applied), WR_INT("superseded", p->superseded),
           WR_INT("refused", p->refused), WR_INT("lag_records", lag),
           WR_INT("lag_ms", age_us(since) / 1000), WR_INT("delay_ms_max", p->delay_us_max / 1000));
    p->told_applied = p->applied + p->superseded + p->refused + p->skipped;
    p->delay_us_max = 0;
}
