/* config/properties.h - Java's .properties, as java.util.Properties.load() reads them. */
#ifndef WR_CONFIG_PROPERTIES_H
#define WR_CONFIG_PROPERTIES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/slice.h"

/*
 * One pass over a file, a property at a time. Bytes are UTF-8; a file that is not valid UTF-8 is
 * taken as ISO-8859-1, which is what Java takes every file for.
 */
struct properties_reader {
    const char *next, *end;
    uint32_t next_line; /* of `next` */
    uint32_t line;      /* where the current property starts */
    bool is_latin1;
    struct wr_buffer key, value; /* NUL-terminated, good until the next call */
    const char *problem;         /* what is wrong with the current property, or NULL */
};

/* `text` is borrowed until properties_close(). */
void properties_open(struct properties_reader *r, struct wr_slice text);
/* False at the end. When `problem` is set, key and value hold what could be read. */
bool properties_next(struct properties_reader *r);
void properties_close(struct properties_reader *r);

#endif /* WR_CONFIG_PROPERTIES_H */
