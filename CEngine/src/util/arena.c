/*
 * util/arena.c -- chunks of growing size, freed together.
 */
#include "util/arena.h"
#include <stdlib.h>
#include <string.h>

struct arena_chunk {
    arena_chunk *next;
    size_t used;
    size_t size;
    max_align_t bytes[];
};

/* The first two chunks, with their heads, are within the 1032 bytes that glibc keeps in lists of
 * the thread: most queries need no more, and allocate and free them without a search. */
#define FIRST_CHUNK 960
#define LAST_CHUNK (64 * 1024)

bool arena_charge(arena *a, size_t size) {
    if (a->limit != 0 && (a->used > a->limit || size > a->limit - a->used)) {
        a->full = true;
        return false;
    }
    a->used += size;
    return true;
}

/* arena_alloc -- takes from the newest chunk, or makes one that is large enough. */
void *arena_alloc(arena *a, size_t size) {
    size_t unit = sizeof(max_align_t);
    if (size > SIZE_MAX / 2)
        return NULL;
    size = (size + unit - 1) / unit * unit;
    if (!arena_charge(a, size))
        return NULL;
    arena_chunk *chunk = a->chunks;
    if (!chunk || chunk->size - chunk->used < size) {
        size_t room = chunk && chunk->next ? chunk->size * 2 : FIRST_CHUNK;
        if (room > LAST_CHUNK)
            room = LAST_CHUNK;
        if (room < size)
            room = size;
        chunk = malloc(sizeof *chunk + room);
        if (!chunk)
            return NULL;
        *chunk = (arena_chunk){.next = a->chunks, .used = 0, .size = room};
        a->chunks = chunk;
    }
    void *result = (uint8_t *)chunk->bytes + chunk->used;
    chunk->used += size;
    memset(result, 0, size);
    return result;
}

/* arena_copy -- copies and terminates. */
void *arena_copy(arena *a, const void *bytes, size_t size) {
    uint8_t *copy = arena_alloc(a, size + 1);
    if (copy && size != 0)
        memcpy(copy, bytes, size);
    return copy;
}

arena_mark arena_get_mark(const arena *a) {
    return (arena_mark){a->chunks, a->chunks ? a->chunks->used : 0, a->used};
}

void arena_release(arena *a, arena_mark mark) {
    while (a->chunks != mark.chunk) {
        arena_chunk *next = a->chunks->next;
        free(a->chunks);
        a->chunks = next;
    }
    if (a->chunks)
        a->chunks->used = mark.chunk_used;
    a->used = mark.used;
    a->full = false;
}

/* arena_free -- frees every chunk. */
void arena_free(arena *a) {
    while (a->chunks) {
        arena_chunk *next = a->chunks->next;
        free(a->chunks);
        a->chunks = next;
    }
    a->used = 0;
    a->full = false;
}
