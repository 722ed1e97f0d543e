#include "sink/url.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

enum { PORT_MAX = 65535 };

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    c = (char)tolower((unsigned char)c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static const char *copy(struct wr_arena *arena, const char *start, const char *end)
{
    return wr_arena_strndup(arena, start, (size_t)(end - start));
}

/* With %XX made bytes; a percent sign that is no escape stays one. */
static const char *decode(struct wr_arena *arena, const char *start, const char *end)
{
    char *text = wr_arena_alloc(arena, (size_t)(end - start) + 1, 1);
    size_t size = 0;

    for (const char *at = start; text != NULL && at < end; at++) {
        int high = end - at > 2 && *at == '%' ? hex_digit(at[1]) : -1;
        int low = high >= 0 ? hex_digit(at[2]) : -1;
        bool is_escape = low >= 0 && (high > 0 || low > 0);
        text[size++] = (char)(is_escape ? high << 4 | low : *at);
        at += is_escape ? 2 : 0;
    }
    return text;
}

static const char *lower(struct wr_arena *arena, const char *start, const char *end)
{
    char *text = wr_arena_alloc(arena, (size_t)(end - start) + 1, 1);

    for (size_t i = 0; text != NULL && start + i < end; i++) {
        text[i] = (char)tolower((unsigned char)start[i]);
    }
    return text;
}

static bool read_port(const char *start, const char *end, int *port)
{
    long number = 0;

    for (const char *at = start; at < end; at++) {
        if (*at < '0' || *at > '9' || number > PORT_MAX) {
            return false;
        }
        number = number * 10 + (*at - '0');
    }
    *port = (int)number;
    return end > start && number >= 1 && number <= PORT_MAX;
}

static enum wr_status read_host(const char *start, const char *end, struct wr_arena *arena,
                                struct sink_url *out, struct wr_error *err)
{
    const char *host_end = end;
    bool is_bracketed = start < end && *start == '[';

    if (is_bracketed) {
        start++;
        host_end = memchr(start, ']', (size_t)(end - start));
        if (host_end == NULL) {
            return wr_fail(err, WR_FATAL, "sink", "the URL's host has no closing bracket");
        }
    } else {
        const char *colon = memchr(start, ':', (size_t)(end - start));
        host_end = colon == NULL ? end : colon;
    }
    const char *port = host_end + (is_bracketed ? 1 : 0);
    if (host_end == start) {
        return wr_fail(err, WR_FATAL, "sink", "the URL names no host");
    }
    if (port < end && (*port != ':' || !read_port(port + 1, end, &out->port))) {
        return wr_fail(err, WR_FATAL, "sink", "the URL's port is no number from 1 to %d", PORT_MAX);
    }
    out->host = copy(arena, start, host_end);
    return WR_OK;
}

static const char *last_of(const char *start, const char *end, char c)
{
    return memrchr(start, c, (size_t)(end - start));
}

enum wr_status sink_url_parse(const char *text, struct wr_arena *arena, struct sink_url *out,
                              struct wr_error *err)
{
    const char *colon = strstr(text, "://");

    *out = (struct sink_url){.user = "", .password = "", .path = "", .query = ""};
    if (colon == NULL || colon == text) {
        return wr_fail(err, WR_FATAL, "sink", "the URL does not begin with scheme://");
    }
    const char *start = colon + 3;
    const char *end = start + strcspn(start, "/?");
    const char *question = strchr(end, '?');
    const char *at = last_of(start, end, '@');
    if (at != NULL) {
        const char *password = memchr(start, ':', (size_t)(at - start));
        out->user = decode(arena, start, password == NULL ? at : password);
        out->password = password == NULL ? "" : decode(arena, password + 1, at);
        start = at + 1;
    }
    enum wr_status status = read_host(start, end, arena, out, err);
    out->scheme = lower(arena, text, colon);
    out->path = copy(arena, end, question == NULL ? end + strlen(end) : question);
    out->query = question == NULL ? "" : question + 1;
    return status;
}
