#include "decoder/snapshot_marker.h"

const char *snapshot_marker_text(enum snapshot_marker marker)
{
    switch (marker) {
    case SNAPSHOT_MARKER_FALSE:
        return "false";
    case SNAPSHOT_MARKER_TRUE:
        return "true";
    case SNAPSHOT_MARKER_FIRST:
        return "first";
    case SNAPSHOT_MARKER_FIRST_IN_DATA_COLLECTION:
        return "first_in_data_collection";
    case SNAPSHOT_MARKER_LAST_IN_DATA_COLLECTION:
        return "last_in_data_collection";
    case SNAPSHOT_MARKER_LAST:
        return "last";
    case SNAPSHOT_MARKER_INCREMENTAL:
        return "incremental";
    }
    return "false";
}
