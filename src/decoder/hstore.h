/* decoder/hstore.h - hstore as JSON text, or as a map. */
#ifndef WR_DECODER_HSTORE_H
#define WR_DECODER_HSTORE_H

#include "decoder/types.h"

/* Chooses the parse function and the schema after hstore.handling.mode. */
WR_MUST_USE bool hstore_settle(struct column_type *type, struct wr_arena *arena);

/*
 * hstore.handling.mode=json: `"a"=>"1", "b"=>NULL` becomes the string {"a":"1","b":null}, in
 * PostgreSQL's order of keys. Escaped as Jackson does inside a string: characters beyond U+FFFF
 * stay as they are here, since the string is escaped once more when the record is written.
 */
WR_MUST_USE enum wr_status hstore_parse_json(const struct column_type *type, struct wr_slice text,
                                             struct wr_arena *arena, struct datum *out,
                                             struct wr_error *err);

/* hstore.handling.mode=map: a struct whose fields are the keys, in PostgreSQL's order. */
WR_MUST_USE enum wr_status hstore_parse_map(const struct column_type *type, struct wr_slice text,
                                            struct wr_arena *arena, struct datum *out,
                                            struct wr_error *err);

#endif /* WR_DECODER_HSTORE_H */
