/*
 * util/checksum/md5.c -- MD5: four rounds of 16 steps for each block of 64 bytes.
 */
#include "util/checksum/md5.h"

#include "util/bytes.h"

#include <string.h>

void md5_begin(md5 *m) {
    *m = (md5){.state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476}};
}

/* add_block -- the next 64 bytes. */
static void add_block(md5 *m, const uint8_t *block) {
    /* The binary digits of the sines of 1 to 64. */
    static const uint32_t sines[64] = {
        0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613,
        0xfd469501, 0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193,
        0xa679438e, 0x49b40821, 0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d,
        0x02441453, 0xd8a1e681, 0xe7d3fbc8, 0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed,
        0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a, 0xfffa3942, 0x8771f681, 0x6d9d6122,
        0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70, 0x289b7ec6, 0xeaa127fa,
        0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665, 0xf4292244,
        0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
        0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb,
        0xeb86d391};
    static const uint8_t rotations[4][4] = {
        {7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
    uint32_t a = m->state[0], b = m->state[1], c = m->state[2], d = m->state[3];
    for (unsigned i = 0; i < 64; i++) {
        unsigned round = i / 16, word;
        uint32_t f;
        switch (round) {
        case 0: f = (b & c) | (~b & d), word = i; break;
        case 1: f = (d & b) | (~d & c), word = (5 * i + 1) % 16; break;
        case 2: f = b ^ c ^ d, word = (3 * i + 5) % 16; break;
        default: f = c ^ (b | ~d), word = 7 * i % 16; break;
        }
        f += a + sines[i] + load_u32(block + (size_t)4 * word);
        unsigned bits = rotations[round][i % 4];
        a = d;
        d = c;
        c = b;
        b += f << bits | f >> (32 - bits);
    }
    m->state[0] += a;
    m->state[1] += b;
    m->state[2] += c;
    m->state[3] += d;
}

void md5_add(md5 *m, const void *bytes, size_t size) {
    const uint8_t *at = bytes;
    while (size > 0) {
        size_t used = m->size % sizeof m->block, part = sizeof m->block - used;
        part = part < size ? part : size;
        memcpy(m->block + used, at, part);
        m->size += part;
        at += part;
        size -= part;
        if (used + part == sizeof m->block)
            add_block(m, m->block);
    }
}

void md5_end(md5 *m, uint8_t digest[16]) {
    static const uint8_t padding[64] = {0x80};
    uint8_t bits[8];
    store_u64(bits, m->size * 8);
    md5_add(m, padding, 1 + (119 - m->size % 64) % 64);
    md5_add(m, bits, sizeof bits);
    for (size_t i = 0; i < 4; i++)
        store_u32(digest + 4 * i, m->state[i]);
}
