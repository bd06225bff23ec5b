/*
 * log/compressed/block_cache.c -- the cache of decompressed blocks.
 *
 * The state of a slot is a number of pins and three flags. Only a thread that holds the mutex sets
 * or clears LOADED; it clears LOADED of a block without pins in one step, so that a reader that
 * has pinned a loaded block may use its bytes.
 */
#include "log/compressed/compressed_segment.h"

#include "util/array.h"

#include <stdlib.h>

#define LOADED ((uint32_t)1 << 31) /* it has bytes */
#define USED ((uint32_t)1 << 30) /* it was pinned since the clock passed, not counting the first */
#define CHECKED ((uint32_t)1 << 29) /* it was loaded once */

/* That many blocks are evicted at a time. */
#define EVICTED_MOST 16

bool block_cache_init(block_cache *cache) {
    return pthread_mutex_init(&cache->mutex, NULL) == 0;
}

void block_cache_free(block_cache *cache) {
    free(cache->loaded);
    pthread_mutex_destroy(&cache->mutex);
}

const uint8_t *block_pin(block_slot *slot) {
    uint32_t state = __atomic_load_n(&slot->state, __ATOMIC_RELAXED);
    while ((state & LOADED) != 0)
        if (__atomic_compare_exchange_n(&slot->state, &state, (state + 1) | USED, true,
                                        __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return slot->bytes;
    return NULL;
}

bool block_checked(const block_slot *slot) {
    return (__atomic_load_n(&slot->state, __ATOMIC_RELAXED) & CHECKED) != 0;
}

void block_slot_unpin(block_slot *slot) {
    __atomic_fetch_sub(&slot->state, 1, __ATOMIC_RELEASE);
}

/* drop -- takes the block at an index out of the list. */
static uint8_t *drop(block_cache *cache, size_t index) {
    block_slot *slot = cache->loaded[index];
    uint8_t *bytes = slot->bytes;
    slot->bytes = NULL;
    if (cache->secret)
        crypt_wipe(bytes, slot->size);
    cache->bytes -= slot->size;
    cache->loaded[index] = cache->loaded[--cache->count];
    return bytes;
}

/* evict -- takes blocks out that nobody has pinned, until the cache is within its bound; they are
 * for the caller to free. The mutex is held. */
static size_t evict(block_cache *cache, uint8_t *evicted[EVICTED_MOST]) {
    size_t n = 0;
    /* The second round finds those that the first has marked as not used. */
    for (size_t steps = 2 * cache->count;
         steps > 0 && cache->count != 0 && cache->bytes > cache->limit && n < EVICTED_MOST;
         steps--) {
        if (cache->hand >= cache->count)
            cache->hand = 0;
        block_slot *slot = cache->loaded[cache->hand];
        uint32_t none = LOADED | CHECKED;
        if (__atomic_compare_exchange_n(&slot->state, &none, CHECKED, false, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED)) {
            evicted[n++] = drop(cache, cache->hand);
        } else {
            __atomic_fetch_and(&slot->state, ~USED, __ATOMIC_RELAXED);
            cache->hand++;
        }
    }
    return n;
}

const uint8_t *block_add(block_cache *cache, block_slot *slot, uint8_t *bytes, uint32_t size) {
    uint8_t *evicted[EVICTED_MOST];
    size_t n = 0;
    pthread_mutex_lock(&cache->mutex);
    const uint8_t *there = block_pin(slot);
    if (there == NULL && ARRAY_RESERVE(cache->loaded, cache->count, cache->capacity, 1)) {
        cache->loaded[cache->count++] = slot;
        cache->bytes += size;
        slot->size = size;
        slot->bytes = bytes;
        there = bytes;
        __atomic_store_n(&slot->state, LOADED | CHECKED | 1, __ATOMIC_RELEASE);
        n = evict(cache, evicted);
    }
    pthread_mutex_unlock(&cache->mutex);
    while (n > 0)
        free(evicted[--n]);
    if (there != bytes && cache->secret)
        crypt_wipe(bytes, size);
    if (there != bytes)
        free(bytes);
    return there;
}

void block_failed(block_cache *cache, tansu_status status, uint32_t number, uint64_t offset) {
    __atomic_store_n(&cache->fault_status, (int)status, __ATOMIC_RELAXED);
    __atomic_store_n(&cache->fault_at, (uint64_t)number << 32 | offset, __ATOMIC_RELAXED);
    __atomic_fetch_add(&cache->faults, 1, __ATOMIC_RELEASE);
}

void block_cache_forget(block_cache *cache, block_slot *slots, size_t count) {
    pthread_mutex_lock(&cache->mutex);
    for (size_t i = cache->count; i > 0; i--) {
        block_slot *slot = cache->loaded[i - 1];
        if (slot >= slots && slot < slots + count)
            free(drop(cache, i - 1));
    }
    pthread_mutex_unlock(&cache->mutex);
}
