#include "load.h"

TestSuite(slot_setters, .fini = forget);

Test(slot_setters, replica_identities_are_read_in_all_their_forms)
{
    expect_loads(REQUIRED "replica.identity.autoset.values= public.a:full ,s.b.*:INDEX  My Index,"
                          "public.c:Nothing,,public.d:default\n");
    cr_assert_eq(config->replica_identity_count, 4);
    const struct replica_identity_rule *rules = config->replica_identities;
    expect_text(rules[0].table, "public.a");
    cr_expect_eq(rules[0].identity, REPLICA_IDENTITY_FULL);
    expect_text(rules[1].table, "s.b.*");
    cr_expect_eq(rules[1].identity, REPLICA_IDENTITY_INDEX);
    expect_text(rules[1].index, "My Index");
    cr_expect_eq(rules[2].identity, REPLICA_IDENTITY_NOTHING);
    cr_expect_eq(rules[3].identity, REPLICA_IDENTITY_DEFAULT);
}

Test(slot_setters, a_replica_identity_of_another_form_is_refused)
{
    static const char *const values[] = {"public.a",       "public.a:ALL",    ":FULL",
                                         "public.a:INDEX", "public.a:INDEX ", "public.(:FULL"};

    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        char text[256];
        snprintf(text, sizeof(text), REQUIRED "replica.identity.autoset.values=%s\n", values[i]);
        cr_expect_not(load(text), "%s", values[i]);
        cr_expect_not_null(strstr(problem(), "replica.identity.autoset.values="), "%s", problem());
    }
}

Test(slot_setters, stream_parameters_are_pairs)
{
    expect_loads(REQUIRED "slot.stream.params= origin = none ;messages=false;\n");
    cr_assert_eq(config->slot_stream_params.count, 2);
    expect_text(pair(&config->slot_stream_params, "origin"), "none");
    expect_text(pair(&config->slot_stream_params, "messages"), "false");
}

Test(slot_setters, a_stream_parameter_that_the_decoder_could_not_follow_is_refused)
{
    static const struct {
        const char *value, *reason;
    } cases[] = {
        {"proto_version=2", "proto_version is not supported: it is 1 here"},
        {"binary=true", "binary is not supported: it would bring values in binary"},
        {"streaming=on", "streaming is not supported"},
        {"two_phase=on", "two_phase is not supported"},
        {"publication_names=a", "publication_names is not supported: it is publication.name"},
        {"origin", "must be name=value"},
        {"=none", "must be name=value"},
        {"origin=", "must be name=value"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[256];
        snprintf(text, sizeof(text), REQUIRED "slot.stream.params=%s\n", cases[i].value);
        cr_expect_not(load(text), "%s", cases[i].value);
        cr_expect_not_null(strstr(problem(), cases[i].reason), "%s", problem());
    }
}

Test(slot_setters, what_needs_java_is_refused_for_good)
{
    static const char *const lines[] = {"converters=c", "topic.naming.strategy=com.example.Mine",
                                        "custom.sanitize.pattern=x",
                                        "database.sslfactory=com.example.Factory"};

    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        char text[256];
        snprintf(text, sizeof(text), REQUIRED "%s\n", lines[i]);
        cr_expect_not(load(text), "%s", lines[i]);
        cr_expect_not_null(strstr(problem(), ": is not supported; "), "%s", problem());
    }
}

Test(slot_setters, the_newer_name_of_the_flush_mode_counts)
{
    expect_loads(REQUIRED "flush.lsn.source=false\n");
    cr_expect_not(config->flush_lsn_source);
    expect_loads(REQUIRED "flush.lsn.source=false\nlsn.flush.mode=connector\n");
    cr_expect(config->flush_lsn_source);
}
