#include "config/route_config.h"
#include "config/route_text.h"
#include "fixture.h"

static struct route_config routes[4];
static struct wr_arena *texts;

static const struct fixture_column COLUMNS[] = {
    {"id", INT4, true}, {"title", TEXT, false}, {"venue", TEXT, false}, {"tags", JSONB, false}};
static const struct fixture_column FULL[] = {
    {"id", INT4, true}, {"title", TEXT, true}, {"venue", TEXT, true}, {"tags", JSONB, true}};

static struct column_info infos[] = {
    {"id", true, NULL}, {"title", true, NULL}, {"venue", false, NULL}, {"tags", false, NULL}};
static const char *keys[] = {"id"};

static void open_route(void)
{
    open_fixture();
    texts = wr_arena_new(1 << 20);
    config.routes = routes;
    catalog_status = WR_OK;
    catalog_table = (struct table_info){
        .columns = infos, .column_count = 4, .key_columns = keys, .key_column_count = 1};
}

static void close_route(void)
{
    wr_arena_free(texts);
    close_fixture();
}

TestSuite(route, .init = open_route, .fini = close_route);

static struct template_config *a_template(const char *text)
{
    struct template_config *t = wr_arena_alloc(texts, 1, sizeof(*t));
    struct route_text_error error;

    cr_assert(template_read(wr_slice_str(text), texts, t, &error), "%s", error.reason);
    return t;
}

/* The only one to publish of its tables. */
static struct route_config *add_route(const char *name, enum route_type type)
{
    struct route_config *r = &routes[config.route_count++];

    *r = (struct route_config){.name = name, .type = type, .only = true};
    return r;
}

static struct route_config *add_search(const char *fields)
{
    struct route_config *r = add_route("search", ROUTE_SEARCH);
    struct route_text_error error;

    if (fields != NULL) {
        cr_assert(document_fields_read(wr_slice_str(fields), texts, &r->document_fields,
                                       &r->document_field_count, &error));
    }
    return r;
}

static struct route_config *add_cache(const char *list)
{
    struct route_config *r = add_route("cache", ROUTE_CACHE);
    struct route_text_error error;

    cr_assert(template_list_read(wr_slice_str(list), texts, &r->keys, &r->key_count, &error));
    return r;
}

static void set_where(struct route_config *r, const char *text)
{
    struct route_text_error error;

    cr_assert(condition_read(wr_slice_str(text), texts, &r->where, &error), "%s", error.reason);
}

static void set_changed(struct route_config *r, const char *column)
{
    const char **items = wr_arena_alloc(texts, 1, sizeof(*items));

    items[0] = column;
    r->only_when_changed = (struct config_names){items, 1};
}

static struct relation *shows(void)
{
    return compile(MAKE_RELATION("public", "shows", 'd', COLUMNS));
}

static struct relation *full_shows(void)
{
    return compile(MAKE_RELATION("public", "shows", 'f', FULL));
}

/* What came out, less the headers that every record has, which are seen once below. */
static const char *brief(void)
{
    static char out[sizeof(emitted)];
    static const char types[] = " walrelay.types=\"";
    size_t size = 0;

    for (const char *p = emitted; *p != '\0';) {
        if (strncmp(p, " walrelay.table=", 16) == 0) {
            p = strchr(p + 1, ' ') == NULL ? p + strlen(p) : p + strcspn(p + 1, " \n") + 1;
        } else if (strncmp(p, " walrelay.commit=", 17) == 0) {
            p += strcspn(p + 1, " \n") + 1;
        } else if (strncmp(p, types, sizeof(types) - 1) == 0) {
            p = strstr(p, "}\"") + 2;
        } else {
            out[size++] = *p++;
        }
    }
    out[size] = '\0';
    return out;
}

static void expect_records(enum change_op op, const struct relation *relation, enum old_kind old,
                           const char *const *before, const char *const *after,
                           const char *expected)
{
    cr_assert_eq(route(op, relation, old, before, after), WR_OK, "%s", err.text);
    cr_expect_str_eq(brief(), expected, "emitted:\n%s", brief());
}

static enum wr_status try_compile(struct relation *relation)
{
    if (router == NULL) {
        start_router();
    }
    return router_compile(router, relation, &FIXTURE_CATALOG, &err);
}

Test(route, records_say_what_they_are_in_their_headers)
{
    add_search("id,venue:place,tags.genre:genre");
    cr_assert_eq(
        route(OP_CREATE, shows(), OLD_NONE, NULL, ROW("1", "a", "b", "{\"genre\": \"rock\"}")),
        WR_OK);
    EXPECT_EMITTED("shop.search.shows | \"1\" | {\"id\":1,\"place\":\"b\",\"genre\":\"rock\"} "
                   "walrelay.op=\"c\" walrelay.table=\"public.shows\" "
                   "walrelay.commit=\"1777665600000000\" "
                   "walrelay.types=\"{\"id\":\"int4\",\"place\":\"text\",\"genre\":\"jsonb\"}\"\n");
}

Test(route, search_makes_a_document_of_a_row)
{
    add_search(NULL);
    struct relation *relation = shows();

    expect_records(OP_CREATE, relation, OLD_NONE, NULL, ROW("1", "a", NULL, "[1]"),
                   "shop.search.shows | \"1\" | "
                   "{\"id\":1,\"title\":\"a\",\"venue\":null,\"tags\":[1]} walrelay.op=\"c\"\n");
    expect_records(OP_READ, relation, OLD_NONE, NULL, ROW("1", "a", "b", "[1]"),
                   "shop.search.shows | \"1\" | "
                   "{\"id\":1,\"title\":\"a\",\"venue\":\"b\",\"tags\":[1]} walrelay.op=\"r\"\n");
    expect_records(OP_DELETE, relation, OLD_KEY, ROW("1", NULL, NULL, NULL), NULL,
                   "shop.search.shows | \"1\" | null walrelay.op=\"d\"\n");
    expect_records(OP_TRUNCATE, relation, OLD_NONE, NULL, NULL,
                   "shop.search.shows | \"\" | null walrelay.op=\"t\"\n");
}

Test(route, search_leaves_out_an_unchanged_toast_value_and_says_so)
{
    add_search("id,title,tags.a:a,tags:all");
    expect_records(OP_UPDATE, shows(), OLD_NONE, NULL, ROW("1", "b", NULL, UNCHANGED),
                   "shop.search.shows | \"1\" | {\"id\":1,\"title\":\"b\"} walrelay.op=\"u\" "
                   "walrelay.unavailable=\"[\"a\",\"all\"]\"\n");
}

Test(route, search_takes_an_unchanged_toast_value_from_the_old_row)
{
    add_search("id,tags.a:a");
    expect_records(OP_UPDATE, full_shows(), OLD_ROW, ROW("1", "b", NULL, "{\"a\": 5}"),
                   ROW("1", "c", NULL, UNCHANGED),
                   "shop.search.shows | \"1\" | {\"id\":1,\"a\":5} walrelay.op=\"u\"\n");
}

Test(route, search_moves_a_document_with_its_key)
{
    add_search("id");
    expect_records(OP_UPDATE, shows(), OLD_KEY, ROW("1", NULL, NULL, NULL),
                   ROW("2", "b", NULL, NULL),
                   "shop.search.shows | \"1\" | null walrelay.op=\"d\"\n"
                   "shop.search.shows | \"2\" | {\"id\":2} walrelay.op=\"u\" "
                   "walrelay.moved.from=\"1\"\n");
}

Test(route, search_joins_the_columns_of_a_key_without_mixing_them_up)
{
    static const struct fixture_column pair[] = {{"a", TEXT, true}, {"b", TEXT, true}};

    add_search("a");
    catalog_status = WR_REJECT;
    struct relation *relation = compile(MAKE_RELATION("public", "pairs", 'd', pair));
    expect_records(OP_CREATE, relation, OLD_NONE, NULL, ROW("x_", "y%"),
                   "shop.search.pairs | \"x%5F_y%25\" | {\"a\":\"x_\"} walrelay.op=\"c\"\n");
    expect_records(OP_CREATE, relation, OLD_NONE, NULL, ROW("x", "_y"),
                   "shop.search.pairs | \"x_%5Fy\" | {\"a\":\"x\"} walrelay.op=\"c\"\n");
}

Test(route, search_makes_its_id_of_several_columns)
{
    add_search("id")->document_id = a_template("${venue}/${tags.n}-${id}");
    struct relation *relation = full_shows();

    expect_records(OP_CREATE, relation, OLD_NONE, NULL, ROW("1", "a", "Hall", "{\"n\": \"x\\\"\"}"),
                   "shop.search.shows | \"Hall/x\"-1\" | {\"id\":1} walrelay.op=\"c\"\n");
    expect_records(OP_UPDATE, relation, OLD_ROW, ROW("1", "a", "Hall", "{\"n\": 1}"),
                   ROW("1", "a", "Bar", "{\"n\": 1}"),
                   "shop.search.shows | \"Hall/1-1\" | null walrelay.op=\"d\"\n"
                   "shop.search.shows | \"Bar/1-1\" | {\"id\":1} walrelay.op=\"u\" "
                   "walrelay.moved.from=\"Hall/1-1\"\n");
    expect_records(OP_CREATE, relation, OLD_NONE, NULL, ROW("1", "a", NULL, "{\"n\": 1}"),
                   "refused: route search: public.shows: the document's id ${venue}/${tags.n}-${id}"
                   " is null\n");
    expect_records(OP_CREATE, relation, OLD_NONE, NULL, ROW("1", "a", "b", "{}"),
                   "refused: route search: public.shows: the document's id ${venue}/${tags.n}-${id}"
                   " is null\n");
}

Test(route, search_refuses_an_empty_id)
{
    add_search("id")->document_id = a_template("${title}");
    expect_records(OP_CREATE, full_shows(), OLD_NONE, NULL, ROW("1", "", NULL, NULL),
                   "refused: route search: public.shows: the document's id ${title} is empty\n");
}

Test(route, search_refuses_an_id_that_deletes_do_not_tell)
{
    add_search("id")->document_id = a_template("${venue}");
    cr_expect_eq(try_compile(MAKE_RELATION("public", "shows", 'd', COLUMNS)), WR_FATAL);
    cr_expect_str_eq(err.text,
                     "route search: document.id is made of public.shows.venue, which deletes do "
                     "not tell: ALTER TABLE … REPLICA IDENTITY FULL makes them");
}

Test(route, search_refuses_a_table_without_a_key)
{
    static const struct fixture_column none[] = {{"a", TEXT, false}};

    add_search(NULL);
    catalog_status = WR_REJECT;
    cr_expect_eq(try_compile(MAKE_RELATION("public", "log", 'd', none)), WR_FATAL);
    cr_expect_str_eq(err.text, "route search: public.log has no key that a document's id could be "
                               "made of; set document.id");
}

Test(route, cache_names_the_keys_of_both_rows_once)
{
    add_cache("event:${id},venue:${venue}:events");
    struct relation *relation = full_shows();

    expect_records(OP_CREATE, relation, OLD_NONE, NULL, ROW("1", "a", "Hall", NULL),
                   "shop.cache.shows | \"event:1\" | null walrelay.op=\"c\"\n"
                   "shop.cache.shows | \"venue:Hall:events\" | null walrelay.op=\"c\"\n");
    expect_records(OP_UPDATE, relation, OLD_ROW, ROW("1", "a", "Hall", NULL),
                   ROW("1", "a", "Bar", NULL),
                   "shop.cache.shows | \"event:1\" | null walrelay.op=\"u\"\n"
                   "shop.cache.shows | \"venue:Bar:events\" | null walrelay.op=\"u\"\n"
                   "shop.cache.shows | \"venue:Hall:events\" | null walrelay.op=\"u\"\n");
    expect_records(OP_DELETE, relation, OLD_ROW, ROW("1", "a", NULL, NULL), NULL,
                   "shop.cache.shows | \"event:1\" | null walrelay.op=\"d\"\n");
    EXPECT_NOTICES("");
}

Test(route, cache_knows_the_key_of_a_deleted_row_and_says_what_it_does_not_know)
{
    add_cache("event:${id},venue:${venue}:events");
    struct relation *relation = shows();

    expect_records(OP_DELETE, relation, OLD_KEY, ROW("1", NULL, NULL, NULL), NULL,
                   "shop.cache.shows | \"event:1\" | null walrelay.op=\"d\"\n");
    expect_records(OP_UPDATE, relation, OLD_KEY, ROW("1", NULL, NULL, NULL),
                   ROW("2", "a", "Bar", NULL),
                   "shop.cache.shows | \"event:2\" | null walrelay.op=\"u\"\n"
                   "shop.cache.shows | \"venue:Bar:events\" | null walrelay.op=\"u\"\n"
                   "shop.cache.shows | \"event:1\" | null walrelay.op=\"u\"\n");
    (void)compile(MAKE_RELATION("public", "shows", 'd', COLUMNS));
    EXPECT_NOTICES("route cache: the key venue:${venue}:events of a row as it was before is not "
                   "known, as the old venue of public.shows is not sent, and stays in the cache: "
                   "ALTER TABLE … REPLICA IDENTITY FULL sends it\n");
}

Test(route, cache_refuses_a_key_that_was_not_sent)
{
    add_cache("title:${title}");
    expect_records(OP_UPDATE, shows(), OLD_NONE, NULL, ROW("1", UNCHANGED, NULL, NULL),
                   "refused: route cache: public.shows: the key title:${title} is made of an "
                   "unchanged TOAST value, which was not sent: REPLICA IDENTITY FULL sends it\n");
}

Test(route, cache_names_globs_on_a_truncate)
{
    add_cache("event:${id},\\*[v]:${venue}:?");
    expect_records(OP_TRUNCATE, shows(), OLD_NONE, NULL, NULL,
                   "shop.cache.shows | \"event:*\" | null walrelay.op=\"t\"\n"
                   "shop.cache.shows | \"\\*\\[v\\]:*:\\?\" | null walrelay.op=\"t\"\n");
}

Test(route, cache_puts_the_document_behind_the_new_keys)
{
    add_cache("e:${id},v:${venue}")->cache_value = CACHE_VALUE_DOCUMENT;
    expect_records(OP_UPDATE, full_shows(), OLD_ROW, ROW("1", "a", "x", NULL),
                   ROW("1", "a", "y", NULL),
                   "shop.cache.shows | \"e:1\" | "
                   "{\"id\":1,\"title\":\"a\",\"venue\":\"y\",\"tags\":null} walrelay.op=\"u\"\n"
                   "shop.cache.shows | \"v:y\" | "
                   "{\"id\":1,\"title\":\"a\",\"venue\":\"y\",\"tags\":null} walrelay.op=\"u\"\n"
                   "shop.cache.shows | \"v:x\" | null walrelay.op=\"u\"\n");
}

Test(route, warehouse_says_what_happened_to_a_row)
{
    add_route("dwh", ROUTE_WAREHOUSE);
    struct relation *relation = full_shows();

    expect_records(OP_CREATE, relation, OLD_NONE, NULL, ROW("1", "a", NULL, NULL),
                   "shop.dwh.shows | {\"id\":1} | c - "
                   "{\"id\":1,\"title\":\"a\",\"venue\":null,\"tags\":null} walrelay.op=\"c\"\n");
    expect_records(OP_UPDATE, relation, OLD_ROW, ROW("1", "a", NULL, NULL),
                   ROW("1", "b", NULL, NULL),
                   "shop.dwh.shows | {\"id\":1} | u "
                   "{\"id\":1,\"title\":\"a\",\"venue\":null,\"tags\":null} "
                   "{\"id\":1,\"title\":\"b\",\"venue\":null,\"tags\":null} walrelay.op=\"u\"\n");
    expect_records(OP_DELETE, relation, OLD_ROW, ROW("1", "b", NULL, NULL), NULL,
                   "shop.dwh.shows | {\"id\":1} | d "
                   "{\"id\":1,\"title\":\"b\",\"venue\":null,\"tags\":null} - walrelay.op=\"d\"\n");
    expect_records(OP_TRUNCATE, relation, OLD_NONE, NULL, NULL,
                   "shop.dwh.shows | \"\" | t - - walrelay.op=\"t\"\n");
}

Test(route, warehouse_says_no_more_of_an_old_row_than_was_sent)
{
    add_route("dwh", ROUTE_WAREHOUSE);
    struct relation *relation = shows();

    expect_records(OP_DELETE, relation, OLD_KEY, ROW("1", NULL, NULL, NULL), NULL,
                   "shop.dwh.shows | {\"id\":1} | d {\"id\":1} - walrelay.op=\"d\"\n");
    expect_records(OP_UPDATE, relation, OLD_NONE, NULL, ROW("1", UNCHANGED, NULL, NULL),
                   "shop.dwh.shows | {\"id\":1} | u - {\"id\":1,\"venue\":null,\"tags\":null} "
                   "walrelay.op=\"u\" walrelay.unavailable=\"[\"title\"]\"\n");
    expect_records(OP_UPDATE, relation, OLD_KEY, ROW("1", NULL, NULL, NULL),
                   ROW("2", "b", NULL, NULL),
                   "shop.dwh.shows | {\"id\":1} | d {\"id\":1} - walrelay.op=\"d\"\n"
                   "shop.dwh.shows | {\"id\":2} | c - "
                   "{\"id\":2,\"title\":\"b\",\"venue\":null,\"tags\":null} walrelay.op=\"c\" "
                   "walrelay.moved.from={\"id\":1}\n");
}

Test(route, warehouse_refuses_a_key_that_deletes_do_not_tell)
{
    config.message_key_columns = "public.shows:venue";
    add_route("dwh", ROUTE_WAREHOUSE);
    cr_expect_eq(try_compile(MAKE_RELATION("public", "shows", 'd', COLUMNS)), WR_FATAL);
    cr_expect_str_eq(err.text, "route dwh: the key has public.shows.venue, which deletes do not "
                               "tell: ALTER TABLE … REPLICA IDENTITY FULL makes them");
    expect_records(OP_UPDATE, full_shows(), OLD_ROW, ROW("1", "a", "x", NULL),
                   ROW("2", "a", "x", NULL),
                   "shop.dwh.shows | {\"venue\":\"x\"} | u "
                   "{\"id\":1,\"title\":\"a\",\"venue\":\"x\",\"tags\":null} "
                   "{\"id\":2,\"title\":\"a\",\"venue\":\"x\",\"tags\":null} walrelay.op=\"u\"\n");
}

Test(route, search_takes_any_id_of_a_table_that_has_inserts_only)
{
    static const struct fixture_column none[] = {{"a", TEXT, false}, {"b", TEXT, false}};

    add_search("b")->document_id = a_template("${a}");
    add_route("dwh", ROUTE_WAREHOUSE);
    config.message_key_columns = "public.log:b";
    catalog_status = WR_REJECT;
    struct relation *relation = compile(MAKE_RELATION("public", "log", 'n', none));
    expect_records(OP_CREATE, relation, OLD_NONE, NULL, ROW("x", "y"),
                   "shop.search.log | \"x\" | {\"b\":\"y\"} walrelay.op=\"c\"\n"
                   "shop.dwh.log | {\"b\":\"y\"} | c - {\"a\":\"x\",\"b\":\"y\"} "
                   "walrelay.op=\"c\"\n");
}

Test(route, warehouse_takes_tables_without_a_key)
{
    static const struct fixture_column none[] = {{"a", TEXT, false}};

    add_route("dwh", ROUTE_WAREHOUSE);
    catalog_status = WR_REJECT;
    struct relation *relation = compile(MAKE_RELATION("public", "log", 'n', none));
    expect_records(OP_CREATE, relation, OLD_NONE, NULL, ROW("x"),
                   "shop.dwh.log | null | c - {\"a\":\"x\"} walrelay.op=\"c\"\n");
}

Test(route, where_passes_over_rows_that_do_not_match)
{
    set_where(add_search("id"), "venue = 'Hall'");
    struct relation *relation = full_shows();

    expect_records(OP_CREATE, relation, OLD_NONE, NULL, ROW("1", "a", "Bar", NULL), "");
    expect_records(OP_READ, relation, OLD_NONE, NULL, ROW("1", "a", NULL, NULL), "");
    expect_records(OP_READ, relation, OLD_NONE, NULL, ROW("1", "a", "Hall", NULL),
                   "shop.search.shows | \"1\" | {\"id\":1} walrelay.op=\"r\"\n");
    expect_records(OP_UPDATE, relation, OLD_ROW, ROW("1", "a", "Bar", NULL),
                   ROW("1", "b", "Bar", NULL), "");
    expect_records(OP_UPDATE, relation, OLD_ROW, ROW("1", "a", "Bar", NULL),
                   ROW("1", "a", "Hall", NULL),
                   "shop.search.shows | \"1\" | {\"id\":1} walrelay.op=\"u\"\n");
    expect_records(OP_DELETE, relation, OLD_ROW, ROW("1", "a", "Bar", NULL), NULL, "");
    expect_records(OP_DELETE, relation, OLD_ROW, ROW("1", "a", "Hall", NULL), NULL,
                   "shop.search.shows | \"1\" | null walrelay.op=\"d\"\n");
    expect_records(OP_TRUNCATE, relation, OLD_NONE, NULL, NULL,
                   "shop.search.shows | \"\" | null walrelay.op=\"t\"\n");
}

Test(route, where_deletes_a_row_that_stops_to_match)
{
    set_where(add_search("id"), "venue = 'Hall'");
    set_where(add_cache("e:${id}"), "venue = 'Hall'");
    set_where(add_route("dwh", ROUTE_WAREHOUSE), "venue = 'Hall'");
    expect_records(OP_UPDATE, full_shows(), OLD_ROW, ROW("1", "a", "Hall", NULL),
                   ROW("2", "a", "Bar", NULL),
                   "shop.search.shows | \"1\" | null walrelay.op=\"d\"\n"
                   "shop.cache.shows | \"e:2\" | null walrelay.op=\"d\"\n"
                   "shop.cache.shows | \"e:1\" | null walrelay.op=\"d\"\n"
                   "shop.dwh.shows | {\"id\":1} | d "
                   "{\"id\":1,\"title\":\"a\",\"venue\":\"Hall\",\"tags\":null} - "
                   "walrelay.op=\"d\"\n");
}

Test(route, where_deletes_a_row_that_may_have_matched)
{
    set_where(add_search("id"), "venue = 'Hall'");
    struct relation *relation = shows();

    expect_records(OP_UPDATE, relation, OLD_NONE, NULL, ROW("1", "a", "Bar", NULL),
                   "shop.search.shows | \"1\" | null walrelay.op=\"d\"\n");
    expect_records(OP_DELETE, relation, OLD_KEY, ROW("1", NULL, NULL, NULL), NULL,
                   "shop.search.shows | \"1\" | null walrelay.op=\"d\"\n");
    expect_records(OP_UPDATE, relation, OLD_NONE, NULL, ROW("1", "a", UNCHANGED, NULL),
                   "refused: route search: public.shows: whether the row matches \"where\" hangs "
                   "on an unchanged TOAST value, which was not sent: REPLICA IDENTITY FULL sends "
                   "it\n");
}

Test(route, where_does_not_pass_a_new_row_off_as_the_old_one)
{
    set_where(add_route("dwh", ROUTE_WAREHOUSE), "venue = 'Hall'");
    expect_records(OP_UPDATE, shows(), OLD_NONE, NULL, ROW("1", "new", "Bar", NULL),
                   "shop.dwh.shows | {\"id\":1} | d - - walrelay.op=\"d\"\n");
}

Test(route, updates_without_a_watched_change_are_passed_over)
{
    set_changed(add_search("id"), "venue");
    struct relation *relation = full_shows();

    expect_records(OP_UPDATE, relation, OLD_ROW, ROW("1", "a", "x", NULL), ROW("1", "b", "x", NULL),
                   "");
    expect_records(OP_UPDATE, relation, OLD_ROW, ROW("1", "a", "x", NULL),
                   ROW("1", "b", UNCHANGED, NULL), "");
    expect_records(OP_UPDATE, relation, OLD_ROW, ROW("1", "a", "x", NULL),
                   ROW("1", "a", NULL, NULL),
                   "shop.search.shows | \"1\" | {\"id\":1} walrelay.op=\"u\"\n");
    expect_records(OP_UPDATE, relation, OLD_ROW, ROW("1", "a", "x", NULL), ROW("2", "a", "x", NULL),
                   "shop.search.shows | \"1\" | null walrelay.op=\"d\"\n"
                   "shop.search.shows | \"2\" | {\"id\":2} walrelay.op=\"u\" "
                   "walrelay.moved.from=\"1\"\n");
    EXPECT_NOTICES("");
}

Test(route, a_row_that_begins_to_match_is_no_unwatched_change)
{
    struct route_config *r = add_search("id");

    set_changed(r, "title");
    set_where(r, "venue = 'Hall'");
    struct relation *relation = full_shows();
    expect_records(OP_UPDATE, relation, OLD_ROW, ROW("1", "a", "Bar", NULL),
                   ROW("1", "a", "Hall", NULL),
                   "shop.search.shows | \"1\" | {\"id\":1} walrelay.op=\"u\"\n");
    expect_records(OP_UPDATE, relation, OLD_ROW, ROW("1", "a", "Hall", "[1]"),
                   ROW("1", "a", "Hall", "[2]"), "");
}

Test(route, a_row_that_may_begin_to_match_is_no_unwatched_change)
{
    struct route_config *r = add_search("id");

    set_changed(r, "id");
    set_where(r, "venue = 'Hall'");
    expect_records(OP_UPDATE, shows(), OLD_NONE, NULL, ROW("1", "a", "Hall", NULL),
                   "shop.search.shows | \"1\" | {\"id\":1} walrelay.op=\"u\"\n");
}

Test(route, every_update_counts_where_the_old_row_is_not_known)
{
    set_changed(add_search("id"), "venue");
    expect_records(OP_UPDATE, shows(), OLD_NONE, NULL, ROW("1", "a", "x", NULL),
                   "shop.search.shows | \"1\" | {\"id\":1} walrelay.op=\"u\"\n");
    EXPECT_NOTICES("route search: every update of public.shows counts as a change of venue, as its "
                   "old value is not sent: ALTER TABLE … REPLICA IDENTITY FULL sends it\n");
}

Test(route, change_events_stand_beside_unless_told_otherwise)
{
    add_search("id")->only = false;
    expect_records(OP_CREATE, shows(), OLD_NONE, NULL, ROW("1", "a", NULL, NULL),
                   "shop.public.shows | {id: 1} | c - "
                   "{id: 1, title: 'a', venue: NULL, tags: NULL}\n"
                   "shop.search.shows | \"1\" | {\"id\":1} walrelay.op=\"c\"\n");
}

Test(route, skipped_operations_are_those_of_change_events)
{
    add_search("id")->only = false;
    config.skip_create = config.skip_update = config.skip_delete = config.skip_truncate = true;
    struct relation *relation = shows();

    expect_records(OP_CREATE, relation, OLD_NONE, NULL, ROW("1", "a", NULL, NULL),
                   "shop.search.shows | \"1\" | {\"id\":1} walrelay.op=\"c\"\n");
    expect_records(OP_TRUNCATE, relation, OLD_NONE, NULL, NULL,
                   "shop.search.shows | \"\" | null walrelay.op=\"t\"\n");
}

Test(route, takes_the_tables_of_its_list_only)
{
    add_search("id")->table_include_list = "public\\.(shows|halls)";
    struct relation *other = compile(MAKE_RELATION("public", "orders", 'd', COLUMNS));

    cr_expect_eq(other->plan->route_count, 0);
    expect_records(OP_CREATE, other, OLD_NONE, NULL, ROW("1", "a", NULL, NULL),
                   "shop.public.orders | {id: 1} | c - "
                   "{id: 1, title: 'a', venue: NULL, tags: NULL}\n");
    cr_expect_eq(shows()->plan->route_count, 1);
}

Test(route, says_that_a_table_of_its_list_is_not_captured)
{
    add_search("id")->table_include_list = "public\\.shows";
    config.table_exclude_list = "public\\.shows";
    expect_records(OP_CREATE, shows(), OLD_NONE, NULL, ROW("1", "a", NULL, NULL), "");
    (void)shows();
    EXPECT_NOTICES("route search: table public.shows is not captured: schema and table include and "
                   "exclude lists leave it out\n");
}

Test(route, publishes_to_the_topic_of_its_template)
{
    add_search("id")->topic = a_template("all.${schema}-${table}");
    struct relation *relation = compile(MAKE_RELATION("public", "odd$name", 'd', COLUMNS));

    expect_records(OP_CREATE, relation, OLD_NONE, NULL, ROW("1", "a", NULL, NULL),
                   "all.public-odd_name | \"1\" | {\"id\":1} walrelay.op=\"c\"\n");
    EXPECT_NOTICES("table public.odd$name publishes to the topic shop.public.odd_name: its own "
                   "name is none\n"
                   "route search: table public.odd$name publishes to the topic "
                   "all.public-odd_name: its own name is none\n");
}

Test(route, refuses_columns_that_a_table_does_not_have)
{
    static const struct {
        const char *fields, *id, *keys, *where, *changed;
        const char *problem;
    } cases[] = {
        {.fields = "id,nam", .problem = "route search: public.shows has no column nam"},
        {.fields = "tag.genre:g", .problem = "route search: public.shows has no column tag.genre"},
        {.fields = "title.x:g",
         .problem = "route search: public.shows has no JSON in the column of title.x"},
        {.id = "${idd}", .problem = "route search: public.shows has no column idd"},
        {.keys = "a:${id},b:${x}", .problem = "route cache: public.shows has no column x"},
        {.where = "x is null", .problem = "route search: public.shows has no column x"},
        {.changed = "x", .problem = "route search: public.shows has no column x"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        config.route_count = 0;
        struct route_config *r =
            cases[i].keys != NULL ? add_cache(cases[i].keys) : add_search(cases[i].fields);
        if (cases[i].id != NULL) {
            r->document_id = a_template(cases[i].id);
        }
        if (cases[i].where != NULL) {
            set_where(r, cases[i].where);
        }
        if (cases[i].changed != NULL) {
            set_changed(r, cases[i].changed);
        }
        cr_expect_eq(try_compile(MAKE_RELATION("public", "shows", 'd', COLUMNS)), WR_FATAL);
        cr_expect_str_eq(err.text, cases[i].problem);
        router_free(router);
        router = NULL;
    }
}

static const struct fixture_column WITHOUT_VENUE[] = {
    {"id", INT4, true}, {"title", TEXT, false}, {"tags", JSONB, false}};

Test(route, a_column_that_was_dropped_is_the_rows_affair)
{
    add_search("id,venue");
    add_cache("e:${id}");
    expect_records(OP_CREATE, shows(), OLD_NONE, NULL, ROW("1", "a", "b", NULL),
                   "shop.search.shows | \"1\" | {\"id\":1,\"venue\":\"b\"} walrelay.op=\"c\"\n"
                   "shop.cache.shows | \"e:1\" | null walrelay.op=\"c\"\n");
    catalog_status = WR_REJECT;
    expect_records(OP_CREATE, compile(MAKE_RELATION("public", "shows", 'd', WITHOUT_VENUE)),
                   OLD_NONE, NULL, ROW("2", "a", NULL),
                   "refused: route search: public.shows has no column venue\n"
                   "shop.cache.shows | \"e:2\" | null walrelay.op=\"c\"\n");
    expect_records(OP_CREATE, shows(), OLD_NONE, NULL, ROW("1", "a", "b", NULL),
                   "shop.search.shows | \"1\" | {\"id\":1,\"venue\":\"b\"} walrelay.op=\"c\"\n"
                   "shop.cache.shows | \"e:1\" | null walrelay.op=\"c\"\n");
}

Test(route, a_column_that_was_not_there_yet_is_the_rows_affair)
{
    add_search("id,venue");
    expect_records(OP_CREATE, compile(MAKE_RELATION("public", "shows", 'd', WITHOUT_VENUE)),
                   OLD_NONE, NULL, ROW("2", "a", NULL),
                   "refused: route search: public.shows has no column venue\n");
}

Test(route, columns_that_are_left_out_stay_out)
{
    config.column_exclude_list = "public.shows.venue";
    add_search(NULL);
    expect_records(OP_CREATE, shows(), OLD_NONE, NULL, ROW("1", "a", "b", NULL),
                   "shop.search.shows | \"1\" | {\"id\":1,\"title\":\"a\",\"tags\":null} "
                   "walrelay.op=\"c\"\n");
    config.route_count = 0;
    router_free(router);
    router = NULL;
    add_cache("v:${venue}");
    cr_expect_eq(try_compile(MAKE_RELATION("public", "shows", 'd', COLUMNS)), WR_FATAL);
    cr_expect_str_eq(err.text, "route cache: public.shows does not show, by column.include.list or "
                               "column.exclude.list, its column venue");
}

Test(route, masked_and_cut_columns_stay_so)
{
    struct column_rule rules[] = {
        {.is_mask = true, .size = 4, .columns = "public.shows.venue"},
        {.is_mask = false, .size = 2, .columns = "public.shows.title"},
    };

    config.column_rules = rules;
    config.column_rule_count = COUNT(rules);
    add_search("title,venue");
    add_cache("t:${title},v:${venue}");
    struct relation *relation = shows();
    expect_records(OP_CREATE, relation, OLD_NONE, NULL, ROW("1", "abcd", "Hall", NULL),
                   "shop.search.shows | \"1\" | {\"title\":\"ab\",\"venue\":\"****\"} "
                   "walrelay.op=\"c\"\n"
                   "shop.cache.shows | \"t:ab\" | null walrelay.op=\"c\"\n"
                   "shop.cache.shows | \"v:****\" | null walrelay.op=\"c\"\n");
    expect_records(OP_UPDATE, relation, OLD_NONE, NULL, ROW("1", NULL, UNCHANGED, NULL),
                   "shop.search.shows | \"1\" | {\"title\":null,\"venue\":\"****\"} "
                   "walrelay.op=\"u\"\n"
                   "shop.cache.shows | \"v:****\" | null walrelay.op=\"u\"\n");
}

Test(route, a_value_without_a_right_form_harms_no_other_route)
{
    static const struct fixture_column with_date[] = {
        {"id", INT4, true}, {"day", DATE, false}, {"venue", TEXT, false}};

    add_search("day");
    add_cache("e:${id}");
    catalog_status = WR_REJECT;
    struct relation *relation = compile(MAKE_RELATION("public", "shows", 'd', with_date));
    expect_records(OP_CREATE, relation, OLD_NONE, NULL, ROW("1", "never", NULL),
                   "shop.search.shows | \"1\" | {\"day\":\"\"\n"
                   "refused: route search: public.shows.day: date: no "
                   "right form for the value \"never\"\n"
                   "shop.cache.shows | \"e:1\" | null walrelay.op=\"c\"\n");
}
