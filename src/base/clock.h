/* base/clock.h - the two clocks. Pure rooms get times as arguments and never call these. */
#ifndef WR_BASE_CLOCK_H
#define WR_BASE_CLOCK_H

#include <stdint.h>

/* Never steps: for timers and time-outs only. */
int64_t wr_clock_monotonic_us(void);
/* Since 1970-01-01 UTC: for what is published. */
int64_t wr_clock_realtime_ns(void);

/* PostgreSQL counts microseconds from 2000-01-01; add this for Unix time. */
#define WR_PG_EPOCH_US INT64_C(946684800000000)

#endif /* WR_BASE_CLOCK_H */
