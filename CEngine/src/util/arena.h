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

typedef struct arena_chunk arena_chunk;

/* Zeroed, it is empty. */
typedef struct arena {
    arena_chunk *chunks;
    size_t used;  /* bytes that were asked for, those of arena_charge() among them */
    size_t limit; /* the limit of `used`; 0: none */
    bool full;    /* the limit made an allocation fail */
} arena;

/* arena_alloc -- zeroed memory, aligned for anything; NULL when memory is exhausted. */
void *arena_alloc(arena *a, size_t size);

/* arena_charge -- counts memory that belongs to the same object but is allocated elsewhere; false
 * when that exceeds the limit. */
bool arena_charge(arena *a, size_t size);

/* arena_copy -- a copy of bytes with a NUL after it; NULL when memory is exhausted. */
void *arena_copy(arena *a, const void *bytes, size_t size);

/* A mark in an arena: what was allocated after it can be freed alone. */
typedef struct arena_mark {
    arena_chunk *chunk;
    size_t chunk_used;
    size_t used;
} arena_mark;

arena_mark arena_get_mark(const arena *a);
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
