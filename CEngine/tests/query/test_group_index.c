/*
 * test_group_index.c -- groups, counts and distinct values from an index: random documents, and the
 * same bytes as without one, whatever the index, the collation and the hint; and the short form of
 * groups, tansu_aggregate(), against the pipeline that it is short for.
 *
 * TANSU_SEED=n repeats a run, TANSU_ROUNDS=n is how many databases are compared (20).
 */
#include "support/calls/call.h"
#include "support/calls/document_of.h"
#include "support/calls/query_calls.h"
#include "support/check.h"
#include "support/random/random.h"
#include "util/buffer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_ROUNDS 20

/* ---- Documents ---- */

/* append_value -- one of few values, so that many are equal, of numbers in all types; or one of
 * many. */
static void append_value(random_source *r, bson_t *doc, const char *key, int values, bool array) {
    static const char *const words[] = {"a", "A", "b", "B", "a10", "a9", ""};
    const char *word = words[random_below(r, 7)];
    int number = (int)random_below(r, (uint64_t)values);
    bson_t list;
    switch (random_below(r, array ? 10 : 9)) {
    case 0: break;
    case 1: BSON_APPEND_NULL(doc, key); break;
    case 2: BSON_APPEND_UNDEFINED(doc, key); break;
    case 3:
    case 4: BSON_APPEND_INT32(doc, key, number); break;
    case 5: BSON_APPEND_INT64(doc, key, number); break;
    case 6: BSON_APPEND_DOUBLE(doc, key, number / 2.0); break;
    case 7: BSON_APPEND_UTF8(doc, key, word); break;
    case 8: BSON_APPEND_BOOL(doc, key, number % 2 == 0); break;
    default:
        bson_append_array_begin(doc, key, -1, &list);
        BSON_APPEND_INT32(&list, "0", number);
        BSON_APPEND_INT32(&list, "1", number + 1);
        bson_append_array_end(doc, &list);
    }
}

/* fill -- documents {a, s: {b}, u}, where `u` has many values. Undefined ones are rare. */
static void fill(random_source *r, tansu_db *db, tansu_txn *txn, int count, bool arrays) {
    for (int i = 0; i < count; i++) {
        bson_t doc = BSON_INITIALIZER, sub;
        append_value(r, &doc, "a", 6, arrays && random_chance(r, 5));
        BSON_APPEND_DOCUMENT_BEGIN(&doc, "s", &sub);
        append_value(r, &sub, "b", 20, arrays && random_chance(r, 5));
        bson_append_document_end(&doc, &sub);
        BSON_APPEND_INT32(&doc, "u", (int32_t)random_below(r, 2000));
        REQUIRE(CHECK_OK(call_save_bson(db, txn, "c", TANSU_SAVE, &doc), &call_error));
        bson_destroy(&doc);
    }
}

/* add_indexes -- some of these. */
static void add_indexes(random_source *r, tansu_db *db) {
    static const char *const indexes[][2] = {
        {"{'a':1}", NULL},
        {"{'a':-1}", NULL},
        {"{'a':1}", "{'caseInsensitive':true}"},
        {"{'a':1,'u':1}", NULL},
        {"{'s.b':1}", NULL},
        {"{'s.b':-1}", "{'sparse':true}"},
        {"{'u':1}", NULL},
        {"{'u':1}", "{'partialFilter':{'u':{'$lt':1000}}}"},
    };
    for (size_t i = 0; i < sizeof indexes / sizeof *indexes; i++) {
        char name[12];
        snprintf(name, sizeof name, "i%zu", i);
        if (random_chance(r, 50))
            create_index(db, name, indexes[i][0], indexes[i][1]);
    }
}

/* ---- Calls ---- */

static tansu_error error;

/* run -- all that a pipeline returns, or an answer {"groups": …} or {"values": …}. */
static void run(tansu_db *db, tansu_txn *txn, const char *call, const char *query,
                const char *hints, tansu_buffer *out) {
    char text[1000];
    bson_t *q = bson_from_text(query), *h = bson_from_text(hints), *given = NULL;
    tansu_status status;
    tansu_cursor *cursor = NULL;
    tansu_document document;
    out->size = 0;
    if (call[0] == '[') {
        snprintf(text, sizeof text, "{'p':[{'$match':%s},%s}", query, call + 1);
        given = bson_from_text(text);
        bson_iter_t iter;
        uint32_t size;
        const uint8_t *bytes;
        REQUIRE(bson_iter_init_find(&iter, given, "p"));
        bson_iter_array(&iter, &size, &bytes);
        status = tansu_pipeline(db, txn, "c", (tansu_document){bytes, size}, document_of(h),
                                &cursor, &error);
        while (status == TANSU_OK &&
               (status = tansu_cursor_next(cursor, &document, &error)) == TANSU_OK)
            REQUIRE(buffer_append(out, document.data, document.size));
        status = status == TANSU_DONE ? TANSU_OK : status;
        tansu_cursor_close(cursor);
    } else if (call[0] == '{') {
        given = bson_from_text(call);
        status = tansu_aggregate(db, txn, "c", document_of(q), document_of(given), document_of(h),
                                 out, &error);
    } else {
        status = tansu_distinct(db, txn, "c", call, document_of(q), document_of(h), out, &error);
    }
    CHECK_OK(status, &error);
    bson_destroy(q);
    bson_destroy(h);
    if (given)
        bson_destroy(given);
}

static const char *const calls[] = {
    "[{'$group':{'_id':'$a','n':{'$sum':1}}}]",
    "[{'$group':{'_id':'$a'}}]",
    "[{'$group':{'_id':'$s.b','n':{'$count':{}},'m':{'$sum':1}}}]",
    "[{'$group':{'_id':'$u','n':{'$sum':1}}},{'$limit':50}]",
    "[{'$sortByCount':'$s.b'}]",
    "[{'$count':'n'}]",
    "[{'$limit':100},{'$count':'n'}]",
    "[{'$sort':{'u':-1}},{'$group':{'_id':'$a','n':{'$sum':1}}}]",
    "[{'$group':{'_id':null,'n':{'$sum':1}}}]",
    "[{'$group':{'_id':7,'lo':{'$min':'$a'},'hi':{'$max':'$a'}}}]",
    "[{'$group':{'_id':null,'lo':{'$min':'$s.b'},'n':{'$sum':1},'hi':{'$max':'$u'}}}]",
    "[{'$group':{'_id':null}}]",
    "[{'$group':{'_id':'$a','x':{'$max':'$u'}}}]",
    "{'by':'a','fields':{'n':{'$count':true}}}",
    "{'by':'s.b'}",
    "{'by':'a','fields':{'n':{'$sum':1}}}",
    "{'by':{'k':'u'},'fields':{'n':{'$count':true}}}",
    "{'fields':{'n':{'$count':true},'lo':{'$min':'a'},'hi':{'$max':'a'}}}",
    "{'fields':{'lo':{'$min':'s.b'}}}",
    "a",
    "s.b",
    "u",
};

static const char *const queries[] = {"{}",
                                      "{'a':{'$gt':1}}",
                                      "{'a':{'$in':[1,'a',null]}}",
                                      "{'s.b':{'$lte':8}}",
                                      "{'u':{'$lt':700}}",
                                      "{'u':{'$lt':-1}}",
                                      "{'a':{'$exists':true},'u':{'$gte':100}}"};

/* used_index -- whether a call says that it took its answer from an index. */
static bool used_index(tansu_db *db, const char *call, const char *query, const char *collation) {
    char hints[200];
    tansu_buffer plan = TANSU_BUFFER_INIT;
    bson_t doc;
    snprintf(hints, sizeof hints, "{'$explain':true%s}", collation);
    run(db, NULL, call, query, hints, &plan);
    REQUIRE(bson_init_static(&doc, plan.data, plan.size));
    char *json = bson_as_relaxed_extended_json(&doc, NULL);
    bool used = strstr(json, "\"from\" : \"index\"") != NULL;
    bson_free(json);
    tansu_buffer_free(&plan);
    return used;
}

static uint64_t from_index;

/* compare -- every call with and without indexes. */
static bool compare(random_source *r, tansu_db *db, tansu_txn *txn) {
    static const char *const collations[] = {"", "", ",'$collation':'caseInsensitive'",
                                             ",'$collation':'numeric'"};
    tansu_buffer expected = TANSU_BUFFER_INIT, answer = TANSU_BUFFER_INIT;
    bool same = true;
    for (size_t i = 0; same && i < sizeof calls / sizeof *calls; i++) {
        const char *query = queries[random_below(r, sizeof queries / sizeof *queries)];
        const char *collation = collations[random_below(r, 4)];
        char hints[200];
        snprintf(hints, sizeof hints, "{'$index':false%s}", collation);
        run(db, txn, calls[i], query, hints, &expected);
        snprintf(hints, sizeof hints, "{'$maxTimeMS':100000%s}", collation);
        run(db, txn, calls[i], query, hints, &answer);
        same = CHECK_BYTES(expected.data, expected.size, answer.data, answer.size);
        if (!same)
            check_note("%s, query %s, hints %s", calls[i], query, hints);
        from_index += txn == NULL && used_index(db, calls[i], query, collation);
    }
    tansu_buffer_free(&expected);
    tansu_buffer_free(&answer);
    return same;
}

static void indexes_change_no_group(void) {
    uint64_t rounds = random_rounds("TANSU_ROUNDS", DEFAULT_ROUNDS);
    bool same = true;
    for (uint64_t round = 0; same && round < rounds; round++) {
        random_source r = random_start(round);
        tansu_db *db = call_open(NULL);
        fill(&r, db, NULL, 50 + (int)random_below(&r, 1200), random_chance(&r, 20));
        add_indexes(&r, db);
        same = compare(&r, db, NULL);
        tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
        fill(&r, db, txn, 60, random_chance(&r, 20));
        same = same && compare(&r, db, txn);
        tansu_txn_abort(txn);
        call_close(db);
    }
    if (rounds >= DEFAULT_ROUNDS)
        CHECK(from_index > rounds);
}

static void a_collection_may_not_be_there(void) {
    random_source r = random_start(2000);
    tansu_db *db = call_open(NULL);
    compare(&r, db, NULL);
    tansu_buffer answer = TANSU_BUFFER_INIT;
    run(db, NULL, "[{'$count':'n'}]", "{}", "{}", &answer);
    CHECK_INT(0, answer.size);
    run(db, NULL, "[{'$group':{'_id':null,'n':{'$sum':1}}}]", "{}", "{}", &answer);
    CHECK_INT(0, answer.size);
    tansu_buffer_free(&answer);
    call_close(db);
}

/* ---- The short form ---- */

static const char *const forms[][2] = {
    {"{'by':'a','fields':{'n':{'$count':true},'s':{'$sum':'u'}}}",
     "[{'$group':{'_id':{'$ifNull':['$a',null]},'n':{'$sum':{'$toLong':1}},'s':{'$sum':{'$toLong':'"
     "$"
     "u'}}}},{'$sort':{'_id':1}},{'$project':{'_id':0,'a':'$_id','n':1,'s':1}},{'$replaceWith':{"
     "'a':'$a','n':'$n','s':'$s'}}]"},
    {"{'by':{'x':'u'},'fields':{'lo':{'$min':'s.b'},'hi':{'$max':'s.b'},'m':{'$avg':'s.b'}}}",
     "[{'$group':{'_id':'$u','lo':{'$min':'$s.b'},'hi':{'$max':'$s.b'},'m':{'$avg':'$s.b'}}},{"
     "'$sort':{'_id':1}},{'$replaceWith':{'x':'$_id','lo':'$lo','hi':'$hi','m':'$m'}}]"},
    {"{'fields':{'f':{'$first':'u'},'l':{'$last':'u'}}}",
     "[{'$group':{'_id':null,'f':{'$first':'$u'},'l':{'$last':'$u'}}},{'$project':{'_id':0}}]"},
};

/* rows_of -- the documents in the array of {"groups": […]}, one after the other. */
static void rows_of(const tansu_buffer *answer, tansu_buffer *rows) {
    bson_t doc;
    bson_iter_t groups, row;
    rows->size = 0;
    REQUIRE(bson_init_static(&doc, answer->data, answer->size) && bson_iter_init(&groups, &doc) &&
            bson_iter_next(&groups) && bson_iter_recurse(&groups, &row));
    while (bson_iter_next(&row)) {
        uint32_t size;
        const uint8_t *bytes;
        bson_iter_document(&row, &size, &bytes);
        REQUIRE(buffer_append(rows, bytes, size));
    }
}

/* the_short_form_is_a_pipeline -- of documents without arrays, whose elements count in it. */
static void the_short_form_is_a_pipeline(void) {
    random_source r = random_start(1000);
    tansu_db *db = call_open(NULL);
    tansu_buffer expected = TANSU_BUFFER_INIT, answer = TANSU_BUFFER_INIT, rows = TANSU_BUFFER_INIT;
    fill(&r, db, NULL, 800, false);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        for (size_t k = 0; k < 3; k++) {
            run(db, NULL, forms[i][0], queries[k], "{}", &answer);
            rows_of(&answer, &rows);
            run(db, NULL, forms[i][1], queries[k], "{}", &expected);
            if (!CHECK_BYTES(expected.data, expected.size, rows.data, rows.size))
                check_note("%s, query %s", forms[i][0], queries[k]);
        }
    }
    tansu_buffer_free(&expected);
    tansu_buffer_free(&answer);
    tansu_buffer_free(&rows);
    call_close(db);
}

int main(void) {
    RUN(indexes_change_no_group);
    RUN(a_collection_may_not_be_there);
    RUN(the_short_form_is_a_pipeline);
    check_note("%" PRIu64 " answers from an index", from_index);
    return check_finish();
}
