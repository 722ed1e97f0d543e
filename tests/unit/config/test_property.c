#include "base/buffer.h"
#include "config/property.h"
#include "load.h"

TestSuite(property, .fini = forget);

static const char *found(enum property_scope scope, const char *key, const char *wildcard)
{
    struct property_match match = {0};

    if (!property_find(scope, key, &match)) {
        return NULL;
    }
    cr_expect(wr_slice_is(match.wildcard, wildcard), "%s", key);
    return match.property->name;
}

Test(property, is_found_by_its_name_or_its_pattern)
{
    expect_text(found(SCOPE_CONFIG, "slot.name", ""), "slot.name");
    expect_text(found(SCOPE_CONFIG, "column.mask.with.12.chars", "12"),
                "column.mask.with.<n>.chars");
    expect_text(found(SCOPE_CONFIG, "producer.override.linger.ms", "linger.ms"),
                "producer.override.<rest>");
    expect_text(found(SCOPE_CONFIG, "column.mask.with..chars", ""), NULL);
    expect_text(found(SCOPE_CONFIG, "column.mask.with.1x.chars", ""), NULL);
    expect_text(found(SCOPE_CONFIG, "slot.names", ""), NULL);
    expect_text(found(SCOPE_CONFIG, "", ""), NULL);
}

Test(property, is_of_one_scope)
{
    expect_text(found(SCOPE_EVENT_ROUTER, "route.by.field", ""), "route.by.field");
    expect_text(found(SCOPE_CONFIG, "route.by.field", ""), NULL);
    expect_text(found(SCOPE_EVENT_ROUTER, "slot.name", ""), NULL);
}

Test(property, is_near_to_a_name_with_a_slip)
{
    expect_text(property_nearest(SCOPE_CONFIG, "slto.name"), "slot.name");
    expect_text(property_nearest(SCOPE_CONFIG, "Slot.Nam"), "slot.name");
    expect_text(property_nearest(SCOPE_CONFIG, "table.exclude.lists"), "table.exclude.list");
    expect_text(property_nearest(SCOPE_CONFIG, "zzzzzzzzzzzz"), NULL);
    expect_text(property_nearest(SCOPE_EVENT_ROUTER, "route.by.feild"), "route.by.field");
    char long_key[1000];
    memset(long_key, 'a', sizeof(long_key) - 1);
    long_key[sizeof(long_key) - 1] = '\0';
    expect_text(property_nearest(SCOPE_CONFIG, long_key), NULL);
}

/* What the loader trusts a row to be. */
Test(property, has_a_row_that_is_whole)
{
    const struct property *p = NULL;

    for (size_t i = 0; (p = property_at(i)) != NULL; i++) {
        bool is_choice = p->type == PROPERTY_CHOICE || p->type == PROPERTY_FLAG;
        cr_expect_not_null(p->meaning, "%s", p->name);
        cr_expect_lt(strlen(p->name), 128, "%s", p->name);
        cr_expect_eq(is_choice, p->choices != NULL, "%s", p->name);
        cr_expect(p->type != PROPERTY_INT || p->int_min < p->int_max, "%s", p->name);
        cr_expect_neq(p->meaning[strlen(p->meaning) - 1], '.', "%s", p->name);
        cr_expect(p->set == NULL || p->support == SUPPORT_FULL, "%s", p->name);
    }
}

Test(property, stands_in_the_table_once)
{
    const struct property *a = NULL, *b = NULL;

    for (size_t i = 0; (a = property_at(i)) != NULL; i++) {
        for (size_t j = 0; j < i && (b = property_at(j)) != NULL; j++) {
            cr_expect(a->scope != b->scope || strcmp(a->name, b->name) != 0, "%s", a->name);
        }
    }
}

/* A pattern in front of a name would take its place. */
Test(property, is_not_hidden_by_a_pattern)
{
    const struct property *p = NULL;

    for (size_t i = 0; (p = property_at(i)) != NULL; i++) {
        struct property_match match = {0};
        if (strchr(p->name, '<') == NULL) {
            cr_assert(property_find(p->scope, p->name, &match), "%s", p->name);
            cr_expect_eq(match.property, p, "%s is taken by %s", p->name, match.property->name);
        }
    }
}

Test(property, lists_its_choices_in_their_first_spelling)
{
    struct property_match match = {0};
    struct wr_buffer out;

    cr_assert(property_find(SCOPE_CONFIG, "snapshot.mode", &match));
    wr_buffer_init(&out, 100);
    property_list_choices(match.property, &out);
    cr_expect(
        wr_slice_is(wr_buffer_slice(&out),
                    "initial, no_data, always, initial_only, when_needed or configuration_based"));
    wr_buffer_done(&out);
}

/* docs/debezium-compatibility.md, from where this file lies. */
static void read_page(struct wr_buffer *out)
{
    const char *file = __FILE__;
    const char *end = strstr(file, "tests/unit/config/");
    char path[1024] = {0};
    char block[4096];
    size_t size = 0;

    cr_assert_not_null(end);
    snprintf(path, sizeof(path), "%.*sdocs/debezium-compatibility.md", (int)(end - file), file);
    FILE *page = fopen(path, "r");
    cr_assert_not_null(page, "%s", path);
    while ((size = fread(block, 1, sizeof(block), page)) > 0) {
        wr_buffer_add(out, block, size);
    }
    fclose(page);
    wr_buffer_add_char(out, '\0');
}

Test(property, stands_on_the_page_of_compatibility)
{
    const struct property *p = NULL;
    struct wr_buffer page, row;

    wr_buffer_init(&page, 1 << 20);
    wr_buffer_init(&row, 1024);
    read_page(&page);
    for (size_t i = 0; (p = property_at(i)) != NULL; i++) {
        wr_buffer_reset(&row);
        wr_buffer_add_str(&row, "\n| `");
        property_full_name(p, &row);
        wr_buffer_add(&row, "` | ", sizeof("` | "));
        cr_expect_not_null(strstr(page.data, row.data), "%s", p->name);
    }
    wr_buffer_done(&page);
    wr_buffer_done(&row);
}
