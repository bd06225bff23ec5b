/*
 * test_change_tracking.c -- collections whose changed documents are noted in another one: whichever
 * way documents are written, the list has exactly the `_id`s of those that were changed since they
 * were removed from it.
 */
#include "support/calls/backup_calls.h"
#include "support/calls/call.h"
#include "support/calls/copy_calls.h"
#include "support/calls/dump_calls.h"
#include "support/calls/maintenance_calls.h"
#include "support/calls/query_calls.h"
#include "support/calls/update_calls.h"
#include "support/check.h"
#include "support/fault/fault_injection.h"
#include "support/folder.h"
#include "support/random/random.h"

#include <stdio.h>
#include <string.h>

/* tracked -- a memory store whose collection "c" notes changes in "l". */
static tansu_db *tracked(void) {
    tansu_db *db = memory_db_open();
    CHECK_OK(call_ensure(db, NULL, "c", "{'changeTracking': 'l'}"), &call_error);
    return db;
}

/* noted -- the documents of the list. */
static const char *noted(tansu_db *db) {
    return call_find(db, NULL, "l", "{}", "{'$orderby': {'_id': 1}}");
}

static void empty(tansu_db *db) {
    CHECK_OK(call_remove(db, NULL, "l", "{}", NULL), &call_error);
}

/* execute -- a command in JSON; single quotes stand for double ones. Whether it succeeded. */
static bool execute(tansu_db *db, const char *command) {
    char text[1000], *answer = NULL;
    snprintf(text, sizeof text, "%s", command);
    for (char *p = text; *p != '\0'; p++)
        if (*p == '\'')
            *p = '"';
    tansu_status status = tansu_execute_json(db, text, &answer);
    tansu_free(answer);
    return status == TANSU_OK;
}

/* ---- The option ---- */

static void the_option_is_told_changed_and_ended(void) {
    tansu_db *db = tracked();
    CHECK_TEXT("{ \"name\" : \"c\", \"documents\" : 0, \"options\" : { \"local\" : false, "
               "\"changeTracking\" : \"l\" } }",
               call_collection(db, NULL, "c"));
    CHECK_TEXT("NOT_FOUND", call_collection(db, NULL, "l"));
    save_text(db, "{'_id': 1}");
    CHECK_OK(call_ensure(db, NULL, "c", "{'changeTracking': 'm'}"), &call_error);
    save_text(db, "{'_id': 2}");
    CHECK_OK(call_ensure(db, NULL, "c", "{'compression': 'none'}"), &call_error);
    save_text(db, "{'_id': 3}");
    CHECK_TEXT("{ \"_id\" : 1 }", noted(db));
    CHECK_INT(2, call_count(db, NULL, "m", "{}"));
    CHECK_OK(call_ensure(db, NULL, "c", "{'changeTracking': false}"), &call_error);
    save_text(db, "{'_id': 4}");
    CHECK_OK(call_ensure(db, NULL, "c", "{'changeTracking': null}"), &call_error);
    CHECK_TEXT("{ \"name\" : \"c\", \"documents\" : 4, \"options\" : { \"local\" : false } }",
               call_collection(db, NULL, "c"));
    CHECK_TEXT("{ \"_id\" : 1 }", noted(db));
    CHECK_INT(2, call_count(db, NULL, "m", "{}"));
    call_close(db);
}

static void bad_options_are_refused(void) {
    static const char *const bad[] = {
        "{'changeTracking': 1}",   "{'changeTracking': true}", "{'changeTracking': ''}",
        "{'changeTracking': []}",  "{'changeTracking': {}}",   "{'changeTracking': 'a\\u0000b'}",
        "{'changeTracking': 'c'}", /* itself */
    };
    tansu_db *db = memory_db_open();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_STATUS(TANSU_E_INVALID_QUERY, call_ensure(db, NULL, "c", bad[i]));
        CHECK_TEXT("changeTracking", call_error.context);
    }
    char name[TANSU_MAX_NAME + 2], option[TANSU_MAX_NAME + 40];
    memset(name, 'n', sizeof name);
    name[TANSU_MAX_NAME + 1] = 0;
    snprintf(option, sizeof option, "{'changeTracking': '%s'}", name);
    CHECK_STATUS(TANSU_E_INVALID_QUERY, call_ensure(db, NULL, "c", option));
    CHECK_STATUS(TANSU_E_INVALID_NAME, call_ensure(db, NULL, "c", "{'changeTracking': '$a'}"));
    CHECK_STATUS(TANSU_E_INVALID_NAME,
                 call_ensure(db, NULL, "c", "{'references': [{'path': 'a', 'to': '$a'}]}"));
    CHECK_TEXT("{ \"collections\" : [  ] }", call_collections(db, NULL));
    name[TANSU_MAX_NAME] = 0;
    snprintf(option, sizeof option, "{'changeTracking': '%s'}", name);
    CHECK_OK(call_ensure(db, NULL, "c", option), &call_error);
    save_text(db, "{'_id': 1}");
    CHECK_INT(1, call_count(db, NULL, name, "{}"));
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    CHECK_OK(tansu_savepoint_begin(txn, &call_error), &call_error);
    CHECK_STATUS(TANSU_E_INVALID_STATE, call_ensure(db, txn, "c", "{'changeTracking': 'l'}"));
    CHECK_OK(call_ensure(db, txn, "c", option), &call_error);
    CHECK_OK(call_ensure(db, txn, "new", "{'changeTracking': 'l'}"), &call_error);
    CHECK_OK(tansu_savepoint_roll_back(txn, &call_error), &call_error);
    CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
    CHECK_TEXT("NOT_FOUND", call_collection(db, NULL, "new"));
    call_close(db);
}

/* ---- The list ---- */

static void a_failed_note_fails_the_save(void) {
    tansu_db *db = tracked();
    CHECK_OK(call_index(db, NULL, "l", "u", "{'u': 1}", "{'unique': true}"), &call_error);
    CHECK_OK(call_save(db, NULL, "c", TANSU_COPY, "{'_id': 2}"), &call_error);
    save_text(db, "{'_id': 1}"); /* null in the unique index */
    const int64_t before = call_count(db, NULL, "c", "{}");
    CHECK_STATUS(TANSU_E_NOT_UNIQUE, call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 3}"));
    CHECK_STATUS(TANSU_E_NOT_UNIQUE, call_remove_id(db, NULL, "c", "{'_id': 2}", NULL));
    CHECK_STATUS(TANSU_E_NOT_UNIQUE, call_remove(db, NULL, "c", "{'_id': 2}", NULL));
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    CHECK_STATUS(TANSU_E_NOT_UNIQUE, call_save(db, txn, "c", TANSU_SAVE, "{'_id': 3}"));
    CHECK_STATUS(TANSU_E_NOT_UNIQUE, call_remove_id(db, txn, "c", "{'_id': 2}", NULL));
    CHECK_OK(call_save(db, txn, "c", TANSU_SAVE, "{'_id': 1, 'n': 1}"), &call_error);
    CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
    CHECK_INT(before, call_count(db, NULL, "c", "{}"));
    /* Of a load that is not atomic, what is kept was noted. */
    static const char text[] = "{\"_id\": 1, \"n\": 2}\n{\"_id\": 5}\n";
    CHECK_STATUS(TANSU_E_NOT_UNIQUE,
                 load_text(db, text, sizeof text - 1, "{'collection': 'c', 'mode': 'save'}"));
    CHECK_TEXT("NOT_FOUND", call_get(db, NULL, "c", "{'_id': 5}"));
    CHECK_TEXT("{ \"_id\" : 1 }", noted(db));
    CHECK(maintenance_clean(db));
    call_close(db);
}

/* What the list has of its own: indexes, timestamps, references, tracking. */
static void the_list_is_a_collection(void) {
    tansu_db *db = tracked();
    CHECK_OK(call_ensure(db, NULL, "l",
                         "{'local': true, 'timestamps': true, 'changeTracking': 'z', "
                         "'references': [{'path': '_id', 'to': 'other', 'onDelete': 'deny'}]}"),
             &call_error);
    CHECK_OK(call_index(db, NULL, "l", "a", "{'_id': -1, 'a': 1}", NULL), &call_error);
    CHECK_OK(call_ensure(db, NULL, "c", "{'timestamps': true}"), &call_error);
    save_text(db, "{'_id': 1}");
    save_text(db, "{'_id': 1, 'n': 1}");
    CHECK_TEXT("{ \"_id\" : 1 }", noted(db));
    CHECK_INT(1, call_count(db, NULL, "c", "{'updatedAt': {'$exists': true}, 'n': 1}"));
    /* What is noted in the list is not noted of the list; what its users change is. */
    CHECK_TEXT("NOT_FOUND", call_collection(db, NULL, "z"));
    CHECK_OK(call_save(db, NULL, "l", TANSU_SAVE, "{'_id': 7, 'a': 1}"), &call_error);
    empty(db);
    CHECK_INT(2, call_count(db, NULL, "z", "{}"));
    CHECK(maintenance_clean(db));
    call_close(db);
}

/* Each of two collections has the changes of the other. */
static void a_cycle_ends(void) {
    tansu_db *db = memory_db_open();
    CHECK_OK(call_ensure(db, NULL, "c", "{'changeTracking': 'l'}"), &call_error);
    CHECK_OK(call_ensure(db, NULL, "l", "{'changeTracking': 'c'}"), &call_error);
    save_text(db, "{'_id': 1, 'n': 1}");
    CHECK_TEXT("{ \"_id\" : 1 }", noted(db));
    CHECK_OK(call_save(db, NULL, "l", TANSU_SAVE, "{'_id': 1, 'n': 2}"), &call_error);
    CHECK_OK(call_save(db, NULL, "l", TANSU_SAVE, "{'_id': 2, 'n': 2}"), &call_error);
    CHECK_TEXT("{ \"_id\" : 1, \"n\" : 1 } { \"_id\" : 2 }",
               call_find(db, NULL, "c", "{}", "{'$orderby': {'_id': 1}}"));
    CHECK_OK(call_remove(db, NULL, "c", "{}", NULL), &call_error);
    CHECK_TEXT("{ \"_id\" : 1, \"n\" : 2 } { \"_id\" : 2, \"n\" : 2 }", noted(db));
    CHECK_OK(call_remove(db, NULL, "l", "{}", NULL), &call_error);
    CHECK_INT(2, call_count(db, NULL, "c", "{}"));
    CHECK(maintenance_clean(db));
    call_close(db);
}

static void collections_are_renamed_and_dropped(void) {
    tansu_db *db = tracked();
    save_text(db, "{'_id': 1}");
    /* The list that has been renamed gets no more; another of that name is made. */
    CHECK_OK(tansu_collection_rename(db, NULL, "l", "old", &call_error), &call_error);
    save_text(db, "{'_id': 2}");
    CHECK_TEXT("{ \"_id\" : 2 }", noted(db));
    CHECK_OK(tansu_collection_drop(db, NULL, "l", &call_error), &call_error);
    save_text(db, "{'_id': 3}");
    CHECK_TEXT("{ \"_id\" : 3 }", noted(db));
    /* A collection that is renamed keeps its list, and one that is dropped is not noted. */
    CHECK_OK(tansu_collection_rename(db, NULL, "c", "d", &call_error), &call_error);
    CHECK_OK(call_save(db, NULL, "d", TANSU_SAVE, "{'_id': 4}"), &call_error);
    save_text(db, "{'_id': 5}");
    CHECK_TEXT("{ \"_id\" : 3 } { \"_id\" : 4 }", noted(db));
    empty(db);
    CHECK_OK(tansu_collection_drop(db, NULL, "d", &call_error), &call_error);
    CHECK_TEXT("", noted(db));
    CHECK_TEXT("{ \"_id\" : 1 }", call_find(db, NULL, "old", "{}", NULL));
    CHECK(maintenance_clean(db));
    call_close(db);
}

static void a_collection_does_not_become_its_own_list(void) {
    tansu_db *db = tracked();
    save_text(db, "{'_id': 1}");
    CHECK_OK(tansu_collection_drop(db, NULL, "l", &call_error), &call_error);
    CHECK_STATUS(TANSU_E_INVALID_NAME, tansu_collection_rename(db, NULL, "c", "l", &call_error));
    CHECK_TEXT("l", call_error.context);
    CHECK_INT(1, call_count(db, NULL, "c", "{}"));
    CHECK_OK(call_ensure(db, NULL, "c", "{'changeTracking': false}"), &call_error);
    CHECK_OK(tansu_collection_rename(db, NULL, "c", "l", &call_error), &call_error);
    call_close(db);
}

/* Children that go with a collection that is dropped are noted, also when it is their list. */
static void delete_rules_of_a_dropped_collection(void) {
    tansu_db *db = tracked();
    CHECK_OK(call_ensure(db, NULL, "c",
                         "{'references': [{'path': 'p', 'to': 'c', 'onDelete': 'cascade'}]}"),
             &call_error);
    CHECK_OK(call_ensure(db, NULL, "d",
                         "{'changeTracking': 'm', 'references': [{'path': 'p', 'to': 'c', "
                         "'onDelete': 'cascade'}]}"),
             &call_error);
    CHECK_OK(call_ensure(db, NULL, "e",
                         "{'changeTracking': 'c', 'references': [{'path': 'p', 'to': 'c', "
                         "'onDelete': 'nullify'}]}"),
             &call_error);
    CHECK_OK(call_save(db, NULL, "c", TANSU_COPY, "{'_id': 1, 'p': 2}"), &call_error);
    CHECK_OK(call_save(db, NULL, "c", TANSU_COPY, "{'_id': 2}"), &call_error);
    CHECK_OK(call_save(db, NULL, "d", TANSU_COPY, "{'_id': 3, 'p': 1}"), &call_error);
    CHECK_OK(call_save(db, NULL, "e", TANSU_COPY, "{'_id': 4, 'p': 1}"), &call_error);
    CHECK_OK(tansu_collection_drop(db, NULL, "c", &call_error), &call_error);
    CHECK_TEXT("", noted(db));
    CHECK_TEXT("{ \"_id\" : 3 }", call_find(db, NULL, "m", "{}", NULL));
    CHECK_TEXT("NOT_FOUND", call_collection(db, NULL, "c"));
    CHECK(maintenance_clean(db));
    call_close(db);
}

static void generated_ids_are_noted_and_returned(void) {
    tansu_db *db = tracked();
    CHECK_OK(call_ensure(db, NULL, "c", "{'timestamps': true}"), &call_error);
    CHECK_OK(call_index(db, NULL, "c", "n", "{'n': 1}", NULL), &call_error);
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    bson_t *doc = bson_from_text("{'n': 1}");
    const tansu_document list[] = {document_of(doc), document_of(doc)};
    tansu_buffer ids = TANSU_BUFFER_INIT;
    CHECK_OK(tansu_save(db, txn, "c", list, 2, TANSU_SAVE, &ids, &call_error), &call_error);
    CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
    bson_t answer;
    bson_iter_t iter, at;
    REQUIRE(bson_init_static(&answer, ids.data, ids.size));
    REQUIRE(bson_iter_init_find(&iter, &answer, "ids") && bson_iter_recurse(&iter, &at));
    while (bson_iter_next(&at)) {
        bson_t key = BSON_INITIALIZER;
        BSON_APPEND_OID(&key, "_id", bson_iter_oid(&at));
        tansu_buffer got = TANSU_BUFFER_INIT;
        CHECK_OK(tansu_get(db, NULL, "c", document_of(&key), &got, &call_error), &call_error);
        CHECK_OK(tansu_get(db, NULL, "l", document_of(&key), &got, &call_error), &call_error);
        CHECK_BYTES(bson_get_data(&key), key.len, got.data, got.size);
        tansu_buffer_free(&got);
        bson_destroy(&key);
    }
    CHECK_INT(2, call_count(db, NULL, "l", "{}"));
    tansu_buffer_free(&ids);
    bson_destroy(doc);
    call_close(db);
}

/* ---- Copies ---- */

static void copies_note_nothing_and_go_on(void) {
    char *folder = folder_new();
    tansu_db *db = call_open(path_in(folder, "db"));
    CHECK_OK(call_ensure(db, NULL, "c", "{'changeTracking': 'z'}"), &call_error);
    CHECK_OK(call_ensure(db, NULL, "c", "{'changeTracking': 'l'}"), &call_error);
    CHECK_OK(call_ensure(db, NULL, "n", "{'changeTracking': 'new'}"), &call_error);
    CHECK_OK(call_save(db, NULL, "n", TANSU_COPY, "{'_id': 1}"), &call_error);
    save_text(db, "{'_id': 1}");
    empty(db);
    save_text(db, "{'_id': 2}");
    CHECK_OK(call_remove_id(db, NULL, "c", "{'_id': 2}", NULL), &call_error);
    char expected[1000], collections[1000];
    snprintf(expected, sizeof expected, "%s", noted(db));
    CHECK_TEXT("{ \"_id\" : 2 }", expected);
    snprintf(collections, sizeof collections, "%s", call_collections(db, NULL));
    tansu_db *copies[COPIES];
    copies_open(db, folder, "db", copies);
    for (int i = 0; i < COPIES; i++) {
        CHECK_TEXT(collections, call_collections(copies[i], NULL));
        CHECK_TEXT(expected, noted(copies[i]));
        save_text(copies[i], "{'_id': 9}");
        CHECK_TEXT("{ \"_id\" : 2 } { \"_id\" : 9 }", noted(copies[i]));
        CHECK(maintenance_clean(copies[i]));
        call_close(copies[i]);
    }
    folder_end(folder);
}

/* ---- At random ---- */

/* The `_id`s that documents of a random test may have, as JSON; some numbers in two types. */
static const char *const id_texts[][2] = {
    {"1", "{'$numberDouble': '1.0'}"},
    {"-7", "{'$numberLong': '-7'}"},
    {"{'$numberDecimal': '2.5'}", "2.5"},
    {"{'$numberLong': '9007199254740993'}", NULL},
    {"'a'", NULL},
    {"''", NULL},
    {"{'$oid': '5f3c00000000000000000001'}", NULL},
    {"{'$binary': {'base64': 'AQID', 'subType': '00'}}", NULL},
    {"{'$binary': {'base64': '', 'subType': '05'}}", NULL},
    {"{'$date': {'$numberLong': '5'}}", NULL},
    {"true", NULL},
    {"{'x': 1, 'y': [1, {'z': ''}]}", NULL},
    {"{}", NULL},
    {"{'$timestamp': {'t': 1, 'i': 2}}", NULL},
    {"{'$minKey': 1}", NULL},
};
enum { IDS = sizeof id_texts / sizeof *id_texts, COLLECTIONS = 2, DEPTH = 4 };

static const char *const names[COLLECTIONS] = {"c", "d"};
static const char *const lists[COLLECTIONS] = {"l", "m"};

/* What is stored, and what the lists should have. */
typedef struct world_state {
    uint64_t documents[COLLECTIONS][IDS]; /* a hash of the bytes; 0: none */
    bool noted[COLLECTIONS][IDS];
} world_state;

/* A random test. */
typedef struct world {
    random_source r;
    tansu_db *db;
    tansu_txn *txn; /* or NULL */
    char *folder;   /* NULL: in memory */
    int made;       /* databases in the folder */
    int counter;    /* in every document that is saved: no save leaves one as it was */
    world_state now;
} world;

static bson_t *keys[IDS];

static void make_keys(void) {
    for (int i = 0; i < IDS; i++) {
        char text[200];
        snprintf(text, sizeof text, "{'_id': %s}", id_texts[i][0]);
        keys[i] = bson_from_text(text);
    }
}

static void free_keys(void) {
    for (int i = 0; i < IDS; i++)
        bson_destroy(keys[i]);
}

/* random_id -- the text of one. */
static const char *random_id(world *w) {
    const char *const *texts = id_texts[random_below(&w->r, IDS)];
    return texts[1] != NULL && random_chance(&w->r, 50) ? texts[1] : texts[0];
}

/* hash_of -- of the document with an `_id`; 0: there is none. */
static uint64_t hash_of(world *w, const char *collection, int id) {
    tansu_buffer got = TANSU_BUFFER_INIT;
    uint64_t hash = 0;
    tansu_status status = tansu_get(w->db, w->txn, collection, document_of(keys[id]), &got, NULL);
    CHECK(status == TANSU_OK || status == TANSU_E_NOT_FOUND);
    if (status == TANSU_OK) {
        hash = 14695981039346656037u;
        for (size_t i = 0; i < got.size; i++)
            hash = (hash ^ got.data[i]) * 1099511628211u;
    }
    tansu_buffer_free(&got);
    return hash;
}

/* compare -- notes in the model what has changed since the last comparison, unless it was copied,
 * and checks the lists. */
static bool compare(world *w, bool copied) {
    const uint64_t failures = check_failures();
    for (int c = 0; c < COLLECTIONS; c++) {
        int count = 0;
        for (int i = 0; i < IDS; i++) {
            const uint64_t hash = hash_of(w, names[c], i);
            if (hash != w->now.documents[c][i] && !copied)
                w->now.noted[c][i] = true;
            w->now.documents[c][i] = hash;
            if (!CHECK_INT(w->now.noted[c][i], hash_of(w, lists[c], i) != 0))
                check_note("%s, _id %s", lists[c], id_texts[i][0]);
            count += w->now.noted[c][i];
        }
        CHECK_INT(count, call_count(w->db, w->txn, lists[c], "{}"));
    }
    return check_failures() == failures;
}

/* random_document -- with an `_id` and references. */
static const char *random_document(world *w) {
    static char text[3][600];
    char *result = text[w->counter % 3];
    int size = snprintf(result, sizeof *text, "{'_id': %s, 'n': %d", random_id(w), w->counter++);
    for (const char *path = "pqrs"; *path != '\0'; path++)
        if (random_chance(&w->r, 25))
            size += snprintf(result + size, sizeof *text - (size_t)size, ", '%c': [%s, 5]", *path,
                             random_id(w));
    if (random_chance(&w->r, 20))
        size += snprintf(result + size, sizeof *text - (size_t)size, ", 't': 'text'");
    snprintf(result + size, sizeof *text - (size_t)size, "}");
    return result;
}

/* random_query -- of some documents. */
static const char *random_query(world *w) {
    static char text[400];
    if (random_chance(&w->r, 50))
        snprintf(text, sizeof text, "{'_id': {'$in': [%s, %s]}", random_id(w), random_id(w));
    else
        snprintf(text, sizeof text, "{'n': {'$gt': %d}", w->counter - 8);
    return text;
}

static void save_some(world *w, const char *collection, tansu_save_mode mode) {
    bson_t *docs[3];
    tansu_document list[3];
    const size_t count = 1 + random_below(&w->r, 3);
    for (size_t i = 0; i < count; i++) {
        docs[i] = i == 2 && random_chance(&w->r, 20)
                      ? bson_from_text("{'_id': {'$undefined': true}}")
                      : bson_from_text(random_document(w));
        list[i] = document_of(docs[i]);
    }
    tansu_save(w->db, w->txn, collection, list, count, mode, NULL, &call_error);
    for (size_t i = 0; i < count; i++)
        bson_destroy(docs[i]);
}

static void update_some(world *w, const char *collection) {
    char query[500], operations[200];
    if (random_chance(&w->r, 25))
        snprintf(query, sizeof query, "{'_id': %s, '$upsert': true}", random_id(w));
    else
        snprintf(query, sizeof query, "%s%s", random_query(w),
                 random_chance(&w->r, 25) ? ", '$dropall': true}" : "}");
    const int n = w->counter++;
    switch (random_below(&w->r, 4)) {
    case 0:
        snprintf(operations, sizeof operations, "{'$inc': {'t': 1}, '$set': {'n': %d}}", n);
        break;
    case 1: snprintf(operations, sizeof operations, "{'$unset': {'nothing': 1}}"); break;
    default: snprintf(operations, sizeof operations, "{'$set': {'n': %d}}", n);
    }
    bson_t *q = bson_from_text(query), *u = bson_from_text(operations);
    if (random_chance(&w->r, 60)) {
        tansu_update(w->db, w->txn, collection, document_of(q), document_of(u), TANSU_NO_DOCUMENT,
                     NULL, &call_error);
    } else {
        tansu_modify_mode mode = (tansu_modify_mode)random_below(&w->r, 3);
        tansu_find_and_modify(w->db, w->txn, collection, document_of(q),
                              mode == TANSU_MODIFY_REMOVE ? TANSU_NO_DOCUMENT : document_of(u),
                              TANSU_NO_DOCUMENT, mode, NULL, &call_error);
    }
    bson_destroy(q);
    bson_destroy(u);
}

/* command_some -- in JSON, in a transaction of its own; or a load. */
static void command_some(world *w, const char *collection) {
    static const char *const modes[] = {"save", "insert", "skip"};
    char text[2000];
    if (random_chance(&w->r, 30)) {
        int size = snprintf(text, sizeof text, "%s\n", random_document(w));
        size += snprintf(text + size, sizeof text - (size_t)size, "%s\n", random_document(w));
        for (char *p = text; *p != '\0'; p++)
            *p = *p == '\'' ? '"' : *p;
        char options[100];
        snprintf(options, sizeof options, "{'collection': '%s', 'mode': '%s', 'atomic': %s}",
                 collection, modes[random_below(&w->r, 3)],
                 random_chance(&w->r, 50) ? "true" : "false");
        load_text(w->db, text, (size_t)size, options);
    } else if (random_chance(&w->r, 25)) {
        snprintf(text, sizeof text, "{'op': 'remove', 'collection': '%s', 'query': %s}}",
                 collection, random_query(w));
        execute(w->db, text);
    } else if (random_chance(&w->r, 50)) {
        snprintf(text, sizeof text, "{'op': '%s', 'collection': '%s', 'documents': [%s, %s]}",
                 modes[random_below(&w->r, 2)], collection, random_document(w), random_document(w));
        execute(w->db, text);
    } else {
        snprintf(text, sizeof text,
                 "{'op': 'transaction', 'commands': [{'op': 'save', 'collection': '%s', "
                 "'documents': [%s]}, {'op': 'update', 'collection': '%s', 'query': %s}, "
                 "'update': {'$set': {'n': %d}}}, {'op': '%s'}]}",
                 collection, random_document(w), collection, random_query(w), w->counter++,
                 random_chance(&w->r, 70) ? "collections" : "nothing");
        execute(w->db, text);
    }
}

/* follow -- takes what is noted, or a part of it, from a list. */
static void follow(world *w) {
    const int c = (int)random_below(&w->r, COLLECTIONS);
    const int id = random_chance(&w->r, 50) ? (int)random_below(&w->r, IDS) : -1;
    if (id >= 0)
        CHECK_OK(tansu_remove_id(w->db, w->txn, lists[c], document_of(keys[id]), NULL, &call_error),
                 &call_error);
    else
        CHECK_OK(call_remove(w->db, w->txn, lists[c], "{}", NULL), &call_error);
    for (int i = 0; i < IDS; i++)
        if (id < 0 || i == id)
            w->now.noted[c][i] = false;
}

/* step -- one call. Whether what it saved was copied. */
static bool step(world *w) {
    const char *collection = names[random_below(&w->r, COLLECTIONS)];
    char text[500];
    switch (random_below(&w->r, 9)) {
    case 0: save_some(w, collection, TANSU_COPY); return true;
    case 1:
    case 2: save_some(w, collection, (tansu_save_mode)random_below(&w->r, 3)); break;
    case 3:
    case 4: update_some(w, collection); break;
    case 5:
        snprintf(text, sizeof text, "%s}", random_query(w));
        call_remove(w->db, w->txn, collection, text, NULL);
        break;
    case 6:
        snprintf(text, sizeof text, "{'_id': %s}", random_id(w));
        call_remove_id(w->db, w->txn, collection, text, NULL);
        break;
    case 7: follow(w); break;
    default:
        if (w->txn == NULL)
            command_some(w, collection);
    }
    return false;
}

/* in_transaction -- some steps in one, with savepoints. */
static void in_transaction(world *w) {
    world_state saved[DEPTH];
    int depth = 0;
    saved[depth++] = w->now;
    w->txn = call_begin(w->db, TANSU_TXN_WRITE);
    for (uint64_t steps = 1 + random_below(&w->r, 8); steps > 0; steps--) {
        if (depth < DEPTH && random_chance(&w->r, 30)) {
            CHECK_OK(tansu_savepoint_begin(w->txn, &call_error), &call_error);
            saved[depth++] = w->now;
        }
        if (!compare(w, step(w)))
            break;
        if (depth > 1 && random_chance(&w->r, 30)) {
            depth--;
            if (random_chance(&w->r, 50)) {
                CHECK_OK(tansu_savepoint_roll_back(w->txn, &call_error), &call_error);
                w->now = saved[depth];
            } else {
                CHECK_OK(tansu_savepoint_release(w->txn, &call_error), &call_error);
            }
        }
    }
    tansu_txn *txn = w->txn;
    w->txn = NULL;
    if (random_chance(&w->r, 70)) {
        CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
    } else {
        tansu_txn_abort(txn);
        w->now = saved[0];
    }
}

/* next_path -- of another database of the world. */
static const char *next_path(world *w) {
    char name[20];
    snprintf(name, sizeof name, "%d", ++w->made);
    return folder_join(w->folder, name);
}

/* replace -- goes on with a copy of the database, or with itself after a restart. */
static void replace(world *w) {
    char path[400], to[400];
    snprintf(path, sizeof path, "%s/%d", w->folder, w->made);
    snprintf(to, sizeof to, "%s", next_path(w));
    tansu_options options = call_options(to);
    tansu_db *copy = NULL;
    switch (random_below(&w->r, 6)) {
    case 0: folder_copy(path, to); break; /* as after the process was killed */
    case 1:
        CHECK_OK(tansu_clone(w->db, &options, NULL, NULL, &copy, &call_error), &call_error);
        call_close(copy);
        break;
    case 2: CHECK_OK(backup(w->db, to, TANSU_BACKUP_FOLDER), &call_error); break;
    case 3:
        call_close(w->db);
        w->db = NULL;
        CHECK_OK(maintenance_repair(path, to), &call_error);
        break;
    case 4:
        CHECK_OK(tansu_checkpoint(w->db, &call_error), &call_error);
        w->made--;
        return;
    default:
        CHECK_OK(tansu_compact(w->db, NULL, NULL, NULL, &call_error), &call_error);
        w->made--;
        return;
    }
    if (w->db != NULL)
        call_close(w->db);
    w->db = call_open(to);
}

/* declare -- both collections' lists, and references between them. */
static void declare(world *w) {
    static const char *const rules[] = {"cascade", "nullify", "deny", "ignore"};
    for (int c = 0; c < COLLECTIONS; c++) {
        char text[500];
        snprintf(text, sizeof text,
                 "{'changeTracking': '%s', 'timestamps': %s, 'references': ["
                 "{'path': 'p', 'to': 'c', 'onDelete': '%s'}, "
                 "{'path': 'q', 'to': 'd', 'onDelete': '%s'}, "
                 "{'path': 'r', 'to': '%s', 'onDelete': 'cascade'}]}",
                 lists[c], random_chance(&w->r, 30) ? "true" : "false",
                 rules[random_below(&w->r, 4)], rules[random_below(&w->r, 4)],
                 names[random_below(&w->r, COLLECTIONS)]);
        CHECK_OK(call_ensure(w->db, NULL, names[c], text), &call_error);
        if (random_chance(&w->r, 30))
            CHECK_OK(call_index(w->db, NULL, lists[c], "x", "{'_id': -1, 'y': 1}", NULL),
                     &call_error);
        if (random_chance(&w->r, 30))
            CHECK_OK(call_index(w->db, NULL, names[c], "p", "{'p': 1}", NULL), &call_error);
    }
}

/* live -- one world: a database, and calls of all kinds. */
static void live(uint64_t number, bool stored, int calls) {
    world w = {.r = random_start(number), .folder = stored ? folder_new() : NULL};
    const uint64_t failures = check_failures();
    w.db = stored ? call_open(next_path(&w)) : memory_db_open();
    declare(&w);
    for (int i = 0; i < calls && check_failures() == failures; i++) {
        if (random_chance(&w.r, 25))
            in_transaction(&w);
        else
            compare(&w, step(&w));
        if (stored && random_chance(&w.r, 8))
            replace(&w);
    }
    compare(&w, false);
    CHECK(maintenance_clean(w.db));
    call_close(w.db);
    if (stored)
        folder_end(w.folder);
}

static void the_lists_are_those_of_a_model(void) {
    make_keys();
    const uint64_t rounds = random_rounds("TANSU_ROUNDS", 16);
    for (uint64_t i = 0; i < rounds; i++)
        live(i, i % 4 == 3, 120);
    free_keys();
}

/* ---- Out of memory ---- */

/* A call that notes two changes of "c". */
typedef enum noting { NOTING_SAVE, NOTING_REMOVE_ID, NOTING_REMOVE, NOTING_LOAD, NOTINGS } noting;

static tansu_status attempt(tansu_db *db, tansu_txn *txn, noting call, tansu_document doc,
                            tansu_document other, tansu_document options) {
    static const char lines[] = "{\"_id\": 1}\n{\"_id\": 2, \"n\": 1}\n";
    const tansu_document list[] = {doc, other};
    switch (call) {
    case NOTING_SAVE: return tansu_save(db, txn, "c", list, 2, TANSU_SAVE, NULL, &call_error);
    case NOTING_REMOVE_ID: return tansu_remove_id(db, txn, "c", other, NULL, &call_error);
    case NOTING_REMOVE:
        return tansu_remove(db, txn, "c", other, TANSU_NO_DOCUMENT, NULL, &call_error);
    default: return load_bytes(db, lines, sizeof lines - 1, options);
    }
}

/* try_noting -- a call with an allocation that fails, on its own or in a transaction that is
 * committed if it can be: what it changed, and only that, is noted. Whether one failed. */
static bool try_noting(tansu_db *db, bool on_its_own, noting call, unsigned nth,
                       const bson_t *const documents[3]) {
    tansu_txn *txn = on_its_own ? NULL : call_begin(db, TANSU_TXN_WRITE);
    fault_start(FAULT_MEMORY, nth, false, 0);
    tansu_status status = attempt(db, txn, call, document_of(documents[0]),
                                  document_of(documents[1]), document_of(documents[2]));
    const bool met = fault_occurred();
    fault_stop();
    CHECK(status == TANSU_OK || (met && status == TANSU_E_MEMORY));
    if (txn != NULL)
        CHECK(tansu_txn_commit(txn, NULL, &call_error) == TANSU_OK || status != TANSU_OK);
    const bool inserted = call_count(db, NULL, "c", "{'_id': 1}") == 1;
    const bool changed = call_count(db, NULL, "c", "{'_id': 2, 'n': 0}") == 0;
    if (status == TANSU_OK || call != NOTING_LOAD)
        CHECK(changed == (status == TANSU_OK));
    CHECK_INT(inserted, call_count(db, NULL, "l", "{'_id': 1}"));
    CHECK_INT(changed, call_count(db, NULL, "l", "{'_id': 2}"));
    CHECK_INT(inserted + changed, call_count(db, NULL, "l", "{}"));
    return met;
}

/* try_option -- the same of a call that sets the option. */
static bool try_option(tansu_db *db, unsigned nth, const bson_t *option) {
    fault_start(FAULT_MEMORY, nth, false, 0);
    tansu_status status = tansu_collection_ensure(db, NULL, "c", document_of(option), &call_error);
    const bool met = fault_occurred();
    fault_stop();
    CHECK(status == TANSU_OK || (met && status == TANSU_E_MEMORY));
    CHECK((strstr(call_collection(db, NULL, "c"), "\"m\"") != NULL) == (status == TANSU_OK));
    return met;
}

static void a_failed_allocation_leaves_all_or_nothing(void) {
    if (!fault_has_memory()) {
        check_skip("allocations cannot be made to fail here");
        return;
    }
    bson_t *documents[] = {bson_from_text("{'_id': 1, 'n': 1}"), bson_from_text("{'_id': 2}"),
                           bson_from_text("{'collection': 'c', 'mode': 'save'}"),
                           bson_from_text("{'changeTracking': 'm'}")};
    const bson_t *const arguments[3] = {documents[0], documents[1], documents[2]};
    for (int call = 0; call < 2 * NOTINGS - 1; call++) {
        bool met = true;
        for (unsigned nth = 1; met; nth++) {
            tansu_db *db = tracked();
            CHECK_OK(call_save(db, NULL, "c", TANSU_COPY, "{'_id': 2, 'n': 0}"), &call_error);
            CHECK_OK(call_index(db, NULL, "c", "n", "{'n': 1}", NULL), &call_error);
            met = try_noting(db, call < NOTINGS, (noting)(call % NOTINGS), nth, arguments);
            met = try_option(db, nth, documents[3]) || met;
            CHECK(maintenance_clean(db));
            call_close(db);
        }
    }
    for (size_t i = 0; i < sizeof documents / sizeof *documents; i++)
        bson_destroy(documents[i]);
}

int main(void) {
    RUN(the_option_is_told_changed_and_ended);
    RUN(bad_options_are_refused);
    RUN(a_failed_note_fails_the_save);
    RUN(the_list_is_a_collection);
    RUN(a_cycle_ends);
    RUN(collections_are_renamed_and_dropped);
    RUN(a_collection_does_not_become_its_own_list);
    RUN(delete_rules_of_a_dropped_collection);
    RUN(generated_ids_are_noted_and_returned);
    RUN(copies_note_nothing_and_go_on);
    RUN(the_lists_are_those_of_a_model);
    RUN(a_failed_allocation_leaves_all_or_nothing);
    return check_finish();
}
