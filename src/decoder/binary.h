/* decoder/binary.h - bytea, bit strings, and types that are published as the bytes of their text.
 */
#ifndef WR_DECODER_BINARY_H
#define WR_DECODER_BINARY_H

#include "decoder/types.h"

/*
 * Choose the parse function and the schema: bit strings after the declared length, the others after
 * binary.handling.mode. False: the arena is full.
 */
WR_MUST_USE bool bits_settle(struct column_type *type, struct wr_arena *arena);
WR_MUST_USE bool bytea_settle(struct column_type *type, struct wr_arena *arena);
WR_MUST_USE bool opaque_settle(struct column_type *type, struct wr_arena *arena);

/* The bytes of hexadecimal text in capital letters, as PostGIS prints it; WR_REJECT for others. */
WR_MUST_USE enum wr_status binary_decode_hex(const struct column_type *type, struct wr_slice text,
                                             struct wr_arena *arena, struct wr_slice *out,
                                             struct wr_error *err);

/* bytea_output hex: "\xdeadbeef". DATUM_BYTES, or DATUM_STRING in base64 or hex. */
WR_MUST_USE enum wr_status bytea_parse(const struct column_type *type, struct wr_slice text,
                                       struct wr_arena *arena, struct datum *out,
                                       struct wr_error *err);

/* An unknown type under include.unknown.datatypes: the text itself is the bytes. */
WR_MUST_USE enum wr_status opaque_parse(const struct column_type *type, struct wr_slice text,
                                        struct wr_arena *arena, struct datum *out,
                                        struct wr_error *err);

/*
 * io.debezium.data.Bits: the bit string read as a number, little-endian, without zero bytes at the
 * end. One bit is a DATUM_BOOL; an empty varbit(1) has no bit set, so it is false.
 */
WR_MUST_USE enum wr_status bits_parse_bytes(const struct column_type *type, struct wr_slice text,
                                            struct wr_arena *arena, struct datum *out,
                                            struct wr_error *err);
WR_MUST_USE enum wr_status bits_parse_bool(const struct column_type *type, struct wr_slice text,
                                           struct wr_arena *arena, struct datum *out,
                                           struct wr_error *err);

#endif /* WR_DECODER_BINARY_H */
