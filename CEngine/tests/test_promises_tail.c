/*
 * test_promises_tail.c -- the end of the log: what was not on the disk when the
 * power was lost may be gone, in whatever pieces; what a process had committed
 * before it was killed, or what was forced to the disk, may not. Written from
 * docs/durability.md and docs/file-format.md alone.
 */
#include "toolkit/backing_up.h"
#include "toolkit/call.h"
#include "toolkit/check.h"
#include "toolkit/folder.h"
#include "toolkit/left_behind.h"
#include "toolkit/random.h"
#include "toolkit/upkeep.h"

#include <stdlib.h>

#define DOCUMENTS 1500 /* of 2 KiB: about three segments of 1 MiB */

/* zero -- overwrites a part of a file with zeros. */
static void zero(const char *path, uint64_t from, uint64_t to) {
    uint8_t *zeros = calloc(1, to - from + 1);
    REQUIRE(zeros != NULL);
    file_patch(path, from, zeros, to - from);
    free(zeros);
}

/* With `process` the system writes what it likes, when it likes: of several new
 * segments a later one may be on the disk and an earlier one not, or none of
 * their bytes, though the names are there. The database opens, with a first
 * part. */
static void segments_that_never_reached_the_disk_are_no_damage(void) {
    for (int kind = 0; kind < 5; kind++) {
        char *folder = left_behind(false, DOCUMENTS);
        const char *newest = left_segment(folder, 0), *before = left_segment(folder, 1);
        if (kind == 0 || kind == 1) { /* neither has any bytes */
            zero(newest, 0, file_size(newest));
            zero(before, 0, file_size(before));
        } else if (kind == 2) { /* not even their sizes */
            file_cut(newest, 0);
            file_cut(before, 0);
        } else if (kind == 3) { /* only the earlier one is missing */
            zero(before, 0, file_size(before));
        } else { /* its first block */
            zero(before, 0, 4096);
        }
        if (kind == 1)
            file_cut(newest, 0);
        left_before_restart(folder);
        left_holds_first(folder, 1, DOCUMENTS);
        folder_end(folder);
    }
}

/* complete_or_told -- all documents are there, or opening refuses and leaves
 * the files as they are. */
static void complete_or_told(const char *folder) {
    uint64_t before = left_checksum(folder);
    tansu_options options = call_options(folder);
    tansu_db *db = NULL;
    tansu_status status = tansu_open(&options, &db, &call_error);
    if (status == TANSU_OK) {
        CHECK_INT(DOCUMENTS, call_count(db, NULL, "c", "{}"));
        tansu_close(db);
        return;
    }
    CHECK_STATUS(TANSU_E_CORRUPT, status);
    CHECK(call_error.context[0] != 0);
    CHECK(left_checksum(folder) == before);
}

/* The system was not off: whatever the process had committed is there, or was
 * damaged. */
static void damage_after_a_kill_is_told(void) {
    random_source random = random_start(1);
    for (int round = 0; round < 12; round++) {
        char *folder = left_behind(round % 2 == 0, DOCUMENTS);
        const char *segment = left_segment(folder, round % 3 == 0 ? 1 : 0);
        uint64_t at = 64 + random_below(&random, left_end(segment) - 64);
        file_flip(segment, at, (unsigned)random_below(&random, 8));
        complete_or_told(folder);
        folder_end(folder);
    }
}

static void a_first_block_that_cannot_be_read_takes_no_commits_along(void) {
    for (int round = 0; round < 4; round++) {
        char *folder = left_behind(true, DOCUMENTS);
        const char *segment = left_segment(folder, (unsigned)round % 2);
        zero(segment, 0, round < 2 ? 4096 : 512);
        complete_or_told(folder);
        folder_end(folder);
    }
}

int main(void) {
    RUN(segments_that_never_reached_the_disk_are_no_damage);
    RUN(damage_after_a_kill_is_told);
    RUN(a_first_block_that_cannot_be_read_takes_no_commits_along);
    return check_finish();
}
