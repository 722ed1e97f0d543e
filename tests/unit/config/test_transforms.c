#include "load.h"

TestSuite(transforms, .fini = forget);

#define OUTBOX                                                                                     \
    REQUIRED "transforms=o\ntransforms.o.type=io.debezium.transforms.outbox.EventRouter\n"
#define REGEX                                                                                      \
    REQUIRED "transforms=r\ntransforms.r.type=org.apache.kafka.connect.transforms.RegexRouter\n"

static const struct event_router_config *router(void)
{
    cr_assert_eq(config->transform_count, 1);
    cr_assert_eq(config->transforms[0].kind, TRANSFORM_EVENT_ROUTER);
    return &config->transforms[0].as.event_router;
}

Test(transforms, of_the_outbox_have_debeziums_defaults)
{
    expect_loads(OUTBOX);
    expect_text(config->transforms[0].name, "o");
    expect_text(router()->field_event_id, "id");
    expect_text(router()->field_event_key, "aggregateid");
    expect_text(router()->field_event_payload, "payload");
    expect_text(router()->field_event_timestamp, NULL);
    expect_text(router()->field_schema_version, NULL);
    expect_text(router()->route_by_field, "aggregatetype");
    expect_text(router()->route_topic_regex, "(?<routedByValue>.*)");
    expect_text(router()->route_topic_replacement, "outbox.event.${routedByValue}");
    cr_expect_eq(router()->additional_count, 0);
    cr_expect(router()->additional_missing_is_error);
    cr_expect_eq(router()->op_invalid_behavior, OP_INVALID_WARN);
    cr_expect_not(router()->expand_json_payload);
    cr_expect_not(router()->json_payload_null_is_kept);
    cr_expect_not(router()->json_payload_empty_array_is_kept);
    cr_expect_not(router()->tombstone_on_empty_payload);
}

Test(transforms, of_the_outbox_take_every_option)
{
    expect_loads(OUTBOX "transforms.o.table.field.event.id=a\n"
                        "transforms.o.table.field.event.key=b\n"
                        "transforms.o.table.field.event.type=unused\n"
                        "transforms.o.table.field.event.payload=c\n"
                        "transforms.o.table.field.event.timestamp=d\n"
                        "transforms.o.table.field.event.schema.version=e\n"
                        "transforms.o.table.field.additional.missing=ignore\n"
                        "transforms.o.table.op.invalid.behavior=fatal\n"
                        "transforms.o.table.expand.json.payload=true\n"
                        "transforms.o.table.json.payload.null.behavior=optional_bytes\n"
                        "transforms.o.table.json.payload.empty.array.behavior=optional_string\n"
                        "transforms.o.route.by.field=f\n"
                        "transforms.o.route.topic.regex=(.)(.*)\n"
                        "transforms.o.route.topic.replacement=app.$2.$1\n"
                        "transforms.o.route.tombstone.on.empty.payload=true\n"
                        "transforms.o.tracing.span.context.field=g\n"
                        "transforms.o.tracing.operation.name=h\n"
                        "transforms.o.tracing.with.context.field.only=true\n");
    expect_text(router()->field_event_id, "a");
    expect_text(router()->field_event_key, "b");
    expect_text(router()->field_event_payload, "c");
    expect_text(router()->field_event_timestamp, "d");
    expect_text(router()->field_schema_version, "e");
    expect_text(router()->route_by_field, "f");
    expect_text(router()->route_topic_regex, "(.)(.*)");
    expect_text(router()->route_topic_replacement, "app.$2.$1");
    cr_expect_not(router()->additional_missing_is_error);
    cr_expect_eq(router()->op_invalid_behavior, OP_INVALID_FATAL);
    cr_expect(router()->expand_json_payload);
    cr_expect(router()->json_payload_null_is_kept);
    cr_expect(router()->json_payload_empty_array_is_kept);
    cr_expect(router()->tombstone_on_empty_payload);
}

Test(transforms, place_additional_fields)
{
    expect_loads(OUTBOX "transforms.o.table.fields.additional.placement="
                        "type:header:eventType, tenant:envelope ,shard:partition\n");
    const struct additional_field *fields = router()->additional;

    cr_assert_eq(router()->additional_count, 3);
    expect_text(fields[0].column, "type");
    expect_text(fields[0].alias, "eventType");
    cr_expect_eq(fields[0].placement, PLACEMENT_HEADER);
    expect_text(fields[1].column, "tenant");
    expect_text(fields[1].alias, "tenant");
    cr_expect_eq(fields[1].placement, PLACEMENT_ENVELOPE);
    expect_text(fields[2].column, "shard");
    cr_expect_eq(fields[2].placement, PLACEMENT_PARTITION);
}

Test(transforms, refuse_a_placement_of_another_form)
{
    static const char *const bad[] = {"type", "type:", ":header", "type:topic", "a:header:b:c"};

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char text[512] = {0};
        snprintf(text, sizeof(text), OUTBOX "transforms.o.table.fields.additional.placement=%s\n",
                 bad[i]);
        cr_expect_not(load(text), "%s", bad[i]);
        cr_expect_not_null(strstr(problem(), ": must be a list of column:placement"));
    }
}

Test(transforms, run_in_the_order_of_their_list)
{
    expect_loads(REQUIRED "transforms= b ,a,\n"
                          "transforms.a.type=org.apache.kafka.connect.transforms.RegexRouter\n"
                          "transforms.a.regex=(.*)\ntransforms.a.replacement=x$1\n"
                          "transforms.b.type=io.debezium.transforms.outbox.EventRouter\n");
    cr_assert_eq(config->transform_count, 2);
    expect_text(config->transforms[0].name, "b");
    cr_expect_eq(config->transforms[0].kind, TRANSFORM_EVENT_ROUTER);
    expect_text(config->transforms[1].name, "a");
    cr_expect_eq(config->transforms[1].kind, TRANSFORM_REGEX_ROUTER);
    expect_text(config->transforms[1].as.regex_router.regex, "(.*)");
    expect_text(config->transforms[1].as.regex_router.replacement, "x$1");
}

Test(transforms, may_have_a_name_that_starts_as_another)
{
    expect_loads(REQUIRED "transforms=a,ab\n"
                          "transforms.a.type=io.debezium.transforms.outbox.EventRouter\n"
                          "transforms.a.route.by.field=x\n"
                          "transforms.ab.type=io.debezium.transforms.outbox.EventRouter\n"
                          "transforms.ab.route.by.field=y\n");
    cr_assert_eq(config->transform_count, 2);
    expect_text(config->transforms[0].as.event_router.route_by_field, "x");
    expect_text(config->transforms[1].as.event_router.route_by_field, "y");
}

Test(transforms, of_the_regex_need_both_options)
{
    cr_expect_not(load(REGEX));
    cr_assert_eq(problem_count, 2);
    cr_expect_not_null(strstr(problems[0], "transforms.r.regex: is required: "));
    cr_expect_not_null(strstr(problems[1], "transforms.r.replacement: is required: "));
}

Test(transforms, check_the_groups_of_a_replacement)
{
    expect_refused(REGEX "transforms.r.regex=a(.)\ntransforms.r.replacement=$2\n",
                   "6: transforms.r.replacement=$2: replacement \"$2\" names a group that the "
                   "expression does not have");
    expect_refused(OUTBOX "transforms.o.route.topic.regex=(.*)\n",
                   "transforms.o.route.topic.replacement: is required, as its default does not go "
                   "with the expression: replacement \"outbox.event.${routedByValue}\" names a "
                   "group that the expression does not have");
}

Test(transforms, are_refused_by_name_when_they_are_not_built)
{
    cr_expect_not(load(REQUIRED "transforms=u\n"
                                "transforms.u.type=io.debezium.transforms.ContentBasedRouter\n"
                                "transforms.u.topic.expression=x\n"));
    cr_expect_not_null(strstr(problem(), "ContentBasedRouter: is not built in; use "));
    cr_expect_not(load(REQUIRED "transforms=u\ntransforms.u.type=com.example.Mine\n"));
    cr_expect_not_null(strstr(problem(), "com.example.Mine: is not built in; `walrelay config "
                                         "transforms.<name>.type` lists those that are"));
    cr_expect_not(load(REQUIRED "transforms=u\n"));
    cr_expect_not_null(strstr(problem(), "transforms.u.type: is required: "));
}

Test(transforms, are_known_by_the_bare_name_of_their_class)
{
    expect_loads(REQUIRED "transforms=o\ntransforms.o.type=EventRouter\n");
    cr_expect_eq(config->transforms[0].kind, TRANSFORM_EVENT_ROUTER);
    expect_refused(REQUIRED "transforms=o\ntransforms.o.type=EventRouter$Value\n",
                   "4: transforms.o.type=EventRouter$Value: must have no $ behind it");
}

Test(transforms, may_be_for_some_records_only)
{
    expect_loads(OUTBOX "transforms.o.predicate=b\ntransforms.o.negate=true\n"
                        "predicates=a, b,c\npredicates.a.type=RecordIsTombstone\n"
                        "predicates.b.type=org.apache.kafka.connect.transforms.predicates."
                        "TopicNameMatches\npredicates.b.pattern=.*\\.outbox\n"
                        "predicates.c.type=HasHeaderKey\npredicates.c.name=h\n");
    cr_assert_eq(config->predicate_count, 3);
    cr_expect_eq(config->transforms[0].predicate, &config->predicates[1]);
    cr_expect(config->transforms[0].negate);
    cr_expect_eq(config->predicates[0].kind, PREDICATE_RECORD_IS_TOMBSTONE);
    cr_expect_eq(config->predicates[1].kind, PREDICATE_TOPIC_NAME_MATCHES);
    expect_text(config->predicates[1].pattern, ".*.outbox");
    cr_expect_eq(config->predicates[2].kind, PREDICATE_HAS_HEADER_KEY);
    expect_text(config->predicates[2].header, "h");
    expect_loads(OUTBOX "transforms.o.negate=false\n");
    cr_expect_null(config->transforms[0].predicate);
}

Test(transforms, refuse_a_predicate_that_is_not_there_or_not_whole)
{
    expect_refused(OUTBOX "transforms.o.predicate=a\n",
                   "5: transforms.o.predicate=a: must be one of those that \"predicates\" names");
    expect_refused(OUTBOX "predicates=a\npredicates.a.type=HasHeaderKey\n",
                   "predicates.a.name: is required: HasHeaderKey: name of the header that is "
                   "there");
    expect_refused(OUTBOX "predicates=a\npredicates.a.type=TopicNameMatches\n"
                          "predicates.a.pattern=x\npredicates.b.type=RecordIsTombstone\n",
                   "8: predicates.b.type: belongs to no predicate that \"predicates\" names");
    expect_refused(OUTBOX "predicates=a\npredicates.a.type=RecordIsTombstone\n"
                          "predicates.a.pattern=x\n",
                   "7: predicates.a.pattern: is not a property; `walrelay config` lists them all");
    cr_expect_not(load(OUTBOX "predicates=a\npredicates.a.type=TopicNameMatches\n"
                              "predicates.a.pattern=(\n"));
    cr_expect_not(load(OUTBOX "predicates=a\npredicates.a.type=com.example.Mine\n"));
}

Test(transforms, offer_the_nearest_option)
{
    expect_refused(OUTBOX "transforms.o.route.by.fild=x\n",
                   "5: transforms.o.route.by.fild: is not a property; did you mean "
                   "transforms.o.route.by.field?");
}

Test(transforms, are_named_once_and_have_no_strays)
{
    expect_refused(REQUIRED "transforms=o,o\n"
                            "transforms.o.type=io.debezium.transforms.outbox.EventRouter\n",
                   "3: transforms=o,o: has o twice");
    expect_refused(OUTBOX "transforms.p.type=x\n",
                   "5: transforms.p.type: belongs to no transform that \"transforms\" names");
    expect_refused(OUTBOX "transforms.o2.type=x\n",
                   "5: transforms.o2.type: belongs to no transform that \"transforms\" names");
}
