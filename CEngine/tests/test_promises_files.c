/*
 * test_promises_files.c -- what docs/durability.md and docs/file-format.md promise of the files of a database: what is left after a
 * kill or power loss is a first part of what was committed, damage is told and not made worse, and what can be made again is.
 * Written from the documentation alone, over the public API only; files are changed as the documentation describes them.
 */
#include "toolkit/backing_up.h"
#include "toolkit/call.h"
#include "toolkit/check.h"
#include "toolkit/folder.h"
#include "toolkit/left_behind.h"
#include "toolkit/random.h"
#include "toolkit/upkeep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DOCUMENTS 1500 /* of 2 KiB: about three segments of 1 MiB */

/* ---- Ends that were torn ---- */

static void garbage_behind_the_last_commit_is_cut_off(void) {
    random_source random = random_start(1);
    for (int round = 0; round < 6; round++) {
        char *folder = left_behind(false, DOCUMENTS);
        uint8_t garbage[3000];
        for (size_t i = 0; i < sizeof garbage; i++)
            garbage[i] = (uint8_t)random_next(&random);
        const char *newest = left_segment(folder, 0);
        uint64_t end = left_end(newest);
        file_patch(newest, end + 8 * random_below(&random, 4), garbage,
                   1 + random_below(&random, sizeof garbage));
        if (round % 2 == 0)
            left_before_restart(folder);
        left_holds_first(folder, DOCUMENTS, DOCUMENTS);
        folder_end(folder);
    }
}

static void a_segment_that_was_cut_after_power_loss_holds_a_first_part(void) {
    random_source random = random_start(2);
    for (int round = 0; round < 6; round++) {
        char *folder = left_behind(false, DOCUMENTS);
        const char *newest = left_segment(folder, 0);
        file_cut(newest, 64 + random_below(&random, left_end(newest) - 64));
        left_before_restart(folder);
        left_holds_first(folder, 0, DOCUMENTS);
        folder_end(folder);
    }
}

/* ---- Damage ---- */

/* told_or_whole -- the database opens with every document and passes verify, or refuses with a place and leaves its files. */
static void told_or_whole(const char *folder) {
    uint64_t before = left_checksum(folder);
    tansu_options options = call_options(folder);
    tansu_db *db = NULL;
    tansu_status status = tansu_open(&options, &db, &call_error);
    if (status == TANSU_OK) {
        /* Damage that was not read at opening is told by verify. */
        bool all = call_count(db, NULL, "c", "{}") == DOCUMENTS;
        CHECK(all || upkeep_verify(db) == TANSU_E_CORRUPT);
        tansu_close(db);
        return;
    }
    CHECK_STATUS(TANSU_E_CORRUPT, status);
    CHECK(call_error.context[0] != 0);
    CHECK(strlen(call_error.message) > 20);
    CHECK(left_checksum(folder) == before);
}

/* In segments whose commits are all known to have been on the disk, whether the power was lost or not. */
static void a_byte_that_turned_over_is_told(void) {
    random_source random = random_start(3);
    for (int round = 0; round < 10; round++) {
        char *folder = left_behind(true, DOCUMENTS);
        const char *segment = left_segment(folder, 2);
        char *salvaged = folder_new();
        folder_remove(salvaged);
        file_flip(segment, 64 + random_below(&random, left_end(segment) - 64),
                  (unsigned)random_below(&random, 8));
        if (round % 2 == 0)
            left_before_restart(folder);
        uint64_t before = left_checksum(folder);
        told_or_whole(folder);
        if (left_checksum(folder) == before) {
            CHECK_STATUS(TANSU_OK, upkeep_repair(folder, salvaged));
            CHECK(upkeep_figure("documents") >= DOCUMENTS - 1);
            CHECK(left_checksum(folder) == before);
            tansu_db *db = call_open(salvaged);
            CHECK(call_count(db, NULL, "c", "{}") >= DOCUMENTS - 1);
            upkeep_clean(db);
            call_close(db);
        }
        folder_end(salvaged);
        folder_end(folder);
    }
}

static void a_missing_segment_is_told(void) {
    for (unsigned which = 1; which < 3; which++) {
        char *folder = left_behind(true, DOCUMENTS);
        REQUIRE(unlink(left_segment(folder, which)) == 0);
        told_or_whole(folder);
        folder_end(folder);
    }
}

static void a_newer_format_is_refused_and_left_alone(void) {
    char *folder = left_behind(true, 10);
    left_manifest(folder, "tansu", "9");
    uint64_t before = left_checksum(folder);
    tansu_options options = call_options(folder);
    tansu_db *db = NULL;
    for (int read_only = 0; read_only < 2; read_only++) {
        options.read_only = read_only;
        CHECK_STATUS(TANSU_E_VERSION, tansu_open(&options, &db, &call_error));
    }
    CHECK(left_checksum(folder) == before);
    folder_end(folder);
}

static void index_files_are_made_anew_and_it_is_told(void) {
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
        upkeep_clean(db);
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

int main(void) {
    RUN(garbage_behind_the_last_commit_is_cut_off);
    RUN(a_segment_that_was_cut_after_power_loss_holds_a_first_part);
    RUN(a_byte_that_turned_over_is_told);
    RUN(a_missing_segment_is_told);
    RUN(a_newer_format_is_refused_and_left_alone);
    RUN(index_files_are_made_anew_and_it_is_told);
    RUN(a_temporary_database_goes_with_its_closing);
    return check_finish();
}
