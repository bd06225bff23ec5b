/*
 * test_subquery.c -- $in and $nin with a subquery: what it selects, where it may stand, what is an
 * error, what explain says of it, and the limits on its work. test_subquery_differential.c has
 * random cases.
 */
#include "support/calls/call.h"
#include "support/calls/document_of.h"
#include "support/calls/query_calls.h"
#include "support/check.h"
#include "support/fault/fault_injection.h"

#include <stdio.h>
#include <string.h>

/* books_and_authors -- "c" has books, "authors" who wrote them. */
static tansu_db *books_and_authors(void) {
    tansu_db *db = memory_db_with((const char *const[]){
        "{'_id': 1, 'author': 10, 'year': 1969, 'tags': ['a', 'b']}",
        "{'_id': 2, 'author': 10.0, 'year': 1974, 'tags': ['b']}",
        "{'_id': 3, 'author': 11, 'year': 1949, 'tags': []}",
        "{'_id': 4, 'author': [11, 12], 'year': 1980, 'parts': [{'by': 10}, {'by': 13}]}",
        "{'_id': 5, 'author': null, 'year': 1990}", "{'_id': 6, 'year': 2000}", NULL});
    call_save(db, NULL, "authors", TANSU_SAVE, "{'_id': 10, 'name': 'Le Guin', 'likes': 'b'}");
    call_save(db, NULL, "authors", TANSU_SAVE, "{'_id': 11, 'name': 'Orwell', 'likes': 'z'}");
    call_save(db, NULL, "authors", TANSU_SAVE, "{'_id': 12, 'name': 'Lem', 'likes': ['A', 'b']}");
    call_save(db, NULL, "authors", TANSU_SAVE, "{'_id': 13, 'name': 'Ōe', 'likes': null}");
    return db;
}

/* ids_of -- the `_id`s of another collection, as find_ids(). */
static const char *ids_of(tansu_db *db, const char *collection, const char *query) {
    return call_find(db, NULL, collection, query, "{'$fields': {'_id': 1}}");
}

/* ---- What it selects ---- */

static void both_directions(void) {
    tansu_db *db = books_and_authors();
    CHECK_TEXT("1 2",
               find_ids(db,
                        "{'author': {'$in': {'$from': 'authors', '$query': {'name': 'Le Guin'}}}}",
                        NULL));
    CHECK_TEXT("{ \"_id\" : 10 } { \"_id\" : 11 } { \"_id\" : 12 }",
               ids_of(db, "authors",
                      "{'_id': {'$in': {'$from': 'c', '$field': 'author', '$query': {'year': "
                      "{'$gt': 1970}}}}}"));
    CHECK_TEXT("{ \"_id\" : 13 }",
               ids_of(db, "authors", "{'_id': {'$nin': {'$from': 'c', '$field': 'author'}}}"));
    /* Through an array of documents, and in three steps. */
    CHECK_TEXT("{ \"_id\" : 10 } { \"_id\" : 13 }",
               ids_of(db, "authors", "{'_id': {'$in': {'$from': 'c', '$field': 'parts.by'}}}"));
    CHECK_TEXT("1 2 4",
               find_ids(db,
                        "{'author': {'$in': {'$from': 'authors', '$query': {'likes': {'$in': "
                        "{'$from': 'c', '$field': 'tags', '$query': {'_id': 1}}}}}}}",
                        NULL));
    call_close(db);
}

/* null_and_missing -- null is a value, a missing field yields none; null selects missing ones. */
static void null_and_missing(void) {
    tansu_db *db = books_and_authors();
    CHECK_TEXT("5 6", find_ids(db,
                               "{'author': {'$in': {'$from': 'authors', '$field': 'likes', "
                               "'$query': {'_id': 13}}}}",
                               NULL));
    CHECK_TEXT("",
               find_ids(db, "{'author': {'$in': {'$from': 'authors', '$field': 'none'}}}", NULL));
    CHECK_TEXT("1 2 3 4 5 6",
               find_ids(db, "{'author': {'$nin': {'$from': 'authors', '$field': 'none'}}}", NULL));
    CHECK_TEXT("", find_ids(db, "{'author': {'$in': {'$from': 'nowhere'}}}", NULL));
    CHECK_TEXT("1 2 3 4 5 6", find_ids(db, "{'author': {'$nin': {'$from': 'nowhere'}}}", NULL));
    CHECK_TEXT("", call_find(db, NULL, "nowhere", "{'_id': {'$in': {'$from': 'c'}}}", NULL));
    call_close(db);
}

/* regular_expressions_are_values -- a stored one is no pattern, as it is in an array. */
static void regular_expressions_are_values(void) {
    tansu_db *db = memory_db_with(
        (const char *const[]){"{'_id': 1, 's': 'abc'}",
                              "{'_id': 2, 's': {'$regularExpression': {'pattern': 'b', "
                              "'options': ''}}}",
                              NULL});
    CHECK_TEXT("2", find_ids(db,
                             "{'s': {'$in': {'$from': 'c', '$field': 's', '$query': {'_id': "
                             "2}}}}",
                             NULL));
    call_close(db);
}

/* where_it_may_stand -- below logic, $elemMatch, $not, wildcard paths and $icase. */
static void where_it_may_stand(void) {
    tansu_db *db = books_and_authors();
    const char *in = "{'$in': {'$from': 'authors', '$field': 'likes'}}";
    char query[400];
    /* The values are "b", "z", "A" and null, which selects missing ones. */
    static const struct {
        const char *form, *ids;
    } cases[] = {{"{'tags': %s}", "1 2 4 5 6"},
                 {"{'tags': {'$not': %s}}", "3"},
                 {"{'tags': {'$elemMatch': %s}}", "1 2"},
                 {"{'$and': [{'tags': %s}, {'year': 1974}]}", "2"},
                 {"{'$or': [{'tags': %s}, {'year': 1949}]}", "1 2 3 4 5 6"},
                 {"{'$nor': [{'tags': %s}, {'year': 1949}]}", ""},
                 {"{'tags': {'$or': [%s, {'$size': 0}]}}", "1 2 3 4 5 6"},
                 {"{'**': {'$elemMatch': %s}}", "1 2"},
                 {"{'tags': {'$icase': {'$in': {'$from': 'authors', '$field': 'likes', '$query': "
                  "{'_id': 12}}}}}",
                  "1 2"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(query, sizeof query, cases[i].form, in);
        char answer[200];
        snprintf(answer, sizeof answer, "%s", find_ids(db, query, NULL));
        if (!CHECK_TEXT(cases[i].ids, answer))
            check_note("%s", query);
    }
    /* The collation of the call applies to both. */
    CHECK_TEXT("1", find_ids(db,
                             "{'tags': {'$in': {'$from': 'authors', '$field': 'likes', '$query': "
                             "{'name': 'LEM', 'likes': 'a'}}}, 'year': 1969}",
                             "{'$collation': 'caseInsensitive'}"));
    CHECK_TEXT("", find_ids(db,
                            "{'tags': {'$in': {'$from': 'authors', '$field': 'likes', '$query': "
                            "{'name': 'LEM', 'likes': 'a'}}}, 'year': 1969}",
                            NULL));
    call_close(db);
}

/* in_changes -- updates with the matched element, removals, upserts, and what a transaction has
 * changed itself. */
static void in_changes(void) {
    tansu_db *db = books_and_authors();
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    const char *query = "{'author': {'$in': {'$from': 'authors', '$query': {'name': 'New'}}}}";
    CHECK_INT(0, call_count(db, txn, "c", query));
    call_save(db, txn, "authors", TANSU_SAVE, "{'_id': 12, 'name': 'New'}");
    CHECK_INT(1, call_count(db, txn, "c", query));
    CHECK_INT(0, call_count(db, NULL, "c", query));
    /* A cursor keeps the values that there were when it was opened. */
    tansu_cursor *cursor = call_cursor(db, txn, "c", query, "{'$fields': {'_id': 1}}");
    call_save(db, txn, "authors", TANSU_SAVE, "{'_id': 12, 'name': 'Old'}");
    CHECK_TEXT("{ \"_id\" : 4 }", call_next(cursor));
    CHECK_TEXT("", call_next(cursor));
    tansu_cursor_close(cursor);
    tansu_txn_abort(txn);
    bson_t *q = bson_from_text(
        "{'tags': {'$in': {'$from': 'authors', '$field': 'likes', '$query': {'_id': 10}}}}");
    bson_t *u = bson_from_text("{'$set': {'tags.$': 'found'}}");
    CHECK_OK(tansu_update(db, NULL, "c", document_of(q), document_of(u), TANSU_NO_DOCUMENT, NULL,
                          &call_error),
             &call_error);
    CHECK_TEXT("{ \"_id\" : 1, \"author\" : 10, \"year\" : 1969, \"tags\" : [ \"a\", \"found\" ] }",
               call_get(db, NULL, "c", "{'_id': 1}"));
    bson_destroy(q);
    bson_destroy(u);
    int64_t removed;
    CHECK_STATUS(TANSU_OK,
                 call_remove(db, NULL, "authors",
                             "{'_id': {'$nin': {'$from': 'c', '$field': 'author'}}}", &removed));
    CHECK_INT(1, removed);
    call_close(db);
}

/* ---- Errors ---- */

static void what_is_an_error(void) {
    tansu_db *db = books_and_authors();
    static const struct {
        const char *query, *answer;
    } cases[] = {
        {"{'a': {'$in': {}}}", "INVALID_QUERY a.$in.$from"},
        {"{'a': {'$in': 'authors'}}", "INVALID_QUERY a.$in"},
        {"{'a': {'$nin': {'$query': {}}}}", "INVALID_QUERY a.$nin.$from"},
        {"{'a': {'$in': {'$from': 5}}}", "INVALID_QUERY a.$in.$from"},
        {"{'a': {'$in': {'$from': ''}}}", "INVALID_QUERY a.$in.$from"},
        {"{'a': {'$in': {'$from': '$x'}}}", "INVALID_QUERY a.$in.$from"},
        {"{'a': {'$in': {'$from': 'x\\u0000'}}}", "INVALID_QUERY a.$in.$from"},
        {"{'a': {'$in': {'$from': 'x', 'b': 1}}}", "INVALID_QUERY a.$in.b"},
        {"{'a': {'$in': {'$from': 'x', '$max': 1}}}", "INVALID_QUERY a.$in.$max"},
        {"{'a': {'$in': {'$from': 'x', '$field': 1}}}", "INVALID_QUERY a.$in.$field"},
        {"{'a': {'$in': {'$from': 'x', '$field': ''}}}", "INVALID_QUERY a.$in.$field"},
        {"{'a': {'$in': {'$from': 'x', '$field': 'b.$'}}}", "INVALID_QUERY a.$in.$field"},
        {"{'a': {'$in': {'$from': 'x', '$field': '**'}}}", "INVALID_QUERY a.$in.$field"},
        {"{'a': {'$in': {'$from': 'x', '$query': 1}}}", "INVALID_QUERY a.$in.$query"},
        {"{'a': {'$in': {'$from': 'x', '$query': {'b': {'$gtt': 1}}}}}",
         "INVALID_QUERY a.$in.$query.b.$gtt"},
        {"{'a': {'$in': {'$from': 'x', '$query': {'$do': {}}}}}", "INVALID_QUERY a.$in.$query.$do"},
        {"{'$or': [{'a': {'$in': {'$from': 'x', '$query': {'b': {'$in': {}}}}}}]}",
         "INVALID_QUERY $or.0.a.$in.$query.b.$in.$from"},
        {"{'a': {'$all': [{'$from': 'x'}]}}", "INVALID_QUERY a.$all"},
        {"{'a': {'$in': [{'$from': 'x'}]}}", "INVALID_QUERY a.$in"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (!CHECK_TEXT(cases[i].answer, find_ids(db, cases[i].query, NULL)))
            check_note("%s", cases[i].query);
    }
    CHECK_TEXT(
        "INVALID_QUERY hints.$fields.tags.$elemMatch.$in",
        find_ids(db, "{}", "{'$fields': {'tags': {'$elemMatch': {'$in': {'$from': 'x'}}}}}"));
    call_close(db);
}

/* no_place_for_a_subquery -- where no collection can be read. */
static void no_place_for_a_subquery(void) {
    tansu_db *db = books_and_authors();
    CHECK_STATUS(TANSU_E_INVALID_QUERY,
                 call_index(db, NULL, "c", "i", "{'a': 1}",
                            "{'partialFilter': {'a': {'$in': {'$from': 'authors'}}}}"));
    CHECK_TEXT("partialFilter.a.$in", call_error.context);
    bson_t *q = bson_from_text("{'a': {'$in': {'$from': 'authors'}}}");
    tansu_matcher *matcher = NULL;
    CHECK_STATUS(TANSU_E_INVALID_QUERY, tansu_matcher_new(document_of(q), &matcher, &call_error));
    CHECK_TEXT("a.$in", call_error.context);
    static const struct {
        const char *update, *hints;
    } cases[] = {{"{'$pull': {'tags': {'$in': {'$from': 'authors'}}}}", "{}"},
                 {"{'$set': {'tags.$[x]': 1}}",
                  "{'$arrayFilters': [{'x': {'$in': {'$from': 'authors'}}}]}"}};
    for (size_t i = 0; i < 2; i++) {
        bson_t *u = bson_from_text(cases[i].update), *h = bson_from_text(cases[i].hints);
        CHECK_STATUS(TANSU_E_INVALID_QUERY,
                     tansu_update(db, NULL, "c", TANSU_NO_DOCUMENT, document_of(u), document_of(h),
                                  NULL, &call_error));
        bson_destroy(u);
        bson_destroy(h);
    }
    bson_destroy(q);
    call_close(db);
}

/* nested -- a query with subqueries inside each other. */
static bson_t *nested(int depth) {
    bson_t *query = bson_new();
    if (depth > 0) {
        bson_t a, sub, *inner = nested(depth - 1);
        BSON_APPEND_DOCUMENT_BEGIN(query, "_id", &a);
        BSON_APPEND_DOCUMENT_BEGIN(&a, "$in", &sub);
        BSON_APPEND_UTF8(&sub, "$from", "c");
        BSON_APPEND_DOCUMENT(&sub, "$query", inner);
        bson_append_document_end(&a, &sub);
        bson_append_document_end(query, &a);
        bson_destroy(inner);
    }
    return query;
}

static void limits_of_number_and_depth(void) {
    tansu_db *db = books_and_authors();
    int64_t count;
    for (int depth = 16; depth <= 17; depth++) {
        bson_t *query = nested(depth);
        CHECK_STATUS(
            depth == 16 ? TANSU_OK : TANSU_E_INVALID_QUERY,
            tansu_count(db, NULL, "c", document_of(query), TANSU_NO_DOCUMENT, &count, &call_error));
        CHECK_INT(depth == 16 ? 6 : 0, count);
        bson_destroy(query);
    }
    for (int number = 100; number <= 101; number++) {
        bson_t query = BSON_INITIALIZER, list, one, a, sub;
        BSON_APPEND_ARRAY_BEGIN(&query, "$and", &list);
        for (int i = 0; i < number; i++) {
            char key[16];
            snprintf(key, sizeof key, "%d", i);
            BSON_APPEND_DOCUMENT_BEGIN(&list, key, &one);
            BSON_APPEND_DOCUMENT_BEGIN(&one, "_id", &a);
            BSON_APPEND_DOCUMENT_BEGIN(&a, "$in", &sub);
            BSON_APPEND_UTF8(&sub, "$from", "c");
            bson_append_document_end(&a, &sub);
            bson_append_document_end(&one, &a);
            bson_append_document_end(&list, &one);
        }
        bson_append_array_end(&query, &list);
        CHECK_STATUS(number == 100 ? TANSU_OK : TANSU_E_INVALID_QUERY,
                     tansu_count(db, NULL, "c", document_of(&query), TANSU_NO_DOCUMENT, &count,
                                 &call_error));
        bson_destroy(&query);
    }
    call_close(db);
}

/* ---- Memory ---- */

/* many -- saves documents with a number and one of a few texts in "c". */
static void many(tansu_db *db, int count) {
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    for (int i = 0; i < count; i++) {
        char json[120];
        snprintf(json, sizeof json, "{'_id': %d, 'few': %d, 'text': 'text number %d'}", i, i % 7,
                 (i * 7919) % count);
        REQUIRE(CHECK_STATUS(TANSU_OK, call_save(db, txn, "c", TANSU_SAVE, json)));
    }
    CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
}

/* values_have_a_limit -- of different ones; equal ones do not count. */
static void values_have_a_limit(void) {
    tansu_db *db = memory_db_with((const char *const[]){NULL});
    many(db, 20000);
    CHECK_INT(20000, count_matches(db, "{'few': {'$in': {'$from': 'c', '$field': 'few'}}}",
                                   "{'$maxMemory': 65536}"));
    CHECK_TEXT("TOO_LARGE text.$in",
               find_ids(db, "{'text': {'$in': {'$from': 'c', '$field': 'text'}}}",
                        "{'$maxMemory': 65536}"));
    CHECK_TEXT("TOO_LARGE text.$in",
               find_ids(db,
                        "{'few': {'$in': {'$from': 'c', '$field': 'few', '$query': {'text': "
                        "{'$in': {'$from': 'c', '$field': 'text'}}}}}}",
                        "{'$maxMemory': 65536}"));
    CHECK_INT(20000,
              count_matches(db, "{'text': {'$in': {'$from': 'c', '$field': 'text'}}}", NULL));
    call_close(db);
}

/* ---- Explain ---- */

static void explain_shows_both_steps(void) {
    tansu_db *db = books_and_authors();
    for (int i = 100; i < 300; i++) {
        char json[80];
        snprintf(json, sizeof json, "{'_id': %d, 'name': 'Name %d'}", i, i);
        REQUIRE(CHECK_STATUS(TANSU_OK, call_save(db, NULL, "authors", TANSU_SAVE, json)));
    }
    call_index(db, NULL, "authors", "names", "{'name': 1}", NULL);
    call_index(db, NULL, "c", "writers", "{'author': 1}", NULL);
    const char *query = "{'author': {'$in': {'$from': 'authors', '$query': {'name': 'Le Guin'}}}}";
    const char *hints = "{'$index': 'writers'}";
    CHECK_TEXT("\"writers\"", plan_field(db, query, hints, "plan.index"));
    CHECK_TEXT("\"author.$in\"", plan_field(db, query, hints, "subqueries.0.path"));
    CHECK_TEXT("\"authors\"", plan_field(db, query, hints, "subqueries.0.collection"));
    CHECK_TEXT("\"_id\"", plan_field(db, query, hints, "subqueries.0.field"));
    CHECK_TEXT("1", plan_field(db, query, hints, "subqueries.0.values"));
    CHECK_TEXT("1", plan_field(db, query, hints, "subqueries.0.returned"));
    CHECK_TEXT("\"names\"", plan_field(db, query, hints, "subqueries.0.plan.index"));
    CHECK_TEXT("1", plan_field(db, query, hints, "subqueries.0.documentsExamined"));
    const char *deeper = "{'tags': {'$in': {'$from': 'authors', '$field': 'likes', '$query': "
                         "{'_id': {'$in': {'$from': 'c', '$field': 'author'}}}}}}";
    CHECK_TEXT("3", plan_field(db, deeper, NULL, "subqueries.0.values"));
    CHECK_TEXT("\"c\"", plan_field(db, deeper, NULL, "subqueries.0.subqueries.0.collection"));
    CHECK_TEXT("4", plan_field(db, deeper, NULL, "subqueries.0.subqueries.0.values"));
    /* An index that has the field answers without documents. */
    call_index(db, NULL, "authors", "name_id", "{'name': 1, '_id': 1}", NULL);
    query = "{'author': {'$in': {'$from': 'authors', '$query': {'name': {'$lt': 'N'}}}}}";
    CHECK_TEXT("0", plan_field(db, query, hints, "subqueries.0.documentsExamined"));
    CHECK_TEXT("true", plan_field(db, query, hints, "subqueries.0.plan.covered"));
    CHECK_TEXT("2", plan_field(db, query, hints, "subqueries.0.values"));
    call_close(db);
}

/* ---- Failing calls ---- */

static void every_failing_allocation_is_reported(void) {
    if (!fault_has_memory()) {
        check_skip("the linker of this system cannot make allocations fail");
        return;
    }
    static const char *const queries[] = {
        "{'few': {'$in': {'$from': 'c', '$field': 'few', '$query': {'text': {'$in': {'$from': 'c', "
        "'$field': 'text', '$query': {'_id': {'$lt': 40}}}}}}}}",
        "{'$or': [{'text': {'$elemMatch': {'$in': {'$from': 'c', '$field': 'text'}}}}, {'_id': "
        "{'$nin': {'$from': 'c', '$query': {'_id': {'$gt': 9}}}}}]}"};
    tansu_db *db = memory_db_with((const char *const[]){NULL});
    unsigned failures = 0;
    many(db, 300);
    call_index(db, NULL, "c", "texts", "{'text': 1, 'few': 1}", NULL);
    for (size_t i = 0; i < 2; i++) {
        bson_t *query = bson_from_text(queries[i]);
        bson_t *hints = bson_from_text("{'$collation': 'numeric'}");
        for (int collated = 0; collated < 2; collated++) {
            int64_t whole, count;
            CHECK_OK(tansu_count(db, NULL, "c", document_of(query),
                                 document_of(collated ? hints : NULL), &whole, &call_error),
                     &call_error);
            bool met = true;
            for (unsigned nth = 1; met; nth++) {
                fault_start(FAULT_OWN_MEMORY, nth, false, 0);
                tansu_status status =
                    tansu_count(db, NULL, "c", document_of(query),
                                document_of(collated ? hints : NULL), &count, &call_error);
                met = fault_occurred();
                fault_stop();
                if (status == TANSU_OK)
                    CHECK_INT(whole, count);
                else
                    failures += CHECK_STATUS(TANSU_E_MEMORY, status);
            }
        }
        bson_destroy(query);
        bson_destroy(hints);
    }
    CHECK(failures > 40);
    call_close(db);
}

/* cancellation_reaches_them -- a transaction that is cancelled stops the subquery. */
static void cancellation_reaches_them(void) {
    tansu_db *db = memory_db_with((const char *const[]){NULL});
    many(db, 3000);
    tansu_txn *txn = call_begin(db, TANSU_TXN_READ);
    tansu_txn_cancel(txn);
    CHECK_INT(-(int64_t)TANSU_E_CANCELLED,
              call_count(db, txn, "c", "{'text': {'$in': {'$from': 'c', '$field': 'text'}}}"));
    tansu_txn_abort(txn);
    call_close(db);
}

int main(void) {
    RUN(both_directions);
    RUN(null_and_missing);
    RUN(regular_expressions_are_values);
    RUN(where_it_may_stand);
    RUN(in_changes);
    RUN(what_is_an_error);
    RUN(no_place_for_a_subquery);
    RUN(limits_of_number_and_depth);
    RUN(values_have_a_limit);
    RUN(explain_shows_both_steps);
    RUN(every_failing_allocation_is_reported);
    RUN(cancellation_reaches_them);
    return check_finish();
}
