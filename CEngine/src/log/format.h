/*
 * log/format.h -- the layout of segments, frames and records (docs/file-format.md).
 *
 * All integers are little-endian; frames and records begin at multiples of eight bytes.
 */
#ifndef TANSU_LOG_FORMAT_H
#define TANSU_LOG_FORMAT_H

#include "log/compressed/compressed_format.h"
#include "util/bytes.h"

/* Formats of segments. */
#define LOG_FORMAT 1u            /* one that was written commit by commit */
#define LOG_FORMAT_COMPACTED 2u  /* one that replaced others */
#define LOG_FORMAT_COMPRESSED 8u /* the same in blocks */

/* A segment file begins with this. */
#define SEGMENT_MAGIC "TANSULOG"
typedef struct segment_header {
    uint8_t magic[8];
    uint32_t format;
    uint32_t crc;     /* of the header with this field zero */
    uint8_t uuid[16]; /* of the database */
    uint64_t number;
    uint64_t base; /* sequence number of the segment's first frame */
    uint64_t last; /* in a compacted segment: the last commit that it covers; otherwise 0 */
    uint64_t end;  /* in a compacted segment: where its frames end; otherwise 0 */
} segment_header;
#define SEGMENT_HEADER_SIZE 64u

/* One commit. */
#define FRAME_MAGIC 0x31524654u /* "TFR1" */
typedef struct frame_header {
    uint32_t magic;
    uint32_t crc;   /* of the frame from `size` on, begun with the CRC of the uuid */
    uint32_t size;  /* of the whole frame */
    uint32_t count; /* records */
    uint64_t sequence;
    uint64_t synced; /* the last commit known to be on the disk when this one was written */
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
    RECORD_REPLACES = 1 /* a put of a record id that held a document before */
};

typedef struct record_header {
    uint32_t size; /* of the whole record */
    uint8_t type;
    uint8_t flags;
    uint16_t meta_words; /* metadata between header and document, in eights of bytes */
    uint64_t where;      /* collection << 40 | record id */
    uint64_t sequence;   /* of the commit; stays when compaction moves the record */
    uint64_t previous;   /* location of the previous version, or 0 */
} record_header;
#define RECORD_HEADER_SIZE 32u

#define RECORD_MAX_COLLECTION ((1u << 24) - 1)

_Static_assert(sizeof(segment_header) == SEGMENT_HEADER_SIZE, "segment header layout");
_Static_assert(IMAGE_BLOCKS == SEGMENT_HEADER_SIZE, "an image begins with a segment header");
_Static_assert(sizeof(frame_header) == FRAME_HEADER_SIZE, "frame header layout");
_Static_assert(sizeof(record_header) == RECORD_HEADER_SIZE, "record header layout");

static inline uint64_t record_where(uint32_t collection, uint64_t rid) {
    return (uint64_t)collection << 40 | rid;
}
static inline uint32_t record_collection(const record_header *r) {
    return (uint32_t)(r->where >> 40);
}
static inline uint64_t record_rid(const record_header *r) {
    return r->where & (((uint64_t)1 << 40) - 1);
}
static inline const uint8_t *record_payload(const record_header *r) {
    return (const uint8_t *)r + RECORD_HEADER_SIZE + (uint64_t)r->meta_words * 8;
}

/* record_step -- the distance from a record to the next in its frame: beyond every frame when the
 * size is invalid, as in a page that could not be read again since the frame was checked. */
static inline uint32_t record_step(const record_header *r) {
    uint32_t size = r->size;
    return size >= RECORD_HEADER_SIZE && size <= (1u << 30) ? size : 1u << 30;
}

/* A location: segment << 32 | offset of a record, a multiple of eight; so the low bits are free. */
typedef uint64_t log_location;
#define LOCATION_DELETED ((uint64_t)1) /* the record there is the deletion */
#define LOCATION_MASK (~(uint64_t)7)

#endif
