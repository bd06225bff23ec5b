/*
 * test_query_cancellation.c -- long calls end: by their own time limit, or when another thread
 * asks. Every call that reads or changes by a query can be stopped from within, and so can every
 * single long step.
 */
#include "query/exec/sort.h"
#include "query/match/match_context.h"
#include "query/schema/schema.h"
#include "query/util/key_set.h"
#include "query/util/merge_sort.h"
#include "support/calls/aggregate_calls.h"
#include "support/calls/query_calls.h"
#include "support/calls/update_calls.h"
#include "support/check.h"
#include "support/libraries.h"
#include "support/random/random.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DOCUMENTS 20000

static tansu_db *db;

/* A query that takes long on every document: each word is looked at from every letter on. */
static const char slow[] = "{'t':{'$REGEX':'(x+x+)+y'}}";

/* fill -- many documents with a text that the query has much work with. */
static void fill(void) {
    char text[200];
    db = memory_db_open();
    snprintf(text, sizeof text, "{'t':'xxxxxxxx xxxxxxxxx xxxxxxxxx xxxxxxxxx xxxxxxxxx y'}");
    bson_t *doc = bson_from_text(text);
    for (int i = 0; i < DOCUMENTS; i++)
        save_bson(db, doc);
    bson_destroy(doc);
}

static void a_query_keeps_to_its_deadline(void) {
    CHECK_TEXT("TIMEOUT hints.$maxTimeMS", find_ids(db, slow, "{'$maxTimeMS':2}"));
    CHECK_TEXT("TIMEOUT hints.$maxTimeMS",
               find_ids(db, slow, "{'$maxTimeMS':2,'$onlycount':true}"));
    CHECK_TEXT("TIMEOUT hints.$maxTimeMS",
               find_ids(db, slow, "{'$maxTimeMS':2,'$orderby':{'t':1}}"));
    CHECK_TEXT("", find_ids(db, "{'t':1}", "{'$maxTimeMS':60000}"));
    CHECK_TEXT("", find_ids(db, "{'t':1}", "{'$maxTimeMS':0}"));
}

/* A few documents that each take long are as many that take little; and what takes too long at the
 * very end is too late as well. */
static void few_documents_keep_to_a_deadline(void) {
    char text[8000] = "{'t':['";
    tansu_db *own = memory_db_open();
    for (int i = 0; i < 400; i++)
        strcat(text, i % 10 == 9 ? "xxxxxxxxxxxxxx y','" : "xxxxxxxxxxxxxx ");
    strcat(text, "']}");
    for (int documents = 1; documents <= 8; documents++) {
        save_text(own, text);
        CHECK_TEXT("TIMEOUT hints.$maxTimeMS",
                   find_ids(own, slow, "{'$maxTimeMS':1,'$onlycount':true}"));
        CHECK_TEXT("TIMEOUT hints.$maxTimeMS",
                   update_text(own, NULL, slow, "{'$set':{'a':1}}", "{'$maxTimeMS':1}"));
        CHECK_TEXT("TIMEOUT hints.$maxTimeMS", distinct_text(own, "_id", slow, "{'$maxTimeMS':1}"));
    }
    CHECK_TEXT("TIMEOUT hints.$maxTimeMS", find_ids(own, slow, "{'$maxTimeMS':1}"));
    CHECK_INT(0, count_matches(own, slow, NULL));
    memory_db_close(own);
}

/* A cursor goes on after its limit was ended, which is over by then. */
static void a_cursor_outlives_its_deadline(void) {
    const struct timespec pause = {.tv_nsec = 210 * 1000 * 1000};
    for (int ends = 0; ends < 2; ends++) {
        bson_t *hints = bson_from_text("{'$maxTimeMS':200}");
        tansu_cursor *cursor = NULL;
        tansu_document document;
        tansu_error error = {0};
        REQUIRE(CHECK_OK(
            tansu_find(db, NULL, "c", TANSU_NO_DOCUMENT, document_of(hints), &cursor, &error),
            &error));
        CHECK_OK(tansu_cursor_next(cursor, &document, &error), &error);
        if (ends)
            tansu_cursor_end_timeout(cursor);
        nanosleep(&pause, NULL);
        int found = 1;
        tansu_status status;
        while ((status = tansu_cursor_next(cursor, &document, &error)) == TANSU_OK)
            found++;
        CHECK_STATUS(ends ? TANSU_DONE : TANSU_E_TIMEOUT, status);
        CHECK(ends ? found == DOCUMENTS : found < DOCUMENTS);
        tansu_cursor_close(cursor);
        bson_destroy(hints);
    }
}

/* cancel_soon -- what the other thread does. */
static void *cancel_soon(void *cursor) {
    struct timespec pause = {.tv_nsec = 5 * 1000 * 1000};
    nanosleep(&pause, NULL);
    tansu_cursor_cancel(cursor);
    return NULL;
}

static void a_cursor_is_cancelled_from_another_thread(void) {
    bson_t *query = bson_from_text(slow), *hints = bson_from_text("{'$orderby':{'t':1}}");
    tansu_cursor *cursor;
    tansu_document document;
    tansu_error error;
    pthread_t other;
    REQUIRE(
        CHECK_OK(tansu_find(db, NULL, "c", document_of(query), document_of(hints), &cursor, &error),
                 &error));
    REQUIRE(pthread_create(&other, NULL, cancel_soon, cursor) == 0);
    CHECK_STATUS(TANSU_E_CANCELLED, tansu_cursor_next(cursor, &document, &error));
    pthread_join(other, NULL);
    CHECK_STATUS(TANSU_E_CANCELLED, tansu_cursor_next(cursor, &document, &error));
    tansu_cursor_close(cursor);
    bson_destroy(query);
    bson_destroy(hints);
}

static void a_cancelled_transaction_keeps_nothing(void) {
    bson_t *query = bson_from_text("{'new':1}");
    tansu_document one = document_of(query);
    tansu_txn *txn;
    tansu_error error;
    int64_t count;
    REQUIRE(CHECK_OK(tansu_txn_begin(db, TANSU_TXN_WRITE, TANSU_DURABILITY_DEFAULT, &txn, &error),
                     &error));
    CHECK_OK(tansu_save(db, txn, "c", &one, 1, TANSU_SAVE, NULL, &error), &error);
    tansu_txn_cancel(txn);
    CHECK_STATUS(TANSU_E_CANCELLED, tansu_save(db, txn, "c", &one, 1, TANSU_SAVE, NULL, &error));
    CHECK_STATUS(TANSU_E_CANCELLED,
                 tansu_count(db, txn, "c", TANSU_NO_DOCUMENT, TANSU_NO_DOCUMENT, &count, &error));
    CHECK_STATUS(TANSU_E_CANCELLED, tansu_txn_commit(txn, NULL, &error));
    CHECK_INT(0, count_matches(db, "{'new':1}", NULL));
    CHECK_INT(DOCUMENTS, count_matches(db, NULL, NULL));
    bson_destroy(query);
}

/* ---- Each call ---- */

/* One call with the slow query, in a transaction or on its own. */
typedef tansu_status (*long_call)(tansu_txn *txn, const bson_t *query, const bson_t *hints,
                                  tansu_error *error);

#define QUERY document_of(query)
#define HINTS document_of(hints)

static tansu_status count_call(tansu_txn *txn, const bson_t *query, const bson_t *hints,
                               tansu_error *error) {
    int64_t count;
    return tansu_count(db, txn, "c", QUERY, HINTS, &count, error);
}

static tansu_status onlycount_call(tansu_txn *txn, const bson_t *query, const bson_t *hints,
                                   tansu_error *error) {
    bson_t all = BSON_INITIALIZER;
    tansu_cursor *cursor;
    bson_concat(&all, hints);
    BSON_APPEND_BOOL(&all, "$onlycount", true);
    tansu_status status = tansu_find(db, txn, "c", QUERY, document_of(&all), &cursor, error);
    if (status == TANSU_OK)
        tansu_cursor_close(cursor);
    bson_destroy(&all);
    return status;
}

static tansu_status explain_call(tansu_txn *txn, const bson_t *query, const bson_t *hints,
                                 tansu_error *error) {
    tansu_buffer result = TANSU_BUFFER_INIT;
    tansu_status status = tansu_explain(db, txn, "c", QUERY, HINTS, &result, error);
    tansu_buffer_free(&result);
    return status;
}

static tansu_status distinct_call(tansu_txn *txn, const bson_t *query, const bson_t *hints,
                                  tansu_error *error) {
    tansu_buffer result = TANSU_BUFFER_INIT;
    tansu_status status = tansu_distinct(db, txn, "c", "_id", QUERY, HINTS, &result, error);
    tansu_buffer_free(&result);
    return status;
}

static tansu_status aggregate_call(tansu_txn *txn, const bson_t *query, const bson_t *hints,
                                   tansu_error *error) {
    tansu_buffer result = TANSU_BUFFER_INIT;
    bson_t *group = bson_from_text("{'by':'_id'}");
    tansu_status status =
        tansu_aggregate(db, txn, "c", QUERY, document_of(group), HINTS, &result, error);
    bson_destroy(group);
    tansu_buffer_free(&result);
    return status;
}

static tansu_status update_call(tansu_txn *txn, const bson_t *query, const bson_t *hints,
                                tansu_error *error) {
    bson_t *update = bson_from_text("{'$set':{'changed':1}}");
    tansu_status status =
        tansu_update(db, txn, "c", QUERY, document_of(update), HINTS, NULL, error);
    bson_destroy(update);
    return status;
}

static tansu_status modify_call(tansu_txn *txn, const bson_t *query, const bson_t *hints,
                                tansu_error *error) {
    bson_t *update = bson_from_text("{'$set':{'changed':1}}"), all = BSON_INITIALIZER, *order;
    /* Without an order the first match would end the search. */
    order = bson_from_text("{'$orderby':{'t':1}}");
    bson_concat(&all, hints);
    bson_concat(&all, order);
    tansu_status status =
        tansu_find_and_modify(db, txn, "c", QUERY, document_of(update), document_of(&all),
                              TANSU_MODIFY_RETURN_AFTER, NULL, error);
    bson_destroy(update);
    bson_destroy(order);
    bson_destroy(&all);
    return status;
}

static tansu_status remove_call(tansu_txn *txn, const bson_t *query, const bson_t *hints,
                                tansu_error *error) {
    return tansu_remove(db, txn, "c", QUERY, HINTS, NULL, error);
}

static tansu_status index_call(tansu_txn *txn, const bson_t *query, const bson_t *hints,
                               tansu_error *error) {
    (void)query;
    (void)hints;
    bson_t *keys = bson_from_text("{'t':1,'_id':-1}");
    tansu_status status = tansu_index_create(db, txn, "c", "t", document_of(keys),
                                             TANSU_NO_DOCUMENT, NULL, NULL, error);
    bson_destroy(keys);
    return status;
}

static const struct {
    const char *name;
    long_call call;
    bool writes;
} long_calls[] = {
    {"count", count_call, false},           {"$onlycount", onlycount_call, false},
    {"explain", explain_call, false},       {"distinct", distinct_call, false},
    {"aggregate", aggregate_call, false},   {"update", update_call, true},
    {"find and modify", modify_call, true}, {"remove", remove_call, true},
    {"create an index", index_call, true},
};

#define LONG_CALLS (sizeof long_calls / sizeof *long_calls)

static void every_call_keeps_to_its_deadline(void) {
    static const char *const queries[] = {slow, "{}"};
    bson_t *hints = bson_from_text("{'$maxTimeMS':1}");
    for (size_t i = 0; i < LONG_CALLS; i++) {
        if (long_calls[i].call == index_call)
            continue; /* has no hints */
        /* Of all documents only the changes take long. */
        for (size_t k = 0; k < (long_calls[i].call == update_call ? 2 : 1); k++) {
            bson_t *query = bson_from_text(queries[k]);
            tansu_error error = {0};
            if (!CHECK_STATUS(TANSU_E_TIMEOUT, long_calls[i].call(NULL, query, hints, &error)))
                check_note("%s %s", long_calls[i].name, queries[k]);
            CHECK_TEXT("hints.$maxTimeMS", error.context);
            bson_destroy(query);
        }
    }
    CHECK_INT(DOCUMENTS, count_matches(db, "{'changed':{'$exists':false}}", NULL));
    bson_destroy(hints);
}

/* The thread that cancels. */
static atomic_bool call_begins;

typedef struct canceller {
    tansu_txn *txn;
    unsigned pause;
} canceller;

/* cancel_inside -- cancels a little after the call has begun. */
static void *cancel_inside(void *context) {
    const canceller *c = context;
    while (!atomic_load(&call_begins))
        sched_yield();
    for (unsigned i = 0; i < c->pause; i++)
        sched_yield();
    tansu_txn_cancel(c->txn);
    return NULL;
}

/* cancelled_inside -- whether one try came to it; "txn" is said when the call had not begun. */
static bool cancelled_inside(size_t number, unsigned pause) {
    bson_t *query = bson_from_text(slow), none = BSON_INITIALIZER;
    tansu_error error = {0};
    canceller c = {.pause = pause};
    pthread_t other;
    tansu_txn_mode mode = long_calls[number].writes ? TANSU_TXN_WRITE : TANSU_TXN_READ;
    REQUIRE(CHECK_OK(tansu_txn_begin(db, mode, TANSU_DURABILITY_DEFAULT, &c.txn, &error), &error));
    atomic_store(&call_begins, false);
    REQUIRE(pthread_create(&other, NULL, cancel_inside, &c) == 0);
    atomic_store(&call_begins, true);
    tansu_status status = long_calls[number].call(c.txn, query, &none, &error);
    REQUIRE(pthread_join(other, NULL) == 0);
    CHECK_STATUS(TANSU_E_CANCELLED, tansu_txn_commit(c.txn, NULL, NULL));
    bson_destroy(query);
    CHECK(status == TANSU_OK || status == TANSU_E_CANCELLED);
    return status == TANSU_E_CANCELLED && strcmp(error.context, "txn") != 0;
}

static void every_call_is_cancelled_by_its_transaction(void) {
    for (size_t i = 0; i < LONG_CALLS; i++) {
        bool inside = false;
        for (unsigned try = 0; !inside && try < 50; try++)
            inside = cancelled_inside(i, try % 25);
        if (!CHECK(inside))
            check_note("%s can't be cancelled while it is going on", long_calls[i].name);
    }
    CHECK_INT(DOCUMENTS, count_matches(db, "{'changed':{'$exists':false}}", NULL));
}

/* ---- Waiting for the write lock ---- */

/* start_inside -- starts a transaction while another one writes: it can only be cancelled. */
static void *start_inside(void *context) {
    tansu_error error;
    atomic_store(&call_begins, true);
    CHECK_STATUS(TANSU_E_CANCELLED, tansu_txn_start(context, &error));
    CHECK_TEXT("txn", error.context);
    tansu_txn_abort(context);
    return NULL;
}

static void a_wait_for_the_write_lock_is_cancelled(void) {
    tansu_error error;
    bson_t *doc = bson_from_text("{'new':1}");
    tansu_document one = document_of(doc);
    for (unsigned try = 0; try < 60; try++) {
        tansu_txn *writer, *waiting;
        pthread_t other;
        REQUIRE(CHECK_OK(
            tansu_txn_begin(db, TANSU_TXN_WRITE, TANSU_DURABILITY_DEFAULT, &writer, &error),
            &error));
        REQUIRE(CHECK_OK(
            tansu_txn_prepare(db, TANSU_TXN_WRITE, TANSU_DURABILITY_DEFAULT, &waiting, &error),
            &error));
        atomic_store(&call_begins, false);
        REQUIRE(pthread_create(&other, NULL, start_inside, waiting) == 0);
        while (try > 10 && !atomic_load(&call_begins))
            sched_yield();
        for (unsigned i = 0; i < try % 30; i++)
            sched_yield();
        tansu_txn_cancel(waiting);
        REQUIRE(pthread_join(other, NULL) == 0);
        CHECK_OK(tansu_save(db, writer, "c", &one, 1, TANSU_SAVE, NULL, &error), &error);
        tansu_txn_abort(writer);
    }
    bson_destroy(doc);
    CHECK_INT(DOCUMENTS, count_matches(db, NULL, NULL));
}

static void what_was_not_started_can_do_nothing(void) {
    static const tansu_txn_mode modes[] = {TANSU_TXN_READ, TANSU_TXN_WRITE};
    tansu_error error;
    tansu_txn *txn;
    int64_t count;
    for (size_t i = 0; i < 2; i++) {
        const tansu_durability durability = TANSU_DURABILITY_DEFAULT;
        CHECK_OK(tansu_txn_prepare(db, modes[i], durability, &txn, &error), &error);
        CHECK_STATUS(TANSU_E_INVALID_STATE, tansu_count(db, txn, "c", TANSU_NO_DOCUMENT,
                                                        TANSU_NO_DOCUMENT, &count, &error));
        CHECK_STATUS(TANSU_E_INVALID_STATE, tansu_collection_drop(db, txn, "c", &error));
        CHECK_OK(tansu_txn_start(txn, &error), &error);
        CHECK_STATUS(TANSU_E_INVALID_STATE, tansu_txn_start(txn, &error));
        CHECK_OK(tansu_count(db, txn, "c", TANSU_NO_DOCUMENT, TANSU_NO_DOCUMENT, &count, &error),
                 &error);
        CHECK_INT(DOCUMENTS, count);
        CHECK_OK(tansu_txn_commit(txn, NULL, &error), &error);
        CHECK_OK(tansu_txn_prepare(db, modes[i], durability, &txn, &error), &error);
        CHECK_STATUS(TANSU_E_INVALID_STATE, tansu_txn_commit(txn, NULL, &error));
        CHECK_OK(tansu_txn_prepare(db, modes[i], durability, &txn, &error), &error);
        tansu_txn_cancel(txn);
        CHECK_STATUS(TANSU_E_CANCELLED, tansu_txn_start(txn, &error));
        tansu_txn_abort(txn);
    }
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, tansu_txn_start(NULL, &error));
}

/* ---- Single steps ---- */

/* What comparisons do with comparing; by one thread. */
static interrupt asked;
static uint64_t compared;
static uint64_t ask_at; /* the comparison that asks for the end; 0: none */

/* compare_numbers -- two uint32_t. */
static int compare_numbers(const void *left, const void *right) {
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    if (++compared == ask_at)
        interrupt_ask(&asked);
    return (a > b) - (a < b);
}

/* sort_random -- sorts random numbers with qsort(); the same numbers must come out in any case. */
static tansu_status sort_random(size_t count, const deadline *w) {
    random_source r = random_start(count);
    uint32_t *one = malloc((count + 1) * sizeof *one), *other = malloc((count + 1) * sizeof *other);
    REQUIRE(one && other);
    for (size_t i = 0; i < count; i++)
        one[i] = other[i] = (uint32_t)random_below(&r, count);
    compared = 0;
    tansu_status status = merge_sort(one, count, sizeof *one, compare_numbers, w, NULL);
    uint64_t after = compared;
    ask_at = 0;
    qsort(other, count, sizeof *other, compare_numbers);
    if (status != TANSU_OK)
        qsort(one, count, sizeof *one, compare_numbers);
    CHECK(memcmp(one, other, count * sizeof *one) == 0);
    compared = after;
    free(one);
    free(other);
    return status;
}

static void items_are_sorted(void) {
    static const size_t counts[] = {0, 1, 2, 4095, 4096, 4097, 8192, 8193, 12289, 50000, 70001};
    const deadline none = {0};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        CHECK_STATUS(TANSU_OK, sort_random(counts[i], &none));
}

static void a_sort_is_stopped_soon(void) {
    /* While short runs are sorted, and while they are merged; all of it takes some 4 million. */
    static const uint64_t moments[] = {1, 100 * 1000, 3500 * 1000};
    for (size_t i = 0; i < sizeof moments / sizeof *moments; i++) {
        const deadline w = {.interrupt = &asked};
        memset(&asked, 0, sizeof asked);
        ask_at = moments[i];
        CHECK_STATUS(TANSU_E_CANCELLED, sort_random(1 << 18, &w));
        /* A merge sort of one step takes 12 comparisons an item, the smoothsort of musl's qsort()
         * up to 29. */
        CHECK(compared >= moments[i] && compared < moments[i] + SORT_STEP * 32);
    }
    const deadline over = {.milliseconds = 1, .end = 1};
    CHECK_STATUS(TANSU_E_TIMEOUT, sort_random(1 << 18, &over));
    CHECK_INT(0, compared);
}

/* results_are_in_sorted_order -- documents in an order, and keys of groups. */
static void results_are_in_sorted_order(void) {
    arena memory = {0};
    key_set set = {0};
    size_t used = 0;
    hit first;
    key_set_item **items;
    const path_part part = {"n", 1, -1};
    const path n = {(path_part *)&part, 1, (char *)"n"};
    const order_path order = {&n, false};
    tansu_error error;
    const deadline over = {.milliseconds = 1, .end = 1}, none = {0};
    deadline present = over;
    const sorter_options options = {.order = &order,
                                    .order_count = 1,
                                    .keep = UINT64_MAX,
                                    .deadline = &present,
                                    .memory = (size_t)1 << 30};
    sorter *s = sorter_new(&options);
    REQUIRE(s != NULL);
    for (uint32_t i = 0; i < 3 * SORT_STEP; i++) {
        bson_t doc = BSON_INITIALIZER;
        uint8_t key[4] = {(uint8_t)(i >> 8), (uint8_t)i, 1, 1};
        hit h = {.rid = i};
        bool added;
        BSON_APPEND_INT32(&doc, "n", -(int32_t)i);
        CHECK_OK(sorter_add(s, &h, bson_get_data(&doc), doc.len, &error), &error);
        bson_destroy(&doc);
        REQUIRE(key_set_add(&set, &memory, key, sizeof key, sizeof(key_set_item), &added, &used));
    }
    CHECK_STATUS(TANSU_E_TIMEOUT, sorter_finish(s, &error));
    CHECK_TEXT("hints.$maxTimeMS", error.context);
    CHECK_STATUS(TANSU_E_TIMEOUT, key_set_sorted(&set, &over, &items, &error));
    present = none;
    REQUIRE(CHECK_OK(sorter_finish(s, &error), &error));
    REQUIRE(CHECK_OK(sorter_next(s, &first, &error), &error));
    CHECK_INT(3 * SORT_STEP - 1, first.rid);
    for (int i = 1; i < 3 * SORT_STEP; i++)
        CHECK_STATUS(TANSU_OK, sorter_next(s, &first, &error));
    CHECK_INT(0, first.rid);
    CHECK_STATUS(TANSU_DONE, sorter_next(s, &first, &error));
    REQUIRE(CHECK_OK(key_set_sorted(&set, &none, &items, &error), &error));
    CHECK_INT(0, items[0]->key[1]);
    free(items);
    sorter_free(s);
    arena_free(&memory);
}

/* large_document -- an array, a document and a text that take thousands of steps to be read. */
static bson_t *large_document(void) {
    bson_t *doc = bson_new(), inner;
    char key[16], *text = malloc(1000001);
    REQUIRE(text != NULL);
    memset(text, 'x', 1000000);
    text[1000000] = 0;
    bson_append_utf8(doc, "text", -1, text, 1000000);
    free(text);
    bson_append_utf8(doc, "word", -1, "x", -1);
    bson_append_array_begin(doc, "list", -1, &inner);
    for (int i = 0; i < 20000; i++) {
        snprintf(key, sizeof key, "%d", i);
        bson_append_int32(&inner, key, -1, i);
    }
    bson_append_array_end(doc, &inner);
    bson_append_document_begin(doc, "fields", -1, &inner);
    for (int i = 0; i < 20000; i++) {
        snprintf(key, sizeof key, "k%d", i);
        bson_append_int32(&inner, key, -1, i);
    }
    bson_append_document_end(doc, &inner);
    return doc;
}

/* Every keyword that reads a value through looks at the time while it does. */
static void every_keyword_of_a_schema_keeps_to_its_deadline(void) {
    static const char *const schemas[] = {
        "{'properties':{'list':{'maxItems':20000}}}",
        "{'properties':{'list':{'uniqueItems':true}}}",
        "{'properties':{'list':{'items':{}}}}",
        "{'properties':{'list':{'contains':{'const':19999}}}}",
        "{'properties':{'list':{'not':{'enum':[1]}}}}",
        "{'properties':{'text':{'maxLength':1000000}}}",
        "{'properties':{'text':{'not':{'enum':['x']}}}}",
        "{'properties':{'word':{'pattern':'x'}}}",
        "{'patternProperties':{'^w':{}}}",
        "{'properties':{'fields':{'maxProperties':20000}}}",
        "{'properties':{'fields':{'required':['k1']}}}",
        "{'properties':{'fields':{'properties':{'x':{}}}}}",
        "{'properties':{'fields':{'propertyNames':{'maxLength':9}}}}",
        "{'properties':{'fields':{'dependentRequired':{'k1':['k2']}}}}",
        "{'properties':{'fields':{'unevaluatedProperties':{}}}}",
    };
    static const deadline none;
    const deadline over = {.milliseconds = 1, .end = 1};
    bson_t *doc = large_document();
    for (size_t i = 0; i < sizeof schemas / sizeof *schemas; i++) {
        arena memory = {0};
        regex *regexes = NULL;
        const document_test *test = NULL;
        tansu_error error;
        bson_t *text = bson_from_text(schemas[i]);
        doc_value value = {bson_get_data(text), text->len, DOC_DOCUMENT};
        REQUIRE(schema_test_new(&memory, &regexes, &value, &none, &test, &error) == TANSU_OK);
        match_context in_time = {.status = TANSU_OK}, late = {.deadline = &over};
        bool ok = CHECK(test->holds(test, &in_time, bson_get_data(doc), doc->len));
        test->holds(test, &late, bson_get_data(doc), doc->len);
        if (!CHECK_STATUS(TANSU_E_TIMEOUT, late.status) || !ok)
            check_note("    %s", schemas[i]);
        match_context_free(&in_time);
        match_context_free(&late);
        regex_free_all(regexes);
        arena_free(&memory);
        bson_destroy(text);
    }
    bson_destroy(doc);
}

static void null_arguments_are_accepted(void) {
    tansu_cursor_cancel(NULL);
    tansu_txn_cancel(NULL);
    CHECK(true);
}

int main(void) {
    library_regex_start();
    if (library_pcre2())
        RUN(few_documents_keep_to_a_deadline);
    fill();
    RUN(a_query_keeps_to_its_deadline);
    RUN(a_cursor_outlives_its_deadline);
    RUN(a_cursor_is_cancelled_from_another_thread);
    RUN(a_cancelled_transaction_keeps_nothing);
    RUN(every_call_keeps_to_its_deadline);
    RUN(every_call_is_cancelled_by_its_transaction);
    RUN(a_wait_for_the_write_lock_is_cancelled);
    RUN(what_was_not_started_can_do_nothing);
    RUN(items_are_sorted);
    RUN(a_sort_is_stopped_soon);
    RUN(results_are_in_sorted_order);
    RUN(every_keyword_of_a_schema_keeps_to_its_deadline);
    RUN(null_arguments_are_accepted);
    memory_db_close(db);
    return check_finish();
}
