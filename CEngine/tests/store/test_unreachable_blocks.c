/*
 * test_unreachable_blocks.c -- the index file does not grow with the number of crashes: blocks that
 * a snapshot kept when the process ended are found and removed by the next one.
 */
#include "index/block_store/block_store.h"
#include "store/database.h"
#include "support/calls/call.h"
#include "support/calls/maintenance_calls.h"
#include "support/check.h"
#include "support/folder.h"

#include <stdlib.h>
#include <unistd.h>

#define DOCUMENTS 4000

static const char *const index_file = "index/blocks.tch";

/* replace_all -- saves every document again, with another value. */
static void replace_all(tansu_db *db, int round) {
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    for (int i = 0; i < DOCUMENTS; i++) {
        bson_t *doc =
            BCON_NEW("_id", BCON_INT32(i), "n", BCON_INT32((i * 7919 + round * 13) % 100003));
        CHECK_OK(call_save_bson(db, txn, "c", TANSU_SAVE, doc), &call_error);
        bson_destroy(doc);
    }
    CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
}

/* crash_with_snapshot -- opens the database, writes checkpoints while a snapshot is held, and takes
 * the files as a process that is killed leaves them. */
static char *crash_with_snapshot(char *folder, int round) {
    tansu_options options = call_options(folder);
    options.durability = TANSU_DURABILITY_PROCESS;
    tansu_db *db = call_open_with(&options);
    for (int i = 0; i < 3; i++) {
        tansu_txn *held = call_begin(db, TANSU_TXN_READ);
        replace_all(db, round * 10 + i);
        CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
        if (i == 2) {
            char *copy = folder_new();
            rmdir(copy);
            folder_copy(folder, copy);
            tansu_txn_abort(held);
            call_close(db);
            folder_end(folder);
            return copy;
        }
        tansu_txn_abort(held);
    }
    return NULL;
}

static void crashes_leave_no_blocks_for_good(void) {
    char *folder = folder_new();
    tansu_db *db = call_open(folder);
    CHECK_OK(call_index(db, NULL, "c", "n", "{'n': 1}", NULL), &call_error);
    replace_all(db, 0);
    call_close(db);
    uint64_t after_few = 0;
    for (int round = 1; round <= 24; round++) {
        folder = crash_with_snapshot(folder, round);
        if (round == 6)
            after_few = file_size(folder_join(folder, index_file));
    }
    uint64_t after_many = file_size(folder_join(folder, index_file));
    if (!CHECK(after_many < after_few + after_few / 2))
        check_note("    %llu bytes after 6 crashes, %llu after 24", (unsigned long long)after_few,
                   (unsigned long long)after_many);
    db = call_open(folder);
    maintenance_clean(db);
    CHECK_INT(DOCUMENTS, call_count(db, NULL, "c", "{'n': {'$gte': 0}}"));
    call_close(db);
    folder_end(folder);
}

/* records -- how many the index file of a closed database has. */
static uint64_t records(const char *folder) {
    block_store *bs;
    if (!CHECK_OK(block_store_open(&fs_system, folder_join(folder, index_file), 0, NULL, &bs,
                                   &call_error),
                  &call_error))
        return 0;
    uint64_t count = block_store_records(bs);
    CHECK_OK(block_store_close(bs, &call_error), &call_error);
    return count;
}

/* closing_removes_them -- also when nothing was changed since the crash. */
static void closing_removes_them(void) {
    char *folder = folder_new();
    tansu_db *db = call_open(folder);
    CHECK_OK(call_index(db, NULL, "c", "n", "{'n': 1}", NULL), &call_error);
    replace_all(db, 0);
    call_close(db);
    uint64_t before = records(folder);
    folder = crash_with_snapshot(folder, 1);
    CHECK(records(folder) > before + before / 2);
    call_close(call_open(folder));
    CHECK(records(folder) <= before + before / 4);
    db = call_open(folder);
    maintenance_clean(db);
    CHECK_INT(DOCUMENTS, call_count(db, NULL, "c", "{'n': {'$gte': 0}}"));
    call_close(db);
    folder_end(folder);
}

int main(void) {
    RUN(crashes_leave_no_blocks_for_good);
    RUN(closing_removes_them);
    return check_finish();
}
