#include "load.h"

TestSuite(converters, .fini = forget);

#define JSON   "org.apache.kafka.connect.json.JsonConverter"
#define STRING "org.apache.kafka.connect.storage.StringConverter"
#define BYTES  "org.apache.kafka.connect.converters.ByteArrayConverter"
#define BINARY "io.debezium.converters.BinaryDataConverter"

Test(converters, are_the_readable_default_where_none_is_given)
{
    expect_loads(REQUIRED);
    cr_expect_eq(config->key_converter, CONVERTER_DEFAULT);
    cr_expect_eq(config->value_converter, CONVERTER_DEFAULT);
}

Test(converters, are_connects_by_their_classes)
{
    expect_loads(REQUIRED "key.converter=" STRING "\nvalue.converter=" BYTES "\n");
    cr_expect_eq(config->key_converter, CONVERTER_STRING);
    cr_expect_eq(config->value_converter, CONVERTER_BYTE_ARRAY);
    expect_loads(REQUIRED "key.converter=" JSON "\nkey.converter.schemas.enable=false\n"
                          "value.converter=" BINARY "\n");
    cr_expect_eq(config->key_converter, CONVERTER_JSON);
    cr_expect_eq(config->value_converter, CONVERTER_BINARY_DATA);
    cr_expect_eq(config->value_delegate_converter, CONVERTER_DEFAULT);
    expect_loads(REQUIRED "value.converter=" BINARY "\n"
                          "value.converter.delegate.converter.type=" JSON "\n"
                          "value.converter.delegate.converter.type.schemas.enable=false\n");
    cr_expect_eq(config->value_delegate_converter, CONVERTER_JSON);
    expect_loads(REQUIRED "key.converter=" BINARY "\nkey.converter.delegate.converter.type=" STRING
                          "\nvalue.converter=" BINARY
                          "\nvalue.converter.delegate.converter.type=" BYTES "\n");
    cr_expect_eq(config->key_delegate_converter, CONVERTER_STRING);
    cr_expect_eq(config->value_delegate_converter, CONVERTER_BYTE_ARRAY);
}

#define EXPECT_SCHEMAS(text, key, value)                                                           \
    do {                                                                                           \
        expect_loads(REQUIRED text);                                                               \
        cr_expect_eq(config->key_schemas_enable, (key));                                           \
        cr_expect_eq(config->value_schemas_enable, (value));                                       \
    } while (0)

Test(converters, of_json_write_schemas_unless_they_are_told_not_to)
{
    EXPECT_SCHEMAS("key.converter=" JSON "\nvalue.converter=" JSON "\n", true, true);
    EXPECT_SCHEMAS("key.converter=" JSON "\nvalue.converter=" JSON
                   "\nkey.converter.schemas.enable=FALSE\n",
                   false, true);
    EXPECT_SCHEMAS("key.converter=" JSON "\nvalue.converter=" JSON
                   "\nvalue.converter.schemas.enable=false\n",
                   true, false);
    EXPECT_SCHEMAS("value.converter=" BINARY "\nvalue.converter.delegate.converter.type=" JSON
                   "\nvalue.converter.schemas.enable=false\n",
                   false, true);
    EXPECT_SCHEMAS("value.converter=" BINARY "\nvalue.converter.delegate.converter.type=" JSON
                   "\nvalue.converter.delegate.converter.type.schemas.enable=false\n",
                   false, false);
}

Test(converters, that_are_not_named_write_schemas_only_when_told_to)
{
    EXPECT_SCHEMAS("", false, false);
    EXPECT_SCHEMAS("value.converter.schemas.enable=true\n", false, true);
    EXPECT_SCHEMAS("key.converter.schemas.enable=false\n", false, false);
}

Test(converters, of_text_and_bytes_have_no_schemas)
{
    EXPECT_SCHEMAS("key.converter=" BYTES "\nvalue.converter=" STRING
                   "\nvalue.converter.schemas.enable=true\n",
                   false, false);
}

Test(converters, of_headers_are_connects_by_their_classes)
{
    expect_loads(REQUIRED);
    cr_expect_eq(config->header_converter, HEADER_CONVERTER_SIMPLE);
    expect_loads(REQUIRED "header.converter=" JSON "\n");
    cr_expect_eq(config->header_converter, HEADER_CONVERTER_JSON);
    cr_expect(config->header_schemas_enable);
    expect_loads(REQUIRED "header.converter=" JSON "\nheader.converter.schemas.enable=false\n");
    cr_expect_not(config->header_schemas_enable);
    expect_loads(REQUIRED "header.converter=" STRING "\n");
    cr_expect_eq(config->header_converter, HEADER_CONVERTER_STRING);
    expect_loads(REQUIRED "header.converter=" BYTES "\n");
    cr_expect_eq(config->header_converter, HEADER_CONVERTER_BYTE_ARRAY);
}

Test(converters, tell_what_comes_later_from_what_nobody_knows)
{
    cr_expect_not(load(REQUIRED "value.converter=io.confluent.connect.avro.AvroConverter\n"));
    cr_expect_not_null(strstr(problem(), "AvroConverter: is not supported; use default, "));
    cr_expect_not(load(REQUIRED "value.converter=com.example.Mine\n"));
    cr_expect_not_null(strstr(problem(), "com.example.Mine: must be default, "));
}
