/* sink/redis_tls.h - TLS on a socket that does not block. */
#ifndef WR_SINK_REDIS_TLS_H
#define WR_SINK_REDIS_TLS_H

#include <stddef.h>
#include <sys/types.h>

#include "base/slice.h"
#include "base/status.h"

struct redis_tls;
struct sink_setup;

WR_MUST_USE enum wr_status redis_tls_new(int fd, const struct sink_setup *setup,
                                         struct redis_tls **out, struct wr_error *err);
void redis_tls_free(struct redis_tls *tls); /* NULL is allowed; leaves the socket open */

/* WR_AGAIN: call it again after poll() for `events`. WR_FATAL: the certificate is not trusted. */
WR_MUST_USE enum wr_status redis_tls_connect(struct redis_tls *tls, short *events,
                                             struct wr_error *err);
/* Bytes moved; 0: not before poll() says one of `events`; -1: the connection is lost. */
ssize_t redis_tls_write(struct redis_tls *tls, struct wr_slice bytes, short *events);
ssize_t redis_tls_read(struct redis_tls *tls, char *bytes, size_t size, short *events);

#endif /* WR_SINK_REDIS_TLS_H */
