/* config/loader.h - what the files of this room share while one configuration is loaded. */
#ifndef WR_CONFIG_LOADER_H
#define WR_CONFIG_LOADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"
#include "base/status.h"
#include "config/config.h"

struct transform_config;
struct wr_arena;
struct wr_buffer;

/*
 * Bounds of what may come from outside. They keep everything that is made from it within
 * WR_CONFIG_SIZE_MAX, which is why loader_alloc() need not fail.
 */
enum {
    CONFIG_TEXT_SIZE_MAX = 256 << 10, /* one file; all keys and values together */
    CONFIG_ENTRY_COUNT_MAX = 10000,
    CONFIG_TRANSFORM_COUNT_MAX = 100,
};

/* One property as somebody wrote it. */
struct entry {
    const char *source; /* the file's path, or "--set" */
    uint32_t line;      /* 1 is the first; 0: not known */
    const char *key;
    const char *value;  /* with secrets filled in; never printed */
    const char *shown;  /* as it was written, or "[hidden]": for messages */
    bool is_secret;     /* `value` must not be printed in any form */
    bool is_overridden; /* a later source has the same key */
};

struct problem {
    size_t position; /* where it belongs among the entries */
    size_t sequence;
    const char *text;
};

struct loader {
    struct wr_arena *arena;
    struct config *config;
    struct entry *entries;
    size_t entry_count;
    size_t text_size; /* of all keys and values */
    struct problem *problems;
    size_t problem_count;
    bool is_incomplete; /* a source could not be read: what is missing may be in there */
};

/* Memory of the configuration, zeroed. Never NULL: see the bounds above. */
void *loader_alloc(struct loader *l, size_t count, size_t size);
/* An array of `count` items with room for one more; an older, smaller one is left to the arena. */
void *loader_grow(struct loader *l, void *items, size_t count, size_t size);
const char *loader_copy(struct loader *l, struct wr_slice text);

/* `text` without the blanks around it, as Kafka trims values and items of lists. */
struct wr_slice loader_trim(struct wr_slice text);

/* Takes the next item off a list, up to `separator`; trimmed. False when the list is used up. */
bool loader_take_item(struct wr_slice *list, char separator, struct wr_slice *item);

/* Adds one property, with its secrets filled in, over an earlier one of the same name. */
void loader_add(struct loader *l, const char *source, uint32_t line, const char *key,
                const char *value);
/* The property that counts, or NULL. */
const struct entry *loader_find(const struct loader *l, const char *key);

/* "file:line: key=value: TEXT". */
void loader_problem(struct loader *l, const struct entry *e, const char *format, ...)
    WR_PRINTF(3, 4);
/* The same without the value, for a name that is wrong by itself. */
void loader_problem_name(struct loader *l, const struct entry *e, const char *format, ...)
    WR_PRINTF(3, 4);
/* "file:line: TEXT", of a source as a whole. `source` may be NULL: of all of them. */
void loader_problem_source(struct loader *l, const char *source, uint32_t line, const char *format,
                           ...) WR_PRINTF(4, 5);

/* One expression, or a comma-separated list of them. False, with a problem, where it is none: with
 * the reason, unless that would show a secret. */
bool loader_check_regex(struct loader *l, const struct entry *e, const char *pattern);
bool loader_check_regex_list(struct loader *l, const struct entry *e, const char *patterns);

/* Adds to `pairs`, over an earlier pair of the same name. `name` may be NULL: always a new one. */
void loader_pair_set(struct loader *l, struct config_pairs *pairs, const char *name,
                     const char *value);

/* Reads a whole file, at most CONFIG_TEXT_SIZE_MAX bytes, behind what `out` holds. */
WR_MUST_USE enum wr_status loader_read_file(const char *path, struct wr_buffer *out,
                                            struct wr_error *err);

/* Reads one source into entries; what is wrong in it becomes problems. */
void source_load(struct loader *l, const struct config_source *source);

/* The parts of a configuration that need more than one property at a time. */
void transforms_apply(struct loader *l);
/* What the options of one of Kafka's own transforms, each right by itself, ask of each other. */
void smt_check(struct loader *l, const struct transform_config *t);
void routes_apply(struct loader *l);
void converters_apply(struct loader *l);
void kafka_apply(struct loader *l, bool needs_kafka);
void snapshot_check(struct loader *l);
void slot_check(struct loader *l);
void processors_apply(struct loader *l);
/* Whether the key is an option of one of post.processors or converters. */
bool processors_have(const struct loader *l, const char *key);
void topic_groups_apply(struct loader *l);
/* Of signals and notifications, once all is known. */
void signals_check(struct loader *l);

#endif /* WR_CONFIG_LOADER_H */
