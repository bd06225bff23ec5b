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
} arena;

/* arena_alloc -- zeroed memory, aligned for anything; NULL when memory is exhausted. */
void *arena_alloc(arena *a, size_t size);

/* arena_copy -- a copy of bytes with a NUL behind it; NULL when memory is exhausted. */
void *arena_copy(arena *a, const void *bytes, size_t size);

/* arena_free -- gives everything back; the arena is then empty. */
void arena_free(arena *a);

#endif
