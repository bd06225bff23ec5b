/*
 * test_locations_stored.c -- the stored form of a chunk of the location table: what is encoded is
 * decoded to the same, and any bytes to locations, or to an error.
 */
#include "index/locations.h"
#include "support/check.h"
#include "support/random/random.h"
#include "util/bytes.h"

#include <stdlib.h>
#include <string.h>

#define PLAIN_SIZE (LOCATIONS_CHUNK * sizeof(uint64_t))

static uint64_t words[LOCATIONS_CHUNK], again[LOCATIONS_CHUNK];
static uint8_t record[PLAIN_SIZE];

/* decode -- from memory that has no byte more than the record. */
static bool decode(const uint8_t *from, size_t size) {
    uint8_t *exact = malloc(size + (size == 0));
    REQUIRE(exact != NULL);
    memcpy(exact, from, size);
    bool done = locations_decode(again, exact, size);
    free(exact);
    return done;
}

/* round_trip -- the size of the stored form of `words`. */
static size_t round_trip(void) {
    size_t size = locations_encode(record, words);
    CHECK(size <= PLAIN_SIZE);
    memset(again, 0xEE, sizeof again);
    CHECK(decode(record, size));
    CHECK_BYTES(words, sizeof words, again, sizeof again);
    return size;
}

/* append_documents -- locations as a bulk insert assigns them. */
static void append_documents(random_source *random, uint64_t location, unsigned align) {
    for (size_t i = 0; i < LOCATIONS_CHUNK; i++) {
        words[i] = location;
        location += (200 + random_below(random, 60)) / align * align;
    }
}

static void locations_of_a_bulk_insert_take_a_byte_or_two(void) {
    random_source random = random_start(1);
    append_documents(&random, ((uint64_t)1 << 32) + 64, 8);
    CHECK(round_trip() < LOCATIONS_CHUNK + 16);
    append_documents(&random, ((uint64_t)7 << 32) + 61, 1);
    CHECK(round_trip() < 2 * LOCATIONS_CHUNK + 16);
}

static void gaps_and_removals_are_kept(void) {
    random_source random = random_start(2);
    memset(words, 0, sizeof words);
    CHECK(round_trip() < 4);
    for (int round = 0; round < 300; round++) {
        append_documents(&random, (1 + random_below(&random, 100)) << 32, 8);
        unsigned gone = (unsigned)random_below(&random, 100);
        for (size_t i = 0; i < LOCATIONS_CHUNK; i++) {
            if (random_chance(&random, gone))
                words[i] = 0;
            else if (random_chance(&random, gone / 4))
                words[i] |= 1;
            else if (random_chance(&random, gone / 4))
                words[i] = (1 + random_below(&random, 100)) << 32 | random_below(&random, 1 << 26);
        }
        if (random_chance(&random, 30))
            memset(words + random_below(&random, LOCATIONS_CHUNK), 0, sizeof *words);
        size_t most = random_below(&random, LOCATIONS_CHUNK);
        if (random_chance(&random, 30))
            memset(words + most, 0, (LOCATIONS_CHUNK - most) * sizeof *words);
        round_trip();
    }
}

/* Words without any order are stored as they are; so is what no location can be. */
static void any_words_are_kept(void) {
    static const uint64_t far[] = {UINT64_MAX, (uint64_t)1 << 63, 1, ((uint64_t)1 << 63) - 1};
    random_source random = random_start(3);
    for (int round = 0; round < 100; round++) {
        for (size_t i = 0; i < LOCATIONS_CHUNK; i++)
            words[i] = random_next(&random) >> (round % 64);
        size_t size = round_trip();
        CHECK(round != 0 || size == PLAIN_SIZE);
    }
    memset(words, 0, sizeof words);
    for (size_t a = 0; a < sizeof far / sizeof *far; a++)
        for (size_t b = 0; b < sizeof far / sizeof *far; b++) {
            words[3] = far[a];
            words[4] = far[b];
            round_trip();
        }
}

/* The form of chunks that the other one would make no smaller. */
static void chunks_of_eight_bytes_a_location_are_read(void) {
    random_source random = random_start(4);
    append_documents(&random, 64, 8);
    CHECK(decode((const uint8_t *)words, sizeof words));
    CHECK_BYTES(words, sizeof words, again, sizeof again);
}

static void any_bytes_are_locations_or_an_error(void) {
    random_source random = random_start(5);
    int decoded = 0;
    for (int round = 0; round < 2000; round++) {
        append_documents(&random, (uint64_t)3 << 32, 8);
        size_t size = locations_encode(record, words);
        for (size_t i = 0; i < 1 + random_below(&random, 3); i++)
            record[random_below(&random, random_chance(&random, 50) ? 4 : size)] =
                (uint8_t)random_next(&random);
        decoded += decode(record, random_chance(&random, 10) ? random_below(&random, size) : size);
    }
    CHECK(decoded > 0 && decoded < 2000);
    for (size_t i = 0; i < sizeof record; i++)
        record[i] = (uint8_t)random_next(&random);
    for (size_t size = 0; size < sizeof record; size += 1 + size / 9)
        decode(record, size);
}

static void a_part_of_a_chunk_is_an_error(void) {
    random_source random = random_start(6);
    append_documents(&random, (uint64_t)3 << 32, 8);
    size_t whole = locations_encode(record, words);
    for (size_t size = 0; size < whole; size++)
        CHECK(!decode(record, size));
    record[whole] = 0;
    CHECK(!decode(record, whole + 1));
}

/* The bytes that docs/file-format.md shows. */
static void the_documented_chunk_has_these_bytes(void) {
    static const uint8_t expected[] = {0x03, 0x04, 0x91, 0x80, 0x80, 0x80, 0x04, 0x31, 0x00, 0x2f};
    memset(words, 0, sizeof words);
    words[0] = ((uint64_t)1 << 32) + 64;
    words[1] = words[0] + 192;
    words[3] = words[1] + 184;
    size_t size = locations_encode(record, words);
    CHECK_BYTES(expected, sizeof expected, record, size);
    round_trip();
}

int main(void) {
    RUN(locations_of_a_bulk_insert_take_a_byte_or_two);
    RUN(gaps_and_removals_are_kept);
    RUN(any_words_are_kept);
    RUN(chunks_of_eight_bytes_a_location_are_read);
    RUN(any_bytes_are_locations_or_an_error);
    RUN(a_part_of_a_chunk_is_an_error);
    RUN(the_documented_chunk_has_these_bytes);
    return check_finish();
}
