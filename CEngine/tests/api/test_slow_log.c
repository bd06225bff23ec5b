/*
 * test_slow_log.c -- operations that take long are passed to options.log, with no lock held.
 */
#include "api/handles.h"
#include "support/calls/call.h"
#include "support/check.h"
#include "support/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What the function heard last, and how often. */
static struct {
    unsigned count;
    tansu_log_kind kind;
    tansu_status status;
    uint64_t milliseconds;
    char collection[32];
    char query[1100];
    bool has_query;
    tansu_db *save_in; /* makes a commit of its own in this database */
} heard;

static void hear(void *context, const tansu_log_event *event) {
    CHECK(context == &heard);
    CHECK(event->struct_size == sizeof *event);
    heard.count++;
    heard.kind = event->kind;
    heard.status = event->status;
    heard.milliseconds = event->milliseconds;
    heard.has_query = event->query != NULL;
    snprintf(heard.collection, sizeof heard.collection, "%s",
             event->collection == NULL ? "none" : event->collection);
    snprintf(heard.query, sizeof heard.query, "%s", event->query == NULL ? "none" : event->query);
    if (heard.save_in != NULL) {
        tansu_db *db = heard.save_in;
        heard.save_in = NULL;
        CHECK_OK(call_save(db, NULL, "log", TANSU_SAVE, "{'_id': 1}"), &call_error);
        CHECK_INT(1, call_count(db, NULL, "log", "{}"));
    }
}

/* open_logged -- a memory store whose operations are logged from so many milliseconds on. */
static tansu_db *open_logged(uint32_t milliseconds) {
    tansu_options options = call_options(NULL);
    options.slow_operation_ms = milliseconds;
    options.log = hear;
    options.log_context = &heard;
    memset(&heard, 0, sizeof heard);
    return call_open_with(&options);
}

/* open_eager -- every operation is logged, however quick. */
static tansu_db *open_eager(void) {
    tansu_db *db = open_logged(1);
    db->slow_log.milliseconds = 0;
    return db;
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
    CHECK_TEXT("INVALID_QUERY", call_find(db, NULL, "c", "{'a': {'$no': 2}}", NULL));
    CHECK_INT(0, heard.count); /* it did not begin */
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
    check_heard(TANSU_LOG_UPDATE, TANSU_OK, "c", "none");
    bson_destroy(&set);
    bson_destroy(&a);
    CHECK_OK(call_remove_id(db, NULL, "c", "{'_id': 1}", NULL), &call_error);
    check_heard(TANSU_LOG_REMOVE, TANSU_OK, "c", "{\"_id\": 1}");
    CHECK_OK(call_remove(db, NULL, "c", "{'a': 3}", NULL), &call_error);
    check_heard(TANSU_LOG_REMOVE, TANSU_OK, "c", "{\"a\": 3}");
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
    check_heard(TANSU_LOG_COMMIT, TANSU_OK, "none", "none");
    tansu_buffer_free(&result);
    call_close(db);
}

static void quick_operations_have_none(void) {
    tansu_db *db = open_logged(60000);
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1}"), &call_error);
    CHECK_TEXT("{ \"_id\" : 1 }", call_find(db, NULL, "c", "{}", NULL));
    CHECK_INT(0, heard.count);
    call_close(db);
    db = open_logged(0); /* off */
    CHECK(db->slow_log.function == NULL);
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
    tansu_db *db = open_logged(5);
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
    CHECK(heard.milliseconds >= 5 && heard.milliseconds < 60000);
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

static void a_long_query_is_cut_off_between_characters(void) {
    tansu_db *db = open_eager();
    char query[3100], *end = query + sprintf(query, "{'k': '");
    for (unsigned i = 0; i < 500; i++)
        end += sprintf(end, "\xE2\x82\xAC"); /* three bytes each */
    strcpy(end, "'}");
    CHECK_INT(0, call_count(db, NULL, "c", query));
    size_t length = strlen(heard.query);
    CHECK(length > 990 && length <= 1000);
    CHECK_BYTES("\xE2\x82\xAC", 3, heard.query + length - 3, 3);
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
    RUN(a_long_query_is_cut_off_between_characters);
    RUN(a_clone_has_the_log_of_its_own_options);
    return check_finish();
}
