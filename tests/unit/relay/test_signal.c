#include <criterion/criterion.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "config/config.h"
#include "relay/message_signal.h"
#include "relay/signal.h"

static struct wr_arena *arena;
static struct signal out;
static struct wr_error err;

static void set_up(void)
{
    arena = wr_arena_new(1 << 20);
}

static void tear_down(void)
{
    wr_arena_free(arena);
}

TestSuite(signal, .init = set_up, .fini = tear_down);

static enum wr_status read_data(const char *type, const char *data)
{
    return signal_read("s1", type, wr_slice_str(data), arena, &out, &err);
}

Test(signal, asks_for_a_snapshot)
{
    cr_assert_eq(
        read_data("execute-snapshot", "{\"data-collections\":[\" public.a \",\"public\\\\.b.*\"]}"),
        WR_OK, "%s", err.text);
    cr_expect_eq(out.kind, SIGNAL_EXECUTE_SNAPSHOT);
    cr_expect_not(out.is_blocking);
    cr_expect_str_eq(out.id, "s1");
    cr_assert_eq(out.collection_count, 2);
    cr_expect_str_eq(out.collections[0], "public.a");
    cr_expect_str_eq(out.collections[1], "public\\.b.*");
    cr_expect_eq(out.condition_count, 0);
    cr_expect_null(out.surrogate_key);
}

Test(signal, asks_for_some_rows_by_another_key)
{
    cr_assert_eq(read_data("execute-snapshot",
                           "{\"data-collections\":[\"public.a\"],\"type\":\"INCREMENTAL\","
                           "\"additional-conditions\":[{\"data-collection\":\"public.a\","
                           "\"filter\":\"id > 3\"}],\"surrogate-key\":\"code\"}"),
                 WR_OK, "%s", err.text);
    cr_assert_eq(out.condition_count, 1);
    cr_expect_str_eq(out.conditions[0].collection, "public.a");
    cr_expect_str_eq(out.conditions[0].filter, "id > 3");
    cr_expect_str_eq(out.surrogate_key, "code");
}

Test(signal, understands_the_condition_of_older_debezium)
{
    cr_assert_eq(read_data("execute-snapshot", "{\"data-collections\":[\"public.a\"],"
                                               "\"additional-condition\":\"id > 3\"}"),
                 WR_OK);
    cr_assert_eq(out.condition_count, 1);
    cr_expect_str_eq(out.conditions[0].collection, ".*");
}

Test(signal, asks_for_a_blocking_snapshot)
{
    cr_assert_eq(read_data("execute-snapshot",
                           "{\"data-collections\":[\"public.a\"],\"type\":\"blocking\"}"),
                 WR_OK);
    cr_expect(out.is_blocking);
}

Test(signal, stops_all_or_some)
{
    cr_assert_eq(read_data("stop-snapshot", "{\"type\":\"incremental\"}"), WR_OK);
    cr_expect_eq(out.collection_count, 0);
    cr_assert_eq(read_data("stop-snapshot", "{\"data-collections\":[\"public.a\"]}"), WR_OK);
    cr_expect_eq(out.collection_count, 1);
}

Test(signal, pauses_resumes_and_logs)
{
    cr_assert_eq(read_data("pause-snapshot", "{}"), WR_OK);
    cr_expect_eq(out.kind, SIGNAL_PAUSE_SNAPSHOT);
    cr_assert_eq(read_data("resume-snapshot", ""), WR_OK);
    cr_expect_eq(out.kind, SIGNAL_RESUME_SNAPSHOT);
    cr_assert_eq(read_data("log", "{\"message\":\"hello\"}"), WR_OK);
    cr_expect_str_eq(out.message, "hello");
}

Test(signal, passes_over_the_watermarks_of_debezium)
{
    cr_assert_eq(read_data("snapshot-window-open", "{\"openWindowTimestamp\": \"x\"}"), WR_OK);
    cr_expect_eq(out.kind, SIGNAL_NONE);
}

Test(signal, refuses_what_it_cannot_do)
{
    static const struct {
        const char *type, *data, *reason;
    } bad[] = {
        {"execute-snapshot", "{}", "missing or empty"},
        {"execute-snapshot", "{\"data-collections\":[]}", "missing or empty"},
        {"execute-snapshot", "{\"data-collections\":\"a\"}", "no array"},
        {"execute-snapshot", "{\"data-collections\":[1]}", "no text"},
        {"execute-snapshot", "{\"data-collections\":[\"a\"],\"type\":\"full\"}", "neither"},
        {"execute-snapshot",
         "{\"data-collections\":[\"a\"],\"additional-conditions\":[{\"filter\":\"x\"}]}", "lacks"},
        {"execute-snapshot", "{", "no JSON"},
        {"stop-snapshot", "{\"type\":\"blocking\"}", "incremental"},
        {"log", "{}", "message is missing"},
        {"schema-changes", "{}", "known"},
    };

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        cr_expect_eq(read_data(bad[i].type, bad[i].data), WR_REJECT, "%s", bad[i].data);
        cr_expect_not_null(strstr(err.text, bad[i].reason), "%s: %s", bad[i].data, err.text);
    }
}

Test(signal, comes_whole_as_kafka_has_it)
{
    static const char *const texts[] = {
        "{\"id\":\"k\",\"type\":\"log\",\"data\":{\"message\":\"m\"}}",
        "{\"id\":\"k\",\"type\":\"log\",\"data\":\"{\\\"message\\\":\\\"m\\\"}\"}",
    };

    for (size_t i = 0; i < 2; i++) {
        cr_assert_eq(signal_read_whole(wr_slice_str(texts[i]), arena, &out, &err), WR_OK, "%s",
                     err.text);
        cr_expect_str_eq(out.message, "m");
        cr_expect_str_eq(out.id, "k");
    }
    cr_expect_eq(signal_read_whole(WR_SLICE("{\"data\":{}}"), arena, &out, &err), WR_REJECT);
    cr_expect_eq(signal_read_whole(WR_SLICE("[]"), arena, &out, &err), WR_REJECT);
}

static const char EXECUTE[] =
    "{\"id\":\"m\",\"type\":\"execute-snapshot\",\"data\":{\"data-collections\":[\"a.b\"],"
    "\"additional-conditions\":[{\"data-collection\":\"a.b\",\"filter\":\"true\"}]}}";

static enum wr_status pass(const struct config *from, const struct config *to, size_t spoilt_at)
{
    struct wr_buffer content;

    wr_buffer_init(&content, 1 << 16);
    message_signal_write(from, wr_slice_str(EXECUTE), &content);
    if (spoilt_at < content.size) {
        content.data[spoilt_at] ^= 1;
    }
    enum wr_status status = message_signal_read(to, wr_buffer_slice(&content), arena, &out, &err);
    wr_buffer_done(&content);
    return status;
}

Test(signal, is_believed_when_it_is_signed)
{
    struct config_pair password = {"password", "secret"};
    struct config own = {.database = {&password, 1}};
    struct config given = {.signal_message_secret = "secret"};

    cr_expect_eq(pass(&own, &own, SIZE_MAX), WR_OK, "%s", err.text);
    cr_expect_eq(pass(&own, &given, SIZE_MAX), WR_OK, "%s", err.text);
}

Test(signal, is_not_believed_with_another_secret_or_changed)
{
    struct config one = {.signal_message_secret = "one"};
    struct config two = {.signal_message_secret = "two"};
    struct config none = {0};

    cr_expect_eq(pass(&one, &two, SIZE_MAX), WR_REJECT);
    cr_expect_eq(pass(&none, &one, SIZE_MAX), WR_REJECT);
    for (size_t i = 0; i < 64 + 1 + sizeof(EXECUTE) - 1; i++) {
        cr_expect_eq(pass(&one, &one, i), WR_REJECT, "byte %zu", i);
    }
}

Test(signal, may_hold_no_condition_without_a_secret)
{
    struct config none = {0};

    cr_expect_eq(pass(&none, &none, SIZE_MAX), WR_REJECT);
    cr_expect_not_null(strstr(err.text, "signal.message.secret"));
}
