/* publisher/backend.h - what Kafka and standard output put behind the one interface. */
#ifndef WR_PUBLISHER_BACKEND_H
#define WR_PUBLISHER_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

struct publisher;
struct publisher_record;

struct publisher_backend {
    enum wr_status (*produce)(struct publisher *p, const struct publisher_record *r,
                              struct wr_error *err);
    enum wr_status (*poll)(struct publisher *p, struct wr_error *err);
    enum wr_status (*flush)(struct publisher *p, int64_t timeout_ms, struct wr_error *err);
    void (*close)(struct publisher *p);
};

/* The first member of each backend's own struct. */
struct publisher {
    const struct publisher_backend *backend;
    int fd; /* -1: none */
    size_t inflight_count;
    size_t inflight_bytes; /* of keys and values */
};

/* Bytes of key and value. */
size_t publisher_record_size(const struct publisher_record *r);

/* What Kafka takes for a topic: 1 to 249 letters, digits, '.', '_' and '-', neither "." nor "..".
 */
bool publisher_topic_is_valid(const char *name, size_t size);

/* WR_REJECT with the topic, the beginning of the key, the size, and `reason`. */
enum wr_status publisher_reject(const struct publisher_record *r, const char *where,
                                const char *reason, struct wr_error *err);

#endif /* WR_PUBLISHER_BACKEND_H */
