/*
 * test_api_transactions.c -- transactions: atomic over collections, reading their own writes,
 * savepoints around each call, cursors within, one writer at a time.
 */
#include "support/calls/call.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/timing.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static tansu_db *db;

/* fresh -- an empty memory store for the next test. */
static void fresh(void) {
    if (db != NULL)
        call_close(db);
    db = call_open(NULL);
}

static tansu_txn *begin(void) {
    return call_begin(db, TANSU_TXN_WRITE);
}

static void commit(tansu_txn *txn) {
    CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
}

static tansu_status save(tansu_txn *txn, const char *collection, const char *json) {
    return call_save(db, txn, collection, TANSU_SAVE, json);
}

static int64_t count(tansu_txn *txn, const char *collection) {
    return call_count(db, txn, collection, "{}");
}

static void several_collections_are_one_commit(void) {
    fresh();
    tansu_txn *txn = begin();
    CHECK_OK(save(txn, "a", "{'_id': 1}"), &call_error);
    CHECK_OK(save(txn, "b", "{'_id': 1}"), &call_error);
    CHECK_OK(call_index(db, txn, "b", "x", "{'x': 1}", NULL), &call_error);
    CHECK_INT(0, count(NULL, "a"));
    CHECK_TEXT("{ \"collections\" : [  ] }", call_collections(db, NULL));
    CHECK_INT(0, call_statistic(db, "sequence"));
    uint64_t sequence = 0;
    CHECK_OK(tansu_txn_commit(txn, &sequence, &call_error), &call_error);
    CHECK_INT(1, sequence);
    CHECK_INT(1, call_statistic(db, "sequence"));
    CHECK_INT(1, count(NULL, "a"));
    CHECK_INT(1, count(NULL, "b"));
    txn = begin();
    CHECK_OK(tansu_txn_commit(txn, &sequence, &call_error), &call_error);
    CHECK_INT(0, sequence); /* it changed nothing */
    CHECK_INT(1, call_statistic(db, "sequence"));
}

static void abort_drops_everything(void) {
    fresh();
    CHECK_OK(save(NULL, "a", "{'_id': 1, 'v': 1}"), &call_error);
    CHECK_OK(call_index(db, NULL, "a", "v", "{'v': 1}", NULL), &call_error);
    tansu_txn *txn = begin();
    CHECK_OK(save(txn, "a", "{'_id': 1, 'v': 2}"), &call_error);
    CHECK_OK(save(txn, "a", "{'_id': 2, 'v': 2}"), &call_error);
    CHECK_OK(save(txn, "new", "{'_id': 2}"), &call_error);
    CHECK_OK(call_index(db, txn, "a", "w", "{'w': 1}", NULL), &call_error);
    CHECK_OK(tansu_index_drop(db, txn, "a", "v", &call_error), &call_error);
    CHECK_OK(tansu_collection_rename(db, txn, "a", "z", &call_error), &call_error);
    CHECK_INT(2, count(txn, "z"));
    CHECK_OK(tansu_collection_drop(db, txn, "z", &call_error), &call_error);
    tansu_txn_abort(txn);
    CHECK_TEXT("{ \"_id\" : 1, \"v\" : 1 }", call_find(db, NULL, "a", "{}", NULL));
    CHECK_TEXT("{ \"_id\" : 1, \"v\" : 1 }", call_find(db, NULL, "a", "{'v': 1}", NULL));
    CHECK(strstr(call_indexes(db, NULL, "a"), "\"name\" : \"v\"") != NULL);
    CHECK(strstr(call_indexes(db, NULL, "a"), "\"name\" : \"w\"") == NULL);
    CHECK_TEXT("NOT_FOUND", call_indexes(db, NULL, "new"));
    CHECK_OK(save(NULL, "a", "{'_id': 2, 'v': 1}"), &call_error);
    CHECK_INT(3, call_statistic(db, "sequence"));
}

static void a_transaction_reads_its_own_writes(void) {
    fresh();
    CHECK_OK(call_index(db, NULL, "c", "v", "{'v': 1}", NULL), &call_error);
    CHECK_OK(save(NULL, "c", "{'_id': 1, 'v': 1}"), &call_error);
    CHECK_OK(save(NULL, "c", "{'_id': 2, 'v': 1}"), &call_error);
    tansu_txn *txn = begin();
    CHECK_OK(save(txn, "c", "{'_id': 1, 'v': 5}"), &call_error);
    CHECK_OK(save(txn, "c", "{'_id': 3, 'v': 5}"), &call_error);
    CHECK_OK(save(txn, "c", "{'_id': 3, 'v': 6}"), &call_error);
    CHECK_OK(call_remove_id(db, txn, "c", "{'_id': 2}", NULL), &call_error);
    CHECK_TEXT("{ \"_id\" : 1, \"v\" : 5 } { \"_id\" : 3, \"v\" : 6 }",
               call_find(db, txn, "c", "{}", NULL));
    CHECK_TEXT("{ \"_id\" : 1, \"v\" : 5 }", call_find(db, txn, "c", "{'v': 5}", NULL));
    CHECK_TEXT("", call_find(db, txn, "c", "{'v': 1}", NULL));
    CHECK_TEXT("NOT_FOUND", call_get(db, txn, "c", "{'_id': 2}"));
    CHECK_TEXT("{ \"_id\" : 3, \"v\" : 6 }", call_get(db, txn, "c", "{'_id': 3}"));
    CHECK_INT(2, count(txn, "c"));
    CHECK_TEXT("{ \"_id\" : 1, \"v\" : 1 } { \"_id\" : 2, \"v\" : 1 }",
               call_find(db, NULL, "c", "{'v': 1}", NULL)); /* others see nothing of it */
    CHECK_OK(save(txn, "c", "{'_id': 2, 'v': 7}"), &call_error);
    commit(txn);
    CHECK_TEXT("{ \"_id\" : 1, \"v\" : 5 } { \"_id\" : 3, \"v\" : 6 } { \"_id\" : 2, \"v\" : 7 }",
               call_find(db, NULL, "c", "{}", NULL));
}

static void a_call_that_fails_leaves_the_transaction_as_it_was(void) {
    char *folder = folder_new();
    for (int attempt = 0; attempt < 2; attempt++) {
        if (db != NULL)
            call_close(db);
        db = attempt == 0 ? call_open(NULL) : call_open(folder);
        CHECK_OK(call_index(db, NULL, "c", "u", "{'u': 1}", "{'unique': true}"), &call_error);
        CHECK_OK(save(NULL, "c", "{'_id': 1, 'u': 1}"), &call_error);
        CHECK_OK(save(NULL, "c", "{'_id': 2, 'u': 2}"), &call_error);
        tansu_txn *txn = begin();
        CHECK_OK(save(txn, "c", "{'_id': 1, 'u': 10}"), &call_error);
        CHECK_OK(save(txn, "c", "{'_id': 3, 'u': 3}"), &call_error);
        bson_t *docs[4] = {BCON_NEW("_id", BCON_INT32(1), "u", BCON_INT32(20)),
                           BCON_NEW("_id", BCON_INT32(4), "u", BCON_INT32(10)),
                           BCON_NEW("_id", BCON_INT32(1), "u", BCON_INT32(21)),
                           BCON_NEW("_id", BCON_INT32(5), "u", BCON_INT32(3))};
        tansu_document documents[4];
        for (int i = 0; i < 4; i++)
            documents[i] = document_of(docs[i]);
        for (int again = 0; again < 3; again++) {
            CHECK_STATUS(TANSU_E_NOT_UNIQUE,
                         tansu_save(db, txn, "c", documents, 4, TANSU_SAVE, NULL, &call_error));
            CHECK_INT(3, call_error.offset);
            CHECK_TEXT("{ \"_id\" : 1, \"u\" : 10 } { \"_id\" : 2, \"u\" : 2 } "
                       "{ \"_id\" : 3, \"u\" : 3 }",
                       call_find(db, txn, "c", "{}", NULL));
            CHECK_TEXT("{ \"_id\" : 1, \"u\" : 10 }", call_find(db, txn, "c", "{'u': 10}", NULL));
            CHECK_TEXT("", call_find(db, txn, "c", "{'u': {'$gte': 20}}", NULL));
            CHECK_INT(3, count(txn, "c"));
        }
        /* A collection that the failed call had created is not there, and its number is not used
         * by the next one: a checkpoint would clear away what is another's. */
        CHECK_STATUS(TANSU_E_EXISTS,
                     tansu_save(db, txn, "x", (tansu_document[]){documents[0], documents[2]}, 2,
                                TANSU_INSERT, NULL, &call_error));
        CHECK_TEXT("NOT_FOUND", call_indexes(db, txn, "x"));
        CHECK_OK(save(txn, "y", "{'_id': 1}"), &call_error);
        commit(txn);
        if (attempt == 1) {
            CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
            CHECK_OK(save(NULL, "late", "{'_id': 1}"), &call_error); /* lets the old version go */
            CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
            call_close(db);
            db = call_open(folder);
        }
        CHECK_TEXT("{ \"_id\" : 1, \"u\" : 10 } { \"_id\" : 2, \"u\" : 2 } "
                   "{ \"_id\" : 3, \"u\" : 3 }",
                   call_find(db, NULL, "c", "{}", NULL));
        CHECK_TEXT("{ \"_id\" : 1 }", call_find(db, NULL, "y", "{}", NULL));
        CHECK_TEXT("{ \"_id\" : 1 }", call_get(db, NULL, "y", "{'_id': 1}"));
        for (int i = 0; i < 4; i++)
            bson_destroy(docs[i]);
    }
    call_close(db);
    db = NULL;
    folder_end(folder);
}

static void an_index_that_cannot_be_made_leaves_nothing(void) {
    fresh();
    tansu_txn *txn = begin();
    CHECK_OK(save(txn, "c", "{'_id': 1, 'u': 1}"), &call_error);
    CHECK_OK(save(txn, "c", "{'_id': 2, 'u': 1}"), &call_error);
    CHECK_STATUS(TANSU_E_NOT_UNIQUE, call_index(db, txn, "c", "u", "{'u': 1}", "{'unique': true}"));
    CHECK_TEXT("{ \"indexes\" : [  ] }", call_indexes(db, txn, "c"));
    CHECK_OK(call_index(db, txn, "c", "u", "{'u': -1}", NULL), &call_error);
    CHECK_OK(save(txn, "c", "{'_id': 3, 'u': 1}"), &call_error);
    commit(txn);
    CHECK_INT(3, call_count(db, NULL, "c", "{'u': 1}"));
    CHECK(strstr(call_indexes(db, NULL, "c"), "\"entries\" : 3") != NULL);
}

static void created_and_dropped_in_one_transaction(void) {
    char *folder = folder_new();
    if (db != NULL)
        call_close(db);
    db = call_open(folder);
    CHECK_OK(save(NULL, "old", "{'_id': 1, 'v': 1}"), &call_error);
    for (int way = 0; way < 2; way++) {
        tansu_txn *txn = begin();
        CHECK_OK(call_index(db, txn, "c", "v", "{'v': 1}", NULL), &call_error);
        for (int i = 0; i < 300; i++) {
            bson_t *doc = BCON_NEW("_id", BCON_INT32(i), "v", BCON_INT32(i));
            CHECK_OK(call_save_bson(db, txn, "c", TANSU_SAVE, doc), &call_error);
            bson_destroy(doc);
        }
        CHECK_OK(tansu_index_drop(db, txn, "c", "v", NULL), NULL);
        CHECK_OK(call_index(db, txn, "c", "v", "{'v': -1}", NULL), &call_error);
        CHECK_OK(tansu_collection_drop(db, txn, "c", NULL), NULL);
        CHECK_OK(save(txn, "c", "{'_id': 7, 'v': 7}"), &call_error);
        CHECK_OK(tansu_collection_drop(db, txn, "old", NULL), NULL);
        CHECK_OK(tansu_collection_rename(db, txn, "c", "old", NULL), NULL);
        CHECK_OK(save(txn, "old", "{'_id': 8, 'v': 7}"), &call_error);
        if (way == 0)
            tansu_txn_abort(txn);
        else
            commit(txn);
        CHECK_INT(way == 0 ? 1 : 2, count(NULL, "old"));
        CHECK_INT(0, count(NULL, "c"));
        call_close(db);
        if (way == 1)
            folder_remove(folder_join(folder, "index"));
        db = call_open(folder);
        CHECK_INT(way == 0 ? 1 : 2, count(NULL, "old"));
        CHECK_INT(way == 0 ? 0 : 2, call_count(db, NULL, "old", "{'v': 7}"));
        CHECK_INT(0, count(NULL, "c"));
    }
    call_close(db);
    db = NULL;
    folder_end(folder);
}

/* ---- Cursors within ---- */

static void a_cursor_of_a_writer_sees_the_state_at_its_opening(void) {
    static const char *const hints[] = {NULL, "{'$orderby': {'v': -1}}", "{'$orderby': {'v': 1}}"};
    for (int indexed = 0; indexed < 2; indexed++) {
        for (size_t i = 0; i < 3; i++) {
            fresh();
            if (indexed == 1)
                CHECK_OK(call_index(db, NULL, "c", "v", "{'v': 1}", NULL), &call_error);
            CHECK_OK(save(NULL, "c", "{'_id': 1, 'v': 5}"), &call_error);
            tansu_txn *txn = begin();
            CHECK_OK(save(txn, "c", "{'_id': 2, 'v': 5}"), &call_error);
            CHECK_OK(save(txn, "c", "{'_id': 3, 'v': 5}"), &call_error);
            tansu_cursor *cursor = call_cursor(db, txn, "c", "{'v': {'$gt': 0}}", hints[i]);
            CHECK_OK(call_remove(db, txn, "c", "{'_id': 1}", NULL), &call_error);
            CHECK_OK(save(txn, "c", "{'_id': 2, 'v': 6}"), &call_error);
            CHECK_OK(save(txn, "c", "{'_id': 4, 'v': 5}"), &call_error);
            CHECK_TEXT("{ \"_id\" : 1, \"v\" : 5 }", call_next(cursor));
            CHECK_OK(call_index(db, txn, "c", "w", "{'w': 1}", NULL), &call_error);
            CHECK_TEXT("{ \"_id\" : 2, \"v\" : 5 }", call_next(cursor));
            CHECK_OK(tansu_collection_drop(db, txn, "c", NULL), NULL);
            CHECK_TEXT("{ \"_id\" : 3, \"v\" : 5 }", call_next(cursor));
            CHECK_TEXT("", call_next(cursor));
            CHECK_TEXT("", call_next(cursor));
            tansu_cursor_close(cursor);
            commit(txn);
            CHECK_INT(0, count(NULL, "c"));
        }
    }
}

static void documents_of_a_cursor_may_be_saved_as_they_are(void) {
    /* The frame grows over several segments meanwhile, and moves each time. */
    char *folder = folder_new();
    if (db != NULL)
        call_close(db);
    db = call_open(folder);
    uint8_t *filling = calloc(1, 30000);
    REQUIRE(filling != NULL);
    tansu_txn *txn = begin();
    for (int i = 0; i < 30; i++) {
        memset(filling, i + 1, 30000);
        bson_t *doc =
            BCON_NEW("_id", BCON_INT32(i), "b", BCON_BIN(BSON_SUBTYPE_BINARY, filling, 30000));
        CHECK_OK(call_save_bson(db, txn, "from", TANSU_SAVE, doc), &call_error);
        bson_destroy(doc);
    }
    tansu_cursor *cursor = call_cursor(db, txn, "from", "{}", NULL);
    tansu_document document;
    int copied = 0;
    while (tansu_cursor_next(cursor, &document, NULL) == TANSU_OK) {
        CHECK_OK(tansu_save(db, txn, "to", &document, 1, TANSU_SAVE, NULL, &call_error),
                 &call_error);
        /* What the cursor shows stays until its next step, whatever was written. */
        const uint8_t *bytes = document.data;
        if (CHECK(document.size > 30000))
            CHECK_INT(copied + 1, bytes[document.size - 2]);
        copied++;
    }
    CHECK_INT(30, copied);
    tansu_cursor_close(cursor);
    commit(txn);
    for (int way = 0; way < 2; way++) {
        cursor = call_cursor(db, NULL, "to", "{}", NULL);
        for (int i = 0; i < 30; i++) {
            memset(filling, i + 1, 30000);
            bson_t *doc =
                BCON_NEW("_id", BCON_INT32(i), "b", BCON_BIN(BSON_SUBTYPE_BINARY, filling, 30000));
            if (CHECK_OK(tansu_cursor_next(cursor, &document, &call_error), &call_error))
                CHECK_BYTES(bson_get_data(doc), doc->len, document.data, document.size);
            bson_destroy(doc);
        }
        tansu_cursor_close(cursor);
        call_close(db);
        folder_remove(folder_join(folder, "index"));
        db = call_open(folder);
    }
    call_close(db);
    db = NULL;
    free(filling);
    folder_end(folder);
}

static void commit_refuses_while_cursors_are_open(void) {
    fresh();
    CHECK_OK(save(NULL, "c", "{'_id': 1}"), &call_error);
    for (int mode = TANSU_TXN_READ; mode <= TANSU_TXN_WRITE; mode++) {
        tansu_txn *txn = call_begin(db, (tansu_txn_mode)mode);
        tansu_cursor *cursor = call_cursor(db, txn, "c", "{}", NULL);
        CHECK_STATUS(TANSU_E_BUSY, tansu_txn_commit(txn, NULL, &call_error));
        CHECK_TEXT("{ \"_id\" : 1 }", call_next(cursor)); /* it goes on */
        if (mode == TANSU_TXN_WRITE)
            CHECK_OK(save(txn, "c", "{'_id': 2}"), &call_error);
        tansu_cursor_close(cursor);
        commit(txn);
    }
    CHECK_INT(2, count(NULL, "c"));
}

static void abort_ends_open_cursors(void) {
    fresh();
    CHECK_OK(save(NULL, "c", "{'_id': 1}"), &call_error);
    for (int mode = TANSU_TXN_READ; mode <= TANSU_TXN_WRITE; mode++) {
        for (int changed = 0; changed <= mode; changed++) {
            tansu_txn *txn = call_begin(db, (tansu_txn_mode)mode);
            if (changed != 0)
                CHECK_OK(save(txn, "c", "{'_id': 2}"), &call_error);
            tansu_cursor *first = call_cursor(db, txn, "c", "{}", NULL);
            tansu_cursor *second = call_cursor(db, txn, "c", "{}", NULL);
            CHECK_TEXT("{ \"_id\" : 1 }", call_next(first));
            tansu_txn_abort(txn);
            CHECK_TEXT("INVALID_STATE", call_next(first));
            CHECK_TEXT("INVALID_STATE", call_next(second));
            CHECK_OK(save(NULL, "c", "{'_id': 1}"), &call_error); /* the write lock was released */
            tansu_cursor_close(first);
            CHECK_TEXT("INVALID_STATE", call_next(second));
            tansu_cursor_close(second);
        }
    }
    CHECK_INT(1, count(NULL, "c"));
}

/* ---- Readers ---- */

static void a_read_transaction_sees_one_snapshot(void) {
    fresh();
    CHECK_OK(call_index(db, NULL, "c", "v", "{'v': 1}", NULL), &call_error);
    CHECK_OK(save(NULL, "c", "{'_id': 1, 'v': 1}"), &call_error);
    CHECK_OK(save(NULL, "c", "{'_id': 2, 'v': 1}"), &call_error);
    tansu_txn *reading = call_begin(db, TANSU_TXN_READ);
    CHECK_OK(save(NULL, "c", "{'_id': 1, 'v': 2}"), &call_error);
    CHECK_OK(save(NULL, "c", "{'_id': 3, 'v': 1}"), &call_error);
    CHECK_OK(call_remove_id(db, NULL, "c", "{'_id': 2}", NULL), &call_error);
    CHECK_OK(tansu_collection_rename(db, NULL, "c", "d", NULL), NULL);
    CHECK_OK(save(NULL, "c", "{'_id': 1, 'v': 'other'}"), &call_error);
    CHECK_OK(tansu_index_drop(db, NULL, "d", "v", NULL), NULL);
    CHECK_OK(tansu_collection_drop(db, NULL, "d", NULL), NULL);
    CHECK_TEXT("{ \"_id\" : 1, \"v\" : 1 } { \"_id\" : 2, \"v\" : 1 }",
               call_find(db, reading, "c", "{}", NULL));
    CHECK_TEXT("{ \"_id\" : 1, \"v\" : 1 } { \"_id\" : 2, \"v\" : 1 }",
               call_find(db, reading, "c", "{'v': 1}", NULL));
    CHECK_TEXT("{ \"_id\" : 2, \"v\" : 1 }", call_get(db, reading, "c", "{'_id': 2}"));
    CHECK_TEXT("NOT_FOUND", call_get(db, reading, "c", "{'_id': 3}"));
    CHECK_TEXT("NOT_FOUND", call_indexes(db, reading, "d"));
    CHECK(strstr(call_indexes(db, reading, "c"), "\"entries\" : 2") != NULL);
    CHECK_STATUS(TANSU_E_READ_ONLY, save(reading, "c", "{'_id': 9}"));
    CHECK_STATUS(TANSU_E_READ_ONLY, tansu_collection_drop(db, reading, "c", NULL));
    uint64_t sequence = 5;
    CHECK_OK(tansu_txn_commit(reading, &sequence, &call_error), &call_error);
    CHECK_INT(0, sequence);
    CHECK_TEXT("{ \"_id\" : 1, \"v\" : \"other\" }", call_find(db, NULL, "c", "{}", NULL));
}

static void a_transaction_belongs_to_its_database(void) {
    fresh();
    tansu_db *other = call_open(NULL);
    tansu_txn *txn = call_begin(other, TANSU_TXN_WRITE), *none = NULL;
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, save(txn, "c", "{'_id': 1}"));
    CHECK_TEXT("INVALID_ARGUMENT", call_find(db, txn, "c", "{}", NULL));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, tansu_txn_begin(db, (tansu_txn_mode)2, 0, &none, NULL));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT,
                 tansu_txn_begin(db, TANSU_TXN_READ, (tansu_durability)4, &none, NULL));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, tansu_txn_begin(db, TANSU_TXN_READ, 0, NULL, NULL));
    CHECK(none == NULL);
    tansu_txn_abort(txn);
    call_close(other);
}

/* ---- One writer at a time ---- */

static void a_thread_does_not_wait_for_itself(void) {
    fresh();
    tansu_txn *txn = begin(), *second = NULL;
    double start = timing_now();
    CHECK_STATUS(TANSU_E_BUSY, save(NULL, "c", "{'_id': 1}"));
    CHECK_STATUS(TANSU_E_BUSY, tansu_txn_begin(db, TANSU_TXN_WRITE, 0, &second, &call_error));
    CHECK(timing_now() - start < 1.0);
    CHECK(second == NULL);
    CHECK_OK(save(txn, "c", "{'_id': 1}"), &call_error);
    commit(txn);
    CHECK_OK(save(NULL, "c", "{'_id': 2}"), &call_error);
}

/* What another thread tries. */
typedef struct attempt {
    tansu_status status;
    double took;
} attempt;

static void *try_to_save(void *context) {
    attempt *a = context;
    bson_t *doc = BCON_NEW("_id", BCON_INT32(5));
    tansu_document document = document_of(doc);
    double start = timing_now();
    a->status = tansu_save(db, NULL, "c", &document, 1, TANSU_SAVE, NULL, NULL);
    a->took = timing_now() - start;
    bson_destroy(doc);
    return NULL;
}

static void a_writer_waits_for_another_and_not_for_ever(void) {
    if (db != NULL)
        call_close(db);
    tansu_options options = call_options(NULL);
    options.busy_timeout_ms = 150;
    db = call_open_with(&options);
    tansu_txn *txn = begin();
    pthread_t thread;
    attempt a;
    REQUIRE(pthread_create(&thread, NULL, try_to_save, &a) == 0);
    pthread_join(thread, NULL);
    CHECK_STATUS(TANSU_E_BUSY, a.status);
    CHECK(a.took >= 0.14 && a.took < 5);
    REQUIRE(pthread_create(&thread, NULL, try_to_save, &a) == 0);
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    CHECK_OK(save(txn, "c", "{'_id': 1}"), &call_error);
    commit(txn);
    pthread_join(thread, NULL);
    CHECK_STATUS(TANSU_OK, a.status);
    CHECK_INT(2, count(NULL, "c"));
}

static void a_commit_may_fill_many_segments(void) {
    char *folder = folder_new();
    if (db != NULL)
        call_close(db);
    db = call_open(folder);
    tansu_txn *txn = begin();
    uint8_t *filling = calloc(1, 1 << 20);
    REQUIRE(filling != NULL);
    for (int i = 0; i < 12; i++) {
        bson_t *doc =
            BCON_NEW("_id", BCON_INT32(i), "b", BCON_BIN(BSON_SUBTYPE_BINARY, filling, 1 << 20));
        CHECK_OK(call_save_bson(db, txn, "c", TANSU_SAVE, doc), &call_error);
        bson_destroy(doc);
    }
    commit(txn);
    CHECK_OK(save(NULL, "c", "{'_id': 100}"), &call_error);
    call_close(db);
    for (int way = 0; way < 2; way++) {
        db = call_open(folder);
        CHECK_INT(13, count(NULL, "c"));
        call_close(db);
        folder_remove(folder_join(folder, "index"));
    }
    db = NULL;
    free(filling);
    folder_end(folder);
}

int main(void) {
    RUN(several_collections_are_one_commit);
    RUN(abort_drops_everything);
    RUN(a_transaction_reads_its_own_writes);
    RUN(a_call_that_fails_leaves_the_transaction_as_it_was);
    RUN(an_index_that_cannot_be_made_leaves_nothing);
    RUN(created_and_dropped_in_one_transaction);
    RUN(a_cursor_of_a_writer_sees_the_state_at_its_opening);
    RUN(documents_of_a_cursor_may_be_saved_as_they_are);
    RUN(commit_refuses_while_cursors_are_open);
    RUN(abort_ends_open_cursors);
    RUN(a_read_transaction_sees_one_snapshot);
    RUN(a_transaction_belongs_to_its_database);
    RUN(a_thread_does_not_wait_for_itself);
    RUN(a_writer_waits_for_another_and_not_for_ever);
    RUN(a_commit_may_fill_many_segments);
    if (db != NULL)
        call_close(db);
    return check_finish();
}
