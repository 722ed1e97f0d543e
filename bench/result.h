/* bench/result.h - what one run of one contender came to, as a line that bench/run collects. */
#ifndef WR_BENCH_RESULT_H
#define WR_BENCH_RESULT_H

#include <stdint.h>

struct result {
    int64_t row_count;
    int64_t start_us;       /* the process begins; this and the next two since 1970 */
    int64_t first_us;       /* the first row is there */
    int64_t last_us;        /* the last one is */
    int64_t stream_cpu_us;  /* the process's user and system time between the two */
    int64_t total_cpu_us;   /* and from its beginning on */
    int64_t rss_peak_bytes; /* VmHWM */
};

/* rows=… rows_s=… cpu_us_row=… cpu_total_s=… rss_peak_mb=… first_ms=…, to standard output. */
void result_print(const struct result *r);

/* Of a running process, from /proc: 0 when it has gone. A megabyte is 10^6 bytes everywhere here.
 */
int64_t process_rss_bytes(int pid);
int64_t process_rss_peak_bytes(int pid);

#endif /* WR_BENCH_RESULT_H */
