#include "support/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

int __lsan_is_turned_off(void);

/* A failed assertion jumps out of a test and leaves all it holds: a page of leaks would hide why.
 * This is the driver alone; the program under test looks for its own. */
int __lsan_is_turned_off(void)
{
    return 1;
}

void sleep_ms(int ms)
{
    struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};

    while (nanosleep(&left, &left) == -1 && errno == EINTR) {
    }
}

static void become(const char *const *arguments, const char *log_path)
{
    char *copy[PROCESS_ARGUMENT_COUNT_MAX + 1] = {NULL};
    sigset_t none;

    for (size_t i = 0; arguments[i] != NULL && i < PROCESS_ARGUMENT_COUNT_MAX; i++) {
        copy[i] = strdup(arguments[i]);
    }
    /* Blocked signals survive exec, and a test runner may have blocked some. */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (log_path != NULL) {
        int fd = open(log_path, O_WRONLY | O_CREAT | O_APPEND, 0644);

        if (fd == -1 || dup2(fd, STDOUT_FILENO) == -1 || dup2(fd, STDERR_FILENO) == -1) {
            _exit(126);
        }
    }
    execvp(copy[0], copy);
    fprintf(stderr, "cannot run %s\n", copy[0]);
    _exit(127);
}

struct process process_start(const char *const *arguments, const char *log_path)
{
    struct process p = {.pid = fork()};

    if (p.pid == 0) {
        become(arguments, log_path);
    }
    if (p.pid == -1) {
        perror("fork");
        abort();
    }
    return p;
}

bool process_wait(struct process *p, int timeout_ms)
{
    int64_t end_us = wr_clock_monotonic_us() + (int64_t)timeout_ms * 1000;

    while (!p->has_ended) {
        int state = 0;

        if (waitpid(p->pid, &state, WNOHANG) == p->pid) {
            p->has_ended = true;
            p->exit_code = WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
        } else if (wr_clock_monotonic_us() >= end_us) {
            return false;
        } else {
            sleep_ms(10);
        }
    }
    return true;
}

void process_signal(const struct process *p, int number)
{
    if (!p->has_ended) {
        kill(p->pid, number);
    }
}

int process_run(const char *const *arguments, const char *log_path)
{
    struct process p = process_start(arguments, log_path);

    if (!process_wait(&p, 60000)) {
        process_signal(&p, SIGKILL);
        process_wait(&p, 10000);
        return 124;
    }
    return p.exit_code;
}

void process_print_log(const char *log_path)
{
    enum { TAIL_SIZE = 4000 };
    FILE *log = fopen(log_path, "r");
    char text[TAIL_SIZE];

    if (log == NULL) {
        return;
    }
    if (fseek(log, -TAIL_SIZE, SEEK_END) != 0) {
        rewind(log);
    }
    size_t size = fread(text, 1, sizeof(text), log);
    fprintf(stderr, "--- %s\n%.*s---\n", log_path, (int)size, text);
    fclose(log);
}
