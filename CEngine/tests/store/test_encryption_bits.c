/*
 * test_encryption_bits.c -- single bits of an encrypted database's files, turned over one after the
 * other: opening, reading or verify notices it, or every answer is right. What must be noticed, and
 * what may be harmless, is said for each part of each file.
 */
#include "crypt/crypt.h"
#include "log/compressed/sealed_block.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/random/random.h"
#include "support/workload/damaged_database.h"

#include <stdio.h>
#include <string.h>

#define DOCUMENTS 48
#define LARGE 6000

/* ---- The parts of files ---- */

enum part {
    PART_KEY,
    PART_MANIFEST,
    PART_HEADER, /* of a segment */
    PART_BLOCKS,
    PART_TABLE, /* without which all blocks are read; and the trailer */
    PART_AFTER, /* disk space after the last block of the log */
    PART_INDEX, /* free and replaced values are never read, and the log is newer */
    PART_MARKS, /* log/TAIL */
    PART_RESERVE,
    PARTS
};

static const struct {
    const char *name;
    bool noticed; /* each bit of it is */
} parts[PARTS] = {
    [PART_KEY] = {"KEY", true},
    [PART_MANIFEST] = {"MANIFEST", true},
    [PART_HEADER] = {"headers of segments", true},
    [PART_BLOCKS] = {"blocks of segments", true},
    [PART_TABLE] = {"tables of segments", false},
    [PART_AFTER] = {"space after the log", false},
    [PART_INDEX] = {"index files", false},
    [PART_MARKS] = {"log/TAIL", false},
    [PART_RESERVE] = {"log/reserve", false},
};

/* How many bits of each part were turned over, and noticed. */
static uint64_t turned[PARTS], noticed[PARTS];

/* Where the blocks of each file end, and whether a table follows. */
static uint64_t ends[DAMAGED_FILES_MOST];
static bool tables[DAMAGED_FILES_MOST];

static void find_ends(void) {
    for (int i = 0; i < damaged.file_count; i++) {
        if (!damaged_is_segment(damaged.files[i].name))
            continue;
        tansu_buffer bytes = TANSU_BUFFER_INIT;
        sealed_header header;
        uint64_t at = SEALED_BLOCKS;
        file_read(folder_join(damaged.whole, damaged.files[i].name), &bytes);
        while (sealed_header_at(bytes.data, bytes.size, at, &header) &&
               header.codec != SEALED_TABLE)
            at += sealed_size(header.stored);
        tansu_buffer_free(&bytes);
        ends[i] = at;
        tables[i] = damaged_blocks_end(damaged.files[i].name) != 0;
        CHECK(!tables[i] || damaged_blocks_end(damaged.files[i].name) == at);
    }
}

static enum part part_of(int file, uint64_t at) {
    const char *name = damaged.files[file].name;
    if (strcmp(name, "KEY") == 0)
        return PART_KEY;
    if (strcmp(name, "MANIFEST") == 0)
        return PART_MANIFEST;
    if (strcmp(name, "log/TAIL") == 0)
        return PART_MARKS;
    if (strcmp(name, "log/reserve") == 0)
        return PART_RESERVE;
    if (!damaged_is_segment(name)) {
        CHECK(strncmp(name, "index/", 6) == 0);
        return PART_INDEX;
    }
    return at < SEALED_BLOCKS ? PART_HEADER
           : at < ends[file]  ? PART_BLOCKS
           : tables[file]     ? PART_TABLE
                              : PART_AFTER;
}

/* ---- Turning them over ---- */

/* some_file -- one of the files, in half of all cases a segment. */
static int some_file(random_source *source) {
    bool segment = random_chance(source, 50);
    int file;
    do
        file = (int)random_below(source, (uint64_t)damaged.file_count);
    while (segment && !damaged_is_segment(damaged.files[file].name));
    return file;
}

/* turn_bits -- that many, each anywhere in some file, most of them where something is stored. */
static void turn_bits(bool closed, bool reading, uint64_t rounds) {
    random_source source = random_start(closed * 2u + reading);
    for (uint64_t round = 0; round < rounds; round++) {
        int i = some_file(&source);
        const char *name = damaged.files[i].name;
        uint64_t size = damaged.files[i].size;
        if (damaged_is_segment(name) && !tables[i] && random_chance(&source, 80))
            size = ends[i];
        uint64_t at = random_below(&source, size);
        if (random_chance(&source, 20)) /* headers, tables, trailers */
            at = random_chance(&source, 50) ? at % 256 : size - 1 - at % 256 % size;
        at = at < size ? at : size - 1;
        unsigned bit = (unsigned)random_below(&source, 8);
        char what[128];
        snprintf(what, sizeof what, "%s, %s: %.40s, offset %llu, bit %u",
                 closed ? "closed" : "killed", reading ? "read" : "written", name,
                 (unsigned long long)at, bit);
        file_flip(folder_join(damaged.home, name), at, bit);
        bool found = damaged_examine(what, reading);
        enum part part = part_of(i, at);
        turned[part]++;
        noticed[part] += found;
        if (parts[part].noticed && !CHECK(found))
            check_note("    %s: nothing noticed it", what);
        if (reading) {
            file_flip(folder_join(damaged.home, name), at, bit);
        } else { /* the opening has lost nothing of the rest */
            int lost = damaged.lost;
            damaged_examine(what, false);
            if (!CHECK(damaged.lost <= lost))
                check_note("    %s: %d documents were lost, then %d", what, lost, damaged.lost);
            damaged_restore();
        }
    }
}

static void a_changed_bit_is_noticed_or_harmless(void) {
    uint64_t rounds = random_rounds("encryption_bits", 2000);
    for (int closed = 0; closed < 2; closed++) {
        damaged_begin(closed, DOCUMENTS, LARGE);
        find_ends();
        turn_bits(closed, true, rounds * 9 / 20);
        turn_bits(closed, false, rounds / 20);
        damaged_end();
    }
    for (int i = 0; i < PARTS; i++)
        check_note("%-20s %7llu bits, %7llu noticed, the others without an effect", parts[i].name,
                   (unsigned long long)turned[i], (unsigned long long)noticed[i]);
}

int main(void) {
    if (!crypt_available()) {
        check_skip("the engine has no libcrypto");
        CHECK(true);
        return check_finish();
    }
    RUN(a_changed_bit_is_noticed_or_harmless);
    return check_finish();
}
