#include "sink/redis_link.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <hiredis/hiredis.h>

#include "base/clock.h"
#include "config/route_config.h"
#include "sink/redis_tls.h"
#include "sink/sink.h"
#include "sink/url.h"

enum {
    REDIS_PORT = 6379,
    READ_SIZE = 64 << 10,
    LOOK_MS = 100, /* how late a cancellation may be seen */
};

struct redis_link {
    int fd;
    struct redis_tls *tls; /* NULL: plain */
    redisReader *reader;
    int64_t timeout_ms;
    const char *host;
    int port;
};

static enum wr_status lost(const struct redis_link *link, const char *what, struct wr_error *err)
{
    return wr_fail(err, WR_RETRY, "redis", "Redis at %s port %d: %s", link->host, link->port, what);
}

/* Waits for `events`, in steps short enough to see that nobody wants the answer any more. */
static enum wr_status wait_for(const struct redis_link *link, short events, int64_t until_us,
                               const struct sink_report *report, struct wr_error *err)
{
    struct pollfd fd = {.fd = link->fd, .events = events};

    for (;;) {
        if (poll(&fd, 1, LOOK_MS) > 0) {
            return WR_OK;
        }
        if (report != NULL && sink_is_cancelled(report)) {
            return lost(link, "given up, since the records are no longer wanted", err);
        }
        if (wr_clock_monotonic_us() > until_us) {
            return lost(link, "no answer in time", err);
        }
    }
}

static int64_t deadline_us(const struct redis_link *link)
{
    return wr_clock_monotonic_us() + link->timeout_ms * 1000;
}

static enum wr_status connect_to(struct redis_link *link, const struct addrinfo *address,
                                 struct wr_error *err)
{
    int one = 1;
    int code = 0;
    socklen_t size = sizeof(code);

    link->fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (link->fd == -1) {
        return lost(link, strerror(errno), err);
    }
    (void)setsockopt(link->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    (void)setsockopt(link->fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
    if (connect(link->fd, address->ai_addr, address->ai_addrlen) == 0) {
        return WR_OK;
    }
    if (errno != EINPROGRESS) {
        return lost(link, strerror(errno), err);
    }
    enum wr_status status = wait_for(link, POLLOUT, deadline_us(link), NULL, err);
    if (status == WR_OK && getsockopt(link->fd, SOL_SOCKET, SO_ERROR, &code, &size) == 0 &&
        code != 0) {
        status = lost(link, strerror(code), err);
    }
    return status;
}

static enum wr_status connect_any(struct redis_link *link, struct wr_error *err)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_family = AF_UNSPEC};
    struct addrinfo *addresses = NULL;
    char port[16];

    (void)snprintf(port, sizeof(port), "%d", link->port);
    int code = getaddrinfo(link->host, port, &hints, &addresses);
    if (code != 0) {
        return lost(link, gai_strerror(code), err);
    }
    enum wr_status status = lost(link, "has no address", err);
    for (const struct addrinfo *a = addresses; a != NULL && status != WR_OK; a = a->ai_next) {
        if (link->fd != -1) {
            (void)close(link->fd);
            link->fd = -1;
        }
        status = connect_to(link, a, err);
    }
    freeaddrinfo(addresses);
    return status;
}

static enum wr_status shake_hands(struct redis_link *link, const struct sink_setup *setup,
                                  struct wr_error *err)
{
    int64_t until_us = deadline_us(link);
    short events = 0;
    enum wr_status status = redis_tls_new(link->fd, setup, &link->tls, err);

    while (status == WR_OK && (status = redis_tls_connect(link->tls, &events, err)) == WR_AGAIN) {
        status = wait_for(link, events, until_us, NULL, err);
    }
    return status;
}

enum wr_status redis_link_open(const struct sink_setup *setup, struct redis_link **out,
                               struct wr_error *err)
{
    struct redis_link *link = calloc(1, sizeof(*link));

    assert(link != NULL);
    *out = NULL;
    link->fd = -1;
    link->host = setup->url->host;
    link->port = setup->url->port == 0 ? REDIS_PORT : setup->url->port;
    link->timeout_ms = setup->route->sink.timeout_ms;
    link->reader = redisReaderCreate();
    assert(link->reader != NULL);
    enum wr_status status = connect_any(link, err);
    if (status == WR_OK && strcmp(setup->url->scheme, "rediss") == 0) {
        status = shake_hands(link, setup, err);
    }
    if (status != WR_OK) {
        redis_link_close(link);
        return status;
    }
    *out = link;
    return WR_OK;
}

void redis_link_close(struct redis_link *link)
{
    if (link == NULL) {
        return;
    }
    redis_tls_free(link->tls);
    if (link->fd != -1) {
        (void)close(link->fd);
    }
    redisReaderFree(link->reader);
    free(link);
}

/* What one step of an exchange wants next; bytes moved, 0: it would have to wait for `events`. */
static ssize_t write_some(struct redis_link *link, struct wr_slice bytes, short *events)
{
    if (link->tls != NULL) {
        return redis_tls_write(link->tls, bytes, events);
    }
    ssize_t size = send(link->fd, bytes.data, bytes.size, MSG_NOSIGNAL);
    if (size == -1 && (errno == EAGAIN || errno == EINTR)) {
        *events |= POLLOUT;
        return 0;
    }
    return size;
}

static ssize_t read_some(struct redis_link *link, char *bytes, size_t size, short *events)
{
    if (link->tls != NULL) {
        return redis_tls_read(link->tls, bytes, size, events);
    }
    ssize_t got = recv(link->fd, bytes, size, 0);
    if (got == -1 && (errno == EAGAIN || errno == EINTR)) {
        *events |= POLLIN;
        return 0;
    }
    return got == 0 ? -1 : got;
}

struct exchange {
    struct wr_slice left; /* to be sent */
    size_t count, taken;
    void (*take)(void *context, size_t index, const struct redisReply *reply);
    void *context;
};

static enum wr_status take_replies(struct redis_link *link, struct exchange *x,
                                   struct wr_error *err)
{
    void *reply = NULL;

    while (x->taken < x->count) {
        if (redisReaderGetReply(link->reader, &reply) != REDIS_OK) {
            return lost(link, link->reader->errstr, err);
        }
        if (reply == NULL) {
            break;
        }
        x->take(x->context, x->taken++, reply);
        freeReplyObject(reply);
    }
    return WR_OK;
}

/* One round; `events` are what it could not go on without, 0 when something has moved. */
static enum wr_status move(struct redis_link *link, struct exchange *x, short *events,
                           struct wr_error *err)
{
    char bytes[READ_SIZE];
    ssize_t sent = 0;

    *events = 0;
    if (x->left.size > 0) {
        sent = write_some(link, x->left, events);
        if (sent < 0) {
            return lost(link, "the connection is lost", err);
        }
        x->left.data += sent;
        x->left.size -= (size_t)sent;
    }
    ssize_t got = read_some(link, bytes, sizeof(bytes), events);
    if (got < 0) {
        return lost(link, "the connection is lost", err);
    }
    if (got > 0 && redisReaderFeed(link->reader, bytes, (size_t)got) != REDIS_OK) {
        return lost(link, link->reader->errstr, err);
    }
    *events = sent > 0 || got > 0 ? 0 : *events;
    return take_replies(link, x, err);
}

enum wr_status redis_link_exchange(struct redis_link *link, struct wr_slice commands, size_t count,
                                   const struct sink_report *report,
                                   void (*take)(void *context, size_t index,
                                                const struct redisReply *reply),
                                   void *context, struct wr_error *err)
{
    struct exchange x = {.left = commands, .count = count, .take = take, .context = context};
    enum wr_status status = WR_OK;
    int64_t until_us = deadline_us(link);

    while (status == WR_OK && x.taken < count) {
        short events = 0;
        status = move(link, &x, &events, err);
        if (status == WR_OK && events != 0 && x.taken < count) {
            status = wait_for(link, events, until_us, report, err);
        } else {
            until_us = deadline_us(link);
        }
    }
    return status;
}
