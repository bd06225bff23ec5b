/*
 * test_checksum.c -- the engine's checksum, whichever library computes it, against zlib's.
 */
#include "util/checksum/checksum.h"

#include "support/check.h"
#include "support/random/random.h"

#include <stdlib.h>
#include <zlib.h>

#define BYTES 70000

/* The check value that descriptions of CRC-32 give. */
static void a_known_text(void) {
    CHECK_INT(0xCBF43926, checksum(0, "123456789", 9));
    CHECK_INT(0, checksum(0, "", 0));
    CHECK_INT(0x12345678, checksum(0x12345678, "", 0));
}

static void any_bytes_after_any_others(void) {
    random_source source = random_start(1);
    uint8_t *bytes = malloc(BYTES);
    REQUIRE(bytes != NULL);
    for (size_t i = 0; i < BYTES; i++)
        bytes[i] = (uint8_t)random_below(&source, 256);
    for (int i = 0; i < 20000; i++) {
        /* Mostly short ones, where vector code has its special cases, at any alignment. */
        size_t most = random_chance(&source, 5) ? BYTES / 2 : 600;
        size_t from = random_below(&source, BYTES / 2), size = random_below(&source, most);
        uint32_t before = (uint32_t)random_below(&source, UINT64_C(1) << 32);
        uint32_t all = (uint32_t)crc32_z(before, bytes + from, size);
        CHECK_INT(all, checksum(before, bytes + from, size));
        size_t first = random_below(&source, size + 1);
        uint32_t half = checksum(before, bytes + from, first);
        CHECK_INT(all, checksum(half, bytes + from + first, size - first));
    }
    free(bytes);
}

int main(void) {
    RUN(a_known_text);
    RUN(any_bytes_after_any_others);
    return check_finish();
}
