#include "config/loader.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/regex.h"
#include "config/secrets.h"

enum { SHOWN_SIZE_MAX = 200 }; /* more of a value does not help to find it */

void *loader_alloc(struct loader *l, size_t count, size_t size)
{
    void *memory = wr_arena_alloc(l->arena, count, size);

    assert(memory != NULL);
    return memory;
}

const char *loader_copy(struct loader *l, struct wr_slice text)
{
    const char *copy = wr_arena_strndup(l->arena, text.data, text.size);

    assert(copy != NULL);
    return copy;
}

void *loader_grow(struct loader *l, void *items, size_t count, size_t size)
{
    if ((count & (count - 1)) != 0) {
        return items; /* not a power of two: there is room */
    }
    void *larger = loader_alloc(l, count == 0 ? 1 : count * 2, size);
    if (count > 0) {
        memcpy(larger, items, count * size);
    }
    return larger;
}

static void add_problem(struct loader *l, size_t position, const char *text)
{
    assert(text != NULL);
    l->problems = loader_grow(l, l->problems, l->problem_count, sizeof(*l->problems));
    l->problems[l->problem_count] =
        (struct problem){.position = position, .sequence = l->problem_count, .text = text};
    l->problem_count++;
}

static const char *format_text(struct loader *l, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

static const char *format_text(struct loader *l, const char *format, va_list args)
{
    char text[2048];

    (void)vsnprintf(text, sizeof(text), format, args);
    return loader_copy(l, wr_slice_str(text));
}

/* "order.properties:12: ", or less where less is known. */
static const char *place(struct loader *l, const char *source, uint32_t line)
{
    if (source == NULL) {
        return "";
    }
    return line == 0 ? wr_arena_printf(l->arena, "%s: ", source)
                     : wr_arena_printf(l->arena, "%s:%u: ", source, line);
}

static size_t entry_position(const struct loader *l, const struct entry *e)
{
    bool is_listed = e >= l->entries && e < l->entries + l->entry_count;

    return is_listed ? (size_t)(e - l->entries) : SIZE_MAX;
}

void loader_problem(struct loader *l, const struct entry *e, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    const char *text = format_text(l, format, args);
    va_end(args);
    bool is_long = strlen(e->shown) > SHOWN_SIZE_MAX;
    add_problem(l, entry_position(l, e),
                wr_arena_printf(l->arena, "%s%.*s=%.*s%s: %s", place(l, e->source, e->line),
                                SHOWN_SIZE_MAX, e->key, SHOWN_SIZE_MAX, e->shown,
                                is_long ? "…" : "", text));
}

void loader_problem_name(struct loader *l, const struct entry *e, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    const char *text = format_text(l, format, args);
    va_end(args);
    add_problem(l, entry_position(l, e),
                wr_arena_printf(l->arena, "%s%.*s: %s", place(l, e->source, e->line),
                                SHOWN_SIZE_MAX, e->key, text));
}

void loader_problem_source(struct loader *l, const char *source, uint32_t line, const char *format,
                           ...)
{
    va_list args;

    va_start(args, format);
    const char *text = format_text(l, format, args);
    va_end(args);
    add_problem(l, source == NULL ? SIZE_MAX : l->entry_count,
                wr_arena_printf(l->arena, "%s%s", place(l, source, line), text));
}

/* By name, so that a misspelt password property is not shown either. */
static bool has_secret_name(const char *key)
{
    static const char *const words[] = {"password",     "passwd", "secret",      "token",
                                        "credential",   "jaas",   "ssl.key.pem", "passphrase",
                                        "keystore.key", ".pass",  "pwd"};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcasestr(key, words[i]) != NULL) {
            return true;
        }
    }
    return false;
}

const struct entry *loader_find(const struct loader *l, const char *key)
{
    for (size_t i = l->entry_count; i > 0; i--) {
        if (strcmp(l->entries[i - 1].key, key) == 0) {
            return &l->entries[i - 1];
        }
    }
    return NULL;
}

static void override_earlier(struct loader *l, const char *key)
{
    for (size_t i = 0; i < l->entry_count; i++) {
        if (strcmp(l->entries[i].key, key) == 0) {
            l->entries[i].is_overridden = true;
        }
    }
}

struct wr_slice loader_trim(struct wr_slice text)
{
    while (text.size > 0 && isspace((unsigned char)text.data[0])) {
        text.data++;
        text.size--;
    }
    while (text.size > 0 && isspace((unsigned char)text.data[text.size - 1])) {
        text.size--;
    }
    return text;
}

bool loader_take_item(struct wr_slice *list, char separator, struct wr_slice *item)
{
    if (list->size == 0) {
        return false;
    }
    const char *end = memchr(list->data, separator, list->size);
    size_t size = end == NULL ? list->size : (size_t)(end - list->data);
    size_t taken = end == NULL ? size : size + 1;
    *item = loader_trim((struct wr_slice){list->data, size});
    list->data += taken;
    list->size -= taken;
    return true;
}

void loader_add(struct loader *l, const char *source, uint32_t line, const char *key,
                const char *value)
{
    struct wr_buffer expanded;
    struct wr_error err;
    bool has_secret = false;

    wr_buffer_init(&expanded, CONFIG_TEXT_SIZE_MAX);
    enum wr_status status = secrets_expand(value, &expanded, &has_secret, &err);
    l->text_size += strlen(key) + strlen(value) + expanded.size;
    if (l->text_size > CONFIG_TEXT_SIZE_MAX || l->entry_count == CONFIG_ENTRY_COUNT_MAX) {
        wr_buffer_done(&expanded);
        if (!l->is_incomplete) {
            loader_problem_source(l, source, line,
                                  "a configuration of more than %d bytes or %d properties",
                                  CONFIG_TEXT_SIZE_MAX, CONFIG_ENTRY_COUNT_MAX);
        }
        l->is_incomplete = true;
        return;
    }
    bool is_hidden = has_secret_name(key);
    struct wr_slice text = wr_buffer_slice(&expanded);
    override_earlier(l, key);
    l->entries = loader_grow(l, l->entries, l->entry_count, sizeof(*l->entries));
    struct entry *e = &l->entries[l->entry_count++];
    *e = (struct entry){.source = source,
                        .line = line,
                        .key = loader_copy(l, wr_slice_str(key)),
                        /* A password may begin or end with a blank; nothing else does. */
                        .value = loader_copy(l, is_hidden ? text : loader_trim(text)),
                        .shown = "[hidden]",
                        .is_secret = has_secret || is_hidden};
    /* A reference may be shown, since it says where the secret is; what has a secret's name not. */
    if (!is_hidden) {
        e->shown = loader_copy(l, wr_slice_str(value));
    }
    if (status != WR_OK) {
        loader_problem(l, e, "%s", err.text);
        e->is_overridden = true; /* half a value is not worth a second complaint */
    }
    wr_buffer_done(&expanded);
}

static bool is_regex(struct loader *l, const struct entry *e, enum wr_status status,
                     const struct wr_error *err)
{
    if (status != WR_OK) {
        loader_problem(l, e, "%s", e->is_secret ? "is not a regular expression" : err->text);
    }
    return status == WR_OK;
}

bool loader_check_regex(struct loader *l, const struct entry *e, const char *pattern)
{
    struct wr_regex *regex = NULL;
    struct wr_error err;
    enum wr_status status = wr_regex_new(pattern, false, &regex, &err);

    wr_regex_free(regex);
    return is_regex(l, e, status, &err);
}

bool loader_check_regex_list(struct loader *l, const struct entry *e, const char *patterns)
{
    struct wr_regex_list *list = NULL;
    struct wr_error err;
    enum wr_status status = wr_regex_list_new(patterns, &list, &err);

    wr_regex_list_free(list);
    return is_regex(l, e, status, &err);
}

void loader_pair_set(struct loader *l, struct config_pairs *pairs, const char *name,
                     const char *value)
{
    for (size_t i = 0; name != NULL && i < pairs->count; i++) {
        if (strcmp(pairs->items[i].name, name) == 0) {
            pairs->items[i].value = value;
            return;
        }
    }
    pairs->items = loader_grow(l, pairs->items, pairs->count, sizeof(*pairs->items));
    pairs->items[pairs->count++] = (struct config_pair){.name = name, .value = value};
}

enum wr_status loader_read_file(const char *path, struct wr_buffer *out, struct wr_error *err)
{
    enum wr_status status = WR_OK;
    char block[4096];
    FILE *file = fopen(path, "re");

    if (file == NULL) {
        return wr_fail(err, WR_FATAL, "config", "cannot open %s: %s", path, strerror(errno));
    }
    size_t size = 0;
    while ((size = fread(block, 1, sizeof(block), file)) > 0 && !out->failed) {
        wr_buffer_add(out, block, size);
    }
    if (ferror(file) != 0) {
        status = wr_fail(err, WR_FATAL, "config", "cannot read %s: %s", path, strerror(errno));
    } else if (out->failed) {
        status = wr_fail(err, WR_FATAL, "config", "%s has more than %d bytes", path,
                         CONFIG_TEXT_SIZE_MAX);
    }
    (void)fclose(file);
    return status;
}
