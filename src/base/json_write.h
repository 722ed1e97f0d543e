/* base/json_write.h - JSON text, spelled as Kafka Connect's JsonConverter spells it. */
#ifndef WR_BASE_JSON_WRITE_H
#define WR_BASE_JSON_WRITE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/slice.h"

/*
 * A quoted string. Escapes what Jackson does: quote, backslash, control characters (short forms
 * where there are some), and characters beyond U+FFFF as \uD83D\uDE00. Malformed UTF-8 becomes
 * U+FFFD, so that the output is always valid JSON.
 */
void wr_json_string(struct wr_buffer *out, struct wr_slice text);
/* The same without the quotes. */
void wr_json_escaped(struct wr_buffer *out, struct wr_slice text);

void wr_json_int(struct wr_buffer *out, int64_t value);
void wr_json_bool(struct wr_buffer *out, bool value);
/* A quoted base64 string with padding. */
void wr_json_base64(struct wr_buffer *out, struct wr_slice bytes);

/*
 * A float or double from PostgreSQL's shortest text ("0.1", "1e-45", "1e+30", "NaN", "Infinity"),
 * spelled as Java's Double.toString: 0.1, 1.4E-45, 1.0E30. What is not a number, as "NaN" and
 * "-Infinity", is quoted.
 */
void wr_json_float(struct wr_buffer *out, struct wr_slice text, bool is_float32);

#endif /* WR_BASE_JSON_WRITE_H */
