/*
 * test_query_interrupt.c -- long calls end: by their own time limit, or when another thread asks.
 */
#include "toolkit/ask.h"
#include "toolkit/check.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define DOCUMENTS 20000

static tansu_db *db;

/* A query that takes long on every document: each word is looked at from every letter on. */
static const char slow[] = "{'t':{'$REGEX':'(x+x+)+y'}}";

/* fill -- many documents with a text that the query has much work with. */
static void fill(void) {
    char text[200];
    db = ask_open();
    snprintf(text, sizeof text, "{'t':'xxxxxxxx xxxxxxxxx xxxxxxxxx xxxxxxxxx xxxxxxxxx y'}");
    bson_t *doc = ask_bson(text);
    for (int i = 0; i < DOCUMENTS; i++)
        ask_save_bson(db, doc);
    bson_destroy(doc);
}

static void a_query_keeps_to_its_time(void) {
    CHECK_TEXT("TIMEOUT hints.$maxTimeMS", ask_ids(db, slow, "{'$maxTimeMS':2}"));
    CHECK_TEXT("TIMEOUT hints.$maxTimeMS", ask_ids(db, slow, "{'$maxTimeMS':2,'$onlycount':true}"));
    CHECK_TEXT("TIMEOUT hints.$maxTimeMS",
               ask_ids(db, slow, "{'$maxTimeMS':2,'$orderby':{'t':1}}"));
    CHECK_TEXT("", ask_ids(db, "{'t':1}", "{'$maxTimeMS':60000}"));
    CHECK_TEXT("", ask_ids(db, "{'t':1}", "{'$maxTimeMS':0}"));
}

/* cancel_soon -- what the other thread does. */
static void *cancel_soon(void *cursor) {
    struct timespec pause = {.tv_nsec = 5 * 1000 * 1000};
    nanosleep(&pause, NULL);
    tansu_cursor_cancel(cursor);
    return NULL;
}

static void a_cursor_is_cancelled_from_another_thread(void) {
    bson_t *query = ask_bson(slow), *hints = ask_bson("{'$orderby':{'t':1}}");
    tansu_cursor *cursor;
    tansu_document document;
    tansu_error error;
    pthread_t other;
    REQUIRE(CHECK_OK(tansu_find(db, NULL, "c", bson_get_data(query), query->len,
                                bson_get_data(hints), hints->len, &cursor, &error),
                     &error));
    REQUIRE(pthread_create(&other, NULL, cancel_soon, cursor) == 0);
    CHECK_STATUS(TANSU_E_CANCELLED, tansu_cursor_next(cursor, &document, &error));
    pthread_join(other, NULL);
    CHECK_STATUS(TANSU_E_CANCELLED, tansu_cursor_next(cursor, &document, &error));
    tansu_cursor_close(cursor);
    bson_destroy(query);
    bson_destroy(hints);
}

static void a_cancelled_transaction_keeps_nothing(void) {
    bson_t *query = ask_bson("{'new':1}");
    tansu_document one = {bson_get_data(query), query->len};
    tansu_txn *txn;
    tansu_error error;
    int64_t count;
    REQUIRE(CHECK_OK(tansu_txn_begin(db, TANSU_TXN_WRITE, TANSU_DURABILITY_DEFAULT, &txn, &error),
                     &error));
    CHECK_OK(tansu_save(db, txn, "c", &one, 1, TANSU_SAVE, NULL, &error), &error);
    tansu_txn_cancel(txn);
    CHECK_STATUS(TANSU_E_CANCELLED, tansu_save(db, txn, "c", &one, 1, TANSU_SAVE, NULL, &error));
    CHECK_STATUS(TANSU_E_CANCELLED, tansu_count(db, txn, "c", NULL, 0, NULL, 0, &count, &error));
    CHECK_STATUS(TANSU_E_CANCELLED, tansu_txn_commit(txn, NULL, &error));
    CHECK_INT(0, ask_count(db, "{'new':1}", NULL));
    CHECK_INT(DOCUMENTS, ask_count(db, NULL, NULL));
    bson_destroy(query);
}

static void nothing_is_fine(void) {
    tansu_cursor_cancel(NULL);
    tansu_txn_cancel(NULL);
    CHECK(true);
}

int main(void) {
    fill();
    RUN(a_query_keeps_to_its_time);
    RUN(a_cursor_is_cancelled_from_another_thread);
    RUN(a_cancelled_transaction_keeps_nothing);
    RUN(nothing_is_fine);
    ask_close(db);
    return check_finish();
}
