/*
 * test_many_collections.c -- thousands of collections that are created, renamed and dropped, next
 * to a plain list: the live database, snapshots, and what replay makes of the log have the same
 * ones. And index files whose description of the collections is large, or deep, are used again.
 */
#include "support/calls/call.h"
#include "support/calls/maintenance_calls.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/random/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMES 3000

/* For each name the number of the collection that has it, which its document says; 0: none. */
typedef struct model {
    int32_t numbers[NAMES];
    int32_t last;
} model;

/* name_of -- names in no order of their numbers. */
static const char *name_of(uint32_t i) {
    static char names[2][32];
    static int at;
    at = !at;
    snprintf(names[at], sizeof names[at], "%x%u", i * 2654435761u >> 28, i);
    return names[at];
}

/* create -- a collection with a document, if there is none of that name. */
static void create(model *m, tansu_db *db, tansu_txn *txn, uint32_t i) {
    char text[64];
    if (m->numbers[i] != 0)
        return;
    m->numbers[i] = ++m->last;
    snprintf(text, sizeof text, "{'_id':1,'n':%d}", m->last);
    CHECK_OK(call_save(db, txn, name_of(i), TANSU_INSERT, text), &call_error);
}

/* step -- one change of a collection. Dropping and renaming is not possible in a savepoint. */
static void step(model *m, random_source *random, tansu_db *db, tansu_txn *txn, bool savepoint) {
    uint32_t i = (uint32_t)random_below(random, NAMES), to = (uint32_t)random_below(random, NAMES);
    bool there = m->numbers[i] != 0;
    switch (random_below(random, savepoint ? 4 : 10)) {
    case 4:
    case 5:
        CHECK_STATUS(there ? TANSU_OK : TANSU_E_NOT_FOUND,
                     tansu_collection_drop(db, txn, name_of(i), NULL));
        m->numbers[i] = 0;
        break;
    case 6:
    case 7:
        CHECK_STATUS(!there                ? TANSU_E_NOT_FOUND
                     : m->numbers[to] != 0 ? TANSU_E_EXISTS
                                           : TANSU_OK,
                     tansu_collection_rename(db, txn, name_of(i), name_of(to), NULL));
        if (there && m->numbers[to] == 0) {
            m->numbers[to] = m->numbers[i];
            m->numbers[i] = 0;
        }
        break;
    case 8:
        if (there)
            CHECK_OK(call_index(db, txn, name_of(i), "n", "{'n':1}", NULL), &call_error);
        break;
    case 9:
        if (there)
            CHECK_OK(call_ensure(db, txn, name_of(i),
                                 "{'references':[{'path':'r','to':'x','onDelete':'nullify'}]}"),
                     &call_error);
        break;
    default: create(m, db, txn, i);
    }
}

/* transaction -- several changes in one commit, of which some or all are rolled back. */
static void transaction(model *m, random_source *random, tansu_db *db) {
    model before = *m;
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    uint64_t steps = random_below(random, 40);
    for (uint64_t i = 0; i < steps; i++)
        step(m, random, db, txn, false);
    model at_savepoint = *m;
    if (random_chance(random, 30)) {
        CHECK_OK(tansu_savepoint_begin(txn, &call_error), &call_error);
        for (uint64_t i = 0; i < steps; i++)
            step(m, random, db, txn, true);
        if (random_chance(random, 50)) {
            CHECK_OK(tansu_savepoint_roll_back(txn, &call_error), &call_error);
            *m = at_savepoint;
        } else {
            CHECK_OK(tansu_savepoint_release(txn, &call_error), &call_error);
        }
    }
    if (random_chance(random, 25)) {
        tansu_txn_abort(txn);
        *m = before;
    } else {
        CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
    }
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* check_model -- the list of collections is that of the model, and each has its own document. */
static void check_model(const model *m, tansu_db *db, tansu_txn *txn) {
    char *expected[NAMES], text[32];
    uint32_t count = 0, at = 0;
    tansu_buffer list = TANSU_BUFFER_INIT;
    bson_t view;
    bson_iter_t iter, item, name;
    for (uint32_t i = 0; i < NAMES; i++) {
        snprintf(text, sizeof text, "{ \"n\" : %d }", m->numbers[i]);
        CHECK_TEXT(m->numbers[i] == 0 ? "" : text,
                   call_find(db, txn, name_of(i), "{}", "{'$fields':{'n':1,'_id':0}}"));
        if (m->numbers[i] != 0)
            expected[count++] = strdup(name_of(i));
    }
    qsort(expected, count, sizeof *expected, by_text);
    CHECK_OK(tansu_collection_list(db, txn, &list, &call_error), &call_error);
    REQUIRE(bson_init_static(&view, list.data, list.size) &&
            bson_iter_init_find(&iter, &view, "collections") && bson_iter_recurse(&iter, &item));
    for (; bson_iter_next(&item); at++)
        if (bson_iter_recurse(&item, &name) && bson_iter_find(&name, "name") && at < count)
            CHECK_TEXT(expected[at], bson_iter_utf8(&name, NULL));
    CHECK_INT(count, at);
    for (uint32_t i = 0; i < count; i++)
        free(expected[i]);
    tansu_buffer_free(&list);
}

/* reopened -- opens a copy of the files of a database that is open, as a crash leaves them;
 * `indexes`: with its index files. */
static void reopened(const model *m, const char *folder, bool indexes) {
    char *copy = folder_new();
    folder_remove(copy);
    folder_copy(folder, copy);
    if (!indexes)
        folder_remove(folder_join(copy, "index"));
    for (int opening = 0; opening < 2; opening++) {
        tansu_db *db = call_open(copy);
        check_model(m, db, NULL);
        if (opening == 0)
            CHECK(maintenance_clean(db));
        call_close(db);
    }
    char *to = folder_new();
    folder_remove(to);
    CHECK_OK(maintenance_repair(copy, to), &call_error);
    tansu_db *db = call_open(to);
    check_model(m, db, NULL);
    call_close(db);
    folder_end(to);
    folder_end(copy);
}

static void replay_makes_the_same_collections(void) {
    random_source random = random_start(1);
    char *folder = folder_new();
    tansu_db *db = call_open(folder);
    model *m = calloc(2, sizeof *m), *then = m + 1;
    REQUIRE(m != NULL);
    for (uint32_t i = 0; i < NAMES; i++)
        if (random_chance(&random, 60))
            create(m, db, NULL, i);
    for (int round = 0; round < 3; round++) {
        *then = *m;
        tansu_txn *reader = call_begin(db, TANSU_TXN_READ);
        for (int i = 0; i < 40; i++) {
            transaction(m, &random, db);
            step(m, &random, db, NULL, false);
            if (random_chance(&random, 10))
                CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
        }
        check_model(m, db, NULL);
        check_model(then, db, reader);
        tansu_txn_abort(reader);
        reopened(m, folder, round != 1);
        if (round == 1)
            CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
    }
    for (uint32_t i = 0; i < NAMES; i++)
        if (m->numbers[i] != 0)
            CHECK_OK(tansu_collection_drop(db, NULL, name_of(i), &call_error), &call_error);
    memset(m->numbers, 0, sizeof m->numbers);
    reopened(m, folder, true);
    call_close(db);
    free(m);
    folder_end(folder);
}

/* check_used -- the index files of a closed database are used when it is opened again. */
static void check_used(const char *folder) {
    tansu_buffer stats = TANSU_BUFFER_INIT;
    bson_t view;
    bson_iter_t iter;
    tansu_db *db = call_open(folder);
    CHECK_OK(tansu_stats(db, &stats, &call_error), &call_error);
    REQUIRE(bson_init_static(&view, stats.data, stats.size));
    if (!CHECK(!bson_iter_init_find(&iter, &view, "indexesRebuilt")))
        check_note("rebuilt: %s", bson_iter_utf8(&iter, NULL));
    CHECK(maintenance_clean(db));
    tansu_buffer_free(&stats);
    call_close(db);
}

/* add_index -- on path i with a partial filter. */
static tansu_status add_index(tansu_db *db, int i, const bson_t *filter) {
    bson_t keys = BSON_INITIALIZER, options = BSON_INITIALIZER;
    char path[16];
    snprintf(path, sizeof path, "f%d", i);
    BSON_APPEND_INT32(&keys, path, 1);
    BSON_APPEND_DOCUMENT(&options, "partialFilter", filter);
    tansu_status status = tansu_index_create(db, NULL, "c", NULL, document_of(&keys),
                                             document_of(&options), NULL, NULL, &call_error);
    bson_destroy(&keys);
    bson_destroy(&options);
    return status;
}

/* More than a document that is stored may have: 24 indexes with filters of 900 KB. */
static void a_large_description_of_a_collection(void) {
    char *folder = folder_new();
    tansu_db *db = call_open(folder);
    bson_t filter = BSON_INITIALIZER, test, list;
    BSON_APPEND_DOCUMENT_BEGIN(&filter, "q", &test);
    BSON_APPEND_ARRAY_BEGIN(&test, "$in", &list);
    for (int i = 0; i < 80000; i++) {
        char key[12];
        snprintf(key, sizeof key, "%d", i);
        BSON_APPEND_INT32(&list, key, i);
    }
    bson_append_array_end(&test, &list);
    bson_append_document_end(&filter, &test);
    for (int i = 0; i < 24; i++)
        CHECK_OK(add_index(db, i, &filter), &call_error);
    CHECK_OK(call_save(db, NULL, "c", TANSU_INSERT, "{'_id':1,'q':5,'f1':1}"), &call_error);
    call_close(db);
    check_used(folder);
    bson_destroy(&filter);
    folder_end(folder);
}

/* As deep as the options of an index may be. */
static void a_deep_description_of_a_collection(void) {
    char *folder = folder_new();
    tansu_db *db = call_open(folder);
    bson_t *filter = bson_new();
    BSON_APPEND_INT32(filter, "a", 1);
    int deepest = 0;
    for (int depth = 1; depth < 60; depth++) {
        bson_t *outer = bson_new(), list;
        BSON_APPEND_ARRAY_BEGIN(outer, "$or", &list);
        BSON_APPEND_DOCUMENT(&list, "0", filter);
        bson_append_array_end(outer, &list);
        bson_destroy(filter);
        filter = outer;
        if (add_index(db, depth, filter) != TANSU_OK)
            break;
        deepest = depth;
    }
    bson_destroy(filter);
    CHECK(deepest > 40);
    CHECK_OK(call_save(db, NULL, "c", TANSU_INSERT, "{'_id':1,'a':1,'b':2}"), &call_error);
    call_close(db);
    check_used(folder);
    folder_end(folder);
}

/* Each collection has documents in each segment. */
static void many_collections_in_many_segments(void) {
    char *folder = folder_new(), text[512], name[32];
    memset(text, ' ', sizeof text);
    tansu_db *db = call_open(folder);
    for (int round = 0; round < 12; round++) {
        tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
        for (int i = 0; i < 500; i++) {
            snprintf(name, sizeof name, "c%d", i);
            for (int k = 0; k < 8; k++) {
                snprintf(text, sizeof text, "{'_id':%d,'p':'%0400d'}", round * 8 + k, i);
                CHECK_OK(call_save(db, txn, name, TANSU_INSERT, text), &call_error);
            }
        }
        CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
        if (round % 4 == 3)
            CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
    }
    int64_t dead = call_statistic(db, "deadBytes");
    CHECK(call_statistic(db, "logSegments") > 10);
    call_close(db);
    check_used(folder);
    db = call_open(folder);
    CHECK_INT(dead, call_statistic(db, "deadBytes"));
    for (int i = 0; i < 500; i++) {
        snprintf(name, sizeof name, "c%d", i);
        CHECK_OK(tansu_collection_drop(db, NULL, name, &call_error), &call_error);
    }
    CHECK(call_statistic(db, "deadBytes") > 12 * 500 * 8 * 400);
    call_close(db);
    check_used(folder);
    folder_end(folder);
}

int main(void) {
    RUN(replay_makes_the_same_collections);
    RUN(a_large_description_of_a_collection);
    RUN(a_deep_description_of_a_collection);
    RUN(many_collections_in_many_segments);
    return check_finish();
}
