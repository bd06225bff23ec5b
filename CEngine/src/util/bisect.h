/*
 * util/bisect.h -- binary search in sorted arrays of structs.
 *
 *     size_t at = BISECT(list->items, list->count, item_type, number, wanted);
 *     bool found = at < list->count && list->items[at].number == wanted;
 */
#ifndef TANSU_UTIL_BISECT_H
#define TANSU_UTIL_BISECT_H

#include <stddef.h>
#include <stdint.h>

/* BISECT -- the index of the first item whose member is not less than the key, or the count. The
 * items, of that type, are in the order of the member, which is a uint32_t or a uint64_t. */
/* clang-format off */
#define BISECT(items, count, type, member, key) \
    (_Generic(((const type *)NULL)->member, uint32_t: bisect_u32, uint64_t: bisect_u64)( \
        (items), sizeof(type), offsetof(type, member), (count), (key)))
/* clang-format on */

/* bisect_u32 -- BISECT by a member at that offset of items of that size. */
static inline size_t bisect_u32(const void *items, size_t size, size_t offset, size_t count,
                                uint32_t key) {
    const char *at = items;
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (*(const uint32_t *)(at + middle * size + offset) < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* bisect_u64 -- the same. */
static inline size_t bisect_u64(const void *items, size_t size, size_t offset, size_t count,
                                uint64_t key) {
    const char *at = items;
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (*(const uint64_t *)(at + middle * size + offset) < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#endif
