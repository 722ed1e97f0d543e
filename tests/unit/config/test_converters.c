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

Test(converters, need_schemas_to_be_switched_off)
{
    expect_refused(REQUIRED "value.converter=" JSON "\n",
                   "3: value.converter=" JSON ": writes schemas, which are not supported yet; add "
                   "value.converter.schemas.enable=false");
    expect_refused(REQUIRED "value.converter=" JSON "\nvalue.converter.schemas.enable=true\n",
                   "4: value.converter.schemas.enable=true: is not supported yet; use false");
    expect_refused(REQUIRED "key.converter.schemas.enable=TRUE\n",
                   "3: key.converter.schemas.enable=TRUE: is not supported yet; use false");
    expect_refused(REQUIRED "value.converter=" BINARY "\n"
                            "value.converter.delegate.converter.type=" JSON "\n",
                   "4: value.converter.delegate.converter.type=" JSON
                   ": writes schemas, which are not supported yet; add "
                   "value.converter.delegate.converter.type.schemas.enable=false");
}

Test(converters, do_not_mind_schemas_that_they_never_write)
{
    expect_loads(REQUIRED "value.converter=" STRING "\nvalue.converter.schemas.enable=true\n");
    expect_loads(REQUIRED "key.converter.schemas.enable=false\n");
}

Test(converters, tell_what_comes_later_from_what_nobody_knows)
{
    cr_expect_not(load(REQUIRED "value.converter=io.confluent.connect.avro.AvroConverter\n"));
    cr_expect_not_null(strstr(problem(), "AvroConverter: is not supported yet; use default, "));
    cr_expect_not(load(REQUIRED "value.converter=com.example.Mine\n"));
    cr_expect_not_null(strstr(problem(), "com.example.Mine: must be default, "));
}
