/*
 * test_api_catalog.c -- collections and indexes by name: created, listed, renamed, dropped, and all
 * of it kept over reopening, with the index files and without them.
 */
#include "support/calls/call.h"
#include "support/calls/query_calls.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/random/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *folder;
static tansu_db *db;

/* fresh -- an empty database in a new folder. */
static void fresh(void) {
    if (db != NULL)
        call_close(db);
    if (folder != NULL)
        folder_end(folder);
    folder = folder_new();
    db = call_open(folder);
}

/* reopen -- closes and opens; `lose`: without the index files. */
static void reopen(bool lose) {
    call_close(db);
    if (lose)
        folder_remove(folder_join(folder, "index"));
    db = call_open(folder);
}

static tansu_status save(const char *collection, const char *json) {
    return call_save(db, NULL, collection, TANSU_SAVE, json);
}

static tansu_status drop(const char *name) {
    return tansu_collection_drop(db, NULL, name, &call_error);
}

static tansu_status rename_to(const char *name, const char *to) {
    return tansu_collection_rename(db, NULL, name, to, &call_error);
}

static void ensure_creates_once(void) {
    fresh();
    CHECK_OK(call_ensure(db, NULL, "c", NULL), &call_error);
    CHECK_OK(call_ensure(db, NULL, "c", NULL), &call_error);
    CHECK_OK(call_ensure(db, NULL, "c", "{}"), &call_error);
    CHECK_OK(call_ensure(db, NULL, "c", "{'local': false}"), &call_error);
    CHECK_INT(1, call_statistic(db, "sequence"));
    CHECK_STATUS(TANSU_E_EXISTS, call_ensure(db, NULL, "c", "{'local': true}"));
    CHECK_OK(call_ensure(db, NULL, "l", "{'local': true}"), &call_error);
    CHECK_OK(call_ensure(db, NULL, "l", NULL), &call_error); /* no options: any will do */
    CHECK_STATUS(TANSU_E_EXISTS, call_ensure(db, NULL, "l", "{'local': false}"));
    CHECK_STATUS(TANSU_E_INVALID_QUERY, call_ensure(db, NULL, "c", "{'locale': true}"));
    CHECK_TEXT("locale", call_error.context);
    CHECK_STATUS(TANSU_E_INVALID_QUERY, call_ensure(db, NULL, "c", "{'local': 'yes'}"));
    /* A number stands for true or false, as everywhere. */
    static const char *const twice[] = {
        "{'local': false, 'local': true}", "{'compression': 'none', 'compression': 'none'}",
        "{'validator': {'required': ['a']}, 'local': false, 'validator': false}"};
    for (size_t i = 0; i < sizeof twice / sizeof *twice; i++) {
        CHECK_STATUS(TANSU_E_INVALID_QUERY, call_ensure(db, NULL, "c", twice[i]));
        CHECK(strstr(call_error.message, "is given twice") != NULL);
    }
    CHECK_OK(call_ensure(db, NULL, "c", "{'local': 0}"), &call_error);
    CHECK_STATUS(TANSU_E_EXISTS, call_ensure(db, NULL, "c", "{'local': 1}"));
    CHECK_STATUS(TANSU_E_INVALID_NAME, call_ensure(db, NULL, "", NULL));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, call_ensure(db, NULL, NULL, NULL));
    CHECK_STATUS(TANSU_E_INVALID_NAME, call_ensure(db, NULL, "$l", NULL));
    for (int lose = 0; lose < 2; lose++) {
        reopen(lose != 0);
        CHECK_TEXT("{ \"collections\" : [ { \"name\" : \"c\", \"documents\" : 0, \"options\" : "
                   "{ \"local\" : false } }, { \"name\" : \"l\", \"documents\" : 0, \"options\" : "
                   "{ \"local\" : true } } ] }",
                   call_collections(db, NULL));
    }
}

static void collections_are_listed_by_name(void) {
    fresh();
    static const char *const names[] = {"b", "a", "B", "ä", "a b", "aa"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        for (size_t k = 0; k <= i; k++) {
            char json[32];
            snprintf(json, sizeof json, "{'_id': %zu}", k);
            CHECK_OK(save(names[i], json), &call_error);
        }
    for (int way = 0; way < 3; way++) {
        CHECK_TEXT(
            "{ \"collections\" : [ "
            "{ \"name\" : \"B\", \"documents\" : 3, \"options\" : { \"local\" : false } }, "
            "{ \"name\" : \"a\", \"documents\" : 2, \"options\" : { \"local\" : false } }, "
            "{ \"name\" : \"a b\", \"documents\" : 5, \"options\" : { \"local\" : false } }, "
            "{ \"name\" : \"aa\", \"documents\" : 6, \"options\" : { \"local\" : false } }, "
            "{ \"name\" : \"b\", \"documents\" : 1, \"options\" : { \"local\" : false } }, "
            "{ \"name\" : \"ä\", \"documents\" : 4, \"options\" : { \"local\" : false } } ] }",
            call_collections(db, NULL));
        reopen(way == 1);
    }
}

static void one_collection_is_described(void) {
    fresh();
    CHECK_OK(save("b", "{'_id': 1}"), &call_error);
    CHECK_OK(call_ensure(db, NULL, "a", "{'references': [{'path': 'b', 'to': 'b'}]}"), &call_error);
    CHECK_OK(call_ensure(db, NULL, "c",
                         "{'references': [{'path': 'a', 'to': 'a'}, "
                         "{'path': 'x', 'to': 'none'}, {'path': 'y', 'to': 'b'}]}"),
             &call_error);
    for (int way = 0; way < 3; way++) {
        CHECK_TEXT("{ \"name\" : \"b\", \"documents\" : 1, \"options\" : { \"local\" : false } }",
                   call_collection(db, NULL, "b"));
        CHECK_TEXT("{ \"collections\" : [  ] }", call_referrers(db, NULL, "c"));
        static const char *const to[] = {"a", "b", "none"}, *const from[] = {"c", "ac", "c"};
        for (size_t i = 0; i < 3; i++) {
            char expected[2000] = "{ \"collections\" : [";
            for (const char *name = from[i]; *name != 0; name++) {
                const char one[] = {*name, 0};
                size_t end = strlen(expected);
                snprintf(expected + end, sizeof expected - end, "%s %s", name == from[i] ? "" : ",",
                         call_collection(db, NULL, one));
            }
            strcat(expected, " ] }");
            CHECK_TEXT(expected, call_referrers(db, NULL, to[i]));
        }
        reopen(way == 1);
    }
    CHECK_STATUS(TANSU_E_NOT_FOUND,
                 tansu_collection_info(db, NULL, "none", &(tansu_buffer){0}, &call_error));
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    CHECK_OK(call_save(db, txn, "d", TANSU_SAVE, "{'_id': 1}"), &call_error);
    CHECK(strstr(call_collection(db, txn, "d"), "\"documents\" : 1") != NULL);
    CHECK(strstr(call_collection(db, NULL, "d"), "NOT_FOUND") != NULL);
    tansu_txn_abort(txn);
}

static void drop_takes_documents_and_indexes(void) {
    fresh();
    CHECK_STATUS(TANSU_E_NOT_FOUND, drop("c"));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, drop(NULL));
    CHECK_OK(save("c", "{'_id': 1, 'v': 1}"), &call_error);
    CHECK_OK(call_index(db, NULL, "c", "v", "{'v': 1}", NULL), &call_error);
    reopen(false);
    CHECK_OK(drop("c"), &call_error);
    CHECK_STATUS(TANSU_E_NOT_FOUND, drop("c"));
    CHECK_INT(0, call_count(db, NULL, "c", "{}"));
    CHECK_OK(save("c", "{'_id': 2, 'v': 1}"), &call_error); /* a new one of the same name */
    for (int way = 0; way < 3; way++) {
        CHECK_TEXT("{ \"indexes\" : [  ] }", call_indexes(db, NULL, "c"));
        CHECK_TEXT("{ \"_id\" : 2, \"v\" : 1 }", call_find(db, NULL, "c", "{'v': 1}", NULL));
        reopen(way == 1);
    }
}

static void rename_keeps_all_but_the_name(void) {
    fresh();
    CHECK_STATUS(TANSU_E_NOT_FOUND, rename_to("c", "d"));
    CHECK_OK(save("c", "{'_id': 1, 'v': 1}"), &call_error);
    CHECK_OK(call_index(db, NULL, "c", "v", "{'v': 1}", "{'unique': true}"), &call_error);
    CHECK_OK(call_ensure(db, NULL, "e", NULL), &call_error);
    CHECK_STATUS(TANSU_E_EXISTS, rename_to("c", "e"));
    CHECK_STATUS(TANSU_E_EXISTS, rename_to("c", "c"));
    CHECK_STATUS(TANSU_E_INVALID_NAME, rename_to("c", "$d"));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, rename_to("c", NULL));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, rename_to(NULL, "d"));
    CHECK_OK(rename_to("c", "zz"), &call_error);
    CHECK_OK(save("c", "{'_id': 1, 'v': 'new'}"), &call_error);
    for (int way = 0; way < 3; way++) {
        CHECK_TEXT("{ \"_id\" : 1, \"v\" : 1 }", call_find(db, NULL, "zz", "{'v': 1}", NULL));
        CHECK_STATUS(TANSU_E_NOT_UNIQUE, save("zz", "{'_id': 2, 'v': 1}"));
        CHECK_TEXT("{ \"_id\" : 1, \"v\" : \"new\" }", call_find(db, NULL, "c", "{}", NULL));
        CHECK_TEXT("{ \"indexes\" : [  ] }", call_indexes(db, NULL, "c"));
        reopen(way == 1);
    }
}

static void many_collections(void) {
    fresh();
    char name[32];
    for (int i = 0; i < 300; i++) {
        snprintf(name, sizeof name, "c%d", i * 7919 % 300);
        CHECK_OK(save(name, "{'_id': 1}"), &call_error);
    }
    for (int i = 0; i < 300; i += 3) {
        snprintf(name, sizeof name, "c%d", i);
        CHECK_OK(drop(name), &call_error);
    }
    reopen(false);
    CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
    reopen(false);
    for (int i = 0; i < 300; i++) {
        snprintf(name, sizeof name, "c%d", i);
        CHECK_INT(i % 3 != 0, call_count(db, NULL, name, "{}"));
    }
}

/* Each of some transactions creates or drops several; some are aborted. */
static void collections_come_and_go(void) {
    enum { MOST = 90 };
    random_source random = random_start(1);
    bool there[MOST] = {false};
    fresh();
    for (int round = 0; round < 400 && check_failures() == 0; round++) {
        bool now[MOST];
        memcpy(now, there, sizeof now);
        tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
        bool creates = random_chance(&random, 50);
        for (uint64_t i = random_below(&random, 40); i > 0; i--) {
            char name[32];
            size_t at = random_below(&random, MOST);
            snprintf(name, sizeof name, "c%zu", at);
            if (creates)
                CHECK_OK(tansu_collection_ensure(db, txn, name, TANSU_NO_DOCUMENT, &call_error),
                         &call_error);
            else if (now[at])
                CHECK_OK(tansu_collection_drop(db, txn, name, &call_error), &call_error);
            now[at] = creates;
        }
        if (random_chance(&random, 20)) {
            tansu_txn_abort(txn);
        } else {
            CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
            memcpy(there, now, sizeof there);
        }
        int64_t expected = 0;
        for (size_t at = 0; at < MOST; at++) {
            char name[32];
            snprintf(name, sizeof name, "c%zu", at);
            expected += there[at];
            if (there[at] && at % 7 == (size_t)round % 7)
                CHECK_OK(call_save(db, NULL, name, TANSU_SAVE, "{'_id': 1}"), &call_error);
        }
        char last[48], next[48];
        snprintf(last, sizeof last, "collections.%lld.documents", (long long)expected - 1);
        snprintf(next, sizeof next, "collections.%lld.documents", (long long)expected);
        CHECK(expected == 0 || call_statistic(db, last) >= 0);
        CHECK_INT(-1, call_statistic(db, next));
    }
}

/* ---- Indexes ---- */

static void the_same_index_again_is_no_harm(void) {
    fresh();
    CHECK_OK(call_index(db, NULL, "c", "i", "{'a': 1, 'b.c': -1}", NULL), &call_error);
    CHECK_OK(call_index(db, NULL, "c", "i", "{'a': 1, 'b.c': -1}", NULL), &call_error);
    CHECK_OK(call_index(db, NULL, "c", "i", "{'a': 1.0, 'b.c': -1}", "{}"), &call_error);
    CHECK_OK(call_index(db, NULL, "c", "i", "{'a': 1, 'b.c': -1}", "{'unique': false}"),
             &call_error);
    CHECK_INT(1, call_statistic(db, "sequence"));
    static const struct {
        const char *keys;
        const char *options;
    } others[] = {{"{'a': 1}", NULL},
                  {"{'a': 1, 'b.c': 1}", NULL},
                  {"{'b.c': -1, 'a': 1}", NULL},
                  {"{'a': 1, 'b.c': -1}", "{'unique': true}"}};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        CHECK_STATUS(TANSU_E_EXISTS,
                     call_index(db, NULL, "c", "i", others[i].keys, others[i].options));
        CHECK_TEXT("i", call_error.context);
    }
    /* Another name for the same keys is another index. */
    CHECK_OK(call_index(db, NULL, "c", "k", "{'a': 1, 'b.c': -1}", NULL), &call_error);
    for (int way = 0; way < 3; way++) {
        CHECK_TEXT("{ \"indexes\" : [ "
                   "{ \"name\" : \"i\", \"keys\" : { \"a\" : 1, \"b.c\" : -1 }, "
                   "\"unique\" : false, \"multikey\" : false, \"entries\" : 0 }, "
                   "{ \"name\" : \"k\", \"keys\" : { \"a\" : 1, \"b.c\" : -1 }, "
                   "\"unique\" : false, \"multikey\" : false, \"entries\" : 0 } ] }",
                   call_indexes(db, NULL, "c"));
        reopen(way == 1);
    }
}

static void names_of_indexes(void) {
    fresh();
    CHECK_OK(call_index(db, NULL, "c", NULL, "{'a': 1, 'b.c': -1}", NULL), &call_error);
    CHECK_OK(call_index(db, NULL, "c", "", "{'a': 1, 'b.c': -1}", NULL), &call_error);
    CHECK(strstr(call_indexes(db, NULL, "c"), "\"name\" : \"a_1_b.c_-1\"") != NULL);
    CHECK_OK(tansu_index_drop(db, NULL, "c", "a_1_b.c_-1", NULL), NULL);
    CHECK_TEXT("{ \"indexes\" : [  ] }", call_indexes(db, NULL, "c"));
    char name[TANSU_MAX_NAME + 2];
    memset(name, 'n', sizeof name);
    name[TANSU_MAX_NAME] = 0;
    CHECK_OK(call_index(db, NULL, "c", name, "{'a': 1}", NULL), &call_error);
    name[TANSU_MAX_NAME] = 'n';
    name[TANSU_MAX_NAME + 1] = 0;
    CHECK_STATUS(TANSU_E_INVALID_NAME, call_index(db, NULL, "c", name, "{'a': 1}", NULL));
    CHECK_STATUS(TANSU_E_INVALID_NAME, call_index(db, NULL, "c", "$x", "{'a': 1}", NULL));
    CHECK_STATUS(TANSU_E_INVALID_NAME, call_index(db, NULL, "c", "\xFF", "{'a': 1}", NULL));
    CHECK_STATUS(TANSU_E_INVALID_NAME, call_index(db, NULL, "$c", "x", "{'a': 1}", NULL));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, call_index(db, NULL, NULL, "x", "{'a': 1}", NULL));
}

static void invalid_definitions_are_rejected(void) {
    fresh();
    static const char *const keys[] = {"{}",      "{'a': 0}",    "{'a': 2}",  "{'a': 'x'}",
                                       "{'': 1}", "{'a..b': 1}", "{'$a': 1}", "{'a': {}}"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        CHECK_STATUS(TANSU_E_INVALID_INDEX, call_index(db, NULL, "c", "i", keys[i], NULL));
    CHECK_STATUS(TANSU_E_INVALID_INDEX,
                 call_index(db, NULL, "c", "i", "{'a': 1}", "{'unique': 'yes'}"));
    CHECK_STATUS(TANSU_E_INVALID_INDEX,
                 call_index(db, NULL, "c", "i", "{'a': 1}", "{'color': true}"));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, call_index(db, NULL, "c", "i", NULL, NULL));
    CHECK_STATUS(TANSU_E_INVALID_BSON,
                 tansu_index_create(db, NULL, "c", "i", (tansu_document){"\5\0\0\0", 4},
                                    TANSU_NO_DOCUMENT, NULL, NULL, NULL));
    CHECK_TEXT("{ \"collections\" : [  ] }", call_collections(db, NULL));
    CHECK_INT(0, call_statistic(db, "sequence"));
}

static void the_number_of_indexes_is_bounded(void) {
    fresh();
    char name[16], keys[32];
    for (int i = 0; i <= TANSU_MAX_INDEXES; i++) {
        snprintf(name, sizeof name, "i%d", i);
        snprintf(keys, sizeof keys, "{'f%d': 1}", i);
        CHECK_STATUS(i < TANSU_MAX_INDEXES ? TANSU_OK : TANSU_E_TOO_LARGE,
                     call_index(db, NULL, "c", name, keys, NULL));
    }
    CHECK_OK(save("c", "{'_id': 1, 'f63': 'x'}"), &call_error);
    reopen(true);
    CHECK_TEXT("{ \"_id\" : 1, \"f63\" : \"x\" }", call_find(db, NULL, "c", "{'f63': 'x'}", NULL));
    CHECK_OK(tansu_index_drop(db, NULL, "c", "i7", NULL), NULL);
    CHECK_OK(call_index(db, NULL, "c", "last", "{'x': 1}", NULL), &call_error);
}

static void drop_of_an_index(void) {
    fresh();
    CHECK_STATUS(TANSU_E_NOT_FOUND, tansu_index_drop(db, NULL, "c", "i", NULL));
    CHECK_TEXT("NOT_FOUND", call_indexes(db, NULL, "c"));
    CHECK_OK(save("c", "{'_id': 1, 'a': 1, 'b': 2}"), &call_error);
    CHECK_STATUS(TANSU_E_NOT_FOUND, tansu_index_drop(db, NULL, "c", "i", NULL));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, tansu_index_drop(db, NULL, "c", NULL, NULL));
    CHECK_OK(call_index(db, NULL, "c", "i", "{'a': 1}", "{'unique': true}"), &call_error);
    CHECK_OK(call_index(db, NULL, "c", "k", "{'b': 1}", NULL), &call_error);
    CHECK_STATUS(TANSU_E_NOT_UNIQUE, save("c", "{'_id': 2, 'a': 1}"));
    reopen(false);
    CHECK_OK(tansu_index_drop(db, NULL, "c", "i", NULL), NULL);
    CHECK_OK(save("c", "{'_id': 2, 'a': 1, 'b': 2}"), &call_error);
    for (int way = 0; way < 3; way++) {
        CHECK_INT(2, call_count(db, NULL, "c", "{'a': 1}"));
        CHECK_INT(2, call_count(db, NULL, "c", "{'b': 2}"));
        CHECK(strstr(call_indexes(db, NULL, "c"), "\"name\" : \"i\"") == NULL);
        reopen(way == 1);
    }
    CHECK_STATUS(TANSU_E_NOT_UNIQUE,
                 call_index(db, NULL, "c", "i", "{'a': 1}", "{'unique': true}"));
}

static void unique_means_unique(void) {
    fresh();
    CHECK_OK(call_index(db, NULL, "c", "u", "{'a': 1, 'b': 1}", "{'unique': true}"), &call_error);
    CHECK_OK(call_index(db, NULL, "c", "t", "{'tags': 1}", "{'unique': true}"), &call_error);
    CHECK_OK(save("c", "{'_id': 1, 'a': 1, 'b': 1, 'tags': ['x', 'y', 'x']}"), &call_error);
    for (int way = 0; way < 3; way++) {
        CHECK_STATUS(TANSU_E_NOT_UNIQUE, save("c", "{'_id': 2, 'a': 1.0, 'b': 1, 'tags': 1}"));
        CHECK_TEXT("u", call_error.context);
        CHECK(strstr(call_error.message, "contain {\"a\": 1.0, \"b\": 1} twice") != NULL);
        CHECK_STATUS(TANSU_E_NOT_UNIQUE, save("c", "{'_id': 2, 'a': 1, 'tags': ['z', 'y']}"));
        CHECK_TEXT("t", call_error.context);
        CHECK_OK(save("c", "{'_id': 1, 'a': 1, 'b': 1, 'tags': ['y', 'x']}"), &call_error);
        reopen(way == 1);
    }
    /* A missing value is one value: a second document without it is refused. */
    CHECK_OK(save("c", "{'_id': 2, 'a': 1, 'tags': 'w'}"), &call_error);
    CHECK_STATUS(TANSU_E_NOT_UNIQUE, save("c", "{'_id': 3, 'a': 1, 'tags': 'v'}"));
    CHECK_OK(call_remove_id(db, NULL, "c", "{'_id': 2}", NULL), &call_error);
    CHECK_OK(save("c", "{'_id': 3, 'a': 1, 'tags': 'v'}"), &call_error);
    CHECK_INT(2, call_count(db, NULL, "c", "{}"));
}

static void an_index_covers_what_was_there_and_what_comes(void) {
    fresh();
    for (int i = 0; i < 3000; i++) {
        bson_t *doc = BCON_NEW("_id", BCON_INT32(i), "v", BCON_INT32(i % 100), "s",
                               i % 2 == 0 ? "even" : "odd");
        CHECK_OK(call_save_bson(db, NULL, "c", TANSU_SAVE, doc), &call_error);
        bson_destroy(doc);
        if (i == 1500)
            CHECK_OK(call_index(db, NULL, "c", "sv", "{'s': -1, 'v': 1}", NULL), &call_error);
        if (i == 2000)
            CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
    }
    CHECK_OK(call_remove(db, NULL, "c", "{'v': 8}", NULL), &call_error);
    for (int way = 0; way < 3; way++) {
        CHECK_INT(0, call_count(db, NULL, "c", "{'s': 'even', 'v': 8}"));
        CHECK_INT(30, call_count(db, NULL, "c", "{'s': 'even', 'v': 10}"));
        CHECK_INT(0, call_count(db, NULL, "c", "{'s': 'odd', 'v': 10}"));
        CHECK(strstr(call_indexes(db, NULL, "c"), "\"entries\" : 2970") != NULL);
        CHECK_INT(2970, call_statistic(db, "collections.0.documents"));
        CHECK_INT(2970, call_statistic(db, "collections.0.indexes.0.entries"));
        reopen(way == 1);
    }
}

/* Calls of each kind with a collection's name. */
static tansu_status call_named(int number, const char *name) {
    tansu_buffer result = TANSU_BUFFER_INIT;
    tansu_error *error = &call_error;
    const tansu_document none = TANSU_NO_DOCUMENT;
    bson_t *id = bson_from_text("{'_id':1}"), *set = bson_from_text("{'$set':{'a':1}}");
    bson_t *group = bson_from_text("{'by':'a'}"), *keys = bson_from_text("{'a':1}");
    bson_t join = BSON_INITIALIZER, path, list = BSON_INITIALIZER, names;
    tansu_cursor *cursor = NULL;
    tansu_feed *feed = NULL;
    tansu_document one = document_of(id);
    tansu_status status = TANSU_OK;
    int64_t count;
    BSON_APPEND_DOCUMENT_BEGIN(&join, "$do", &path);
    bson_t target;
    BSON_APPEND_DOCUMENT_BEGIN(&path, "a", &target);
    BSON_APPEND_UTF8(&target, "$join", name);
    bson_append_document_end(&path, &target);
    bson_append_document_end(&join, &path);
    BSON_APPEND_ARRAY_BEGIN(&list, "collections", &names);
    BSON_APPEND_UTF8(&names, "0", name);
    bson_append_array_end(&list, &names);
    switch (number) {
    case 0: status = tansu_save(db, NULL, name, &one, 1, TANSU_SAVE, NULL, error); break;
    case 1: status = tansu_find(db, NULL, name, none, none, &cursor, error); break;
    case 2: status = tansu_get(db, NULL, name, one, &result, error); break;
    case 3: status = tansu_count(db, NULL, name, none, none, &count, error); break;
    case 4: status = tansu_explain(db, NULL, name, none, none, &result, error); break;
    case 5: status = tansu_distinct(db, NULL, name, "a", none, none, &result, error); break;
    case 6:
        status = tansu_aggregate(db, NULL, name, none, document_of(group), none, &result, error);
        break;
    case 7:
        status = tansu_update(db, NULL, name, none, document_of(set), none, &result, error);
        break;
    case 8:
        status = tansu_find_and_modify(db, NULL, name, none, document_of(set), none,
                                       TANSU_MODIFY_RETURN_BEFORE, &result, error);
        break;
    case 9: status = tansu_remove(db, NULL, name, none, none, NULL, error); break;
    case 10: status = tansu_remove_id(db, NULL, name, one, NULL, error); break;
    case 11:
        status =
            tansu_index_create(db, NULL, name, NULL, document_of(keys), none, NULL, NULL, error);
        break;
    case 12: status = tansu_index_drop(db, NULL, name, "i", error); break;
    case 13: status = tansu_index_list(db, NULL, name, &result, error); break;
    case 14: status = tansu_collection_ensure(db, NULL, name, none, error); break;
    case 15: status = tansu_collection_rename(db, NULL, name, "other", error); break;
    case 16: status = tansu_collection_drop(db, NULL, name, error); break;
    case 17: status = tansu_collection_info(db, NULL, name, &result, error); break;
    case 18: status = tansu_collection_referrers(db, NULL, name, &result, error); break;
    case 19: status = tansu_feed_open(db, 0, document_of(&list), &feed, error); break;
    /* Inside of a query it is a part of the query. */
    default:
        status = tansu_find(db, NULL, "c", none, document_of(&join), &cursor, error);
        status = status == TANSU_E_INVALID_QUERY ? TANSU_E_INVALID_NAME : status;
    }
    tansu_cursor_close(cursor);
    tansu_feed_close(feed);
    tansu_buffer_free(&result);
    bson_destroy(id);
    bson_destroy(set);
    bson_destroy(group);
    bson_destroy(keys);
    bson_destroy(&join);
    bson_destroy(&list);
    return status;
}

static void every_call_rejects_the_same_names(void) {
    char longest[122];
    memset(longest, 'x', sizeof longest);
    longest[121] = '\0';
    const char *const impossible[] = {"", "$bad", "a\nb", "\xff\xfe", longest};
    fresh();
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id':1,'a':1}"), &call_error);
    for (int number = 0; number < 21; number++) {
        for (size_t i = 0; i < sizeof impossible / sizeof *impossible; i++) {
            /* No BSON, which the names of the last two calls are in, has text that is not UTF-8. */
            if (number >= 19 && i == 3)
                continue;
            if (!CHECK_STATUS(TANSU_E_INVALID_NAME, call_named(number, impossible[i])))
                check_note("call %d, name %zu", number, i);
        }
        /* A name that a collection can have is never impossible, whether it has one or not. */
        CHECK(call_named(number, "possible") != TANSU_E_INVALID_NAME);
    }
}

int main(void) {
    RUN(every_call_rejects_the_same_names);
    RUN(ensure_creates_once);
    RUN(collections_are_listed_by_name);
    RUN(one_collection_is_described);
    RUN(drop_takes_documents_and_indexes);
    RUN(rename_keeps_all_but_the_name);
    RUN(many_collections);
    RUN(collections_come_and_go);
    RUN(the_same_index_again_is_no_harm);
    RUN(names_of_indexes);
    RUN(invalid_definitions_are_rejected);
    RUN(the_number_of_indexes_is_bounded);
    RUN(drop_of_an_index);
    RUN(unique_means_unique);
    RUN(an_index_covers_what_was_there_and_what_comes);
    call_close(db);
    folder_end(folder);
    return check_finish();
}
