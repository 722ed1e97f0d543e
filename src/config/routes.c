#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/json_scan.h"
#include "config/loader.h"
#include "config/plugin.h"
#include "config/property.h"
#include "config/route_config.h"
#include "config/route_text.h"
#include "config/table_rows.h"

/* "routes=a,b" and all that stands behind "routes.a." and "routes.b.". */

static void report(struct loader *l, const struct entry *e, const struct route_text_error *error)
{
    loader_problem(l, e, "%s (at character %zu)", error->reason, error->place + 1);
}

static const struct template_config *read_template(struct loader *l, const struct entry *e)
{
    struct template_config *t = loader_alloc(l, 1, sizeof(*t));
    struct route_text_error error;

    if (!template_read(wr_slice_str(e->value), l->arena, t, &error)) {
        report(l, e, &error);
        return NULL;
    }
    return t;
}

/* A name made of the table's: NULL when it is none, which is a problem by then. */
static const struct template_config *read_name(struct loader *l, const struct entry *e)
{
    const struct template_config *name = read_template(l, e);

    for (size_t i = 0; name != NULL && i < name->piece_count; i++) {
        const struct template_piece *piece = &name->pieces[i];
        if (piece->is_column && !wr_slice_is(piece->text, "schema") &&
            !wr_slice_is(piece->text, "table")) {
            loader_problem(l, e, "may name ${schema} and ${table} only");
            return NULL;
        }
    }
    return name;
}

void set_route_topic(struct loader *l, const struct property_match *match, const struct entry *e,
                     void *base)
{
    struct route_config *route = base;

    (void)match;
    route->topic = read_name(l, e);
}

void set_sink_index(struct loader *l, const struct property_match *match, const struct entry *e,
                    void *base)
{
    struct route_config *route = base;

    (void)match;
    route->sink.index = read_name(l, e);
}

void set_sink_mapping(struct loader *l, const struct property_match *match, const struct entry *e,
                      void *base)
{
    struct route_config *route = base;
    struct wr_buffer text;
    struct wr_error err;

    (void)match;
    if (e->value[0] == '\0') {
        return;
    }
    wr_buffer_init(&text, CONFIG_TEXT_SIZE_MAX);
    if (loader_read_file(e->value, &text, &err) != WR_OK) {
        loader_problem(l, e, "%s", err.text);
    } else if (!wr_json_is_valid(wr_buffer_slice(&text))) {
        loader_problem(l, e, "the file holds no JSON");
    } else {
        route->sink.mapping = loader_copy(l, wr_buffer_slice(&text));
    }
    wr_buffer_done(&text);
}

void set_route_document_id(struct loader *l, const struct property_match *match,
                           const struct entry *e, void *base)
{
    struct route_config *route = base;

    (void)match;
    route->document_id = read_template(l, e);
}

void set_route_document_fields(struct loader *l, const struct property_match *match,
                               const struct entry *e, void *base)
{
    struct route_config *route = base;
    struct route_text_error error;

    (void)match;
    if (!document_fields_read(wr_slice_str(e->value), l->arena, &route->document_fields,
                              &route->document_field_count, &error)) {
        report(l, e, &error);
    }
}

static bool has_column(const struct template_config *t)
{
    for (size_t i = 0; i < t->piece_count; i++) {
        if (t->pieces[i].is_column) {
            return true;
        }
    }
    return false;
}

void set_route_keys(struct loader *l, const struct property_match *match, const struct entry *e,
                    void *base)
{
    struct route_config *route = base;
    struct route_text_error error;

    (void)match;
    if (!template_list_read(wr_slice_str(e->value), l->arena, &route->keys, &route->key_count,
                            &error)) {
        report(l, e, &error);
        return;
    }
    for (size_t i = 0; i < route->key_count; i++) {
        if (!has_column(&route->keys[i])) {
            loader_problem(l, e, "the key %s names no column, as ${id} does", route->keys[i].text);
        }
    }
}

void set_route_where(struct loader *l, const struct property_match *match, const struct entry *e,
                     void *base)
{
    struct route_config *route = base;
    struct route_text_error error;

    (void)match;
    if (!condition_read(wr_slice_str(e->value), l->arena, &route->where, &error)) {
        report(l, e, &error);
    }
}

static struct plugin route_plugin(struct route_config *route)
{
    static const enum property_scope own[] = {
        [ROUTE_SEARCH] = SCOPE_ROUTE_SEARCH,
        [ROUTE_CACHE] = SCOPE_ROUTE_CACHE,
        [ROUTE_WAREHOUSE] = SCOPE_ROUTE_WAREHOUSE,
    };

    return (struct plugin){"routes.", route->name, SCOPE_ROUTE, route, own[route->type], route};
}

/* A document that the cache does not get has no fields. */
static void check_cache(struct loader *l, const struct route_config *route,
                        const struct plugin *plugin)
{
    const struct entry *e = plugin_option(l, plugin, "document.fields");

    if (e != NULL && route->type == ROUTE_CACHE && route->document_field_count > 0 &&
        route->cache_value == CACHE_VALUE_NONE) {
        loader_problem(l, e, "goes with %s.value=document only", route->name);
    }
}

void routes_apply(struct loader *l)
{
    struct config *config = l->config;
    const char **names = plugin_names(l, "routes", &config->route_count);

    config->routes = loader_alloc(l, config->route_count + 1, sizeof(*config->routes));
    for (size_t i = 0; i < config->route_count; i++) {
        struct route_config *route = &config->routes[i];
        route->name = names[i];
        struct plugin plugin = route_plugin(route);
        property_apply_defaults(l, SCOPE_ROUTE, route);
        if (plugin_read_kind(l, &plugin)) {
            plugin = route_plugin(route);
            plugin_apply_options(l, &plugin);
            check_cache(l, route, &plugin);
        }
    }
}
