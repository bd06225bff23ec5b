/*
 * log/compressed/compressed_segment.h -- reading compressed segments: single records in place, or
 * all of the image; and writing them.
 *
 * A record is read at its offset in the image: its block is decompressed into the block cache and
 * pinned. Whoever reads records has a log_pins, which keeps the newest LOG_PINS blocks that it has
 * read pinned: a pointer to a record stays valid until as many records more were read through the
 * same pins, or they are released.
 */
#ifndef TANSU_LOG_COMPRESSED_COMPRESSED_SEGMENT_H
#define TANSU_LOG_COMPRESSED_COMPRESSED_SEGMENT_H

#include "log/compressed/codec.h"
#include "log/compressed/compressed_format.h"
#include "log/compressed/sealed_block.h"
#include "tansu.h"
#include "util/aligned_u64.h"
#include "util/fs.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- The block cache ---- */

/*
 * The decompressed blocks of compressed segments, and who uses
 * them.
 *
 * A reader *pins* the block of a record while it uses the record. Blocks that nobody has pinned
 * are evicted, those not used for longest first (by the clock algorithm), when the cache is larger
 * than its bound. So memory is bounded by the bound and what readers have pinned.
 *
 * Finding a block that is in the cache takes no lock: its slot in the segment counts the pins. A
 * block that is not is decompressed without a lock, too; of two threads that do so one discards
 * its work.
 */

/* A block of a segment. Zeroed, it is not in the cache. */
typedef struct block_slot {
    uint32_t state; /* atomic: see block_cache.c */
    uint32_t size;
    uint8_t *bytes; /* while it is loaded */
} block_slot;

typedef struct block_cache {
    pthread_mutex_t mutex;
    uint64_t limit; /* bytes */
    bool secret;    /* blocks are wiped */
    uint64_t bytes; /* the following are guarded by the mutex */
    block_slot **loaded;
    size_t count, capacity, hand;
    uint8_t **chunks; /* memory of blocks */
    size_t chunk_count, chunk_capacity, carved;
    void *unused; /* the first free part of a chunk; its first bytes are the next one */
    /* Blocks that could not be read; atomic. */
    aligned_u64 faults;
    aligned_u64 fault_at; /* of the newest: segment << 32 | offset in the file */
    int fault_status;     /* CORRUPT or MEMORY */
} block_cache;

/* block_cache_init -- false when the system has no mutex more. */
bool block_cache_init(block_cache *cache);

/* block_cache_free -- when all segments are closed. */
void block_cache_free(block_cache *cache);

/* block_pin -- the bytes of a block that is in the cache, pinned; NULL when it is not. */
const uint8_t *block_pin(block_slot *slot);

/* block_checked -- whether the block was in the cache before. */
bool block_checked(const block_slot *slot);

/* block_slot_unpin -- ends a pin. */
void block_slot_unpin(block_slot *slot);

/* block_alloc -- memory for the bytes of a block; NULL when it is exhausted. block_release -- gives it
 * back, wiped if the cache's blocks are. */
uint8_t *block_alloc(block_cache *cache, uint32_t size);
void block_release(block_cache *cache, uint8_t *bytes, uint32_t size);

/* block_add -- puts the bytes (from block_alloc()) of a block into the cache and pins it; evicts others.
 * Returns the bytes, which may be those that another thread has added. NULL when memory is
 * exhausted; the bytes are freed then. */
const uint8_t *block_add(block_cache *cache, block_slot *slot, uint8_t *bytes, uint32_t size);

/* block_failed -- counts a block that could not be read. */
void block_failed(block_cache *cache, tansu_status status, uint32_t number, uint64_t offset);

/* block_cache_forget -- takes all blocks of a segment out of the cache. None is pinned. */
void block_cache_forget(block_cache *cache, block_slot *slots, size_t count);

/* ---- Segments ---- */

typedef struct compressed_segment {
    const fs *calls;
    block_cache *cache;
    char name[32]; /* of the file */
    uint32_t number;
    uint32_t crc_seed;
    keyring *keys;       /* of sealed blocks; otherwise NULL */
    bool stored;         /* the file has a table of sealed blocks, which was read */
    enum codec codec;    /* it was written with */
    const uint8_t *file; /* mapped */
    uint64_t size;       /* of its blocks: where the table begins */
    uint64_t end;        /* of the image */
    uint32_t count;
    block_entry *table; /* of the blocks, and one after the last */
    uint32_t unit;      /* for each 2^unit bytes of the image, */
    uint32_t *first;    /* the block that their beginning is in */
    block_slot *slots;  /* of the blocks */
} compressed_segment;

/* Records read in the same way are valid for that many more. */
#define LOG_PINS 8

/* What a reader has pinned. Zeroed: nothing. Of one thread at a time. */
typedef struct log_pins {
    /* The newest of them: a scan reads many records of one block. */
    const compressed_segment *newest; /* NULL: none */
    const uint8_t *bytes;
    uint64_t start, size; /* in the image */
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

/* compressed_open_sealed -- the same of a segment with sealed blocks, of which keys is set too;
 * `header` is what its file begins with. s->end is set. *there: the file ends with a table that is
 * this segment's. Errors: IO, MEMORY, UNSUPPORTED. */
tansu_status compressed_open_sealed(compressed_segment *s, int fd, uint64_t size,
                                    const void *header, bool *there, tansu_error *error);

/* compressed_take_table -- gives a segment with sealed blocks, up to `position` of the file and
 * s->end of the image, the entries of its groups, and room for one more, in memory that it frees.
 * Errors: MEMORY. */
tansu_status compressed_take_table(compressed_segment *s, block_entry *entries, uint32_t count,
                                   uint64_t position, tansu_error *error);

/* compressed_free -- frees it, too; fine on NULL. Nobody has a block of it pinned. */
void compressed_free(compressed_segment *s);

/* compressed_load -- compressed_at() of another block than the newest that is pinned. */
const uint8_t *compressed_load(const compressed_segment *s, log_pins *pins, uint64_t offset,
                               uint64_t *room);

/* compressed_at -- the bytes at an offset of the image, of which *room are in the same block. NULL
 * when they cannot be read, which is counted (block_failed()). */
static inline const uint8_t *compressed_at(const compressed_segment *s, log_pins *pins,
                                           uint64_t offset, uint64_t *room) {
    uint64_t at = offset - pins->start;
    if (__builtin_expect(pins->newest != s || at >= pins->size, 0))
        return compressed_load(s, pins, offset, room);
    *room = pins->size - at;
    return pins->bytes + at;
}

/* compressed_bad -- counts the block at an offset of the image as corrupt. */
void compressed_bad(const compressed_segment *s, uint64_t offset);

/* compressed_find -- the block that an offset of the image lies in. */
static inline uint32_t compressed_find(const compressed_segment *s, uint64_t offset) {
    uint32_t block = s->first[offset >> s->unit];
    /* The table has an entry after the last. One step is as likely as none; more are rare. */
    block += s->table[block + 1].offset <= offset;
    while (__builtin_expect(s->table[block + 1].offset <= offset, 0))
        block++;
    return block;
}

/* compressed_prefetch -- loads cache lines from an offset of the image on, if its block is in the
 * cache: it need not stay there. */
static inline void compressed_prefetch(const compressed_segment *s, uint64_t offset,
                                       uint32_t lines) {
    if (offset < IMAGE_BLOCKS || offset >= s->end)
        return;
    uint32_t block = compressed_find(s, offset);
    const uint8_t *bytes = __atomic_load_n(&s->slots[block].bytes, __ATOMIC_RELAXED);
    if (bytes == NULL)
        return;
    uintptr_t at = (uintptr_t)bytes + (offset - s->table[block].offset);
    for (uint32_t i = 0; i < lines; i++)
        __builtin_prefetch((const void *)(at + (uintptr_t)i * 64));
}

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

/* ---- Writing ---- */

/*
 * Cutting the image of a compressed segment into
 * blocks, and compressing them.
 */

typedef struct block_writer block_writer;

/* Takes what is written, in the order of the file. */
typedef tansu_status (*block_sink)(void *context, const void *bytes, uint64_t size,
                                   tansu_error *error);

/* block_writer_new -- `crc_seed` is the CRC of the uuid.
 * NULL when memory is exhausted. */
block_writer *block_writer_new(enum codec codec, uint32_t crc_seed, block_sink sink, void *context);
void block_writer_free(block_writer *w);

/* block_writer_use -- compresses with another codec from now on. false: memory is exhausted. */
bool block_writer_use(block_writer *w, enum codec codec);

/* block_writer_seal -- makes it write the sealed blocks of a segment, from the beginning on. Errors:
 * IO, MEMORY. */
tansu_status block_writer_seal(block_writer *w, keyring *keys, uint32_t segment,
                               tansu_error *error);

/* block_writer_add -- the next bytes of the image, which stay in one block: a record, or the header
 * of a frame. A block is compressed if at least half of it is `wanted` to be. Errors: MEMORY, and
 * the sink's. */
tansu_status block_writer_add(block_writer *w, const void *bytes, uint64_t size, bool wanted,
                              tansu_error *error);

/* block_writer_finish -- writes the last block and the table. *header is what belongs after the
 * segment's header. Errors: as block_writer_add(), TOO_LARGE. */
tansu_status block_writer_finish(block_writer *w, compressed_header *header, tansu_error *error);

/* block_writer_finish_sealed -- writes the last sealed block and the table. `header`: the segment's.
 * Errors: likewise. */
tansu_status block_writer_finish_sealed(block_writer *w, const void *header, tansu_error *error);

#endif
