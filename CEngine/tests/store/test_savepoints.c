/*
 * test_savepoints.c -- parts of a transaction that are taken back alone: documents, indexes and
 * collections as they were before, whatever is nested, and nothing of it after opening again.
 */
#include "support/calls/call.h"
#include "support/calls/maintenance_calls.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/random/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tansu_db *db;

static void fresh(void) {
    if (db != NULL)
        call_close(db);
    db = call_open(NULL);
}

static tansu_status save(tansu_txn *txn, const char *collection, const char *json) {
    return call_save(db, txn, collection, TANSU_SAVE, json);
}

static void set(tansu_txn *txn) {
    CHECK_OK(tansu_savepoint_begin(txn, &call_error), &call_error);
}

static void roll_back(tansu_txn *txn) {
    CHECK_OK(tansu_savepoint_roll_back(txn, &call_error), &call_error);
}

static void release(tansu_txn *txn) {
    CHECK_OK(tansu_savepoint_release(txn, &call_error), &call_error);
}

static void commit(tansu_txn *txn) {
    CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
}

static void what_came_after_is_taken_back(void) {
    fresh();
    CHECK_OK(call_index(db, NULL, "c", "u", "{'u': 1}", "{'unique': true}"), &call_error);
    CHECK_OK(save(NULL, "c", "{'_id': 1, 'u': 1}"), &call_error);
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    CHECK_OK(save(txn, "c", "{'_id': 2, 'u': 2}"), &call_error);
    set(txn);
    CHECK_OK(save(txn, "c", "{'_id': 1, 'u': 10}"), &call_error);
    CHECK_OK(save(txn, "c", "{'_id': 3, 'u': 1}"), &call_error);
    CHECK_OK(save(txn, "new", "{'_id': 3}"), &call_error);
    CHECK_OK(call_remove_id(db, txn, "c", "{'_id': 2}", NULL), &call_error);
    CHECK_STATUS(TANSU_E_NOT_UNIQUE, save(txn, "c", "{'_id': 4, 'u': 10}"));
    roll_back(txn);
    CHECK_TEXT("{ \"_id\" : 1, \"u\" : 1 } { \"_id\" : 2, \"u\" : 2 }",
               call_find(db, txn, "c", "{}", NULL));
    CHECK_TEXT("{ \"_id\" : 1, \"u\" : 1 }", call_find(db, txn, "c", "{'u': 1}", NULL));
    CHECK_TEXT("", call_find(db, txn, "c", "{'u': 10}", NULL));
    CHECK_TEXT("NOT_FOUND", call_indexes(db, txn, "new"));
    CHECK_OK(save(txn, "c", "{'_id': 4, 'u': 10}"), &call_error);
    commit(txn);
    CHECK_TEXT("{ \"_id\" : 1, \"u\" : 1 } { \"_id\" : 2, \"u\" : 2 } { \"_id\" : 4, \"u\" : 10 }",
               call_find(db, NULL, "c", "{}", NULL));
}

static void savepoints_nest(void) {
    fresh();
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    set(txn);
    CHECK_OK(save(txn, "c", "{'_id': 1}"), &call_error);
    set(txn);
    CHECK_OK(save(txn, "c", "{'_id': 2}"), &call_error);
    release(txn);
    set(txn);
    CHECK_OK(save(txn, "c", "{'_id': 3}"), &call_error);
    roll_back(txn);
    CHECK_INT(2, call_count(db, txn, "c", "{}"));
    roll_back(txn);
    CHECK_INT(0, call_count(db, txn, "c", "{}"));
    set(txn);
    CHECK_OK(save(txn, "c", "{'_id': 4}"), &call_error);
    commit(txn); /* with a savepoint open: what it is over is kept */
    CHECK_TEXT("{ \"_id\" : 4 }", call_find(db, NULL, "c", "{}", NULL));
    txn = call_begin(db, TANSU_TXN_WRITE);
    set(txn);
    CHECK_OK(save(txn, "c", "{'_id': 5}"), &call_error);
    tansu_txn_abort(txn);
    CHECK_INT(1, call_count(db, NULL, "c", "{}"));
}

static void misuse_is_refused(void) {
    fresh();
    CHECK_OK(save(NULL, "c", "{'_id': 1}"), &call_error);
    CHECK_OK(call_index(db, NULL, "c", "u", "{'u': 1}", NULL), &call_error);
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, tansu_savepoint_begin(NULL, &call_error));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, tansu_savepoint_release(NULL, &call_error));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, tansu_savepoint_roll_back(NULL, NULL));
    tansu_txn *txn = call_begin(db, TANSU_TXN_READ);
    CHECK_STATUS(TANSU_E_READ_ONLY, tansu_savepoint_begin(txn, &call_error));
    CHECK_STATUS(TANSU_E_INVALID_STATE, tansu_savepoint_release(txn, &call_error));
    commit(txn);
    txn = call_begin(db, TANSU_TXN_WRITE);
    CHECK_STATUS(TANSU_E_INVALID_STATE, tansu_savepoint_roll_back(txn, &call_error));
    set(txn);
    CHECK_STATUS(TANSU_E_INVALID_STATE, call_index(db, txn, "c", "v", "{'v': 1}", NULL));
    CHECK_STATUS(TANSU_E_INVALID_STATE, tansu_index_drop(db, txn, "c", "u", &call_error));
    CHECK_STATUS(TANSU_E_INVALID_STATE, tansu_collection_drop(db, txn, "c", &call_error));
    CHECK_STATUS(TANSU_E_INVALID_STATE, tansu_collection_rename(db, txn, "c", "d", &call_error));
    release(txn);
    CHECK_STATUS(TANSU_E_INVALID_STATE, tansu_savepoint_release(txn, &call_error));
    CHECK_OK(tansu_collection_rename(db, txn, "c", "d", &call_error), &call_error);
    commit(txn);
    CHECK_INT(1, call_count(db, NULL, "d", "{}"));
}

static void cursors_opened_since_end(void) {
    fresh();
    CHECK_OK(save(NULL, "c", "{'_id': 1}"), &call_error);
    CHECK_OK(save(NULL, "c", "{'_id': 2}"), &call_error);
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    tansu_cursor *before = call_cursor(db, txn, "c", "{}", NULL);
    tansu_cursor *closed = call_cursor(db, txn, "c", "{}", NULL);
    set(txn);
    CHECK_OK(save(txn, "c", "{'_id': 3}"), &call_error);
    tansu_cursor *since = call_cursor(db, txn, "c", "{}", NULL);
    CHECK_TEXT("{ \"_id\" : 1 }", call_next(since));
    tansu_cursor_close(closed);
    roll_back(txn);
    CHECK_OK(save(txn, "c", "{'_id': 4}"), &call_error);
    CHECK_TEXT("INVALID_STATE", call_next(since));
    CHECK_TEXT("{ \"_id\" : 1 }", call_next(before));
    CHECK_TEXT("{ \"_id\" : 2 }", call_next(before));
    CHECK_TEXT("", call_next(before));
    tansu_cursor *after = call_cursor(db, txn, "c", "{'_id': 4}", NULL);
    CHECK_TEXT("{ \"_id\" : 4 }", call_next(after));
    tansu_cursor_close(before);
    tansu_cursor_close(since);
    tansu_cursor_close(after);
    commit(txn);
    CHECK_INT(3, call_count(db, NULL, "c", "{}"));
}

/* everything -- all documents in three orders, so that indexes are looked at as well, and their
 * number. */
static char *everything(tansu_txn *txn) {
    char *text = malloc(1 << 20);
    snprintf(text, 1 << 20, "%lld|%s|%s|%s", (long long)call_count(db, txn, "c", "{}"),
             call_find(db, txn, "c", "{}", NULL),
             call_find(db, txn, "c", "{'u': {'$gte': 0}}", "{'$orderby': {'u': 1}, '$index': 'u'}"),
             call_find(db, txn, "c", "{'_id': {'$gte': 0}}", NULL));
    return text;
}

#define MAX_NESTED 5

static void any_nesting_goes_back_to_where_it_was(void) {
    char *folder = folder_new();
    call_close(db);
    db = call_open(folder);
    CHECK_OK(call_index(db, NULL, "c", "u", "{'u': 1}", "{'unique': true}"), &call_error);
    random_source random = random_start(1);
    for (int round = 0; round < 60; round++) {
        tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
        char *was[MAX_NESTED];
        int nested = 0;
        char json[100];
        for (int step = 0; step < 60; step++) {
            uint64_t choice = random_below(&random, 10);
            if (choice == 0 && nested < MAX_NESTED) {
                was[nested++] = everything(txn);
                set(txn);
            } else if (choice == 1 && nested > 0) {
                release(txn);
                free(was[--nested]);
            } else if (choice == 2 && nested > 0) {
                roll_back(txn);
                char *is = everything(txn);
                CHECK_TEXT(was[--nested], is);
                free(is);
                free(was[nested]);
            } else if (choice < 5) {
                snprintf(json, sizeof json, "{'_id': %d}", (int)random_below(&random, 12));
                CHECK_OK(call_remove_id(db, txn, "c", json, NULL), &call_error);
            } else {
                int id = (int)random_below(&random, 12), u = (int)random_below(&random, 20);
                snprintf(json, sizeof json, "{'u': %d, '_id': {'$ne': %d}}", u, id);
                bool taken = call_count(db, txn, "c", json) != 0;
                snprintf(json, sizeof json, "{'_id': %d, 'u': %d}", id, u);
                CHECK_STATUS(taken ? TANSU_E_NOT_UNIQUE : TANSU_OK, save(txn, "c", json));
            }
        }
        char *last = everything(txn);
        while (nested > 0)
            free(was[--nested]);
        commit(txn);
        char *is = everything(NULL);
        CHECK_TEXT(last, is);
        free(is);
        if (round % 20 == 19) {
            maintenance_clean(db);
            call_close(db);
            db = call_open(folder);
            is = everything(NULL);
            CHECK_TEXT(last, is);
            free(is);
        }
        free(last);
    }
    call_close(db);
    db = NULL;
    folder_end(folder);
}

int main(void) {
    RUN(what_came_after_is_taken_back);
    RUN(savepoints_nest);
    RUN(misuse_is_refused);
    RUN(cursors_opened_since_end);
    RUN(any_nesting_goes_back_to_where_it_was);
    if (db != NULL)
        call_close(db);
    return check_finish();
}
