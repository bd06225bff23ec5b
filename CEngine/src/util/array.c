/*
 * util/array.c -- growth of growable arrays.
 */
#include "util/array.h"

#include "util/buffer.h"
#include "util/heap.h"

#include <stdlib.h>
#include <string.h>

/* The first allocation: smaller ones would soon be followed by a second. */
#define FIRST_BYTES 64
#define FIRST_ITEMS 4

/* grow -- a new capacity of at most `limit` items; 0 when the array cannot grow. */
static size_t grow(void *items, size_t item_size, size_t count, size_t more, size_t capacity,
                   size_t limit) {
    if (count > limit || more > limit - count)
        return 0;
    size_t need = count + more;
    size_t first = FIRST_BYTES / item_size > FIRST_ITEMS ? FIRST_BYTES / item_size : FIRST_ITEMS;
    size_t grown = capacity > limit / 2 ? limit : capacity * 2;
    if (grown < first && first <= limit)
        grown = first;
    if (grown < need)
        grown = need;
    void *memory;
    memcpy(&memory, items, sizeof memory); /* the pointer's type is not known here */
    memory = realloc(memory, grown * item_size);
    if (memory == NULL)
        return 0;
    memcpy(items, &memory, sizeof memory);
    return grown;
}

bool array_grow(void *items, size_t item_size, size_t count, size_t more, size_t *capacity) {
    size_t grown = grow(items, item_size, count, more, *capacity, PTRDIFF_MAX / item_size);
    if (grown != 0)
        *capacity = grown;
    return grown != 0;
}

bool array_grow_u32(void *items, size_t item_size, size_t count, size_t more, uint32_t *capacity) {
    size_t most = PTRDIFF_MAX / item_size;
    size_t grown =
        grow(items, item_size, count, more, *capacity, most < UINT32_MAX ? most : UINT32_MAX);
    if (grown != 0)
        *capacity = (uint32_t)grown;
    return grown != 0;
}

/* ---- Returning free memory of the C library's allocator to the system ---- */

#if defined(__APPLE__)
#include <malloc/malloc.h>
#elif defined(__GLIBC__)
#include <malloc.h>
#endif

void heap_trim(void) {
#if defined(__APPLE__)
    malloc_zone_pressure_relief(NULL, 0);
#elif defined(__GLIBC__)
    malloc_trim(0);
#endif
}

/* ---- Growing byte buffers ---- */

/* Below this a first allocation would soon be followed by a second one. */
#define BUFFER_LEAST 64

/* buffer_reserve -- reserves capacity for `more` bytes, at least doubling so that appends are
 * linear. */
bool buffer_reserve(tansu_buffer *buffer, size_t more) {
    if (buffer->capacity - buffer->size >= more)
        return true;
    if (more > SIZE_MAX - buffer->size)
        return false;
    size_t need = buffer->size + more;
    size_t capacity = buffer->capacity < BUFFER_LEAST ? BUFFER_LEAST : buffer->capacity;
    while (capacity < need)
        capacity = capacity > SIZE_MAX / 2 ? need : capacity * 2;
    uint8_t *data = realloc(buffer->data, capacity);
    if (data == NULL)
        return false;
    buffer->data = data;
    buffer->capacity = capacity;
    return true;
}

/* tansu_buffer_free -- frees a buffer's memory and zeroes it. */
void tansu_buffer_free(tansu_buffer *buffer) {
    if (buffer == NULL)
        return;
    free(buffer->data);
    buffer->data = NULL;
    buffer->size = 0;
    buffer->capacity = 0;
}

/* tansu_free -- frees a text that the library returned. */
void tansu_free(void *memory) {
    free(memory);
}
