/*
 * test_log_scan.c -- skipping zeros against a loop over the words.
 */
#include "log/scan.h"
#include "support/check.h"
#include "support/random/random.h"

#include <string.h>

#define SIZE 600

/* zeros_plainly -- what scan_zeros() returns, word by word. */
static uint64_t zeros_plainly(const uint8_t *bytes, uint64_t size, uint64_t offset) {
    static const uint8_t zero[8] = {0};
    while (offset + 8 <= size && memcmp(bytes + offset, zero, 8) == 0)
        offset += 8;
    return offset;
}

/* One byte anywhere that is not zero, or none, in ranges of any size. */
static void zeros_end_where_words_do(void) {
    static uint8_t bytes[SIZE];
    for (uint64_t size = 0; size <= SIZE; size += 3)
        for (uint64_t offset = 0; offset <= size + 8; offset += 8) {
            CHECK_INT(zeros_plainly(bytes, size, offset), scan_zeros(bytes, size, offset));
        }
    for (uint64_t at = 0; at < SIZE; at++) {
        bytes[at] = (uint8_t)(1u << at % 8);
        for (uint64_t offset = 0; offset < SIZE; offset += 8)
            CHECK_INT(zeros_plainly(bytes, SIZE, offset), scan_zeros(bytes, SIZE, offset));
        bytes[at] = 0;
    }
}

/* What opening searches: zeros, with words in between that are none. */
static void every_word_is_found(void) {
    static uint8_t bytes[SIZE];
    random_source random = random_start(1);
    for (int round = 0; round < 300; round++) {
        memset(bytes, 0, sizeof bytes);
        for (uint64_t i = random_below(&random, 40); i > 0; i--)
            bytes[random_below(&random, SIZE)] = (uint8_t)random_below(&random, 256);
        uint64_t size = random_below(&random, SIZE + 1), expected = 0, found = 0;
        do {
            expected = zeros_plainly(bytes, size, expected) + 8;
            found = scan_zeros(bytes, size, found) + 8;
            CHECK_INT(expected, found);
        } while (expected < size && check_failures() == 0);
    }
}

int main(void) {
    RUN(zeros_end_where_words_do);
    RUN(every_word_is_found);
    return check_finish();
}
