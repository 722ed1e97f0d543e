#include "base/failpoint.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Atomic int wr_failpoint_armed = WR_FAILPOINT_NONE;
static _Atomic long passes_left;

static const char *const names[] = {
    [WR_FAILPOINT_NONE] = "",
    [WR_FAILPOINT_PRODUCED] = "produced",
    [WR_FAILPOINT_ACKNOWLEDGED] = "acknowledged",
    [WR_FAILPOINT_COMMITTED] = "committed",
    [WR_FAILPOINT_STATE_RECORD] = "state_record",
    [WR_FAILPOINT_SNAPSHOT_PART] = "snapshot_part",
    [WR_FAILPOINT_KEEP_SLOT] = "keep_slot",
};

bool wr_failpoint_setup(void)
{
    const char *text = getenv("WALRELAY_FAILPOINT");

    if (text == NULL || text[0] == '\0') {
        return true;
    }
    size_t size = strcspn(text, ":");
    long passes = text[size] == ':' ? strtol(text + size + 1, NULL, 10) : 1;
    for (size_t i = 1; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strlen(names[i]) == size && memcmp(names[i], text, size) == 0 && passes > 0) {
            atomic_store(&passes_left, passes);
            atomic_store(&wr_failpoint_armed, (int)i);
            return true;
        }
    }
    return false;
}

void wr_failpoint_reached(void)
{
    if (atomic_fetch_sub(&passes_left, 1) == 1) {
        (void)kill(getpid(), SIGKILL);
        (void)pause();
    }
}
