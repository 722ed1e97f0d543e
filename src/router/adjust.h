/* router/adjust.h - names that Avro takes, as schema and field.name.adjustment.mode make them. */
#ifndef WR_ROUTER_ADJUST_H
#define WR_ROUTER_ADJUST_H

#include "base/buffer.h"
#include "base/slice.h"
#include "config/config.h"

enum adjusted_name { ADJUST_FIELD, ADJUST_SCHEMA /* may have dots */ };

/* Appends `name` as `mode` has it; NAME_ADJUSTMENT_NONE: unchanged. */
void adjust_name(struct wr_buffer *out, enum name_adjustment_mode mode, enum adjusted_name kind,
                 struct wr_slice name);

#endif /* WR_ROUTER_ADJUST_H */
