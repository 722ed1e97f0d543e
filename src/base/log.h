/* base/log.h - logfmt lines on stderr. Pure rooms (decoder, router, codec) never call it. */
#ifndef WR_BASE_LOG_H
#define WR_BASE_LOG_H

#include <stddef.h>
#include <stdint.h>

enum wr_log_level { WR_LOG_DEBUG, WR_LOG_INFO, WR_LOG_WARN, WR_LOG_ERROR };

struct wr_log_field {
    const char *name;
    enum { WR_FIELD_STR, WR_FIELD_INT, WR_FIELD_LSN } kind;
    union {
        const char *str; /* NULL prints as empty */
        int64_t integer;
        uint64_t lsn;
    } as;
};

#define WR_MSG(text)                                                                               \
    {                                                                                              \
        .name = "msg", .kind = WR_FIELD_STR, .as.str = (text)                                      \
    }
#define WR_STR(key, value)                                                                         \
    {                                                                                              \
        .name = (key), .kind = WR_FIELD_STR, .as.str = (value)                                     \
    }
#define WR_INT(key, value)                                                                         \
    {                                                                                              \
        .name = (key), .kind = WR_FIELD_INT, .as.integer = (int64_t)(value)                        \
    }
#define WR_LSN(key, value)                                                                         \
    {                                                                                              \
        .name = (key), .kind = WR_FIELD_LSN, .as.lsn = (value)                                     \
    }

/*
 * wr_log(WR_LOG_WARN, "publisher", WR_MSG("queue full"), WR_STR("topic", name));
 * One write(2) a line, from any thread. Never pass payloads, keys or passwords above debug.
 */
#define wr_log(level, at, ...)                                                                     \
    wr_log_write((level), (at), (const struct wr_log_field[]){__VA_ARGS__},                        \
                 sizeof((const struct wr_log_field[]){__VA_ARGS__}) / sizeof(struct wr_log_field))

void wr_log_write(enum wr_log_level level, const char *at, const struct wr_log_field *fields,
                  size_t count);
void wr_log_level_set(enum wr_log_level least);

#endif /* WR_BASE_LOG_H */
