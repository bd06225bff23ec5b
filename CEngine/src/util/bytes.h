/*
 * util/bytes.h -- loading and storing integers at any alignment, in file order (little-endian) and
 * in key order (big-endian), and as varints.
 */
#ifndef TANSU_UTIL_BYTES_H
#define TANSU_UTIL_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "Tansu's files are little-endian and are mapped as they are: this host is not supported"
#endif

static inline uint32_t load_u32(const void *p) {
    uint32_t v;
    memcpy(&v, p, 4);
    return v;
}
static inline uint64_t load_u64(const void *p) {
    uint64_t v;
    memcpy(&v, p, 8);
    return v;
}
static inline void store_u32(void *p, uint32_t v) {
    memcpy(p, &v, 4);
}
static inline void store_u64(void *p, uint64_t v) {
    memcpy(p, &v, 8);
}
static inline uint32_t load_be32(const void *p) {
    return __builtin_bswap32(load_u32(p));
}
static inline uint64_t load_be64(const void *p) {
    return __builtin_bswap64(load_u64(p));
}
static inline void store_be32(void *p, uint32_t v) {
    store_u32(p, __builtin_bswap32(v));
}
static inline void store_be64(void *p, uint64_t v) {
    store_u64(p, __builtin_bswap64(v));
}

/* bytes_equal -- whether `size` bytes are the same; for short ones, to which a call of memcmp()
 * costs more than the comparison. */
static inline int bytes_equal(const void *a, const void *b, size_t size) {
    const uint8_t *p = (const uint8_t *)a, *q = (const uint8_t *)b;
    if (size >= 8) {
        /* The last word overlaps the one before. */
        for (size_t at = 0; at + 8 < size; at += 8)
            if (load_u64(p + at) != load_u64(q + at))
                return 0;
        return load_u64(p + size - 8) == load_u64(q + size - 8);
    }
    if (size >= 4)
        return ((load_u32(p) ^ load_u32(q)) | (load_u32(p + size - 4) ^ load_u32(q + size - 4))) ==
               0;
    if (size == 0)
        return 1;
    return ((p[0] ^ q[0]) | (p[size / 2] ^ q[size / 2]) | (p[size - 1] ^ q[size - 1])) == 0;
}

/* align8 -- rounds up to a multiple of eight, the alignment of everything in the log. */
static inline uint64_t align8(uint64_t n) {
    return (n + 7) & ~(uint64_t)7;
}

/* ---- Varints: numbers of seven bits a byte, the lowest first; the top bit says that another byte
 * follows ---- */

#define VARINT_MAX 10 /* bytes */

/* varint_put -- writes a number; the end of it. */
static inline uint8_t *varint_put(uint8_t *at, uint64_t number) {
    for (; number >= 0x80; number >>= 7)
        *at++ = (uint8_t)(number | 0x80);
    *at++ = (uint8_t)number;
    return at;
}

/* varint_take -- reads a number and moves *at after it; false when it is cut off at `end` or has
 * more than 64 bits. */
static inline bool varint_take(const uint8_t **at, const uint8_t *end, uint64_t *number) {
    uint64_t sum = 0;
    for (unsigned shift = 0; *at < end && shift < 64; shift += 7) {
        uint8_t byte = *(*at)++;
        sum |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80) {
            *number = sum;
            return shift < 63 || byte < 2;
        }
    }
    return false;
}

/* fold_sign -- 0, -1, 1, -2 … as 0, 1, 2, 3 …, so that small ones are short varints; unfold_sign:
 * back. */
static inline uint64_t fold_sign(uint64_t number) {
    return number << 1 ^ (0 - (number >> 63));
}
static inline uint64_t unfold_sign(uint64_t folded) {
    return folded >> 1 ^ (0 - (folded & 1));
}

#endif
