/* wire.h - pgoutput messages made in memory, as PostgreSQL sends them. */
#ifndef WR_TESTS_UNIT_WIRE_H
#define WR_TESTS_UNIT_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/buffer.h"

/* A cell's text; NULL is SQL NULL, and this very pointer an unchanged TOAST value. */
static const char WIRE_UNCHANGED[] = "unchanged";

struct wire_column {
    const char *name;
    uint32_t type_oid;
    bool is_key;
};

static inline void wire_int(struct wr_buffer *b, uint64_t value, size_t size)
{
    for (size_t i = size; i-- > 0;) {
        wr_buffer_add_char(b, (char)(value >> (8 * i) & 0xff));
    }
}

/* With the NUL behind it. */
static inline void wire_str(struct wr_buffer *b, const char *text)
{
    wr_buffer_add(b, text, strlen(text) + 1);
}

static inline void wire_tuple(struct wr_buffer *b, char mark, const char *const *cells,
                              size_t count)
{
    wr_buffer_add_char(b, mark);
    wire_int(b, count, 2);
    for (size_t i = 0; i < count; i++) {
        if (cells[i] == NULL || cells[i] == WIRE_UNCHANGED) {
            wr_buffer_add_char(b, cells[i] == NULL ? 'n' : 'u');
            continue;
        }
        wr_buffer_add_char(b, 't');
        wire_int(b, strlen(cells[i]), 4);
        wr_buffer_add_str(b, cells[i]);
    }
}

/* The head that Insert, Update and Delete share: their tuples follow. */
static inline void wire_change(struct wr_buffer *b, char kind, uint32_t relation_oid)
{
    wr_buffer_add_char(b, kind);
    wire_int(b, relation_oid, 4);
}

static inline void wire_relation(struct wr_buffer *b, uint32_t oid, const char *table,
                                 char replica_identity, const struct wire_column *columns,
                                 size_t count)
{
    wr_buffer_add_char(b, 'R');
    wire_int(b, oid, 4);
    wire_str(b, "public");
    wire_str(b, table);
    wr_buffer_add_char(b, replica_identity);
    wire_int(b, count, 2);
    for (size_t i = 0; i < count; i++) {
        wr_buffer_add_char(b, columns[i].is_key ? 1 : 0);
        wire_str(b, columns[i].name);
        wire_int(b, columns[i].type_oid, 4);
        wire_int(b, UINT32_MAX, 4); /* no type modifier */
    }
}

#endif /* WR_TESTS_UNIT_WIRE_H */
