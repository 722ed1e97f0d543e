/* config/route_text.h - templates and conditions of routes, read from their text. */
#ifndef WR_CONFIG_ROUTE_TEXT_H
#define WR_CONFIG_ROUTE_TEXT_H

#include <stdbool.h>

#include "base/slice.h"
#include "config/route_config.h"

struct wr_arena;

/*
 * What is wrong with a text: a reason, and the byte where it shows. Everything that is made lives
 * in the arena, and is bounded by the text's size: its square is never asked for.
 */
struct route_text_error {
    size_t place;
    const char *reason; /* static */
};

/*
 * "event:${id}". A backslash makes the character behind it a plain one: \$ \, \} \\. False when a
 * brace is open at the end, a name is empty, or nothing is there at all.
 */
bool template_read(struct wr_slice text, struct wr_arena *arena, struct template_config *out,
                   struct route_text_error *error);
/* A comma-separated list of templates, each trimmed. The array is in the arena. */
bool template_list_read(struct wr_slice text, struct wr_arena *arena,
                        const struct template_config **out, size_t *count,
                        struct route_text_error *error);
/* "id,starts_at:startsAt"; \, and \: stand for themselves. */
bool document_fields_read(struct wr_slice text, struct wr_arena *arena, struct document_field **out,
                          size_t *count, struct route_text_error *error);

/*
 * condition = term { AND term }
 * term      = column ( "=" | "<>" | "!=" | "<" | "<=" | ">" | ">=" ) literal
 *           | column [ NOT ] IN "(" literal { "," literal } ")"
 *           | column IS [ NOT ] NULL
 * column    = a name of letters, digits and _ that is folded to small letters, or "a quoted one"
 * literal   = 'text' | [ - ] digits [ . digits ] | TRUE | FALSE
 *
 * As in SQL, words are of any case, and a quote inside quotes is doubled.
 */
bool condition_read(struct wr_slice text, struct wr_arena *arena, struct condition_config *out,
                    struct route_text_error *error);

#endif /* WR_CONFIG_ROUTE_TEXT_H */
