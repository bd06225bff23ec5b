/*
 * test_memory_limits.c -- sorts, groups, lists of record ids and write transactions keep to the
 * memory that the options and the hint $maxMemory allow: by what the engine has allocated at a time
 * (Linux), by what it answers, and by the errors of calls that cannot keep to it.
 */
#include "api/handles.h"
#include "store/database_internal.h"
#include "store/write_txn/write_txn_internal.h"
#include "support/calls/call.h"
#include "support/calls/query_calls.h"
#include "support/check.h"
#include "support/fault/fault_injection.h"
#include "support/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DOCUMENTS 60000
#define LIMIT ((size_t)1024 * 1024)
/* What a call takes whatever the limit: a plan, buffers of files, blocks of the index. */
#define CONSTANT ((size_t)1024 * 1024)

/* fill -- documents {_id, k: one of seven, n: a number of its own, s: a text of its own}. */
static void fill(tansu_db *db, tansu_txn *own, int from, int to) {
    tansu_txn *txn = own != NULL ? own : call_begin(db, TANSU_TXN_WRITE);
    for (int i = from; i < to; i++) {
        bson_t doc = BSON_INITIALIZER;
        char text[64];
        snprintf(text, sizeof text, "text %d of some length", (int)(i * 7919LL % 1000003));
        BSON_APPEND_INT32(&doc, "_id", i);
        BSON_APPEND_INT32(&doc, "k", i % 7);
        BSON_APPEND_INT32(&doc, "n", (int)(i * 31LL % 1000003));
        BSON_APPEND_UTF8(&doc, "s", text);
        REQUIRE(CHECK_OK(call_save_bson(db, txn, "c", TANSU_SAVE, &doc), &call_error));
        bson_destroy(&doc);
    }
    if (own == NULL)
        REQUIRE(tansu_txn_commit(txn, NULL, &call_error) == TANSU_OK);
}

/* An answer, as a checksum: what is compared takes no memory. */
typedef struct answer {
    tansu_status status;
    uint64_t count, sum;
    size_t peak; /* most that was allocated at a time */
} answer;

static void add(answer *a, const uint8_t *bytes, size_t size) {
    a->count++;
    for (size_t i = 0; i < size; i++)
        a->sum = (a->sum ^ bytes[i]) * 0x100000001b3;
}

/* find -- all documents of a query. */
static answer find(tansu_db *db, tansu_txn *txn, const char *query, const char *hints) {
    answer a = {.sum = 1};
    bson_t *q = bson_from_text(query), *h = bson_from_text(hints);
    tansu_cursor *cursor = NULL;
    tansu_document document;
    fault_memory_mark();
    a.status = tansu_find(db, txn, "c", document_of(q), document_of(h), &cursor, &call_error);
    while (a.status == TANSU_OK &&
           (a.status = tansu_cursor_next(cursor, &document, &call_error)) == TANSU_OK)
        add(&a, document.data, document.size);
    if (a.status == TANSU_DONE)
        a.status = TANSU_OK;
    a.peak = fault_memory_peak();
    tansu_cursor_close(cursor);
    bson_destroy(q);
    bson_destroy(h);
    return a;
}

/* group -- all groups, or without `by` the distinct values of "s" counted. */
static answer group(tansu_db *db, const char *by, const char *hints) {
    answer a = {.sum = 1};
    bson_t *g = bson_from_text(by), *h = bson_from_text(hints);
    tansu_buffer result = TANSU_BUFFER_INIT;
    fault_memory_mark();
    a.status = tansu_aggregate(db, NULL, "c", TANSU_NO_DOCUMENT, document_of(g), document_of(h),
                               &result, &call_error);
    a.peak = fault_memory_peak();
    if (a.status == TANSU_OK)
        add(&a, result.data, result.size);
    tansu_buffer_free(&result);
    bson_destroy(g);
    bson_destroy(h);
    return a;
}

/* check_answers -- the same answer, and the second within its memory, which the first was not. */
static void check_answers(const answer *unlimited, const answer *limited, const char *what) {
    bool right =
        CHECK_STATUS(TANSU_OK, unlimited->status) && CHECK_STATUS(TANSU_OK, limited->status) &&
        CHECK_INT(unlimited->count, limited->count) && CHECK_INT(unlimited->sum, limited->sum);
    if (right && fault_has_memory())
        right = CHECK(limited->peak <= LIMIT + CONSTANT) && CHECK(unlimited->peak > 2 * LIMIT);
    if (!right)
        check_note("%s: %zu bytes, %zu without a limit", what, limited->peak, unlimited->peak);
}

static void calls_keep_to_their_memory(void) {
    static const struct {
        const char *query, *order;
        bool txn;
    } finds[] = {
        {"{}", "'$orderby':{'s':1}", false},
        {"{}", "'$orderby':{'s':-1},'$max':20000", false},
        {"{'n':{'$gte':0}}", "'$index':'by_n'", false},
        {"{'n':{'$gte':0}}", "'$index':'by_n'", true},
        {"{'n':{'$gte':0}}", "'$orderby':{'n':-1},'$index':'by_n'", true},
        {"{}", "'$skip':5", true},
    };
    static const char *const groups[][2] = {
        {"{'by':'s','fields':{'n':{'$max':'n'}}}", "'$max':5"},
        {"{'by':'s','fields':{'n':{'$max':'n'}}}", "'$orderby':{'n':1},'$max':5"},
        {"{'by':'n','fields':{'d':{'$distinct':'s'}}}", "'$skip':6,'$max':5"},
    };
    tansu_db *db = call_open(NULL);
    create_index(db, "by_n", "{'n':1}", NULL);
    create_index(db, "by_k", "{'k':1}", NULL);
    fill(db, NULL, 0, DOCUMENTS);
    char limited[200], unlimited[200];
    for (size_t i = 0; i < sizeof finds / sizeof *finds; i++) {
        tansu_txn *txn = finds[i].txn ? call_begin(db, TANSU_TXN_WRITE) : NULL;
        snprintf(unlimited, sizeof unlimited, "{%s,'$maxMemory':1000000000}", finds[i].order);
        snprintf(limited, sizeof limited, "{%s,'$maxMemory':%zu}", finds[i].order,
                 i < 2 ? LIMIT : LIMIT / 2);
        answer a = find(db, txn, finds[i].query, unlimited);
        answer b = find(db, txn, finds[i].query, limited);
        /* Lists of record ids are too small here to exceed twice the limit. */
        if (i >= 2 && a.peak > LIMIT / 2)
            a.peak += 2 * LIMIT;
        check_answers(&a, &b, finds[i].order);
        if (txn != NULL)
            tansu_txn_abort(txn);
    }
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        snprintf(unlimited, sizeof unlimited, "{%s,'$maxMemory':1000000000}", groups[i][1]);
        snprintf(limited, sizeof limited, "{%s,'$maxMemory':%zu}", groups[i][1], LIMIT);
        answer a = group(db, groups[i][0], unlimited), b = group(db, groups[i][0], limited);
        check_answers(&a, &b, groups[i][1]);
    }
    /* All values of one group are in memory. */
    CHECK_STATUS(
        TANSU_E_TOO_LARGE,
        group(db, "{'by':'k','fields':{'d':{'$distinct':'s'}}}", "{'$maxMemory':1048576}").status);
    CHECK(strstr(call_error.message, "Values of one group") != NULL);
    call_close(db);
}

/* run_pipeline -- all documents of a pipeline. */
static answer run_pipeline(tansu_db *db, const bson_t *stages, const char *hints) {
    answer a = {.sum = 1};
    bson_t *h = bson_from_text(hints);
    tansu_cursor *cursor = NULL;
    tansu_document document;
    fault_memory_mark();
    a.status =
        tansu_pipeline(db, NULL, "c", document_of(stages), document_of(h), &cursor, &call_error);
    while (a.status == TANSU_OK &&
           (a.status = tansu_cursor_next(cursor, &document, &call_error)) == TANSU_OK)
        add(&a, document.data, document.size);
    if (a.status == TANSU_DONE)
        a.status = TANSU_OK;
    a.peak = fault_memory_peak();
    tansu_cursor_close(cursor);
    bson_destroy(h);
    return a;
}

/* All pipelines within one have the memory of one, and a $lookup in a $lookup is not compiled more
 * often the deeper it is. */
static void pipelines_within_one_keep_to_its_memory(void) {
    tansu_db *db = call_open(NULL);
    bson_t *stages = bson_new(), facets, part, stage;
    char key[16];
    fill(db, NULL, 0, 3);
    for (int i = 0; i < 18; i++) {
        bson_t *outer = BCON_NEW("0", "{", "$lookup", "{", "from", BCON_UTF8("none"), "localField",
                                 BCON_UTF8("k"), "foreignField", BCON_UTF8("k"), "pipeline",
                                 BCON_ARRAY(stages), "as", BCON_UTF8("r"), "}", "}");
        bson_destroy(stages);
        stages = outer;
    }
    answer nested = run_pipeline(db, stages, NULL);
    CHECK_STATUS(TANSU_OK, nested.status);
    CHECK_INT(3, (int)nested.count);
    if (fault_has_memory() && !CHECK(nested.peak < 16 * 1024 * 1024))
        check_note("%zu bytes", nested.peak);
    bson_reinit(stages);
    bson_append_document_begin(stages, "0", -1, &stage);
    bson_append_document_begin(&stage, "$facet", -1, &facets);
    for (int i = 0; i < 60000; i++) {
        snprintf(key, sizeof key, "f%d", i);
        bson_append_array_begin(&facets, key, -1, &part);
        bson_append_array_end(&facets, &part);
    }
    bson_append_document_end(&stage, &facets);
    bson_append_document_end(stages, &stage);
    answer many = run_pipeline(db, stages, NULL);
    CHECK_STATUS(TANSU_E_TOO_LARGE, many.status);
    if (fault_has_memory() && !CHECK(many.peak < (size_t)400 * 1024 * 1024))
        check_note("%zu bytes", many.peak);
    bson_destroy(stages);
    call_close(db);
}

/* A field within arrays is computed for each element: the document that is made of a small one stays
 * within what one may have. */
static void computed_fields_keep_to_a_document(void) {
    tansu_db *db = call_open(NULL);
    bson_t doc = BSON_INITIALIZER, list;
    char key[16];
    bson_append_int32(&doc, "_id", -1, 1);
    bson_append_array_begin(&doc, "a", -1, &list);
    for (int i = 0; i < 10000; i++) {
        snprintf(key, sizeof key, "%d", i);
        bson_append_int32(&list, key, -1, i);
    }
    bson_append_array_end(&doc, &list);
    REQUIRE(CHECK_OK(call_save_bson(db, NULL, "c", TANSU_SAVE, &doc), &call_error));
    bson_t *stages = bson_from_text("{'0':{'$set':{'a.b':{'$range':[0,1000]}}}}");
    answer set = run_pipeline(db, stages, NULL), found;
    CHECK_STATUS(TANSU_E_TOO_LARGE, set.status);
    found = find(db, NULL, "{}", "{'$fields':{'a.b':{'$range':[0,1000]}}}");
    CHECK_STATUS(TANSU_E_TOO_LARGE, found.status);
    if (fault_has_memory() &&
        !(CHECK(set.peak < 80 * 1024 * 1024) && CHECK(found.peak < 80 * 1024 * 1024)))
        check_note("%zu and %zu bytes", set.peak, found.peak);
    bson_destroy(stages);
    bson_destroy(&doc);
    call_close(db);
}

/* A sort has no memory any more when the one behind it has taken its documents. */
static void sorts_behind_each_other_keep_to_the_memory_of_two(void) {
    static const char *const sorts[] = {
        "{'$sort':{'s':%d}}",
        "{'$setWindowFields':{'sortBy':{'s':%d},'output':{'r':{'$documentNumber':{}}}}}",
    };
    tansu_db *db = call_open(NULL);
    fill(db, NULL, 0, 20000);
    for (size_t kind = 0; kind < sizeof sorts / sizeof *sorts; kind++) {
        answer some[2];
        for (int many = 0; many < 2; many++) {
            char text[2000] = "{'0':{'$set':{'x':1}}", stage[200];
            for (int i = 1; i <= (many ? 15 : 2); i++) {
                snprintf(stage, sizeof stage, sorts[kind], i % 2 ? 1 : -1);
                snprintf(text + strlen(text), sizeof text - strlen(text), ",'%d':%s", i, stage);
            }
            strcat(text, "}");
            bson_t *stages = bson_from_text(text);
            some[many] = run_pipeline(db, stages, NULL);
            CHECK_STATUS(TANSU_OK, some[many].status);
            CHECK_INT(20000, (int)some[many].count);
            bson_destroy(stages);
        }
        if (fault_has_memory() && !CHECK(some[1].peak < 2 * some[0].peak))
            check_note("%zu bytes, %zu of two: %s", some[1].peak, some[0].peak, sorts[kind]);
    }
    call_close(db);
}

/* The accumulators of a bucket count from its first document on. */
static void buckets_keep_to_their_memory(void) {
    enum { BUCKETS = 20000, FIELDS = 10 };
    tansu_db *db = call_open(NULL);
    bson_t stages = BSON_INITIALIZER, stage, bucket, list, count;
    char key[16];
    fill(db, NULL, 0, BUCKETS);
    bson_append_document_begin(&stages, "0", -1, &stage);
    bson_append_document_begin(&stage, "$bucket", -1, &bucket);
    bson_append_utf8(&bucket, "groupBy", -1, "$_id", -1);
    bson_append_array_begin(&bucket, "boundaries", -1, &list);
    for (int i = 0; i <= BUCKETS; i++) {
        snprintf(key, sizeof key, "%d", i);
        bson_append_int32(&list, key, -1, i);
    }
    bson_append_array_end(&bucket, &list);
    bson_append_document_begin(&bucket, "output", -1, &list);
    for (int i = 0; i < FIELDS; i++) {
        snprintf(key, sizeof key, "f%d", i);
        bson_append_document_begin(&list, key, -1, &count);
        bson_append_int32(&count, "$sum", -1, 1);
        bson_append_document_end(&list, &count);
    }
    bson_append_document_end(&bucket, &list);
    bson_append_document_end(&stage, &bucket);
    bson_append_document_end(&stages, &stage);
    answer many = run_pipeline(db, &stages, NULL);
    CHECK_STATUS(TANSU_OK, many.status);
    CHECK_INT(BUCKETS, (int)many.count);
    CHECK_STATUS(TANSU_E_TOO_LARGE, run_pipeline(db, &stages, "{'$maxMemory':1048576}").status);
    bson_destroy(&stages);
    call_close(db);
}

static void limits_are_options_and_a_hint(void) {
    tansu_options options = call_options(NULL);
    options.sort_memory_bytes = options.group_memory_bytes = TANSU_MIN_QUERY_MEMORY;
    tansu_db *db = call_open_with(&options);
    fill(db, NULL, 0, 3000);
    static const char refused[] = "{'$orderby':{'s':1},'$allowDiskUse':false}";
    static const char allowed[] = "{'$orderby':{'s':1},'$allowDiskUse':false,'$maxMemory':9000000}";
    CHECK_STATUS(TANSU_E_TOO_LARGE, find(db, NULL, "{}", refused).status);
    CHECK(strstr(call_error.message, "65536") != NULL);
    CHECK_STATUS(TANSU_OK, find(db, NULL, "{}", allowed).status);
    static const char by[] = "{'by':'s','fields':{'n':{'$max':'n'}}}";
    CHECK_STATUS(TANSU_E_TOO_LARGE, group(db, by, "{'$allowDiskUse':false}").status);
    CHECK(strstr(call_error.message, "65536") != NULL);
    CHECK_STATUS(TANSU_OK, group(db, by, "{'$allowDiskUse':false,'$maxMemory':90000000}").status);
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    CHECK_STATUS(TANSU_E_TOO_LARGE, find(db, txn, "{}", "{'$allowDiskUse':false}").status);
    CHECK_STATUS(TANSU_OK, find(db, txn, "{}", "{}").status);
    tansu_txn_abort(txn);
    CHECK_TEXT("INVALID_QUERY hints.$maxMemory", find_ids(db, "{}", "{'$maxMemory':65535}"));
    CHECK_TEXT("INVALID_QUERY hints.$maxMemory", find_ids(db, "{}", "{'$maxMemory':'x'}"));
    CHECK_TEXT("0", find_ids(db, "{'_id':0}", "{'$maxMemory':65536}"));
    call_close(db);
    tansu_db *none = NULL;
    options.sort_memory_bytes = TANSU_MIN_QUERY_MEMORY - 1;
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, tansu_open(&options, &none, &call_error));
    options.sort_memory_bytes = TANSU_MIN_QUERY_MEMORY;
    options.group_memory_bytes = (uint64_t)1 << 41;
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, tansu_open(&options, &none, &call_error));
}

/* More than 32 bits can say is as much as there is, and not the rest of a division. */
static void large_limits_are_not_cut_off(void) {
    tansu_options options = call_options(NULL);
    options.sort_memory_bytes = options.group_memory_bytes = UINT64_C(1) << 32;
    tansu_db *db = call_open_with(&options);
    fill(db, NULL, 0, 3000);
    CHECK_STATUS(TANSU_OK,
                 find(db, NULL, "{}", "{'$orderby':{'s':1},'$allowDiskUse':false}").status);
    static const char by[] = "{'by':'s','fields':{'n':{'$max':'n'}}}";
    CHECK_STATUS(TANSU_OK, group(db, by, "{'$allowDiskUse':false}").status);
    call_close(db);
}

/* An index scan, a union and an intersection whose record ids take too much become a collection
 * scan, with the same answer in the same order. */
static void long_lists_of_record_ids_become_scans(void) {
    static const char *const queries[][2] = {
        {"{'n':{'$lt':400000}}", "\"index\""},
        {"{'$or':[{'n':{'$lt':200000}},{'m':{'$lt':200000}}]}", "\"union\""},
        {"{'n':{'$lt':300000},'m':{'$lt':300000}}", NULL},
    };
    tansu_db *db = call_open(NULL);
    create_index(db, "by_n", "{'n':1}", NULL);
    create_index(db, "by_m", "{'m':1}", NULL);
    for (int i = 0; i < 20000; i++) {
        char json[100];
        snprintf(json, sizeof json, "{'_id':%d,'n':%d,'m':%d}", i, (int)(i * 7919LL % 1000003),
                 (int)(i * 104729LL % 1000003));
        save_text(db, json);
    }
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        const char *query = queries[i][0];
        if (queries[i][1] != NULL)
            CHECK_TEXT(queries[i][1], plan_field(db, query, "{}", "plan.kind"));
        CHECK_TEXT("\"scan\"", plan_field(db, query, "{'$maxMemory':65536}", "plan.kind"));
        for (int purpose = 0; purpose < 3; purpose++) {
            static const char *const hints[] = {"'$skip':1", "'$fields':{'n':1}",
                                                "'$orderby':{'m':-1},'$max':500"};
            char usual[100], limited[100];
            snprintf(usual, sizeof usual, "{%s}", hints[purpose]);
            snprintf(limited, sizeof limited, "{%s,'$maxMemory':65536}", hints[purpose]);
            answer a = find(db, NULL, query, usual), b = find(db, NULL, query, limited);
            CHECK_STATUS(TANSU_OK, a.status);
            CHECK_STATUS(TANSU_OK, b.status);
            CHECK_INT(a.count, b.count);
            CHECK_INT(a.sum, b.sum);
        }
        CHECK_INT(count_matches(db, query, "{}"), count_matches(db, query, "{'$maxMemory':65536}"));
    }
    call_close(db);
}

/* ---- Write transactions ---- */

typedef enum work { INSERT, REPLACE, REMOVE } work;

/* change -- one document in a transaction. */
static tansu_status change(tansu_db *db, tansu_txn *txn, work w, int id) {
    char json[100];
    snprintf(json, sizeof json, "{'_id':%d}", id);
    if (w == REMOVE)
        return call_remove_id(db, txn, "c", json, NULL);
    snprintf(json, sizeof json, "{'_id':%d,'n':%d,'k':%d,'s':'%s %d'}", id, id * 17 % 10007, id % 9,
             w == INSERT ? "new" : "other", id);
    return call_save(db, txn, "c", w == INSERT ? TANSU_INSERT : TANSU_REPLACE, json);
}

/* A transaction that may not keep much fails with a clear error, having allocated no more, and can
 * be committed with what it has done. */
static void transactions_keep_to_their_memory(void) {
    for (int w = INSERT; w <= REMOVE; w++) {
        char *folder = folder_new();
        tansu_options options = call_options(folder);
        options.transaction_memory_bytes = LIMIT;
        options.durability = TANSU_DURABILITY_PROCESS;
        tansu_db *db = call_open_with(&options);
        create_index(db, "by_n", "{'n':1}", NULL);
        create_index(db, "by_k", "{'k':1}", NULL);
        for (int i = 0; w != INSERT && i < DOCUMENTS; i += 2000)
            fill(db, NULL, i, i + 2000);
        tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
        tansu_status status = TANSU_OK;
        int done = 0;
        fault_memory_mark();
        while (done < DOCUMENTS && (status = change(db, txn, (work)w, done)) == TANSU_OK)
            done++;
        CHECK_STATUS(TANSU_E_TOO_LARGE, status);
        CHECK(strstr(call_error.message, "transaction_memory_bytes") != NULL);
        CHECK(done > 1000 && done < DOCUMENTS);
        if (fault_has_memory() && !CHECK(fault_memory_peak() <= LIMIT + CONSTANT))
            check_note("%d: %zu bytes", w, fault_memory_peak());
        CHECK_STATUS(TANSU_E_TOO_LARGE, change(db, txn, (work)w, done));
        CHECK_INT(w == INSERT    ? done
                  : w == REPLACE ? DOCUMENTS
                                 : DOCUMENTS - done,
                  call_count(db, txn, "c", "{'n':{'$gte':0}}"));
        REQUIRE(CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error));
        CHECK_STATUS(TANSU_OK, change(db, NULL, (work)w, done));
        CHECK_OK(tansu_verify(db, NULL, NULL, NULL, &call_error), &call_error);
        call_close(db);
        /* Recovery has no such limit. */
        db = call_open_with(&options);
        CHECK_INT(w == INSERT    ? done + 1
                  : w == REPLACE ? DOCUMENTS
                                 : DOCUMENTS - done - 1,
                  call_count(db, NULL, "c", "{}"));
        call_close(db);
        folder_end(folder);
    }
}

/* What a transaction counts is what its blocks take, whatever it did before. */
static void a_transaction_counts_its_blocks(void) {
    tansu_options options = call_options(NULL);
    tansu_db *db = call_open_with(&options);
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    CHECK_OK(call_index(db, txn, "c", "by_n", "{'n':1}", NULL), &call_error);
    fill(db, txn, 0, 20000);
    uint64_t full = write_txn_memory(txn->wtxn);
    for (int i = 0; i < 20000; i++) {
        char json[40];
        snprintf(json, sizeof json, "{'_id':%d}", i);
        CHECK_STATUS(TANSU_OK, call_remove_id(db, txn, "c", json, NULL));
    }
    CHECK(txn->wtxn->writer.bytes < full / 20);
    CHECK(txn->wtxn->writer.bytes < (uint64_t)1 << 40);
    tansu_txn_abort(txn);
    call_close(db);
}

/* open_feed -- from now on, of one collection (NULL: of all). */
static tansu_feed *open_feed(tansu_db *db, const char *options) {
    bson_t *o = bson_from_text(options);
    tansu_feed *feed = NULL;
    CHECK_OK(tansu_feed_open(db, TANSU_FEED_NOW, document_of(o), &feed, &call_error), &call_error);
    if (o != NULL)
        bson_destroy(o);
    return feed;
}

/* A feed takes memory for the collections that it delivers, not for all that there are. */
static void a_feed_among_many_collections(void) {
    tansu_db *db = call_open(NULL);
    char name[32];
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    for (int i = 0; i < 5000; i++) {
        snprintf(name, sizeof name, "c%d", i);
        CHECK_OK(call_ensure(db, txn, name, NULL), &call_error);
    }
    CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
    size_t before = fault_allocated();
    tansu_feed *one = open_feed(db, "{'collections':['c4321','c7']}"), *all = open_feed(db, NULL);
    CHECK_STATUS(TANSU_OK, call_save(db, NULL, "c5", TANSU_SAVE, "{'_id':1}"));
    CHECK_STATUS(TANSU_OK, call_save(db, NULL, "c7", TANSU_SAVE, "{'_id':2}"));
    uint64_t sequence;
    CHECK_OK(tansu_feed_skip(all, 0, &sequence, &call_error), &call_error);
    tansu_change change;
    tansu_change_init(&change);
    CHECK_OK(tansu_feed_next(one, 0, &change, &call_error), &call_error);
    CHECK_TEXT("c7", change.collection);
    CHECK_STATUS(TANSU_DONE, tansu_feed_next(one, 0, &change, &call_error));
    CHECK_STATUS(TANSU_DONE, tansu_feed_next(all, 0, &change, &call_error));
    size_t took = fault_allocated() - before;
    if (fault_has_memory() && !CHECK(took < 200000))
        check_note("%zu bytes", took);
    /* The feed of all collections goes on after what it has skipped. */
    CHECK_STATUS(TANSU_OK, tansu_collection_rename(db, NULL, "c5", "d5", &call_error));
    CHECK_STATUS(TANSU_OK, call_save(db, NULL, "c9", TANSU_SAVE, "{'_id':3}"));
    CHECK_STATUS(TANSU_OK, tansu_collection_rename(db, NULL, "c9", "c4321x", &call_error));
    CHECK_OK(tansu_feed_next(all, 0, &change, &call_error), &call_error);
    CHECK_TEXT("c5", change.collection);
    CHECK_OK(tansu_feed_next(all, 0, &change, &call_error), &call_error);
    CHECK_TEXT("c9", change.collection);
    tansu_feed_close(one);
    tansu_feed_close(all);
    call_close(db);
}

int main(void) {
    RUN(calls_keep_to_their_memory);
    RUN(pipelines_within_one_keep_to_its_memory);
    RUN(computed_fields_keep_to_a_document);
    RUN(buckets_keep_to_their_memory);
    RUN(sorts_behind_each_other_keep_to_the_memory_of_two);
    RUN(limits_are_options_and_a_hint);
    RUN(large_limits_are_not_cut_off);
    RUN(long_lists_of_record_ids_become_scans);
    RUN(transactions_keep_to_their_memory);
    RUN(a_transaction_counts_its_blocks);
    RUN(a_feed_among_many_collections);
    return check_finish();
}
