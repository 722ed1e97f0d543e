/* sink/consumer_dead_letter.h - where refused records go. */
#ifndef WR_SINK_CONSUMER_DEAD_LETTER_H
#define WR_SINK_CONSUMER_DEAD_LETTER_H

#include <librdkafka/rdkafka.h>

#include "base/status.h"

struct config;
struct dead_letters;

WR_MUST_USE enum wr_status dead_letters_new(const struct config *config, struct dead_letters **out,
                                            struct wr_error *err);
void dead_letters_free(struct dead_letters *d); /* NULL is allowed */
/* Returns once Kafka has it. One that was written before, by this object, is not written again: a
 * partition may have been read once more since. */
WR_MUST_USE enum wr_status dead_letters_write(struct dead_letters *d,
                                              const rd_kafka_message_t *message, const char *reason,
                                              struct wr_error *err);

#endif /* WR_SINK_CONSUMER_DEAD_LETTER_H */
