/* show_schema.h - a type's schema as a line of text, as JsonConverter writes schemas. */
#ifndef WR_TESTS_UNIT_DECODER_SHOW_SCHEMA_H
#define WR_TESTS_UNIT_DECODER_SHOW_SCHEMA_H

#include "decoder/schema.h"
#include "show_value.h"

static inline const char *schema_type_name(enum schema_type type)
{
    static const char *const NAMES[] = {"int8",    "int16",  "int32", "int64", "float", "double",
                                        "boolean", "string", "bytes", "array", "map",   "struct"};

    return NAMES[type];
}

static inline void show_schema_head(const struct schema *s)
{
    show("%s%s", schema_type_name(s->type), s->is_optional ? "?" : "");
    if (s->name != NULL) {
        show(" %s:%d", s->name, (int)s->version);
    }
    if (s->doc != NULL) {
        show(" '%s'", s->doc);
    }
    for (size_t i = 0; i < s->parameter_count; i++) {
        show(" %s=%s", s->parameters[i].name, s->parameters[i].value);
    }
}

static inline void show_one_schema(const struct schema *s)
{
    show_schema_head(s);
    if (s->key != NULL) {
        show(" <");
        show_one_schema(s->key);
        show(">");
    }
    if (s->element != NULL) {
        show(" [");
        show_one_schema(s->element);
        show("]");
    }
    for (size_t i = 0; i < s->field_count; i++) {
        show("%s%.*s: ", i == 0 ? " {" : ", ", (int)s->fields[i].name.size, s->fields[i].name.data);
        show_one_schema(s->fields[i].schema);
        show("%s", i + 1 == s->field_count ? "}" : "");
    }
}

static inline const char *show_schema(uint32_t oid, int32_t typmod)
{
    struct column_type type = compiled(oid, typmod);

    if (type.schema == NULL) {
        cr_expect_null(type.parse, "type %u has values without a schema", oid);
        return "none";
    }
    shown_size = 0;
    show_one_schema(type.schema);
    return shown;
}

struct schema_case {
    uint32_t oid;
    int32_t typmod;
    const char *expected;
};

static inline void expect_schemas(const struct schema_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *actual = show_schema(cases[i].oid, cases[i].typmod);
        cr_expect_str_eq(actual, cases[i].expected, "type %u (%d): %s instead of %s", cases[i].oid,
                         cases[i].typmod, actual, cases[i].expected);
    }
}

#define EXPECT_SCHEMAS(cases) expect_schemas((cases), sizeof(cases) / sizeof((cases)[0]))

#endif /* WR_TESTS_UNIT_DECODER_SHOW_SCHEMA_H */
