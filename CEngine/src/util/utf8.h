/*
 * util/utf8.h -- checking, reading and writing UTF-8.
 */
#ifndef TANSU_UTIL_UTF8_H
#define TANSU_UTIL_UTF8_H

#include "util/bytes.h"

#include <stddef.h>

/* utf8_valid -- checks that the bytes are well-formed UTF-8 (RFC 3629; NUL is allowed). Returns the
 * offset of the first invalid byte, or `size`. */
size_t utf8_valid(const uint8_t *bytes, size_t size);

/* utf8_is_ascii -- whether no byte has its high bit set. Words that overlap take no more steps for
 * a short text than a branch or two; most texts of a document are short. */
static inline bool utf8_is_ascii(const uint8_t *bytes, size_t size) {
    uint64_t bits = 0;
    if (size >= 8) {
        for (size_t at = 0; at + 8 < size; at += 8)
            bits |= load_u64(bytes + at);
        bits |= load_u64(bytes + size - 8);
    } else if (size >= 4) {
        bits = load_u32(bytes) | load_u32(bytes + size - 4);
    } else if (size > 0) {
        bits = bytes[0] | bytes[size / 2] | bytes[size - 1];
    }
    return (bits & 0x8080808080808080u) == 0;
}

/* utf8_is_valid -- whether all bytes are well-formed; inline for those that are ASCII. */
static inline bool utf8_is_valid(const uint8_t *bytes, size_t size) {
    return utf8_is_ascii(bytes, size) || utf8_valid(bytes, size) == size;
}

/* utf8_decode -- reads the well-formed character at `p`, of which `left` (at least 1) bytes are
 * there, and returns its size; 0 when there is none. */
size_t utf8_decode(const uint8_t *p, size_t left, uint32_t *character);

/* utf8_encode -- writes a character as at most 4 bytes and returns their number. */
size_t utf8_encode(uint32_t character, uint8_t *bytes);

#endif
