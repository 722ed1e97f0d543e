/* router/transforms/smt.h - what Kafka's own transforms share: the key or value they work on, and
 * what is made once for each schema of it. */
#ifndef WR_ROUTER_TRANSFORMS_SMT_H
#define WR_ROUTER_TRANSFORMS_SMT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/slice.h"
#include "base/status.h"
#include "router/record.h"

struct config_names;
struct relation;
struct reshape;
struct schema;
struct transform;
struct transform_config;
struct wr_arena;

/* One record under one transform. */
struct smt_call {
    const struct transform *transform;
    struct record *record;
    struct record_part *part;    /* the key or the value: a PART_NULL or a PART_DATUM */
    const struct schema *schema; /* its schema; where it has none, one made up after it */
    bool has_schema;             /* false: `schema` is made up, and is NULL for a null */
    bool is_null;
    struct smt_memo *memo; /* NULL: a record without a table */
    struct wr_arena *scratch;
};

/* What a transform settles for one schema, call->schema. All of it is to live in `arena`. */
typedef enum wr_status (*smt_plan_make)(const struct smt_call *call, struct wr_arena *arena,
                                        void **plan, struct wr_error *err);

/* For transform_ops: what most of them do at these points. */
WR_MUST_USE enum wr_status smt_make(const struct transform_config *config,
                                    struct transform *transform, struct wr_error *err);
WR_MUST_USE enum wr_status smt_compile(const struct transform *transform,
                                       const struct relation *relation, void **compiled,
                                       struct wr_error *err);

/* Expands the key (`is_key`) or value into a tree. Statuses as part_expand(). */
WR_MUST_USE enum wr_status smt_open(struct smt_call *call, const struct transform *transform,
                                    const void *compiled, struct record *record, bool is_key,
                                    struct wr_arena *scratch, struct wr_error *err);

/* WR_REJECT unless the part is a structure, which the transform needs. */
WR_MUST_USE enum wr_status smt_need_structure(const struct smt_call *call, struct wr_error *err);

/* The plan for call->schema: made by `make` when this schema comes for the first time. */
WR_MUST_USE enum wr_status smt_plan(const struct smt_call *call, smt_plan_make make,
                                    const void **plan, struct wr_error *err);

/*
 * Puts another structure in the place of an open part: the one that `make`, whose plan begins with
 * a struct reshape, settles. Gives that plan, and the new fields to be filled. A null stays, and so
 * does what is there when `make` fails: `fields` is NULL then. WR_REJECT: there is no structure.
 */
WR_MUST_USE enum wr_status smt_reshape(struct smt_call *call, smt_plan_make make, const void **plan,
                                       struct datum_field **fields, struct wr_error *err);

/* A part of this value; one without a schema where the call's has none. */
struct record_part smt_part(const struct smt_call *call, const struct schema *schema,
                            struct datum datum);

/* WR_REJECT: "table, transforms.name (type): " and then what is wrong. */
enum wr_status smt_reject(const struct smt_call *call, struct wr_error *err, const char *format,
                          ...) WR_PRINTF(3, 4);
/* The same of a field and its value, which is shown up to a bound. */
enum wr_status smt_reject_value(const struct smt_call *call, struct wr_slice field,
                                const struct datum *value, const char *problem,
                                struct wr_error *err);
/* The arena of a plan, or the record's, is full. */
enum wr_status smt_no_room(const struct smt_call *call, struct wr_error *err);

enum { SMT_NO_FIELD = -1 };

/* The place of a field of a STRUCT; SMT_NO_FIELD: it has none of that name. */
ptrdiff_t smt_field_index(const struct schema *schema, struct wr_slice name);

/* The value of the field at `index` of `schema` in a structure of that schema. */
const struct datum *smt_field_value(const struct schema *schema, const struct datum *structure,
                                    size_t index);

bool smt_has_name(const struct config_names *names, struct wr_slice name);

/* The default that stands for a null of this schema where nulls are replaced; NULL: none does. */
const struct datum *smt_default(const struct schema *schema, bool replace_null_with_default);

#endif /* WR_ROUTER_TRANSFORMS_SMT_H */
