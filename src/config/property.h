/* config/property.h - the one table of properties: loading, checking and the reference use it. */
#ifndef WR_CONFIG_PROPERTY_H
#define WR_CONFIG_PROPERTY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"
#include "config/transform_config.h"

struct entry;
struct loader;
struct property;
struct wr_buffer;

enum property_type {
    PROPERTY_STRING,
    PROPERTY_PASSWORD, /* as it is: not even trimmed */
    PROPERTY_BOOL,
    PROPERTY_INT,
    PROPERTY_CHOICE,
    PROPERTY_FLAG, /* of two choices: false and true */
    PROPERTY_REGEX,
    PROPERTY_REGEX_LIST,
    PROPERTY_NAMES,      /* "a,b": struct config_names */
    PROPERTY_NAME_PAIRS, /* "a:x,b:y": struct config_pairs */
};

enum property_support {
    SUPPORT_FULL,     /* works as Debezium and Connect document it */
    SUPPORT_ACCEPTED, /* has no meaning here: checked, and without effect */
    SUPPORT_LATER,    /* not built yet: refused, unless it has its default */
    SUPPORT_REFUSED,  /* for good, likewise */
};

/*
 * Whose properties. A transform has its own, behind "transforms.<name>.", and some that all of them
 * have; a predicate and a route likewise.
 */
enum property_scope {
    SCOPE_CONFIG,
    SCOPE_ROUTE,
    SCOPE_ROUTE_SEARCH,
    SCOPE_ROUTE_CACHE,
    SCOPE_ROUTE_WAREHOUSE,
    SCOPE_PREDICATE,
    SCOPE_TOPIC_NAME_MATCHES,
    SCOPE_RECORD_IS_TOMBSTONE,
    SCOPE_HAS_HEADER_KEY,
    SCOPE_TRANSFORM,
#define WR_TRANSFORM_SCOPE(KIND, name, class, side) SCOPE_##KIND,
    WR_TRANSFORMS(WR_TRANSFORM_SCOPE)
#undef WR_TRANSFORM_SCOPE
        SCOPE_COUNT,
};

/* What the key's wildcard stood for, "" without one; valid during the call. */
struct property_match {
    const struct property *property;
    struct wr_slice wildcard;
};

/*
 * A name may hold one wildcard: <n> is a decimal number, <name> one word, <rest> all that follows.
 * `choices` is "a|b,bb|c": bb is another spelling of b, and the place among them is the value of
 * the C enum.
 */
struct property {
    const char *name;
    const char *default_value;
    const char *choices;
    const char *choices_refused; /* of Debezium or Connect; a* is all that start with a */
    const char *meaning;         /* of SUPPORT_LATER and SUPPORT_REFUSED: what to do instead */
    const char *keyword;         /* of libpq, whose value this is */
    const char *groups_of;       /* the expression whose groups this replacement may name */
    /* Takes a value that needs more than its type and `offset`. */
    void (*set)(struct loader *l, const struct property_match *match, const struct entry *e,
                void *base);
    int64_t int_min, int_max;
    size_t offset; /* into struct config, or the transform's struct; only when `is_stored` */
    enum property_scope scope;
    enum property_type type;
    enum property_support support;
    bool is_stored;
    bool is_required;
};

/* A chapter of the table and of the reference. */
struct property_group {
    const char *heading;
    const struct property *rows;
    size_t count;
};

/* In the order of the reference: table.c joins the chapters. Ends with a NULL. */
extern const struct property_group *const property_table[];

/* The row at `index` of the whole table; NULL behind the last. */
const struct property *property_at(size_t index);

/* The row whose name `key` is or matches. False when there is none. */
bool property_find(enum property_scope scope, const char *key, struct property_match *out);

/* The known name that is most like `key`; NULL when none is. */
const char *property_nearest(enum property_scope scope, const char *key);

/* A problem for a key, ending with `name`, that no row has, with the nearest that one has. */
void property_report_unknown(struct loader *l, const struct entry *e, enum property_scope scope,
                             const char *name);

/* Appends "a, b or c". */
void property_list_choices(const struct property *p, struct wr_buffer *out);

/* Appends the name, with `transforms.<name>.` or the like before it. */
void property_full_name(const struct property *p, struct wr_buffer *out);

/*
 * Checks the value and stores it in `base`, the struct of the property's scope. What is wrong
 * becomes a problem of the loader.
 */
void property_apply(struct loader *l, const struct property_match *match, const struct entry *e,
                    void *base);
void property_apply_defaults(struct loader *l, enum property_scope scope, void *base);
/* A problem for each required property of the scope that nobody gave; `prefix` is the scope's. */
void property_check_required(struct loader *l, enum property_scope scope, const char *prefix);

/* Setters that stand in the table (setters.c). `base` as for property_apply(). */
void set_slot_name(struct loader *l, const struct property_match *match, const struct entry *e,
                   void *base);
void set_topic_part(struct loader *l, const struct property_match *match, const struct entry *e,
                    void *base);
void set_placeholder(struct loader *l, const struct property_match *match, const struct entry *e,
                     void *base);
void set_keepalives(struct loader *l, const struct property_match *match, const struct entry *e,
                    void *base);
void set_initial_statements(struct loader *l, const struct property_match *match,
                            const struct entry *e, void *base);
void set_snapshot_select(struct loader *l, const struct property_match *match,
                         const struct entry *e, void *base);
void set_column_rule(struct loader *l, const struct property_match *match, const struct entry *e,
                     void *base);
void set_message_key_columns(struct loader *l, const struct property_match *match,
                             const struct entry *e, void *base);
void set_skipped_operations(struct loader *l, const struct property_match *match,
                            const struct entry *e, void *base);
void set_inflight_bytes_max(struct loader *l, const struct property_match *match,
                            const struct entry *e, void *base);

#endif /* WR_CONFIG_PROPERTY_H */
