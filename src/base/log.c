#include "base/log.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/lsn.h"

enum { LINE_SIZE_MAX = 4096 };

static _Atomic int level_least = WR_LOG_INFO;

void wr_log_level_set(enum wr_log_level least)
{
    atomic_store(&level_least, (int)least);
}

struct line {
    char bytes[LINE_SIZE_MAX];
    size_t size; /* always leaves room for the closing quote and the line's end */
};

static void line_char(struct line *line, char c)
{
    if (line->size < LINE_SIZE_MAX - 2) {
        line->bytes[line->size++] = c;
    }
}

static void line_str(struct line *line, const char *text)
{
    for (; *text != '\0'; text++) {
        line_char(line, *text);
    }
}

/* Quoted only where logfmt needs it: blanks, quotes, equal signs, control characters, or nothing.
 */
static void line_value(struct line *line, const char *text)
{
    bool plain = text[0] != '\0';

    for (const char *c = text; plain && *c != '\0'; c++) {
        plain = (unsigned char)*c > ' ' && *c != '"' && *c != '=' && *c != '\\' && *c != 0x7f;
    }
    if (plain) {
        line_str(line, text);
        return;
    }
    line_char(line, '"');
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\') {
            line_char(line, '\\');
            line_char(line, *text);
        } else if (*text == '\n') {
            line_str(line, "\\n");
        } else if ((unsigned char)*text < ' ' || *text == 0x7f) {
            line_char(line, '?');
        } else {
            line_char(line, *text);
        }
    }
    /* A place is kept for it; a second text in a line that is already full goes without. */
    if (line->size < LINE_SIZE_MAX - 1) {
        line->bytes[line->size++] = '"';
    }
}

static void line_field(struct line *line, const struct wr_log_field *field)
{
    char number[32];

    line_char(line, ' ');
    line_str(line, field->name);
    line_char(line, '=');
    switch (field->kind) {
    case WR_FIELD_STR:
        line_value(line, field->as.str == NULL ? "" : field->as.str);
        break;
    case WR_FIELD_INT:
        (void)snprintf(number, sizeof(number), "%" PRId64, field->as.integer);
        line_str(line, number);
        break;
    case WR_FIELD_LSN:
        (void)snprintf(number, sizeof(number), WR_LSN_FMT, WR_LSN_ARGS(field->as.lsn));
        line_str(line, number);
        break;
    }
}

void wr_log_write(enum wr_log_level level, const char *at, const struct wr_log_field *fields,
                  size_t count)
{
    static const char *const names[] = {"debug", "info", "warn", "error"};
    struct line line = {.size = 0};
    char stamp[40];
    struct timespec now;
    struct tm utc;

    if ((int)level < atomic_load(&level_least)) {
        return;
    }
    (void)clock_gettime(CLOCK_REALTIME, &now);
    (void)gmtime_r(&now.tv_sec, &utc);
    size_t size = strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%S", &utc);
    (void)snprintf(stamp + size, sizeof(stamp) - size, ".%03ldZ", now.tv_nsec / 1000000);
    line_str(&line, "time=");
    line_str(&line, stamp);
    line_str(&line, " level=");
    line_str(&line, names[level]);
    line_str(&line, " at=");
    line_str(&line, at);
    for (size_t i = 0; i < count; i++) {
        line_field(&line, &fields[i]);
    }
    line.bytes[line.size++] = '\n';
    ssize_t written = write(STDERR_FILENO, line.bytes, line.size);
    (void)written; /* nowhere is left to say that the log is gone */
}
