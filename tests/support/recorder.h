/* support/recorder.h - pgoutput as the server sends it, into a file. */
#ifndef WR_TEST_RECORDER_H
#define WR_TEST_RECORDER_H

struct services;

/* A pgoutput slot from here on. Aborts the running process when something fails. */
void recorder_create_slot(const struct services *services, const char *dbname, const char *slot);

/*
 * Writes what `slot` holds up to now into `path`, and drops it. The file is a sequence of frames:
 * u32 size, big-endian, then one pgoutput message of that size, an XLogData's payload. Returns how
 * many there were. The session is set as walrelay sets its own, so that values have the same text.
 */
int recorder_write(const struct services *services, const char *dbname, const char *slot,
                   const char *publication, const char *path);

#endif /* WR_TEST_RECORDER_H */
