#include "router/topic.h"

#include "base/limits.h"
#include "config/config.h"

enum { TOPIC_TEXT_MAX = 4096 }; /* of the configuration, checked there */

static bool is_legal(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
}

bool topic_sanitize(struct wr_buffer *out, struct wr_slice name)
{
    bool changed = false;

    for (size_t i = 0; i < name.size; i++) {
        unsigned char c = (unsigned char)name.data[i];
        if (is_legal(c)) {
            wr_buffer_add_char(out, (char)c);
            continue;
        }
        changed = true;
        /* The UTF-16 units of the character count, as in Java: a four-byte sequence has two. */
        if ((c & 0xC0) != 0x80) {
            wr_buffer_add(out, "__", (c & 0xF8) == 0xF0 ? 2 : 1);
        }
    }
    return changed;
}

const char *topic_problem(struct wr_slice name)
{
    if (name.size == 0) {
        return "is empty";
    }
    if (name.size > WR_TOPIC_SIZE_MAX) {
        return "is longer than 249 characters";
    }
    if (wr_slice_is(name, ".") || wr_slice_is(name, "..")) {
        return "may not be . or ..";
    }
    return NULL;
}

void topic_of_messages(const struct config *config, struct wr_buffer *out)
{
    wr_buffer_init(out, TOPIC_TEXT_MAX);
    /* Debezium's own point, whatever topic.delimiter says. */
    wr_buffer_add_str(out, config->topic_prefix);
    wr_buffer_add_str(out, ".message");
}
