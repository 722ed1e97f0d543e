#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/arena.h"
#include "base/digest.h"
#include "base/utf8.h"
#include "config/loader.h"
#include "config/property.h"
#include "config/table_rows.h"
#include "config/transform_config.h"

/* Setters of the properties whose values have a form of their own. */

enum {
    SLOT_NAME_SIZE_MAX = 63,                  /* PostgreSQL's NAMEDATALEN less its NUL */
    INFLIGHT_BYTES_DEFAULT = 8 * 1024 * 1024, /* keeps a loaded relay within 40 MB */
};

static void store_string(const struct property *p, void *base, const char *value)
{
    memcpy((char *)base + p->offset, &value, sizeof(value));
}

void set_slot_name(struct loader *l, const struct property_match *match, const struct entry *e,
                   void *base)
{
    size_t size = strlen(e->value);

    if (size > SLOT_NAME_SIZE_MAX ||
        strspn(e->value, "abcdefghijklmnopqrstuvwxyz0123456789_") != size) {
        loader_problem(l, e, "must be at most %d lower-case letters, digits and underscores",
                       SLOT_NAME_SIZE_MAX);
        return;
    }
    store_string(match->property, base, e->value);
}

void set_topic_part(struct loader *l, const struct property_match *match, const struct entry *e,
                    void *base)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                  "0123456789._-";

    if (strspn(e->value, allowed) != strlen(e->value)) {
        loader_problem(l, e, "must be of letters, digits, dots, hyphens and underscores");
        return;
    }
    store_string(match->property, base, e->value);
}

static int hex_digit(char c)
{
    static const char DIGITS[] = "0123456789abcdef";
    const char *found = c == '\0' ? NULL : strchr(DIGITS, tolower((unsigned char)c));

    return found == NULL ? -1 : (int)(found - DIGITS);
}

/* False where it is no text of at least one character, in UTF-8 and without a NUL. */
static bool decode_hex_text(const char *hex, char *out)
{
    size_t size = 0;

    for (; hex[0] != '\0' && hex[1] != '\0'; hex += 2) {
        int high = hex_digit(hex[0]);
        int low = hex_digit(hex[1]);
        if (high < 0 || low < 0 || high + low == 0) {
            return false;
        }
        out[size++] = (char)(high << 4 | low);
    }
    for (size_t i = 0; i < size;) {
        struct wr_utf8 c = wr_utf8_read(out + i, size - i);
        if (!c.is_valid) {
            return false;
        }
        i += c.size;
    }
    return size > 0 && hex[0] == '\0';
}

/* Text, or "hex:" and its bytes. */
void set_placeholder(struct loader *l, const struct property_match *match, const struct entry *e,
                     void *base)
{
    static const char PREFIX[] = "hex:";

    if (strncmp(e->value, PREFIX, sizeof(PREFIX) - 1) != 0) {
        store_string(match->property, base, e->value);
        return;
    }
    char *text = loader_alloc(l, strlen(e->value), 1);
    if (!decode_hex_text(e->value + sizeof(PREFIX) - 1, text)) {
        loader_problem(l, e, "must be hexadecimal bytes of a text in UTF-8 behind hex:");
        return;
    }
    store_string(match->property, base, text);
}

void set_keepalives(struct loader *l, const struct property_match *match, const struct entry *e,
                    void *base)
{
    bool is_true = strcasecmp(e->value, "true") == 0;

    (void)match;
    (void)base;
    if (!is_true && strcasecmp(e->value, "false") != 0) {
        loader_problem(l, e, "must be true or false");
        return;
    }
    loader_pair_set(l, &l->config->database, "keepalives", is_true ? "1" : "0");
}

/* Statements end at a semicolon; two of them are one semicolon inside a statement. */
void set_initial_statements(struct loader *l, const struct property_match *match,
                            const struct entry *e, void *base)
{
    char *statement = loader_alloc(l, strlen(e->value) + 1, 1);
    size_t size = 0;

    (void)match;
    (void)base;
    for (const char *c = e->value;; c++) {
        if (c[0] == ';' && c[1] == ';') {
            statement[size++] = ';';
            c++;
            continue;
        }
        if (*c != ';' && *c != '\0') {
            statement[size++] = *c;
            continue;
        }
        struct wr_slice text = loader_trim((struct wr_slice){statement, size});
        if (text.size > 0) {
            loader_pair_set(l, &l->config->initial_statements, NULL, loader_copy(l, text));
        }
        size = 0;
        if (*c == '\0') {
            return;
        }
    }
}

/* Adds `rule` for the columns that the property names. */
static void add_column_rule(struct loader *l, const struct entry *e, struct column_rule rule)
{
    struct config *config = l->config;
    size_t count = config->column_rule_count;

    if (!loader_check_regex_list(l, e, e->value)) {
        return;
    }
    rule.columns = e->value;
    config->column_rules =
        loader_grow(l, config->column_rules, count, sizeof(*config->column_rules));
    config->column_rules[count] = rule;
    config->column_rule_count++;
}

/* The salt behind "ALGORITHM.with.salt."; NULL: the name is none of that form. */
static const char *find_salt(const char *name)
{
    static const char BETWEEN_BOTH[] = ".with.salt.";
    const char *found = strstr(name, BETWEEN_BOTH);

    return found == NULL || found == name ? NULL : found + sizeof(BETWEEN_BOTH) - 1;
}

static void add_hash_rule(struct loader *l, const struct property_match *match,
                          const struct entry *e)
{
    const char *name = loader_copy(l, match->wildcard);
    bool is_v2 = strncmp(name, "v2.", 3) == 0;
    const char *algorithm = is_v2 ? name + 3 : name;
    const char *salt = find_salt(algorithm);

    if (salt == NULL || *salt == '\0') {
        loader_problem_name(l, e, "must end with ALGORITHM.with.salt.SALT");
        return;
    }
    algorithm = loader_copy(
        l, (struct wr_slice){algorithm, (size_t)(strstr(algorithm, ".with.salt.") - algorithm)});
    struct wr_digest *digest = wr_digest_new(algorithm);
    if (digest == NULL) {
        loader_problem_name(l, e, "%s is no message digest that is known here", algorithm);
        return;
    }
    wr_digest_free(digest);
    add_column_rule(
        l, e, (struct column_rule){.hash_algorithm = algorithm, .salt = salt, .hash_is_v2 = is_v2});
}

void set_column_rule(struct loader *l, const struct property_match *match, const struct entry *e,
                     void *base)
{
    const char *name = match->property->name;
    bool is_mask = strncmp(name, "column.mask", 11) == 0;

    (void)base;
    if (strncmp(name, "column.mask.hash", 16) == 0) {
        add_hash_rule(l, match, e);
        return;
    }
    unsigned long size = strtoul(match->wildcard.data, NULL, 10);
    if (size > INT32_MAX || match->wildcard.size > 10) {
        loader_problem(l, e, "the number in the name must be at most %" PRId32, INT32_MAX);
        return;
    }
    add_column_rule(l, e, (struct column_rule){.is_mask = is_mask, .size = (uint32_t)size});
}

/* "table:column,column;table:column", where the table is an expression. */
void set_message_key_columns(struct loader *l, const struct property_match *match,
                             const struct entry *e, void *base)
{
    struct wr_slice list = wr_slice_str(e->value);
    struct wr_slice item = {0};

    while (loader_take_item(&list, ';', &item)) {
        const char *colon = item.size > 0 ? memrchr(item.data, ':', item.size) : NULL;
        if (item.size == 0) {
            continue;
        }
        if (colon == NULL || colon == item.data || colon + 1 == item.data + item.size) {
            loader_problem(l, e, "must be schema.table:column,column and more of them behind ;");
            return;
        }
        struct wr_slice table = {item.data, (size_t)(colon - item.data)};
        if (!loader_check_regex_list(l, e, loader_copy(l, table))) {
            return;
        }
    }
    store_string(match->property, base, e->value);
}

void set_skipped_operations(struct loader *l, const struct property_match *match,
                            const struct entry *e, void *base)
{
    struct config *config = base;
    struct wr_slice list = wr_slice_str(e->value);
    struct wr_slice item = {0};
    bool is_none = false;
    size_t count = 0;

    (void)match;
    config->skip_create = config->skip_update = false;
    config->skip_delete = config->skip_truncate = false;
    while (loader_take_item(&list, ',', &item)) {
        char op = item.size == 1 ? item.data[0] : '\0';
        bool is_item_none = wr_slice_is(item, "none");
        if (!is_item_none && (op == '\0' || strchr("cudt", op) == NULL)) {
            loader_problem(l, e, "must be none, or a list of c, u, d and t");
            return;
        }
        config->skip_create |= op == 'c';
        config->skip_update |= op == 'u';
        config->skip_delete |= op == 'd';
        config->skip_truncate |= op == 't';
        is_none |= is_item_none;
        count++;
    }
    if (is_none && count > 1) {
        loader_problem(l, e, "has none and other operations; use none alone or leave it out");
    }
}

/* Debezium's 0 is "no bound"; there always is one here. */
void set_inflight_bytes_max(struct loader *l, const struct property_match *match,
                            const struct entry *e, void *base)
{
    struct config *config = base;
    char *end = NULL;
    long long bytes = strtoll(e->value, &end, 10);

    (void)match;
    if (*end != '\0' || bytes < 0 || bytes > INT32_MAX) {
        loader_problem(l, e, "must be a whole number of bytes from 0 to %" PRId32, INT32_MAX);
        return;
    }
    config->inflight_bytes_max = bytes == 0 ? INFLIGHT_BYTES_DEFAULT : bytes;
}

static bool read_placement(struct wr_slice text, enum additional_placement *out)
{
    if (wr_slice_is(text, "header")) {
        *out = PLACEMENT_HEADER;
    } else if (wr_slice_is(text, "envelope")) {
        *out = PLACEMENT_ENVELOPE;
    } else if (wr_slice_is(text, "partition")) {
        *out = PLACEMENT_PARTITION;
    } else {
        return false;
    }
    return true;
}

/* "column:placement" or "column:placement:alias". */
static bool read_additional_field(struct loader *l, struct wr_slice item,
                                  struct additional_field *out)
{
    struct wr_slice column = {0}, placement = {0}, alias = {0}, more = {0};

    if (!loader_take_item(&item, ':', &column) || column.size == 0 ||
        !loader_take_item(&item, ':', &placement) || !read_placement(placement, &out->placement)) {
        return false;
    }
    bool has_alias = loader_take_item(&item, ':', &alias) && alias.size > 0;
    out->column = loader_copy(l, column);
    out->alias = has_alias ? loader_copy(l, alias) : out->column;
    return !loader_take_item(&item, ':', &more);
}

void set_additional_fields(struct loader *l, const struct property_match *match,
                           const struct entry *e, void *base)
{
    struct event_router_config *router = base;
    struct wr_slice list = wr_slice_str(e->value);
    struct wr_slice item = {0};
    size_t count_max = 1;

    (void)match;
    for (const char *c = e->value; *c != '\0'; c++) {
        count_max += *c == ',' ? 1 : 0;
    }
    router->additional = loader_alloc(l, count_max, sizeof(*router->additional));
    while (loader_take_item(&list, ',', &item)) {
        if (!read_additional_field(l, item, &router->additional[router->additional_count])) {
            loader_problem(l, e,
                           "must be a list of column:placement or column:placement:alias, where "
                           "placement is header, envelope or partition");
            return;
        }
        router->additional_count++;
    }
}
