#include "load.h"

TestSuite(smt_setters, .fini = forget);

#define TYPE(class)  REQUIRED "transforms=t\ntransforms.t.type=" WR_KAFKA_CLASS(class) "\n"
#define OPTION(line) "transforms.t." line "\n"

static const struct transform_config *only(enum transform_kind kind)
{
    cr_assert_eq(config->transform_count, 1);
    cr_assert_eq(config->transforms[0].kind, kind);
    return &config->transforms[0];
}

/* A configuration with one problem, which says `text`. */
static void expect_one_problem(const char *lines, const char *text)
{
    cr_expect_not(load(lines), "%s", lines);
    cr_expect_not_null(strstr(problem(), text), "%s: %s", lines, problem());
}

static void expect_names(const struct config_names *names, const char *first, const char *second)
{
    cr_assert_eq(names->count, second == NULL ? 1 : 2);
    expect_text(names->items[0], first);
    if (second != NULL) {
        expect_text(names->items[1], second);
    }
}

Test(smt_setters, work_for_value_to_key)
{
    expect_loads(TYPE("ValueToKey") OPTION("fields= a , b"));
    expect_names(&only(TRANSFORM_VALUE_TO_KEY)->as.value_to_key.fields, "a", "b");
    cr_expect(config->transforms[0].as.value_to_key.replace_null_with_default);
    expect_loads(TYPE("ValueToKey") OPTION("fields=a") OPTION("replace.null.with.default=false"));
    cr_expect_not(config->transforms[0].as.value_to_key.replace_null_with_default);
    expect_one_problem(TYPE("ValueToKey"), "transforms.t.fields: is required");
    expect_one_problem(TYPE("ValueToKey") OPTION("fields=,"),
                       "fields: must have at least one name");
}

Test(smt_setters, work_for_extract_field)
{
    expect_loads(TYPE("ExtractField$Key") OPTION("field=id"));
    const struct extract_field_config *c = &only(TRANSFORM_EXTRACT_FIELD)->as.extract_field;
    cr_expect(config->transforms[0].is_key);
    expect_text(c->field, "id");
    cr_expect_eq(c->syntax, FIELD_SYNTAX_V1);
    cr_expect(c->replace_null_with_default);
    expect_loads(TYPE("ExtractField$Value") OPTION("field=a.b") OPTION("field.syntax.version=v2"));
    cr_expect_not(config->transforms[0].is_key);
    cr_expect_eq(config->transforms[0].as.extract_field.syntax, FIELD_SYNTAX_V2);
    expect_one_problem(TYPE("ExtractField") OPTION("field=id"),
                       "must have $Key or $Value behind it");
}

Test(smt_setters, work_for_replace_field)
{
    expect_loads(TYPE("ReplaceField$Value") OPTION("include=a,b") OPTION("exclude=c")
                     OPTION("renames=a:x,b:y"));
    const struct replace_field_config *c = &only(TRANSFORM_REPLACE_FIELD)->as.replace_field;
    expect_names(&c->include, "a", "b");
    expect_names(&c->exclude, "c", NULL);
    cr_assert_eq(c->renames.count, 2);
    expect_text(c->renames.items[1].name, "b");
    expect_text(c->renames.items[1].value, "y");
    expect_one_problem(TYPE("ReplaceField$Value") OPTION("renames=a"),
                       "must be a list of name:name");
}

Test(smt_setters, work_for_insert_field)
{
    expect_loads(TYPE("InsertField$Value") OPTION("topic.field=a!") OPTION("partition.field=b?")
                     OPTION("timestamp.field=c") OPTION("static.field=d") OPTION("static.value=e"));
    const struct insert_field_config *c = &only(TRANSFORM_INSERT_FIELD)->as.insert_field;
    expect_text(c->topic.name, "a");
    cr_expect(c->topic.is_required);
    expect_text(c->partition.name, "b");
    cr_expect_not(c->partition.is_required);
    expect_text(c->timestamp.name, "c");
    cr_expect_not(c->timestamp.is_required);
    expect_text(c->fixed.name, "d");
    expect_text(c->static_value, "e");
    expect_one_problem(TYPE("InsertField$Value"), "transforms.t.type: needs topic.field");
    expect_one_problem(TYPE("InsertField$Value") OPTION("static.field=a"),
                       "transforms.t.static.value: is required with static.field");
    expect_one_problem(TYPE("InsertField$Value") OPTION("topic.field=!"), "must be the name");
    expect_one_problem(TYPE("InsertField$Value") OPTION("topic.field=a") OPTION("offset.field=o"),
                       "a record on its way to Kafka has no offset");
}

Test(smt_setters, work_for_headers)
{
    expect_loads(TYPE("InsertHeader") OPTION("header=h") OPTION("value.literal=v"));
    expect_text(only(TRANSFORM_INSERT_HEADER)->as.insert_header.header, "h");
    expect_text(config->transforms[0].as.insert_header.value_literal, "v");
    expect_one_problem(TYPE("InsertHeader") OPTION("header=h"), "value.literal: is required");
    expect_loads(TYPE("DropHeaders") OPTION("headers=a,b"));
    expect_names(&only(TRANSFORM_DROP_HEADERS)->as.drop_headers.headers, "a", "b");
    expect_loads(TYPE("HeaderFrom$Value") OPTION("fields=a,b") OPTION("headers=x,y")
                     OPTION("operation=copy"));
    const struct header_from_config *c = &only(TRANSFORM_HEADER_FROM)->as.header_from;
    expect_names(&c->fields, "a", "b");
    expect_names(&c->headers, "x", "y");
    cr_expect_eq(c->operation, HEADER_COPY);
    expect_one_problem(TYPE("HeaderFrom$Value") OPTION("fields=a,b") OPTION("headers=x")
                           OPTION("operation=move"),
                       "transforms.t.headers: must have as many names as fields");
    expect_one_problem(TYPE("HeaderFrom$Value") OPTION("fields=a") OPTION("headers=x")
                           OPTION("operation=drop"),
                       "must be move or copy");
}

Test(smt_setters, work_for_mask_flatten_hoist_and_filter)
{
    expect_loads(TYPE("MaskField$Value") OPTION("fields=a") OPTION("replacement=***"));
    expect_names(&only(TRANSFORM_MASK_FIELD)->as.mask_field.fields, "a", NULL);
    expect_text(config->transforms[0].as.mask_field.replacement, "***");
    expect_loads(TYPE("MaskField$Value") OPTION("fields=a"));
    expect_text(config->transforms[0].as.mask_field.replacement, NULL);
    expect_loads(TYPE("Flatten$Value"));
    expect_text(only(TRANSFORM_FLATTEN)->as.flatten.delimiter, ".");
    expect_loads(TYPE("Flatten$Value") OPTION("delimiter="));
    expect_text(config->transforms[0].as.flatten.delimiter, "");
    expect_loads(TYPE("HoistField$Key") OPTION("field=f"));
    expect_text(only(TRANSFORM_HOIST_FIELD)->as.hoist_field.field, "f");
    expect_loads(TYPE("Filter"));
    (void)only(TRANSFORM_FILTER);
}

Test(smt_setters, work_for_cast)
{
    expect_loads(TYPE("Cast$Value") OPTION("spec=a:string, b : INT32"));
    const struct cast_config *c = &only(TRANSFORM_CAST)->as.cast;
    cr_assert_eq(c->field_count, 2);
    expect_text(c->fields[0].name, "a");
    cr_expect_eq(c->fields[0].type, CAST_STRING);
    expect_text(c->fields[1].name, "b");
    cr_expect_eq(c->fields[1].type, CAST_INT32);
    expect_loads(TYPE("Cast$Key") OPTION("spec=float64"));
    cr_assert_eq(config->transforms[0].as.cast.field_count, 1);
    expect_text(config->transforms[0].as.cast.fields[0].name, NULL);
    cr_expect_eq(config->transforms[0].as.cast.fields[0].type, CAST_FLOAT64);
    static const char *const bad[] = {"a:", "a:bytes", ":int8", "a:int8:int8", "text", "a:int8,,"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char lines[512];
        snprintf(lines, sizeof(lines), TYPE("Cast$Value") "transforms.t.spec=%s\n", bad[i]);
        expect_one_problem(lines, "must be a list of field:type, or one type alone");
    }
    expect_one_problem(TYPE("Cast$Value") OPTION("spec=int8,a:int8"), "one or the other");
}

Test(smt_setters, work_for_times)
{
    expect_loads(TYPE("TimestampRouter"));
    expect_text(only(TRANSFORM_TIMESTAMP_ROUTER)->as.timestamp_router.topic_format,
                "${topic}-${timestamp}");
    expect_text(config->transforms[0].as.timestamp_router.timestamp_format, "yyyyMMdd");
    expect_one_problem(TYPE("TimestampRouter") OPTION("timestamp.format=YYYY"), "years of weeks");
    expect_loads(TYPE("TimestampConverter$Value") OPTION("field=at") OPTION("target.type=string")
                     OPTION("format=yyyy-MM-dd") OPTION("unix.precision=microseconds"));
    const struct timestamp_converter_config *c =
        &only(TRANSFORM_TIMESTAMP_CONVERTER)->as.timestamp_converter;
    expect_text(c->field, "at");
    cr_expect_eq(c->target_type, TIMESTAMP_STRING);
    expect_text(c->format, "yyyy-MM-dd");
    cr_expect_eq(c->unix_precision, UNIX_MICROSECONDS);
    expect_loads(TYPE("TimestampConverter$Value") OPTION("target.type=Timestamp"));
    cr_expect_eq(config->transforms[0].as.timestamp_converter.target_type, TIMESTAMP_TIMESTAMP);
    cr_expect_eq(config->transforms[0].as.timestamp_converter.unix_precision, UNIX_MILLISECONDS);
    expect_one_problem(TYPE("TimestampConverter$Value") OPTION("target.type=string"),
                       "transforms.t.format: is required with target.type=string");
    expect_one_problem(TYPE("TimestampConverter$Value") OPTION("target.type=unix")
                           OPTION("format=yyyy-MM-dd'T"),
                       "has a quote that is not closed");
}

Test(smt_setters, work_for_set_schema_metadata)
{
    expect_loads(TYPE("SetSchemaMetadata$Value") OPTION("schema.name=n"));
    const struct set_schema_metadata_config *c =
        &only(TRANSFORM_SET_SCHEMA_METADATA)->as.set_schema_metadata;
    expect_text(c->schema_name, "n");
    cr_expect_eq(c->schema_version, -1);
    expect_loads(TYPE("SetSchemaMetadata$Value") OPTION("schema.version=2"));
    cr_expect_eq(config->transforms[0].as.set_schema_metadata.schema_version, 2);
    expect_one_problem(TYPE("SetSchemaMetadata$Value"),
                       "needs schema.name, schema.version or both");
}
