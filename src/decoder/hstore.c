#include "decoder/hstore.h"

#include "base/arena.h"
#include "decoder/scan.h"
#include "decoder/schema_known.h"

bool hstore_settle(struct column_type *type, struct wr_arena *arena)
{
    bool is_map = type->options->hstore_handling_mode == HSTORE_HANDLING_MAP;

    (void)arena;
    type->parse = is_map ? hstore_parse_map : hstore_parse_json;
    type->schema = schema_known(is_map ? KNOWN_HSTORE_MAP : KNOWN_JSON);
    return true;
}

/*
 * The JSON is never longer than the text, pair by pair, but for control characters, which hstore
 * leaves alone and JSON spells with up to six bytes.
 */
static size_t json_size_max(struct wr_slice text)
{
    size_t size = text.size + sizeof("{}");

    for (size_t i = 0; i < text.size; i++) {
        size += (unsigned char)text.data[i] < 0x20 ? 5 : 0;
    }
    return size;
}

static char *put_text(char *p, const char *text)
{
    while (*text != '\0') {
        *p++ = *text++;
    }
    return p;
}

static char *put_escape(char *p, char c)
{
    static const char SHORT[] = "btn\0fr"; /* for 8 to 13; there is none for 11 */

    *p++ = '\\';
    if (c == '"' || c == '\\') {
        *p++ = c;
    } else if (c >= '\b' && c <= '\r' && c != '\v') {
        *p++ = SHORT[c - '\b'];
    } else {
        p = put_text(p, "u00");
        *p++ = "0123456789ABCDEF"[c >> 4];
        *p++ = "0123456789ABCDEF"[c & 15];
    }
    return p;
}

/* A quoted string of hstore to one of JSON. */
static char *convert_string(struct scan *in, char *p)
{
    scan_expect(in, '"');
    *p++ = '"';
    while (in->next < in->end && *in->next != '"') {
        if (*in->next == '\\') {
            in->next++;
        }
        if (in->next == in->end) {
            break;
        }
        char c = *in->next++;
        if ((unsigned char)c < 0x20 || c == '"' || c == '\\') {
            p = put_escape(p, c);
        } else {
            *p++ = c;
        }
    }
    scan_expect(in, '"');
    *p++ = '"';
    return p;
}

static char *convert_pair(struct scan *in, char *p)
{
    p = convert_string(in, p);
    if (!scan_accept_text(in, "=>")) {
        scan_fail(in);
        return p;
    }
    *p++ = ':';
    if (scan_accept_text(in, "NULL")) {
        return put_text(p, "null");
    }
    return convert_string(in, p);
}

enum wr_status hstore_parse_json(const struct column_type *type, struct wr_slice text,
                                 struct wr_arena *arena, struct datum *out, struct wr_error *err)
{
    struct scan in = scan_start(text);
    char *json = wr_arena_alloc_raw(arena, json_size_max(text), 1);

    if (json == NULL) {
        return type_no_room(type, err);
    }
    char *p = json;
    *p++ = '{';
    if (!scan_done(&in)) {
        p = convert_pair(&in, p);
    }
    while (scan_accept_text(&in, ", ")) {
        *p++ = ',';
        p = convert_pair(&in, p);
    }
    *p++ = '}';
    if (!scan_done(&in)) {
        return type_reject(type, text, err);
    }
    *out = (struct datum){.kind = DATUM_STRING, .as.bytes = {json, (size_t)(p - json)}};
    return WR_OK;
}

/* A quoted string without its quotes and backslashes, copied behind `*p`. */
static struct wr_slice scan_string(struct scan *in, char **p)
{
    char *start = *p;

    scan_expect(in, '"');
    while (in->next < in->end && *in->next != '"') {
        in->next += *in->next == '\\';
        if (in->next < in->end) {
            *(*p)++ = *in->next++;
        }
    }
    scan_expect(in, '"');
    return (struct wr_slice){start, (size_t)(*p - start)};
}

static void scan_pair_of_strings(struct scan *in, char **p, struct datum_field *out)
{
    out->name = scan_string(in, p);
    out->value = (struct datum){.kind = DATUM_NULL};
    if (!scan_accept_text(in, "=>")) {
        scan_fail(in);
    } else if (!scan_accept_text(in, "NULL")) {
        out->value = (struct datum){.kind = DATUM_STRING, .as.bytes = scan_string(in, p)};
    }
}

/* Not fewer than there are: an arrow may also stand inside a string. */
static size_t count_pairs_max(struct wr_slice text)
{
    size_t count = 0;

    for (size_t i = 0; i + 1 < text.size; i++) {
        count += text.data[i] == '=' && text.data[i + 1] == '>';
    }
    return count;
}

enum wr_status hstore_parse_map(const struct column_type *type, struct wr_slice text,
                                struct wr_arena *arena, struct datum *out, struct wr_error *err)
{
    struct scan in = scan_start(text);
    size_t count_max = count_pairs_max(text);
    struct datum_field *fields = wr_arena_alloc_raw(arena, count_max + 1, sizeof(*fields));
    char *p = wr_arena_alloc_raw(arena, text.size + 1, 1);
    size_t count = 0;

    if (fields == NULL || p == NULL) {
        return type_no_room(type, err);
    }
    if (!scan_done(&in)) {
        do {
            scan_pair_of_strings(&in, &p, &fields[count++]);
        } while (!in.failed && count <= count_max && scan_accept_text(&in, ", "));
    }
    *out = (struct datum){.kind = DATUM_STRUCT, .as.structure = {fields, count}};
    return scan_done(&in) ? WR_OK : type_reject(type, text, err);
}
