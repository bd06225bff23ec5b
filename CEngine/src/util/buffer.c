/*
 * util/buffer.c -- growing byte buffers.
 */
#include "util/buffer.h"

#include <stdlib.h>

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
