/* sink/search_mapping.h - an index's mapping from the types of a route's record. Pure. */
#ifndef WR_SINK_SEARCH_MAPPING_H
#define WR_SINK_SEARCH_MAPPING_H

#include "base/buffer.h"
#include "base/slice.h"
#include "base/status.h"

/*
 * Appends the mapping's "properties" object for `types`, the header walrelay.types:
 * {"title":"text","price":"numeric(10,2)"}. WR_REJECT names a field that no document can have under
 * its name, and what to do.
 */
WR_MUST_USE enum wr_status search_properties(struct wr_slice types, struct wr_buffer *out,
                                             struct wr_error *err);

/*
 * Appends the name of the index for "schema.table", from a template with ${schema} and ${table}, in
 * the spelling that is allowed: small letters, _ for what may not be in one.
 */
struct template_config;
void search_index_name(const struct template_config *index, struct wr_slice table,
                       struct wr_buffer *out);

#endif /* WR_SINK_SEARCH_MAPPING_H */
