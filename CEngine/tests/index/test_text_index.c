/*
 * test_text_index.c -- indexes of words: what they may be defined as, and that their entries are
 * those of the documents after random changes in transactions of all sizes, over restarts, kills of
 * a copied folder, repair and rebuilds. verify compares what the tree has with what the documents
 * make, document by document.
 */
#include "support/calls/call.h"
#include "support/calls/maintenance_calls.h"
#include "support/calls/query_calls.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/random/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tansu_db *db;

static void definitions_are_checked(void) {
    static const definition_case cases[] = {
        {TANSU_OK, "{'a':'text'}", NULL, NULL},
        {TANSU_OK, "{'a':'text','b.c':'text'}", "{'weights':{'b.c':5}}", NULL},
        {TANSU_OK, "{'**':'text'}", "{'partialFilter':{'a':1}}", NULL},
        {TANSU_OK, "{'a':'text'}", "{'languageField':'l','positions':false}", NULL},
        {TANSU_OK, "{'a':'text'}", "{'language':'none'}", NULL},
        {TANSU_E_INVALID_INDEX, "{'a':'words'}", NULL, "a"},
        {TANSU_E_INVALID_INDEX, "{'a':'text','b':1}", NULL, "b"},
        {TANSU_E_INVALID_INDEX, "{'a':1,'b':'text'}", NULL, "a"},
        {TANSU_E_INVALID_INDEX, "{'a':'text','a':'text'}", NULL, "a"},
        {TANSU_E_INVALID_INDEX, "{'**':'text','a':'text'}", NULL, "**"},
        {TANSU_E_INVALID_INDEX, "{'a.**':'text'}", NULL, "a.**"},
        {TANSU_E_INVALID_INDEX, "{'$a':'text'}", NULL, "$a"},
        {TANSU_E_INVALID_INDEX, "{'a':'text'}", "{'unique':true}", "unique"},
        {TANSU_E_INVALID_INDEX, "{'a':'text'}", "{'sparse':true}", "sparse"},
        {TANSU_E_INVALID_INDEX, "{'a':'text'}", "{'maxEntries':5}", "maxEntries"},
        {TANSU_E_INVALID_INDEX, "{'a':'text'}", "{'weights':{'b':2}}", "b"},
        {TANSU_E_INVALID_INDEX, "{'a':'text'}", "{'weights':{'a':0}}", "a"},
        {TANSU_E_INVALID_INDEX, "{'a':'text'}", "{'weights':{'a':1001}}", "a"},
        {TANSU_E_INVALID_INDEX, "{'a':'text'}", "{'weights':3}", "weights"},
        {TANSU_E_INVALID_INDEX, "{'a':'text'}", "{'language':''}", "language"},
        {TANSU_E_INVALID_INDEX, "{'a':'text'}", "{'language':1}", "language"},
        {TANSU_E_INVALID_INDEX, "{'a':'text'}", "{'languageField':'**'}", "languageField"},
        {TANSU_E_INVALID_INDEX, "{'a':'text'}", "{'positions':'yes'}", "positions"},
        {TANSU_E_INVALID_INDEX, "{'a':1}", "{'weights':{'a':1}}", "weights"},
    };
    check_definitions(cases, sizeof cases / sizeof *cases);
}

static void definitions_are_listed_and_compared(void) {
    db = memory_db_open();
    CHECK_OK(call_index(db, NULL, "c", "", "{'t':'text','b':'text'}",
                        "{'weights':{'t':3,'b':1},'positions':false,'languageField':'l.m'}"),
             &call_error);
    CHECK_TEXT("{ \"indexes\" : [ { \"name\" : \"t_text_b_text\", \"keys\" : { \"t\" : \"text\", "
               "\"b\" : \"text\" }, \"unique\" : false, \"weights\" : { \"t\" : 3 }, "
               "\"languageField\" : \"l.m\", \"positions\" : false, \"multikey\" : false, "
               "\"entries\" : 0 } ] }",
               call_indexes(db, NULL, "c"));
    CHECK_OK(call_index(db, NULL, "c", "", "{'t':'text','b':'text'}",
                        "{'weights':{'t':3},'positions':false,'languageField':'l.m'}"),
             &call_error);
    CHECK_STATUS(TANSU_E_EXISTS, call_index(db, NULL, "c", "t_text_b_text", "{'t':'text'}", NULL));
    memory_db_close(db);
}

/* ---- Random changes ---- */

#define DOCUMENTS 3000

/* put_words -- appends a text of up to `most` words, common ones more often. */
static void put_words(random_source *r, char *text, size_t most) {
    size_t count = random_below(r, most), used = 0;
    text[0] = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t word = random_below(r, random_below(r, 400) + 1);
        static const char *const signs[] = {" ", ", ", "-", " ", ". ", "_"};
        used += (size_t)sprintf(text + used, "%s%s%u", i == 0 ? "" : signs[random_below(r, 6)],
                                word % 7 == 0 ? "\xE6\x9D\xB1\xE4\xBA\xAC" : "w", (unsigned)word);
    }
}

/* document_of_words -- a document, the fields of which are there or not; to be destroyed. */
static bson_t *document_of_words(random_source *r, int id) {
    static char text[8192];
    bson_t *doc = bson_new();
    BSON_APPEND_INT32(doc, "_id", id);
    BSON_APPEND_INT32(doc, "n", (int)random_below(r, 3));
    if (random_chance(r, 90)) {
        put_words(r, text, random_chance(r, 5) ? 300 : 20);
        BSON_APPEND_UTF8(doc, "a", text);
    }
    if (random_chance(r, 50)) {
        bson_t array;
        char key[12];
        BSON_APPEND_ARRAY_BEGIN(doc, "b", &array);
        for (int i = 0, count = (int)random_below(r, 4); i < count; i++) {
            snprintf(key, sizeof key, "%d", i);
            if (random_chance(r, 20)) {
                BSON_APPEND_INT32(&array, key, i);
                continue;
            }
            put_words(r, text, 10);
            BSON_APPEND_UTF8(&array, key, text);
        }
        bson_append_array_end(doc, &array);
    }
    if (random_chance(r, 30)) {
        bson_t inner;
        BSON_APPEND_DOCUMENT_BEGIN(doc, "c", &inner);
        put_words(r, text, 5);
        BSON_APPEND_UTF8(&inner, "d", text);
        bson_append_document_end(doc, &inner);
    }
    return doc;
}

/* change -- one random change in a transaction. */
static void change(random_source *r, tansu_txn *txn) {
    int id = (int)random_below(r, DOCUMENTS);
    int64_t removed;
    if (random_chance(r, 25)) {
        char text[32];
        snprintf(text, sizeof text, "{'_id':%d}", id);
        CHECK_OK(call_remove(db, txn, "c", text, &removed), &call_error);
        return;
    }
    bson_t *doc = document_of_words(r, id);
    CHECK_OK(call_save_bson(db, txn, "c", TANSU_SAVE, doc), &call_error);
    bson_destroy(doc);
}

/* transaction -- some changes, part of which a savepoint takes back, or all. */
static void transaction(random_source *r) {
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    uint64_t count = random_chance(r, 60) ? 1 : random_below(r, random_chance(r, 10) ? 700 : 30);
    for (uint64_t i = 0; i < count; i++) {
        change(r, txn);
        if (!random_chance(r, 10))
            continue;
        CHECK_OK(tansu_savepoint_begin(txn, &call_error), &call_error);
        change(r, txn);
        change(r, txn);
        CHECK_OK(random_chance(r, 50) ? tansu_savepoint_roll_back(txn, &call_error)
                                      : tansu_savepoint_release(txn, &call_error),
                 &call_error);
    }
    if (random_chance(r, 10))
        tansu_txn_abort(txn);
    else
        CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
}

static void entries_are_those_of_the_documents(void) {
    static const struct {
        const char *keys, *options;
    } kinds[] = {
        {"{'a':'text'}", NULL},
        {"{'a':'text','b':'text','c.d':'text'}", "{'weights':{'a':4}}"},
        {"{'**':'text'}", NULL},
        {"{'a':'text','b':'text'}", "{'positions':false,'partialFilter':{'n':{'$gt':0}}}"},
    };
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
        random_source r = random_start(kind);
        char *folder = folder_new();
        const char *path = folder_join(folder, "db");
        char kept[4096], copied[4096];
        snprintf(kept, sizeof kept, "%s", path);
        snprintf(copied, sizeof copied, "%s/copy", folder);
        db = call_open(kept);
        CHECK_OK(call_index(db, NULL, "c", "w", kinds[kind].keys, kinds[kind].options),
                 &call_error);
        uint64_t rounds = random_rounds("TANSU_TEXT_ROUNDS", 12);
        for (uint64_t round = 0; round < rounds; round++) {
            for (int i = 0; i < 12; i++)
                transaction(&r);
            if (round % 8 == 7) {
                call_close(db);
                db = call_open(kept);
            }
            if (round % 10 == 3) { /* as after a kill */
                folder_copy(kept, copied);
                tansu_db *open = db;
                db = call_open(copied);
                transaction(&r);
                maintenance_clean(db);
                call_close(db);
                folder_remove(copied);
                db = open;
            }
            if (round % 12 == 5) {
                CHECK_OK(tansu_index_drop(db, NULL, "c", "w", &call_error), &call_error);
                CHECK_OK(call_index(db, NULL, "c", "w", kinds[kind].keys, kinds[kind].options),
                         &call_error);
            }
            if (round % 20 == 11)
                CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
            if (round % 4 == 1 && !maintenance_clean(db))
                break;
        }
        maintenance_clean(db);
        call_close(db);
        CHECK_OK(maintenance_repair(kept, copied), &call_error);
        db = call_open(copied);
        maintenance_clean(db);
        call_close(db);
        folder_end(folder);
    }
}

int main(void) {
    RUN(definitions_are_checked);
    RUN(definitions_are_listed_and_compared);
    RUN(entries_are_those_of_the_documents);
    return check_finish();
}
