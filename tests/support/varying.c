#include "support/varying.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/buffer.h"

/* The lists of golden/README.md, with what is looked into further. */
struct rule {
    const char *const *blotted;
    const struct {
        const char *name;
        const struct rule *rule;
    } inner[3];
};

static const char *const TRANSACTION_FIELDS[] = {"id", NULL};
static const char *const TRANSACTION_TOPIC_FIELDS[] = {"id", "ts_ms", NULL};
static const char *const ENVELOPE_FIELDS[] = {"ts_ms", "ts_us", "ts_ns", NULL};
static const char *const SOURCE_FIELDS[] = {"version", "db",  "ts_ms",    "ts_us", "ts_ns",
                                            "txId",    "lsn", "sequence", "xmin",  NULL};

static const char *const WAREHOUSE_FIELDS[] = {"lsn", "seq", "row_lsn", "xid", "commit_time", NULL};

static const struct rule TRANSACTION = {.blotted = TRANSACTION_FIELDS};
static const struct rule TRANSACTION_TOPIC = {.blotted = TRANSACTION_TOPIC_FIELDS};
static const struct rule SOURCE = {.blotted = SOURCE_FIELDS};
static const struct rule ENVELOPE = {.blotted = ENVELOPE_FIELDS,
                                     .inner = {{"source", &SOURCE}, {"transaction", &TRANSACTION}}};
static const struct rule WAREHOUSE = {.blotted = WAREHOUSE_FIELDS};
static const char *const NOTHING[] = {NULL};
static const struct rule WITH_SCHEMA = {.blotted = NOTHING, .inner = {{"payload", &ENVELOPE}}};

/* A reader of the JSON text that only finds where values end: it trusts the text to be JSON, and
 * stops at its end when it is not. */
static const char *string_end(const char *p, const char *end)
{
    for (p++; p < end && *p != '"'; p++) {
        if (*p == '\\') {
            p++;
        }
    }
    return p < end ? p + 1 : end;
}

static const char *value_end(const char *p, const char *end)
{
    int depth = 0;

    while (p < end) {
        if (*p == '"') {
            p = string_end(p, end);
        } else if (depth == 0 && (*p == ',' || *p == '}' || *p == ']')) {
            return p;
        } else {
            depth += *p == '{' || *p == '[';
            depth -= *p == '}' || *p == ']';
            p++;
        }
    }
    return end;
}

/* One member of an object. The name is without its quotes; `next` is after the comma or brace. */
struct member {
    struct wr_slice name;
    struct wr_slice value;
    const char *next;
};

static bool member_read(const char *p, const char *end, struct member *out)
{
    if (p >= end || *p != '"') {
        return false;
    }
    const char *after = string_end(p, end);
    if (after >= end || *after != ':') {
        return false;
    }
    const char *stop = value_end(after + 1, end);
    out->name = (struct wr_slice){p + 1, (size_t)(after - p) - 2};
    out->value = (struct wr_slice){after + 1, (size_t)(stop - after) - 1};
    out->next = stop < end ? stop + 1 : end;
    return true;
}

static bool is_object(struct wr_slice text)
{
    return text.size >= 2 && text.data[0] == '{' && text.data[text.size - 1] == '}';
}

static bool has_member(struct wr_slice text, const char *name)
{
    const char *end = text.data + text.size;
    struct member m = {.next = text.data + 1};

    while (is_object(text) && member_read(m.next, end, &m)) {
        if (wr_slice_is(m.name, name)) {
            return true;
        }
    }
    return false;
}

static bool is_listed(const char *const *names, struct wr_slice name)
{
    for (; *names != NULL; names++) {
        if (wr_slice_is(name, *names)) {
            return true;
        }
    }
    return false;
}

static const struct rule *inner_rule(const struct rule *rule, struct wr_slice name)
{
    for (size_t i = 0; rule->inner[i].name != NULL; i++) {
        if (wr_slice_is(name, rule->inner[i].name)) {
            return rule->inner[i].rule;
        }
    }
    return NULL;
}

static void blot_object(const struct rule *rule, struct wr_slice text, struct wr_buffer *out)
{
    const char *end = text.data + text.size;
    const char *copied = text.data;
    struct member m = {.next = text.data + 1};

    while (is_object(text) && member_read(m.next, end, &m)) {
        const struct rule *inner = inner_rule(rule, m.name);

        if (inner == NULL && !is_listed(rule->blotted, m.name)) {
            continue;
        }
        wr_buffer_add(out, copied, (size_t)(m.value.data - copied));
        copied = m.value.data + m.value.size;
        if (inner != NULL) {
            blot_object(inner, m.value, out);
        } else {
            wr_buffer_add_char(out, '*');
        }
    }
    wr_buffer_add(out, copied, (size_t)(end - copied));
}

void varying_blot(struct wr_slice topic, struct wr_slice value, struct wr_buffer *out)
{
    static const char SUFFIX[] = ".transaction";
    size_t suffix_size = sizeof(SUFFIX) - 1;

    if (topic.size > suffix_size &&
        memcmp(topic.data + topic.size - suffix_size, SUFFIX, suffix_size) == 0) {
        blot_object(&TRANSACTION_TOPIC, value, out);
    } else if (has_member(value, "schema") && has_member(value, "payload")) {
        blot_object(&WITH_SCHEMA, value, out);
    } else if (has_member(value, "source") && has_member(value, "op")) {
        blot_object(&ENVELOPE, value, out);
    } else if (has_member(value, "row_lsn") && has_member(value, "commit_time")) {
        blot_object(&WAREHOUSE, value, out);
    } else {
        wr_buffer_add_slice(out, value);
    }
}
