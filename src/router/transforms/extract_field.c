/* org.apache.kafka.connect.transforms.ExtractField: one field becomes the whole key or value. */
#include <string.h>

#include "base/arena.h"
#include "config/transform_config.h"
#include "decoder/schema.h"
#include "router/transform.h"
#include "router/transforms/smt.h"

/* The field's place, a step for each structure on the way to it. */
struct extraction {
    const struct schema *schema; /* of the field */
    size_t step_count;
    struct {
        const struct schema *schema; /* of the structure */
        size_t index;
        const struct datum *instead; /* of a null */
    } steps[];
};

/*
 * Takes the next name off a path of syntax V2: names with dots between them, where one that has
 * dots stands in backticks, and a backtick before a dot in it behind a backslash. The name goes to
 * `out`, which has room for the whole path. False: a backtick is not closed.
 */
static bool take_quoted(const char **path, char *out, size_t *size)
{
    const char *next = *path + 1;

    for (; *next != '\0'; next++) {
        bool ends = *next == '`' && (next[1] == '.' || next[1] == '\0');
        bool is_escaped = ends && next > *path + 1 && next[-1] == '\\';
        if (ends && !is_escaped) {
            *path = next + 1;
            return true;
        }
        *size -= is_escaped ? 1 : 0; /* the backslash, which is there already */
        out[(*size)++] = *next;
    }
    return false;
}

static bool take_step(const char **path, enum field_syntax syntax, char *out, size_t *size)
{
    *size = 0;
    if (syntax == FIELD_SYNTAX_V2 && **path == '`') {
        if (!take_quoted(path, out, size)) {
            return false;
        }
    } else {
        *size = syntax == FIELD_SYNTAX_V2 ? strcspn(*path, ".") : strlen(*path);
        memcpy(out, *path, *size);
        *path += *size;
    }
    return true;
}

static enum wr_status extraction_plan(const struct smt_call *call, struct wr_arena *arena,
                                      void **plan, struct wr_error *err)
{
    const struct extract_field_config *c = &call->transform->config->as.extract_field;
    size_t path_size = strlen(c->field);
    const char *path = c->field;
    struct extraction *extraction = wr_arena_alloc(
        arena, 1, sizeof(*extraction) + (path_size + 1) * sizeof(extraction->steps[0]));
    char *name = wr_arena_alloc(arena, path_size + 1, 1);
    size_t size = 0;

    if (extraction == NULL || name == NULL) {
        return smt_no_room(call, err);
    }
    extraction->schema = call->schema;
    for (bool more = true; more; path += more ? 1 : 0) {
        const struct schema *schema = extraction->schema;
        if (!take_step(&path, c->syntax, name, &size)) {
            return smt_reject(call, err, "field %s has a backtick that is not closed", c->field);
        }
        ptrdiff_t index = schema->type == SCHEMA_STRUCT
                              ? smt_field_index(schema, (struct wr_slice){name, size})
                              : SMT_NO_FIELD;
        if (index == SMT_NO_FIELD) {
            return smt_reject(call, err, "there is no field %s", c->field);
        }
        const struct schema *found = schema->fields[index].schema;
        more = *path == '.';
        extraction->steps[extraction->step_count].schema = schema;
        extraction->steps[extraction->step_count].index = (size_t)index;
        /* On the way to the field, defaults always stand for nulls. */
        extraction->steps[extraction->step_count++].instead =
            smt_default(found, more || c->replace_null_with_default);
        extraction->schema = found;
    }
    *plan = extraction;
    return WR_OK;
}

static struct datum extract(const struct extraction *extraction, struct datum value)
{
    for (size_t i = 0; i < extraction->step_count && value.kind == DATUM_STRUCT; i++) {
        const struct datum *found =
            smt_field_value(extraction->steps[i].schema, &value, extraction->steps[i].index);
        const struct datum *instead = extraction->steps[i].instead;
        value = found->kind == DATUM_NULL && instead != NULL ? *instead : *found;
    }
    return value;
}

static enum wr_status extract_field_apply(const struct transform *t, const void *compiled,
                                          struct record *record, struct wr_arena *scratch,
                                          bool *keep, struct wr_error *err)
{
    struct smt_call call;
    const void *plan = NULL;
    enum wr_status status = smt_open(&call, t, compiled, record, t->config->is_key, scratch, err);

    *keep = true;
    if (status != WR_OK || call.schema == NULL) {
        return status;
    }
    if (!call.is_null) {
        status = smt_need_structure(&call, err);
    }
    if (status == WR_OK) {
        status = smt_plan(&call, extraction_plan, &plan, err);
    }
    if (status == WR_OK) {
        const struct extraction *extraction = plan;
        *call.part = smt_part(&call, extraction->schema, extract(extraction, call.part->as.datum));
    }
    return status;
}

const struct transform_ops extract_field_ops = {
    .make = smt_make,
    .compile = smt_compile,
    .apply = extract_field_apply,
};
