/*
 * index/locations_stored.c -- the stored form of a chunk of the location table.
 */
#include "index/locations_stored.h"

#include "util/bytes.h"

#define PLAIN_SIZE (LOCATIONS_CHUNK * sizeof(uint64_t))

/* common_shift -- the zero bits that all differences end with. */
static unsigned common_shift(const uint64_t *words, uint32_t count) {
    uint64_t before = 0, all = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (words[i] == 0)
            continue;
        all |= words[i] - before;
        before = words[i];
    }
    return all == 0 ? 0 : (unsigned)__builtin_ctzll(all);
}

/* shift_down -- a signed difference without its last bits. */
static uint64_t shift_down(uint64_t difference, unsigned shift) {
    uint64_t sign = 0 - (difference >> 63);
    return (difference ^ sign) >> shift ^ sign;
}

size_t locations_encode(uint8_t *record, const uint64_t words[LOCATIONS_CHUNK]) {
    uint32_t count = LOCATIONS_CHUNK;
    while (count > 0 && words[count - 1] == 0)
        count--;
    unsigned shift = common_shift(words, count);
    uint8_t *at = record;
    *at++ = (uint8_t)shift;
    at = varint_put(at, count);
    uint64_t before = 0;
    bool fits = true;
    for (uint32_t i = 0; fits && i < count; i++) {
        uint64_t word = words[i], difference = shift_down(word - before, shift);
        /* One more than the largest folded difference is 0 again. */
        fits =
            (size_t)(at - record) < PLAIN_SIZE - VARINT_MAX && fold_sign(difference) != UINT64_MAX;
        if (fits)
            at = varint_put(at, word == 0 ? 0 : fold_sign(difference) + 1);
        before = word == 0 ? before : word;
    }
    if (fits)
        return (size_t)(at - record);
    memcpy(record, words, PLAIN_SIZE);
    return PLAIN_SIZE;
}

bool locations_decode(uint64_t words[LOCATIONS_CHUNK], const uint8_t *record, size_t size) {
    if (size == PLAIN_SIZE) {
        memcpy(words, record, PLAIN_SIZE);
        return true;
    }
    const uint8_t *at = record, *end = record + size;
    uint64_t count;
    if (at == end || *at++ > 63 || !varint_take(&at, end, &count) || count > LOCATIONS_CHUNK)
        return false;
    unsigned shift = record[0];
    uint64_t before = 0, number;
    for (uint32_t i = 0; i < count; i++) {
        if (!varint_take(&at, end, &number))
            return false;
        if (number != 0)
            before += unfold_sign(number - 1) << shift;
        words[i] = number == 0 ? 0 : before;
    }
    memset(words + count, 0, (LOCATIONS_CHUNK - count) * sizeof *words);
    return at == end;
}
