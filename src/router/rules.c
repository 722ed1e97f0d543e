/* The rules of a configuration that name columns: which make the key, which are masked or cut. */
#include "router/rules.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/digest.h"
#include "base/limits.h"
#include "base/regex.h"
#include "config/config.h"
#include "router/column_hash.h"

struct key_rule {
    struct wr_regex_list *tables;
    const char **columns;
    size_t column_count;
};

struct mask_rule {
    struct wr_regex_list *columns;
    const struct column_rule *config;
    struct column_hash hash; /* where the rule is one */
};

struct rules {
    struct wr_arena *arena;
    struct key_rule *keys;
    size_t key_count;
    struct mask_rule *masks;
    size_t mask_count;
    struct wr_regex_list *typed_columns; /* NULL: none */
    struct wr_regex_list *typed_datatypes;
};

static void *alloc(struct wr_arena *arena, size_t count, size_t size)
{
    void *memory = wr_arena_alloc(arena, count == 0 ? 1 : count, size);

    if (memory == NULL) {
        abort(); /* the configuration's own size is bounded */
    }
    return memory;
}

static size_t count_char(const char *text, char c)
{
    size_t count = 0;

    for (; *text != '\0'; text++) {
        count += *text == c;
    }
    return count;
}

static const char *trimmed(struct wr_arena *arena, const char *start, size_t size)
{
    while (size > 0 && isspace((unsigned char)*start)) {
        start++;
        size--;
    }
    while (size > 0 && isspace((unsigned char)start[size - 1])) {
        size--;
    }
    return wr_arena_strndup(arena, start, size);
}

/* "inventory.customers:pk1,pk2": an expression for the table, then columns in the key's order. */
static enum wr_status key_rule_make(struct rules *rules, const char *text, size_t size,
                                    struct wr_error *err)
{
    const char *rule = trimmed(rules->arena, text, size);
    const char *colon = strrchr(rule, ':');

    if (*rule == '\0') {
        return WR_OK;
    }
    if (colon == NULL || colon == rule || colon[1] == '\0') {
        return wr_fail(err, WR_FATAL, "config",
                       "message.key.columns: \"%s\" is not of the form table:column,column", rule);
    }
    struct key_rule *key = &rules->keys[rules->key_count];
    enum wr_status status =
        wr_regex_list_new(trimmed(rules->arena, rule, (size_t)(colon - rule)), &key->tables, err);
    if (status != WR_OK) {
        return status;
    }
    rules->key_count++;
    key->columns = alloc(rules->arena, count_char(colon, ',') + 1, sizeof(*key->columns));
    for (const char *next = colon + 1;; next++) {
        size_t length = strcspn(next, ",");
        key->columns[key->column_count++] = trimmed(rules->arena, next, length);
        next += length;
        if (*next == '\0') {
            return WR_OK;
        }
    }
}

static enum wr_status key_rules_make(struct rules *rules, const char *text, struct wr_error *err)
{
    if (text == NULL) {
        return WR_OK;
    }
    rules->keys = alloc(rules->arena, count_char(text, ';') + 1, sizeof(*rules->keys));
    while (*text != '\0') {
        size_t size = strcspn(text, ";");
        enum wr_status status = key_rule_make(rules, text, size, err);
        if (status != WR_OK) {
            return status;
        }
        text += size;
        text += *text == ';';
    }
    return WR_OK;
}

static enum wr_status mask_rule_make(struct mask_rule *mask, const struct column_rule *config,
                                     struct wr_error *err)
{
    mask->config = config;
    enum wr_status status = wr_regex_list_new(config->columns, &mask->columns, err);
    if (status != WR_OK || config->hash_algorithm == NULL) {
        return status;
    }
    mask->hash = (struct column_hash){
        .digest = wr_digest_new(config->hash_algorithm),
        .salt = wr_slice_str(config->salt),
        .is_v2 = config->hash_is_v2,
    };
    if (mask->hash.digest == NULL) {
        wr_regex_list_free(mask->columns);
        return wr_fail(err, WR_FATAL, "config", "%s is no message digest that is known here",
                       config->hash_algorithm);
    }
    return WR_OK;
}

enum wr_status rules_new(const struct config *config, struct rules **out, struct wr_error *err)
{
    struct wr_arena *arena = wr_arena_new(WR_CONFIG_SIZE_MAX);
    struct rules *rules = alloc(arena, 1, sizeof(*rules));

    rules->arena = arena;
    rules->masks = alloc(arena, config->column_rule_count, sizeof(*rules->masks));
    enum wr_status status = key_rules_make(rules, config->message_key_columns, err);
    for (size_t i = 0; status == WR_OK && i < config->column_rule_count; i++) {
        struct mask_rule *mask = &rules->masks[i];
        status = mask_rule_make(mask, &config->column_rules[i], err);
        rules->mask_count += status == WR_OK;
    }
    if (status == WR_OK && config->column_propagate_source_type != NULL) {
        status =
            wr_regex_list_new(config->column_propagate_source_type, &rules->typed_columns, err);
    }
    if (status == WR_OK && config->datatype_propagate_source_type != NULL) {
        status =
            wr_regex_list_new(config->datatype_propagate_source_type, &rules->typed_datatypes, err);
    }
    if (status != WR_OK) {
        rules_free(rules);
        rules = NULL;
    }
    *out = rules;
    return status;
}

void rules_free(struct rules *rules)
{
    if (rules == NULL) {
        return;
    }
    for (size_t i = 0; i < rules->key_count; i++) {
        wr_regex_list_free(rules->keys[i].tables);
    }
    for (size_t i = 0; i < rules->mask_count; i++) {
        wr_regex_list_free(rules->masks[i].columns);
        wr_digest_free(rules->masks[i].hash.digest);
    }
    wr_regex_list_free(rules->typed_columns);
    wr_regex_list_free(rules->typed_datatypes);
    wr_arena_free(rules->arena);
}

bool rules_key(const struct rules *rules, struct wr_slice table, const char ***columns,
               size_t *count)
{
    for (size_t i = 0; i < rules->key_count; i++) {
        if (wr_regex_list_matches(rules->keys[i].tables, table)) {
            *columns = rules->keys[i].columns;
            *count = rules->keys[i].column_count;
            return true;
        }
    }
    return false;
}

const struct column_rule *rules_column(const struct rules *rules, struct wr_slice column)
{
    for (size_t i = 0; i < rules->mask_count; i++) {
        if (wr_regex_list_matches(rules->masks[i].columns, column)) {
            return rules->masks[i].config;
        }
    }
    return NULL;
}

const struct column_hash *rules_column_hash(const struct rules *rules,
                                            const struct column_rule *rule)
{
    for (size_t i = 0; i < rules->mask_count; i++) {
        if (rules->masks[i].config == rule && rule->hash_algorithm != NULL) {
            return &rules->masks[i].hash;
        }
    }
    return NULL;
}

bool rules_propagate_type(const struct rules *rules, struct wr_slice column,
                          struct wr_slice datatype)
{
    return (rules->typed_columns != NULL && wr_regex_list_matches(rules->typed_columns, column)) ||
           (rules->typed_datatypes != NULL &&
            wr_regex_list_matches(rules->typed_datatypes, datatype));
}

bool rules_ask_types(const struct rules *rules)
{
    return rules->typed_columns != NULL || rules->typed_datatypes != NULL;
}
