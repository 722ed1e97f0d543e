/* support/process.h - a program under test. */
#ifndef WR_TEST_PROCESS_H
#define WR_TEST_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

enum { PROCESS_ARGUMENT_COUNT_MAX = 64 };

struct process {
    pid_t pid;
    bool has_ended;
    int exit_code; /* once it has ended; 128 + the signal when one killed it */
};

/*
 * Starts `arguments` (ends with NULL) with standard output and standard error added to `log_path`;
 * NULL leaves them alone. The child dies with the calling thread, also when a test is aborted.
 */
struct process process_start(const char *const *arguments, const char *log_path);

/* True when it ended within `timeout_ms`; 0 asks without waiting. */
bool process_wait(struct process *p, int timeout_ms);
void process_signal(const struct process *p, int number);

/* Starts it, waits up to a minute and returns the exit code; 124 when it had to be killed. */
int process_run(const char *const *arguments, const char *log_path);

/* Prints the end of a log on standard error, for the reader of a failed test. */
void process_print_log(const char *log_path);

void sleep_ms(int ms);

#endif /* WR_TEST_PROCESS_H */
