/*
 * test_declared_indexes.c -- tansu_index_declare(): a collection has its declared indexes however
 * and whenever it is created.
 */
#include "support/calls/call.h"
#include "support/calls/query_calls.h"
#include "support/check.h"
#include "support/folder.h"

#include <stdio.h>
#include <string.h>

static tansu_db *db;

/* declare -- the status of a declaration in "c". */
static tansu_status declare(tansu_txn *txn, const char *name, const char *keys,
                            const char *options) {
    bson_t *k = bson_from_text(keys), *o = bson_from_text(options);
    tansu_status status = tansu_index_declare(db, txn, "c", name, document_of(k), document_of(o),
                                              NULL, NULL, &call_error);
    bson_destroy(k);
    if (o != NULL)
        bson_destroy(o);
    return status;
}

#define UNIQUE "{'unique':true}"
#define SAVE(expected, txn, json) CHECK_STATUS(expected, call_save(db, txn, "c", TANSU_SAVE, json))

/* is_unique -- saves two documents with one value: whether the second one is refused. */
static bool is_unique(tansu_txn *txn) {
    SAVE(TANSU_OK, txn, "{'_id':1,'u':1}");
    return call_save(db, txn, "c", TANSU_SAVE, "{'_id':2,'u':1}") == TANSU_E_NOT_UNIQUE;
}

static void every_creation_makes_them(void) {
    db = call_open(NULL);
    CHECK_STATUS(TANSU_OK, declare(NULL, "by_u", "{'u':1}", UNIQUE));
    CHECK_STATUS(TANSU_OK, declare(NULL, "by_u", "{'u':1}", UNIQUE));
    /* Nothing is written by a declaration. */
    CHECK(strstr(call_collections(db, NULL), "\"c\"") == NULL);
    CHECK(is_unique(NULL));
    CHECK_STATUS(TANSU_OK, tansu_collection_drop(db, NULL, "c", &call_error));
    CHECK(is_unique(NULL));
    CHECK_STATUS(TANSU_OK, tansu_collection_rename(db, NULL, "c", "old", &call_error));
    CHECK(is_unique(NULL));
    CHECK_STATUS(TANSU_OK, tansu_collection_drop(db, NULL, "c", &call_error));
    CHECK_STATUS(TANSU_OK, call_ensure(db, NULL, "c", NULL));
    CHECK(strstr(call_indexes(db, NULL, "c"), "by_u") != NULL);
    call_close(db);
}

static void transactions_and_savepoints(void) {
    db = call_open(NULL);
    CHECK_STATUS(TANSU_OK, declare(NULL, "by_u", "{'u':1}", UNIQUE));
    CHECK_STATUS(TANSU_OK, declare(NULL, NULL, "{'v':-1}", NULL));
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    CHECK_STATUS(TANSU_OK, tansu_savepoint_begin(txn, &call_error));
    CHECK(is_unique(txn));
    CHECK_STATUS(TANSU_OK, tansu_savepoint_roll_back(txn, &call_error));
    CHECK(strstr(call_collections(db, txn), "\"c\"") == NULL);
    CHECK(is_unique(txn));
    tansu_txn_abort(txn);
    CHECK(strstr(call_collections(db, NULL), "\"c\"") == NULL);
    /* Dropped and made again in one transaction. */
    CHECK(is_unique(NULL));
    txn = call_begin(db, TANSU_TXN_WRITE);
    CHECK_STATUS(TANSU_OK, tansu_collection_drop(db, txn, "c", &call_error));
    CHECK(is_unique(txn));
    CHECK_STATUS(TANSU_OK, tansu_txn_commit(txn, NULL, &call_error));
    SAVE(TANSU_E_NOT_UNIQUE, NULL, "{'_id':3,'u':1}");
    CHECK(strstr(call_indexes(db, NULL, "c"), "v_-1") != NULL);
    call_close(db);
}

static void a_transaction_that_began_before(void) {
    db = call_open(NULL);
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    SAVE(TANSU_OK, txn, "{'_id':1,'u':1}");
    CHECK_STATUS(TANSU_E_BUSY, declare(NULL, "by_u", "{'u':1}", UNIQUE));
    CHECK_STATUS(TANSU_OK, declare(txn, "by_u", "{'u':1}", UNIQUE));
    SAVE(TANSU_E_NOT_UNIQUE, txn, "{'_id':2,'u':1}");
    CHECK_STATUS(TANSU_OK, tansu_txn_commit(txn, NULL, &call_error));
    SAVE(TANSU_E_NOT_UNIQUE, NULL, "{'_id':2,'u':1}");
    call_close(db);
}

static void existing_documents(void) {
    db = call_open(NULL);
    SAVE(TANSU_OK, NULL, "{'_id':1,'u':1}");
    SAVE(TANSU_OK, NULL, "{'_id':2,'u':1}");
    CHECK_STATUS(TANSU_E_NOT_UNIQUE, declare(NULL, "by_u", "{'u':1}", UNIQUE));
    /* It is not declared then. */
    CHECK_STATUS(TANSU_OK, tansu_collection_drop(db, NULL, "c", &call_error));
    CHECK(!is_unique(NULL));
    SAVE(TANSU_OK, NULL, "{'_id':2,'u':2}");
    CHECK_STATUS(TANSU_OK, declare(NULL, "by_u", "{'u':1}", UNIQUE));
    SAVE(TANSU_E_NOT_UNIQUE, NULL, "{'_id':3,'u':1}");
    /* Another definition under its name. */
    CHECK_STATUS(TANSU_E_EXISTS, declare(NULL, "by_u", "{'u':-1}", NULL));
    CHECK_STATUS(TANSU_OK, call_index(db, NULL, "c", "plain", "{'p':1}", NULL));
    CHECK_STATUS(TANSU_E_EXISTS, declare(NULL, "plain", "{'q':1}", NULL));
    CHECK_STATUS(TANSU_E_INVALID_INDEX, declare(NULL, "bad", "{'q':3}", NULL));
    /* Dropping the index forgets it. */
    CHECK_STATUS(TANSU_OK, tansu_index_drop(db, NULL, "c", "by_u", &call_error));
    CHECK_STATUS(TANSU_OK, tansu_collection_drop(db, NULL, "c", &call_error));
    CHECK(!is_unique(NULL));
    call_close(db);
}

static void read_only_databases_get_none(void) {
    char *folder = folder_new();
    const char *path = folder_join(folder, "db");
    db = call_open(path);
    SAVE(TANSU_OK, NULL, "{'_id':1,'u':1}");
    call_close(db);
    tansu_options options = call_options(path);
    options.read_only = 1;
    db = call_open_with(&options);
    CHECK_STATUS(TANSU_OK, declare(NULL, "by_u", "{'u':1}", UNIQUE));
    CHECK(strstr(call_indexes(db, NULL, "c"), "by_u") == NULL);
    call_close(db);
    folder_end(folder);
}

static void a_drop_that_is_rolled_back(void) {
    db = call_open(NULL);
    CHECK_STATUS(TANSU_OK, declare(NULL, "by_u", "{'u':1}", UNIQUE));
    CHECK(is_unique(NULL));
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    CHECK_STATUS(TANSU_OK, tansu_index_drop(db, txn, "c", "by_u", &call_error));
    /* Within the transaction it is gone, also from a collection that is created again. */
    SAVE(TANSU_OK, txn, "{'_id':2,'u':1}");
    CHECK_STATUS(TANSU_OK, tansu_collection_drop(db, txn, "c", &call_error));
    CHECK(!is_unique(txn));
    tansu_txn_abort(txn);
    SAVE(TANSU_E_NOT_UNIQUE, NULL, "{'_id':3,'u':1}");
    CHECK_STATUS(TANSU_OK, tansu_collection_drop(db, NULL, "c", &call_error));
    CHECK(is_unique(NULL));
    call_close(db);
}

static void another_definition_in_a_transaction(void) {
    for (int commits = 0; commits < 2; commits++) {
        db = call_open(NULL);
        CHECK_STATUS(TANSU_OK, declare(NULL, "by_u", "{'u':1}", UNIQUE));
        SAVE(TANSU_OK, NULL, "{'_id':1,'u':1}");
        tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
        CHECK_STATUS(TANSU_OK, tansu_index_drop(db, txn, "c", "by_u", &call_error));
        CHECK_STATUS(TANSU_OK, declare(txn, "by_u", "{'v':1}", NULL));
        CHECK_STATUS(TANSU_OK, tansu_index_drop(db, txn, "c", "by_u", &call_error));
        CHECK_STATUS(TANSU_OK, declare(txn, "by_u", "{'u':-1}", NULL));
        if (commits)
            CHECK_STATUS(TANSU_OK, tansu_txn_commit(txn, NULL, &call_error));
        else
            tansu_txn_abort(txn);
        CHECK_STATUS(TANSU_OK, tansu_collection_drop(db, NULL, "c", &call_error));
        CHECK(is_unique(NULL) == !commits);
        CHECK(strstr(call_indexes(db, NULL, "c"), commits ? "-1" : "true") != NULL);
        call_close(db);
    }
}

static void a_drop_without_the_collection(void) {
    db = call_open(NULL);
    CHECK_STATUS(TANSU_OK, declare(NULL, "by_u", "{'u':1}", UNIQUE));
    CHECK_STATUS(TANSU_E_NOT_FOUND, tansu_index_drop(db, NULL, "c", "by_v", &call_error));
    CHECK_STATUS(TANSU_E_NOT_FOUND, tansu_index_drop(db, NULL, "d", "by_u", &call_error));
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    CHECK_STATUS(TANSU_OK, tansu_index_drop(db, txn, "c", "by_u", &call_error));
    tansu_txn_abort(txn);
    CHECK(is_unique(NULL));
    CHECK_STATUS(TANSU_OK, tansu_collection_drop(db, NULL, "c", &call_error));
    CHECK_STATUS(TANSU_OK, tansu_index_drop(db, NULL, "c", "by_u", &call_error));
    CHECK_STATUS(TANSU_E_NOT_FOUND, tansu_index_drop(db, NULL, "c", "by_u", &call_error));
    CHECK(!is_unique(NULL));
    call_close(db);
}

/* Many collections: each has its own, whatever is dropped of the others. */
static void many_collections(void) {
    db = call_open(NULL);
    char name[32], index[32];
    bson_t *keys = bson_from_text("{'u':1}");
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < 700; i++) {
            snprintf(name, sizeof name, "c%d", i);
            snprintf(index, sizeof index, "i%d.%d", i, round);
            CHECK_OK(tansu_index_declare(db, NULL, name, index, document_of(keys),
                                         TANSU_NO_DOCUMENT, NULL, NULL, &call_error),
                     &call_error);
        }
    bson_destroy(keys);
    for (int round = 0; round < 2; round++) {
        tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
        for (int i = 0; i < 700; i += 3) {
            snprintf(name, sizeof name, "c%d", i);
            snprintf(index, sizeof index, "i%d.1", i);
            CHECK_OK(tansu_index_drop(db, txn, name, index, &call_error), &call_error);
        }
        if (round == 0)
            tansu_txn_abort(txn);
        else
            CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
        for (int i = 0; i < 700; i++) {
            snprintf(name, sizeof name, "c%d", i);
            CHECK_OK(call_ensure(db, NULL, name, NULL), &call_error);
            const char *list = call_indexes(db, NULL, name), *at = list;
            for (int k = 0; k < 3; k++) {
                bool gone = round == 1 && k == 1 && i % 3 == 0;
                snprintf(index, sizeof index, "\"i%d.%d\"", i, k);
                const char *found = strstr(list, index);
                if (!CHECK((found == NULL) == gone && (gone || found > at)))
                    check_note("%s of %s: %s", index, name, list);
                at = gone ? at : found;
            }
            CHECK_OK(tansu_collection_drop(db, NULL, name, &call_error), &call_error);
        }
    }
    call_close(db);
}

int main(void) {
    RUN(every_creation_makes_them);
    RUN(transactions_and_savepoints);
    RUN(a_transaction_that_began_before);
    RUN(existing_documents);
    RUN(read_only_databases_get_none);
    RUN(a_drop_that_is_rolled_back);
    RUN(another_definition_in_a_transaction);
    RUN(a_drop_without_the_collection);
    RUN(many_collections);
    return check_finish();
}
