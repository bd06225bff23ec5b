/*
 * index/segment_usage.c -- bytes by segment, as a sorted list: there are few segments.
 */
#include "index/locations.h"

#include "util/aligned_u64.h"
#include "util/array.h"
#include "util/bisect.h"
#include "util/buffer.h"
#include "util/bytes.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct segment_usage_item {
    uint32_t segment;
    aligned_u64 bytes;
} segment_usage_item;

/* Who changes it needs the mutex for the list only: nobody else changes that meanwhile, and the
 * bytes of an item are stored and loaded as a whole. So a commit, which adds to a segment that is
 * there, takes no mutex. */
struct segment_usage {
    pthread_mutex_t mutex;
    segment_usage_item *items; /* sorted by segment */
    uint32_t count;
    uint32_t capacity;
};

segment_usage *segment_usage_new(void) {
    segment_usage *u = calloc(1, sizeof *u);
    if (u != NULL && pthread_mutex_init(&u->mutex, NULL) != 0) {
        free(u);
        return NULL;
    }
    return u;
}

void segment_usage_free(segment_usage *u) {
    if (u == NULL)
        return;
    pthread_mutex_destroy(&u->mutex);
    free(u->items);
    free(u);
}

/* slot_of -- where a segment is, or would be. Most questions are about the last one. */
static uint32_t slot_of(const segment_usage *u, uint32_t segment) {
    if (u->count > 0 && u->items[u->count - 1].segment <= segment)
        return u->items[u->count - 1].segment == segment ? u->count - 1 : u->count;
    return (uint32_t)BISECT(u->items, u->count, segment_usage_item, segment, segment);
}

/* has -- whether the slot is the segment's. */
static bool has(const segment_usage *u, uint32_t slot, uint32_t segment) {
    return slot < u->count && u->items[slot].segment == segment;
}

/* insert -- an item with nothing in it; false when memory is exhausted. */
static bool insert(segment_usage *u, uint32_t slot, uint32_t segment) {
    if (!ARRAY_RESERVE(u->items, u->count, u->capacity, 1))
        return false;
    memmove(u->items + slot + 1, u->items + slot, (u->count - slot) * sizeof *u->items);
    u->items[slot] = (segment_usage_item){.segment = segment};
    u->count++;
    return true;
}

/* bytes_of -- of an item, which may be changed at the same time. */
static uint64_t bytes_of(const segment_usage_item *item) {
    return __atomic_load_n(&item->bytes, __ATOMIC_RELAXED);
}

void segment_usage_add(segment_usage *u, uint32_t segment, int64_t bytes) {
    uint32_t slot = slot_of(u, segment);
    if (!has(u, slot, segment)) {
        if (bytes <= 0)
            return;
        pthread_mutex_lock(&u->mutex);
        bool inserted = insert(u, slot, segment);
        pthread_mutex_unlock(&u->mutex);
        if (!inserted)
            return;
    }
    segment_usage_item *item = &u->items[slot];
    uint64_t now = bytes_of(item) + (uint64_t)bytes;
    if (bytes < 0 && (uint64_t)-bytes > bytes_of(item))
        now = 0;
    __atomic_store_n(&item->bytes, now, __ATOMIC_RELAXED);
}

uint64_t segment_usage_get(segment_usage *u, uint32_t segment) {
    pthread_mutex_lock(&u->mutex);
    uint32_t slot = slot_of(u, segment);
    uint64_t bytes = has(u, slot, segment) ? bytes_of(&u->items[slot]) : 0;
    pthread_mutex_unlock(&u->mutex);
    return bytes;
}

uint64_t segment_usage_dead(segment_usage *written, segment_usage *live, uint32_t segment) {
    uint64_t all = segment_usage_get(written, segment), alive = segment_usage_get(live, segment);
    return alive < all ? all - alive : 0;
}

uint64_t segment_usage_sum(segment_usage *u) {
    uint64_t sum = 0;
    pthread_mutex_lock(&u->mutex);
    for (uint32_t i = 0; i < u->count; i++)
        sum += bytes_of(&u->items[i]);
    pthread_mutex_unlock(&u->mutex);
    return sum;
}

void segment_usage_forget(segment_usage *u, uint32_t segment) {
    pthread_mutex_lock(&u->mutex);
    uint32_t slot = slot_of(u, segment);
    if (has(u, slot, segment)) {
        u->count--;
        memmove(u->items + slot, u->items + slot + 1, (u->count - slot) * sizeof *u->items);
    }
    pthread_mutex_unlock(&u->mutex);
}

void segment_usage_add_all(segment_usage *u, segment_usage *from) {
    pthread_mutex_lock(&from->mutex);
    for (uint32_t i = 0; i < from->count; i++)
        segment_usage_add(u, from->items[i].segment, (int64_t)bytes_of(&from->items[i]));
    pthread_mutex_unlock(&from->mutex);
}

bool segment_usage_encode(segment_usage *u, tansu_buffer *bytes) {
    bool done = true;
    uint32_t before = 0;
    pthread_mutex_lock(&u->mutex);
    for (uint32_t i = 0; done && i < u->count; i++) {
        uint8_t item[2 * VARINT_MAX];
        if (bytes_of(&u->items[i]) == 0)
            continue;
        uint8_t *end = varint_put(item, u->items[i].segment - before);
        end = varint_put(end, bytes_of(&u->items[i]));
        before = u->items[i].segment;
        done = buffer_append(bytes, item, (size_t)(end - item));
    }
    pthread_mutex_unlock(&u->mutex);
    return done;
}

/* append -- an item after all others; false when it is not greater, or memory is exhausted. */
static bool append(segment_usage *u, uint64_t segment, uint64_t bytes) {
    bool done = segment <= UINT32_MAX && slot_of(u, (uint32_t)segment) == u->count &&
                insert(u, u->count, (uint32_t)segment);
    if (done)
        u->items[u->count - 1].bytes = bytes;
    return done;
}

bool segment_usage_decode(segment_usage *u, const uint8_t *bytes, size_t size) {
    const uint8_t *end = bytes + size;
    uint64_t segment = 0, more, used;
    bool done = true;
    pthread_mutex_lock(&u->mutex);
    u->count = 0;
    while (done && bytes < end) {
        done = varint_take(&bytes, end, &more) && varint_take(&bytes, end, &used) &&
               more <= UINT32_MAX && append(u, segment + more, used);
        segment += done ? more : 0;
    }
    pthread_mutex_unlock(&u->mutex);
    return done;
}
