/*
 * util/bisect.h -- binary search in sorted arrays of structs.
 *
 *     size_t at = BISECT(list->items, list->count, item_type, number, wanted);
 *     bool found = at < list->count && list->items[at].number == wanted;
 */
#ifndef TANSU_UTIL_BISECT_H
#define TANSU_UTIL_BISECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* BISECT -- the index of the first item whose member is not less than the key, or the count. The
 * items, of that type, are in the order of the member, which is a uint32_t or a uint64_t. */
/* clang-format off */
#define BISECT(items, count, type, member, key) \
    bisect((items), sizeof(type), offsetof(type, member), \
           _Generic(((const type *)NULL)->member, uint32_t: false, uint64_t: true), (count), (key))
/* clang-format on */

/* bisect -- BISECT by a member at that offset of items of that size; `wide`: of 64 bits. */
static inline size_t bisect(const void *items, size_t size, size_t offset, bool wide, size_t count,
                            uint64_t key) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const void *at = (const char *)items + middle * size + offset;
        if ((wide ? *(const uint64_t *)at : *(const uint32_t *)at) < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#endif
