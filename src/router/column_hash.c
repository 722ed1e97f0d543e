#include "router/column_hash.h"

#include <string.h>

#include "base/arena.h"
#include "base/digest.h"

enum {
    STREAM_HEAD_SIZE = 4,     /* STREAM_MAGIC and STREAM_VERSION of Java's serialization */
    SHORT_TEXT_MAX = 0xffff,  /* of TC_STRING, whose size has 16 bits */
    HEAD_SIZE_MAX = 4 + 1 + 8 /* and the 64 bits of TC_LONGSTRING */
};

/* The size of the text in Java's "modified UTF-8": four bytes become a pair of three. */
static size_t modified_size(struct wr_slice text)
{
    size_t size = text.size;

    for (size_t i = 0; i < text.size; i++) {
        size += ((unsigned char)text.data[i] & 0xf8) == 0xf0 ? 2 : 0;
    }
    return size;
}

static char *put_unit(char *out, unsigned unit)
{
    *out++ = (char)(0xe0 | unit >> 12);
    *out++ = (char)(0x80 | (unit >> 6 & 0x3f));
    *out++ = (char)(0x80 | (unit & 0x3f));
    return out;
}

/* PostgreSQL's texts are well-formed, and hold no NUL, which is the other modification. */
static void modify(char *out, struct wr_slice text)
{
    const unsigned char *in = (const unsigned char *)text.data;

    for (size_t i = 0; i < text.size; i++) {
        if ((in[i] & 0xf8) != 0xf0 || text.size - i < 4) {
            *out++ = (char)in[i];
            continue;
        }
        unsigned c = (in[i] & 0x07U) << 18 | (in[i + 1] & 0x3fU) << 12 | (in[i + 2] & 0x3fU) << 6 |
                     (in[i + 3] & 0x3fU);
        out = put_unit(out, 0xd800 + ((c - 0x10000) >> 10 & 0x3ff));
        out = put_unit(out, 0xdc00 + (c & 0x3ff));
        i += 3;
    }
}

/* What ObjectOutputStream writes before a string of `size` bytes. */
static size_t write_head(char out[HEAD_SIZE_MAX], size_t size)
{
    size_t size_bytes = size <= SHORT_TEXT_MAX ? 2 : 8;

    memcpy(out, "\xac\xed\x00\x05", STREAM_HEAD_SIZE);
    out[STREAM_HEAD_SIZE] = size_bytes == 2 ? 0x74 : 0x7c;
    for (size_t i = 0; i < size_bytes; i++) {
        out[STREAM_HEAD_SIZE + 1 + i] = (char)(size >> 8 * (size_bytes - 1 - i));
    }
    return STREAM_HEAD_SIZE + 1 + size_bytes;
}

bool column_hash_text(const struct column_hash *hash, struct wr_slice text, struct wr_arena *arena,
                      struct wr_slice *out)
{
    char head[HEAD_SIZE_MAX];
    struct wr_slice pieces[] = {hash->salt, {head, 0}, text};
    size_t size = modified_size(text);
    char *hex = wr_arena_alloc_raw(arena, WR_DIGEST_HEX_SIZE_MAX, 1);

    if (hex == NULL) {
        return false;
    }
    if (!hash->is_v2) {
        pieces[1].size = write_head(head, size);
    }
    if (!hash->is_v2 && size != text.size) {
        char *modified = wr_arena_alloc_raw(arena, size, 1);
        if (modified == NULL) {
            return false;
        }
        modify(modified, text);
        pieces[2] = (struct wr_slice){modified, size};
    }
    *out = (struct wr_slice){hex, wr_digest_hex(hash->digest, pieces, 3, hex)};
    return true;
}
