/*
 * test_database_paths.c -- where databases, backups and salvaged copies may lie: other names for
 * the same folder, folders inside of each other; and that what a snapshot sees is there whatever
 * becomes of collections and indexes. Written from tansu.h and the documentation alone, over the
 * public API only.
 */
#include "support/calls/backup_calls.h"
#include "support/calls/call.h"
#include "support/calls/maintenance_calls.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/other_process.h"
#include "support/workload/rewrite_workload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Names ---- */

static void a_second_name_is_the_same_database(void) {
    char *folder = folder_new(), *work = folder_new();
    const char *link = path_in(work, "link"), *dots = path_in(folder, "../");
    char other[512];
    snprintf(other, sizeof other, "%s%s/.", dots, strrchr(folder, '/') + 1);
    REQUIRE(symlink(folder, link) == 0);
    tansu_db *db = call_open(folder), *second = NULL;
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1}"), &call_error);
    const char *const names[] = {link, other, folder};
    for (size_t i = 0; i < 3; i++)
        for (int read_only = 0; read_only < 2; read_only++) {
            tansu_options options = call_options(names[i]);
            options.read_only = read_only;
            CHECK_STATUS(TANSU_E_LOCKED, tansu_open(&options, &second, NULL));
            CHECK_STATUS(TANSU_E_LOCKED, other_process_open(names[i], read_only));
        }
    CHECK_STATUS(TANSU_E_LOCKED, restore(link, path_in(work, "restored")));
    CHECK_STATUS(TANSU_E_LOCKED, maintenance_repair(link, path_in(work, "repaired")));
    call_close(db);
    db = call_open(link);
    CHECK_INT(1, call_count(db, NULL, "c", "{}"));
    CHECK_STATUS(TANSU_E_LOCKED, other_process_open(folder, 0));
    call_close(db);
    CHECK_STATUS(TANSU_OK, other_process_open(other, 0));
    folder_end(work);
    folder_end(folder);
}

static void a_parent_that_is_not_there_is_an_error(void) {
    char *folder = folder_new(), *work = folder_new();
    const char *to = path_in(work, "none/to");
    tansu_db *db = call_open(folder), *copy = NULL;
    rewrite_all(db, 1, 1);
    for (int form = 0; form < 2; form++)
        CHECK_STATUS(TANSU_E_IO, backup(db, to, backup_forms[form]));
    tansu_options options = call_options(to);
    CHECK_STATUS(TANSU_E_IO, tansu_clone(db, &options, NULL, NULL, &copy, &call_error));
    CHECK(copy == NULL);
    rewrite_check(db, NULL, 1);
    call_close(db);
    CHECK_STATUS(TANSU_E_IO, restore(folder, to));
    CHECK_STATUS(TANSU_E_IO, maintenance_repair(folder, to));
    CHECK(!file_exists(path_in(work, "none")));
    rewrite_check_closed(folder, 1);
    folder_end(work);
    folder_end(folder);
}

/* ---- Snapshots ---- */

static void a_snapshot_keeps_its_indexes(void) {
    char *folder = folder_new();
    tansu_options options = call_options(folder);
    options.index_cache_bytes = 1 << 16;
    options.checkpoint_bytes = 1 << 18;
    tansu_db *db = call_open_with(&options);
    CHECK_OK(call_index(db, NULL, "c", "n", "{'n': 1}", NULL), &call_error);
    rewrite_all(db, 2, 1);
    CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
    tansu_txn *held = call_begin(db, TANSU_TXN_READ);
    CHECK_OK(tansu_index_drop(db, NULL, "c", "n", &call_error), &call_error);
    CHECK_OK(call_index(db, NULL, "c", "n", "{'pad': 1}", NULL), &call_error);
    CHECK_OK(tansu_collection_rename(db, NULL, "c", "d", &call_error), &call_error);
    rewrite_all(db, 3, 2);
    CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
    CHECK_OK(tansu_collection_drop(db, NULL, "d", &call_error), &call_error);
    CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
    CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
    rewrite_check(db, held, 1);
    CHECK(strstr(call_find(db, held, "c", "{'n': 1, '_id': 5}",
                           "{'$index': 'n', '$fields': {'n': 1}}"),
                 "\"_id\" : 5") != NULL);
    CHECK(strstr(call_indexes(db, held, "c"), "\"keys\" : { \"n\" : 1 }") != NULL);
    CHECK_INT(0, call_count(db, held, "d", "{}"));
    CHECK_TEXT("INVALID_QUERY",
               call_find(db, NULL, "c", "{'n': 1}", "{'$index': 'n'}")); /* it is over pad now */
    tansu_txn_abort(held);
    rewrite_check(db, NULL, 2);
    maintenance_clean(db);
    call_close(db);
    rewrite_check_closed(folder, 2);
    folder_end(folder);
}

/* ---- Builds of indexes ---- */

/* stop_after -- a build's progress that ends it. */
static int stop_after(void *context, uint64_t done, uint64_t total) {
    int *calls = context;
    (void)done, (void)total;
    return --*calls > 0;
}

static void a_build_that_ends_early_leaves_nothing(void) {
    char *folder = folder_new();
    tansu_db *db = call_open(folder);
    bson_t *keys = BCON_NEW("n", BCON_INT32(1)), *unique = BCON_NEW("unique", BCON_BOOL(true));
    rewrite_all(db, 1, 1);
    tansu_status status = TANSU_E_CANCELLED;
    int cancelled = 0;
    CHECK_STATUS(TANSU_E_NOT_UNIQUE,
                 tansu_index_create(db, NULL, "c", "n", document_of(keys), document_of(unique),
                                    NULL, NULL, &call_error));
    CHECK_TEXT("{ \"indexes\" : [  ] }", call_indexes(db, NULL, "c"));
    for (int at = 1; status == TANSU_E_CANCELLED && at < 10000; at++) {
        int calls = at;
        status = tansu_index_create(db, NULL, "c", "n", document_of(keys), TANSU_NO_DOCUMENT,
                                    stop_after, &calls, &call_error);
        if (status == TANSU_E_CANCELLED) {
            cancelled++;
            CHECK_TEXT("{ \"indexes\" : [  ] }", call_indexes(db, NULL, "c"));
        }
    }
    CHECK_STATUS(TANSU_OK, status);
    CHECK(cancelled > 0);
    rewrite_check(db, NULL, 1);
    maintenance_clean(db);
    bson_destroy(keys);
    bson_destroy(unique);
    call_close(db);
    rewrite_check_closed(folder, 1);
    folder_end(folder);
}

int main(void) {
    other_process_start();
    RUN(a_second_name_is_the_same_database);
    RUN(a_parent_that_is_not_there_is_an_error);
    RUN(a_snapshot_keeps_its_indexes);
    RUN(a_build_that_ends_early_leaves_nothing);
    other_process_end();
    return check_finish();
}
