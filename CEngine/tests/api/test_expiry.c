/*
 * test_expiry.c -- documents that expire by an index with the option expireAfterSeconds: which do,
 * when, in what batches, and what else sees of it.
 *
 * Databases here make no passes by themselves unless a test says so. The linker puts
 * __wrap_clock_gettime() before the system's (Makefile), so that tests set the wall clock.
 */
#include "api/handles.h"
#include "query/query_hooks.h"
#include "rules/expiry.h"
#include "support/calls/call.h"
#include "support/calls/copy_calls.h"
#include "support/calls/maintenance_calls.h"
#include "support/calls/query_calls.h"
#include "support/check.h"
#include "support/fault/fault_injection.h"
#include "support/folder.h"
#include "util/clock.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* How far the wall clock is from the true time, in seconds; or where it stands, in milliseconds. */
static atomic_llong ahead;
static atomic_llong stands;

#ifndef __APPLE__
/* What the C library has for a time of 64 bits where its own has 32. */
#if defined(__TIMESIZE) && __TIMESIZE == 32
#define __real_clock_gettime __real___clock_gettime64
#define __wrap_clock_gettime __wrap___clock_gettime64
#endif

int __real_clock_gettime(clockid_t id, struct timespec *t);
int __wrap_clock_gettime(clockid_t id, struct timespec *t);

int __wrap_clock_gettime(clockid_t id, struct timespec *t) {
    int result = __real_clock_gettime(id, t);
    long long at = atomic_load(&stands);
    if (id == CLOCK_REALTIME && at != 0)
        *t = (struct timespec){.tv_sec = (time_t)(at / 1000), .tv_nsec = at % 1000 * 1000000};
    else if (id == CLOCK_REALTIME)
        t->tv_sec = (time_t)(t->tv_sec + atomic_load(&ahead));
    return result;
}
#endif

/* can_set_clock -- false, and says so, where the linker wraps nothing. */
static bool can_set_clock(void) {
    int64_t before = clock_date();
    atomic_store(&ahead, 100000);
    bool can = clock_date() - before > 90000000;
    atomic_store(&ahead, 0);
    if (!can)
        check_skip("the wall clock cannot be set here");
    return can;
}

/* open_with, open_quiet -- a database that makes no passes in the background. */
static tansu_db *open_with(const tansu_options *options, const fs *calls) {
    tansu_db *db = NULL;
    REQUIRE(
        CHECK_OK(handle_open(options, calls, &engine_query_hooks, &db, &call_error), &call_error));
    return db;
}

static tansu_db *open_quiet(const char *path) {
    tansu_options options = call_options(path);
    return open_with(&options, &fs_system);
}

/* index_on -- an index on a path by which documents expire. */
static void index_on(tansu_db *db, const char *collection, const char *path, long seconds) {
    char keys[64], options[64];
    snprintf(keys, sizeof keys, "{'%s': 1}", path);
    snprintf(options, sizeof options, "{'expireAfterSeconds': %ld}", seconds);
    CHECK_OK(call_index(db, NULL, collection, path, keys, options), &call_error);
}

/* date -- one that many milliseconds from now, as JSON. Valid until the next call but three. */
static const char *date(long long from_now) {
    static char text[4][64];
    static unsigned next;
    char *at = text[next++ % 4];
    snprintf(at, sizeof text[0], "{'$date': {'$numberLong': '%lld'}}",
             (long long)clock_date() + from_now);
    return at;
}

/* A query that the index answers. */
#define DATED "{'at': {'$lt': {'$date': {'$numberLong': '9000000000000'}}}}"

#define PAST (-60000LL)
#define FUTURE 3600000LL

/* save -- a document {_id, at: value}. */
static void save(tansu_db *db, tansu_txn *txn, const char *collection, int id, const char *value) {
    char json[400];
    snprintf(json, sizeof json, "{'_id': %d, 'at': %s}", id, value);
    CHECK_OK(call_save(db, txn, collection, TANSU_SAVE, json), &call_error);
}

/* save_many -- documents {_id: from, ..., at: date}, in one transaction. */
static void save_many(tansu_db *db, const char *collection, int from, int count, int64_t at) {
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    for (int i = 0; i < count; i++) {
        bson_t doc = BSON_INITIALIZER;
        BSON_APPEND_INT32(&doc, "_id", from + i);
        BSON_APPEND_DATE_TIME(&doc, "at", at);
        CHECK_OK(call_save_bson(db, txn, collection, TANSU_SAVE, &doc), &call_error);
        bson_destroy(&doc);
    }
    CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
}

/* expire -- how many a pass removes. */
static int64_t expire(tansu_db *db) {
    int64_t removed = -1;
    CHECK_OK(tansu_expire(db, &removed, &call_error), &call_error);
    return removed;
}

/* ids -- those of a collection, in their order. */
static const char *ids(tansu_db *db, const char *collection) {
    return call_find(db, NULL, collection, "{}", "{'$fields': {'_id': 1}, '$orderby': {'_id': 1}}");
}

/* ---- The option ---- */

static void the_option_is_checked(void) {
    tansu_db *db = open_quiet(NULL);
    const char *const wrong[] = {"-1",   "2147483648", "2.5", "'5'",
                                 "true", "null",       "[1]", "{'$numberDouble': 'NaN'}"};
    const char *const right[] = {"0", "5.0", "{'$numberLong': '7'}", "{'$numberDecimal': '8'}",
                                 "2147483647"};
    char options[100], name[20];
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        snprintf(options, sizeof options, "{'expireAfterSeconds': %s}", wrong[i]);
        CHECK_STATUS(TANSU_E_INVALID_INDEX, call_index(db, NULL, "c", NULL, "{'at': 1}", options));
        CHECK_TEXT("expireAfterSeconds", call_error.context);
        CHECK_TEXT("The option \"expireAfterSeconds\" must be a whole number from 0 to 2147483647",
                   call_error.message);
    }
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++) {
        snprintf(options, sizeof options, "{'expireAfterSeconds': %s}", right[i]);
        snprintf(name, sizeof name, "right%zu", i);
        CHECK_OK(call_index(db, NULL, "c", name, "{'at': 1}", options), &call_error);
    }
    const char *const keys[] = {"{'a': 1, 'b': 1}", "{'**': 1}", "{'a.**': 1}", "{'_id': 1}"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        CHECK_STATUS(TANSU_E_INVALID_INDEX,
                     call_index(db, NULL, "d", NULL, keys[i], "{'expireAfterSeconds': 1}"));
        CHECK_TEXT("expireAfterSeconds", call_error.context);
    }
    CHECK_OK(call_index(db, NULL, "d", NULL, "{'_id.at': 1}", "{'expireAfterSeconds': 1}"),
             &call_error);
    call_close(db);
}

static const char listed[] = "{ \"indexes\" : [ { \"name\" : \"at\", \"keys\" : { \"at\" : 1 }, "
                             "\"unique\" : false, \"expireAfterSeconds\" : 0, \"multikey\" : "
                             "false, \"entries\" : 0 } ] }";

static void the_option_belongs_to_the_definition(void) {
    tansu_db *db = open_quiet(NULL);
    index_on(db, "c", "at", 0);
    CHECK_TEXT(listed, call_indexes(db, NULL, "c"));
    index_on(db, "c", "at", 0);
    CHECK_STATUS(TANSU_E_EXISTS, call_index(db, NULL, "c", "at", "{'at': 1}", NULL));
    CHECK_STATUS(TANSU_E_EXISTS,
                 call_index(db, NULL, "c", "at", "{'at': 1}", "{'expireAfterSeconds': 1}"));
    save(db, NULL, "c", 1, date(PAST));
    CHECK_OK(tansu_index_drop(db, NULL, "c", "at", &call_error), &call_error);
    CHECK_INT(0, expire(db));
    index_on(db, "c", "at", 3600);
    CHECK_INT(0, expire(db));
    CHECK_OK(tansu_index_drop(db, NULL, "c", "at", &call_error), &call_error);
    index_on(db, "c", "at", 59);
    CHECK_INT(1, expire(db));
    call_close(db);
}

static void every_copy_has_the_option(void) {
    char *folder = folder_new();
    tansu_db *db = open_quiet(folder_join(folder, "a"));
    index_on(db, "c", "at", 0);
    save(db, NULL, "d", 1, "1");
    tansu_db *copies[COPIES];
    copies_open(db, folder, "a", copies);
    for (int i = 0; i < COPIES; i++) {
        CHECK_TEXT(listed, call_indexes(copies[i], NULL, "c"));
        call_close(copies[i]);
    }
    folder_end(folder);
}

/* Without a checkpoint: the log says it. */
static void a_replayed_index_has_the_option(void) {
    char *folder = folder_new();
    tansu_db *db = open_quiet(folder);
    index_on(db, "c", "at", 0);
    save_many(db, "c", 0, 10, clock_date() + PAST);
    db_inner(db)->discard = true;
    call_close(db);
    db = open_quiet(folder);
    CHECK_INT(10, call_count(db, NULL, "c", "{}"));
    CHECK_INT(10, expire(db));
    CHECK_TEXT(listed, call_indexes(db, NULL, "c"));
    CHECK(maintenance_clean(db));
    call_close(db);
    folder_end(folder);
}

static void a_declared_index_removes_documents(void) {
    tansu_db *db = open_quiet(NULL);
    bson_t *keys = bson_from_text("{'at': 1}"),
           *options = bson_from_text("{'expireAfterSeconds': 5}");
    CHECK_OK(tansu_index_declare(db, NULL, "c", NULL, document_of(keys), document_of(options), NULL,
                                 NULL, &call_error),
             &call_error);
    CHECK_INT(0, expire(db));
    save(db, NULL, "c", 1, date(PAST));
    CHECK_INT(1, expire(db));
    CHECK_OK(tansu_collection_drop(db, NULL, "c", &call_error), &call_error);
    CHECK_INT(0, db_inner(db)->snapshots.head->expiring);
    save(db, NULL, "c", 1, date(PAST));
    CHECK_INT(1, db_inner(db)->snapshots.head->expiring);
    CHECK_OK(tansu_collection_rename(db, NULL, "c", "d", &call_error), &call_error);
    CHECK_INT(1, db_inner(db)->snapshots.head->expiring);
    CHECK_INT(1, expire(db));
    bson_destroy(keys);
    bson_destroy(options);
    call_close(db);
}

/* ---- Which documents ---- */

static void only_dates_expire(void) {
    for (int kind = 0; kind < 4; kind++) {
        const char *const definition[][2] = {{"{'at': 1}", "{'expireAfterSeconds': 10}"},
                                             {"{'at': -1}", "{'expireAfterSeconds': 10}"},
                                             {"{'at': 1}", "{'expireAfterSeconds': 10, 'sparse': "
                                                           "true, 'caseInsensitive': true}"},
                                             {"{'at': -1}", "{'expireAfterSeconds': 10, 'sparse': "
                                                            "true}"}};
        tansu_db *db = open_quiet(NULL);
        CHECK_OK(call_index(db, NULL, "c", NULL, definition[kind][0], definition[kind][1]),
                 &call_error);
        const char *const stay[] = {"null",
                                    "1",
                                    "'1960-01-01'",
                                    "{'$timestamp': {'t': 1, 'i': 1}}",
                                    "{'$oid': '000000000000000000000000'}",
                                    "[]",
                                    "[1, 'x', null]",
                                    "true",
                                    "{'$minKey': 1}",
                                    "{'$maxKey': 1}"};
        char value[200];
        int id = 0;
        for (size_t i = 0; i < sizeof stay / sizeof stay[0]; i++)
            save(db, NULL, "c", id++, stay[i]);
        CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 10}"), &call_error);
        save(db, NULL, "c", 11, date(FUTURE));
        snprintf(value, sizeof value, "[%s, 5, %s]", date(FUTURE), date(FUTURE * 2));
        save(db, NULL, "c", 12, value);
        snprintf(value, sizeof value, "[[%s]]", date(PAST));
        save(db, NULL, "c", 13, value);
        snprintf(value, sizeof value, "{'at': %s}", date(PAST));
        save(db, NULL, "c", 14, value);
        /* The seconds are not over yet. */
        save(db, NULL, "c", 15, date(0));
        save(db, NULL, "c", 20, date(PAST));
        save(db, NULL, "c", 21, "{'$date': {'$numberLong': '-100000000000'}}");
        save(db, NULL, "c", 22, "{'$date': {'$numberLong': '-9223372036854775808'}}");
        snprintf(value, sizeof value, "[%s, 'x', %s]", date(FUTURE), date(PAST));
        save(db, NULL, "c", 23, value);
        snprintf(value, sizeof value, "[%s, %s, %s]", date(PAST), date(PAST * 2), date(PAST * 3));
        save(db, NULL, "c", 24, value);
        CHECK_INT(21, call_count(db, NULL, "c", "{}"));
        CHECK_INT(5, expire(db));
        CHECK_INT(16, call_count(db, NULL, "c", "{'_id': {'$lt': 20}}"));
        CHECK_INT(16, call_count(db, NULL, "c", "{}"));
        CHECK_INT(0, expire(db));
        CHECK(maintenance_clean(db));
        call_close(db);
    }
}

static void paths_and_partial_indexes_say_which(void) {
    tansu_db *db = open_quiet(NULL);
    char json[200];
    index_on(db, "c", "visits.at", 0);
    CHECK_OK(call_index(db, NULL, "p", NULL, "{'at': 1}",
                        "{'expireAfterSeconds': 0, 'partialFilter': {'draft': true}}"),
             &call_error);
    snprintf(json, sizeof json, "{'_id': 1, 'visits': [{'at': %s}, {'at': %s}]}", date(FUTURE),
             date(PAST));
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, json), &call_error);
    snprintf(json, sizeof json, "{'_id': 2, 'visits': {'at': %s}, 'at': %s}", date(FUTURE),
             date(PAST));
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, json), &call_error);
    snprintf(json, sizeof json, "{'_id': 1, 'draft': true, 'at': %s}", date(PAST));
    CHECK_OK(call_save(db, NULL, "p", TANSU_SAVE, json), &call_error);
    save(db, NULL, "p", 2, date(PAST));
    CHECK_INT(2, expire(db));
    CHECK_TEXT("{ \"_id\" : 2 }", ids(db, "c"));
    CHECK_TEXT("{ \"_id\" : 2 }", ids(db, "p"));
    call_close(db);
}

/* Two indexes of a collection, each with its own seconds: the first to say so removes. */
static void each_index_has_its_own_seconds(void) {
    tansu_db *db = open_quiet(NULL);
    char json[200];
    index_on(db, "c", "at", 3600);
    index_on(db, "c", "expireAt", 0);
    save(db, NULL, "c", 1, date(PAST));
    for (int id = 2; id < 4; id++) {
        snprintf(json, sizeof json, "{'_id': %d, 'at': %s, 'expireAt': %s}", id, date(PAST),
                 date(id == 2 ? PAST : FUTURE));
        CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, json), &call_error);
    }
    CHECK_INT(1, expire(db));
    CHECK_TEXT("{ \"_id\" : 1 } { \"_id\" : 3 }", ids(db, "c"));
    call_close(db);
}

/* ---- The wall clock ---- */

static void a_document_expires_to_the_millisecond(void) {
    if (!can_set_clock())
        return;
    const long long at = 1700000000123LL;
    for (int descending = 0; descending < 2; descending++) {
        tansu_db *db = open_quiet(NULL);
        CHECK_OK(call_index(db, NULL, "c", NULL, descending ? "{'at': -1}" : "{'at': 1}",
                            "{'expireAfterSeconds': 2147483647}"),
                 &call_error);
        save_many(db, "c", 0, 1, at);
        atomic_store(&stands, at + 2147483647000LL - 1);
        CHECK_INT(0, expire(db));
        atomic_store(&stands, at + 2147483647000LL);
        CHECK_INT(1, expire(db));
        atomic_store(&stands, 0);
        call_close(db);
    }
}

static void the_wall_clock_may_jump(void) {
    if (!can_set_clock())
        return;
    tansu_db *db = open_quiet(NULL);
    index_on(db, "c", "at", 10);
    save(db, NULL, "c", 1, date(PAST));
    save(db, NULL, "c", 2, date(FUTURE));
    atomic_store(&ahead, -3600);
    CHECK_INT(0, expire(db));
    atomic_store(&ahead, 0);
    CHECK_INT(1, expire(db));
    atomic_store(&ahead, 7200);
    CHECK_INT(1, expire(db));
    /* Before 1970. */
    atomic_store(&ahead, -3000000000LL);
    save(db, NULL, "c", 3, date(PAST));
    save(db, NULL, "c", 4, date(FUTURE));
    CHECK_INT(1, expire(db));
    atomic_store(&ahead, 0);
    CHECK_TEXT("{ \"_id\" : 4 }", ids(db, "c"));
    call_close(db);
}

/* ---- What others see ---- */

static void an_index_never_changes_an_answer(void) {
    tansu_db *db = open_quiet(NULL);
    index_on(db, "c", "at", 0);
    save_many(db, "c", 0, 5, clock_date() + PAST);
    CHECK_INT(5, call_count(db, NULL, "c", DATED));
    tansu_txn *reading = call_begin(db, TANSU_TXN_READ);
    CHECK_INT(5, expire(db));
    CHECK_INT(5, call_count(db, reading, "c", "{}"));
    CHECK_INT(5, call_count(db, reading, "c", DATED));
    CHECK_INT(0, call_count(db, NULL, "c", DATED));
    tansu_txn_abort(reading);
    call_close(db);
}

static void *expire_elsewhere(void *db) {
    int64_t removed = 0;
    CHECK_OK(tansu_expire(db, &removed, NULL), NULL);
    return (void *)(intptr_t)removed;
}

static void a_pass_waits_for_a_write_transaction(void) {
    tansu_db *db = open_quiet(NULL);
    index_on(db, "c", "at", 0);
    save_many(db, "c", 0, 150, clock_date() + PAST);
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    int64_t removed = -1;
    CHECK_STATUS(TANSU_E_BUSY, tansu_expire(db, &removed, &call_error));
    CHECK_INT(0, removed);
    pthread_t thread;
    void *result = NULL;
    REQUIRE(pthread_create(&thread, NULL, expire_elsewhere, db) == 0);
    /* Saved again, a document has another date. */
    save(db, txn, "c", 7, date(FUTURE));
    save(db, txn, "c", 200, date(PAST));
    CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
    pthread_join(thread, &result);
    CHECK_INT(150, (intptr_t)result);
    CHECK_TEXT("{ \"_id\" : 7 }", ids(db, "c"));
    call_close(db);
}

static void removals_are_change_events(void) {
    tansu_db *db = open_quiet(NULL);
    index_on(db, "c", "at", 0);
    save_many(db, "c", 0, 350, clock_date() + PAST);
    tansu_feed *feed = NULL;
    tansu_change change;
    tansu_change_init(&change);
    REQUIRE(CHECK_OK(tansu_feed_open(db, TANSU_FEED_NOW, TANSU_NO_DOCUMENT, &feed, &call_error),
                     &call_error));
    CHECK_INT(350, expire(db));
    uint64_t commit = 0;
    int removals = 0, commits = 0, in_commit = 0;
    while (tansu_feed_next(feed, 0, &change, &call_error) == TANSU_OK) {
        if (change.sequence != commit) {
            commit = change.sequence;
            in_commit = 0;
            commits++;
        }
        CHECK(++in_commit <= 100);
        removals += CHECK_INT(TANSU_CHANGE_REMOVE, change.kind);
    }
    CHECK_INT(350, removals);
    CHECK(commits >= 4);
    tansu_feed_close(feed);
    call_close(db);
}

static void a_reader_removes_nothing(void) {
    char *folder = folder_new();
    tansu_db *db = open_quiet(folder);
    index_on(db, "c", "at", 0);
    save_many(db, "c", 0, 5, clock_date() + PAST);
    tansu_options options = call_options(folder);
    options.read_only = 1;
    options.allow_writer = 1;
    options.follow = 1;
    tansu_db *reader = call_open_with(&options);
    CHECK(!db_inner(reader)->expirer.running);
    CHECK_STATUS(TANSU_E_READ_ONLY, tansu_expire(reader, NULL, &call_error));
    CHECK_INT(5, call_count(reader, NULL, "c", "{}"));
    CHECK_INT(5, expire(db));
    CHECK_INT(0, call_count(reader, NULL, "c", "{}"));
    call_close(reader);
    save_many(db, "c", 0, 5, clock_date() + PAST);
    call_close(db);
    options = call_options(folder);
    options.read_only = 1;
    reader = call_open_with(&options);
    CHECK(!db_inner(reader)->expirer.running);
    CHECK_STATUS(TANSU_E_READ_ONLY, tansu_expire(reader, NULL, &call_error));
    CHECK_INT(5, call_count(reader, NULL, "c", "{}"));
    call_close(reader);
    folder_end(folder);
}

/* ---- Delete rules ---- */

static void removals_follow_delete_rules(void) {
    tansu_db *db = open_quiet(NULL);
    CHECK_OK(call_ensure(db, NULL, "r",
                         "{'references': [{'path': 'cascade', 'to': 'c', 'onDelete': 'cascade'},"
                         "{'path': 'nullify', 'to': 'c', 'onDelete': 'nullify'},"
                         "{'path': 'deny', 'to': 'c', 'onDelete': 'deny'}]}"),
             &call_error);
    for (int i = 0; i < 3; i++) {
        const char *const paths[] = {"cascade", "nullify", "deny"};
        char keys[40];
        snprintf(keys, sizeof keys, "{'%s': 1}", paths[i]);
        CHECK_OK(call_index(db, NULL, "r", NULL, keys, NULL), &call_error);
    }
    index_on(db, "c", "at", 0);
    save_many(db, "c", 0, 250, clock_date() + PAST);
    CHECK_OK(call_save(db, NULL, "r", TANSU_SAVE, "{'_id': 1, 'cascade': 5}"), &call_error);
    CHECK_OK(call_save(db, NULL, "r", TANSU_SAVE, "{'_id': 2, 'nullify': 6}"), &call_error);
    CHECK_OK(call_save(db, NULL, "r", TANSU_SAVE, "{'_id': 3, 'deny': 7}"), &call_error);
    CHECK_OK(call_save(db, NULL, "r", TANSU_SAVE, "{'_id': 4, 'deny': 249}"), &call_error);
    expiry_result result;
    CHECK_OK(expiry_run(db_inner(db), &result, &call_error), &call_error);
    CHECK_INT(248, result.removed);
    CHECK_INT(2, result.denied);
    CHECK_TEXT("{ \"_id\" : 7 } { \"_id\" : 249 }", ids(db, "c"));
    CHECK_TEXT("{ \"_id\" : 2, \"nullify\" : null } { \"_id\" : 3, \"deny\" : 7 } { \"_id\" : 4, "
               "\"deny\" : 249 }",
               call_find(db, NULL, "r", "{}", "{'$orderby': {'_id': 1}}"));
    int removed = 0;
    CHECK_OK(call_remove_id(db, NULL, "r", "{'_id': 3}", &removed), &call_error);
    CHECK_INT(1, expire(db));
    CHECK_TEXT("{ \"_id\" : 249 }", ids(db, "c"));
    call_close(db);
}

/* The value that a rule takes out has to stay by the schema of its collection. */
static void a_validator_can_deny_a_removal(void) {
    tansu_db *db = open_quiet(NULL);
    CHECK_OK(call_ensure(db, NULL, "r",
                         "{'references': [{'path': 'to', 'to': 'c', 'onDelete': 'nullify'}],"
                         "'validator': {'$jsonSchema': {'properties': {'to': {'bsonType': "
                         "'int'}}}}}"),
             &call_error);
    index_on(db, "c", "at", 0);
    save_many(db, "c", 0, 3, clock_date() + PAST);
    CHECK_OK(call_save(db, NULL, "r", TANSU_SAVE, "{'_id': 1, 'to': 1}"), &call_error);
    CHECK_INT(2, expire(db));
    CHECK_TEXT("{ \"_id\" : 1 }", ids(db, "c"));
    call_close(db);
}

/* ---- Batches ---- */

#define MANY 100000

/* A pass, and what it came to. */
typedef struct called_pass {
    tansu_db *db;
    expiry_result result;
    atomic_bool done;
} called_pass;

static void *make_pass(void *context) {
    called_pass *p = context;
    CHECK_OK(expiry_run(db_inner(p->db), &p->result, NULL), NULL);
    atomic_store(&p->done, true);
    return NULL;
}

static void others_write_between_batches(void) {
    char *folder = folder_new();
    called_pass p = {.db = open_quiet(folder)};
    index_on(p.db, "c", "at", 0);
    for (int i = 0; i < MANY; i += 10000)
        save_many(p.db, "c", i, 10000, clock_date() + PAST - i);
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, make_pass, &p) == 0);
    int saved = 0;
    for (; !atomic_load(&p.done) || saved == 0; saved++)
        save(p.db, NULL, "c", MANY + saved, date(FUTURE));
    pthread_join(thread, NULL);
    CHECK_INT(MANY, p.result.removed);
    CHECK(p.result.batches >= MANY / 100);
    CHECK_INT(saved, call_count(p.db, NULL, "c", "{}"));
    CHECK(maintenance_clean(p.db));
    call_close(p.db);
    folder_end(folder);
}

/* ---- Passes in the background ---- */

/* wait_until_empty -- until a collection is. */
static void wait_until_empty(tansu_db *db, const char *collection) {
    while (call_count(db, NULL, collection, "{}") != 0)
        usleep(1000);
    CHECK_INT(0, call_count(db, NULL, collection, "{}"));
}

static void opening_removes_what_has_expired(void) {
    char *folder = folder_new();
    tansu_db *db = open_quiet(folder);
    index_on(db, "c", "at", 0);
    save_many(db, "c", 0, 500, clock_date() + PAST);
    call_close(db);
    db = call_open(folder);
    wait_until_empty(db, "c");
    call_close(db);
    folder_end(folder);
}

static void a_new_index_removes_what_has_expired(void) {
    char *folder = folder_new();
    for (int memory = 0; memory < 2; memory++) {
        tansu_db *db = call_open(memory ? NULL : folder);
        CHECK(!db_inner(db)->expirer.running);
        save_many(db, "c", 0, 500, clock_date() + PAST);
        index_on(db, "c", "at", 0);
        wait_until_empty(db, "c");
        call_close(db);
    }
    folder_end(folder);
}

static void passes_are_repeated(void) {
    tansu_db *db = call_open(NULL);
    database *d = db_inner(db);
    pthread_mutex_lock(&d->mutex);
    CHECK_INT(30000000000LL, d->expirer.interval);
    d->expirer.interval = 1000000;
    pthread_mutex_unlock(&d->mutex);
    index_on(db, "c", "at", 0);
    for (int i = 0; i < 5; i++) {
        save_many(db, "c", 0, 10, clock_date() + PAST);
        wait_until_empty(db, "c");
    }
    call_close(db);
}

/* A database that is closed does not wait for the end of a pass, which takes a second at least. */
static void closing_ends_a_pass(void) {
    char *folder = folder_new();
    tansu_db *db = open_quiet(folder);
    index_on(db, "c", "at", 0);
    save_many(db, "c", 0, MANY, clock_date() + PAST);
    call_close(db);
    db = call_open(folder);
    while (call_count(db, NULL, "c", "{}") == MANY)
        usleep(100);
    call_close(db);
    db = open_quiet(folder);
    int64_t left = call_count(db, NULL, "c", "{}");
    CHECK(left > 0 && left < MANY);
    CHECK(maintenance_clean(db));
    CHECK_INT(left, expire(db));
    call_close(db);
    folder_end(folder);
}

/* ---- Faults ---- */

#define DOOMED 20000

static void a_killed_pass_goes_on_later(void) {
    char *folder = folder_new();
    tansu_db *db = open_quiet(folder);
    index_on(db, "c", "at", 0);
    save_many(db, "c", 0, DOOMED, clock_date() + PAST);
    save(db, NULL, "c", DOOMED, date(FUTURE));
    call_close(db);
    int64_t left = DOOMED + 1;
    for (int i = 0; i < 5 && left > 1; i++) {
        pid_t child = fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            tansu_db *doomed = call_open(folder);
            while (call_count(doomed, NULL, "c", "{}") == left)
                usleep(100);
            kill(getpid(), SIGKILL);
        }
        int status = 0;
        REQUIRE(waitpid(child, &status, 0) == child);
        CHECK(WIFSIGNALED(status));
        db = open_quiet(folder);
        int64_t now = call_count(db, NULL, "c", "{}");
        CHECK(now < left && now > 0);
        CHECK_INT(now, call_count(db, NULL, "c", DATED));
        left = now;
        CHECK(maintenance_clean(db));
        call_close(db);
    }
    db = open_quiet(folder);
    CHECK_INT(left - 1, expire(db));
    call_close(db);
    folder_end(folder);
}

/* Every allocation fails once: the pass fails, and the next one does the rest. */
static void a_failed_allocation_ends_a_pass(void) {
    if (!fault_has_memory()) {
        check_skip("allocations cannot be made to fail here");
        return;
    }
    unsigned failures = 0;
    bool met = true;
    for (unsigned nth = 1; met; nth++) {
        tansu_db *db = open_quiet(NULL);
        index_on(db, "c", "at", 0);
        save_many(db, "c", 0, 130, clock_date() + PAST);
        fault_start(FAULT_MEMORY, nth, false, 0);
        int64_t removed = 0;
        tansu_status status = tansu_expire(db, &removed, &call_error);
        met = fault_occurred();
        fault_stop();
        if (status != TANSU_OK)
            failures += CHECK_STATUS(TANSU_E_MEMORY, status);
        CHECK_INT(130 - removed, call_count(db, NULL, "c", "{}"));
        CHECK(maintenance_clean(db));
        CHECK_INT(130 - removed, expire(db));
        call_close(db);
    }
    CHECK(failures > 3);
}

/* Every file call fails from the nth on: what was removed is whole, and the next one does the
 * rest. */
static void a_failed_file_call_ends_a_pass(void) {
    bool met = true;
    for (unsigned nth = 1; met; nth++) {
        char *folder = folder_new();
        tansu_options options = call_options(folder);
        options.durability = TANSU_DURABILITY_FULL;
        tansu_db *db = open_with(&options, &fault_fs);
        index_on(db, "c", "at", 0);
        save_many(db, "c", 0, 130, clock_date() + PAST);
        fault_start(FAULT_FILES, nth, true, 5);
        int64_t removed = 0;
        tansu_status status = tansu_expire(db, &removed, &call_error);
        tansu_status synced = status == TANSU_OK ? tansu_sync(db, &call_error) : status;
        met = fault_occurred();
        fault_stop();
        CHECK(met || synced == TANSU_OK);
        tansu_close(db);
        db = open_quiet(folder);
        int64_t left = call_count(db, NULL, "c", "{}");
        CHECK(left == 130 - removed || (met && left >= 0 && left <= 130));
        CHECK(maintenance_clean(db));
        CHECK_INT(left, expire(db));
        call_close(db);
        folder_end(folder);
    }
}

int main(void) {
    alarm(500);
    RUN(the_option_is_checked);
    RUN(the_option_belongs_to_the_definition);
    RUN(every_copy_has_the_option);
    RUN(a_replayed_index_has_the_option);
    RUN(a_declared_index_removes_documents);
    RUN(only_dates_expire);
    RUN(paths_and_partial_indexes_say_which);
    RUN(each_index_has_its_own_seconds);
    RUN(a_document_expires_to_the_millisecond);
    RUN(the_wall_clock_may_jump);
    RUN(an_index_never_changes_an_answer);
    RUN(a_pass_waits_for_a_write_transaction);
    RUN(removals_are_change_events);
    RUN(a_reader_removes_nothing);
    RUN(removals_follow_delete_rules);
    RUN(a_validator_can_deny_a_removal);
    RUN(others_write_between_batches);
    RUN(opening_removes_what_has_expired);
    RUN(a_new_index_removes_what_has_expired);
    RUN(passes_are_repeated);
    RUN(closing_ends_a_pass);
    RUN(a_killed_pass_goes_on_later);
    RUN(a_failed_allocation_ends_a_pass);
    RUN(a_failed_file_call_ends_a_pass);
    return check_finish();
}
