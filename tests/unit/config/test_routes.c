#include "config/route_config.h"
#include "load.h"

TestSuite(routes, .fini = forget);

#define SEARCH REQUIRED "routes=s\nroutes.s.type=search\n"
#define CACHE  REQUIRED "routes=c\nroutes.c.type=cache\n"

/* "[a]b[c.d]": columns in brackets. */
static const char *shown(const struct template_config *t)
{
    static char text[256];
    size_t size = 0;

    text[0] = '\0';
    for (size_t i = 0; i < t->piece_count; i++) {
        const struct template_piece *piece = &t->pieces[i];
        size += (size_t)snprintf(text + size, sizeof(text) - size, "%s%.*s%s",
                                 piece->is_column ? "[" : "", (int)piece->text.size,
                                 piece->text.data, piece->is_column ? "]" : "");
    }
    return text;
}

Test(routes, have_defaults)
{
    expect_loads(SEARCH);
    cr_assert_eq(config->route_count, 1);
    const struct route_config *r = &config->routes[0];
    expect_text(r->name, "s");
    cr_expect_eq(r->type, ROUTE_SEARCH);
    expect_text(r->table_include_list, NULL);
    cr_expect_null(r->topic);
    cr_expect_not(r->only);
    cr_expect_eq(r->where.term_count, 0);
    cr_expect_eq(r->only_when_changed.count, 0);
    cr_expect_null(r->document_id);
    cr_expect_eq(r->document_field_count, 0);
}

Test(routes, are_none_where_none_are_named)
{
    expect_loads(REQUIRED);
    cr_expect_eq(config->route_count, 0);
}

Test(routes, have_the_options_of_their_type)
{
    expect_loads(REQUIRED "routes=search,cache,dwh\n"
                          "routes.search.type=search\n"
                          "routes.search.table.include.list=public\\\\.(events|shows)\n"
                          "routes.search.topic=catalog.${schema}.${table}\n"
                          "routes.search.only=true\n"
                          "routes.search.document.id=${shop}-${number}\n"
                          "routes.search.document.fields=id, starts_at:startsAt ,tags.genre:genre\n"
                          "routes.search.only.when.changed=title, price\n"
                          "routes.cache.type=cache\n"
                          "routes.cache.keys=event:${id}, venue:${venue}:events ,${id}${x}\n"
                          "routes.cache.value=document\n"
                          "routes.dwh.type=warehouse\n"
                          "routes.dwh.value.format=json\n");
    const struct route_config *search = &config->routes[0];
    cr_expect_str_eq(shown(search->topic), "catalog.[schema].[table]");
    cr_expect(search->only);
    cr_expect_str_eq(shown(search->document_id), "[shop]-[number]");
    cr_assert_eq(search->document_field_count, 3);
    cr_expect(wr_slice_is(search->document_fields[0].name, "id"));
    cr_expect(wr_slice_is(search->document_fields[0].source, "id"));
    cr_expect(wr_slice_is(search->document_fields[1].source, "starts_at"));
    cr_expect(wr_slice_is(search->document_fields[1].name, "startsAt"));
    cr_expect(wr_slice_is(search->document_fields[2].source, "tags.genre"));
    cr_expect_eq(search->only_when_changed.count, 2);
    const struct route_config *cache = &config->routes[1];
    cr_assert_eq(cache->key_count, 3);
    cr_expect_str_eq(shown(&cache->keys[0]), "event:[id]");
    cr_expect_str_eq(shown(&cache->keys[1]), "venue:[venue]:events");
    expect_text(cache->keys[1].text, "venue:${venue}:events ");
    cr_expect_str_eq(shown(&cache->keys[2]), "[id][x]");
    cr_expect_eq(cache->cache_value, CACHE_VALUE_DOCUMENT);
    cr_expect_eq(config->routes[2].format, ROUTE_FORMAT_JSON);
}

Test(routes, may_pass_over_updates_that_changed_nothing_that_counts)
{
    expect_loads(SEARCH "routes.s.where=a = 1\n");
    cr_expect(config_publishes_all_updates(config));
    expect_loads(SEARCH "routes.s.only.when.changed=a\n");
    cr_expect_not(config_publishes_all_updates(config));
    expect_loads(REQUIRED "skip.messages.without.change=true\n");
    cr_expect_not(config_publishes_all_updates(config));
    expect_loads(REQUIRED "skipped.operations=u\n");
    cr_expect_not(config_publishes_all_updates(config));
}

Test(routes, take_any_character_behind_a_backslash)
{
    expect_loads(CACHE "routes.c.keys=a\\\\,b\\\\${x\\\\\\\\${o\\\\}dd} y\n");
    cr_assert_eq(config->routes[0].key_count, 1);
    cr_expect_str_eq(shown(&config->routes[0].keys[0]), "a,b${x\\[o}dd] y");
}

Test(routes, say_what_is_wrong_with_a_template)
{
    expect_refused(CACHE "routes.c.keys=a${b\n",
                   "5: routes.c.keys=a${b: a ${ has no } behind it (at character 5)");
    expect_refused(CACHE "routes.c.keys=a${}\n",
                   "5: routes.c.keys=a${}: ${} names no column (at character 4)");
    expect_refused(CACHE "routes.c.keys=${a},,${b}\n",
                   "5: routes.c.keys=${a},,${b}: there is nothing in it (at character 6)");
    expect_refused(CACHE "routes.c.keys=${a},all\n",
                   "5: routes.c.keys=${a},all: the key all names no column, as ${id} does");
    expect_refused(SEARCH "routes.s.topic=x.${id}\n",
                   "5: routes.s.topic=x.${id}: may name ${schema} and ${table} only");
    expect_refused(SEARCH "routes.s.document.fields=a:b:c\n",
                   "5: routes.s.document.fields=a:b:c: a field is column or column:name (at "
                   "character 4)");
    expect_refused(SEARCH "routes.s.document.fields=a,:b\n",
                   "5: routes.s.document.fields=a,:b: a field has no name (at character 5)");
    expect_refused(SEARCH "routes.s.document.fields=a,b:a\n",
                   "5: routes.s.document.fields=a,b:a: two fields have the same name (at "
                   "character 6)");
}

Test(routes, say_what_is_wrong_with_an_option)
{
    expect_refused(REQUIRED "routes=s\n",
                   "routes.s.type: is required: what the route makes of a row: a document by its "
                   "id, the keys that are no longer right, or the typed row itself");
    expect_refused(REQUIRED "routes=s\nroutes.s.type=index\n",
                   "4: routes.s.type=index: must be search, cache or warehouse");
    expect_refused(CACHE, "routes.c.keys: is required: the keys that a change makes wrong, a list "
                          "as event:${id},venue:${venue}:events; of the old row and the new one, "
                          "each once");
    expect_refused(SEARCH "routes.s.documnt.id=${id}\n",
                   "5: routes.s.documnt.id: is not a property; did you mean "
                   "routes.s.document.id?");
    expect_refused(SEARCH "routes.s.wher=a=1\n",
                   "5: routes.s.wher: is not a property; did you mean routes.s.where?");
    expect_refused(SEARCH "routes.t.type=cache\n",
                   "5: routes.t.type: belongs to no route that \"routes\" names");
    expect_refused(SEARCH "routes.s.keys=${id}\n",
                   "5: routes.s.keys: is not a property; `walrelay config` lists them all");
    expect_refused(CACHE "routes.c.keys=${id}\nroutes.c.document.fields=id\n",
                   "6: routes.c.document.fields=id: goes with c.value=document only");
}

Test(routes, say_where_their_records_are_delivered)
{
    expect_loads(CACHE "routes.c.keys=${id}\nroutes.c.sink.url=redis://h/1\n"
                       "routes.c.sink.password=p \nroutes.c.sink.key.prefix=app:\n"
                       "routes.c.sink.batch.records=7\nroutes.c.sink.tls.verify=false\n");
    const struct sink_config *sink = &config->routes[0].sink;
    expect_text(sink->url, "redis://h/1");
    expect_text(sink->password, "p ");
    expect_text(sink->key_prefix, "app:");
    cr_expect_null(sink->group);
    cr_expect_eq(sink->batch_count, 7);
    cr_expect_eq(sink->batch_bytes, -1);
    cr_expect_eq(sink->wait_ms, -1);
    cr_expect_eq(sink->timeout_ms, 30000);
    cr_expect_not(sink->tls_verify);
    expect_refused(SEARCH "routes.s.sink.key.prefix=x\n",
                   "5: routes.s.sink.key.prefix: is not a property; `walrelay config` lists them "
                   "all");
    expect_refused(CACHE "routes.c.keys=${id}\nroutes.c.sink.timeout.ms=0\n",
                   "6: routes.c.sink.timeout.ms=0: must be a whole number from 1 to 2147483647");
}

/* "a EQUAL 'x'; …", with literals in their kind. */
static const char *condition(const char *text)
{
    static const char *const ops[] = {"=",  "<>", "<",      "<=",   ">",
                                      ">=", "in", "not in", "null", "not null"};
    static const char kinds[] = "'#?";
    static char out[512];
    char lines[512];
    size_t size = 0;

    snprintf(lines, sizeof(lines), SEARCH "routes.s.where=%s\n", text);
    if (!load(lines)) {
        const char *reason = strrchr(problem(), ':');
        snprintf(out, sizeof(out), "%s", reason == NULL ? "" : reason + 2);
        return out;
    }
    out[0] = '\0';
    for (size_t i = 0; i < config->routes[0].where.term_count; i++) {
        const struct condition_term *term = &config->routes[0].where.terms[i];
        size += (size_t)snprintf(out + size, sizeof(out) - size, "%s%.*s %s", i == 0 ? "" : "; ",
                                 (int)term->column.size, term->column.data, ops[term->op]);
        for (size_t j = 0; j < term->literal_count; j++) {
            size += (size_t)snprintf(out + size, sizeof(out) - size, " %c%.*s",
                                     kinds[term->literals[j].kind],
                                     (int)term->literals[j].text.size, term->literals[j].text.data);
        }
    }
    return out;
}

#define expect_condition(text, expected) cr_expect_str_eq(condition(text), (expected))

Test(routes, read_conditions)
{
    expect_condition("a = 1", "a = #1");
    expect_condition("Status='on sale'AND price>=-12.50", "status = 'on sale; price >= #-12.50");
    expect_condition("\"Odd \"\"name\"\"\" <> 'it''s'", "Odd \"name\" <> 'it's");
    expect_condition("a!=1 and b<2 and c<=3 and d>4", "a <> #1; b < #2; c <= #3; d > #4");
    expect_condition("a in (1, 2,3) and b NOT IN ('x')", "a in #1 #2 #3; b not in 'x");
    expect_condition("deleted_at is null and x IS NOT NULL", "deleted_at null; x not null");
    expect_condition("sold = true and held = FALSE", "sold = ?t; held = ?f");
    expect_condition("größe = ''", "größe = '");
    expect_condition("android = 1 and android = 2", "android = #1; android = #2");
}

Test(routes, say_what_is_wrong_with_a_condition)
{
    static const char no_operator[] =
        "one of = <> < <= > >= IN, NOT IN, IS NULL, IS NOT NULL should be here";

    expect_condition("a", "one of = <> < <= > >= IN, NOT IN, IS NULL, IS NOT NULL should be here "
                          "(at character 2)");
    cr_expect_not_null(strstr(condition("a like 'x'"), no_operator));
    expect_condition("1 = 1", "the name of a column should be here (at character 1)");
    expect_condition("a = 1 or b = 2", "only AND may join conditions (at character 7)");
    expect_condition("a = 1 and", "the name of a column should be here (at character 10)");
    expect_condition("a = b", "a 'text', a number, true or false should be here (at character 5)");
    expect_condition("a = 'x", "a quote is not closed (at character 7)");
    expect_condition("\"a = 1", "a quote is not closed (at character 7)");
    expect_condition("\"\" = 1", "a column has no name (at character 3)");
    expect_condition("a = null",
                     "nothing equals NULL; write IS NULL or IS NOT NULL (at character 9)");
    expect_condition("a in 1", "IN has a list in brackets behind it (at character 6)");
    expect_condition("a in ()",
                     "a 'text', a number, true or false should be here (at character 7)");
    expect_condition("a in (1 2)", "a comma or a bracket should be here (at character 9)");
    expect_condition("a in (1", "a comma or a bracket should be here (at character 8)");
    expect_condition("a is 1", "IS has NULL or NOT NULL behind it (at character 6)");
    expect_condition("a not like 'x'", "NOT has IN behind it (at character 7)");
    expect_condition("a = 1e5",
                     "a number is digits, with a point between them or none (at character 6)");
    expect_condition("a = -",
                     "a number is digits, with a point between them or none (at character 6)");
    expect_condition("(a = 1)", "the name of a column should be here (at character 1)");
}
