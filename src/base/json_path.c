#include "base/json_path.h"

#include <stdint.h>
#include <string.h>

enum { NUMBER_DIGITS_MAX = 9 };

struct cursor {
    const char *next;
    const char *end;
};

static struct cursor cursor_of(struct wr_slice text)
{
    const char *start = text.size == 0 ? "" : text.data;

    return (struct cursor){start, start + text.size};
}

static void skip_blanks(struct cursor *c)
{
    while (c->next < c->end && strchr(" \t\n\r", *c->next) != NULL && *c->next != '\0') {
        c->next++;
    }
}

static bool accept(struct cursor *c, char mark)
{
    skip_blanks(c);
    bool is_there = c->next < c->end && *c->next == mark;
    c->next += is_there;
    return is_there;
}

/* Past a string; at its first quote. */
static void skip_string(struct cursor *c)
{
    for (c->next++; c->next < c->end && *c->next != '"'; c->next++) {
        c->next += *c->next == '\\' && c->next + 1 < c->end;
    }
    c->next += c->next < c->end;
}

/* The value that begins here. Depth costs nothing: only the outermost bracket is waited for. */
static struct wr_slice take_value(struct cursor *c)
{
    size_t depth = 0;

    skip_blanks(c);
    const char *start = c->next;
    while (c->next < c->end) {
        char mark = *c->next;
        if (depth == 0 && (mark == ',' || mark == ']' || mark == '}')) {
            break;
        }
        if (mark == '"') {
            skip_string(c);
            continue;
        }
        depth += mark == '[' || mark == '{';
        depth -= mark == ']' || mark == '}';
        c->next++;
    }
    const char *end = c->next;
    while (end > start && strchr(" \t\n\r", end[-1]) != NULL) {
        end--;
    }
    return (struct wr_slice){start, (size_t)(end - start)};
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* "\u0041" at `p`: its unit, -1 where it is none. */
static int32_t unit_at(const char *p, const char *end)
{
    int32_t unit = 0;

    if (end - p < 6 || p[0] != '\\' || p[1] != 'u') {
        return -1;
    }
    for (int i = 2; i < 6; i++) {
        int digit = hex_value(p[i]);
        if (digit < 0) {
            return -1;
        }
        unit = unit * 16 + digit;
    }
    return unit;
}

static void put_character(struct wr_buffer *out, uint32_t c)
{
    if (c < 0x80) {
        wr_buffer_add_char(out, (char)c);
    } else if (c < 0x800) {
        wr_buffer_add_char(out, (char)(0xC0 | c >> 6));
        wr_buffer_add_char(out, (char)(0x80 | (c & 0x3F)));
    } else if (c < 0x10000) {
        wr_buffer_add_char(out, (char)(0xE0 | c >> 12));
        wr_buffer_add_char(out, (char)(0x80 | (c >> 6 & 0x3F)));
        wr_buffer_add_char(out, (char)(0x80 | (c & 0x3F)));
    } else {
        wr_buffer_add_char(out, (char)(0xF0 | c >> 18));
        wr_buffer_add_char(out, (char)(0x80 | (c >> 12 & 0x3F)));
        wr_buffer_add_char(out, (char)(0x80 | (c >> 6 & 0x3F)));
        wr_buffer_add_char(out, (char)(0x80 | (c & 0x3F)));
    }
}

/* The escape at `p`, a backslash; what is behind it. A surrogate without its twin is U+FFFD. */
static const char *put_escape(struct wr_buffer *out, const char *p, const char *end)
{
    static const char from[] = "bfnrt";
    static const char to[] = "\b\f\n\r\t";
    int32_t unit = unit_at(p, end);

    if (unit < 0) {
        if (p + 1 == end) {
            return end;
        }
        const char *known = p[1] == '\0' ? NULL : strchr(from, p[1]);
        wr_buffer_add_char(out, known == NULL ? p[1] : to[known - from]);
        return p + 2;
    }
    p += 6;
    if (unit >= 0xD800 && unit < 0xE000) {
        int32_t twin = unit_at(p, end);
        if (unit >= 0xDC00 || twin < 0xDC00 || twin > 0xDFFF) {
            put_character(out, 0xFFFD);
            return p;
        }
        put_character(out, 0x10000 + ((uint32_t)(unit - 0xD800) << 10) + (uint32_t)(twin - 0xDC00));
        return p + 6;
    }
    put_character(out, (uint32_t)unit);
    return p;
}

void wr_json_plain(struct wr_buffer *out, struct wr_slice json)
{
    if (json.size < 2 || json.data[0] != '"' || json.data[json.size - 1] != '"') {
        wr_buffer_add_slice(out, json);
        return;
    }
    const char *end = json.data + json.size - 1;
    for (const char *p = json.data + 1; p < end;) {
        if (*p == '\\') {
            p = put_escape(out, p, end);
        } else {
            wr_buffer_add_char(out, *p++);
        }
    }
}

static bool string_is(struct wr_slice json, struct wr_slice name)
{
    struct wr_buffer plain;

    if (json.size < 2 || json.data[0] != '"') {
        return false;
    }
    if (memchr(json.data, '\\', json.size) == NULL) {
        return wr_slice_eq((struct wr_slice){json.data + 1, json.size - 2}, name);
    }
    wr_buffer_init(&plain, json.size * 3);
    wr_json_plain(&plain, json);
    bool is_same = wr_slice_eq(wr_buffer_slice(&plain), name);
    wr_buffer_done(&plain);
    return is_same;
}

/* Behind the opening brace. */
static bool find_member(struct cursor *c, struct wr_slice name, struct wr_slice *out)
{
    bool is_found = false;

    do {
        skip_blanks(c);
        const char *start = c->next;
        if (c->next == c->end || *c->next != '"') {
            break;
        }
        skip_string(c);
        struct wr_slice key = {start, (size_t)(c->next - start)};
        if (!accept(c, ':')) {
            break;
        }
        struct wr_slice value = take_value(c);
        if (string_is(key, name)) {
            *out = value;
            is_found = true;
        }
    } while (accept(c, ','));
    return is_found;
}

/* Behind the opening bracket. */
static bool find_element(struct cursor *c, struct wr_slice number, struct wr_slice *out)
{
    size_t index = 0;

    if (number.size == 0 || number.size > NUMBER_DIGITS_MAX) {
        return false;
    }
    for (size_t i = 0; i < number.size; i++) {
        if (number.data[i] < '0' || number.data[i] > '9') {
            return false;
        }
        index = index * 10 + (size_t)(number.data[i] - '0');
    }
    do {
        *out = take_value(c);
        if (index-- == 0) {
            return out->size > 0;
        }
    } while (accept(c, ','));
    return false;
}

bool wr_json_find(struct wr_slice json, const struct wr_slice *path, size_t path_count,
                  struct wr_slice *out)
{
    struct cursor c = cursor_of(json);

    *out = take_value(&c);
    for (size_t i = 0; i < path_count; i++) {
        bool is_found = false;
        c = cursor_of(*out);
        if (accept(&c, '{')) {
            is_found = find_member(&c, path[i], out);
        } else if (accept(&c, '[')) {
            is_found = find_element(&c, path[i], out);
        }
        if (!is_found) {
            return false;
        }
    }
    return out->size > 0;
}

bool wr_json_is_null(struct wr_slice json)
{
    return wr_slice_is(json, "null");
}

bool wr_json_walk_start(struct wr_json_walk *walk, struct wr_slice json)
{
    struct cursor c = cursor_of(json);
    bool is_object = accept(&c, '{');
    bool is_array = !is_object && accept(&c, '[');

    *walk = (struct wr_json_walk){c.next, c.end, is_object ? '}' : ']'};
    return is_object || is_array;
}

bool wr_json_walk_next(struct wr_json_walk *walk, struct wr_slice *name, struct wr_slice *value)
{
    struct cursor c = {walk->next, walk->end};

    (void)accept(&c, ',');
    skip_blanks(&c);
    *name = (struct wr_slice){c.next, 0};
    if (c.next == c.end || *c.next == walk->close) {
        return false;
    }
    if (walk->close == '}') {
        if (*c.next != '"') {
            return false;
        }
        skip_string(&c);
        name->size = (size_t)(c.next - name->data);
        if (!accept(&c, ':')) {
            return false;
        }
    }
    const char *start = c.next;
    *value = take_value(&c);
    walk->next = c.next;
    return c.next > start;
}
