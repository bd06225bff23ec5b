/*
 * log/compressed/compressed_segment.h -- reading compressed segments: single records in place, or
 * all of the image.
 *
 * A record is read at its offset in the image: its block is decompressed into the block cache
 * (log/compressed/block_cache.h) and pinned. Whoever reads records has a log_pins, which keeps the
 * newest LOG_PINS blocks that it has read pinned: a pointer to a record stays valid until as many
 * records more were read through the same pins, or they are released.
 */
#ifndef TANSU_LOG_COMPRESSED_COMPRESSED_SEGMENT_H
#define TANSU_LOG_COMPRESSED_COMPRESSED_SEGMENT_H

#include "log/compressed/block_cache.h"
#include "log/compressed/compressed_format.h"
#include "util/fs.h"

typedef struct compressed_segment {
    const fs *calls;
    block_cache *cache;
    char name[32]; /* of the file */
    uint32_t number;
    uint32_t crc_seed;
    const uint8_t *file; /* mapped */
    uint64_t size;       /* of its blocks: where the table begins */
    uint64_t end;        /* of the image */
    uint32_t count;
    block_entry *table; /* of the blocks, and one after the last */
    uint32_t *first;    /* for each BLOCK_BYTES of the image, the block that its beginning is in */
    block_slot *slots;  /* of the blocks */
} compressed_segment;

/* Records read in the same way are valid for that many more. */
#define LOG_PINS 8

/* What a reader has pinned. Zeroed: nothing. Of one thread at a time. */
typedef struct log_pins {
    struct {
        const compressed_segment *segment;
        uint32_t block;
    } at[LOG_PINS];
    uint32_t next;
    uint32_t used; /* of `at`, since the last release: none where nothing is compressed */
} log_pins;

/* log_pins_release -- ends all pins. To be called before the snapshot is released that keeps the
 * segments. */
void log_pins_release(log_pins *pins);

/* compressed_open -- reads the table of an open file of `size` bytes into *s, of which calls,
 * cache, name, number, crc_seed, file and end are set. Errors: CORRUPT, UNSUPPORTED (a codec
 * that this build lacks), IO, MEMORY; what *s has is for compressed_free() in any case. */
tansu_status compressed_open(compressed_segment *s, int fd, uint64_t size, tansu_error *error);

/* compressed_free -- frees it, too; fine on NULL. Nobody has a block of it pinned. */
void compressed_free(compressed_segment *s);

/* compressed_at -- the bytes at an offset of the image, of which *room are in the same block. NULL
 * when they cannot be read, which is counted (block_failed()). */
const uint8_t *compressed_at(const compressed_segment *s, log_pins *pins, uint64_t offset,
                             uint64_t *room);

/* compressed_bad -- counts the block at an offset of the image as corrupt. */
void compressed_bad(const compressed_segment *s, uint64_t offset);

/* compressed_find -- the block that an offset of the image lies in. */
uint32_t compressed_find(const compressed_segment *s, uint64_t offset);

/* compressed_stored -- how many bytes of the file a block takes, with its header. */
static inline uint64_t compressed_stored(const compressed_segment *s, uint32_t block) {
    return ((uint64_t)s->table[block + 1].position - s->table[block].position) * 8;
}

/* compressed_size -- how many bytes of the image a block has. */
static inline uint32_t compressed_size(const compressed_segment *s, uint32_t block) {
    return s->table[block + 1].offset - s->table[block].offset;
}

/* compressed_decode -- whether `stored` (as many bytes as compressed_stored() says) are a valid
 * block of that number, whose bytes it writes. `checked`: its checksum was found to match
 * before. */
bool compressed_decode(const compressed_segment *s, uint32_t block, const uint8_t *stored,
                       bool checked, uint8_t *out);

/* compressed_corrupt -- the error for a block: CORRUPT. */
tansu_status compressed_corrupt(const compressed_segment *s, uint32_t block, tansu_error *error);

/* ---- Without a log: for repair ---- */

/* block_header_at -- the header of the block at a position of a file's bytes if it may be one;
 * otherwise NULL. */
const block_header *block_header_at(const uint8_t *bytes, uint64_t size, uint64_t position);

/* block_valid -- the same if all of the block is valid. */
const block_header *block_valid(uint32_t crc_seed, const uint8_t *bytes, uint64_t size,
                                uint64_t position);

#endif
