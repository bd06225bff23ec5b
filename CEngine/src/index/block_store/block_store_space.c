/*
 * index/block_store/block_store_space.c -- the block store's free extents: all sizes are multiples
 * of BLOCK_STORE_ALIGN.
 *
 * Between transactions they are a list by offset. A transaction allocates from lists by size, the
 * smallest extent that fits first; extents that it frees are not reused before the next one.
 */
#include "index/block_store/block_store_internal.h"
#include "util/array.h"

#include <stdlib.h>
#include <string.h>

/* How many extents of a list whose sizes differ are examined for one that fits. */
#define TRIES 16

bool extents_add(block_store_extents *list, uint64_t offset, uint64_t size) {
    if (!ARRAY_RESERVE(list->items, list->count, list->capacity, 1))
        return false;
    list->items[list->count++] = (block_store_extent){offset, size};
    return true;
}

/* by_offset -- for qsort(). */
static int by_offset(const void *a, const void *b) {
    const block_store_extent *x = a, *y = b;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

uint64_t extents_merge(block_store_extents *list, uint64_t end) {
    if (list->count == 0)
        return end;
    qsort(list->items, list->count, sizeof *list->items, by_offset);
    size_t kept = 0;
    for (size_t i = 1; i < list->count; i++) {
        block_store_extent *last = &list->items[kept];
        if (last->offset + last->size == list->items[i].offset)
            last->size += list->items[i].size;
        else
            list->items[++kept] = list->items[i];
    }
    list->count = kept + 1;
    if (list->items[kept].offset + list->items[kept].size == end) {
        end = list->items[kept].offset;
        list->count--;
    }
    return end;
}

void extents_free(block_store_extents *list) {
    free(list->items);
    *list = (block_store_extents){NULL, 0, 0};
}

/* bin_of -- the list for a size: one for each up to 4 KiB, then four for each power of two. */
static unsigned bin_of(uint64_t size) {
    uint64_t units = size / BLOCK_STORE_ALIGN;
    if (units < 64)
        return (unsigned)units;
    unsigned power = 63 - (unsigned)__builtin_clzll(units);
    unsigned bin = 64 + (power - 6) * 4 + (unsigned)(units >> (power - 2) & 3);
    return bin < SPACE_BINS ? bin : SPACE_BINS - 1;
}

/* put_slot -- into the list for its size. */
static void put_slot(block_store_space *space, uint32_t number) {
    unsigned bin = bin_of(space->slots[number].size);
    space->slots[number].next = space->bins[bin];
    space->bins[bin] = number + 1;
    space->filled[bin / 64] |= (uint64_t)1 << bin % 64;
}

bool space_begin(block_store_space *space, const block_store_extents *free, uint64_t end) {
    *space = (block_store_space){.end = end};
    if (free->count == 0)
        return true;
    if (free->count > UINT32_MAX / 2)
        return false;
    space->slots = malloc(free->count * sizeof *space->slots);
    if (space->slots == NULL)
        return false;
    space->count = free->count;
    /* From the last: so the first of a list is taken first, and writes go forward. */
    for (size_t i = free->count; i-- > 0;) {
        space->slots[i].offset = free->items[i].offset;
        space->slots[i].size = free->items[i].size;
        put_slot(space, (uint32_t)i);
    }
    return true;
}

/* next_bin -- the first list from `bin` on that is not empty; SPACE_BINS: none. */
static unsigned next_bin(const block_store_space *space, unsigned bin) {
    while (bin < SPACE_BINS) {
        uint64_t rest = space->filled[bin / 64] >> bin % 64;
        if (rest != 0)
            return bin + (unsigned)__builtin_ctzll(rest);
        bin = (bin / 64 + 1) * 64;
    }
    return SPACE_BINS;
}

uint64_t space_allocate(block_store_space *space, uint64_t size) {
    for (unsigned bin = next_bin(space, bin_of(size)); bin < SPACE_BINS;
         bin = next_bin(space, bin + 1)) {
        uint32_t *link = &space->bins[bin];
        for (int i = 0; i < TRIES && *link != 0; i++, link = &space->slots[*link - 1].next) {
            uint32_t number = *link - 1;
            struct space_slot *slot = &space->slots[number];
            if (slot->size < size)
                continue;
            uint64_t offset = slot->offset;
            *link = slot->next;
            if (space->bins[bin] == 0)
                space->filled[bin / 64] &= ~((uint64_t)1 << bin % 64);
            slot->offset += size;
            slot->size -= size;
            if (slot->size != 0)
                put_slot(space, number);
            return offset;
        }
    }
    uint64_t offset = space->end;
    space->end += size;
    return offset;
}

bool space_remaining(const block_store_space *space, block_store_extents *list) {
    for (size_t i = 0; i < space->count; i++)
        if (space->slots[i].size != 0 &&
            !extents_add(list, space->slots[i].offset, space->slots[i].size))
            return false;
    return true;
}

void space_free(block_store_space *space) {
    free(space->slots);
    *space = (block_store_space){.end = 0};
}

/* ---- Changed words of the block store's file, by offset ---- */

#define WORDS_LEAST 64

/* slot_of -- where an offset is in the table, or would be. */
static uint64_t *slot_of(const block_store_words *words, uint64_t offset) {
    size_t at = (size_t)(offset * 0x9E3779B97F4A7C15u >> 20) & (words->capacity - 1);
    while (words->pairs[2 * at] != 0 && words->pairs[2 * at] != offset)
        at = (at + 1) & (words->capacity - 1);
    return &words->pairs[2 * at];
}

bool words_reserve(block_store_words *words, size_t more) {
    size_t capacity = words->capacity == 0 ? WORDS_LEAST : words->capacity;
    while ((words->count + more) * 4 > capacity * 3)
        capacity *= 2;
    if (capacity == words->capacity)
        return true;
    block_store_words larger = {calloc(capacity, 2 * sizeof *words->pairs), capacity, words->count};
    if (larger.pairs == NULL)
        return false;
    for (size_t i = 0; i < words->capacity; i++)
        if (words->pairs[2 * i] != 0)
            memcpy(slot_of(&larger, words->pairs[2 * i]), &words->pairs[2 * i],
                   2 * sizeof *words->pairs);
    free(words->pairs);
    *words = larger;
    return true;
}

bool words_set(block_store_words *words, uint64_t offset, uint64_t value) {
    if (!words_reserve(words, 1))
        return false;
    uint64_t *slot = slot_of(words, offset);
    words->count += slot[0] == 0;
    slot[0] = offset;
    slot[1] = value;
    return true;
}

const uint64_t *words_find(const block_store_words *words, uint64_t offset) {
    if (words->count == 0)
        return NULL;
    const uint64_t *slot = slot_of(words, offset);
    return slot[0] == 0 ? NULL : &slot[1];
}

void words_free(block_store_words *words) {
    free(words->pairs);
    *words = (block_store_words){NULL, 0, 0};
}

/* words_by_offset -- for qsort(). */
static int words_by_offset(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

uint64_t *words_sorted(const block_store_words *words) {
    uint64_t *list = malloc((words->count + 1) * 2 * sizeof *list);
    if (list == NULL)
        return NULL;
    size_t n = 0;
    for (size_t i = 0; i < words->capacity; i++)
        if (words->pairs[2 * i] != 0) {
            list[2 * n] = words->pairs[2 * i];
            list[2 * n++ + 1] = words->pairs[2 * i + 1];
        }
    qsort(list, n, 2 * sizeof *list, words_by_offset);
    return list;
}
