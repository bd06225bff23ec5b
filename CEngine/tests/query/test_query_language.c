/*
 * test_query_language.c -- each operator, hint and rule of docs/query-language.md means what is
 * written there, and everything unknown or malformed is an error that names it.
 */
#include "support/calls/aggregate_calls.h"
#include "support/calls/call.h"
#include "support/calls/query_calls.h"
#include "support/calls/update_calls.h"
#include "support/check.h"
#include "support/libraries.h"
#include "support/random/random.h"

#include <stdio.h>
#include <string.h>

static tansu_db *db;

#define IDS(expected, query) CHECK_TEXT(expected, find_ids(db, query, NULL))
#define HINTED(expected, query, hint) CHECK_TEXT(expected, find_ids(db, query, hint))

#define WITH(...) (db = memory_db_with((const char *const[]){__VA_ARGS__, NULL}))

static void fields_are_joined_by_and(void) {
    WITH("{'_id':1,'a':1,'b':1}", "{'_id':2,'a':1,'b':2}", "{'_id':3,'a':2,'b':2}");
    IDS("1 2 3", NULL);
    IDS("1 2 3", "{}");
    IDS("2", "{'a':1,'b':2}");
    IDS("2", "{'b':{'$gt':1,'$lte':2},'a':{'$lt':2}}");
    IDS("", "{'a':3}");
    IDS("2 3", "{'b':2,'b':{'$exists':true}}");
    memory_db_close(db);
}

static void comments_select_nothing(void) {
    WITH("{'_id':1,'a':1}", "{'_id':2,'a':2}", "{'_id':3,'a':[{'b':1}]}");
    IDS("1", "{'a':1,'$comment':'why'}");
    IDS("1 2 3", "{'$comment':{'any':['value']}}");
    IDS("1 2", "{'$or':[{'a':1,'$comment':'one'},{'$comment':'two','a':2}]}");
    IDS("2 3", "{'$not':{'a':1,'$comment':'x'}}");
    IDS("3", "{'a':{'$elemMatch':{'b':1,'$comment':'x'}}}");
    IDS("INVALID_QUERY a.$comment", "{'a':{'$gt':0,'$comment':'x'}}");
    HINTED("INVALID_QUERY hints.$comment", "{}", "{'$comment':'x'}");
    memory_db_close(db);
}

static void tests_of_documents_are_of_no_element(void) {
    WITH("{'_id':1,'a':[{'b':1,'c':2}]}");
    IDS("INVALID_QUERY a.$elemMatch.$expr", "{'a':{'$elemMatch':{'b':1,'$expr':true}}}");
    IDS("INVALID_QUERY a.$elemMatch.$sampleRate", "{'a':{'$elemMatch':{'b':1,'$sampleRate':1}}}");
    IDS("INVALID_QUERY a.$elemMatch.$jsonSchema", "{'a':{'$elemMatch':{'b':1,'$jsonSchema':{}}}}");
    IDS("INVALID_QUERY a.$elemMatch.$and.0.$expr",
        "{'a':{'$elemMatch':{'$and':[{'b':1,'$expr':true}]}}}");
    IDS("1", "{'$nor':[{'$not':{'$expr':true}}]}");
    memory_db_close(db);
}

static void samples_are_taken_at_a_rate(void) {
    static const char *const wrong[] = {"-0.1", "1.1", "'1'",
                                        "null", "[1]", "{'$numberDecimal':'NaN'}"};
    WITH("{'_id':1,'a':1}", "{'_id':2,'a':2}", "{'_id':3,'a':3}");
    IDS("", "{'$sampleRate':0}");
    IDS("1 2 3", "{'$sampleRate':1}");
    IDS("1 2 3", "{'$sampleRate':{'$numberDecimal':'1'}}");
    IDS("2 3", "{'a':{'$gt':1},'$sampleRate':1.0}");
    IDS("1", "{'$or':[{'a':1},{'$sampleRate':0}]}");
    IDS("INVALID_QUERY a.$sampleRate", "{'a':{'$sampleRate':1}}");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char query[64];
        snprintf(query, sizeof query, "{'$sampleRate':%s}", wrong[i]);
        IDS("INVALID_QUERY $sampleRate", query);
    }
    /* The mean of 1000 documents is 500; 6 standard deviations are 95. */
    for (int i = 4; i <= 1000; i++) {
        char document[48];
        snprintf(document, sizeof document, "{'_id':%d,'a':%d}", i, i);
        save_text(db, document);
    }
    int64_t count = count_matches(db, "{'$sampleRate':0.5}", NULL);
    CHECK(count > 400 && count < 600);
    memory_db_close(db);
}

static void bare_values_mean_eq(void) {
    WITH("{'_id':1,'a':'x'}", "{'_id':2,'a':null}", "{'_id':3}", "{'_id':4,'a':true}",
         "{'_id':5,'a':1}", "{'_id':6,'a':{'b':1}}");
    IDS("1", "{'a':'x'}");
    IDS("4", "{'a':true}");
    IDS("5", "{'a':1}");
    IDS("2 3", "{'a':null}");
    IDS("6", "{'a':{'$eq':{'b':1}}}");
    IDS("", "{'a':{}}");
    memory_db_close(db);
}

static void nested_documents_are_sub_queries(void) {
    WITH("{'_id':1,'pet':{'species':'cat','age':3}}", "{'_id':2,'pet':{'species':'cat'}}",
         "{'_id':3,'pet':{'species':'dog','age':3}}", "{'_id':4,'pet':'cat'}",
         "{'_id':5,'pet':[{'species':'cat'},{'species':'dog','age':3}]}");
    IDS("1 2 5", "{'pet':{'species':'cat'}}");
    IDS("2 5", "{'pet':{'$eq':{'species':'cat'}}}");
    IDS("1 5", "{'pet':{'species':'cat','age':3}}");
    IDS("1 3 5", "{'pet':{'age':{'$gte':3}}}");
    IDS("3 4", "{'pet':{'$not':{'species':'cat'}}}");
    memory_db_close(db);
}

static void paths_lead_through_arrays(void) {
    WITH("{'_id':1,'tags':['a','b']}", "{'_id':2,'tags':['b','a']}", "{'_id':3,'tags':'a'}",
         "{'_id':4,'pets':[{'n':1},{'n':5},7]}", "{'_id':5,'pets':[]}", "{'_id':6,'pets':{'n':1}}",
         "{'_id':7,'a.b':{'c':9}}", "{'_id':8,'a':{'b':{'c':9}}}");
    IDS("1 2 3", "{'tags':'a'}");
    IDS("1", "{'tags.0':'a'}");
    IDS("1", "{'tags':['a','b']}");
    IDS("4 6", "{'pets.n':1}");
    IDS("4", "{'pets.1.n':5}");
    IDS("7", "{'a\\\\.b.c':9}");
    IDS("8", "{'a.b.c':9}");
    memory_db_close(db);
}

static void each_operator_may_take_another_element(void) {
    WITH("{'_id':1,'a':[1,9]}", "{'_id':2,'a':[4]}", "{'_id':3,'a':6}", "{'_id':4,'a':[]}",
         "{'_id':5,'a':[[4]]}");
    IDS("1 2", "{'a':{'$gt':2,'$lt':5}}");
    IDS("2 5", "{'a':[4]}");
    IDS("2 5", "{'a':{'$in':[[4],77]}}");
    IDS("2 3 4 5", "{'a':{'$ne':9}}");
    IDS("4", "{'a':[]}");
    IDS("2 5", "{'a':{'$gt':[3],'$lt':[5]}}");
    IDS("1 2 3", "{'a':{'$gt':3}}");
    memory_db_close(db);
}

static void negation_is_the_complement(void) {
    static const char *const positive[] = {"{'a':{'$eq':5}}",      "{'a':{'$in':[5,null]}}",
                                           "{'a':{'$gt':4}}",      "{'a':{'$exists':true}}",
                                           "{'a':{'$begin':'c'}}", "{'a.b':1}"};
    WITH("{'_id':1,'a':5}", "{'_id':2}", "{'_id':3,'a':null}", "{'_id':4,'a':[5,6]}",
         "{'_id':5,'a':'cat'}", "{'_id':6,'a':['dog','cat']}", "{'_id':7,'a':[]}",
         "{'_id':8,'a':{'b':1}}", "{'_id':9,'a':[{'b':1},{'b':2}]}");
    for (size_t i = 0; i < sizeof positive / sizeof *positive; i++) {
        char query[300];
        snprintf(query, sizeof query, "{'$nor':[%s]}", positive[i]);
        CHECK_INT(9, count_matches(db, positive[i], NULL) + count_matches(db, query, NULL));
        snprintf(query, sizeof query, "{'$and':[%s,{'$not':%s}]}", positive[i], positive[i]);
        CHECK_INT(0, count_matches(db, query, NULL));
        snprintf(query, sizeof query, "{'$or':[%s,{'$not':%s}]}", positive[i], positive[i]);
        CHECK_INT(9, count_matches(db, query, NULL));
    }
    IDS("2 3 5 6 7 8 9", "{'a':{'$ne':5}}");
    IDS("5 6 7 8 9", "{'a':{'$nin':[5,null]}}");
    IDS("1 2 3 4 7 8 9", "{'a':{'$not':{'$begin':'c'}}}");
    IDS("2 3 5 6 7 8 9", "{'a':{'$not':5}}");
    IDS("1 4", "{'a':{'$not':{'$ne':5}}}");
    IDS("1 3 4 5 6 7 8 9", "{'a':{'$exists':true}}");
    IDS("2", "{'a':{'$exists':false}}");
    memory_db_close(db);
}

static void null_is_null_or_missing(void) {
    WITH("{'_id':1,'a':null}", "{'_id':2}", "{'_id':3,'a':0}", "{'_id':4,'a':[null]}",
         "{'_id':5,'a':{'$undefined':true}}", "{'_id':6,'a':[]}");
    IDS("1 2 4 5", "{'a':null}");
    IDS("3 6", "{'a':{'$ne':null}}");
    IDS("1 2 4 5", "{'a':{'$gte':null}}");
    IDS("1 2 4 5", "{'a':{'$lte':null}}");
    IDS("", "{'a':{'$gt':null}}");
    IDS("1 2 3 4 5", "{'a':{'$in':[0,null]}}");
    memory_db_close(db);
}

static void comparison_is_typed_and_exact(void) {
    WITH("{'_id':1,'a':30}", "{'_id':2,'a':'30'}", "{'_id':3,'a':true}", "{'_id':4,'a':30.5}",
         "{'_id':5,'a':{'$numberDecimal':'30.0'}}", "{'_id':6,'a':{'$numberDouble':'NaN'}}",
         "{'_id':7,'a':{'$numberLong':'9007199254740993'}}",
         "{'_id':8,'a':{'$numberDouble':'9007199254740992'}}", "{'_id':9,'a':{'b':1}}",
         "{'_id':10,'a':{'$date':'2020-01-01T00:00:00Z'}}");
    IDS("1 5", "{'a':30}");
    IDS("4 7 8", "{'a':{'$gt':30}}");
    IDS("", "{'a':{'$lt':30}}");
    IDS("1 5", "{'a':{'$lte':30}}");
    IDS("", "{'a':{'$lt':{'$numberDouble':'NaN'}}}");
    IDS("", "{'a':{'$gt':{'$numberDouble':'NaN'}}}");
    IDS("6", "{'a':{'$gte':{'$numberDouble':'NaN'}}}");
    IDS("6", "{'a':{'$lte':{'$numberDouble':'NaN'}}}");
    IDS("", "{'a':{'$bt':[{'$numberDouble':'NaN'},30]}}");
    IDS("1 2 3 4 5 7 8 9 10", "{'a':{'$not':{'$bt':[{'$numberDouble':'NaN'},"
                              "{'$numberDouble':'NaN'}]}}}");
    IDS("1 2 3 4 5 6 7 8 9 10", "{'a':{'$gt':{'$minKey':1}}}");
    IDS("", "{'a':{'$lt':{'$minKey':1}}}");
    IDS("2", "{'a':{'$gte':''}}");
    IDS("6", "{'a':{'$numberDouble':'NaN'}}");
    IDS("7", "{'a':{'$gt':{'$numberDouble':'9007199254740992'}}}");
    IDS("8", "{'a':{'$numberLong':'9007199254740992'}}");
    IDS("3", "{'a':{'$gt':false}}");
    IDS("9", "{'a':{'$lt':{'b':2}}}");
    IDS("10", "{'a':{'$lt':{'$date':'2021-01-01T00:00:00Z'}}}");
    memory_db_close(db);
}

static void logic_at_the_top_and_on_a_field(void) {
    WITH("{'_id':1,'a':1,'b':1}", "{'_id':2,'a':2,'b':1}", "{'_id':3,'a':3,'b':2}");
    IDS("1 3", "{'$or':[{'a':1},{'b':2}]}");
    IDS("2", "{'$and':[{'a':{'$gt':1}},{'b':1}]}");
    IDS("2", "{'$nor':[{'a':1},{'b':2}]}");
    IDS("1", "{'$not':{'a':{'$gt':1}}}");
    IDS("1 3", "{'a':{'$or':[{'$lt':2},{'$gt':2}]}}");
    IDS("2", "{'a':{'$nor':[{'$lt':2},{'$gt':2}]}}");
    IDS("2", "{'a':{'$and':[{'$gt':1},{'$lt':3}]}}");
    IDS("1", "{'$or':[{'a':1},{'a':2}],'$and':[{'$or':[{'a':1},{'a':3}]},{'b':1}]}");
    IDS("", "{'a':{'$in':[]}}");
    IDS("1 2 3", "{'a':{'$nin':[]}}");
    memory_db_close(db);
}

static void begin_compares_bytes(void) {
    WITH("{'_id':1,'a':'Wien'}", "{'_id':2,'a':'Wiesbaden'}", "{'_id':3,'a':'wien'}",
         "{'_id':4,'a':['x','Wismar']}", "{'_id':5,'a':5}", "{'_id':6,'a':'W\\u0000x'}");
    IDS("1 2", "{'a':{'$begin':'Wie'}}");
    IDS("1 2 4 6", "{'a':{'$begin':'W'}}");
    IDS("1 2 3 4 6", "{'a':{'$beginsWith':''}}");
    IDS("2 3 4", "{'a':{'$begin':['Wis','wi','Wies']}}");
    IDS("6", "{'a':{'$begin':'W\\u0000'}}");
    memory_db_close(db);
}

static void order_is_across_kinds_and_stable(void) {
    WITH("{'_id':1,'a':'b'}", "{'_id':2,'a':5}", "{'_id':3}", "{'_id':4,'a':[9,1]}",
         "{'_id':5,'a':null}", "{'_id':6,'a':true}", "{'_id':7,'a':{'x':1}}", "{'_id':8,'a':[]}",
         "{'_id':9,'a':5.0}", "{'_id':10,'a':'a'}");
    HINTED("3 5 8 4 2 9 10 1 7 6", "{}", "{'$orderby':{'a':1}}");
    HINTED("6 7 1 10 4 2 9 3 5 8", "{}", "{'$orderby':{'a':-1}}");
    HINTED("9 2", "{'a':5}", "{'$orderby':{'a':1,'_id':-1}}");
    HINTED("8 4", "{}", "{'$orderby':{'a':1},'$skip':2,'$max':2}");
    HINTED("3 5 8", "{}", "{'$orderby':{'a':1},'$limit':3}");
    HINTED("3 5 8 4 2 9 10 1 7 6", "{}", "{'$orderby':{'a':1},'$max':0}");
    HINTED("4 2 9 10 1 7 6", "{}", "{'$orderby':{'a':1.4},'$skip':3.5}");
    HINTED("9 10", "{}", "{'$skip':8}");
    HINTED("", "{}", "{'$skip':10}");
    HINTED("1 2", "{}", "{'$max':2.0}");
    memory_db_close(db);
}

static void fields_include_or_exclude(void) {
    WITH("{'_id':1,'a':1,'b':{'c':2,'d':3},'e':[{'f':1,'g':2},5,[{'f':3}]]}");
#define FIELDS(expected, fields) \
    CHECK_TEXT(expected, find_documents(db, "{}", "{'$fields':" fields "}"))
    FIELDS("{ \"_id\" : 1, \"a\" : 1 }", "{'a':1}");
    FIELDS("{ \"a\" : 1 }", "{'a':1,'_id':0}");
    FIELDS("{ \"_id\" : 1 }", "{'_id':1}");
    FIELDS("{ \"_id\" : 1, \"b\" : { \"d\" : 3 } }", "{'b.d':true}");
    FIELDS("{ \"_id\" : 1, \"e\" : [ { \"f\" : 1 }, [ { \"f\" : 3 } ] ] }", "{'e.f':1}");
    FIELDS("{ \"_id\" : 1, \"a\" : 1, \"b\" : { \"d\" : 3 }, "
           "\"e\" : [ { \"g\" : 2 }, 5, [ {  } ] ] }",
           "{'b.c':0,'e.f':0}");
    FIELDS("{ \"a\" : 1, \"b\" : { \"c\" : 2, \"d\" : 3 } }", "{'e':0,'_id':0}");
    FIELDS("{ \"_id\" : 1 }", "{'a.x':1}");
    FIELDS("{ \"_id\" : 1, \"a\" : 1 }", "{'b':0,'e':0,'_id':1}");
    FIELDS("INVALID_QUERY hints.$fields.b", "{'a':1,'b':0}");
    FIELDS("INVALID_QUERY hints.$fields.b.c", "{'b':1,'b.c':1}");
    FIELDS("{ \"_id\" : 1, \"a\" : \"x\", \"c\" : 2 }", "{'a':'x','c':'$b.c'}");
    FIELDS("INVALID_QUERY hints.$fields.a.$y", "{'a':{'$y':1}}");
    FIELDS("UNSUPPORTED hints.$fields", "{'a':'x','e':{'$slice':1}}");
    FIELDS("INVALID_QUERY hints.$fields.e.$", "{'e.$':1}");
    memory_db_close(db);
}

static void counts(void) {
    WITH("{'_id':1,'a':1}", "{'_id':2,'a':2}", "{'_id':3,'a':3}");
    CHECK_INT(3, count_matches(db, NULL, NULL));
    CHECK_INT(2, count_matches(db, "{'a':{'$gt':1}}", NULL));
    CHECK_INT(1, count_matches(db, "{'a':{'$gt':1}}", "{'$skip':1}"));
    CHECK_INT(1, count_matches(db, "{}", "{'$max':1,'$orderby':{'a':1}}"));
    CHECK_TEXT("{ \"count\" : 2 }", find_documents(db, "{'a':{'$lt':3}}", "{'$onlycount':true}"));
    CHECK_TEXT("1 2", find_ids(db, "{'a':{'$lt':3}}", "{'$onlycount':false}"));
    memory_db_close(db);
}

static void what_is_wrong_is_named(void) {
    static const struct {
        const char *query, *hints, *expected;
    } cases[] = {
        {"{'age':{'$gtx':1}}", NULL, "INVALID_QUERY age.$gtx"},
        {"{'a':{'b':{'$foo':1}}}", NULL, "INVALID_QUERY a.b.$foo"},
        {"{'$foo':1}", NULL, "INVALID_QUERY $foo"},
        {"{'a':{'$in':5}}", NULL, "INVALID_QUERY a.$in"},
        {"{'a':{'$nin':{'x':1}}}", NULL, "INVALID_QUERY a.$nin.x"},
        {"{'a':{'$exists':'yes'}}", NULL, "INVALID_QUERY a.$exists"},
        {"{'a':{'$begin':5}}", NULL, "INVALID_QUERY a.$begin"},
        {"{'a':{'$begin':[]}}", NULL, "INVALID_QUERY a.$begin"},
        {"{'a':{'$begin':['x',1]}}", NULL, "INVALID_QUERY a.$begin"},
        {"{'$or':[]}", NULL, "INVALID_QUERY $or"},
        {"{'$and':{'a':1}}", NULL, "INVALID_QUERY $and"},
        {"{'$nor':[1]}", NULL, "INVALID_QUERY $nor"},
        {"{'$not':[]}", NULL, "INVALID_QUERY $not"},
        {"{'a':{'$eq':1,'b':2}}", NULL, "INVALID_QUERY a"},
        {"{'a':{'b':2,'$eq':1}}", NULL, "INVALID_QUERY a.$eq"},
        {"{}", "{'$orderby':{'':1}}", "INVALID_QUERY hints.$orderby."},
        {"{}", "{'$orderby':{'a..b':1}}", "INVALID_QUERY hints.$orderby.a..b"},
        {"{}", "{'$fields':{'a':-1}}", "INVALID_QUERY hints.$fields.a"},
        {"{'a':{'$ne':{'$regularExpression':{'pattern':'x','options':''}}}}", NULL,
         "INVALID_QUERY a.$ne"},
        {"{'a':{'$gt':{'$regularExpression':{'pattern':'x','options':''}}}}", NULL,
         "INVALID_QUERY a.$gt"},
        {"{'a':{'$bitsAllSet':-1}}", NULL, "INVALID_QUERY a.$bitsAllSet"},
        {"{'a':{'$bitsAnySet':[1,'x']}}", NULL, "INVALID_QUERY a.$bitsAnySet"},
        {"{'a':{'$x':1}}", NULL, "INVALID_QUERY a.$x"},
        {"{'a':{'b':1,'$x':1}}", NULL, "INVALID_QUERY a.$x"},
        {"{'a':{'$in':[{'$x':1}]}}", NULL, "INVALID_QUERY a.$in"},
        {"{}", "{'$orderby':{'$x':1}}", "INVALID_QUERY hints.$orderby.$x"},
        {"{}", "{'$orderby':{'a.$[]':1}}", "INVALID_QUERY hints.$orderby.a.$[]"},
        {"{'a':{'$regularExpression':{'pattern':'(','options':''}}}", NULL, "INVALID_QUERY a"},
        {"{'$do':{'a':{'$joins':'b'}}}", NULL, "INVALID_QUERY $do.a"},
        {"{'$or':[{'$do':{'a':{'$join':'b'}}}]}", NULL, "INVALID_QUERY $or.0.$do"},
        {"{}", "{'$foo':1}", "INVALID_QUERY hints.$foo"},
        {"{}", "{'max':1}", "INVALID_QUERY hints.max"},
        {"{}", "{'$max':-1}", "INVALID_QUERY hints.$max"},
        {"{}", "{'$max':1.5}", "INVALID_QUERY hints.$max"},
        {"{}", "{'$max':1,'$limit':1}", "INVALID_QUERY hints.$limit"},
        {"{}", "{'$skip':'1'}", "INVALID_QUERY hints.$skip"},
        {"{}", "{'$orderby':'a'}", "INVALID_QUERY hints.$orderby"},
        {"{}", "{'$orderby':{'a':2}}", "INVALID_QUERY hints.$orderby.a"},
        {"{}", "{'$orderby':{'a':1,'a':-1}}", "INVALID_QUERY hints.$orderby.a"},
        {"{}", "{'$fields':1}", "INVALID_QUERY hints.$fields"},
        {"{}", "{'$onlycount':'x'}", "INVALID_QUERY hints.$onlycount"},
        {"{}", "{'$index':5}", "INVALID_QUERY hints.$index"},
        {"{}", "{'$index':'none'}", "INVALID_QUERY hints.$index"},
    };
    WITH("{'_id':1,'a':1}");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (!CHECK_TEXT(cases[i].expected, find_ids(db, cases[i].query, cases[i].hints)))
            check_note("query %s hints %s", cases[i].query, cases[i].hints ? cases[i].hints : "");
    }
    memory_db_close(db);
}

static void malformed_bytes_are_refused(void) {
    static const uint8_t bad[] = {9, 0, 0, 0, 2, 'a', 0, 9, 0};
    tansu_cursor *cursor = NULL;
    WITH("{'_id':1}");
    CHECK_STATUS(TANSU_E_INVALID_BSON, tansu_find(db, NULL, "c", (tansu_document){bad, sizeof bad},
                                                  TANSU_NO_DOCUMENT, &cursor, NULL));
    CHECK_STATUS(TANSU_E_INVALID_BSON,
                 tansu_find(db, NULL, "c", TANSU_NO_DOCUMENT, (tansu_document){bad, sizeof bad},
                            &cursor, NULL));
    CHECK(cursor == NULL);
    memory_db_close(db);
}

static void deep_and_wide_queries_are_bounded(void) {
    WITH("{'_id':1,'a':77}");
    bson_t *q = bson_new();
    bson_append_int32(q, "a", 1, 77);
    for (int depth = 0; depth < 40; depth++) {
        bson_t *outer = bson_new(), array;
        bson_append_array_begin(outer, depth % 2 ? "$and" : "$nor", -1, &array);
        bson_append_document(&array, "0", 1, q);
        bson_append_array_end(outer, &array);
        bson_destroy(q);
        q = outer;
    }
    char *json = bson_as_relaxed_extended_json(q, NULL);
    IDS("1", json);
    bson_free(json);
    bson_destroy(q);

    bson_t wide = BSON_INITIALIZER, in, list;
    bson_append_document_begin(&wide, "a", 1, &in);
    bson_append_array_begin(&in, "$in", 3, &list);
    for (int i = 0; i < 50000; i++) {
        char key[12];
        snprintf(key, sizeof key, "%d", i);
        bson_append_int32(&list, key, -1, 50000 - i);
    }
    bson_append_array_end(&in, &list);
    bson_append_document_end(&wide, &in);
    create_index(db, "a", "{'a':1}", NULL);
    int64_t count = 0;
    CHECK_STATUS(TANSU_OK,
                 tansu_count(db, NULL, "c", document_of(&wide), TANSU_NO_DOCUMENT, &count, NULL));
    CHECK_INT(1, count);
    bson_destroy(&wide);

    bson_t many = BSON_INITIALIZER;
    for (int i = 0; i < 200; i++) {
        char key[16];
        snprintf(key, sizeof key, "f%d", i);
        bson_append_null(&many, key, -1);
    }
    bson_append_int32(&many, "a", 1, 77);
    CHECK_STATUS(TANSU_OK,
                 tansu_count(db, NULL, "c", document_of(&many), TANSU_NO_DOCUMENT, &count, NULL));
    CHECK_INT(1, count);
    bson_destroy(&many);
    memory_db_close(db);
}

static void damaged_queries_end_in_an_error_or_an_answer(void) {
    static const char *const queries[] = {
        "{'a':{'$gt':5,'$lt':{'$numberLong':'9'}},'b.c':{'$in':[1,'x',null,[1],{'d':2}]}}",
        "{'$or':[{'a':{'$begin':['x','y']}},{'$nor':[{'b':{'$exists':1}}]}],'c':{'$not':{'e':1}}}",
        "{'$orderby':{'a':1,'b.c':-1},'$skip':1,'$max':5,'$fields':{'a':1,'b.c':1},'$index':'a'}",
    };
    random_source r = random_start(7);
    WITH("{'_id':1,'a':7,'b':[{'c':1},{'c':'x'}]}", "{'_id':2,'a':'xy','c':{'e':2}}");
    create_index(db, "a", "{'a':1}", NULL);
    create_index(db, "bc", "{'b.c':-1,'a':1}", NULL);
    int answered = 0;
    for (int round = 0; round < 4000; round++) {
        bson_t *sound = bson_from_text(queries[round % 3]);
        uint8_t *bytes = bson_malloc(sound->len);
        memcpy(bytes, bson_get_data(sound), sound->len);
        for (uint64_t i = 1 + random_below(&r, 3); i > 0; i--)
            bytes[4 + random_below(&r, sound->len - 4)] = (uint8_t)random_next(&r);
        tansu_cursor *cursor = NULL;
        tansu_document document;
        bool hints = round % 3 == 2;
        tansu_status status = tansu_find(
            db, NULL, "c", (tansu_document){hints ? NULL : bytes, hints ? 0 : sound->len},
            (tansu_document){hints ? bytes : NULL, hints ? sound->len : 0}, &cursor, NULL);
        while (status == TANSU_OK)
            status = tansu_cursor_next(cursor, &document, NULL);
        CHECK(status == TANSU_DONE || status == TANSU_E_INVALID_BSON ||
              status == TANSU_E_INVALID_QUERY || status == TANSU_E_UNSUPPORTED);
        answered += status == TANSU_DONE;
        tansu_cursor_close(cursor);
        bson_free(bytes);
        bson_destroy(sound);
    }
    /* Some changes leave a query, most do not. */
    CHECK(answered > 100 && answered < 3000);
    memory_db_close(db);
}

static void a_sort_is_bounded(void) {
    db = memory_db_open();
    size_t size = 15 * 1024 * 1024;
    char *text = bson_malloc(size);
    memset(text, 'x', size);
    for (int i = 0; i < 8; i++) {
        bson_t doc = BSON_INITIALIZER;
        bson_append_int32(&doc, "_id", 3, i);
        bson_append_utf8(&doc, "a", 1, text, (int)size);
        save_bson(db, &doc);
        bson_destroy(&doc);
    }
    bson_free(text);
    HINTED("TOO_LARGE hints.$orderby", "{}", "{'$orderby':{'a':1},'$allowDiskUse':false}");
    HINTED("0 1 2 3 4 5 6 7", "{}", "{'$orderby':{'a':1}}");
    HINTED("0 1", "{}", "{'$orderby':{'a':1},'$max':2}");
    memory_db_close(db);
}

/* A path of a condition may be "*" or "**"; asterisks alone are nothing else anywhere. */
static void asterisks_are_no_keys(void) {
    static const char *const paths[] = {"***", "*.a", "a.*", "a.**.b", "**.a"};
    tansu_db *db = memory_db_open();
    save_text(db, "{'_id':1,'*':5,'a':{'*':6,'a*':7}}");
    for (size_t i = 0; i < 7; i++) {
        const char *path = i < 5 ? paths[i] : i == 5 ? "*" : "**";
        char text[100], expected[100];
        snprintf(text, sizeof text, "{'%s':1}", path);
        snprintf(expected, sizeof expected, "INVALID_QUERY %s", path);
        /* "**.a" is the fields of that name (test_query_operators.c). */
        if (i < 4)
            CHECK_TEXT(expected, find_ids(db, text, NULL));
        snprintf(text, sizeof text, "{'$orderby':{'%s':1}}", path);
        snprintf(expected, sizeof expected, "INVALID_QUERY hints.$orderby.%s", path);
        CHECK_TEXT(expected, find_ids(db, NULL, text));
        snprintf(text, sizeof text, "{'$fields':{'%s':0}}", path);
        snprintf(expected, sizeof expected, "INVALID_QUERY hints.$fields.%s", path);
        CHECK_TEXT(expected, find_ids(db, NULL, text));
        CHECK_TEXT("INVALID_QUERY path", distinct_text(db, path, NULL, NULL));
        snprintf(text, sizeof text, "{'by':'%s'}", path);
        snprintf(expected, sizeof expected, "INVALID_QUERY group.by.%s", path);
        CHECK_TEXT(expected, aggregate_text(db, NULL, text, NULL));
        snprintf(text, sizeof text, "{'$set':{'%s':1}}", path);
        snprintf(expected, sizeof expected, "INVALID_QUERY $set.%s", path);
        CHECK_TEXT(expected, update_text(db, NULL, NULL, text, NULL));
        snprintf(text, sizeof text, "{'%s':1}", path);
        /* "**" is a wildcard index (test_wildcard_index.c). */
        if (i < 6)
            CHECK_STATUS(TANSU_E_INVALID_INDEX, call_index(db, NULL, "c", "i", text, NULL));
    }
    /* A key of that name has a backslash before it. */
    CHECK_TEXT("1", find_ids(db, "{'\\\\*':5,'a.\\\\*':6,'a.a*':7}", NULL));
    CHECK_TEXT("{ \"values\" : [ 6 ] }", distinct_text(db, "a.\\*", NULL, NULL));
    memory_db_close(db);
}

/* The error names all that is around the condition. */
static void errors_name_the_whole_position(void) {
    static const struct {
        const char *query, *context;
    } cases[] = {
        {"{'$and':[{'a':1},{'b':{'$nope':1}}]}", "$and.1.b.$nope"},
        {"{'$or':[{'$nor':[{'b':{'c':{'$nope':1}}}]}]}", "$or.0.$nor.0.b.c.$nope"},
        {"{'$not':{'a':{'$nope':1}}}", "$not.a.$nope"},
        {"{'a':{'$not':{'$or':[{'$gt':1},{'$nope':1}]}}}", "a.$not.$or.1.$nope"},
        {"{'a':{'$or':[{'b':{'$in':5}}]}}", "a.$or.0.b.$in"},
        {"{'a':{'$elemMatch':{'$and':[{'b':{'$nope':1}}]}}}", "a.$elemMatch.$and.0.b.$nope"},
        {"{'a':{'$not':{}}}", "a.$not"},
        {"{'a':{'$or':[{'$not':{}}]}}", "a.$or.0.$not"},
        {"{'$or':[{'a':1},{'a.*.b':1}]}", "$or.1.a.*.b"},
        {"{'a':{'$not':{'$REGEX':'x','$options':'q'}}}", "a.$not.$options"},
    };
    tansu_db *db = memory_db_open();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char expected[100];
        snprintf(expected, sizeof expected, "INVALID_QUERY %s", cases[i].context);
        CHECK_TEXT(expected, find_ids(db, cases[i].query, NULL));
    }
    CHECK_TEXT("INVALID_QUERY hints.$orderby.a..b", find_ids(db, NULL, "{'$orderby':{'a..b':1}}"));
    CHECK_STATUS(TANSU_E_INVALID_QUERY,
                 call_index(db, NULL, "c", "i", "{'a':1}",
                            "{'partialFilter':{'$and':[{'b':{'$nope':1}}]}}"));
    CHECK_TEXT("partialFilter.$and.0.b.$nope", call_error.context);
    CHECK_TEXT("INVALID_QUERY hints.$arrayFilters.x.$nope",
               update_text(db, NULL, NULL, "{'$set':{'a.$[x]':1}}",
                           "{'$arrayFilters':[{'x':{'$nope':1}}]}"));
    CHECK_TEXT(
        "INVALID_QUERY $push.a.$sort",
        update_text(db, NULL, NULL, "{'$push':{'a':{'$each':[],'$sort':{'b..c':1}}}}", NULL));
    memory_db_close(db);
}

int main(void) {
    library_regex_start();
    RUN(asterisks_are_no_keys);
    RUN(errors_name_the_whole_position);
    RUN(fields_are_joined_by_and);
    RUN(comments_select_nothing);
    RUN(tests_of_documents_are_of_no_element);
    RUN(samples_are_taken_at_a_rate);
    RUN(bare_values_mean_eq);
    RUN(nested_documents_are_sub_queries);
    RUN(paths_lead_through_arrays);
    RUN(each_operator_may_take_another_element);
    RUN(negation_is_the_complement);
    RUN(null_is_null_or_missing);
    RUN(comparison_is_typed_and_exact);
    RUN(logic_at_the_top_and_on_a_field);
    RUN(begin_compares_bytes);
    RUN(order_is_across_kinds_and_stable);
    RUN(fields_include_or_exclude);
    RUN(counts);
    RUN(what_is_wrong_is_named);
    RUN(malformed_bytes_are_refused);
    RUN(deep_and_wide_queries_are_bounded);
    RUN(damaged_queries_end_in_an_error_or_an_answer);
    RUN(a_sort_is_bounded);
    return check_finish();
}
