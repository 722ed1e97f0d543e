/* relay/encoder.h - a record of the router's as the bytes that are published. */
#ifndef WR_RELAY_ENCODER_H
#define WR_RELAY_ENCODER_H

#include "base/status.h"
#include "publisher/publisher.h"
#include "router/record.h"

struct config;
struct encoder;
struct wr_arena;

enum { HEADERS_OWN = 2 }; /* walrelay.lsn, walrelay.seq */

/* Slices of the encoder's buffers, until the next record. */
struct encoded {
    struct publisher_record record; /* without a ticket */
    struct publisher_header headers[RECORD_HEADERS_MAX + HEADERS_OWN];
};

struct encoder *encoder_new(const struct config *config);
void encoder_free(struct encoder *encoder); /* NULL is allowed */

/*
 * Key, value and headers; walrelay's own where the record has a position. WR_REJECT: it cannot be
 * told. `out` then has what was made until there, for a message about it.
 */
WR_MUST_USE enum wr_status encoder_encode(struct encoder *encoder, const struct record *record,
                                          struct wr_arena *scratch, struct encoded *out,
                                          struct wr_error *err);

#endif /* WR_RELAY_ENCODER_H */
