/*
 * util/array.h -- growable arrays: a pointer, a count and a capacity that the owner keeps as three
 * variables or struct members.
 *
 *     if (!ARRAY_RESERVE(list->items, list->count, list->capacity, 1))
 *         return error_memory(error);
 *     list->items[list->count++] = item;
 */
#ifndef TANSU_UTIL_ARRAY_H
#define TANSU_UTIL_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool array_fits(size_t count, size_t more, size_t capacity) {
    return capacity - count >= more;
}

/* ARRAY_RESERVE -- ensures capacity for `more` items after the first `count`. The capacity at least
 * doubles when it grows, so n appends cost O(n). Returns false when memory is exhausted or when the
 * size overflows; the array is then unchanged. `items` is a typed pointer (NULL while the capacity
 * is 0) and `capacity` a uint32_t or a size_t (one type on some systems of 32 bits), both lvalues.
 * The arguments are evaluated more than once. The check is inline, the growth is a call. */
/* clang-format off */
#define ARRAY_RESERVE(items, count, capacity, more) \
    (array_fits((count), (more), (capacity)) || \
     _Generic(&(capacity), uint32_t *: array_grow_u32, default: array_grow)( \
         &(items), sizeof *(items), (count), (more), &(capacity)))
/* clang-format on */

/* array_grow -- the growth of ARRAY_RESERVE. `items` is the address of the array's pointer, of
 * whatever type. */
bool array_grow(void *items, size_t item_size, size_t count, size_t more, size_t *capacity);

/* array_grow_u32 -- the same for a capacity of 32 bits. */
bool array_grow_u32(void *items, size_t item_size, size_t count, size_t more, uint32_t *capacity);

#endif
