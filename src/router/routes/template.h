/* router/routes/template.h - "event:${id}" of one table, and what it is for a row. */
#ifndef WR_ROUTER_ROUTES_TEMPLATE_H
#define WR_ROUTER_ROUTES_TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "base/status.h"
#include "router/routes/value.h"

struct template_config;

struct template_part {
    struct wr_slice literal;
    struct route_value value; /* column NULL: the literal */
};

struct template
{
    const char *text; /* as written */
    const struct template_part *parts;
    size_t part_count;
    bool is_escaped; /* % and _ in values become %25 and %5F, so that _ only joins them */
};

/* Statuses as route_value_find(). */
WR_MUST_USE enum wr_status template_compile(const struct template_config *config,
                                            const struct route_source *source, struct template *out,
                                            struct wr_error *err);
/* The key's columns, joined by _. WR_FATAL: no room. */
WR_MUST_USE enum wr_status template_of_key(struct relation *relation, struct template *out,
                                           struct wr_error *err);

/* The first value of it that is outside the replica identity; NULL: none is. */
const struct route_value *template_outside_identity(const struct template *t);

/*
 * Appends it as the row has it. A value that is null or unknown ends it: nothing is appended then,
 * and `state` says so. Statuses as route_value_text().
 */
WR_MUST_USE enum wr_status template_render(const struct template *t, const struct row_view *row,
                                           struct wr_arena *scratch, struct wr_buffer *out,
                                           enum value_state *state, struct wr_error *err);
/* As a glob of Redis that matches it for any row. */
void template_glob(const struct template *t, struct wr_buffer *out);

#endif /* WR_ROUTER_ROUTES_TEMPLATE_H */
