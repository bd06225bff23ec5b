/*
 * test_delete_rules.c -- references of collections, what removals make of them, and references that
 * dangle. test_delete_rules_differential.c has random cases.
 */
#include "support/calls/backup_calls.h"
#include "support/calls/call.h"
#include "support/calls/dump_calls.h"
#include "support/calls/maintenance_calls.h"
#include "support/calls/query_calls.h"
#include "support/calls/update_calls.h"
#include "support/check.h"
#include "support/fault/fault_injection.h"
#include "support/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char library_references[] =
    "{'references': ["
    "{'path': 'author', 'to': 'authors', 'onDelete': 'cascade'},"
    "{'path': 'tags', 'to': 'tags', 'onDelete': 'nullify'},"
    "{'path': 'chapters.editor', 'to': 'authors', 'onDelete': 'nullify'},"
    "{'path': 'publisher', 'to': 'publishers', 'onDelete': 'deny'},"
    "{'path': 'shelf', 'to': 'shelves'}]}";

/* save_all -- documents into a collection. */
static void save_all(tansu_db *db, const char *collection, const char *const *documents) {
    for (; *documents != NULL; documents++)
        CHECK_OK(call_save(db, NULL, collection, TANSU_SAVE, *documents), &call_error);
}

/* fill -- a library: books refer to authors, tags, editors, publishers and shelves, and reviews to
 * books. */
static void fill(tansu_db *db, bool indexed) {
    CHECK_OK(call_ensure(db, NULL, "books", library_references), &call_error);
    CHECK_OK(call_ensure(db, NULL, "reviews",
                         "{'references': [{'path': 'of.book', 'to': 'books', 'onDelete': "
                         "'cascade'}]}"),
             &call_error);
    if (indexed) {
        CHECK_OK(call_index(db, NULL, "books", "author", "{'author': 1}", NULL), &call_error);
        CHECK_OK(call_index(db, NULL, "books", "tags", "{'tags': 1}", NULL), &call_error);
        CHECK_OK(call_index(db, NULL, "books", "editor", "{'chapters.editor': 1}", NULL),
                 &call_error);
        CHECK_OK(call_index(db, NULL, "reviews", "book", "{'of.book': 1}", NULL), &call_error);
    }
    save_all(db, "authors", (const char *const[]){"{'_id': 1}", "{'_id': 2}", "{'_id': 3}", NULL});
    save_all(db, "tags", (const char *const[]){"{'_id': 'a'}", "{'_id': 'b'}", NULL});
    save_all(db, "publishers", (const char *const[]){"{'_id': 7}", NULL});
    save_all(db, "shelves", (const char *const[]){"{'_id': 5}", NULL});
    save_all(db, "books",
             (const char *const[]){
                 "{'_id': 10, 'author': 1, 'tags': ['a', 'b'], 'shelf': 5}",
                 "{'_id': 11, 'author': 1.0, 'tags': ['b', 'b', 'x']}",
                 "{'_id': 12, 'author': 2, 'tags': 'a', 'publisher': 7, 'chapters': [{'n': 1, "
                 "'editor': 1}, {'n': 2, 'editor': [1, 2]}, 5, {'n': 3}]}",
                 "{'_id': 13, 'author': null, 'tags': null}", NULL});
    save_all(db, "reviews",
             (const char *const[]){"{'_id': 20, 'of': {'book': 10}}",
                                   "{'_id': 21, 'of': {'book': "
                                   "12}}",
                                   "{'_id': 22, 'of': [{'book': 12}, {'book': 11}]}", NULL});
}

/* library -- one in memory. */
static tansu_db *library(bool indexed) {
    tansu_db *db = call_open(NULL);
    fill(db, indexed);
    return db;
}

/* all_of -- a collection's documents. */
static const char *all_of(tansu_db *db, const char *collection) {
    return call_find(db, NULL, collection, "{}", "{'$orderby': {'_id': 1}}");
}

static const char after_cascade[] =
    "{ \"_id\" : 12, \"author\" : 2, \"tags\" : \"a\", \"publisher\" : 7, \"chapters\" : [ { "
    "\"n\" : 1, \"editor\" : null }, { \"n\" : 2, \"editor\" : [ 2 ] }, 5, { \"n\" : 3 } ] } { "
    "\"_id\" : 13, \"author\" : null, \"tags\" : null }";

/* ---- Rules ---- */

static void cascade_goes_over_all_levels(void) {
    for (int indexed = 0; indexed < 2; indexed++) {
        tansu_db *db = library(indexed != 0);
        int removed = 0;
        int64_t commit = call_statistic(db, "sequence");
        CHECK_OK(call_remove_id(db, NULL, "authors", "{'_id': 1}", &removed), &call_error);
        CHECK_INT(1, removed);
        CHECK_INT(commit + 1, call_statistic(db, "sequence"));
        CHECK_TEXT(after_cascade, all_of(db, "books"));
        CHECK_TEXT("{ \"_id\" : 21, \"of\" : { \"book\" : 12 } }", all_of(db, "reviews"));
        CHECK(maintenance_clean(db));
        call_close(db);
    }
}

static void nullify_takes_elements_out(void) {
    for (int indexed = 0; indexed < 2; indexed++) {
        tansu_db *db = library(indexed != 0);
        int64_t removed = 0;
        CHECK_OK(call_remove(db, NULL, "tags", "{'_id': 'b'}", &removed), &call_error);
        CHECK_INT(1, removed);
        CHECK_TEXT(
            "{ \"_id\" : 10, \"tags\" : [ \"a\" ] } { \"_id\" : 11, \"tags\" : [ \"x\" ] } "
            "{ \"_id\" : 12, \"tags\" : \"a\" } { \"_id\" : 13, \"tags\" : null }",
            call_find(db, NULL, "books", "{}", "{'$orderby': {'_id': 1}, '$fields': {'tags': 1}}"));
        CHECK_OK(call_remove(db, NULL, "tags", "{}", &removed), &call_error);
        CHECK_TEXT(
            "{ \"_id\" : 10, \"tags\" : [  ] } { \"_id\" : 11, \"tags\" : [ \"x\" ] } "
            "{ \"_id\" : 12, \"tags\" : null } { \"_id\" : 13, \"tags\" : null }",
            call_find(db, NULL, "books", "{}", "{'$orderby': {'_id': 1}, '$fields': {'tags': 1}}"));
        CHECK(maintenance_clean(db));
        call_close(db);
    }
}

static void deny_names_what_is_in_the_way(void) {
    tansu_db *db = library(true);
    int removed = 7;
    CHECK_STATUS(TANSU_E_REFERENCED,
                 call_remove_id(db, NULL, "publishers", "{'_id': 7}", &removed));
    CHECK_TEXT("books", call_error.context);
    CHECK(strstr(call_error.message, "\"books\" refer by \"publisher\"") != NULL);
    CHECK(strstr(call_error.message, ": 12;") != NULL);
    CHECK_TEXT("{ \"_id\" : 7 }", all_of(db, "publishers"));
    /* One that is removed as well does not deny it. */
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    CHECK_OK(call_remove_id(db, txn, "authors", "{'_id': 2}", NULL), &call_error);
    CHECK_OK(call_remove_id(db, txn, "publishers", "{'_id': 7}", &removed), &call_error);
    CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
    CHECK_TEXT("", all_of(db, "publishers"));
    call_close(db);
}

static void many_denials_are_counted(void) {
    tansu_db *db = library(true);
    for (int i = 100; i < 120; i++) {
        char json[64];
        snprintf(json, sizeof json, "{'_id': %d, 'publisher': 7}", i);
        CHECK_OK(call_save(db, NULL, "books", TANSU_SAVE, json), &call_error);
    }
    CHECK_STATUS(TANSU_E_REFERENCED, call_remove(db, NULL, "publishers", "{}", NULL));
    CHECK(strstr(call_error.message, ": 12, 100, 101, 102, 103 and 16 more;") != NULL);
    call_close(db);
}

static void ignore_leaves_it(void) {
    tansu_db *db = library(true);
    CHECK_OK(call_remove(db, NULL, "shelves", "{}", NULL), &call_error);
    CHECK_INT(1, call_count(db, NULL, "books", "{'shelf': 5}"));
    call_close(db);
}

/* Trees, cycles, and a document that refers to itself. */
static void cycles_end(void) {
    tansu_db *db = call_open(NULL);
    CHECK_OK(call_ensure(db, NULL, "c",
                         "{'references': [{'path': 'next', 'to': 'c', 'onDelete': 'cascade'}, "
                         "{'path': 'friend', 'to': 'c', 'onDelete': 'nullify'}, {'path': 'boss', "
                         "'to': 'c', 'onDelete': 'deny'}]}"),
             &call_error);
    save_all(db, "c",
             (const char *const[]){"{'_id': 1, 'next': 3, 'boss': 1}", "{'_id': 2, 'next': 1}",
                                   "{'_id': 3, 'next': 2, 'friend': 3, 'boss': 2}",
                                   "{'_id': 4, 'next': 4, 'friend': [1, 2, 4, 9]}", NULL});
    int removed = 0;
    CHECK_OK(call_remove_id(db, NULL, "c", "{'_id': 2}", &removed), &call_error);
    CHECK_TEXT("{ \"_id\" : 4, \"next\" : 4, \"friend\" : [ 4, 9 ] }", all_of(db, "c"));
    CHECK_OK(call_remove_id(db, NULL, "c", "{'_id': 4}", &removed), &call_error);
    CHECK_TEXT("", all_of(db, "c"));
    /* Two that deny each other: both at once, or neither. */
    save_all(db, "c",
             (const char *const[]){"{'_id': 1, 'boss': 2}", "{'_id': 2, 'boss': 1}", NULL});
    CHECK_STATUS(TANSU_E_REFERENCED, call_remove_id(db, NULL, "c", "{'_id': 1}", &removed));
    CHECK_STATUS(TANSU_E_REFERENCED, call_remove_id(db, NULL, "c", "{'_id': 2}", &removed));
    CHECK_OK(call_remove(db, NULL, "c", "{}", NULL), &call_error);
    call_close(db);
}

/* ---- Ways of removing ---- */

static void every_way_of_removing_keeps_them(void) {
    tansu_db *db = call_open(NULL);
    CHECK_OK(call_ensure(db, NULL, "parts",
                         "{'references': [{'path': 'of', 'to': 'c', 'onDelete': 'cascade'}]}"),
             &call_error);
    for (int i = 0; i < 8; i++) {
        char json[64];
        snprintf(json, sizeof json, "{'_id': %d}", i);
        save_text(db, json);
        snprintf(json, sizeof json, "{'_id': %d, 'of': %d}", i, i);
        CHECK_OK(call_save(db, NULL, "parts", TANSU_SAVE, json), &call_error);
    }
    CHECK_OK(call_remove_id(db, NULL, "c", "{'_id': 0}", NULL), &call_error);
    CHECK_INT(7, call_count(db, NULL, "parts", "{}"));
    CHECK_OK(call_remove(db, NULL, "c", "{'_id': 1}", NULL), &call_error);
    CHECK_INT(6, call_count(db, NULL, "parts", "{}"));
    CHECK_TEXT("{ \"matched\" : 1, \"modified\" : 0, \"upserted\" : [  ], \"removed\" : 1 }",
               update_text(db, NULL, "{'_id': 2}", "{'$dropall': true}", NULL));
    CHECK_INT(5, call_count(db, NULL, "parts", "{}"));
    CHECK_TEXT("{ \"_id\" : 3 }",
               find_and_modify_text(db, "{'_id': 3}", NULL, NULL, TANSU_MODIFY_REMOVE));
    CHECK_INT(4, call_count(db, NULL, "parts", "{}"));
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    CHECK_OK(call_remove_id(db, txn, "c", "{'_id': 4}", NULL), &call_error);
    CHECK_INT(3, call_count(db, txn, "parts", "{}"));
    CHECK_OK(tansu_savepoint_begin(txn, &call_error), &call_error);
    CHECK_OK(call_remove_id(db, txn, "c", "{'_id': 5}", NULL), &call_error);
    CHECK_INT(2, call_count(db, txn, "parts", "{}"));
    CHECK_OK(tansu_savepoint_roll_back(txn, &call_error), &call_error);
    CHECK_INT(3, call_count(db, txn, "parts", "{}"));
    CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
    CHECK_OK(tansu_collection_drop(db, NULL, "c", &call_error), &call_error);
    CHECK_INT(0, call_count(db, NULL, "parts", "{}"));
    CHECK(maintenance_clean(db));
    call_close(db);
}

static void dropping_removes_all_documents(void) {
    tansu_db *db = library(true);
    CHECK_STATUS(TANSU_E_REFERENCED, tansu_collection_drop(db, NULL, "publishers", &call_error));
    CHECK_OK(tansu_collection_drop(db, NULL, "authors", &call_error), &call_error);
    CHECK_TEXT("{ \"_id\" : 13, \"author\" : null, \"tags\" : null }", all_of(db, "books"));
    CHECK_TEXT("", all_of(db, "reviews"));
    CHECK_OK(tansu_collection_drop(db, NULL, "publishers", &call_error), &call_error);
    CHECK_STATUS(TANSU_E_NOT_FOUND, tansu_collection_drop(db, NULL, "authors", &call_error));
    /* The references lead to a new collection of that name. */
    save_all(db, "authors", (const char *const[]){"{'_id': 1}", NULL});
    save_all(db, "books", (const char *const[]){"{'_id': 30, 'author': 1}", NULL});
    CHECK_OK(call_remove(db, NULL, "authors", "{}", NULL), &call_error);
    CHECK_INT(0, call_count(db, NULL, "books", "{'_id': 30}"));
    call_close(db);
}

static void an_error_changes_nothing(void) {
    tansu_db *db = library(true);
    CHECK_OK(call_ensure(db, NULL, "homes",
                         "{'references': [{'path': 'of', 'to': 'authors', 'onDelete': "
                         "'nullify'}]}"),
             &call_error);
    CHECK_OK(call_index(db, NULL, "homes", "one", "{'of': 1}", "{'unique': true}"), &call_error);
    save_all(db, "homes",
             (const char *const[]){"{'_id': 40, 'of': 1}", "{'_id': 41, 'of': null}", NULL});
    /* Nulls of two documents collide. */
    CHECK_STATUS(TANSU_E_NOT_UNIQUE, call_remove(db, NULL, "authors", "{'_id': 1}", NULL));
    CHECK_INT(3, call_count(db, NULL, "authors", "{}"));
    CHECK_INT(4, call_count(db, NULL, "books", "{}"));
    CHECK_TEXT("{ \"_id\" : 40, \"of\" : 1 }", call_find(db, NULL, "homes", "{'_id': 40}", NULL));
    CHECK(maintenance_clean(db));
    call_close(db);
}

static void renaming_is_followed(void) {
    tansu_db *db = library(true);
    CHECK_OK(tansu_collection_rename(db, NULL, "authors", "writers", &call_error), &call_error);
    CHECK_OK(tansu_collection_rename(db, NULL, "books", "works", &call_error), &call_error);
    CHECK_OK(call_remove(db, NULL, "writers", "{'_id': 1}", NULL), &call_error);
    CHECK_TEXT(after_cascade, all_of(db, "works"));
    CHECK_TEXT("{ \"_id\" : 21, \"of\" : { \"book\" : 12 } }", all_of(db, "reviews"));
    call_close(db);
}

/* ---- The option ---- */

static void bad_references_are_refused(void) {
    static const char *const bad[][2] = {
        {"{'references': 5}", "references"},
        {"{'references': [5]}", "references.0"},
        {"{'references': [{'path': 'a'}]}", "references.0.to"},
        {"{'references': [{'to': 'a'}]}", "references.0.path"},
        {"{'references': [{'path': '', 'to': 'a'}]}", "references.0.path"},
        {"{'references': [{'path': 'a..b', 'to': 'a'}]}", "references.0.path"},
        {"{'references': [{'path': 'a.0', 'to': 'a'}]}", "references.0.path"},
        {"{'references': [{'path': 'a.*', 'to': 'a'}]}", "references.0.path"},
        {"{'references': [{'path': '**', 'to': 'a'}]}", "references.0.path"},
        {"{'references': [{'path': 'a.$b', 'to': 'a'}]}", "references.0.path"},
        {"{'references': [{'path': 7, 'to': 'a'}]}", "references.0.path"},
        {"{'references': [{'path': 'a', 'to': 7}]}", "references.0.to"},
        {"{'references': [{'path': 'a', 'to': ''}]}", "references.0.to"},
        {"{'references': [{'path': 'a', 'to': 'x', 'onDelete': 'restrict'}]}",
         "references.0.onDelete"},
        {"{'references': [{'path': 'a', 'to': 'x', 'onDelete': 1}]}", "references.0.onDelete"},
        {"{'references': [{'path': '_id', 'to': 'x', 'onDelete': 'nullify'}]}",
         "references.0.onDelete"},
        {"{'references': [{'path': '_id.a', 'to': 'x', 'onDelete': 'nullify'}]}",
         "references.0.onDelete"},
        {"{'references': [{'path': 'a', 'to': 'x', 'more': 1}]}", "references.0.more"},
        {"{'references': [{'path': 'a', 'to': 'x'}, {'path': 'a', 'to': 'y'}]}",
         "references.1.path"},
    };
    tansu_db *db = call_open(NULL);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_STATUS(TANSU_E_INVALID_QUERY, call_ensure(db, NULL, "c", bad[i][0]));
        CHECK_TEXT(bad[i][1], call_error.context);
    }
    CHECK_STATUS(TANSU_E_INVALID_NAME,
                 call_ensure(db, NULL, "c", "{'references': [{'path': 'a', 'to': '$x'}]}"));
    CHECK_TEXT("{ \"collections\" : [  ] }", call_collections(db, NULL));
    bson_t options = BSON_INITIALIZER, list, one;
    BSON_APPEND_ARRAY_BEGIN(&options, "references", &list);
    for (int i = 0; i < 65; i++) {
        char path[16];
        snprintf(path, sizeof path, "p%d", i);
        BSON_APPEND_DOCUMENT_BEGIN(&list, path + 1, &one);
        BSON_APPEND_UTF8(&one, "path", path);
        BSON_APPEND_UTF8(&one, "to", "c");
        bson_append_document_end(&list, &one);
    }
    bson_append_array_end(&options, &list);
    CHECK_STATUS(TANSU_E_INVALID_QUERY,
                 tansu_collection_ensure(db, NULL, "c", document_of(&options), &call_error));
    bson_destroy(&options);
    call_close(db);
}

static const char listed[] =
    "{ \"collections\" : [ { \"name\" : \"c\", \"documents\" : 0, \"options\" : { \"local\" : "
    "false, \"references\" : [ { \"path\" : \"a\", \"to\" : \"x\", \"onDelete\" : \"cascade\" } ] "
    "} } ] }";
static const char without[] =
    "{ \"collections\" : [ { \"name\" : \"c\", \"documents\" : 0, \"options\" : { \"local\" : "
    "false } } ] }";

static void references_are_replaced_and_listed(void) {
    tansu_db *db = call_open(NULL);
    static const char one[] = "{'references': [{'path': 'a', 'to': 'x', 'onDelete': 'cascade'}]}";
    CHECK_OK(call_ensure(db, NULL, "c", one), &call_error);
    CHECK_TEXT(listed, call_collections(db, NULL));
    int64_t commit = call_statistic(db, "sequence");
    CHECK_OK(call_ensure(db, NULL, "c", one), &call_error);
    CHECK_OK(tansu_collection_ensure(db, NULL, "c", TANSU_NO_DOCUMENT, &call_error), &call_error);
    CHECK_INT(commit, call_statistic(db, "sequence"));
    CHECK_OK(call_ensure(db, NULL, "c", "{'references': []}"), &call_error);
    CHECK_TEXT(without, call_collections(db, NULL));
    /* In a transaction that is rolled back, and in a savepoint. */
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    CHECK_OK(call_ensure(db, txn, "c", one), &call_error);
    CHECK_OK(call_ensure(db, txn, "c", "{'references': []}"), &call_error);
    CHECK_OK(call_ensure(db, txn, "c", one), &call_error);
    CHECK_TEXT(listed, call_collections(db, txn));
    tansu_txn_abort(txn);
    CHECK_TEXT(without, call_collections(db, NULL));
    txn = call_begin(db, TANSU_TXN_WRITE);
    CHECK_OK(tansu_savepoint_begin(txn, &call_error), &call_error);
    CHECK_STATUS(TANSU_E_INVALID_STATE, call_ensure(db, txn, "c", one));
    CHECK_OK(call_ensure(db, txn, "new", one), &call_error);
    CHECK_OK(tansu_savepoint_roll_back(txn, &call_error), &call_error);
    CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
    CHECK_TEXT(without, call_collections(db, NULL));
    call_close(db);
}

/* check_kept -- whether a database has its rules, which are tried in a transaction. */
static void check_kept(tansu_db *db) {
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    CHECK_STATUS(TANSU_E_REFERENCED, call_remove_id(db, txn, "publishers", "{'_id': 7}", NULL));
    CHECK_OK(call_remove_id(db, txn, "authors", "{'_id': 1}", NULL), &call_error);
    CHECK_TEXT(after_cascade, call_find(db, txn, "books", "{}", "{'$orderby': {'_id': 1}}"));
    CHECK_INT(1, call_count(db, txn, "reviews", "{}"));
    tansu_txn_abort(txn);
    CHECK(maintenance_clean(db));
}

/* check_at -- the same of a folder. */
static void check_at(const char *path) {
    tansu_db *db = call_open(path);
    check_kept(db);
    call_close(db);
}

static void references_are_kept_everywhere(void) {
    char *folder = folder_new();
    char path[400], other[400];
    snprintf(path, sizeof path, "%s", path_in(folder, "db"));
    tansu_db *db = call_open(path);
    fill(db, true);
    /* In the log only, as after a kill; in a checkpoint; in both. */
    snprintf(other, sizeof other, "%s", path_in(folder, "killed"));
    folder_copy(path, other);
    check_at(other);
    call_close(db);
    check_at(path);
    db = call_open(path);
    CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
    check_kept(db);
    snprintf(other, sizeof other, "%s", path_in(folder, "backup"));
    CHECK_OK(backup(db, other, TANSU_BACKUP_FILE), &call_error);
    char restored[400];
    snprintf(restored, sizeof restored, "%s", path_in(folder, "restored"));
    CHECK_OK(restore(other, restored), &call_error);
    check_at(restored);
    tansu_db *copy = NULL;
    tansu_options memory = call_options(NULL);
    CHECK_OK(tansu_clone(db, &memory, NULL, NULL, &copy, &call_error), &call_error);
    check_kept(copy);
    call_close(copy);
    tansu_buffer text = dump_all(db);
    copy = call_open(NULL);
    CHECK_OK(load_bytes(copy, text.data, text.size, TANSU_NO_DOCUMENT), &call_error);
    check_kept(copy);
    call_close(copy);
    tansu_buffer_free(&text);
    CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
    call_close(db);
    check_at(path);
    snprintf(restored, sizeof restored, "%s", path_in(folder, "repaired"));
    CHECK_OK(maintenance_repair(path, restored), &call_error);
    check_at(restored);
    folder_end(folder);
}

/* ---- References that dangle ---- */

/* dangling -- the answer as JSON without spaces, or the name of the status. */
static const char *dangling(tansu_db *db, tansu_txn *txn, const char *options) {
    static char text[4000];
    tansu_buffer result = TANSU_BUFFER_INIT, json = TANSU_BUFFER_INIT;
    bson_t *asked = bson_from_text(options);
    tansu_status status =
        tansu_dangling_references(db, txn, document_of(asked), &result, &call_error);
    if (status == TANSU_OK)
        status =
            tansu_bson_to_json((tansu_document){result.data, result.size}, 0, &json, &call_error);
    const char *from = status == TANSU_OK ? (const char *)json.data : tansu_status_name(status);
    size_t size = 0;
    for (; *from != 0 && size + 1 < sizeof text; from++)
        if (*from != ' ')
            text[size++] = *from;
    text[size] = 0;
    tansu_buffer_free(&result);
    tansu_buffer_free(&json);
    bson_destroy(asked);
    return text;
}

static void dangling_references_are_found(void) {
    tansu_db *db = library(true);
    CHECK_TEXT("{\"references\":[{\"collection\":\"books\",\"_id\":11,\"path\":\"tags\",\"to\":"
               "\"tags\",\"value\":\"x\"}],\"count\":1,\"documents\":1}",
               dangling(db, NULL, "{}"));
    save_all(db, "reviews",
             (const char *const[]){"{'_id': 30, 'of': [{'book': 98}, {'book': [99, 10]}]}", NULL});
    CHECK_TEXT("{\"references\":[{\"collection\":\"reviews\",\"_id\":30,\"path\":\"of.book\","
               "\"to\":\"books\",\"value\":98}],\"count\":2,\"documents\":1}",
               dangling(db, NULL, "{'collection': 'reviews', 'limit': 1}"));
    CHECK_TEXT("{\"references\":[],\"count\":3,\"documents\":2}",
               dangling(db, NULL, "{'limit': 0}"));
    CHECK_TEXT("NOT_FOUND", dangling(db, NULL, "{'collection': 'none'}"));
    CHECK_TEXT("INVALID_QUERY", dangling(db, NULL, "{'limit': -1}"));
    CHECK_TEXT("INVALID_QUERY", dangling(db, NULL, "{'what': 1}"));
    /* The whole target is missing. */
    CHECK_OK(call_remove(db, NULL, "shelves", "{}", NULL), &call_error);
    CHECK_OK(tansu_collection_drop(db, NULL, "shelves", &call_error), &call_error);
    CHECK_TEXT("{\"references\":[],\"count\":4,\"documents\":3}",
               dangling(db, NULL, "{'limit': 0}"));
    /* In a transaction, as it is there. */
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    CHECK_TEXT("{\"nullified\":1,\"removed\":1}", dangling(db, txn, "{'repair': true}"));
    CHECK_TEXT("{\"references\":[{\"collection\":\"books\",\"_id\":10,\"path\":\"shelf\",\"to\":"
               "\"shelves\",\"value\":5}],\"count\":1,\"documents\":1}",
               dangling(db, txn, "{}"));
    tansu_txn_abort(txn);
    CHECK_TEXT("{\"nullified\":1,\"removed\":1}", dangling(db, NULL, "{'repair': true}"));
    CHECK_TEXT("{\"nullified\":0,\"removed\":0}", dangling(db, NULL, "{'repair': true}"));
    CHECK_INT(0, call_count(db, NULL, "reviews", "{'_id': 30}"));
    txn = call_begin(db, TANSU_TXN_READ);
    CHECK_TEXT("READ_ONLY", dangling(db, txn, "{'repair': true}"));
    tansu_txn_abort(txn);
    CHECK(maintenance_clean(db));
    call_close(db);
}

/* Repairing removes documents, to which others refer in turn. */
static void repair_cascades(void) {
    tansu_db *db = library(true);
    save_all(db, "books",
             (const char *const[]){"{'_id': 50, 'author': 77, 'tags': ['a', 'z']}", NULL});
    save_all(db, "reviews", (const char *const[]){"{'_id': 51, 'of': {'book': 50}}", NULL});
    CHECK_TEXT("{\"nullified\":0,\"removed\":0}",
               dangling(db, NULL, "{'repair': true, 'collection': 'reviews'}"));
    CHECK_TEXT("{\"nullified\":1,\"removed\":1}",
               dangling(db, NULL, "{'repair': true, 'collection': 'books'}"));
    CHECK_INT(0, call_count(db, NULL, "books", "{'_id': 50}"));
    CHECK_INT(0, call_count(db, NULL, "reviews", "{'_id': 51}"));
    CHECK_TEXT("{\"references\":[],\"count\":0,\"documents\":0}", dangling(db, NULL, "{}"));
    call_close(db);
}

/* ---- Faults ---- */

/* Every allocation fails once: the call fails and changes nothing, or does all. */
static void a_failed_allocation_changes_nothing(void) {
    if (!fault_has_memory()) {
        check_skip("allocations cannot be made to fail here");
        return;
    }
    unsigned failures = 0;
    bool met = true;
    bson_t *id = bson_from_text("{'_id': 1}");
    bson_t *options = bson_from_text("{'references': [{'path': 'home', 'to': 'tags'}]}");
    for (unsigned nth = 1; met; nth++) {
        tansu_db *db = library(true);
        char before[2000];
        snprintf(before, sizeof before, "%s", all_of(db, "books"));
        fault_start(FAULT_MEMORY, nth, false, 0);
        int removed = 0;
        tansu_status status =
            tansu_remove_id(db, NULL, "authors", document_of(id), &removed, &call_error);
        met = fault_occurred();
        fault_stop();
        if (status != TANSU_OK) {
            failures += CHECK_STATUS(TANSU_E_MEMORY, status);
            CHECK_TEXT(before, all_of(db, "books"));
            CHECK_INT(3, call_count(db, NULL, "authors", "{}"));
            CHECK_INT(3, call_count(db, NULL, "reviews", "{}"));
        } else {
            CHECK_TEXT(after_cascade, all_of(db, "books"));
        }
        fault_start(FAULT_MEMORY, nth, false, 0);
        status = tansu_collection_ensure(db, NULL, "authors", document_of(options), &call_error);
        fault_stop();
        CHECK(status == TANSU_OK || status == TANSU_E_MEMORY);
        CHECK(maintenance_clean(db));
        call_close(db);
    }
    CHECK(failures > 30);
    bson_destroy(id);
    bson_destroy(options);
}

static void cancelling_stops_it(void) {
    tansu_db *db = library(true);
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    tansu_txn_cancel(txn);
    CHECK_STATUS(TANSU_E_CANCELLED, call_remove_id(db, txn, "authors", "{'_id': 1}", NULL));
    CHECK_STATUS(TANSU_E_CANCELLED, tansu_collection_drop(db, txn, "authors", &call_error));
    tansu_txn_abort(txn);
    CHECK_INT(3, call_count(db, NULL, "authors", "{}"));
    call_close(db);
}

int main(void) {
    RUN(cascade_goes_over_all_levels);
    RUN(nullify_takes_elements_out);
    RUN(deny_names_what_is_in_the_way);
    RUN(many_denials_are_counted);
    RUN(ignore_leaves_it);
    RUN(cycles_end);
    RUN(every_way_of_removing_keeps_them);
    RUN(dropping_removes_all_documents);
    RUN(an_error_changes_nothing);
    RUN(renaming_is_followed);
    RUN(bad_references_are_refused);
    RUN(references_are_replaced_and_listed);
    RUN(references_are_kept_everywhere);
    RUN(dangling_references_are_found);
    RUN(repair_cascades);
    RUN(a_failed_allocation_changes_nothing);
    RUN(cancelling_stops_it);
    return check_finish();
}
