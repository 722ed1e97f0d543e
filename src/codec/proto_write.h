/* codec/proto_write.h - protobuf's wire format, written front to back. */
#ifndef WR_CODEC_PROTO_WRITE_H
#define WR_CODEC_PROTO_WRITE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/slice.h"

enum proto_wire { PROTO_VARINT = 0, PROTO_FIXED64 = 1, PROTO_DELIMITED = 2, PROTO_FIXED32 = 5 };

static inline void proto_varint(struct wr_buffer *out, uint64_t value)
{
    enum { VARINT_SIZE_MAX = 10 };
    char *place = wr_buffer_reserve(out, VARINT_SIZE_MAX);
    size_t size = 0;

    if (place == NULL) {
        return;
    }
    for (; value >= 0x80; value >>= 7) {
        place[size++] = (char)(value | 0x80);
    }
    place[size++] = (char)value;
    wr_buffer_advance(out, size);
}

static inline void proto_tag(struct wr_buffer *out, uint32_t field, enum proto_wire wire)
{
    proto_varint(out, field << 3 | (uint32_t)wire);
}

/* Small for numbers that are near to zero on either side: sint32 and sint64. */
static inline uint64_t proto_zigzag(int64_t value)
{
    return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

/* A field of proto3 that is no member of a oneof: zero and empty text are not written. */
static inline void proto_uint(struct wr_buffer *out, uint32_t field, uint64_t value)
{
    if (value != 0) {
        proto_tag(out, field, PROTO_VARINT);
        proto_varint(out, value);
    }
}

/* A member of a oneof, or bytes that are not empty. */
static inline void proto_bytes(struct wr_buffer *out, uint32_t field, struct wr_slice bytes)
{
    proto_tag(out, field, PROTO_DELIMITED);
    proto_varint(out, bytes.size);
    wr_buffer_add_slice(out, bytes);
}

static inline void proto_text(struct wr_buffer *out, uint32_t field, const char *text)
{
    if (text[0] != '\0') {
        proto_bytes(out, field, wr_slice_str(text));
    }
}

/* Little-endian, whatever the machine is. */
static inline void proto_fixed(struct wr_buffer *out, uint64_t bits, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        wr_buffer_add_char(out, (char)(bits >> 8 * i));
    }
}

/* A field whose size is known only when its content is there; what comes back closes it. */
static inline size_t proto_open(struct wr_buffer *out, uint32_t field)
{
    proto_tag(out, field, PROTO_DELIMITED);
    wr_buffer_add_char(out, '\0'); /* its size, which is mostly below 128 */
    return out->size;
}

/* Makes room for a larger size than a byte holds. */
void proto_close(struct wr_buffer *out, size_t start);

#endif /* WR_CODEC_PROTO_WRITE_H */
