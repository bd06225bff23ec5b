/*
 * test_recovery.c -- what docs/durability.md and docs/file-format.md promise of the files of a
 * database: what is left after a crash or power loss is a prefix of the commits, corruption is
 * reported and not made worse, and indexes are rebuilt. What was not on the disk when the power was
 * lost may be gone, in any pieces; what a process had committed before it was killed, or what was
 * synced, may not. Written from the documentation alone, over the public API only.
 */
#include "support/calls/backup_calls.h"
#include "support/calls/call.h"
#include "support/calls/maintenance_calls.h"
#include "support/check.h"
#include "support/fault/crashed_database.h"
#include "support/folder.h"
#include "support/random/random.h"
#include "support/workload/sample_database.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DOCUMENTS 1500 /* of 2 KiB: about three segments of 1 MiB */

/* ---- Ends that were torn ---- */

static void garbage_after_the_last_commit_is_cut_off(void) {
    random_source random = random_start(1);
    for (int round = 0; round < 6; round++) {
        char *folder = crashed_database(false, DOCUMENTS);
        uint8_t garbage[3000];
        for (size_t i = 0; i < sizeof garbage; i++)
            garbage[i] = (uint8_t)random_next(&random);
        const char *newest = crashed_segment(folder, 0);
        uint64_t end = crashed_data_end(newest);
        file_patch(newest, end + 8 * random_below(&random, 4), garbage,
                   1 + random_below(&random, sizeof garbage));
        if (round % 2 == 0)
            crashed_before_restart(folder);
        crashed_recovers_prefix(folder, DOCUMENTS, DOCUMENTS);
        folder_end(folder);
    }
}

static void a_segment_that_was_cut_after_power_loss_holds_a_first_part(void) {
    random_source random = random_start(2);
    for (int round = 0; round < 6; round++) {
        char *folder = crashed_database(false, DOCUMENTS);
        const char *newest = crashed_segment(folder, 0);
        file_cut(newest, 64 + random_below(&random, crashed_data_end(newest) - 64));
        crashed_before_restart(folder);
        crashed_recovers_prefix(folder, 0, DOCUMENTS);
        folder_end(folder);
    }
}

/* ---- Damage ---- */

/* corrupt_or_whole -- the database opens with every document and passes verify, or refuses with
 * a place and leaves its files. */
static void corrupt_or_whole(const char *folder) {
    uint64_t before = crashed_checksum(folder);
    tansu_options options = call_options(folder);
    tansu_db *db = NULL;
    tansu_status status = tansu_open(&options, &db, &call_error);
    if (status == TANSU_OK) {
        /* Damage that was not read at opening is reported by verify. */
        bool all = call_count(db, NULL, "c", "{}") == DOCUMENTS;
        CHECK(all || maintenance_verify(db) == TANSU_E_CORRUPT);
        tansu_close(db);
        return;
    }
    CHECK_STATUS(TANSU_E_CORRUPT, status);
    CHECK(call_error.context[0] != 0);
    CHECK(strlen(call_error.message) > 20);
    CHECK(crashed_checksum(folder) == before);
}

/* In segments whose commits are all known to have been on the disk, whether the power was lost
 * or not. */
static void a_changed_byte_is_detected(void) {
    random_source random = random_start(3);
    for (int round = 0; round < 10; round++) {
        char *folder = crashed_database(true, DOCUMENTS);
        const char *segment = crashed_segment(folder, 2);
        char *salvaged = folder_new();
        folder_remove(salvaged);
        file_flip(segment, 64 + random_below(&random, crashed_data_end(segment) - 64),
                  (unsigned)random_below(&random, 8));
        if (round % 2 == 0)
            crashed_before_restart(folder);
        uint64_t before = crashed_checksum(folder);
        corrupt_or_whole(folder);
        if (crashed_checksum(folder) == before) {
            CHECK_STATUS(TANSU_OK, maintenance_repair(folder, salvaged));
            CHECK(maintenance_number("documents") >= DOCUMENTS - 1);
            CHECK(crashed_checksum(folder) == before);
            tansu_db *db = call_open(salvaged);
            CHECK(call_count(db, NULL, "c", "{}") >= DOCUMENTS - 1);
            maintenance_clean(db);
            call_close(db);
        }
        folder_end(salvaged);
        folder_end(folder);
    }
}

static void a_missing_segment_is_reported(void) {
    for (unsigned which = 1; which < 3; which++) {
        char *folder = crashed_database(true, DOCUMENTS);
        REQUIRE(unlink(crashed_segment(folder, which)) == 0);
        corrupt_or_whole(folder);
        folder_end(folder);
    }
}

static void a_newer_format_is_refused_and_left_alone(void) {
    char *folder = crashed_database(true, 10);
    crashed_set_manifest(folder, "tansu", "64");
    uint64_t before = crashed_checksum(folder);
    tansu_options options = call_options(folder);
    tansu_db *db = NULL;
    for (int read_only = 0; read_only < 2; read_only++) {
        options.read_only = read_only;
        CHECK_STATUS(TANSU_E_VERSION, tansu_open(&options, &db, &call_error));
    }
    CHECK(crashed_checksum(folder) == before);
    folder_end(folder);
}

static void index_files_are_rebuilt_and_it_is_reported(void) {
    for (int damage = 0; damage < 4; damage++) {
        char *folder = folder_new();
        tansu_db *db = call_open(folder);
        CHECK_OK(call_index(db, NULL, "c", "n", "{'n': 1}", NULL), &call_error);
        for (int i = 0; i < 500; i++) {
            bson_t *doc = BCON_NEW("_id", BCON_INT32(i), "n", BCON_INT32(i % 7));
            CHECK_OK(call_save_bson(db, NULL, "c", TANSU_SAVE, doc), &call_error);
            bson_destroy(doc);
        }
        call_close(db);
        const char *file = folder_join(folder, "index/blocks.tch");
        uint8_t zeros[4096] = {0};
        if (damage == 0)
            folder_remove(folder_join(folder, "index"));
        else if (damage == 1)
            REQUIRE(unlink(file) == 0);
        else if (damage == 2)
            file_cut(file, file_size(file) / 2);
        else
            file_patch(file, 0, zeros, sizeof zeros);
        db = call_open(folder);
        CHECK_INT(500, call_count(db, NULL, "c", "{}"));
        CHECK_INT(72, call_count(db, NULL, "c", "{'n': 1}"));
        tansu_buffer b = TANSU_BUFFER_INIT;
        bson_t doc;
        bson_iter_t iter;
        CHECK_OK(tansu_stats(db, &b, &call_error), &call_error);
        CHECK(bson_init_static(&doc, b.data, b.size) &&
              bson_iter_init_find(&iter, &doc, "indexesRebuilt") && BSON_ITER_HOLDS_UTF8(&iter));
        tansu_buffer_free(&b);
        maintenance_clean(db);
        call_close(db);
        folder_end(folder);
    }
}

/* ---- Stores ---- */

static void a_temporary_database_goes_with_its_closing(void) {
    char *folder = folder_new();
    tansu_options options = call_options(folder);
    options.store = TANSU_STORE_TEMPORARY;
    tansu_db *db = call_open_with(&options);
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1}"), &call_error);
    CHECK_INT(1, call_count(db, NULL, "c", "{}"));
    call_close(db);
    CHECK(rmdir(folder) == 0); /* nothing is left in it */
    free(folder);
}

/* ---- The end of the log ---- */

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
        char *folder = crashed_database(false, DOCUMENTS);
        const char *newest = crashed_segment(folder, 0), *before = crashed_segment(folder, 1);
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
        crashed_before_restart(folder);
        crashed_recovers_prefix(folder, 1, DOCUMENTS);
        folder_end(folder);
    }
}

/* complete_or_reported -- all documents are there, or opening refuses and leaves
 * the files as they are. */
static void complete_or_reported(const char *folder) {
    uint64_t before = crashed_checksum(folder);
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
    CHECK(crashed_checksum(folder) == before);
}

/* The system was not off: whatever the process had committed is there, or was
 * damaged. */
static void corruption_after_a_crash_is_reported(void) {
    random_source random = random_start(1);
    for (int round = 0; round < 12; round++) {
        char *folder = crashed_database(round % 2 == 0, DOCUMENTS);
        const char *segment = crashed_segment(folder, round % 3 == 0 ? 1 : 0);
        uint64_t at = 64 + random_below(&random, crashed_data_end(segment) - 64);
        file_flip(segment, at, (unsigned)random_below(&random, 8));
        complete_or_reported(folder);
        folder_end(folder);
    }
}

static void a_first_block_that_cannot_be_read_takes_no_commits_along(void) {
    for (int round = 0; round < 4; round++) {
        char *folder = crashed_database(true, DOCUMENTS);
        const char *segment = crashed_segment(folder, (unsigned)round % 2);
        zero(segment, 0, round < 2 ? 4096 : 512);
        complete_or_reported(folder);
        folder_end(folder);
    }
}

static void what_a_killed_shrinking_left_is_removed(void) {
    char *folder = sample_unclean(true);
    const char *left[] = {folder_join(folder, "index/blocks.tch.new"),
                          folder_join(folder, "index/blocks.tch.new.redo.0")};
    for (size_t i = 0; i < 2; i++)
        file_write(left[i], "unfinished", 10);
    tansu_db *db = call_open(folder);
    CHECK(!file_exists(left[0]) && !file_exists(left[1]));
    sample_check(db);
    call_close(db);
    folder_end(folder);
}

int main(void) {
    RUN(what_a_killed_shrinking_left_is_removed);
    RUN(garbage_after_the_last_commit_is_cut_off);
    RUN(a_segment_that_was_cut_after_power_loss_holds_a_first_part);
    RUN(a_changed_byte_is_detected);
    RUN(a_missing_segment_is_reported);
    RUN(a_newer_format_is_refused_and_left_alone);
    RUN(index_files_are_rebuilt_and_it_is_reported);
    RUN(a_temporary_database_goes_with_its_closing);
    RUN(segments_that_never_reached_the_disk_are_no_damage);
    RUN(corruption_after_a_crash_is_reported);
    RUN(a_first_block_that_cannot_be_read_takes_no_commits_along);
    return check_finish();
}
