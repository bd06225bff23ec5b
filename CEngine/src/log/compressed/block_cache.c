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
#include <sys/mman.h>

#define LOADED ((uint32_t)1 << 31) /* it has bytes */
#define USED ((uint32_t)1 << 30) /* it was pinned since the clock passed, not counting the first */
#define CHECKED ((uint32_t)1 << 29) /* it was loaded once */

/* That many blocks are evicted at a time. */
#define EVICTED_MOST 16

bool block_cache_init(block_cache *cache) {
    return pthread_mutex_init(&cache->mutex, NULL) == 0;
}

void block_cache_free(block_cache *cache) {
    for (size_t i = 0; i < cache->chunk_count; i++)
        free(cache->chunks[i]);
    free(cache->chunks);
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

/* ---- Their memory ---- */

/*
 * Decrypted blocks lie in chunks, which from the second on are of large pages where the system has
 * some for whoever asks: a query that reads documents of many blocks otherwise waits for the addresses
 * of their pages as long as for the documents. Chunks stay until the cache is freed, and are no more
 * than its bound, or what was pinned at a time.
 */

#define CHUNK ((size_t)2 * 1024 * 1024)

/* pooled -- whether a block of that size lies in a chunk, where it takes SEALED_BYTES. */
static bool pooled(const block_cache *cache, uint32_t size) {
    return cache->secret && size <= SEALED_BYTES;
}

/* charge -- the memory that a block takes. */
static uint32_t charge(const block_cache *cache, uint32_t size) {
    return pooled(cache, size) ? SEALED_BYTES : size;
}

/* add_chunk -- false when memory is exhausted. The mutex is held. */
static bool add_chunk(block_cache *cache) {
    void *chunk = NULL;
    if (!ARRAY_RESERVE(cache->chunks, cache->chunk_count, cache->chunk_capacity, 1) ||
        posix_memalign(&chunk, CHUNK, CHUNK) != 0)
        return false;
#ifdef MADV_HUGEPAGE
    if (cache->chunk_count != 0)
        (void)madvise(chunk, CHUNK, MADV_HUGEPAGE);
#endif
    cache->chunks[cache->chunk_count++] = chunk;
    cache->carved = 0;
    return true;
}

uint8_t *block_alloc(block_cache *cache, uint32_t size) {
    if (!pooled(cache, size))
        return malloc(size);
    uint8_t *bytes = NULL;
    pthread_mutex_lock(&cache->mutex);
    if (cache->unused != NULL) {
        bytes = cache->unused;
        memcpy(&cache->unused, bytes, sizeof cache->unused);
    } else if ((cache->chunk_count != 0 && cache->carved != CHUNK) || add_chunk(cache)) {
        bytes = cache->chunks[cache->chunk_count - 1] + cache->carved;
        cache->carved += SEALED_BYTES;
    }
    pthread_mutex_unlock(&cache->mutex);
    return bytes;
}

/* put_back -- block_release() with the mutex held; returns what is not in a chunk, for the caller to
 * free. */
static uint8_t *put_back(block_cache *cache, uint8_t *bytes, uint32_t size) {
    if (cache->secret)
        crypt_wipe(bytes, size);
    if (!pooled(cache, size))
        return bytes;
    memcpy(bytes, &cache->unused, sizeof cache->unused);
    cache->unused = bytes;
    return NULL;
}

void block_release(block_cache *cache, uint8_t *bytes, uint32_t size) {
    pthread_mutex_lock(&cache->mutex);
    bytes = put_back(cache, bytes, size);
    pthread_mutex_unlock(&cache->mutex);
    free(bytes);
}

/* ---- Which there are ---- */

/* drop -- takes the block at an index out of the list. Returns as put_back(). */
static uint8_t *drop(block_cache *cache, size_t index) {
    block_slot *slot = cache->loaded[index];
    uint8_t *bytes = slot->bytes;
    slot->bytes = NULL;
    cache->bytes -= charge(cache, slot->size);
    cache->loaded[index] = cache->loaded[--cache->count];
    return put_back(cache, bytes, slot->size);
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
        cache->bytes += charge(cache, size);
        slot->size = size;
        slot->bytes = bytes;
        there = bytes;
        __atomic_store_n(&slot->state, LOADED | CHECKED | 1, __ATOMIC_RELEASE);
        n = evict(cache, evicted);
    }
    pthread_mutex_unlock(&cache->mutex);
    while (n > 0)
        free(evicted[--n]);
    if (there != bytes)
        block_release(cache, bytes, size);
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
