#include "sink/sinks.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/log.h"
#include "config/config.h"
#include "config/route_config.h"
#include "sink/sink.h"

struct runner {
    struct sinks *all;
    struct sink *sink;
    const char *route;
    pthread_t thread;
    bool is_started;
    _Atomic bool has_failed;
};

struct sinks {
    struct runner *runners;
    size_t count;
    int fd;
};

static void *run(void *argument)
{
    static const uint64_t one = 1;
    struct runner *r = argument;
    struct wr_error err = {0};

    if (sink_run(r->sink, &err) != WR_OK) {
        wr_log(WR_LOG_ERROR, err.where, WR_MSG(err.text), WR_STR("route", r->route));
        atomic_store(&r->has_failed, true);
        (void)!write(r->all->fd, &one, sizeof(one));
    }
    return NULL;
}

static enum wr_status add(struct sinks *s, const struct config *config,
                          const struct route_config *route, struct wr_error *err)
{
    struct runner *r = &s->runners[s->count];

    *r = (struct runner){.all = s, .route = route->name};
    enum wr_status status = sink_new(config, route, &r->sink, err);
    s->count += status == WR_OK ? 1 : 0;
    return status;
}

static enum wr_status add_all(struct sinks *s, const struct config *config, const char *name,
                              struct wr_error *err)
{
    enum wr_status status = WR_OK;

    for (size_t i = 0; status == WR_OK && i < config->route_count; i++) {
        const struct route_config *route = &config->routes[i];
        bool is_wanted = name == NULL ? route->sink.url != NULL : strcmp(route->name, name) == 0;
        if (is_wanted) {
            status = add(s, config, route, err);
        }
    }
    if (status == WR_OK && s->count == 0) {
        status = name == NULL
                     ? wr_fail(err, WR_FATAL, "sink",
                               "no route has a sink.url: there is nothing to deliver to")
                     : wr_fail(err, WR_FATAL, "sink",
                               "\"%s\" is none of the routes: see the property routes", name);
    }
    return status;
}

enum wr_status sinks_start(const struct config *config, const char *route, struct sinks **out,
                           struct wr_error *err)
{
    struct sinks *s = calloc(1, sizeof(*s));

    assert(s != NULL);
    *out = NULL;
    s->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    s->runners = calloc(config->route_count + 1, sizeof(*s->runners));
    assert(s->runners != NULL);
    enum wr_status status = add_all(s, config, route, err);
    for (size_t i = 0; status == WR_OK && i < s->count; i++) {
        int code = pthread_create(&s->runners[i].thread, NULL, run, &s->runners[i]);
        s->runners[i].is_started = code == 0;
        if (code != 0) {
            status = wr_fail(err, WR_FATAL, "sink", "no thread for route %s: %s",
                             s->runners[i].route, strerror(code));
        }
    }
    if (status != WR_OK) {
        (void)sinks_stop(s);
        return status;
    }
    *out = s;
    return WR_OK;
}

int sinks_fd(const struct sinks *s)
{
    return s->fd;
}

bool sinks_stop(struct sinks *s)
{
    bool all_well = true;

    for (size_t i = 0; i < s->count; i++) {
        sink_stop(s->runners[i].sink);
    }
    for (size_t i = 0; i < s->count; i++) {
        if (s->runners[i].is_started) {
            (void)pthread_join(s->runners[i].thread, NULL);
        }
        all_well = all_well && !atomic_load(&s->runners[i].has_failed);
        sink_free(s->runners[i].sink);
    }
    (void)close(s->fd);
    free(s->runners);
    free(s);
    return all_well;
}

static int block_signals(void)
{
    sigset_t set;

    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGTERM);
    (void)sigaddset(&set, SIGINT);
    (void)pthread_sigmask(SIG_BLOCK, &set, NULL);
    return signalfd(-1, &set, SFD_CLOEXEC);
}

bool sinks_run_one(const struct config *config, const char *route)
{
    struct wr_error err = {0};
    struct sinks *s = NULL;
    int signal_fd = block_signals();

    if (sinks_start(config, route, &s, &err) != WR_OK) {
        wr_log(WR_LOG_ERROR, err.where, WR_MSG(err.text));
        (void)close(signal_fd);
        return false;
    }
    struct pollfd fds[] = {{.fd = signal_fd, .events = POLLIN},
                           {.fd = sinks_fd(s), .events = POLLIN}};
    while (poll(fds, 2, -1) < 0 && errno == EINTR) {
    }
    if ((fds[0].revents & POLLIN) != 0) {
        wr_log(WR_LOG_INFO, "sink", WR_MSG("stopping"), WR_STR("route", route));
    }
    bool is_well = sinks_stop(s);
    (void)close(signal_fd);
    return is_well;
}
