/*
 * util/arena.h -- memory that is freed all at once: the parts of a compiled query, the bounds of a
 * plan.
 */
#ifndef TANSU_UTIL_ARENA_H
#define TANSU_UTIL_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct arena_chunk {
    struct arena_chunk *next;
    size_t used;
    size_t size;
    max_align_t bytes[];
} arena_chunk;

/* Zeroed, it is empty. */
typedef struct arena {
    arena_chunk *chunks;
    size_t used;  /* bytes that were asked for, those of arena_charge() among them */
    size_t limit; /* the limit of `used`; 0: none */
    bool full;    /* the limit made an allocation fail */
} arena;

/* arena_charge -- counts memory that belongs to the same object but is allocated elsewhere; false
 * when that exceeds the limit. */
static inline bool arena_charge(arena *a, size_t size) {
    if (a->limit != 0 && (a->used > a->limit || size > a->limit - a->used)) {
        a->full = true;
        return false;
    }
    a->used += size;
    return true;
}

/* arena_grow -- arena_alloc() of a size that the newest chunk has no room for. */
void *arena_grow(arena *a, size_t size);

/* arena_alloc -- zeroed memory, aligned for anything; NULL when memory is exhausted. Inline,
 * because it is short and a query calls it some thirty times, mostly with sizes that the compiler
 * knows. */
static inline void *arena_alloc(arena *a, size_t size) {
    size_t unit = sizeof(max_align_t);
    arena_chunk *chunk = a->chunks;
    if (size > SIZE_MAX / 2)
        return NULL;
    size = (size + unit - 1) / unit * unit;
    if (!chunk || chunk->size - chunk->used < size)
        return arena_grow(a, size);
    if (!arena_charge(a, size))
        return NULL;
    void *result = (uint8_t *)chunk->bytes + chunk->used;
    chunk->used += size;
    return memset(result, 0, size);
}

/* arena_copy -- a copy of bytes with a NUL after it; NULL when memory is exhausted. */
void *arena_copy(arena *a, const void *bytes, size_t size);

/* A mark in an arena: what was allocated after it can be freed alone. */
typedef struct arena_mark {
    arena_chunk *chunk;
    size_t chunk_used;
    size_t used;
} arena_mark;

static inline arena_mark arena_get_mark(const arena *a) {
    return (arena_mark){a->chunks, a->chunks ? a->chunks->used : 0, a->used};
}
void arena_release(arena *a, arena_mark mark);

/* arena_free -- frees everything; the arena is then empty. */
void arena_free(arena *a);

/* zeroed_alloc -- calloc() of one object that is allocated and freed with each call, by malloc():
 * glibc before 2.41 never takes what calloc() returns from the lists of the thread, so that it is
 * searched for each time, and freed with a search once those lists are full. */
static inline void *zeroed_alloc(size_t size) {
    void *memory = malloc(size);
    /* The compiler is not to see that this is calloc(), and to call that. */
    __asm__("" : "+r"(memory));
    return memory == NULL ? NULL : memset(memory, 0, size);
}

#endif
