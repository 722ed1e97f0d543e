#include "sink/topics.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "config/config.h"
#include "config/route_config.h"
#include "router/topic.h"

enum { PATTERN_SIZE_MAX = 64 << 10 };

/* As the relay made a legal name of it; of its characters only the dot means something else. */
static void add_literal(struct wr_buffer *out, struct wr_slice text)
{
    struct wr_buffer legal;

    wr_buffer_init(&legal, PATTERN_SIZE_MAX);
    (void)topic_sanitize(&legal, text);
    for (size_t i = 0; i < legal.size; i++) {
        if (legal.data[i] == '.') {
            wr_buffer_add_char(out, '\\');
        }
        wr_buffer_add_char(out, legal.data[i]);
    }
    wr_buffer_done(&legal);
}

const char *sink_topic_pattern(const struct config *config, const struct route_config *route,
                               struct wr_arena *arena)
{
    struct wr_buffer text;

    wr_buffer_init(&text, PATTERN_SIZE_MAX);
    wr_buffer_add_char(&text, '^');
    if (route->topic == NULL) {
        add_literal(&text, wr_slice_str(config->topic_prefix));
        add_literal(&text, wr_slice_str(config->topic_delimiter));
        add_literal(&text, wr_slice_str(route->name));
        add_literal(&text, wr_slice_str(config->topic_delimiter));
        WR_BUFFER_LITERAL(&text, ".+");
    }
    for (size_t i = 0; route->topic != NULL && i < route->topic->piece_count; i++) {
        const struct template_piece *piece = &route->topic->pieces[i];
        if (piece->is_column) {
            WR_BUFFER_LITERAL(&text, ".+");
        } else {
            add_literal(&text, piece->text);
        }
    }
    wr_buffer_add_char(&text, '$');
    const char *pattern = wr_arena_strndup(arena, text.data, text.size);
    wr_buffer_done(&text);
    return pattern;
}
