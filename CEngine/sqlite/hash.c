/*
 * sqlite/hash.c -- SipHash-2-4.
 */
#include "hash.h"

#include "bson.h"

#include <string.h>

static uint64_t rotate(uint64_t value, unsigned by) {
    return value << by | value >> (64 - by);
}

static void sip_round(uint64_t v[4]) {
    v[0] += v[1], v[1] = rotate(v[1], 13) ^ v[0], v[0] = rotate(v[0], 32);
    v[2] += v[3], v[3] = rotate(v[3], 16) ^ v[2];
    v[0] += v[3], v[3] = rotate(v[3], 21) ^ v[0];
    v[2] += v[1], v[1] = rotate(v[1], 17) ^ v[2], v[2] = rotate(v[2], 32);
}

uint64_t sql_hash(const uint64_t key[2], uint8_t type, const uint8_t *bytes, size_t size) {
    uint64_t v[] = {key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d,
                    key[0] ^ 0x6c7967656e657261, key[1] ^ 0x7465646279746573};
    for (size_t at = 0; at <= size; at += 8) {
        uint8_t block[8] = {0};
        size_t left = size - at;
        if (left)
            memcpy(block, bytes + at, left < 8 ? left : 8);
        if (left < 8)
            block[7] = (uint8_t)size;
        uint64_t word = (uint64_t)sql_int64(block);
        v[3] ^= word;
        sip_round(v), sip_round(v);
        v[0] ^= word;
    }
    v[2] ^= 0xFF ^ (uint64_t)type << 8;
    for (unsigned i = 0; i < 4; i++)
        sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}
