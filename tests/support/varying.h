/* support/varying.h - what differs from run to run in a published value, blotted out. */
#ifndef WR_TEST_VARYING_H
#define WR_TEST_VARYING_H

#include "base/slice.h"

struct wr_buffer;

/*
 * Appends `value` to `out`. Where it is a change event's envelope, the values of the fields that
 * differ from run to run become `*`; likewise on a `….transaction` topic. All other bytes stay, so
 * that the order of the fields and the spelling of every value are compared.
 */
void varying_blot(struct wr_slice topic, struct wr_slice value, struct wr_buffer *out);

#endif /* WR_TEST_VARYING_H */
