/* decoder/snapshot_marker.h - where in a snapshot a row stood. */
#ifndef WR_DECODER_SNAPSHOT_MARKER_H
#define WR_DECODER_SNAPSHOT_MARKER_H

/* source.snapshot of Debezium's envelope. */
enum snapshot_marker {
    SNAPSHOT_MARKER_FALSE = 0, /* a row of the stream */
    SNAPSHOT_MARKER_TRUE,
    SNAPSHOT_MARKER_FIRST,
    SNAPSHOT_MARKER_FIRST_IN_DATA_COLLECTION,
    SNAPSHOT_MARKER_LAST_IN_DATA_COLLECTION,
    SNAPSHOT_MARKER_LAST,
    SNAPSHOT_MARKER_INCREMENTAL, /* a row that was read while the stream went on: it has no LSN */
};

/* As `source.snapshot` has it. */
const char *snapshot_marker_text(enum snapshot_marker marker);

#endif /* WR_DECODER_SNAPSHOT_MARKER_H */
