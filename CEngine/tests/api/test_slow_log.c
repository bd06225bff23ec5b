/*
 * test_slow_log.c -- operations that take long, or all, are passed to options.log, without a lock.
 */
#include "support/calls/call.h"
#include "support/check.h"
#include "support/folder.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What the function heard last, and how often. */
static struct {
    unsigned count;
    tansu_log_kind kind;
    tansu_status status;
    uint64_t nanoseconds;
    char collection[32];
    char query[100];
    char hints[100];
    tansu_db *save_in; /* makes a commit of its own in this database */
} heard;

/* write_text -- a document as JSON, or "none". */
static void write_text(char *text, size_t size, tansu_document document) {
    tansu_buffer json = TANSU_BUFFER_INIT;
    if (document.data != NULL)
        CHECK_OK(tansu_bson_to_json(document, 0, &json, NULL), NULL);
    snprintf(text, size, "%.*s", document.data == NULL ? 4 : (int)json.size,
             document.data == NULL ? "none" : (const char *)json.data);
    tansu_buffer_free(&json);
}

static void hear(void *context, const tansu_log_event *event) {
    CHECK(context == &heard);
    CHECK(event->struct_size == sizeof *event);
    heard.count++;
    heard.kind = event->kind;
    heard.status = event->status;
    heard.nanoseconds = event->nanoseconds;
    snprintf(heard.collection, sizeof heard.collection, "%s",
             event->collection == NULL ? "none" : event->collection);
    write_text(heard.query, sizeof heard.query, event->query);
    write_text(heard.hints, sizeof heard.hints, event->hints);
    if (heard.save_in != NULL) {
        tansu_db *db = heard.save_in;
        heard.save_in = NULL;
        CHECK_OK(call_save(db, NULL, "log", TANSU_SAVE, "{'_id': 1}"), &call_error);
        CHECK_INT(1, call_count(db, NULL, "log", "{}"));
    }
}

/* open_logged -- a memory store that logs operations from so many milliseconds on, or all. */
static tansu_db *open_logged(uint32_t milliseconds, bool all) {
    tansu_options options = call_options(NULL);
    options.slow_operation_ms = milliseconds;
    options.log_all = all;
    options.log = hear;
    options.log_context = &heard;
    memset(&heard, 0, sizeof heard);
    return call_open_with(&options);
}

/* open_eager -- every operation is logged, however quick. */
static tansu_db *open_eager(void) {
    return open_logged(0, true);
}

/* check_heard -- one event since the last check. */
static void check_heard(tansu_log_kind kind, tansu_status status, const char *collection,
                        const char *query) {
    CHECK_INT(1, heard.count);
    CHECK_INT(kind, heard.kind);
    CHECK_STATUS(status, heard.status);
    CHECK_TEXT(collection, heard.collection);
    CHECK_TEXT(query, heard.query);
    heard.count = 0;
}

static void every_operation_has_its_event(void) {
    tansu_db *db = open_eager();
    tansu_buffer result = TANSU_BUFFER_INIT;
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1, 'a': 2}"), &call_error);
    check_heard(TANSU_LOG_SAVE, TANSU_OK, "c", "none");
    CHECK_STATUS(TANSU_E_EXISTS, call_save(db, NULL, "c", TANSU_INSERT, "{'_id': 1}"));
    check_heard(TANSU_LOG_SAVE, TANSU_E_EXISTS, "c", "none");
    CHECK_TEXT("{ \"_id\" : 1, \"a\" : 2 }", call_get(db, NULL, "c", "{'_id': 1}"));
    check_heard(TANSU_LOG_GET, TANSU_OK, "c", "{\"_id\": 1}");
    CHECK_INT(1, call_count(db, NULL, "c", "{'a': 2}"));
    check_heard(TANSU_LOG_COUNT, TANSU_OK, "c", "{\"a\": 2}");
    CHECK_TEXT("{ \"_id\" : 1, \"a\" : 2 }", call_find(db, NULL, "c", "{'a': 2}", NULL));
    check_heard(TANSU_LOG_FIND, TANSU_DONE, "c", "{\"a\": 2}");
    CHECK_TEXT("none", heard.hints);
    CHECK_TEXT("{ \"_id\" : 1 }", call_find(db, NULL, "c", "{'a': 2}", "{'$fields': {'_id': 1}}"));
    check_heard(TANSU_LOG_FIND, TANSU_DONE, "c", "{\"a\": 2}");
    CHECK_TEXT("{\"$fields\": {\"_id\": 1}}", heard.hints);
    CHECK_TEXT("INVALID_QUERY", call_find(db, NULL, "c", "{'a': {'$no': 2}}", NULL));
    check_heard(TANSU_LOG_FIND, TANSU_E_INVALID_QUERY, "c", "{\"a\": {\"$no\": 2}}");
    CHECK_OK(tansu_explain(db, NULL, "c", TANSU_NO_DOCUMENT, TANSU_NO_DOCUMENT, &result, NULL),
             NULL);
    check_heard(TANSU_LOG_EXPLAIN, TANSU_OK, "c", "none");
    CHECK_OK(
        tansu_distinct(db, NULL, "c", "a", TANSU_NO_DOCUMENT, TANSU_NO_DOCUMENT, &result, NULL),
        NULL);
    check_heard(TANSU_LOG_DISTINCT, TANSU_OK, "c", "none");
    bson_t group = BSON_INITIALIZER;
    BSON_APPEND_UTF8(&group, "by", "a");
    CHECK_OK(tansu_aggregate(db, NULL, "c", TANSU_NO_DOCUMENT, document_of(&group),
                             TANSU_NO_DOCUMENT, &result, NULL),
             NULL);
    bson_destroy(&group);
    check_heard(TANSU_LOG_AGGREGATE, TANSU_OK, "c", "none");
    tansu_cursor *cursor;
    tansu_document document;
    bson_t stages = BSON_INITIALIZER, stage = BSON_INITIALIZER;
    BSON_APPEND_INT32(&stage, "$limit", 1);
    BSON_APPEND_DOCUMENT(&stages, "0", &stage);
    CHECK_OK(tansu_pipeline(db, NULL, "c", document_of(&stages), TANSU_NO_DOCUMENT, &cursor, NULL),
             NULL);
    CHECK_OK(tansu_cursor_next(cursor, &document, NULL), NULL);
    CHECK_INT(0, heard.count);
    tansu_cursor_close(cursor);
    check_heard(TANSU_LOG_PIPELINE, TANSU_OK, "c", "{\"0\": {\"$limit\": 1}}");
    CHECK_STATUS(TANSU_E_INVALID_QUERY, tansu_pipeline(db, NULL, NULL, document_of(&stages),
                                                       TANSU_NO_DOCUMENT, &cursor, NULL));
    check_heard(TANSU_LOG_PIPELINE, TANSU_E_INVALID_QUERY, "none", "{\"0\": {\"$limit\": 1}}");
    bson_destroy(&stage);
    bson_destroy(&stages);
    CHECK_OK(call_index(db, NULL, "c", NULL, "{'a': 1}", NULL), &call_error);
    check_heard(TANSU_LOG_INDEX_CREATE, TANSU_OK, "c", "none");
    bson_t set = BSON_INITIALIZER, a = BSON_INITIALIZER;
    BSON_APPEND_INT32(&a, "a", 3);
    BSON_APPEND_DOCUMENT(&set, "$set", &a);
    CHECK_OK(tansu_update(db, NULL, "c", document_of(&a), document_of(&set), TANSU_NO_DOCUMENT,
                          NULL, NULL),
             NULL);
    check_heard(TANSU_LOG_UPDATE, TANSU_OK, "c", "{\"a\": 3}");
    CHECK_OK(tansu_find_and_modify(db, NULL, "c", TANSU_NO_DOCUMENT, document_of(&set),
                                   TANSU_NO_DOCUMENT, TANSU_MODIFY_RETURN_BEFORE, NULL, NULL),
             NULL);
    check_heard(TANSU_LOG_FIND_AND_MODIFY, TANSU_OK, "c", "none");
    bson_destroy(&set);
    bson_destroy(&a);
    CHECK_OK(call_remove_id(db, NULL, "c", "{'_id': 1}", NULL), &call_error);
    check_heard(TANSU_LOG_REMOVE, TANSU_OK, "c", "{\"_id\": 1}");
    CHECK_OK(call_remove(db, NULL, "c", "{'a': 3}", NULL), &call_error);
    check_heard(TANSU_LOG_REMOVE, TANSU_OK, "c", "{\"a\": 3}");
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    check_heard(TANSU_LOG_BEGIN, TANSU_OK, "none", "none");
    CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
    check_heard(TANSU_LOG_COMMIT, TANSU_OK, "none", "none");
    txn = call_begin(db, TANSU_TXN_READ);
    CHECK_INT(0, heard.count); /* it waits for nothing */
    tansu_txn_abort(txn);
    tansu_buffer_free(&result);
    call_close(db);
}

static void quick_operations_have_none(void) {
    tansu_db *db = open_logged(60000, false);
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1}"), &call_error);
    CHECK_TEXT("{ \"_id\" : 1 }", call_find(db, NULL, "c", "{}", NULL));
    CHECK_INT(0, heard.count);
    call_close(db);
    db = open_logged(0, false); /* off */
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1}"), &call_error);
    CHECK_INT(0, heard.count);
    call_close(db);
}

/* sleep_once -- a progress function that takes its time. */
static int sleep_once(void *context, uint64_t done, uint64_t total) {
    (void)done, (void)total;
    if (!*(bool *)context)
        usleep(5000);
    *(bool *)context = true;
    return 1;
}

static void a_slow_operation_has_one_with_its_time(void) {
    tansu_db *db = open_logged(5, false);
    bool slept = false;
    bson_t keys = BSON_INITIALIZER;
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1}"), &call_error);
    BSON_APPEND_INT32(&keys, "a", 1);
    heard.count = 0;
    CHECK_OK(tansu_index_create(db, NULL, "c", "a", document_of(&keys), TANSU_NO_DOCUMENT,
                                sleep_once, &slept, &call_error),
             &call_error);
    bson_destroy(&keys);
    CHECK_INT(1, heard.count);
    CHECK_INT(TANSU_LOG_INDEX_CREATE, heard.kind);
    CHECK(heard.nanoseconds >= 5000000 && heard.nanoseconds < 60000000000);
    call_close(db);
}

static void the_function_may_use_the_database(void) {
    tansu_db *db = open_eager();
    heard.save_in = db; /* would wait for itself if the write lock was held */
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1}"), &call_error);
    CHECK_INT(1, call_count(db, NULL, "log", "{}"));
    heard.save_in = db;
    CHECK_TEXT("{ \"_id\" : 1 }", call_find(db, NULL, "c", "{}", NULL));
    CHECK(heard.save_in == NULL);
    call_close(db);
}

/* The transaction of another thread. */
typedef struct holder {
    tansu_db *db;
    bool begun;
} holder;

/* hold -- begins a transaction, and ends it after a while. */
static void *hold(void *context) {
    holder *h = context;
    tansu_txn *txn = call_begin(h->db, TANSU_TXN_WRITE);
    __atomic_store_n(&h->begun, true, __ATOMIC_SEQ_CST);
    usleep(20000);
    tansu_txn_abort(txn);
    return NULL;
}

/* wait_for_another -- a transaction that begins while another thread has one. */
static void wait_for_another(tansu_db *db) {
    holder h = {.db = db};
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, hold, &h) == 0);
    while (!__atomic_load_n(&h.begun, __ATOMIC_SEQ_CST))
        usleep(1000);
    heard.count = 0;
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    CHECK_INT(0, pthread_join(thread, NULL));
    tansu_txn_abort(txn);
}

static void a_transaction_has_the_time_that_it_waited(void) {
    tansu_db *db = open_logged(5, false);
    /* This thread may be so late that it hardly waits. */
    for (int i = 0; i < 100 && heard.count == 0; i++)
        wait_for_another(db);
    check_heard(TANSU_LOG_BEGIN, TANSU_OK, "none", "none");
    CHECK(heard.nanoseconds >= 5000000);
    call_close(db);
}

static void a_clone_has_the_log_of_its_own_options(void) {
    tansu_db *db = open_eager(), *copy = NULL;
    tansu_options target = call_options(NULL);
    CHECK_OK(tansu_clone(db, &target, NULL, NULL, &copy, &call_error), &call_error);
    heard.count = 0;
    CHECK_OK(call_save(copy, NULL, "c", TANSU_SAVE, "{'_id': 1}"), &call_error);
    CHECK_INT(0, heard.count);
    call_close(copy);
    call_close(db);
}

int main(void) {
    RUN(every_operation_has_its_event);
    RUN(quick_operations_have_none);
    RUN(a_slow_operation_has_one_with_its_time);
    RUN(the_function_may_use_the_database);
    RUN(a_transaction_has_the_time_that_it_waited);
    RUN(a_clone_has_the_log_of_its_own_options);
    return check_finish();
}
