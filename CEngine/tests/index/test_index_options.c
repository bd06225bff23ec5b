/*
 * test_index_options.c -- unique, sparse, caseInsensitive and partial indexes: which documents they
 * hold, what they refuse, that they are kept over restarts, and that queries use them only where
 * they can't lose an answer.
 */
#include "support/calls/call.h"
#include "support/calls/query_calls.h"
#include "support/check.h"
#include "support/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tansu_db *db;
static tansu_error error;

#define PLAN(expected, query, hints, path) CHECK_TEXT(expected, plan_field(db, query, hints, path))

/* create -- the status of an index creation. */
static tansu_status create(const char *name, const char *keys, const char *options) {
    bson_t *k = bson_from_text(keys), *o = bson_from_text(options);
    tansu_status status =
        tansu_index_create(db, NULL, "c", name, document_of(k), document_of(o), NULL, NULL, &error);
    bson_destroy(k);
    if (o)
        bson_destroy(o);
    return status;
}

/* save -- the status of saving a document. */
static tansu_status save(const char *json) {
    bson_t *doc = bson_from_text(json);
    tansu_document document = document_of(doc);
    tansu_status status = tansu_save(db, NULL, "c", &document, 1, TANSU_SAVE, NULL, &error);
    bson_destroy(doc);
    return status;
}

/* list -- the list of indexes as JSON; the caller frees it. */
static char *list(void) {
    tansu_buffer result = TANSU_BUFFER_INIT;
    bson_t view;
    REQUIRE(CHECK_OK(tansu_index_list(db, NULL, "c", &result, &error), &error));
    REQUIRE(bson_init_static(&view, result.data, result.size));
    char *json = bson_as_relaxed_extended_json(&view, NULL);
    tansu_buffer_free(&result);
    return json;
}

/* entries -- how many entries the only index has. */
static int entries(void) {
    char *json = list();
    const char *at = strstr(json, "\"entries\" : ");
    int count = at ? atoi(at + 12) : -1;
    bson_free(json);
    return count;
}

static void sparse_indexes_leave_documents_out(void) {
    db = memory_db_open();
    create_index(db, "s", "{'a':1}", "{'sparse':true}");
    save_text(db, "{'_id':1,'a':5}");
    save_text(db, "{'_id':2}");
    save_text(db, "{'_id':3,'a':null}");
    save_text(db, "{'_id':4,'a':[]}");
    save_text(db, "{'_id':5,'b':1}");
    CHECK_INT(3, entries());
    /* All with a value, null and the empty array included, and no others. */
    PLAN("true", "{'a':{'$exists':true}}", "{'$index':'s'}", "plan.exact");
    CHECK_TEXT("1 3 4", find_ids(db, "{'a':{'$exists':true}}", "{'$index':'s'}"));
    CHECK_TEXT("1 3 4", find_ids(db, "{'a':{'$exists':true}}", NULL));
    CHECK_TEXT("1", find_ids(db, "{'a':{'$gt':1}}", "{'$index':'s'}"));
    /* What may be missing is not looked up in it. */
    CHECK_TEXT("2 3 5", find_ids(db, "{'a':null}", NULL));
    CHECK_TEXT("2 5", find_ids(db, "{'a':{'$exists':false}}", NULL));
    CHECK_TEXT("2 3 4 5", find_ids(db, "{'a':{'$ne':5}}", NULL));
    CHECK_TEXT("1 2 3 5", find_ids(db, "{'a':{'$in':[5,null]}}", NULL));
    CHECK_TEXT("1 2 3 4 5", find_ids(db, "{}", NULL));
    CHECK_TEXT("INVALID_QUERY hints.$index", find_ids(db, "{'a':null}", "{'$index':'s'}"));
    CHECK_TEXT("INVALID_QUERY hints.$index", find_ids(db, "{}", "{'$index':'s'}"));
    CHECK_TEXT("INVALID_QUERY hints.$index", find_ids(db, "{'a':{'$gte':null}}", "{'$index':'s'}"));
    /* Values come and go. */
    save_text(db, "{'_id':2,'a':7}");
    save_text(db, "{'_id':1}");
    CHECK_TEXT("2", find_ids(db, "{'a':{'$gt':1}}", "{'$index':'s'}"));
    CHECK_INT(3, entries());
    memory_db_close(db);
}

/* numbers -- a document with an array of that many numbers. */
static bson_t *numbers(int id, int count) {
    bson_t *doc = bson_new(), list;
    bson_append_int32(doc, "_id", -1, id);
    bson_append_array_begin(doc, "a", -1, &list);
    for (int i = 0; i < count; i++) {
        char key[16];
        snprintf(key, sizeof key, "%d", i);
        bson_append_int32(&list, key, -1, i);
    }
    bson_append_array_end(doc, &list);
    return doc;
}

/* save_numbers -- the status of saving such a document. */
static tansu_status save_numbers(int id, int count) {
    bson_t *doc = numbers(id, count);
    tansu_document document = document_of(doc);
    tansu_status status = tansu_save(db, NULL, "c", &document, 1, TANSU_SAVE, NULL, &error);
    bson_destroy(doc);
    return status;
}

/* An array has an entry for each element and one for the whole. */
static void the_bound_on_entries_is_an_option(void) {
    char *folder = folder_new();
    db = call_open(folder);
    save_text(db, "{'_id':0}");
    CHECK_OK(create("few", "{'a':1}", "{'maxEntries':4}"), &error);
    CHECK_OK(save_numbers(1, 3), &error);
    CHECK_STATUS(TANSU_E_TOO_LARGE, save_numbers(2, 4));
    CHECK_TEXT("few", error.context);
    CHECK(strstr(error.message, "more than 4 entries") != NULL);
    /* It is part of the definition, is listed, and is kept. */
    CHECK_STATUS(TANSU_E_EXISTS, create("few", "{'a':1}", NULL));
    CHECK_OK(create("few", "{'a':1}", "{'maxEntries':4.0}"), &error);
    call_close(db);
    db = call_open(folder);
    char *json = list();
    CHECK(strstr(json, "\"maxEntries\" : 4,") != NULL);
    bson_free(json);
    CHECK_STATUS(TANSU_E_TOO_LARGE, save_numbers(2, 4));
    CHECK_OK(tansu_index_drop(db, NULL, "c", "few", &error), &error);
    /* More than without the option; the index gives the same answers as a scan. */
    CHECK_OK(create("many", "{'a':1}", "{'maxEntries':60000}"), &error);
    CHECK_OK(save_numbers(2, 59999), &error);
    CHECK_STATUS(TANSU_E_TOO_LARGE, save_numbers(3, 60000));
    CHECK_TEXT("2", find_ids(db, "{'a':59998}", "{'$index':'many'}"));
    CHECK_TEXT("2", find_ids(db, "{'a':59998}", "{'$index':false}"));
    CHECK_TEXT("1 2", find_ids(db, "{'a':{'$lt':3}}", "{'$index':'many'}"));
    CHECK_STATUS(TANSU_E_TOO_LARGE, create("plain", "{'a':-1}", NULL));
    call_close(db);
    folder_end(folder);
}

/* Not in JSON, which is refused earlier. */
static void an_option_twice_is_refused(void) {
    static const char *const names[] = {"unique", "sparse", "caseInsensitive", "maxEntries"};
    db = memory_db_open();
    bson_t *keys = bson_from_text("{'a':1}");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        bson_t *options = bson_new();
        bson_append_int32(options, names[i], -1, 1);
        CHECK_OK(tansu_index_create(db, NULL, "c", names[i], document_of(keys),
                                    document_of(options), NULL, NULL, &error),
                 &error);
        bson_append_int32(options, names[i], -1, 1);
        CHECK_STATUS(TANSU_E_INVALID_INDEX,
                     tansu_index_create(db, NULL, "c", names[i], document_of(keys),
                                        document_of(options), NULL, NULL, &error));
        CHECK_TEXT(names[i], error.context);
        bson_destroy(options);
    }
    bson_destroy(keys);
    memory_db_close(db);
}

static void a_bound_of_entries_out_of_range_is_refused(void) {
    static const char *const options[] = {"{'maxEntries':0}", "{'maxEntries':-1}",
                                          "{'maxEntries':1000001}", "{'maxEntries':'9'}",
                                          "{'maxEntries':{'$numberDouble':'NaN'}}"};
    db = memory_db_open();
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        CHECK_STATUS(TANSU_E_INVALID_INDEX, create("i", "{'a':1}", options[i]));
        CHECK_TEXT("maxEntries", error.context);
    }
    CHECK_OK(create("i", "{'a':1}", "{'maxEntries':1000000}"), &error);
    /* The default is not listed, and is the definition without the option. */
    CHECK_OK(create("d", "{'a':1}", "{'maxEntries':10000}"), &error);
    CHECK_OK(create("d", "{'a':1}", NULL), &error);
    memory_db_close(db);
}

static void sparse_compound_indexes_need_one_value(void) {
    db = memory_db_open();
    create_index(db, "s", "{'a':1,'b':1}", "{'sparse':true}");
    save_text(db, "{'_id':1,'a':1}");
    save_text(db, "{'_id':2,'b':1}");
    save_text(db, "{'_id':3,'x':1}");
    CHECK_INT(2, entries());
    CHECK_TEXT("1", find_ids(db, "{'a':1}", "{'$index':'s'}"));
    CHECK_TEXT("2", find_ids(db, "{'a':null,'b':1}", "{'$index':'s'}"));
    CHECK_TEXT("1", find_ids(db, "{'a':{'$exists':true}}", "{'$index':'s'}"));
    CHECK_TEXT("2 3", find_ids(db, "{'a':null}", NULL));
    CHECK_TEXT("INVALID_QUERY hints.$index", find_ids(db, "{'a':null}", "{'$index':'s'}"));
    /* The order of all documents can't come from it, that of those with a value can. */
    CHECK_TEXT("2 3 1", find_ids(db, "{}", "{'$orderby':{'a':1}}"));
    PLAN("\"memory\"", "{}", "{'$orderby':{'a':1}}", "plan.sort");
    for (int i = 10; i < 60; i++) {
        char json[60];
        snprintf(json, sizeof json, "{'_id':%d,'a':%d}", i, 100 - i);
        save_text(db, json);
    }
    const char *first = "{'$orderby':{'a':1,'b':1},'$index':'s','$max':2}";
    PLAN("\"index\"", "{'a':{'$gt':0}}", first, "plan.sort");
    CHECK_TEXT("1 59", find_ids(db, "{'a':{'$gt':0}}", first));
    memory_db_close(db);
}

/* says -- checks that the last error has a text. */
#define SAYS(text) CHECK(strstr(error.message, text) != NULL)

static void two_missing_values_say_what_to_do(void) {
    const char *unique = "{'unique':true}";
    db = memory_db_open();
    create_index(db, "u", "{'mail':1}", unique);
    save_text(db, "{'_id':1}");
    CHECK_STATUS(TANSU_E_NOT_UNIQUE, save("{'_id':2}"));
    SAYS("{\"mail\": null} twice; a missing field counts as null: create the index with the option "
         "\"sparse\"");
    CHECK_STATUS(TANSU_E_NOT_UNIQUE, save("{'_id':2,'mail':null}"));
    SAYS("with the option \"sparse\" and remove the field instead of storing null");
    save_text(db, "{'_id':2,'mail':'x'}");
    CHECK_STATUS(TANSU_E_NOT_UNIQUE, save("{'_id':3,'mail':'x'}"));
    SAYS("twice; give every document in it a value of its own");
    CHECK(strstr(error.message, "sparse") == NULL);
    /* Of an index that is built, too. */
    save_text(db, "{'_id':4,'mail':'y'}");
    CHECK_STATUS(TANSU_E_NOT_UNIQUE, create("n", "{'name':1}", unique));
    SAYS("\"sparse\"");
    /* Sparse leaves out a document with none of the paths only. */
    CHECK_STATUS(TANSU_OK, create("s", "{'a':1,'b':1}", "{'unique':true,'sparse':true}"));
    save_text(db, "{'_id':1,'mail':'z','a':1}");
    CHECK_STATUS(TANSU_E_NOT_UNIQUE, save("{'_id':5,'mail':'z5','a':1}"));
    SAYS("create the index with a \"partialFilter\"");
    save_text(db, "{'_id':1,'mail':'z','a':null,'b':null}");
    CHECK_STATUS(TANSU_E_NOT_UNIQUE, save("{'_id':5,'mail':'z5','a':null,'b':null}"));
    SAYS("twice; remove the field instead of storing null");
    memory_db_close(db);
}

static void unique_and_sparse_go_together(void) {
    db = memory_db_open();
    create_index(db, "u", "{'mail':1}", "{'unique':true,'sparse':true}");
    save_text(db, "{'_id':1}");
    save_text(db, "{'_id':2}");
    save_text(db, "{'_id':3,'mail':'x'}");
    CHECK_STATUS(TANSU_E_NOT_UNIQUE, save("{'_id':4,'mail':'x'}"));
    CHECK_TEXT("u", error.context);
    CHECK(strstr(error.message, "{\"mail\": \"x\"}") != NULL);
    save_text(db, "{'_id':4,'mail':null}");
    CHECK_STATUS(TANSU_E_NOT_UNIQUE, save("{'_id':5,'mail':null}"));
    CHECK_TEXT("1 2 4", find_ids(db, "{'mail':null}", NULL));
    CHECK_TEXT("3", find_ids(db, "{'mail':'x'}", NULL));
    memory_db_close(db);
}

static void violations_show_the_value(void) {
    db = memory_db_open();
    create_index(db, "u", "{'tags':1,'n':-1}", "{'unique':true}");
    save_text(db, "{'_id':1,'tags':['a','b'],'n':1.5}");
    CHECK_STATUS(TANSU_E_NOT_UNIQUE, save("{'_id':2,'tags':['c','b'],'n':1.5}"));
    CHECK(strstr(error.message, "{\"tags\": \"b\", \"n\": 1.5}") != NULL);
    save_text(db, "{'_id':2,'tags':['c','b'],'n':2}");
    char json[1200];
    memset(json, 'x', sizeof json);
    memcpy(json, "{'_id':3,'n':'", 14);
    memcpy(json + 1000, "'}", 3);
    CHECK_STATUS(TANSU_OK, save(json));
    json[7] = '4';
    CHECK_STATUS(TANSU_E_NOT_UNIQUE, save(json));
    CHECK(strstr(error.message, "xxx...") != NULL);
    CHECK(strlen(error.message) < 400);
    memory_db_close(db);
}

static void partial_indexes_hold_what_matches(void) {
    db = memory_db_open();
    create_index(db, "p", "{'n':1}", "{'partialFilter':{'active':true}}");
    for (int i = 0; i < 200; i++) {
        char json[100];
        snprintf(json, sizeof json, "{'_id':%d,'n':%d,'active':%s}", i, i % 50,
                 i % 4 == 0 ? "true" : "false");
        save_text(db, json);
    }
    CHECK_INT(50, entries());
    PLAN("\"p\"", "{'n':4,'active':true}", NULL, "plan.index");
    PLAN("true", "{'n':4,'active':true}", NULL, "plan.exact");
    PLAN("0", "{'n':{'$gte':4},'active':true}", "{'$onlycount':true}", "documentsExamined");
    CHECK_TEXT("4 104", find_ids(db, "{'n':4,'active':true}", NULL));
    PLAN("\"scan\"", "{'n':4}", NULL, "plan.kind");
    CHECK_TEXT("4 54 104 154", find_ids(db, "{'n':4}", NULL));
    PLAN("\"scan\"", "{'n':4,'active':{'$ne':false}}", NULL, "plan.kind");
    CHECK_TEXT("INVALID_QUERY hints.$index", find_ids(db, "{'n':4}", "{'$index':'p'}"));
    /* The filter alone is narrow enough to be worth reading the index. */
    PLAN("\"p\"", "{'active':true}", NULL, "plan.index");
    CHECK_INT(50, count_matches(db, "{'active':true}", NULL));
    PLAN("\"index\"", "{'active':true}", "{'$orderby':{'n':1},'$max':2}", "plan.sort");
    CHECK_TEXT("0 100", find_ids(db, "{'active':true}", "{'$orderby':{'n':1},'$max':2}"));
    /* In a branch of an $or, and with one. */
    CHECK_TEXT("3 4 104", find_ids(db, "{'$or':[{'n':4,'active':true},{'_id':3}]}", NULL));
    PLAN("\"union\"", "{'$or':[{'n':4,'active':true},{'_id':3}]}", NULL, "plan.kind");
    PLAN("\"scan\"", "{'$or':[{'n':4},{'_id':3}]}", NULL, "plan.kind");
    /* Documents come into it and leave it. */
    save_text(db, "{'_id':4,'n':4,'active':false}");
    save_text(db, "{'_id':54,'n':4,'active':true}");
    CHECK_TEXT("54 104", find_ids(db, "{'n':4,'active':true}", NULL));
    memory_db_close(db);
}

/* uses -- whether a query uses the partial index "p" of a filter, having proven that it may. */
static bool uses(const char *filter, const char *query) {
    char options[300];
    snprintf(options, sizeof options, "{'partialFilter':%s}", filter);
    CHECK_STATUS(TANSU_OK, create("p", "{'n':1}", options));
    bool used = strncmp(find_ids(db, query, "{'$index':'p'}"), "INVALID", 7) != 0;
    CHECK_STATUS(TANSU_OK, tansu_index_drop(db, NULL, "c", "p", &error));
    return used;
}

static void what_implies_a_filter(void) {
    db = memory_db_open();
    CHECK(uses("{'a':{'$gt':5}}", "{'a':{'$gt':5}}"));
    CHECK(uses("{'a':{'$gt':5}}", "{'a':{'$gt':6}}"));
    CHECK(uses("{'a':{'$gt':5}}", "{'a':6.5,'n':1}"));
    CHECK(uses("{'a':{'$gt':5}}", "{'a':{'$in':[6,7]}}"));
    CHECK(uses("{'a':{'$gt':5}}", "{'a':{'$bt':[6,7]}}"));
    CHECK(uses("{'a':{'$gt':5}}", "{'$or':[{'a':6},{'a':7,'n':1}]}"));
    CHECK(uses("{'a':{'$exists':true}}", "{'a':{'$lt':3}}"));
    CHECK(uses("{'a':{'$ne':1}}", "{'a':{'$ne':1}}"));
    CHECK(uses("{'a':{'$ne':1}}", "{'a':{'$nin':[1,2]}}"));
    CHECK(uses("{'$or':[{'a':1},{'b':1}]}", "{'b':1}"));
    CHECK(uses("{'a':1,'b':{'$begin':'x'}}", "{'b':{'$begin':'xy'},'a':1}"));
    CHECK(uses("{}", "{}"));
    CHECK(!uses("{'a':{'$gt':5}}", "{'a':{'$gte':5}}"));
    CHECK(!uses("{'a':{'$gt':5}}", "{'a':'6'}"));
    CHECK(!uses("{'a':{'$gt':5}}", "{'$or':[{'a':6},{'n':1}]}"));
    CHECK(!uses("{'a':{'$gt':5}}", "{'b':6}"));
    CHECK(!uses("{'a':{'$exists':true}}", "{'a':null}"));
    CHECK(!uses("{'a':{'$exists':true}}", "{'a':{'$ne':1}}"));
    /* {a: [1, 2]} has a 2, and is none of those that are not 1. */
    CHECK(!uses("{'a':{'$ne':1}}", "{'a':2}"));
    CHECK(!uses("{'a':1,'b':1}", "{'a':1}"));
    /* Equal but for letter case is not equal. */
    CHECK(!uses("{'a':'x'}", "{'a':{'$icase':{'$eq':'x'}}}"));
    memory_db_close(db);
}

static void unique_holds_within_a_filter(void) {
    db = memory_db_open();
    create_index(db, "u", "{'n':1}", "{'unique':true,'partialFilter':{'active':true}}");
    save_text(db, "{'_id':1,'n':1}");
    save_text(db, "{'_id':2,'n':1}");
    save_text(db, "{'_id':3,'n':1,'active':true}");
    CHECK_STATUS(TANSU_E_NOT_UNIQUE, save("{'_id':2,'n':1,'active':true}"));
    CHECK_TEXT("1 2 3", find_ids(db, "{'n':1}", NULL));
    CHECK_TEXT("3", find_ids(db, "{'n':1,'active':true}", NULL));
    CHECK_STATUS(TANSU_OK, save("{'_id':3,'n':1}"));
    CHECK_STATUS(TANSU_OK, save("{'_id':2,'n':1,'active':true}"));
    memory_db_close(db);
}

static void letter_case_can_be_ignored(void) {
    db = memory_db_open();
    create_index(db, "i", "{'s':1}", "{'caseInsensitive':true}");
    save_text(db, "{'_id':1,'s':'Stra\xC3\x9F"
                  "e'}");
    save_text(db, "{'_id':2,'s':'STRASSE'}");
    save_text(db, "{'_id':3,'s':'\xC3\x84pfel'}");
    save_text(db, "{'_id':4,'s':['x','\xC3\xA4PFEL']}");
    save_text(db, "{'_id':5,'s':5}");
    CHECK_TEXT("2", find_ids(db, "{'s':'STRASSE'}", NULL));
    PLAN("\"scan\"", "{'s':'STRASSE'}", NULL, "plan.kind");
    CHECK_TEXT("2", find_ids(db, "{'s':'STRASSE'}", "{'$index':'i'}"));
    const char *folded = "{'$collation':{'caseInsensitive':true},'$index':'i'}";
    CHECK_TEXT("1 2", find_ids(db, "{'s':'strasse'}", folded));
    CHECK_TEXT("1 2", find_ids(db, "{'s':'strasse'}", "{'$collation':{'caseInsensitive':true}}"));
    PLAN("2", "{'s':'strasse'}", folded, "keysExamined");
    CHECK_TEXT("1 2", find_ids(db, "{'s':{'$icase':{'$begin':'STRAS'}}}", NULL));
    PLAN("2", "{'s':{'$icase':{'$begin':'STRAS'}}}", "{'$index':'i'}", "keysExamined");
    CHECK_TEXT("1 2", find_ids(db, "{'s':{'$icase':{'$begin':'STRAS'}}}", "{'$index':'i'}"));
    CHECK_TEXT("3 4", find_ids(db, "{'s':{'$icase':{'$eq':'\xC3\x84PFEL'}}}", NULL));
    CHECK_TEXT("5", find_ids(db, "{'s':5}", "{'$index':'i'}"));
    memory_db_close(db);
    db = memory_db_open();
    create_index(db, "u", "{'s':1}", "{'caseInsensitive':true,'unique':true}");
    save_text(db, "{'_id':1,'s':'Anna'}");
    CHECK_STATUS(TANSU_E_NOT_UNIQUE, save("{'_id':2,'s':'ANNA'}"));
    CHECK(strstr(error.message, "\"ANNA\"") != NULL);
    memory_db_close(db);
}

static void options_are_checked(void) {
    db = memory_db_open();
    CHECK_STATUS(TANSU_E_INVALID_INDEX, create("x", "{'a':1}", "{'sparse':'yes'}"));
    CHECK_TEXT("sparse", error.context);
    CHECK_STATUS(TANSU_E_INVALID_INDEX, create("x", "{'a':1}", "{'clever':true}"));
    CHECK_TEXT("clever", error.context);
    CHECK_STATUS(TANSU_E_INVALID_INDEX, create("x", "{'a':1}", "{'partialFilter':1}"));
    CHECK_STATUS(TANSU_E_INVALID_QUERY, create("x", "{'a':1}", "{'partialFilter':{'a':{'$x':1}}}"));
    CHECK_STATUS(TANSU_E_INVALID_INDEX,
                 create("x", "{'a':1}", "{'partialFilter':{'a':{'$mod':[2,1]}}}"));
    CHECK_TEXT("partialFilter", error.context);
    CHECK_STATUS(TANSU_OK, create("x", "{'a':1}", "{'sparse':true,'partialFilter':{'b':1}}"));
    CHECK_STATUS(TANSU_OK, create("x", "{'a':1}", "{'partialFilter':{'b':1},'sparse':true}"));
    CHECK_STATUS(TANSU_E_EXISTS, create("x", "{'a':1}", "{'partialFilter':{'b':1}}"));
    CHECK_STATUS(TANSU_E_EXISTS, create("x", "{'a':1}", "{'sparse':true}"));
    memory_db_close(db);
}

/* reopen -- closes and opens the folder again, without the block store when `rebuild`. */
static void reopen(const char *folder, bool rebuild) {
    tansu_options options;
    tansu_options_init(&options);
    options.path = folder;
    if (db)
        memory_db_close(db);
    if (rebuild)
        folder_remove(folder_join(folder, "index"));
    REQUIRE(CHECK_OK(tansu_open(&options, &db, &error), &error));
}

static void options_are_kept(void) {
    char *folder = folder_new();
    db = NULL;
    reopen(folder, false);
    CHECK_STATUS(TANSU_OK, create("all", "{'a':-1}",
                                  "{'unique':true,'sparse':true,'caseInsensitive':true,"
                                  "'partialFilter':{'b':{'$gt':1}}}"));
    CHECK_STATUS(TANSU_OK, create("plain", "{'b':1}", NULL));
    save_text(db, "{'_id':1,'a':'X','b':2}");
    save_text(db, "{'_id':2,'a':'y','b':1}");
    char *before = list();
    CHECK(strstr(before, "\"unique\" : true, \"sparse\" : true, \"caseInsensitive\" : true, "
                         "\"partialFilter\" : { \"b\" : { \"$gt\" : 1 } }") != NULL);
    CHECK(strstr(before, "\"entries\" : 1 ") != NULL);
    for (int rebuild = 0; rebuild < 3; rebuild++) {
        reopen(folder,
               rebuild == 1); /* the last time from the block store that the second one made */
        char *after = list();
        CHECK_TEXT(before, after);
        bson_free(after);
        CHECK_STATUS(TANSU_E_NOT_UNIQUE, save("{'_id':3,'a':'x','b':5}"));
        CHECK_STATUS(TANSU_OK, save("{'_id':2,'a':'X','b':1}"));
    }
    bson_free(before);
    memory_db_close(db);
    folder_end(folder);
}

int main(void) {
    RUN(sparse_indexes_leave_documents_out);
    RUN(the_bound_on_entries_is_an_option);
    RUN(a_bound_of_entries_out_of_range_is_refused);
    RUN(an_option_twice_is_refused);
    RUN(sparse_compound_indexes_need_one_value);
    RUN(two_missing_values_say_what_to_do);
    RUN(unique_and_sparse_go_together);
    RUN(violations_show_the_value);
    RUN(partial_indexes_hold_what_matches);
    RUN(what_implies_a_filter);
    RUN(unique_holds_within_a_filter);
    RUN(letter_case_can_be_ignored);
    RUN(options_are_checked);
    RUN(options_are_kept);
    return check_finish();
}
