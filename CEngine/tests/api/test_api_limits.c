/*
 * test_api_limits.c -- the bounds that tansu.h and docs/durability.md name: each is refused before
 * anything is written, and what is just within it is taken. Written from the documentation alone,
 * over the public API only.
 */
#include "support/calls/call.h"
#include "support/calls/maintenance_calls.h"
#include "support/check.h"
#include "support/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* unchanged -- nothing was committed, and no collection came into being. */
static void unchanged(tansu_db *db, int64_t sequence) {
    CHECK_INT(sequence, call_statistic(db, "sequence"));
    CHECK_TEXT("{ \"collections\" : [ { \"name\" : \"c\", \"documents\" : 1, \"options\" : { "
               "\"local\" : false } } ] }",
               call_collections(db, NULL));
}

/* nested -- a document of this many levels, itself included. */
static bson_t *nested(int levels) {
    bson_t *doc = BCON_NEW("a", BCON_INT32(1));
    for (int i = 1; i < levels; i++) {
        bson_t *outer = bson_new();
        if (i + 1 == levels)
            bson_append_int32(outer, "_id", -1, 2);
        bson_append_document(outer, "a", -1, doc);
        bson_destroy(doc);
        doc = outer;
    }
    return doc;
}

/* sized -- a document of exactly this many bytes. */
static bson_t *sized(uint32_t size) {
    bson_t *doc = BCON_NEW("_id", BCON_INT32(2));
    uint32_t room = size - doc->len - 1 - 2 - 5; /* type, "b\0", length and subtype */
    uint8_t *bytes = calloc(1, room);
    REQUIRE(bytes != NULL);
    bson_append_binary(doc, "b", -1, BSON_SUBTYPE_BINARY, bytes, room);
    free(bytes);
    REQUIRE(doc->len == size);
    return doc;
}

/* keyed -- a document with this many keys at its first level. */
static bson_t *keyed(uint32_t keys) {
    bson_t *doc = BCON_NEW("_id", BCON_INT32(2));
    char key[16];
    for (uint32_t i = 1; i < keys; i++) {
        snprintf(key, sizeof key, "%x", i);
        bson_append_null(doc, key, -1);
    }
    return doc;
}

/* within_and_beyond -- the first is taken, the second refused without a trace. Frees both. */
static void within_and_beyond(tansu_db *db, bson_t *within, bson_t *beyond) {
    int64_t sequence = call_statistic(db, "sequence");
    CHECK_STATUS(TANSU_E_TOO_LARGE, call_save_bson(db, NULL, "c", TANSU_SAVE, beyond));
    CHECK_STATUS(TANSU_E_TOO_LARGE, call_save_bson(db, NULL, "made", TANSU_SAVE, beyond));
    CHECK_STATUS(TANSU_E_TOO_LARGE, tansu_validate(document_of(beyond), NULL));
    unchanged(db, sequence);
    CHECK_OK(call_save_bson(db, NULL, "c", TANSU_SAVE, within), &call_error);
    CHECK_INT(2, call_count(db, NULL, "c", "{}"));
    CHECK_OK(call_remove_id(db, NULL, "c", "{'_id': 2}", NULL), &call_error);
    bson_destroy(within);
    bson_destroy(beyond);
}

static void documents(void) {
    char *folder = folder_new();
    tansu_db *db = call_open(folder);
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1}"), &call_error);
    within_and_beyond(db, nested(TANSU_MAX_DEPTH), nested(TANSU_MAX_DEPTH + 1));
    within_and_beyond(db, sized(TANSU_MAX_DOCUMENT_SIZE), sized(TANSU_MAX_DOCUMENT_SIZE + 1));
    within_and_beyond(db, keyed(TANSU_MAX_KEYS), keyed(TANSU_MAX_KEYS + 1));
    maintenance_clean(db);
    call_close(db);
    folder_end(folder);
}

static void names(void) {
    tansu_db *db = call_open(NULL);
    char name[TANSU_MAX_NAME + 2];
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1}"), &call_error);
    int64_t sequence = call_statistic(db, "sequence");
    memset(name, 'n', sizeof name);
    name[TANSU_MAX_NAME + 1] = 0;
    const char *const bad[] = {"", name};
    for (size_t i = 0; i < 2; i++) {
        CHECK_STATUS(TANSU_E_INVALID_NAME, call_save(db, NULL, bad[i], TANSU_SAVE, "{'_id': 1}"));
        CHECK_STATUS(TANSU_E_INVALID_NAME, call_ensure(db, NULL, bad[i], NULL));
        CHECK_STATUS(TANSU_E_INVALID_NAME,
                     tansu_collection_rename(db, NULL, "c", bad[i], &call_error));
    }
    CHECK_STATUS(TANSU_E_INVALID_NAME, call_index(db, NULL, "c", name, "{'n': 1}", NULL));
    CHECK_STATUS(TANSU_E_INVALID_NAME, call_save(db, NULL, "\xff\xfe", TANSU_SAVE, "{'_id': 1}"));
    unchanged(db, sequence);
    name[TANSU_MAX_NAME] = 0;
    CHECK_OK(call_save(db, NULL, name, TANSU_SAVE, "{'_id': 1}"), &call_error);
    CHECK_OK(call_index(db, NULL, name, name, "{'n': 1}", NULL), &call_error);
    CHECK_INT(1, call_count(db, NULL, name, "{}"));
    call_close(db);
}

static void indexes(void) {
    tansu_db *db = call_open(NULL);
    char name[32];
    bson_t *keys = bson_new();
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1}"), &call_error);
    for (int i = 0; i < TANSU_MAX_INDEX_PATHS + 1; i++) {
        if (i == TANSU_MAX_INDEX_PATHS)
            CHECK_OK(tansu_index_create(db, NULL, "c", "widest", document_of(keys),
                                        TANSU_NO_DOCUMENT, NULL, NULL, &call_error),
                     &call_error);
        snprintf(name, sizeof name, "path%d", i);
        bson_append_int32(keys, name, -1, 1);
    }
    int64_t sequence = call_statistic(db, "sequence");
    CHECK_STATUS(TANSU_E_TOO_LARGE, tansu_index_create(db, NULL, "c", "wider", document_of(keys),
                                                       TANSU_NO_DOCUMENT, NULL, NULL, &call_error));
    unchanged(db, sequence);
    bson_destroy(keys);
    for (int i = 1; i < TANSU_MAX_INDEXES; i++) {
        snprintf(name, sizeof name, "{'n%d': 1}", i);
        CHECK_OK(call_index(db, NULL, "c", NULL, name, NULL), &call_error);
    }
    sequence = call_statistic(db, "sequence");
    CHECK_STATUS(TANSU_E_TOO_LARGE, call_index(db, NULL, "c", NULL, "{'more': 1}", NULL));
    unchanged(db, sequence);
    maintenance_clean(db);
    call_close(db);
}

/* listed -- {_id: 2, list: [0, 1, ...]}. */
static bson_t *listed(int entries) {
    bson_t *doc = BCON_NEW("_id", BCON_INT32(2));
    bson_t list;
    char key[16];
    bson_append_array_begin(doc, "list", -1, &list);
    for (int i = 0; i < entries; i++) {
        snprintf(key, sizeof key, "%d", i);
        bson_append_int32(&list, key, -1, i);
    }
    bson_append_array_end(doc, &list);
    return doc;
}

static void entries_of_one_document(void) {
    tansu_db *db = call_open(NULL);
    bson_t *within = listed(TANSU_DEFAULT_INDEX_ENTRIES - 10);
    bson_t *beyond = listed(TANSU_DEFAULT_INDEX_ENTRIES + 1);
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1}"), &call_error);
    CHECK_OK(call_index(db, NULL, "c", "list", "{'list': 1}", NULL), &call_error);
    int64_t sequence = call_statistic(db, "sequence");
    CHECK_STATUS(TANSU_E_TOO_LARGE, call_save_bson(db, NULL, "c", TANSU_SAVE, beyond));
    unchanged(db, sequence);
    CHECK_OK(call_save_bson(db, NULL, "c", TANSU_SAVE, within), &call_error);
    CHECK_OK(call_remove_id(db, NULL, "c", "{'_id': 2}", NULL), &call_error);
    CHECK_OK(tansu_index_drop(db, NULL, "c", "list", &call_error), &call_error);
    CHECK_OK(call_save_bson(db, NULL, "c", TANSU_SAVE, beyond), &call_error);
    CHECK_STATUS(TANSU_E_TOO_LARGE, call_index(db, NULL, "c", "list", "{'list': 1}", NULL));
    CHECK_STATUS(TANSU_E_NOT_FOUND, tansu_index_drop(db, NULL, "c", "list", &call_error));
    maintenance_clean(db);
    bson_destroy(within);
    bson_destroy(beyond);
    call_close(db);
}

/* bytes_of_a_transaction -- a transaction over its bound is refused, and the database goes on.
 * It writes a gigabyte, so only when TANSU_ROUNDS asks for long tests. */
static void bytes_of_a_transaction(void) {
    if (getenv("TANSU_ROUNDS") == NULL) {
        check_skip("bytes_of_a_transaction writes a gigabyte; TANSU_ROUNDS=1 runs it");
        return;
    }
    char *folder = folder_new();
    tansu_db *db = call_open(folder);
    bson_t *doc = sized(TANSU_MAX_DOCUMENT_SIZE);
    tansu_status status = TANSU_OK;
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    int taken = 0;
    while (status == TANSU_OK && taken < 70)
        if ((status = call_save_bson(db, txn, "c", TANSU_SAVE, doc)) == TANSU_OK)
            taken++;
    CHECK_STATUS(TANSU_E_TOO_LARGE, status);
    CHECK(taken >= 60);
    tansu_txn_abort(txn);
    CHECK_INT(0, call_count(db, NULL, "c", "{}"));
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1}"), &call_error);
    maintenance_clean(db);
    bson_destroy(doc);
    call_close(db);
    folder_end(folder);
}

int main(void) {
    RUN(documents);
    RUN(names);
    RUN(indexes);
    RUN(entries_of_one_document);
    RUN(bytes_of_a_transaction);
    return check_finish();
}
