/*
 * log/compressed/block_cache.h -- the decompressed blocks of compressed segments, and who uses
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
#ifndef TANSU_LOG_COMPRESSED_BLOCK_CACHE_H
#define TANSU_LOG_COMPRESSED_BLOCK_CACHE_H

#include "tansu.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A block of a segment. Zeroed, it is not in the cache. */
typedef struct block_slot {
    uint32_t state; /* atomic: see block_cache.c */
    uint32_t size;
    uint8_t *bytes; /* while it is loaded */
} block_slot;

typedef struct block_cache {
    pthread_mutex_t mutex;
    uint64_t limit; /* bytes */
    uint64_t bytes; /* the following are guarded by the mutex */
    block_slot **loaded;
    size_t count, capacity, hand;
    /* Blocks that could not be read; atomic. */
    uint64_t faults;
    uint64_t fault_at; /* of the newest: segment << 32 | offset in the file */
    int fault_status;  /* CORRUPT or MEMORY */
} block_cache;

/* block_cache_init -- false when the system has no mutex more. */
bool block_cache_init(block_cache *cache);

/* block_cache_free -- when all segments are closed. */
void block_cache_free(block_cache *cache);

/* block_pin -- the bytes of a block that is in the cache, pinned; NULL when it is not. */
const uint8_t *block_pin(block_slot *slot);

/* block_checked -- whether the block was in the cache before. */
bool block_checked(const block_slot *slot);

/* block_unpin -- ends a pin. */
void block_unpin(block_slot *slot);

/* block_add -- puts the bytes (from malloc()) of a block into the cache and pins it; evicts others.
 * Returns the bytes, which may be those that another thread has added. NULL when memory is
 * exhausted; the bytes are freed then. */
const uint8_t *block_add(block_cache *cache, block_slot *slot, uint8_t *bytes, uint32_t size);

/* block_failed -- counts a block that could not be read. */
void block_failed(block_cache *cache, tansu_status status, uint32_t number, uint64_t offset);

/* block_cache_forget -- takes all blocks of a segment out of the cache. None is pinned. */
void block_cache_forget(block_cache *cache, block_slot *slots, size_t count);

#endif
