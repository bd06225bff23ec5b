/*
 * log/format.h -- the layout of segments, frames and records (docs/file-format.md).
 *
 * All integers are little-endian; frames and records begin at multiples of eight bytes.
 */
#ifndef TANSU_LOG_FORMAT_H
#define TANSU_LOG_FORMAT_H

#include "log/compressed/compressed_format.h"
#include "util/bytes.h"

#include <stdbool.h>

/* The format of the log: of segments, frames and records. */
#define LOG_FORMAT 1u

/* What a segment holds: commits as they were made, those that compaction kept, or the same in
 * compressed blocks. */
enum segment_kind { SEGMENT_WRITTEN, SEGMENT_COMPACTED, SEGMENT_COMPRESSED };

/* Added to the kind of one of the last two: removals of documents that it held all of were left
 * out. */
#define SEGMENT_REDUCED 0x100u

/* Added to the kind of one of an encrypted database: what follows the header are sealed blocks
 * (log/compressed/sealed_block.h). */
#define SEGMENT_SEALED 0x200u

/* A segment file begins with this. */
#define SEGMENT_MAGIC "TANSUSEG"
typedef struct segment_header {
    uint8_t magic[8];
    uint16_t format;  /* LOG_FORMAT */
    uint16_t kind;    /* enum segment_kind, and SEGMENT_REDUCED, SEGMENT_SEALED */
    uint32_t crc;     /* of the header with this field zero */
    uint8_t uuid[16]; /* of the database */
    uint64_t number;
    uint64_t base; /* sequence number of the segment's first frame */
    uint64_t last; /* in a compacted segment: the last commit that it covers; otherwise 0 */
    uint64_t end;  /* in a compacted segment: where its frames end; otherwise 0 */
} segment_header;
#define SEGMENT_HEADER_SIZE 64u

static inline enum segment_kind segment_kind_of(const segment_header *header) {
    return (enum segment_kind)(header->kind & (uint16_t) ~(SEGMENT_REDUCED | SEGMENT_SEALED));
}

/* No commit has a greater number: the marks in the file TAIL have 48 bits (log/tail.h). */
#define COMMIT_MOST (((uint64_t)1 << 48) - 1)

/* One commit. */
#define FRAME_MAGIC 0x31524654u /* "TFR1" */
typedef struct frame_header {
    uint32_t magic;
    uint32_t crc;   /* of the frame from `size` on, begun with the CRC of the uuid */
    uint32_t size;  /* of the whole frame */
    uint32_t count; /* records */
    uint64_t sequence;
    uint64_t synced; /* the last commit known to be on the disk when this was written, perhaps by a
                        compaction: then without it documents may be missing here */
} frame_header;
#define FRAME_HEADER_SIZE 32u

enum record_type {
    RECORD_PUT = 1,               /* metadata, then the document */
    RECORD_DELETE = 2,            /* {"_id": …} */
    RECORD_COLLECTION_CREATE = 3, /* {"name": …, "local": bool} */
    RECORD_COLLECTION_DROP = 4,   /* {"name": …} */
    RECORD_COLLECTION_RENAME = 5, /* {"name": …, "to": …} */
    RECORD_INDEX_CREATE = 6,      /* {"id": n, "name": …, "keys": {…}, "options": {…}} */
    RECORD_INDEX_DROP = 7,        /* {"name": …} */
    RECORD_COMPACTION = 8,        /* {"segment": n, "replaces": [n, …]} */
    RECORD_COLLECTION_OPTIONS = 9 /* {"name": …, "compression": …} */
};

enum record_flags {
    RECORD_REPLACES = 1, /* a put of a record id that held a document before */
    RECORD_INSERT = 2    /* a put of a new record id, with the short header */
};

/*
 * What all records begin with. The full header continues with the number of the commit (8 bytes,
 * stays when compaction moves the record) and the location of the previous version or 0 (8 bytes).
 *
 * An insert has neither, because nobody needs them to read it: nothing precedes it, and a snapshot
 * sees it if the snapshot's collection has that record id. The low bits of its commit's number are
 * for the checks of verification, and for repair where the frame is gone.
 *
 * What differs between the two headers is read with the functions below.
 */
typedef struct record_header {
    uint32_t size; /* of the whole record */
    uint8_t type;
    uint8_t flags;
    uint16_t extra; /* full header: metadata before the document, in eights of bytes; an insert: the
                       low 16 bits of the commit's number */
    uint64_t where; /* collection << 40 | record id */
} record_header;
#define RECORD_INSERT_HEADER_SIZE 16u
#define RECORD_HEADER_SIZE 32u                             /* the full header */
#define RECORD_SIZE_LEAST (RECORD_INSERT_HEADER_SIZE + 8u) /* an insert of the smallest document */

#define RECORD_MAX_COLLECTION ((1u << 24) - 1)

_Static_assert(sizeof(segment_header) == SEGMENT_HEADER_SIZE, "segment header layout");
_Static_assert(IMAGE_BLOCKS == SEGMENT_HEADER_SIZE, "an image begins with a segment header");
_Static_assert(sizeof(frame_header) == FRAME_HEADER_SIZE, "frame header layout");
_Static_assert(sizeof(record_header) == RECORD_INSERT_HEADER_SIZE, "record header layout");

static inline uint64_t record_where(uint32_t collection, uint64_t rid) {
    return (uint64_t)collection << 40 | rid;
}
static inline uint32_t where_collection(uint64_t where) {
    return (uint32_t)(where >> 40);
}
static inline uint64_t where_rid(uint64_t where) {
    return where & (((uint64_t)1 << 40) - 1);
}
static inline uint32_t record_collection(const record_header *r) {
    return where_collection(r->where);
}
static inline uint64_t record_rid(const record_header *r) {
    return where_rid(r->where);
}
static inline bool record_is_insert(const record_header *r) {
    return (r->flags & RECORD_INSERT) != 0;
}

/* record_full -- all bits of a record with the full header, none of an insert: what differs is
 * selected without a branch, which a scan of both kinds would mispredict. */
static inline uint64_t record_full(const record_header *r) {
    return (uint64_t)record_is_insert(r) - 1;
}

/* record_front -- the bytes before the document: header and metadata. */
static inline uint32_t record_front(const record_header *r) {
    uint32_t more = RECORD_HEADER_SIZE - RECORD_INSERT_HEADER_SIZE + (uint32_t)r->extra * 8;
    return RECORD_INSERT_HEADER_SIZE + (more & (uint32_t)record_full(r));
}
static inline const uint8_t *record_payload(const record_header *r) {
    return (const uint8_t *)r + record_front(r);
}

/* record_visible_from -- the first commit whose snapshots see the record, if their collection has
 * its record id: 0 of an insert. The bytes after the short header are the document's, which has no
 * fewer. */
static inline uint64_t record_visible_from(const record_header *r) {
    return load_u64((const uint8_t *)r + 16) & record_full(r);
}

/* record_previous -- the location of the previous version, or 0. */
static inline uint64_t record_previous(const record_header *r) {
    return record_is_insert(r) ? 0 : load_u64((const uint8_t *)r + 24);
}

/* record_commit -- the number of the record's commit. `least`: one that it is not below, by fewer
 * than 65536; used for an insert only. */
static inline uint64_t record_commit(const record_header *r, uint64_t least) {
    return record_is_insert(r) ? least + (uint16_t)(r->extra - (uint16_t)least)
                               : record_visible_from(r);
}

/* record_is_of -- whether the record can be one of that commit. */
static inline bool record_is_of(const record_header *r, uint64_t commit) {
    return record_commit(r, commit) == commit;
}

/* record_same_commit -- whether two records can be of one commit. */
static inline bool record_same_commit(const record_header *a, const record_header *b) {
    return record_is_of(a, record_commit(b, record_visible_from(a)));
}

/* record_header_put -- completes and writes a header. An insert has no previous version. */
static inline void record_header_put(uint8_t *to, const record_header *start, uint64_t commit,
                                     uint64_t previous) {
    record_header header = *start;
    if (record_is_insert(start))
        header.extra = (uint16_t)commit;
    memcpy(to, &header, sizeof header);
    if (record_is_insert(start))
        return;
    store_u64(to + 16, commit);
    store_u64(to + 24, previous);
}

/* record_step -- the distance from a record to the next in its frame: beyond every frame when the
 * size is invalid, as in a page that could not be read again since the frame was checked. */
static inline uint32_t record_step(const record_header *r) {
    uint32_t size = r->size;
    return size >= RECORD_SIZE_LEAST && size <= (1u << 30) ? size : 1u << 30;
}

/* A location: segment << 32 | offset of a record, a multiple of eight; so the low bits are free. */
typedef uint64_t log_location;
#define LOCATION_DELETED ((uint64_t)1) /* the record there is the deletion */
#define LOCATION_MASK (~(uint64_t)7)

#endif
