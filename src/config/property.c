#include "config/property.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "config/loader.h"

enum { NAME_SIZE_MAX = 128 }; /* what is longer resembles no property */

static bool is_word_char(char c)
{
    return c != '\0' && c != '.';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_any_char(char c)
{
    return c != '\0';
}

/* Matches `key` against a name with at most one wildcard, which takes as much as it can. */
static bool name_matches(const char *name, const char *key, struct wr_slice *wildcard)
{
    const char *open = strchr(name, '<');

    *wildcard = (struct wr_slice){"", 0};
    if (open == NULL) {
        return strcmp(name, key) == 0;
    }
    size_t before = (size_t)(open - name);
    const char *after = strchr(open, '>') + 1;
    if (strncmp(name, key, before) != 0) {
        return false;
    }
    bool (*takes)(char) = strncmp(open, "<n>", 3) == 0      ? is_digit
                          : strncmp(open, "<rest>", 6) == 0 ? is_any_char
                                                            : is_word_char;
    size_t size = 0;
    while (takes(key[before + size])) {
        size++;
    }
    *wildcard = (struct wr_slice){key + before, size};
    return size > 0 && strcmp(key + before + size, after) == 0;
}

bool property_find(enum property_scope scope, const char *key, struct property_match *out)
{
    const struct property *p = NULL;

    for (size_t i = 0; (p = property_at(i)) != NULL; i++) {
        if (p->scope == scope && name_matches(p->name, key, &out->wildcard)) {
            out->property = p;
            return true;
        }
    }
    return false;
}

static size_t least(size_t a, size_t b, size_t c)
{
    size_t ab = a < b ? a : b;

    return ab < c ? ab : c;
}

/* Edits (insert, delete, replace, swap of neighbours) from `a` to `b`, whatever their case. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t rows[3][NAME_SIZE_MAX + 1] = {{0}};
    size_t *before = rows[0], *last = rows[1], *row = rows[2];
    size_t width = strlen(b);

    for (size_t j = 0; j <= width; j++) {
        last[j] = j;
    }
    for (size_t i = 1; a[i - 1] != '\0'; i++) {
        row[0] = i;
        for (size_t j = 1; j <= width; j++) {
            bool same = tolower((unsigned char)a[i - 1]) == tolower((unsigned char)b[j - 1]);
            row[j] = least(last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1));
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped && before[j - 2] + 1 < row[j]) {
                row[j] = before[j - 2] + 1;
            }
        }
        size_t *free_row = before;
        before = last;
        last = row;
        row = free_row;
    }
    return last[width];
}

const char *property_nearest(enum property_scope scope, const char *key)
{
    const struct property *p = NULL;
    const char *nearest = NULL;
    size_t distance_max = strlen(key) / 3 + 1;

    if (strlen(key) > NAME_SIZE_MAX) {
        return NULL;
    }
    for (size_t i = 0; (p = property_at(i)) != NULL; i++) {
        if (p->scope != scope) {
            continue;
        }
        size_t distance = edit_distance(key, p->name);
        if (distance < distance_max) {
            distance_max = distance;
            nearest = p->name;
        }
    }
    return nearest;
}

void property_report_unknown(struct loader *l, const struct entry *e, enum property_scope scope,
                             const char *name)
{
    const char *nearest = property_nearest(scope, name);

    if (nearest == NULL) {
        loader_problem_name(l, e, "is not a property; `walrelay config` lists them all");
        return;
    }
    size_t prefix = strlen(e->key) - strlen(name);
    loader_problem_name(l, e, "is not a property; did you mean %.*s%s?", (int)prefix, e->key,
                        nearest);
}

void property_full_name(const struct property *p, struct wr_buffer *out)
{
    if (p->scope >= SCOPE_TRANSFORM) {
        wr_buffer_add_str(out, "transforms.<name>.");
    } else if (p->scope >= SCOPE_PREDICATE) {
        wr_buffer_add_str(out, "predicates.<name>.");
    } else if (p->scope >= SCOPE_ROUTE) {
        wr_buffer_add_str(out, "routes.<name>.");
    }
    wr_buffer_add_str(out, p->name);
}

/* The choice at the start of `choices`, in its first spelling; advances to the next. */
static struct wr_slice take_choice(const char **choices)
{
    struct wr_slice first = {*choices, strcspn(*choices, ",|")};

    *choices += strcspn(*choices, "|");
    *choices += **choices == '|' ? 1 : 0;
    return first;
}

void property_list_choices(const struct property *p, struct wr_buffer *out)
{
    const char *next = p->choices;

    for (bool is_first = true; *next != '\0'; is_first = false) {
        struct wr_slice choice = take_choice(&next);
        if (!is_first) {
            wr_buffer_add_str(out, *next == '\0' ? " or " : ", ");
        }
        wr_buffer_add_slice(out, choice);
    }
}

static bool choice_is(const char *spelling, size_t size, const char *text)
{
    if (size > 0 && spelling[size - 1] == '*') {
        return strncasecmp(spelling, text, size - 1) == 0;
    }
    return strlen(text) == size && strncasecmp(spelling, text, size) == 0;
}

/* The place of `text` in "a|b,bb|c", whatever its case; -1: nowhere. */
static int choice_index(const char *choices, const char *text)
{
    int index = 0;

    for (const char *c = choices; c != NULL && *c != '\0';) {
        size_t spelling = strcspn(c, ",|");
        if (choice_is(c, spelling, text)) {
            return index;
        }
        c += spelling;
        index += *c == '|' ? 1 : 0;
        c += *c != '\0' ? 1 : 0;
    }
    return -1;
}

static const char *choices_text(struct loader *l, const struct property *p)
{
    struct wr_buffer text;

    wr_buffer_init(&text, 4096);
    property_list_choices(p, &text);
    const char *copy = loader_copy(l, wr_buffer_slice(&text));
    wr_buffer_done(&text);
    return copy;
}

static void store(const struct property *p, void *base, const void *value, size_t size)
{
    if (p->is_stored) {
        memcpy((char *)base + p->offset, value, size);
    }
}

static void apply_choice(struct loader *l, const struct property *p, const struct entry *e,
                         void *base)
{
    int index = choice_index(p->choices, e->value);

    if (index < 0) {
        bool is_refused = choice_index(p->choices_refused, e->value) >= 0;
        loader_problem(l, e, is_refused ? "is not supported; use %s" : "must be %s",
                       choices_text(l, p));
        return;
    }
    if (p->type == PROPERTY_FLAG) {
        bool is_second = index == 1;
        store(p, base, &is_second, sizeof(is_second));
        return;
    }
    /* C's enums are unsigned ints as long as no value is negative, for both compilers. */
    unsigned int number = (unsigned int)index;
    store(p, base, &number, sizeof(number));
}

/* The value as libpq spells it: it minds the case of its choices. */
static const char *keyword_value(struct loader *l, const struct property *p, const char *value)
{
    const char *next = p->choices;

    if (p->type != PROPERTY_CHOICE) {
        return value;
    }
    for (int left = choice_index(p->choices, value); left > 0; left--) {
        (void)take_choice(&next);
    }
    return loader_copy(l, take_choice(&next));
}

static void apply_bool(struct loader *l, const struct property *p, const struct entry *e,
                       void *base)
{
    bool is_true = strcasecmp(e->value, "true") == 0;

    if (!is_true && strcasecmp(e->value, "false") != 0) {
        loader_problem(l, e, "must be true or false");
        return;
    }
    store(p, base, &is_true, sizeof(is_true));
}

static void apply_int(struct loader *l, const struct property *p, const struct entry *e, void *base)
{
    char *end = NULL;

    errno = 0;
    long long number = strtoll(e->value, &end, 10);
    bool is_number = errno == 0 && end != e->value && *end == '\0';
    if (!is_number || number < p->int_min || number > p->int_max) {
        if (p->int_max == INT64_MAX) {
            loader_problem(l, e, "must be a whole number");
        } else {
            loader_problem(l, e, "must be a whole number from %" PRId64 " to %" PRId64, p->int_min,
                           p->int_max);
        }
        return;
    }
    int64_t stored = number;
    store(p, base, &stored, sizeof(stored));
}

/* Empty is unset, except where there is a default that it replaces. */
static void apply_string(const struct property *p, const char *value, void *base)
{
    const char *stored = value[0] == '\0' && p->default_value == NULL ? NULL : value;

    store(p, base, &stored, sizeof(stored));
}

static void apply_regex(struct loader *l, const struct property *p, const struct entry *e,
                        void *base)
{
    if (p->type == PROPERTY_REGEX ? loader_check_regex(l, e, e->value)
                                  : loader_check_regex_list(l, e, e->value)) {
        apply_string(p, e->value, base);
    }
}

static size_t item_count_max(const char *list)
{
    size_t count = 1;

    for (const char *c = list; *c != '\0'; c++) {
        count += *c == ',' ? 1 : 0;
    }
    return count;
}

static void apply_names(struct loader *l, const struct property *p, const struct entry *e,
                        void *base)
{
    struct config_names names = {
        .items = loader_alloc(l, item_count_max(e->value), sizeof(*names.items))};
    struct wr_slice list = wr_slice_str(e->value);
    struct wr_slice item = {0};

    while (loader_take_item(&list, ',', &item)) {
        if (item.size > 0) {
            names.items[names.count++] = loader_copy(l, item);
        }
    }
    store(p, base, &names, sizeof(names));
}

static void apply_name_pairs(struct loader *l, const struct property *p, const struct entry *e,
                             void *base)
{
    struct config_pairs pairs = {
        .items = loader_alloc(l, item_count_max(e->value), sizeof(*pairs.items))};
    struct wr_slice list = wr_slice_str(e->value);
    struct wr_slice item = {0}, name = {0}, value = {0};

    while (loader_take_item(&list, ',', &item)) {
        if (item.size == 0) {
            continue;
        }
        bool is_pair = loader_take_item(&item, ':', &name) && name.size > 0 &&
                       loader_take_item(&item, ':', &value) && value.size > 0 && item.size == 0;
        if (!is_pair) {
            loader_problem(l, e, "must be a list of name:name");
            return;
        }
        pairs.items[pairs.count++] =
            (struct config_pair){loader_copy(l, name), loader_copy(l, value)};
    }
    store(p, base, &pairs, sizeof(pairs));
}

/* A property that is not built yet may stand there with the value it has anyway. */
static bool is_harmless(const struct property *p, const char *value)
{
    return value[0] == '\0' ||
           (p->default_value != NULL && strcasecmp(value, p->default_value) == 0);
}

static void apply_value(struct loader *l, const struct property *p, const struct entry *e,
                        void *base)
{
    switch (p->type) {
    case PROPERTY_STRING:
    case PROPERTY_PASSWORD:
        apply_string(p, e->value, base);
        return;
    case PROPERTY_BOOL:
        apply_bool(l, p, e, base);
        return;
    case PROPERTY_INT:
        apply_int(l, p, e, base);
        return;
    case PROPERTY_CHOICE:
    case PROPERTY_FLAG:
        apply_choice(l, p, e, base);
        return;
    case PROPERTY_REGEX:
    case PROPERTY_REGEX_LIST:
        apply_regex(l, p, e, base);
        return;
    case PROPERTY_NAMES:
        apply_names(l, p, e, base);
        return;
    case PROPERTY_NAME_PAIRS:
        apply_name_pairs(l, p, e, base);
        return;
    }
}

void property_apply(struct loader *l, const struct property_match *match, const struct entry *e,
                    void *base)
{
    const struct property *p = match->property;
    const char *value = e->value;
    bool is_text = p->type == PROPERTY_STRING || p->type == PROPERTY_PASSWORD;

    if (p->support == SUPPORT_LATER || p->support == SUPPORT_REFUSED) {
        if (!is_harmless(p, value)) {
            loader_problem(l, e, "is not supported%s; %s",
                           p->support == SUPPORT_LATER ? " yet" : "", p->meaning);
        }
        return;
    }
    if (value[0] == '\0' && (!is_text || p->default_value == NULL)) {
        return; /* as if it were not there */
    }
    size_t problems = l->problem_count;
    if (p->set != NULL) {
        p->set(l, match, e, base);
    } else {
        apply_value(l, p, e, base);
    }
    if (p->keyword != NULL && l->problem_count == problems) {
        loader_pair_set(l, &l->config->database, p->keyword, keyword_value(l, p, value));
    }
}

void property_apply_defaults(struct loader *l, enum property_scope scope, void *base)
{
    const struct property *p = NULL;

    for (size_t i = 0; (p = property_at(i)) != NULL; i++) {
        if (p->scope != scope || p->default_value == NULL || p->support != SUPPORT_FULL ||
            p->keyword != NULL) {
            continue;
        }
        struct property_match match = {.property = p, .wildcard = {"", 0}};
        struct entry e = {.source = "default",
                          .key = p->name,
                          .value = p->default_value,
                          .shown = p->default_value};
        property_apply(l, &match, &e, base);
    }
}

void property_check_required(struct loader *l, enum property_scope scope, const char *prefix)
{
    const struct property *p = NULL;

    for (size_t i = 0; (p = property_at(i)) != NULL; i++) {
        if (p->scope != scope || !p->is_required) {
            continue;
        }
        const char *key = wr_arena_printf(l->arena, "%s%s", prefix, p->name);
        const struct entry *e = loader_find(l, key);
        bool is_missing = e == NULL && p->default_value == NULL;
        bool is_empty = e != NULL && e->value[0] == '\0' && !e->is_overridden;
        if (is_missing || is_empty) {
            loader_problem_source(l, NULL, 0, "%s: is required: %s", key, p->meaning);
        }
    }
}
