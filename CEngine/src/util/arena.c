/*
 * util/arena.c -- chunks of growing size, freed together.
 */
#include "util/arena.h"
#include <stdlib.h>
#include <string.h>

/* The first two chunks, with their heads, are within the 1032 bytes that glibc keeps in lists of
 * the thread: most queries need no more, and allocate and free them without a search. */
#define FIRST_CHUNK 960
#define LAST_CHUNK (64 * 1024)

void *arena_grow(arena *a, size_t size) {
    if (!arena_charge(a, size))
        return NULL;
    arena_chunk *chunk = a->chunks;
    size_t room = chunk && chunk->next ? chunk->size * 2 : FIRST_CHUNK;
    if (room > LAST_CHUNK)
        room = LAST_CHUNK;
    if (room < size)
        room = size;
    chunk = malloc(sizeof *chunk + room);
    if (!chunk)
        return NULL;
    *chunk = (arena_chunk){.next = a->chunks, .used = size, .size = room};
    a->chunks = chunk;
    return memset(chunk->bytes, 0, size);
}

/* arena_copy -- copies and terminates. */
void *arena_copy(arena *a, const void *bytes, size_t size) {
    uint8_t *copy = arena_alloc(a, size + 1);
    if (copy && size != 0)
        memcpy(copy, bytes, size);
    return copy;
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
