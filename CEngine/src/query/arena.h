/*
 * query/arena.h -- memory that is given back all at once: a compiled query's parts, a plan's
 * bounds. Part query; may call base.
 */
#ifndef TANSU_QUERY_ARENA_H
#define TANSU_QUERY_ARENA_H

#include "base/doc.h"

typedef struct arena_chunk arena_chunk;

/* Zeroed, it is empty. */
typedef struct arena {
    arena_chunk *chunks;
    size_t used;  /* bytes that were asked for, those of arena_charge() among them */
    size_t limit; /* that `used` may come to; 0: none */
    bool full;    /* the limit made an allocation fail */
} arena;

/* arena_alloc -- zeroed memory, aligned for anything; NULL when memory is exhausted. */
void *arena_alloc(arena *a, size_t size);

/* arena_charge -- counts memory that belongs to the same thing but lies elsewhere; false when that is
 * beyond the limit. */
bool arena_charge(arena *a, size_t size);

/* arena_copy -- a copy of bytes with a NUL behind it; NULL when memory is exhausted. */
void *arena_copy(arena *a, const void *bytes, size_t size);

/* A moment of an arena: what was allocated since can be given back alone. */
typedef struct arena_mark {
    arena_chunk *chunk;
    size_t chunk_used;
    size_t used;
} arena_mark;

arena_mark arena_now(const arena *a);
void arena_release(arena *a, arena_mark mark);

/* arena_free -- gives everything back; the arena is then empty. */
void arena_free(arena *a);

#endif
