/* codec/json_schema.h - Connect schemas as JsonConverter writes them, each made once. */
#ifndef WR_CODEC_JSON_SCHEMA_H
#define WR_CODEC_JSON_SCHEMA_H

#include "base/buffer.h"
#include "base/slice.h"

struct json_schemas;
struct schema;

/* Appends `schema` as JSON; NULL is null. */
void json_schema_write(struct wr_buffer *out, const struct schema *schema);

/* Schemas that were written, by their id. Holds no more bytes than a bound, whatever comes. */
struct json_schemas *json_schemas_new(void);
void json_schemas_free(struct json_schemas *schemas); /* NULL is allowed */

/* Appends what json_schema_write() would. */
void json_schemas_add(struct json_schemas *schemas, struct wr_buffer *out,
                      const struct schema *schema);

#endif /* WR_CODEC_JSON_SCHEMA_H */
