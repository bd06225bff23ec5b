/*
 * check/repair/repair_log.h -- what repair finds in the files of a log: segments, runs of intact
 * frames, gaps between them, and records in the gaps.
 *
 * Memory: about 130 bytes a run, 48 a gap, 24 an orphan. An intact segment is one run. While a
 * compacted segment that is not intact is split into runs, 8 bytes for each of its frames.
 */
#ifndef TANSU_CHECK_REPAIR_REPAIR_LOG_H
#define TANSU_CHECK_REPAIR_REPAIR_LOG_H

#include "check/repair/repair_location.h"

/* Files that are no segment of the log by their name have numbers from this one on. */
#define REPAIR_LEFTOVER ((uint32_t)1 << 27)

/* A segment file. */
typedef struct repair_segment {
    uint32_t number;
    char *file;     /* of a leftover: its path in the database's folder; otherwise NULL */
    uint32_t named; /* the number in the file's name, or in the header if that is another */
    int image;      /* of a compressed segment: the open file of its image; otherwise -1 */
    uint64_t size;  /* of the image, if there is one, and so are all offsets */
    bool header;    /* the header is valid, and that of this segment */
    uint64_t first; /* first commit, by the header or the first frame; UINT64_MAX: unknown */
    uint64_t last;  /* of a compacted segment with a valid header */
    uint64_t end;   /* where the frames of such a segment end */
    bool left_out;
    bool waits; /* its header is corrupt: a vote says whose it is and whether it has an image */
    size_t run; /* index of its first run */
    size_t run_count;
    uint64_t gap_bytes;
} repair_segment;

/* Adjacent frames with valid checksums and rising commits. */
typedef struct repair_run {
    uint32_t segment; /* index in the list */
    uint32_t from;    /* offsets in its file */
    uint32_t to;
    uint32_t frames;
    uint64_t first; /* commits */
    uint64_t last;
    bool in_order; /* it lies where it was written, and no misdirected write put it there */
} repair_run;

/* Bytes of a segment that are no valid frame. */
typedef struct repair_gap {
    uint32_t segment;
    uint32_t from;
    uint32_t to; /* before zeros that reach to the segment's end */
    uint32_t taken_bytes;
    uint64_t taken; /* records */
    uint64_t low;   /* the gap's commits are after this one and before `high` */
    uint64_t high;
    bool tail;       /* no frame follows in the segment */
    bool unfinished; /* there is no frame header: the commit was never acknowledged */
} repair_gap;

/* The frames from a location on, up to the next mark, are of that commit or of few later ones
 * (repair_read.h). */
typedef struct repair_mark {
    log_location location;
    uint64_t commit;
} repair_mark;

/* A record in a gap, which no checksum protects. */
typedef struct repair_orphan {
    uint64_t sequence; /* of an insert: 0 until the history is built */
    log_location location;
    uint64_t gap; /* index */
} repair_orphan;

/* Commits that are read from a run. */
typedef struct repair_slice {
    uint64_t first;
    uint64_t last;
    size_t run;
    bool removals;  /* only deletions count: compaction has dropped the rest since */
    bool uncertain; /* compaction may have dropped it: the compacted segment is corrupt there */
} repair_slice;

/* A range of commits that are missing. */
typedef struct repair_range {
    uint64_t first;
    uint64_t last;
    bool reported; /* the problem of a gap names them */
} repair_range;

#endif
