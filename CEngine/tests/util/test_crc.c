/*
 * test_crc.c -- the CRC is that of zlib, for every size and alignment, in one piece and in several.
 */
#include "support/check.h"
#include "support/random/random.h"
#include "util/crc/crc.h"

#include <zlib.h>

#define BYTES 4096u

static uint8_t bytes[BYTES];

static void fill(uint64_t stream) {
    random_source source = random_start(stream);
    for (size_t i = 0; i < BYTES; i++)
        bytes[i] = (uint8_t)random_next(&source);
}

static void is_zlibs_for_every_size_and_alignment(void) {
    fill(1);
    for (size_t at = 0; at < 16; at++)
        for (size_t size = 0; size < 700; size++)
            CHECK_INT(crc32_z(0, bytes + at, size), crc_of(0, bytes + at, size));
    for (size_t size = 700; size <= BYTES; size += 61)
        CHECK_INT(crc32_z(0, bytes, size), crc_of(0, bytes, size));
}

static void continues_any_other(void) {
    fill(2);
    for (size_t size = 0; size < 300; size++) {
        uint32_t begun = (uint32_t)crc32_z(0, bytes, size);
        CHECK_INT(crc32_z(begun, bytes + size, 333), crc_of(begun, bytes + size, 333));
        CHECK_INT(crc32_z(0, bytes, size + 333), crc_of(crc_of(0, bytes, size), bytes + size, 333));
    }
    CHECK_INT(0x12345678, crc_of(0x12345678, bytes, 0));
    CHECK_INT(crc32_z(0x12345678, NULL, 0), crc_of(0x12345678, NULL, 0));
}

static void every_bit_counts(void) {
    fill(3);
    uint32_t whole = crc_of(7, bytes, 500);
    for (size_t bit = 0; bit < 500 * 8; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        CHECK(crc_of(7, bytes, 500) != whole);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

int main(void) {
    RUN(is_zlibs_for_every_size_and_alignment);
    RUN(continues_any_other);
    RUN(every_bit_counts);
    return check_finish();
}
