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
