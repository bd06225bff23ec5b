/*
 * test_block_store_older_format.c -- a block store whose META has another format than this version
 * writes, or indexes whose entries follow other rules: it is noticed at opening, and rebuilt from
 * the log.
 */
#include "bson/document.h"
#include "index/block_store/block_store.h"
#include "index/definition.h"
#include "query/plan/partial_filter.h"
#include "store/write_txn/online_index_build.h"
#include "support/calls/call.h"
#include "support/calls/query_calls.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/model/older_blocks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CABINET "index/blocks.tch"

/* The format that is written, the oldest that is read, and one that is not. */
#define FORMAT 4
#define FORMAT_OLDEST 2
#define FORMAT_TOO_OLD 1

static const char query[] = "{'a':{'$in':[1,2]}}";
static const char hints[] = "{'$fields':{'a':1,'_id':0},'$orderby':{'b':-1},'$max':2}";
static const char answer[] = "{ \"a\" : 2 } { \"a\" : 2.0 }";

/* make -- a database of three documents with an index; closed. */
static void make(const char *folder) {
    tansu_db *db = call_open(folder);
    CHECK_OK(call_index(db, NULL, "c", "ab", "{'a':1,'b':1}", NULL), &call_error);
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id':1,'a':1,'b':1}"), &call_error);
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id':2,'a':2.0,'b':2}"), &call_error);
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id':3,'a':2,'b':3}"), &call_error);
    CHECK_TEXT(answer, call_find(db, NULL, "c", query, hints));
    call_close(db);
}

/* member -- where the value of a META's member lies; `inside` is an array of documents whose
 * first one has it, or NULL. */
static uint8_t *member(tansu_buffer *meta, const char *inside, const char *key) {
    doc_value value;
    doc_iter iter;
    const uint8_t *doc = meta->data;
    size_t size = meta->size;
    if (inside) {
        REQUIRE(doc_find(doc, size, inside, strlen(inside), &value));
        REQUIRE(doc_iter_value(&iter, &value) && doc_iter_next(&iter));
        doc = iter.value.data;
        size = iter.value.size;
    }
    REQUIRE(doc_find(doc, size, key, strlen(key), &value));
    return meta->data + (value.data - meta->data);
}

/* rewrite -- says in the META, or in the record of the collections, that the collection has 77
 * documents, and which format it has. */
static void rewrite(const char *folder, int format) {
    block_store *bs;
    tansu_buffer meta = TANSU_BUFFER_INIT, collections = TANSU_BUFFER_INIT;
    tansu_error error;
    CHECK_OK(block_store_open(&fs_system, folder_join(folder, CABINET), 0, &bs, &error), &error);
    CHECK_OK(block_store_get(bs, BLOCK_STORE_META, 0, &meta, &error), &error);
    CHECK_OK(block_store_get(bs, BLOCK_STORE_CATALOG, 0, &collections, &error), &error);
    if (format < FORMAT)
        older_meta(bs, &meta, format);
    member(&meta, NULL, "format")[0] = (uint8_t)format;
    member(format < FORMAT ? &meta : &collections, "collections", "count")[0] = 77;
    CHECK_OK(block_store_begin(bs, &error), &error);
    CHECK_OK(block_store_put(bs, BLOCK_STORE_META, 0, meta.data, meta.size, &error), &error);
    CHECK_OK(
        block_store_put(bs, BLOCK_STORE_CATALOG, 0, collections.data, collections.size, &error),
        &error);
    CHECK_OK(block_store_commit(bs, &error), &error);
    tansu_buffer_free(&collections);
    CHECK_OK(block_store_close(bs, &error), &error);
    tansu_buffer_free(&meta);
}

/* What the META says is believed when this version reads its format; otherwise the log is. */
static void a_block_store_of_another_format_is_rebuilt(void) {
    for (int format = FORMAT_TOO_OLD; format <= FORMAT + 1; format++) {
        bool read = format >= FORMAT_OLDEST && format <= FORMAT;
        char *folder = folder_new();
        make(folder);
        rewrite(folder, format);
        for (int opening = 0; opening < 2; opening++) {
            tansu_db *db = call_open(folder);
            CHECK_INT(read ? 77 : 3, call_count(db, NULL, "c", "{}"));
            CHECK_TEXT(answer, call_find(db, NULL, "c", query, hints));
            call_close(db);
        }
        folder_end(folder);
    }
}

/* Those who may not write to the folder read the log into memory. */
static void read_only_needs_no_block_store(void) {
    char *folder = folder_new();
    make(folder);
    rewrite(folder, FORMAT_TOO_OLD);
    tansu_options options = call_options(folder);
    options.read_only = 1;
    tansu_db *db = call_open_with(&options);
    CHECK_INT(3, call_count(db, NULL, "c", "{}"));
    CHECK_TEXT(answer, call_find(db, NULL, "c", query, hints));
    call_close(db);
    folder_end(folder);
}

/* save_all -- documents from `first` on, so many that both indexes have inner blocks. */
static void save_all(tansu_db *db, int first) {
    char text[64];
    for (int i = first; i < first + 3000; i++) {
        snprintf(text, sizeof text, "{'_id':%d,'a':%d,'b':%d}", i, i % 7, i % 100);
        CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, text), &call_error);
    }
}

/* What rewrite() makes of 3000: the lowest byte is another. */
#define REWRITTEN (3000 / 256 * 256 + 77)

/* Blocks and chunks as the format before this one has them: they are read as they are, whoever
 * opens the database, and those that change are written in the present form next to the others. */
static void blocks_of_the_format_before_are_read(void) {
    char *folder = folder_new();
    tansu_db *db = call_open(folder);
    CHECK_OK(call_index(db, NULL, "c", "ab", "{'a':1,'b':1}", NULL), &call_error);
    save_all(db, 0);
    call_close(db);
    CHECK(older_block_store(folder_join(folder, CABINET)) > 20);
    rewrite(folder, FORMAT_OLDEST);

    tansu_options options = call_options(folder);
    options.read_only = 1;
    db = call_open_with(&options);
    CHECK_INT(REWRITTEN, call_count(db, NULL, "c", "{}")); /* it was not rebuilt */
    CHECK_INT(428, call_count(db, NULL, "c", "{'a':6}"));
    call_close(db);
    for (int opening = 0; opening < 3; opening++) {
        db = call_open(folder);
        CHECK_INT(REWRITTEN + 10 * opening, call_count(db, NULL, "c", "{}"));
        CHECK_INT(opening, call_count(db, NULL, "c", "{'a':-1}"));
        CHECK_INT(1, call_count(db, NULL, "c", "{'_id':2999,'a':3}"));
        for (int i = 0; i < 10; i++) {
            char text[64];
            snprintf(text, sizeof text, "{'_id':%d,'a':%d}", 5000 + 10 * opening + i, -1 - i);
            CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, text), &call_error);
        }
        call_close(db);
    }
    folder_end(folder);
}

/* rules_of -- says in the META that the entries of all indexes follow earlier rules (0: without a
 * word of rules, as the first release wrote it), and that the collection has 77 documents. */
static void rules_of(const char *folder, uint8_t rules) {
    static const char name[] = "entryRules";
    block_store *bs;
    tansu_buffer meta = TANSU_BUFFER_INIT;
    tansu_error error;
    bool found = false;
    CHECK_OK(block_store_open(&fs_system, folder_join(folder, CABINET), 0, &bs, &error), &error);
    CHECK_OK(block_store_get(bs, BLOCK_STORE_META, 0, &meta, &error), &error);
    older_meta(bs, &meta, FORMAT - 1);
    for (size_t i = 0; i + sizeof name < meta.size; i++) {
        if (memcmp(meta.data + i, name, sizeof name) != 0)
            continue;
        if (rules == 0)
            meta.data[i] = '-';
        else
            meta.data[i + sizeof name] = rules;
        found = true;
    }
    CHECK(found);
    member(&meta, "collections", "count")[0] = 77;
    CHECK_OK(block_store_begin(bs, &error), &error);
    CHECK_OK(block_store_put(bs, BLOCK_STORE_META, 0, meta.data, meta.size, &error), &error);
    CHECK_OK(block_store_commit(bs, &error), &error);
    CHECK_OK(block_store_close(bs, &error), &error);
    tansu_buffer_free(&meta);
}

/* An earlier release put null into a unique index over a position for each document in the array.
 * Only such an index is rebuilt. */
static void a_unique_index_over_positions_is_rebuilt(void) {
    static const struct {
        const char *keys, *options;
        bool rebuilt;
    } cases[] = {{"{'v.0.y':1}", "{'unique':true}", true},
                 {"{'_id':1,'v.1.y':1}", "{'unique':true}", true},
                 {"{'v.y':1}", "{'unique':true}", false},
                 {"{'v.0.y':1}", NULL, false},
                 {"{'w.0.y':1}", "{'unique':true}", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *folder = folder_new();
        tansu_db *db = call_open(folder);
        CHECK_OK(call_index(db, NULL, "c", "i", cases[i].keys, cases[i].options), &call_error);
        CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id':1,'v':[{'y':1},{'y':2}]}"),
                 &call_error);
        call_close(db);
        rules_of(folder, 0);
        db = call_open(folder);
        CHECK_INT(cases[i].rebuilt ? 1 : 77, call_count(db, NULL, "c", "{}"));
        if (cases[i].rebuilt)
            CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id':2,'v':[{'y':3},{'y':4}]}"),
                     &call_error);
        call_close(db);
        folder_end(folder);
    }
}

/* By rules 2 a range in a partial filter selected NaN. Only partial indexes are rebuilt. */
static void a_partial_index_of_earlier_rules_is_rebuilt(void) {
    static const struct {
        const char *options;
        uint8_t rules;
        bool rebuilt;
    } cases[] = {{"{'partialFilter':{'a':{'$lt':5}}}", 2, true},
                 {"{'partialFilter':{'a':{'$lt':5}}}", 1, true},
                 {"{'partialFilter':{'a':{'$lt':5}}}", INDEX_ENTRY_RULES, false},
                 {"{'unique':true}", 2, false},
                 {NULL, 2, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *folder = folder_new();
        tansu_db *db = call_open(folder);
        CHECK_OK(call_index(db, NULL, "c", "i", "{'a':1}", cases[i].options), &call_error);
        CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id':1,'a':1}"), &call_error);
        call_close(db);
        rules_of(folder, cases[i].rules);
        for (int opening = 0; opening < 2; opening++) {
            db = call_open(folder);
            CHECK_INT(cases[i].rebuilt ? 1 : 77, call_count(db, NULL, "c", "{}"));
            CHECK_INT(1, call_count(db, NULL, "c", "{'a':{'$lt':4}}"));
            call_close(db);
        }
        folder_end(folder);
    }
}

/* An earlier release accepted filters that this one does not. A database with such an index opens,
 * whether its index files are there or not, and what the filter selects is what it said. */
static void filters_that_are_accepted_no_more_are_read(void) {
    static const struct {
        const char *filter;
        int entries;
    } cases[] = {{"{'a':{'$ne':{'$regularExpression':{'pattern':'x','options':''}}}}", 3},
                 {"{'a':{'$lt':{'$regularExpression':{'pattern':'y','options':''}}}}", 1},
                 {"{'a':{'$gte':{'$regularExpression':{'pattern':'x','options':''}}}}", 1},
                 {"{'a':{'$not':{}}}", 4},
                 {"{'a.*':1}", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *folder = folder_new();
        char options[256];
        index_definition *definition;
        tansu_db *db = call_open(folder);
        bson_t *keys = bson_from_text("{'a':1}"), *bson;
        snprintf(options, sizeof options, "{'partialFilter':%s}", cases[i].filter);
        bson = bson_from_text(options);
        CHECK_STATUS(TANSU_E_INVALID_QUERY, call_index(db, NULL, "c", "i", "{'a':1}", options));
        REQUIRE(CHECK_OK(index_definition_parse("i", bson_get_data(keys), keys->len,
                                                bson_get_data(bson), bson->len, &definition,
                                                &call_error),
                         &call_error));
        CHECK_OK(index_definition_compile(definition, &query_filters, &call_error), &call_error);
        CHECK_OK(index_build_online((database *)db, "c", definition, NULL, NULL, &call_error),
                 &call_error);
        CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE,
                           "{'a':{'$regularExpression':{'pattern':'x','options':''}}}"),
                 &call_error);
        CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'a':'x'}"), &call_error);
        CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'a':{'*':1}}"), &call_error);
        CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{}"), &call_error);
        call_close(db);
        for (int opening = 0; opening < 3; opening++) {
            char entries[64];
            snprintf(entries, sizeof entries, "\"entries\" : %d }", cases[i].entries);
            if (CHECK_OK(call_try_open(folder), &call_error)) {
                db = call_open(folder);
                const char *list = call_indexes(db, NULL, "c");
                if (!CHECK(strstr(list, entries) != NULL))
                    check_note("%s: %s", cases[i].filter, list);
                call_close(db);
            }
            if (opening == 1)
                remove(folder_join(folder, CABINET));
        }
        bson_destroy(keys);
        bson_destroy(bson);
        folder_end(folder);
    }
}

int main(void) {
    RUN(a_partial_index_of_earlier_rules_is_rebuilt);
    RUN(filters_that_are_accepted_no_more_are_read);
    RUN(a_block_store_of_another_format_is_rebuilt);
    RUN(blocks_of_the_format_before_are_read);
    RUN(read_only_needs_no_block_store);
    RUN(a_unique_index_over_positions_is_rebuilt);
    return check_finish();
}
