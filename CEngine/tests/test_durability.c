/*
 * test_durability.c -- what commits wait for, and what is left when a sync fails, the disk is full or a
 * file cannot be replaced.
 */
#include "catalog/database.h"
#include "toolkit/call.h"
#include "toolkit/check.h"
#include "toolkit/fault.h"
#include "toolkit/folder.h"
#include "toolkit/sample.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

/* open_with_faults -- over the calls that fail when told to. */
static tansu_db *open_with_faults(const tansu_options *options) {
    database *db = NULL;
    REQUIRE(CHECK_OK(database_open(options, &fault_calls, NULL, &db, &call_error), &call_error));
    return (tansu_db *)db;
}

static void only_full_commits_wait_for_the_disk(void) {
    char *folder = folder_new();
    tansu_options options = call_options(folder);
    fault_reset();
    tansu_db *db = open_with_faults(&options);
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1}"), &call_error);
    unsigned before = faults.syncs;
    for (int i = 0; i < 20; i++)
        CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1}"), &call_error);
    CHECK_INT(before, faults.syncs);
    CHECK_OK(tansu_sync(db, &call_error), &call_error);
    CHECK_INT(before + 1, faults.syncs);
    tansu_txn *txn = NULL;
    CHECK_OK(tansu_txn_begin(db, TANSU_TXN_WRITE, TANSU_DURABILITY_FULL, &txn, NULL), NULL);
    CHECK_OK(call_save(db, txn, "c", TANSU_SAVE, "{'_id': 2}"), &call_error);
    CHECK_INT(before + 1, faults.syncs);
    CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
    CHECK_INT(before + 2, faults.syncs);
    call_close(db);

    options.durability = TANSU_DURABILITY_DEFAULT; /* full */
    db = open_with_faults(&options);
    before = faults.syncs;
    for (int i = 0; i < 5; i++)
        CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1}"), &call_error);
    CHECK_INT(before + 5, faults.syncs);
    call_close(db);
    folder_end(folder);
}

/* synced_within -- whether a sync comes within so many milliseconds. */
static bool synced_within(unsigned before, int ms) {
    for (int i = 0; i < ms && faults.syncs == before; i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return faults.syncs != before;
}

static void interval_commits_are_synced_in_time(void) {
    char *folder = folder_new();
    tansu_options options = call_options(folder);
    options.durability = TANSU_DURABILITY_INTERVAL;
    options.interval_ms = 30;
    fault_reset();
    tansu_db *db = open_with_faults(&options);
    for (int i = 0; i < 3; i++) {
        unsigned before = faults.syncs;
        CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1}"), &call_error);
        CHECK(synced_within(before, 2000));
        before = faults.syncs;
        CHECK(!synced_within(before, 80)); /* nothing to do, nothing done */
    }
    call_close(db);
    /* One transaction of that kind in a database of another. */
    options.durability = TANSU_DURABILITY_PROCESS;
    db = open_with_faults(&options);
    tansu_txn *txn = NULL;
    CHECK_OK(tansu_txn_begin(db, TANSU_TXN_WRITE, TANSU_DURABILITY_INTERVAL, &txn, NULL), NULL);
    CHECK_OK(call_save(db, txn, "c", TANSU_SAVE, "{'_id': 2}"), &call_error);
    unsigned before = faults.syncs;
    CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
    CHECK(synced_within(before, 2000));
    call_close(db);
    folder_end(folder);
}

static void a_failed_sync_ends_writing_but_not_reading(void) {
    char *folder = folder_new();
    tansu_options options = call_options(folder);
    options.durability = TANSU_DURABILITY_FULL;
    fault_reset();
    tansu_db *db = open_with_faults(&options);
    sample_fill(db);
    faults.sync_errno = EIO;
    CHECK_STATUS(TANSU_E_IO, call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 100}"));
    CHECK_INT(EIO, call_error.sys_errno);
    faults.sync_errno = 0;
    unsigned before = faults.syncs;
    tansu_txn *txn = NULL;
    CHECK_STATUS(TANSU_E_FAILED, call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 101}"));
    CHECK_STATUS(TANSU_E_FAILED, tansu_txn_begin(db, TANSU_TXN_WRITE, 0, &txn, NULL));
    CHECK_STATUS(TANSU_E_FAILED, tansu_sync(db, NULL));
    sample_check(db); /* also without what was not acknowledged */
    CHECK_STATUS(TANSU_E_IO, tansu_shutdown(db, &call_error));
    CHECK_INT(before, faults.syncs);
    db = call_open(folder);
    int64_t count = call_count(db, NULL, "c", "{}");
    CHECK(count == 50 || count == 51);
    CHECK_OK(call_remove_id(db, NULL, "c", "{'_id': 100}", NULL), &call_error);
    sample_check(db);
    call_close(db);
    folder_end(folder);
}

static void a_full_disk_refuses_a_commit_and_keeps_the_rest(void) {
    char *folder = folder_new();
    tansu_options options = call_options(folder);
    fault_reset();
    tansu_db *db = open_with_faults(&options);
    sample_fill(db);
    faults.allocate_errno = ENOSPC;
    uint8_t *filling = calloc(1, 600000);
    bson_t *large = BCON_NEW("_id", BCON_INT32(1), "n", BCON_INT32(77), "b",
                             BCON_BIN(BSON_SUBTYPE_BINARY, filling, 600000));
    CHECK_STATUS(TANSU_E_FULL, call_save_bson(db, NULL, "c", TANSU_SAVE, large));
    sample_check(db);
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    CHECK_OK(call_save(db, txn, "c", TANSU_SAVE, "{'_id': 100, 'n': 100}"), &call_error);
    CHECK_STATUS(TANSU_E_FULL, call_save_bson(db, txn, "c", TANSU_SAVE, large));
    CHECK_INT(1, call_count(db, txn, "c", "{'n': 1, '_id': 1}"));
    CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error); /* what fits is kept */
    CHECK_INT(51, call_count(db, NULL, "c", "{}"));
    faults.allocate_errno = 0;
    CHECK_OK(call_save_bson(db, NULL, "c", TANSU_SAVE, large), &call_error);
    CHECK_INT(1, call_count(db, NULL, "c", "{'n': 77}"));
    call_close(db);
    db = call_open(folder);
    CHECK_INT(51, call_count(db, NULL, "c", "{}"));
    CHECK_INT(1, call_count(db, NULL, "c", "{'n': 77}"));
    call_close(db);
    bson_destroy(large);
    free(filling);
    folder_end(folder);
}

static void a_manifest_that_cannot_be_written_stops_no_commit(void) {
    char *folder = folder_new();
    tansu_options options = call_options(folder);
    fault_reset();
    tansu_db *db = open_with_faults(&options);
    sample_fill(db);
    faults.rename_errno = EIO;
    CHECK_STATUS(TANSU_E_IO, tansu_checkpoint(db, &call_error));
    sample_check(db);
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 100}"), &call_error);
    CHECK_STATUS(TANSU_E_IO, tansu_shutdown(db, &call_error));
    db = call_open(folder);
    CHECK_INT(51, call_count(db, NULL, "c", "{}"));
    call_close(db);
    folder_end(folder);
}

int main(void) {
    RUN(only_full_commits_wait_for_the_disk);
    RUN(interval_commits_are_synced_in_time);
    RUN(a_failed_sync_ends_writing_but_not_reading);
    RUN(a_full_disk_refuses_a_commit_and_keeps_the_rest);
    RUN(a_manifest_that_cannot_be_written_stops_no_commit);
    return check_finish();
}
