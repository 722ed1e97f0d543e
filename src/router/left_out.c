#include "router/left_out.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decoder/relation.h"
#include "router/filter.h"
#include "router/plan.h"
#include "router/router.h"

enum { COLUMN_COUNT_MAX = 1000 }; /* then the log has heard enough of it */

struct left_out {
    char *columns[COLUMN_COUNT_MAX]; /* "schema.table.column" */
    size_t count;
};

struct left_out *left_out_new(void)
{
    struct left_out *left_out = calloc(1, sizeof(*left_out));

    if (left_out == NULL) {
        abort();
    }
    return left_out;
}

void left_out_free(struct left_out *left_out)
{
    if (left_out == NULL) {
        return;
    }
    for (size_t i = 0; i < left_out->count; i++) {
        free(left_out->columns[i]);
    }
    free(left_out);
}

/* True when it was not known yet: relations come again, and so do their columns. */
static bool add(struct left_out *left_out, const char *column)
{
    for (size_t i = 0; i < left_out->count; i++) {
        if (strcmp(left_out->columns[i], column) == 0) {
            return false;
        }
    }
    if (left_out->count == COLUMN_COUNT_MAX) {
        return false;
    }
    char *copy = strdup(column);
    if (copy == NULL) {
        abort();
    }
    left_out->columns[left_out->count++] = copy;
    return true;
}

void left_out_notice(struct left_out *left_out, const struct filter *filter,
                     const struct relation *relation, const struct router_sink *sink)
{
    char name[512];
    char text[1024];

    for (uint16_t i = 0; i < relation->column_count; i++) {
        const struct column_plan *column = &relation->plan->columns[i];
        if (column->type.parse != NULL ||
            !filter_has_column(filter, relation->schema, relation->table, column->name)) {
            continue;
        }
        (void)snprintf(name, sizeof(name), "%s.%s.%s", relation->schema, relation->table,
                       column->name);
        if (add(left_out, name)) {
            (void)snprintf(text, sizeof(text),
                           "column %s is left out: its type (%s, oid %u) is published only with "
                           "include.unknown.datatypes=true",
                           name, column->type.name, column->type.oid);
            sink->notice(sink->context, text);
        }
    }
}
