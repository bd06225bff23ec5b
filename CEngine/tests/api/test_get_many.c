/*
 * test_get_many.c -- the documents with several ids in one call: the same as one call each, for ids
 * of any kind in any order, in transactions, as of snapshots and in pieces.
 */
#include "support/calls/call.h"
#include "support/calls/document_of.h"
#include "support/calls/query_calls.h"
#include "support/check.h"
#include "support/fault/fault_injection.h"
#include "support/folder.h"
#include "support/random/random.h"
#include "support/random/random_bson.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* compare -- one call for all ids, beside one for each. */
static void compare(tansu_db *db, tansu_txn *txn, const bson_t *ids) {
    tansu_buffer batch = TANSU_BUFFER_INIT, one = TANSU_BUFFER_INIT;
    size_t first = 0, next = 0, count = bson_count_keys(ids);
    bson_iter_t id;
    REQUIRE(bson_iter_init(&id, ids));
    do {
        first = next;
        if (!CHECK_OK(
                tansu_get_many(db, txn, "c", document_of(ids), first, &batch, &next, &call_error),
                &call_error))
            break;
        CHECK(next > first || count == first);
        bson_t answer;
        bson_iter_t list, document;
        REQUIRE(bson_init_static(&answer, batch.data, batch.size));
        REQUIRE(bson_validate(&answer, BSON_VALIDATE_UTF8, NULL));
        REQUIRE(bson_iter_init_find(&list, &answer, "documents"));
        REQUIRE(bson_iter_recurse(&list, &document));
        for (size_t i = first; i < next; i++) {
            bson_t key = BSON_INITIALIZER;
            REQUIRE(bson_iter_next(&id) && bson_iter_next(&document));
            bson_append_iter(&key, "_id", -1, &id);
            tansu_status status = tansu_get(db, txn, "c", document_of(&key), &one, &call_error);
            if (status == TANSU_E_NOT_FOUND) {
                CHECK(BSON_ITER_HOLDS_NULL(&document));
            } else if (CHECK_OK(status, &call_error) &&
                       CHECK(BSON_ITER_HOLDS_DOCUMENT(&document))) {
                uint32_t size;
                const uint8_t *bytes;
                bson_iter_document(&document, &size, &bytes);
                CHECK_BYTES(one.data, one.size, bytes, size);
            }
            bson_destroy(&key);
        }
        CHECK(!bson_iter_next(&document));
    } while (next < count);
    CHECK_INT(count, next);
    tansu_buffer_free(&batch);
    tansu_buffer_free(&one);
}

/* random_id -- of any type that an `_id` may have; often one of few. */
static void random_id(random_source *r, bson_t *to, const char *key) {
    switch (random_below(r, 8)) {
    case 0: bson_append_double(to, key, -1, (double)random_below(r, 60)); break;
    case 1: bson_append_int64(to, key, -1, (int64_t)random_below(r, 60)); break;
    case 2: {
        char text[20];
        snprintf(text, sizeof text, "s%d", (int)random_below(r, 40));
        bson_append_utf8(to, key, -1, text, -1);
        break;
    }
    case 3: bson_append_bool(to, key, -1, random_chance(r, 50)); break;
    case 4: {
        bson_t inner = BSON_INITIALIZER;
        BSON_APPEND_INT32(&inner, "a", (int32_t)random_below(r, 10));
        bson_append_document(to, key, -1, &inner);
        bson_destroy(&inner);
        break;
    }
    case 5: {
        uint8_t bytes[12] = {0};
        bson_oid_t oid;
        bytes[11] = (uint8_t)random_below(r, 30);
        bson_oid_init_from_data(&oid, bytes);
        bson_append_oid(to, key, -1, &oid);
        break;
    }
    default: bson_append_int32(to, key, -1, (int32_t)random_below(r, 60)); break;
    }
}

/* save_random -- a document with a random id. */
static void save_random(random_source *r, tansu_db *db, tansu_txn *txn) {
    bson_t doc = BSON_INITIALIZER;
    random_id(r, &doc, "_id");
    BSON_APPEND_INT64(&doc, "n", (int64_t)random_next(r));
    CHECK_OK(call_save_bson(db, txn, "c", TANSU_SAVE, &doc), &call_error);
    bson_destroy(&doc);
}

/* compare_random -- some random ids. */
static void compare_random(random_source *r, tansu_db *db, tansu_txn *txn) {
    bson_t ids = BSON_INITIALIZER;
    for (size_t i = random_below(r, 80); i > 0; i--)
        random_id(r, &ids, "x");
    compare(db, txn, &ids);
    bson_destroy(&ids);
}

static void it_is_one_call_for_each(void) {
    random_source r = random_start(1);
    for (int world = 0; world < 20; world++) {
        char *folder = world % 4 == 0 ? folder_new() : NULL;
        char *path = folder != NULL ? strdup(folder_join(folder, "db")) : NULL;
        tansu_db *db = call_open(path);
        compare_random(&r, db, NULL);
        for (int i = (int)random_below(&r, 300); i >= 0; i--)
            save_random(&r, db, NULL);
        if (path != NULL) {
            call_close(db);
            db = call_open(path);
        }
        for (int i = 0; i < 20; i++)
            compare_random(&r, db, NULL);
        tansu_txn *old = call_begin(db, TANSU_TXN_READ);
        tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
        for (int i = 0; i < 40; i++) {
            if (random_chance(&r, 60))
                save_random(&r, db, txn);
            else
                CHECK_OK(call_remove(db, txn, "c", "{'_id': {'$lt': 20}}", NULL), &call_error);
            compare_random(&r, db, txn);
            compare_random(&r, db, old);
        }
        CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
        compare_random(&r, db, NULL);
        tansu_txn_abort(old);
        call_close(db);
        free(path);
        if (folder != NULL)
            folder_end(folder);
    }
}

/* status_of -- of a call with these ids. */
static tansu_status status_of(tansu_db *db, const char *collection, const char *ids, size_t first) {
    tansu_buffer result = TANSU_BUFFER_INIT;
    size_t next = 99;
    bson_t *list = bson_from_text(ids);
    tansu_status status =
        tansu_get_many(db, NULL, collection, document_of(list), first, &result, &next, &call_error);
    CHECK(status == TANSU_OK || (result.size == 0 && next == first));
    bson_destroy(list);
    tansu_buffer_free(&result);
    return status;
}

static void bad_input_is_an_error(void) {
    tansu_db *db = memory_db_with((const char *const[]){"{'_id': 1}", NULL});
    CHECK_STATUS(TANSU_OK, status_of(db, "none", "{'a': 1}", 0));
    CHECK_STATUS(TANSU_OK, status_of(db, "c", "{}", 0));
    CHECK_STATUS(TANSU_OK, status_of(db, "c", "{'a': 1}", 1));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, status_of(db, "c", "{'a': 1}", 2));
    CHECK_STATUS(TANSU_E_INVALID_NAME, status_of(db, "$c", "{'a': 1}", 0));
    CHECK_STATUS(TANSU_E_INVALID_ID, status_of(db, "c", "{'a': 1, 'b': {'$undefined': true}}", 0));
    CHECK_TEXT("1._id", call_error.context);
    CHECK_STATUS(TANSU_E_INVALID_ID, status_of(db, "c", "{'a': [1]}", 0));
    /* Those before the first are not asked for. */
    CHECK_STATUS(TANSU_OK, status_of(db, "c", "{'a': [1], 'b': 1}", 1));
    tansu_buffer result = TANSU_BUFFER_INIT;
    size_t next;
    static const uint8_t broken[] = {9, 0, 0, 0, 16, 'a', 0, 1, 0};
    CHECK_STATUS(TANSU_E_INVALID_BSON,
                 tansu_get_many(db, NULL, "c", (tansu_document){broken, sizeof broken}, 0, &result,
                                &next, &call_error));
    bson_t ids = BSON_INITIALIZER;
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT,
                 tansu_get_many(db, NULL, NULL, document_of(&ids), 0, &result, &next, NULL));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT,
                 tansu_get_many(db, NULL, "c", document_of(&ids), 0, NULL, &next, NULL));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT,
                 tansu_get_many(db, NULL, "c", document_of(&ids), 0, &result, NULL, NULL));
    tansu_buffer_free(&result);
    call_close(db);
}

/* Documents of a megabyte each come in several pieces. */
static void large_results_come_in_pieces(void) {
    tansu_db *db = call_open(NULL);
    bson_t ids = BSON_INITIALIZER;
    char *text = malloc(1 << 20);
    REQUIRE(text != NULL);
    memset(text, 'x', 1 << 20);
    for (int i = 0; i < 40; i++) {
        bson_t doc = BSON_INITIALIZER;
        BSON_APPEND_INT32(&doc, "_id", i);
        bson_append_utf8(&doc, "t", -1, text, 1 << 20);
        CHECK_OK(call_save_bson(db, NULL, "c", TANSU_SAVE, &doc), &call_error);
        bson_destroy(&doc);
        BSON_APPEND_INT32(&ids, "i", 39 - i);
    }
    tansu_buffer result = TANSU_BUFFER_INIT;
    size_t next = 0;
    CHECK_OK(tansu_get_many(db, NULL, "c", document_of(&ids), 0, &result, &next, &call_error),
             &call_error);
    CHECK_INT(16, next);
    CHECK(result.size > 16 << 20 && result.size < 18 << 20);
    tansu_buffer_free(&result);
    compare(db, NULL, &ids);
    bson_destroy(&ids);
    free(text);
    call_close(db);
}

static void failed_allocations_and_cancelling(void) {
    tansu_db *db = memory_db_with((const char *const[]){"{'_id': 1}", "{'_id': 2}", NULL});
    bson_t *ids = bson_from_text("{'a': 2, 'b': 1, 'c': 3}");
    tansu_buffer result = TANSU_BUFFER_INIT;
    size_t next = 0;
    if (fault_has_memory()) {
        bool met = true;
        for (unsigned nth = 1; met; nth++) {
            fault_start(FAULT_OWN_MEMORY, nth, false, 0);
            tansu_status status =
                tansu_get_many(db, NULL, "c", document_of(ids), 0, &result, &next, &call_error);
            met = fault_occurred();
            fault_stop();
            CHECK_STATUS(met ? TANSU_E_MEMORY : TANSU_OK, status);
            tansu_buffer_free(&result);
        }
    }
    tansu_txn *txn = call_begin(db, TANSU_TXN_READ);
    tansu_txn_cancel(txn);
    CHECK_STATUS(TANSU_E_CANCELLED,
                 tansu_get_many(db, txn, "c", document_of(ids), 0, &result, &next, &call_error));
    tansu_txn_abort(txn);
    tansu_buffer_free(&result);
    bson_destroy(ids);
    call_close(db);
}

int main(void) {
    RUN(it_is_one_call_for_each);
    RUN(bad_input_is_an_error);
    RUN(large_results_come_in_pieces);
    RUN(failed_allocations_and_cancelling);
    return check_finish();
}
