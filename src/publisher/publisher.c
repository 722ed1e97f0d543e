#include "publisher/publisher.h"

#include <assert.h>

#include "base/limits.h"
#include "publisher/backend.h"

enum {
    KEY_SHOWN_MAX = 64, /* bytes of a key in an error text */
};

enum wr_status publisher_produce(struct publisher *p, const struct publisher_record *r,
                                 struct wr_error *err)
{
    return p->backend->produce(p, r, err);
}

enum wr_status publisher_poll(struct publisher *p, struct wr_error *err)
{
    return p->backend->poll(p, err);
}

enum wr_status publisher_flush(struct publisher *p, int64_t timeout_ms, struct wr_error *err)
{
    return p->backend->flush(p, timeout_ms, err);
}

void publisher_close(struct publisher *p)
{
    if (p != NULL) {
        p->backend->close(p);
    }
}

int publisher_fd(const struct publisher *p)
{
    return p->fd;
}

size_t publisher_inflight_count(const struct publisher *p)
{
    return p->inflight_count;
}

size_t publisher_inflight_bytes(const struct publisher *p)
{
    return p->inflight_bytes;
}

size_t publisher_record_size(const struct publisher_record *r)
{
    return (r->key_is_null ? 0 : r->key.size) + (r->value_is_null ? 0 : r->value.size);
}

static bool is_topic_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
}

bool publisher_topic_is_valid(const char *name, size_t size)
{
    size_t dots = 0;

    if (size == 0 || size > WR_TOPIC_SIZE_MAX) {
        return false;
    }
    for (size_t i = 0; i < size; i++) {
        if (!is_topic_char(name[i])) {
            return false;
        }
        dots += name[i] == '.';
    }
    return dots < size || size > 2;
}

/* Enough of a key to find its row by, without bytes that would disturb a log. */
static void key_for_text(const struct publisher_record *r, char *out, size_t capacity)
{
    size_t shown = r->key.size < KEY_SHOWN_MAX ? r->key.size : KEY_SHOWN_MAX;

    assert(capacity > KEY_SHOWN_MAX + 3);
    if (r->key_is_null) {
        memcpy(out, "null", sizeof("null"));
        return;
    }
    for (size_t i = 0; i < shown; i++) {
        char c = r->key.data[i];
        out[i] = c >= ' ' && c < 0x7f ? c : '?';
    }
    memcpy(out + shown, shown < r->key.size ? "..." : "", shown < r->key.size ? 4 : 1);
}

enum wr_status publisher_reject(const struct publisher_record *r, const char *where,
                                const char *reason, struct wr_error *err)
{
    char key[KEY_SHOWN_MAX + 4];
    int topic_shown = r->topic.size < WR_TOPIC_SIZE_MAX ? (int)r->topic.size : WR_TOPIC_SIZE_MAX;

    key_for_text(r, key, sizeof(key));
    return wr_fail(err, WR_REJECT, where, "topic \"%.*s\", key %s, %zu bytes: %s", topic_shown,
                   topic_shown > 0 ? r->topic.data : "", key, publisher_record_size(r), reason);
}
