#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "config/config.h"
#include "config/property.h"

/* `walrelay config`: the table in words. */

enum { LINE_SIZE_MAX = 16384 };

static const char *type_name(const struct property *p)
{
    switch (p->type) {
    case PROPERTY_STRING:
        return "text";
    case PROPERTY_PASSWORD:
        return "password";
    case PROPERTY_BOOL:
        return "true or false";
    case PROPERTY_INT:
        return "number";
    case PROPERTY_CHOICE:
    case PROPERTY_FLAG:
        return "one of";
    case PROPERTY_REGEX:
        return "regular expression";
    case PROPERTY_REGEX_LIST:
        return "list of regular expressions";
    case PROPERTY_NAMES:
        return "list";
    case PROPERTY_NAME_PAIRS:
        return "list of name:name";
    }
    return "";
}

static void add_type(const struct property *p, struct wr_buffer *out)
{
    char range[64];

    wr_buffer_add_str(out, type_name(p));
    if (p->choices != NULL) {
        wr_buffer_add_char(out, ' ');
        property_list_choices(p, out);
    }
    if (p->type == PROPERTY_INT && p->support == SUPPORT_FULL) {
        (void)snprintf(range, sizeof(range), " from %" PRId64 " to %" PRId64, p->int_min,
                       p->int_max);
        wr_buffer_add_str(out, range);
    }
    if (p->is_required && p->default_value == NULL) {
        wr_buffer_add_str(out, "; required");
    } else if (p->default_value != NULL) {
        wr_buffer_add_str(out, "; default ");
        wr_buffer_add_str(out, p->default_value[0] == '\0' ? "empty" : p->default_value);
    }
}

static const char *support_text(const struct property *p)
{
    switch (p->support) {
    case SUPPORT_FULL:
        return "";
    case SUPPORT_ACCEPTED:
        return "accepted, without effect: ";
    case SUPPORT_LATER:
        return "not supported yet: ";
    case SUPPORT_REFUSED:
        return "not supported: ";
    }
    return "";
}

static void print_property(const struct property *p)
{
    struct wr_buffer text;

    wr_buffer_init(&text, LINE_SIZE_MAX);
    property_full_name(p, &text);
    wr_buffer_add_str(&text, "\n    ");
    add_type(p, &text);
    wr_buffer_add_str(&text, "\n    ");
    wr_buffer_add_str(&text, support_text(p));
    wr_buffer_add_str(&text, p->meaning);
    wr_buffer_add_char(&text, '\n');
    (void)fwrite(text.data, 1, text.size, stdout);
    wr_buffer_done(&text);
}

static void print_all(void)
{
    for (size_t i = 0; property_table[i] != NULL; i++) {
        const struct property_group *group = property_table[i];
        printf("%s# %s\n\n", i == 0 ? "" : "\n", group->heading);
        for (size_t j = 0; j < group->count; j++) {
            print_property(&group->rows[j]);
        }
    }
}

/* What stands behind "transforms.a.", or the whole key: both ways people ask for an option. */
static const char *option_of(const char *key)
{
    static const char *const families[] = {"transforms.", "predicates.", "routes."};
    const char *dot = NULL;

    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
        if (strncmp(key, families[i], strlen(families[i])) == 0) {
            dot = strchr(key + strlen(families[i]), '.');
        }
    }
    return dot == NULL ? key : dot + 1;
}

/* Where an option is looked for; of a bare name it is that of a transform. */
static int first_scope_of(const char *key)
{
    if (key != NULL && strncmp(key, "routes.", strlen("routes.")) == 0) {
        return SCOPE_ROUTE;
    }
    return key != NULL && strncmp(key, "predicates.", strlen("predicates.")) == 0 ? SCOPE_PREDICATE
                                                                                  : SCOPE_TRANSFORM;
}

bool config_print_reference(const char *key)
{
    int scope = first_scope_of(key);
    struct property_match match = {0};

    if (key == NULL) {
        print_all();
        return true;
    }
    bool is_found = property_find(SCOPE_CONFIG, key, &match);
    for (; !is_found && scope < SCOPE_COUNT; scope++) {
        is_found = property_find((enum property_scope)scope, option_of(key), &match);
    }
    if (is_found) {
        print_property(match.property);
    }
    return is_found;
}
