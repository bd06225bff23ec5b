/*
 * util/buffer.h -- growable byte buffers (tansu_buffer).
 */
#ifndef TANSU_UTIL_BUFFER_H
#define TANSU_UTIL_BUFFER_H

#include "tansu.h"
#include <stdbool.h>
#include <string.h>

/* buffer_reserve -- reserves capacity for `more` bytes after `size`; false when memory is exhausted
 * (the buffer is then unchanged). */
bool buffer_reserve(tansu_buffer *buffer, size_t more);

/* buffer_append -- appends bytes; false when memory is exhausted (the buffer is then unchanged). */
static inline bool buffer_append(tansu_buffer *buffer, const void *bytes, size_t size) {
    if (buffer->capacity - buffer->size < size && !buffer_reserve(buffer, size))
        return false;
    if (size != 0)
        memcpy(buffer->data + buffer->size, bytes, size);
    buffer->size += size;
    return true;
}

/* buffer_append_byte -- appends one byte; false when memory is exhausted. */
static inline bool buffer_append_byte(tansu_buffer *buffer, uint8_t byte) {
    if (buffer->capacity == buffer->size && !buffer_reserve(buffer, 1))
        return false;
    buffer->data[buffer->size++] = byte;
    return true;
}

/* buffer_set -- replaces the content; false when memory is exhausted. */
static inline bool buffer_set(tansu_buffer *buffer, const void *bytes, size_t size) {
    buffer->size = 0;
    return buffer_append(buffer, bytes, size);
}

/* buffer_free -- tansu_buffer_free() of a buffer that is seldom used, and then has no memory. */
static inline void buffer_free(tansu_buffer *buffer) {
    if (buffer->data != NULL)
        tansu_buffer_free(buffer);
}

#endif
