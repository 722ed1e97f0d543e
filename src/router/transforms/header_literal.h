/* router/transforms/header_literal.h - text of a configuration as the typed value that Connect
 * takes it for.
 */
#ifndef WR_ROUTER_TRANSFORMS_HEADER_LITERAL_H
#define WR_ROUTER_TRANSFORMS_HEADER_LITERAL_H

#include <stdbool.h>

#include "base/slice.h"
#include "router/record.h"

struct wr_arena;

/*
 * As Values.parseString(): true, false, whole numbers in the smallest type that has them, numbers
 * with a fraction as float32 (1.50 is 1.5), null; anything else stays the text it is, dates, lists
 * and maps too. False: no room in `arena`.
 */
bool header_literal_parse(struct wr_slice text, struct wr_arena *arena, struct record_part *out);

#endif /* WR_ROUTER_TRANSFORMS_HEADER_LITERAL_H */
