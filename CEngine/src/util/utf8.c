/*
 * util/utf8.c -- checking, reading and writing UTF-8.
 */
#include "util/utf8.h"

/* sequence_size -- the size of the well-formed sequence at `p`, of which `left` bytes are there;
 * 0 when there is none (RFC 3629: shortest forms, no surrogates, up to U+10FFFF). */
static size_t sequence_size(const uint8_t *p, size_t left) {
    uint8_t first = p[0];
    if (first < 0x80)
        return 1;
    if (first < 0xC2 || left < 2)
        return 0;
    if (first < 0xE0)
        return (p[1] & 0xC0) == 0x80 ? 2 : 0;
    if (left < 3 || (p[2] & 0xC0) != 0x80)
        return 0;
    if (first < 0xF0) {
        uint8_t least = first == 0xE0 ? 0xA0 : 0x80;
        uint8_t most = first == 0xED ? 0x9F : 0xBF;
        return p[1] >= least && p[1] <= most ? 3 : 0;
    }
    if (first > 0xF4 || left < 4 || (p[3] & 0xC0) != 0x80)
        return 0;
    uint8_t least = first == 0xF0 ? 0x90 : 0x80;
    uint8_t most = first == 0xF4 ? 0x8F : 0xBF;
    return p[1] >= least && p[1] <= most ? 4 : 0;
}

size_t utf8_valid(const uint8_t *bytes, size_t size) {
    if (utf8_is_ascii(bytes, size))
        return size;
    size_t at = 0;
    while (at < size) {
        if (size - at >= 8 && (load_u64(bytes + at) & 0x8080808080808080u) == 0) {
            at += 8;
            continue;
        }
        size_t step = sequence_size(bytes + at, size - at);
        if (step == 0)
            return at;
        at += step;
    }
    return size;
}

size_t utf8_decode(const uint8_t *p, size_t left, uint32_t *character) {
    static const uint8_t first_bits[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    size_t size = sequence_size(p, left);
    uint32_t c = p[0] & first_bits[size];
    for (size_t i = 1; i < size; i++)
        c = c << 6 | (p[i] & 0x3F);
    *character = c;
    return size;
}

size_t utf8_encode(uint32_t character, uint8_t *bytes) {
    static const uint8_t first_bits[] = {0, 0, 0xC0, 0xE0, 0xF0};
    size_t size = character < 0x80 ? 1 : character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
    for (size_t i = size; i-- > 1; character >>= 6)
        bytes[i] = (uint8_t)(0x80 | (character & 0x3F));
    bytes[0] = (uint8_t)(first_bits[size] | character);
    return size;
}
