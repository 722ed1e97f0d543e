#include "codec/proto_write.h"

#include <string.h>

void proto_close(struct wr_buffer *out, size_t start)
{
    size_t size = out->size - start;
    size_t more = 0;

    if (out->failed) {
        return;
    }
    for (size_t rest = size; rest >= 0x80; rest >>= 7) {
        more++;
    }
    if (more > 0) {
        if (wr_buffer_reserve(out, more) == NULL) {
            return;
        }
        memmove(out->data + start + more, out->data + start, size);
        wr_buffer_advance(out, more);
    }
    char *place = out->data + start - 1;
    for (; size >= 0x80; size >>= 7) {
        *place++ = (char)(size | 0x80);
    }
    *place = (char)size;
}
