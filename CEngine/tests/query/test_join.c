/*
 * test_join.c -- $do: documents in place of ids, in results and nowhere else, as of one snapshot.
 */
#include "support/calls/call.h"
#include "support/calls/query_calls.h"
#include "support/check.h"
#include "support/random/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* people_and_cities -- a database with two collections. */
static tansu_db *people_and_cities(void) {
    tansu_db *db = call_open(NULL);
    call_save(db, NULL, "cities", TANSU_SAVE, "{'_id': 1, 'name': 'Lyon'}");
    call_save(db, NULL, "cities", TANSU_SAVE, "{'_id': 'b', 'name': 'Bonn', 'twin': 1}");
    call_save(db, NULL, "cities", TANSU_SAVE, "{'_id': {'x': 1}, 'name': 'Odd'}");
    call_save(db, NULL, "people", TANSU_SAVE,
              "{'_id': 1, 'home': 1.0, 'seen': ['b', 7, 1, [1]], 'trips': [{'to': 'b'}, {'to': "
              "null}, 5, {'to': [1, 'b']}], 'deep': {'er': {'x': 1}}}");
    return db;
}

/* found -- the one person, or what the error says. */
static const char *found(tansu_db *db, tansu_txn *txn, const char *query, const char *hints) {
    return call_find(db, txn, "people", query, hints);
}

/* ids_become_documents -- single ones, arrays, through arrays, nested; missing ones stay. */
static void ids_become_documents(void) {
    tansu_db *db = people_and_cities();
    const char *lyon = "{ \"_id\" : 1, \"name\" : \"Lyon\" }";
    const char *bonn = "{ \"_id\" : \"b\", \"name\" : \"Bonn\", \"twin\" : 1 }";
    char expected[600];
    snprintf(expected, sizeof expected, "{ \"_id\" : 1, \"home\" : %s }", lyon);
    CHECK_TEXT(expected, found(db, NULL, "{'$do': {'home': {'$join': 'cities'}}}",
                               "{'$fields': {'home': 1}}"));
    CHECK_TEXT(expected, found(db, NULL, "{}",
                               "{'$do': {'home': {'$join': 'cities'}}, '$fields': {'home': 1}}"));
    snprintf(expected, sizeof expected, "{ \"_id\" : 1, \"seen\" : [ %s, 7, %s, [ 1 ] ] }", bonn,
             lyon);
    CHECK_TEXT(expected, found(db, NULL, "{'$do': {'seen': {'$join': 'cities'}}}",
                               "{'$fields': {'seen': 1}}"));
    snprintf(
        expected, sizeof expected,
        "{ \"_id\" : 1, \"trips\" : [ { \"to\" : %s }, { \"to\" : null }, 5, { \"to\" : [ %s, %s "
        "] } ] }",
        bonn, lyon, bonn);
    CHECK_TEXT(expected, found(db, NULL, "{'$do': {'trips.to': {'$join': 'cities'}}}",
                               "{'$fields': {'trips': 1}}"));
    snprintf(expected, sizeof expected,
             "{ \"_id\" : 1, \"trips\" : [ { \"to\" : %s }, { \"to\" : null }, 5, { \"to\" : [ 1, "
             "\"b\" ] } ] }",
             bonn);
    CHECK_TEXT(expected, found(db, NULL, "{'$do': {'trips.0.to': {'$join': 'cities'}}}",
                               "{'$fields': {'trips': 1}}"));
    CHECK_TEXT(
        "{ \"_id\" : 1, \"deep\" : { \"er\" : { \"_id\" : { \"x\" : 1 }, \"name\" : \"Odd\" } "
        "} }",
        found(db, NULL, "{'$do': {'deep.er': {'$join': 'cities'}}}", "{'$fields': {'deep': 1}}"));
    /* No such collection, no such field: everything stays. */
    CHECK_TEXT(
        found(db, NULL, "{}", NULL),
        found(db, NULL, "{'$do': {'home': {'$join': 'x'}, 'no.way': {'$join': 'cities'}}}", NULL));
    call_close(db);
}

/* only_results_change -- matching, order, counting and what is stored do not. */
static void only_results_change(void) {
    tansu_db *db = people_and_cities();
    const char *join = "{'$do': {'home': {'$join': 'cities'}, 'seen': {'$join': 'cities'}}}";
    char before[1000];
    snprintf(before, sizeof before, "%s", call_get(db, NULL, "people", "{'_id': 1}"));
    CHECK(strstr(found(db, NULL, join, NULL), "Lyon") != NULL);
    CHECK_TEXT(before, call_get(db, NULL, "people", "{'_id': 1}"));
    CHECK_TEXT(
        "", found(db, NULL, "{'home.name': 'Lyon', '$do': {'home': {'$join': 'cities'}}}", NULL));
    CHECK_TEXT("{ \"_id\" : 1, \"home\" : { \"name\" : \"Lyon\" } }",
               found(db, NULL, "{'home': 1, '$do': {'home': {'$join': 'cities'}}}",
                     "{'$fields': {'home.name': 1}}"));
    /* The element by which the stored document matched, shown with its document. */
    CHECK_TEXT("{ \"_id\" : 1, \"seen\" : [ { \"_id\" : 1, \"name\" : \"Lyon\" } ] }",
               found(db, NULL, "{'seen': {'$lt': 7}, '$do': {'seen': {'$join': 'cities'}}}",
                     "{'$fields': {'seen.$': 1}}"));
    CHECK_INT(1, call_count(db, NULL, "people", join));
    CHECK(strstr(found(db, NULL, join, "{'$explain': true}"),
                 "\"joins\" : [ { \"path\" : \"home\", \"collection\" : \"cities\" }, { \"path\" : "
                 "\"seen\", \"collection\" : \"cities\" } ]") != NULL);
    call_close(db);
}

/* arrays_are_sliced -- $slice in $do, as in a projection; the rest of the document stays. */
static void arrays_are_sliced(void) {
    static const struct {
        const char *query, *hints, *expected;
    } cases[] = {
        {"{'$do': {'t': {'$slice': 2}}}", NULL,
         "{ \"_id\" : 1, \"t\" : [ 1, 2 ], \"s\" : [ { \"v\" : [ 3, 4 ] }, { \"v\" : 5 } ], "
         "\"home\" : 1 }"},
        {"{'$do': {'t': {'$slice': [2, 10]}}}", "{'$fields': {'t': 1}}",
         "{ \"_id\" : 1, \"t\" : [ 3 ] }"},
        {"{'$do': {'t': {'$slice': -1}}}", "{'$fields': {'t': 1}}",
         "{ \"_id\" : 1, \"t\" : [ 3 ] }"},
        {"{'$do': {'t': {'$slice': 0}}}", "{'$fields': {'t': 1}}", "{ \"_id\" : 1, \"t\" : [  ] }"},
        {"{}", "{'$do': {'s.v': {'$slice': 1}}, '$fields': {'s': 1}}",
         "{ \"_id\" : 1, \"s\" : [ { \"v\" : [ 3 ] }, { \"v\" : 5 } ] }"},
        {"{'$do': {'t': {'$slice': 1}, 'home': {'$join': 'cities'}, 's': {'$slice': 1}}}",
         "{'$fields': {'_id': 0}}",
         "{ \"t\" : [ 1 ], \"s\" : [ { \"v\" : [ 3, 4 ] } ], \"home\" : { \"_id\" : 1, \"name\" : "
         "\"Lyon\" } }"},
        {"{'$do': {'home': {'$slice': 1}, 'none': {'$slice': 1}}}", "{'$fields': {'home': 1}}",
         "{ \"_id\" : 1, \"home\" : 1 }"},
        {"{'s.v': 5, '$do': {'t': {'$slice': 1}}}", "{'$fields': {'s.$': 1, 't': 1}}",
         "{ \"_id\" : 1, \"t\" : [ 1 ], \"s\" : [ { \"v\" : 5 } ] }"},
    };
    tansu_db *db = people_and_cities();
    call_save(db, NULL, "people", TANSU_SAVE,
              "{'_id': 1, 't': [1, 2, 3], 's': [{'v': [3, 4]}, {'v': 5}], 'home': 1}");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (!CHECK_TEXT(cases[i].expected, found(db, NULL, cases[i].query, cases[i].hints)))
            check_note("%s", cases[i].query);
    }
    /* The condition is about the stored array. */
    CHECK(strstr(found(db, NULL, "{'t': 3, '$do': {'t': {'$slice': 1}}}", NULL), "[ 1 ]") != NULL);
    CHECK(strstr(found(db, NULL, "{'$do': {'t': {'$slice': [1, 2]}, 's': {'$slice': -1}}}",
                       "{'$explain': true}"),
                 "\"joins\" : [ { \"path\" : \"t\", \"skip\" : 1, \"count\" : 2 }, { \"path\" : "
                 "\"s\", \"skip\" : -1 } ]") != NULL);
    call_close(db);
}

/* text_finds_an_object_id -- with $hexIds only, of 24 digits only, and a text id comes first. */
static void text_finds_an_object_id(void) {
    tansu_db *db = people_and_cities();
    call_save(db, NULL, "cars", TANSU_SAVE,
              "{'_id': {'$oid': '50fe0a9935cf1e0300000abc'}, 'n': 1}");
    call_save(db, NULL, "cars", TANSU_SAVE,
              "{'_id': {'$oid': '50fe0a9935cf1e0300000002'}, 'n': 2}");
    call_save(db, NULL, "cars", TANSU_SAVE, "{'_id': '50fe0a9935cf1e0300000002', 'n': 3}");
    call_save(db, NULL, "people", TANSU_SAVE,
              "{'_id': 1, 'car': '50fe0a9935cf1e0300000AbC', 'cars': ['50fe0a9935cf1e0300000002', "
              "'50fe0a9935cf1e0300000ab', '50fe0a9935cf1e0300000abcd', '50fe0a9935cf1e0300000abg', "
              "{'$oid': '50fe0a9935cf1e0300000abc'}, '50fe0a9935cf1e0300000003']}");
    const char *text = "{ \"_id\" : 1, \"car\" : \"50fe0a9935cf1e0300000AbC\" }";
    CHECK_TEXT(text,
               found(db, NULL, "{'$do': {'car': {'$join': 'cars'}}}", "{'$fields': {'car': 1}}"));
    CHECK_TEXT(text, found(db, NULL, "{'$do': {'car': {'$join': 'cars', '$hexIds': false}}}",
                           "{'$fields': {'car': 1}}"));
    CHECK_TEXT("{ \"_id\" : 1, \"car\" : { \"n\" : 1 } }",
               found(db, NULL, "{'$do': {'car': {'$join': 'cars', '$hexIds': true}}}",
                     "{'$fields': {'car.n': 1}}"));
    CHECK_TEXT("{ \"cars\" : [ { \"n\" : 3 }, { \"n\" : 1 } ] }",
               found(db, NULL, "{'$do': {'cars': {'$join': 'cars', '$hexIds': true}}}",
                     "{'$fields': {'cars.n': 1, '_id': 0}}"));
    call_close(db);
}

/* as_of_one_snapshot -- a cursor shows other collections as of its beginning too. */
static void as_of_one_snapshot(void) {
    tansu_db *db = people_and_cities();
    const char *join = "{'$do': {'home': {'$join': 'cities'}}}", *home = "{'$fields': {'home': 1}}";
    const char *lyon = "{ \"_id\" : 1, \"home\" : { \"_id\" : 1, \"name\" : \"Lyon\" } }";
    const char *paris = "{ \"_id\" : 1, \"home\" : { \"_id\" : 1, \"name\" : \"Paris\" } }";
    tansu_cursor *cursor = call_cursor(db, NULL, "people", join, home);
    call_save(db, NULL, "cities", TANSU_SAVE, "{'_id': 1, 'name': 'Paris'}");
    CHECK_TEXT(lyon, call_next(cursor));
    tansu_cursor_close(cursor);
    CHECK_TEXT(paris, found(db, NULL, join, home));

    tansu_txn *reader = call_begin(db, TANSU_TXN_READ);
    tansu_txn *writer = call_begin(db, TANSU_TXN_WRITE);
    call_save(db, writer, "cities", TANSU_SAVE, "{'_id': 1, 'name': 'Rome'}");
    call_save(db, writer, "people", TANSU_SAVE, "{'_id': 2, 'home': 'new'}");
    call_save(db, writer, "cities", TANSU_SAVE, "{'_id': 'new', 'name': 'New'}");
    cursor = call_cursor(db, writer, "people", join, home);
    call_save(db, writer, "cities", TANSU_SAVE, "{'_id': 1, 'name': 'Oslo'}");
    int removed;
    call_remove_id(db, writer, "cities", "{'_id': 'new'}", &removed);
    CHECK_TEXT("{ \"_id\" : 1, \"home\" : { \"_id\" : 1, \"name\" : \"Rome\" } }",
               call_next(cursor));
    CHECK_TEXT("{ \"_id\" : 2, \"home\" : { \"_id\" : \"new\", \"name\" : \"New\" } }",
               call_next(cursor));
    CHECK_TEXT("", call_next(cursor));
    tansu_cursor_close(cursor);
    CHECK_TEXT(paris, found(db, reader, join, home));
    CHECK_OK(tansu_txn_commit(writer, NULL, NULL), NULL);
    CHECK_TEXT(paris, found(db, reader, join, home));
    tansu_txn_abort(reader);
    CHECK(strstr(found(db, NULL, join, home), "Oslo") != NULL);
    call_close(db);
}

/* what_is_wrong_is_named -- every error says where. */
static void what_is_wrong_is_named(void) {
    static const struct {
        const char *query, *hints, *context;
    } cases[] = {
        {"{'$do': 1}", NULL, "$do"},
        {"{'$do': {'a': 'x'}}", NULL, "$do.a"},
        {"{'$do': {'a': {'$join': 1}}}", NULL, "$do.a"},
        {"{'$do': {'a': {'$join': ''}}}", NULL, "$do.a"},
        {"{'$do': {'a': {'$slice': 'x'}}}", NULL, "$do.a"},
        {"{'$do': {'a': {'$slice': [1, 0]}}}", NULL, "$do.a"},
        {"{'$do': {'a': {'$first': 1}}}", NULL, "$do.a"},
        {"{'$do': {'a': {'$slice': 1}, 'a.b': {'$join': 'x'}}}", NULL, "$do.a.b"},
        {"{'seen': 7, '$do': {'seen': {'$slice': 1}}}", "{'$fields': {'seen.$': 1}}", "$do"},
        {"{'seen': 7, '$do': {'trips': {'$slice': 1}}}", "{'$fields': {'trips.to.$': 1}}", "$do"},
        {"{'$do': {'a': {'$join': 'x', '$slice': 1}}}", NULL, "$do.a"},
        {"{'$do': {'a': {'$slice': 1, '$join': 'x'}}}", NULL, "$do.a"},
        {"{'$do': {'a': {'$slice': 1, '$hexIds': true}}}", NULL, "$do.a"},
        {"{'$do': {'a': {'$hexIds': true}}}", NULL, "$do.a"},
        {"{'$do': {'a': {'$join': 'x', '$hexIds': 'yes'}}}", NULL, "$do.a"},
        {"{'$do': {'a': {'$join': 'x'}, 'a.b': {'$join': 'x'}}}", NULL, "$do.a.b"},
        {"{'$do': {'a.b': {'$join': 'x'}, 'a': {'$join': 'x'}}}", NULL, "$do.a"},
        {"{'$do': {'a': {'$join': 'x'}}}", "{'$do': {'a': {'$join': 'x'}}}", "hints.$do.a"},
        {"{}", "{'$do': {'a': {}}}", "hints.$do.a"},
        {"{'$and': [{'$do': {'a': {'$join': 'x'}}}]}", NULL, "$and.$do"},
    };
    tansu_db *db = people_and_cities();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK_TEXT("INVALID_QUERY", found(db, NULL, cases[i].query, cases[i].hints));
        if (i + 1 < sizeof cases / sizeof *cases)
            CHECK_TEXT(cases[i].context, call_error.context);
    }
    call_close(db);
}

/* the_result_is_bounded -- by the size and the depth of a document. */
static void the_result_is_bounded(void) {
    tansu_db *db = call_open(NULL);
    bson_t doc = BSON_INITIALIZER;
    char *text = malloc(1 << 20);
    REQUIRE(text != NULL);
    memset(text, 'x', 1 << 20);
    BSON_APPEND_INT32(&doc, "_id", 1);
    bson_append_utf8(&doc, "text", -1, text, 1 << 20);
    CHECK_STATUS(TANSU_OK, call_save_bson(db, NULL, "big", TANSU_SAVE, &doc));
    call_save(db, NULL, "people", TANSU_SAVE, "{'_id': 1, 'a': [1, 1, 1, 1, 1, 1, 1, 1]}");
    CHECK(strlen(found(db, NULL, "{'$do': {'a': {'$join': 'big'}}}", "{'$fields': {'_id': 1}}")) >
          0);
    call_save(db, NULL, "people", TANSU_SAVE,
              "{'_id': 1, 'a': [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]}");
    CHECK_TEXT("TOO_LARGE",
               found(db, NULL, "{'$do': {'a': {'$join': 'big'}}}", "{'$fields': {'_id': 1}}"));
    char deep[4000] = "{'_id': 1, 'a': ";
    for (int i = 0; i < 90; i++)
        strcat(deep, "[");
    for (int i = 0; i < 90; i++)
        strcat(deep, "]");
    strcat(deep, "}");
    CHECK_STATUS(TANSU_OK, call_save(db, NULL, "deep", TANSU_SAVE, deep));
    strcpy(deep, "{'_id': 2, 'a': ");
    for (int i = 0; i < 20; i++)
        strcat(deep, "{'a': ");
    strcat(deep, "1");
    for (int i = 0; i < 20; i++)
        strcat(deep, "}");
    strcat(deep, "}");
    CHECK_STATUS(TANSU_OK, call_save(db, NULL, "people", TANSU_SAVE, deep));
    char join[200] = "{'_id': 2, '$do': {'a";
    for (int i = 0; i < 20; i++)
        strcat(join, ".a");
    strcat(join, "': {'$join': 'deep'}}}");
    CHECK_TEXT("TOO_LARGE", found(db, NULL, join, NULL));
    free(text);
    bson_destroy(&doc);
    call_close(db);
}

/* ---- Random documents against a model ---- */

#define TARGETS 8

/* append_joined -- a value, as it is shown where ids are replaced. */
static void append_joined(bson_t *to, const char *key, const bson_iter_t *value,
                          bson_t *const *targets, bool inside) {
    bson_iter_t inner;
    bson_t array;
    if (BSON_ITER_HOLDS_NUMBER(value)) {
        double number = bson_iter_as_double(value);
        if (number >= 0 && number < TARGETS && targets[(int)number] && number == (int)number) {
            BSON_APPEND_DOCUMENT(to, key, targets[(int)number]);
            return;
        }
    }
    if (inside || !BSON_ITER_HOLDS_ARRAY(value)) {
        bson_append_iter(to, key, -1, value);
        return;
    }
    bson_append_array_begin(to, key, -1, &array);
    for (bson_iter_recurse(value, &inner); bson_iter_next(&inner);)
        append_joined(&array, bson_iter_key(&inner), &inner, targets, true);
    bson_append_array_end(to, &array);
}

/* append_id -- something that may be an id, or an array of such. */
static void append_id(random_source *source, bson_t *doc, const char *key, bool arrays) {
    int number = (int)random_below(source, TARGETS + 2);
    bson_t array;
    switch (random_below(source, arrays ? 6 : 5)) {
    case 0: BSON_APPEND_INT32(doc, key, number); break;
    case 1: BSON_APPEND_INT64(doc, key, number); break;
    case 2: BSON_APPEND_DOUBLE(doc, key, number); break;
    case 3: BSON_APPEND_DOUBLE(doc, key, number + 0.5); break;
    case 4: BSON_APPEND_NULL(doc, key); break;
    default:
        bson_append_array_begin(doc, key, -1, &array);
        for (int i = 0; i < number % 4; i++) {
            char index[12];
            snprintf(index, sizeof index, "%d", i);
            append_id(source, &array, index, true);
        }
        bson_append_array_end(doc, &array);
    }
}

/* agrees_with_the_model -- ids at a path of one part. */
static void agrees_with_the_model(void) {
    random_source source = random_start(1);
    for (int round = 0; round < 20; round++) {
        tansu_db *db = memory_db_open();
        bson_t *targets[TARGETS] = {NULL};
        for (int i = 0; i < TARGETS; i++) {
            if (random_chance(&source, 30))
                continue;
            targets[i] = bson_new();
            BSON_APPEND_INT32(targets[i], "_id", i);
            BSON_APPEND_INT32(targets[i], "round", round);
            CHECK_STATUS(TANSU_OK, call_save_bson(db, NULL, "d", TANSU_SAVE, targets[i]));
        }
        for (int i = 0; i < 50; i++) {
            bson_t doc = BSON_INITIALIZER, expected = BSON_INITIALIZER;
            bson_iter_t iter;
            char query[100];
            BSON_APPEND_INT32(&doc, "_id", i);
            append_id(&source, &doc, "r", true);
            save_bson(db, &doc);
            for (bson_iter_init(&iter, &doc); bson_iter_next(&iter);) {
                if (strcmp(bson_iter_key(&iter), "r") == 0)
                    append_joined(&expected, "r", &iter, targets, false);
                else
                    bson_append_iter(&expected, NULL, -1, &iter);
            }
            char *json = bson_as_relaxed_extended_json(&expected, NULL);
            snprintf(query, sizeof query, "{'_id': %d, '$do': {'r': {'$join': 'd'}}}", i);
            CHECK_TEXT(json, find_documents(db, query, NULL));
            bson_free(json);
            bson_destroy(&doc);
            bson_destroy(&expected);
        }
        for (int i = 0; i < TARGETS; i++)
            bson_destroy(targets[i]);
        memory_db_close(db);
    }
}

int main(void) {
    RUN(ids_become_documents);
    RUN(only_results_change);
    RUN(arrays_are_sliced);
    RUN(text_finds_an_object_id);
    RUN(as_of_one_snapshot);
    RUN(what_is_wrong_is_named);
    RUN(the_result_is_bounded);
    RUN(agrees_with_the_model);
    return check_finish();
}
