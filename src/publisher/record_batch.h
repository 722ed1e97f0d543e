/* publisher/record_batch.h - records in memory, copied, until they are given to Kafka all at once.
 */
#ifndef WR_PUBLISHER_RECORD_BATCH_H
#define WR_PUBLISHER_RECORD_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"
#include "publisher/publisher.h"

struct record_batch;

/* One record, in place: what lies behind it, and where, is for batch.c alone. */
struct batch_record {
    uint64_t ticket;
    int64_t timestamp_ms;
    uint32_t size; /* with all that belongs to it */
    uint32_t key_size, value_size;
    int32_t partition;
    uint16_t topic_size, header_count;
    bool key_is_null, value_is_null;
    int error; /* Kafka's, of a record that it refuses; 0: none */
};

struct record_batch *record_batch_new(void);
void record_batch_free(struct record_batch *batch); /* NULL is allowed */
void record_batch_reset(struct record_batch *batch);

/* Copies everything. May move what is there: records that were handed out are no longer valid. */
void record_batch_add(struct record_batch *batch, const struct publisher_record *record);
size_t record_batch_count(const struct record_batch *batch);
size_t record_batch_size(const struct record_batch *batch);

/*
 * The records in their order: NULL begins, NULL ends. They lie still, and may be written to, until
 * something is added or the batch is reset.
 */
struct batch_record *record_batch_next(const struct record_batch *batch,
                                       const struct batch_record *last);
/* The record that begins where record_batch_size() was that. */
const struct batch_record *record_batch_at(const struct record_batch *batch, size_t size);
/* As it was added, in place. The headers go to `headers`, which has room for all of them; NULL:
 * without them. */
void batch_record_read(const struct batch_record *record, struct publisher_record *out,
                       struct publisher_header *headers);

/* Moves what is behind the first `count` records, which take `size`, to the end of `to`. */
void record_batch_split(struct record_batch *batch, size_t count, size_t size,
                        struct record_batch *to);

#endif /* WR_PUBLISHER_RECORD_BATCH_H */
