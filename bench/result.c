#include "result.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void result_print(const struct result *r)
{
    double stream_s = (double)(r->last_us - r->first_us) / 1e6;
    double rows = (double)r->row_count;

    (void)printf("rows=%lld rows_s=%.0f cpu_us_row=%.3f cpu_total_s=%.2f rss_peak_mb=%.1f "
                 "first_ms=%.0f\n",
                 (long long)r->row_count, stream_s > 0 ? rows / stream_s : 0,
                 rows > 0 ? (double)r->stream_cpu_us / rows : 0, (double)r->total_cpu_us / 1e6,
                 (double)r->rss_peak_bytes / 1e6, (double)(r->first_us - r->start_us) / 1e3);
    (void)fflush(stdout);
}

/* One "Name:   123 kB" line of /proc/PID/status. */
static int64_t status_bytes(int pid, const char *name)
{
    char path[64];
    char line[256];
    int64_t kilobytes = 0;

    (void)snprintf(path, sizeof(path), "/proc/%d/status", pid);
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return 0;
    }
    while (fgets(line, sizeof(line), file) != NULL) {
        if (strncmp(line, name, strlen(name)) == 0) {
            kilobytes = strtoll(line + strlen(name), NULL, 10);
            break;
        }
    }
    (void)fclose(file);
    return kilobytes * 1024;
}

int64_t process_rss_bytes(int pid)
{
    return status_bytes(pid, "VmRSS:");
}

int64_t process_rss_peak_bytes(int pid)
{
    return status_bytes(pid, "VmHWM:");
}
