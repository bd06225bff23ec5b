/*
 * test_aggregate.c -- groups, aggregates and distinct values by examples; what is wrong in a
 * request.
 */
#include "support/calls/aggregate_calls.h"
#include "support/calls/query_calls.h"
#include "support/check.h"
#include "support/random/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* groups_and_aggregates -- every operator, and what is no value. */
static void groups_and_aggregates(void) {
    tansu_db *db = memory_db_open();
    CHECK_TEXT(
        "{ \"groups\" : [ { \"n\" : 0, \"s\" : 0, \"a\" : null, \"lo\" : null, \"d\" : [  ] } ] }",
        aggregate_text(db, NULL,
                       "{'fields': {'n': {'$count': true}, 's': {'$sum': 'x'}, 'a': {'$avg': "
                       "'x'}, 'lo': {'$min': 'x'}, 'd': {'$distinct': 'x'}}}",
                       NULL));
    CHECK_TEXT("{ \"groups\" : [  ] }", aggregate_text(db, NULL, "{'by': 'a'}", NULL));
    save_text(db, "{'_id': 1, 'c': 'de', 'x': 3, 't': [1, 2], 's': [{'n': 1}, {'n': 2}]}");
    save_text(db, "{'_id': 2, 'c': 'fr', 'x': 'text', 't': [2, null], 's': {'n': 5}}");
    save_text(db, "{'_id': 3, 'c': 'de', 'x': 4.5, 't': 7}");
    save_text(db, "{'_id': 4, 'c': null, 'x': null}");
    save_text(db, "{'_id': 5}");
    CHECK_TEXT(
        "{ \"groups\" : [ { \"c\" : null, \"n\" : 2, \"x\" : 0, \"sum\" : 0 }, { \"c\" : "
        "\"de\", \"n\" : 2, \"x\" : 2, \"sum\" : 7.5 }, { \"c\" : \"fr\", \"n\" : 1, \"x\" : "
        "1, \"sum\" : 0 } ] }",
        aggregate_text(db, NULL,
                       "{'by': 'c', 'fields': {'n': {'$count': true}, 'x': {'$count': 'x'}, "
                       "'sum': {'$sum': 'x'}}}",
                       NULL));
    CHECK_TEXT(
        "{ \"groups\" : [ { \"lo\" : 3, \"hi\" : \"text\", \"mean\" : 3.75, \"t\" : [ null, "
        "1, 2, 7 ], \"tsum\" : 12, \"n\" : 8, \"ones\" : 5 } ] }",
        aggregate_text(db, NULL,
                       "{'fields': {'lo': {'$min': 'x'}, 'hi': {'$max': 'x'}, 'mean': {'$avg': "
                       "'x'}, 't': {'$distinct': 't'}, 'tsum': {'$sum': 't'}, 'n': {'$sum': "
                       "'s.n'}, 'ones': {'$sum': 1}}}",
                       NULL));
    CHECK_TEXT("{ \"groups\" : [ { \"f\" : [ 1, 2 ], \"l\" : 7, \"through\" : [ 1, 2 ] } ] }",
               aggregate_text(db, "{'c': 'de'}",
                              "{'fields': {'f': {'$first': 't'}, 'l': {'$last': 't'}, 'through': "
                              "{'$first': 's.n'}}}",
                              NULL));
    CHECK_TEXT(
        "{ \"groups\" : [ { \"land\" : \"fr\", \"first\" : 2 }, { \"land\" : \"de\", \"first\" "
        ": 1 } ] }",
        aggregate_text(db, "{'_id': {'$lt': 4}}", "{'by': {'land': 'c', 'first': 't.0'}}",
                       "{'$orderby': {'land': -1, 'first': -1}, '$max': 2}"));
    CHECK_TEXT("{ \"groups\" : [ { \"c\" : \"de\", \"_id\" : 3 } ] }",
               aggregate_text(db, "{'c': 'de'}", "{'by': ['c', '_id']}", "{'$skip': 1}"));
    memory_db_close(db);
}

/* sums_are_rounded_once -- of numbers of all types, and of very different sizes. */
static void sums_are_rounded_once(void) {
    static const struct {
        const char *values, *sum, *mean;
    } cases[] = {
        {"[0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1]", "1.0", "0.1"},
        {"[1e308, 1e308, -1e308]", "Infinity", "Infinity"},
        {"[1e40, 1.0, -1e40]", "1.0", "0.3333333333333333"},
        {"[1.0, 1e100, 1.0, -1e100]", "2.0", "0.5"},
        {"[5e-324, 1e308, -1e308]", "4.9406564584124654e-324", "0.0"},
        {"[9007199254740993, 0.0, 2]", "9007199254740996.0", "3002399751580332.0"},
        {"[9223372036854775807, 9223372036854775807]", "D18446744073709551614",
         "9.2233720368547758e+18"},
        {"[9223372036854775807, 1, -1]", "9223372036854775807", "3.0744573456182584e+18"},
        {"[{'$numberDecimal': '1.10'}, {'$numberDecimal': '2.20'}]", "D3.30", "D1.65"},
        {"[{'$numberDecimal': '1'}, 0.5, 2]", "D3.5", "D1.166666666666666666666666666666667"},
        {"[{'$numberDecimal': '0'}, 0.1]", "D0.1000000000000000055511151231257827",
         "D0.05000000000000000277555756156289135"},
        {"[{'$numberDecimal': '1E+6000'}, 1, {'$numberDecimal': '-1E+6000'}]", "D1",
         "D0.3333333333333333333333333333333333"},
        {"[{'$numberDecimal': '9E+6144'}, {'$numberDecimal': '9E+6144'}]", "DInfinity",
         "DInfinity"},
        {"[{'$numberDecimal': 'Infinity'}, {'$numberDouble': '-Infinity'}]", "DNaN", "DNaN"},
        {"[{'$numberDouble': 'Infinity'}, 1]", "Infinity", "Infinity"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tansu_db *db = memory_db_open();
        char json[500], expected[300];
        snprintf(json, sizeof json, "{'v': %s}", cases[i].values);
        save_text(db, json);
        const char *texts[2] = {cases[i].sum, cases[i].mean};
        const char *groups[2] = {"{'fields': {'v': {'$sum': 'v'}}}",
                                 "{'fields': {'v': {'$avg': 'v'}}}"};
        for (int k = 0; k < 2; k++) {
            const char *text = texts[k];
            const char *form = text[0] == 'D'                  ? "{'$numberDecimal': '%s'}"
                               : strcmp(text, "Infinity") == 0 ? "{'$numberDouble': '%s'}"
                                                               : "%s";
            char number[100];
            snprintf(number, sizeof number, form, text[0] == 'D' ? text + 1 : text);
            snprintf(expected, sizeof expected, "{'groups': [{'v': %s}]}", number);
            bson_t *wanted = bson_from_text(expected);
            char *wanted_json = bson_as_relaxed_extended_json(wanted, NULL);
            if (!CHECK_TEXT(wanted_json, aggregate_text(db, NULL, groups[k], NULL)))
                check_note("%s", cases[i].values);
            bson_free(wanted_json);
            bson_destroy(wanted);
        }
        memory_db_close(db);
    }
}

/* sums_have_no_order -- random doubles of all sizes give one sum, however they are shuffled. */
static void sums_have_no_order(void) {
    random_source source = random_start(1);
    double numbers[60];
    for (size_t i = 0; i < 60; i++) {
        do {
            uint64_t bits = random_next(&source);
            memcpy(&numbers[i], &bits, 8);
        } while (!(numbers[i] > -1e300 && numbers[i] < 1e300));
    }
    char first[500] = "";
    for (int round = 0; round < 20; round++) {
        tansu_db *db = memory_db_open();
        for (size_t i = 0; i < 60; i++) {
            size_t other = (size_t)random_below(&source, 60);
            double kept = numbers[i];
            numbers[i] = numbers[other];
            numbers[other] = kept;
        }
        for (size_t i = 0; i < 60; i++) {
            bson_t doc = BSON_INITIALIZER;
            BSON_APPEND_DOUBLE(&doc, "v", numbers[i]);
            save_bson(db, &doc);
            bson_destroy(&doc);
        }
        const char *sum = aggregate_text(db, NULL, "{'fields': {'v': {'$sum': 'v'}}}", NULL);
        if (round == 0)
            snprintf(first, sizeof first, "%s", sum);
        CHECK_TEXT(first, sum);
        memory_db_close(db);
    }
}

/* what_is_wrong_is_named -- every error says where. */
static void what_is_wrong_is_named(void) {
    static const struct {
        const char *group, *hints, *expected;
    } cases[] = {
        {"{}", NULL, "INVALID_QUERY group"},
        {"{'by': 1}", NULL, "INVALID_QUERY group.by"},
        {"{'by': 'a..b'}", NULL, "INVALID_QUERY group.by.a..b"},
        {"{'by': ['a', 'a']}", NULL, "INVALID_QUERY group.by.1"},
        {"{'by': {'$x': 'a'}}", NULL, "INVALID_QUERY group.by.$x"},
        {"{'on': 'a'}", NULL, "INVALID_QUERY group.on"},
        {"{'fields': []}", NULL, "INVALID_QUERY group.fields"},
        {"{'fields': {'n': 1}}", NULL, "INVALID_QUERY group.fields.n"},
        {"{'fields': {'n': {'$sum': 'a', '$avg': 'a'}}}", NULL, "INVALID_QUERY group.fields.n"},
        {"{'fields': {'n': {'$median': 'a'}}}", NULL, "INVALID_QUERY group.fields.n.$median"},
        {"{'fields': {'n': {'$min': 1}}}", NULL, "INVALID_QUERY group.fields.n.$min"},
        {"{'fields': {'n': {'$count': false}}}", NULL, "INVALID_QUERY group.fields.n.$count"},
        {"{'by': 'n', 'fields': {'n': {'$count': true}}}", NULL, "INVALID_QUERY group.fields.n"},
        {"{'by': 'a'}", "{'$orderby': {'b': 1}}", "INVALID_QUERY hints.$orderby"},
        {"{'by': 'a'}", "{'$fields': {'a': 1}}", "INVALID_QUERY hints.$fields"},
        {"{'by': 'a'}", "{'$onlycount': true}", "INVALID_QUERY hints.$onlycount"},
        {"{'by': 'a'}", "{'$do': {'a': {'$join': 'd'}}}", "INVALID_QUERY $do"},
    };
    tansu_db *db = memory_db_open();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_TEXT(cases[i].expected, aggregate_text(db, NULL, cases[i].group, cases[i].hints));
    CHECK_TEXT("INVALID_QUERY hints.$orderby",
               distinct_text(db, "a", NULL, "{'$orderby': {'a': 1}}"));
    CHECK_TEXT("INVALID_QUERY a.$no", aggregate_text(db, "{'a': {'$no': 1}}", "{'by': 'a'}", NULL));
    memory_db_close(db);
}

/* from_an_index -- the plan says so, few documents are read, and the values are those of the
 * documents that were inserted first. */
static void from_an_index(void) {
    tansu_db *db = memory_db_open();
    char json[100];
    for (int i = 0; i < 3000; i++) {
        snprintf(json, sizeof json, i % 2 ? "{'g': %d, 'x': %d}" : "{'g': %d.0, 'x': %d}", i % 5,
                 i);
        save_text(db, json);
    }
    create_index(db, "g", "{'g': 1}", NULL);
    create_index(db, "x", "{'x': 1}", NULL);
    create_index(db, "folded", "{'h': 1}", "{'caseInsensitive': true}");
    CHECK_TEXT("{ \"values\" : [ 0.0, 1, 2.0, 3, 4.0 ] }", distinct_text(db, "g", NULL, NULL));
    const char *plan = distinct_text(db, "g", NULL, "{'$explain': true}");
    CHECK(strstr(plan, "\"from\" : \"index\", \"values\" : 5") != NULL);
    CHECK(strstr(plan, "\"documentsExamined\" : 5") != NULL);
    CHECK(strstr(distinct_text(db, "g", NULL, "{'$explain': true, '$index': false}"),
                 "\"from\" : \"documents\"") != NULL);
    CHECK_TEXT("{ \"values\" : [ 3, 4.0 ] }", distinct_text(db, "g", "{'g': {'$gt': 2}}", NULL));
    const char *counts = "{'by': 'g', 'fields': {'n': {'$count': true}}}";
    CHECK_TEXT("{ \"groups\" : [ { \"g\" : 1, \"n\" : 600 } ] }",
               aggregate_text(db, "{'g': 1}", counts, NULL));
    CHECK(strstr(aggregate_text(db, NULL, counts, "{'$explain': true}"),
                 "\"documentsExamined\" : 5") != NULL);
    const char *extremes = "{'fields': {'lo': {'$min': 'x'}, 'hi': {'$max': 'x'}}}";
    CHECK_TEXT("{ \"groups\" : [ { \"lo\" : 0, \"hi\" : 2999 } ] }",
               aggregate_text(db, NULL, extremes, NULL));
    plan = aggregate_text(db, NULL, extremes, "{'$explain': true}");
    CHECK(strstr(plan, "\"index\" : \"x\"") != NULL);
    CHECK(strstr(plan, "\"documentsExamined\" : 2") != NULL);
    CHECK_TEXT("{ \"groups\" : [ { \"lo\" : 7, \"hi\" : 2997 } ] }",
               aggregate_text(db, "{'g': 2, 'x': {'$gt': 2}}", extremes, NULL));
    /* An index of folded strings would not distinguish them. */
    save_text(db, "{'h': 'A'}");
    save_text(db, "{'h': 'a'}");
    CHECK_TEXT("{ \"values\" : [ \"A\", \"a\" ] }", distinct_text(db, "h", NULL, NULL));
    memory_db_close(db);
}

/* in_a_transaction -- a write transaction sees its own changes, others do not. */
static void in_a_transaction(void) {
    tansu_db *db = memory_db_open();
    tansu_txn *txn;
    tansu_buffer result = TANSU_BUFFER_INIT;
    tansu_error error;
    save_text(db, "{'_id': 1, 'x': 1}");
    create_index(db, "x", "{'x': 1}", NULL);
    bson_t *doc = bson_from_text("{'_id': 2, 'x': 2}");
    tansu_document document = {bson_get_data(doc), doc->len};
    REQUIRE(tansu_txn_begin(db, TANSU_TXN_WRITE, TANSU_DURABILITY_DEFAULT, &txn, NULL) == TANSU_OK);
    CHECK_OK(tansu_save(db, txn, "c", &document, 1, TANSU_SAVE, NULL, &error), &error);
    CHECK_OK(
        tansu_distinct(db, txn, "c", "x", TANSU_NO_DOCUMENT, TANSU_NO_DOCUMENT, &result, &error),
        &error);
    CHECK_TEXT("{ \"values\" : [ 1, 2 ] }", aggregate_answer(TANSU_OK, &result, &error));
    CHECK_TEXT("{ \"values\" : [ 1 ] }", distinct_text(db, "x", NULL, NULL));
    tansu_txn_abort(txn);
    bson_destroy(doc);
    memory_db_close(db);
}

int main(void) {
    RUN(groups_and_aggregates);
    RUN(sums_are_rounded_once);
    RUN(sums_have_no_order);
    RUN(what_is_wrong_is_named);
    RUN(from_an_index);
    RUN(in_a_transaction);
    return check_finish();
}
