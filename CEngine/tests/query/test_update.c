/*
 * test_update.c -- every update operator means what docs/query-language.md says, refuses what it
 * cannot do, and an update as a whole is applied or not at all.
 */
#include "support/calls/call.h"
#include "support/calls/query_calls.h"
#include "support/calls/update_calls.h"
#include "support/check.h"

#include <stdio.h>
#include <string.h>

static tansu_db *db;

#define UPDATE(expected, query, operations) \
    CHECK_TEXT(expected, update_text(db, NULL, query, operations, NULL))
#define UPDATE_HINTED(expected, query, operations, hints) \
    CHECK_TEXT(expected, update_text(db, NULL, query, operations, hints))

/* becomes -- a document alone in a database, updated: what it is then, without its `_id`, or the
 * status and the context. */
static const char *becomes(const char *document, const char *query, const char *operations,
                           const char *hints) {
    static char text[1 << 16];
    db = memory_db_open();
    bson_t *doc = bson_from_text(document);
    bson_t whole = BSON_INITIALIZER;
    bson_append_int32(&whole, "_id", 3, 1);
    bson_concat(&whole, doc);
    save_bson(db, &whole);
    const char *answer = update_text(db, NULL, query, operations, hints);
    /* Integers and doubles are distinguished by the canonical form. */
    tansu_buffer stored = TANSU_BUFFER_INIT;
    bson_t id = BSON_INITIALIZER, now;
    bson_append_int32(&id, "_id", 3, 1);
    CHECK_OK(tansu_get(db, NULL, "c", document_of(&id), &stored, &call_error), NULL);
    REQUIRE(bson_init_static(&now, stored.data, stored.size));
    bson_t plain = BSON_INITIALIZER;
    bson_copy_to_excluding_noinit(&now, &plain, "_id", NULL);
    char *json = bson_as_relaxed_extended_json(&plain, NULL);
    if (answer[0] == '{') {
        snprintf(text, sizeof text, "%s", json);
    } else {
        snprintf(text, sizeof text, "%s", answer);
        CHECK(bson_equal(&now, &whole)); /* nothing was kept */
    }
    bson_free(json);
    bson_destroy(&plain);
    bson_destroy(&id);
    bson_destroy(&whole);
    bson_destroy(doc);
    tansu_buffer_free(&stored);
    memory_db_close(db);
    return text;
}

/* packed -- a JSON text in single quotes as libbson would write it. */
static const char *packed(const char *json) {
    static char texts[2][1 << 14];
    static unsigned next;
    char *text = texts[next++ % 2];
    if (json[0] != '{') {
        snprintf(text, sizeof texts[0], "%s", json);
        return text;
    }
    bson_t *doc = bson_from_text(json);
    char *written = bson_as_relaxed_extended_json(doc, NULL);
    snprintf(text, sizeof texts[0], "%s", written);
    bson_free(written);
    bson_destroy(doc);
    return text;
}

#define BECOMES(expected, document, operations) \
    CHECK_TEXT(packed(expected), becomes(document, NULL, operations, NULL))
#define BECOMES_FOR(expected, document, query, operations) \
    CHECK_TEXT(packed(expected), becomes(document, query, operations, NULL))
#define BECOMES_HINTED(expected, document, operations, hints) \
    CHECK_TEXT(packed(expected), becomes(document, NULL, operations, hints))

/* ---- Fields ---- */

static void set_puts_values_where_they_belong(void) {
    BECOMES("{'a':2}", "{'a':1}", "{'$set':{'a':2}}");
    BECOMES("{'a':1,'b':{'c':{'d':5}}}", "{'a':1}", "{'$set':{'b.c.d':5}}");
    BECOMES("{'a':[1,9,3]}", "{'a':[1,2,3]}", "{'$set':{'a.1':9}}");
    BECOMES("{'a':[1,null,null,4]}", "{'a':[1]}", "{'$set':{'a.3':4}}");
    BECOMES("{'x':{'0':{'1':7}}}", "{}", "{'$set':{'x.0.1':7}}");
    BECOMES("{'x':{'a.b':7}}", "{}", "{'$set':{'x.a\\\\.b':7}}");
    BECOMES("{'r':{'$ref':'c','$id':8}}", "{'r':{'$ref':'c','$id':7}}", "{'$set':{'r.$id':8}}");
    BECOMES("INVALID_QUERY $set.a.b", "{'a':5}", "{'$set':{'a.b':1}}");
    BECOMES("INVALID_QUERY $set.a.b", "{'a':null}", "{'$set':{'a.b':1}}");
    BECOMES("INVALID_QUERY $set.a.b", "{'a':[{'b':1}]}", "{'$set':{'a.b':1}}");
    BECOMES("INVALID_QUERY $set.a.200000", "{'a':[]}", "{'$set':{'a.200000':1}}");
    BECOMES("{'a':{'$b':1}}", "{}", "{'$set':{'a':{'$b':1}}}");
    BECOMES("{'a':{'$b':2}}", "{'a':{'$b':1}}", "{'$inc':{'a.$b':1}}");
    BECOMES("{'a':{'$b':{'$$':1}}}", "{}", "{'$set':{'a.$b.$$':1}}");
    BECOMES("{'a':{'$b':1}}", "{'c':1}", "{'$rename':{'c':'a.$b'}}");
    BECOMES("{'a':[{'$b':2}]}", "{'a':[{'$b':1}]}", "{'$inc':{'a.$[].$b':1}}");
    BECOMES("{'a':[{'$x':1}]}", "{'a':[]}", "{'$addToSet':{'a':{'$x':1}}}");
    BECOMES("{'a':[]}", "{'a':[{'$x':1}]}", "{'$pullAll':{'a':[{'$x':1}]}}");
    BECOMES("{'a':[]}", "{'a':[{'$x':1}]}", "{'$pull':{'a':{'$eq':{'$x':1}}}}");
    BECOMES("INVALID_QUERY $pull.a.$x", "{'a':[]}", "{'$pull':{'a':{'$x':1}}}");
    BECOMES("INVALID_QUERY $set.$b", "{}", "{'$set':{'$b':1}}");
    BECOMES("INVALID_QUERY $set.$ref", "{}", "{'$set':{'$ref':1}}");
    BECOMES("INVALID_QUERY $rename.c", "{'c':1}", "{'$rename':{'c':'$b'}}");
    BECOMES("INVALID_QUERY $rename.c", "{'c':1}", "{'$rename':{'c':'a.$'}}");
    BECOMES("INVALID_QUERY $set.a.$[b", "{'a':[1]}", "{'$set':{'a.$[b':1}}");
    BECOMES("INVALID_QUERY $replace", "{}", "{'$replace':{'$b':1}}");
    BECOMES("{'a':{'$b':1}}", "{}", "{'$replace':{'a':{'$b':1}}}");
}

static void new_fields_come_in_the_order_of_their_names(void) {
    BECOMES("{'m':0,'a':1,'z':2}", "{'m':0}", "{'$set':{'z':2,'a':1}}");
    BECOMES("{'m':0,'2':2,'10':1,'a':1}", "{'m':0}", "{'$set':{'a':1,'10':1,'2':2}}");
    BECOMES("{'z':3,'a':1}", "{'z':0}", "{'$set':{'z':3},'$inc':{'a':1}}");
}

static void unset_takes_away(void) {
    BECOMES("{'b':2}", "{'a':1,'b':2}", "{'$unset':{'a':''}}");
    BECOMES("{'a':{'c':1}}", "{'a':{'b':1,'c':1}}", "{'$unset':{'a.b':1}}");
    BECOMES("{'a':[1,null]}", "{'a':[1,2]}", "{'$unset':{'a.1':1}}");
    BECOMES("{'a':1}", "{'a':1}", "{'$unset':{'b.c':1,'a.x':1}}");
}

static void rename_moves(void) {
    BECOMES("{'b':2,'c':1}", "{'a':1,'b':2}", "{'$rename':{'a':'c'}}");
    BECOMES("{'b':1}", "{'a':1,'b':2}", "{'$rename':{'a':'b'}}");
    BECOMES("{'a':{},'x':{'y':{'z':3}}}", "{'a':{'b':{'z':3}}}", "{'$rename':{'a.b':'x.y'}}");
    BECOMES("{'a':1}", "{'a':1}", "{'$rename':{'b':'c'}}");
    BECOMES("INVALID_QUERY $rename.a.0", "{'a':[1]}", "{'$rename':{'a.0':'c'}}");
    BECOMES("INVALID_QUERY $rename.b", "{'a':[1],'b':1}", "{'$rename':{'b':'a.0'}}");
    BECOMES("INVALID_QUERY $rename.a", "{'a':1}", "{'$rename':{'a':5}}");
    BECOMES("INVALID_QUERY a", "{'a':1}", "{'$rename':{'a':'a'}}");
    BECOMES("INVALID_QUERY a.b", "{'a':1}", "{'$rename':{'a':'a.b'}}");
    BECOMES("INVALID_QUERY $rename.a", "{'a':1}", "{'$rename':{'a':'b.$[]'}}");
}

static void min_and_max_compare_all_kinds(void) {
    BECOMES("{'a':3}", "{'a':5}", "{'$min':{'a':3}}");
    BECOMES("{'a':5}", "{'a':5}", "{'$min':{'a':8}}");
    BECOMES("{'a':8}", "{'a':5}", "{'$max':{'a':8}}");
    BECOMES("{'a':'x'}", "{'a':5}", "{'$max':{'a':'x'}}");
    BECOMES("{'a':5}", "{'a':5}", "{'$max':{'a':{'$numberDouble':'5.0'}}}");
    BECOMES("{'a':5}", "{}", "{'$max':{'a':5}}");
    BECOMES("{'a':{'b':null}}", "{}", "{'$min':{'a.b':null}}");
}

static void current_date_is_now(void) {
    db = memory_db_open();
    save_text(db, "{'_id':1,'a':0}");
    UPDATE("{ \"matched\" : 1, \"modified\" : 1, \"upserted\" : [  ] }", NULL,
           "{'$currentDate':{'a':true,'b':{'$type':'timestamp'},'c':{'$type':'date'}}}");
    CHECK_INT(1, count_matches(db, "{'a':{'$gt':{'$date':'2020-01-01T00:00:00Z'}}}", NULL));
    CHECK_INT(1, count_matches(db, "{'b':{'$gt':{'$timestamp':{'t':1577836800,'i':0}}}}", NULL));
    CHECK_INT(1, count_matches(db, "{'c':{'$gt':{'$date':'2020-01-01T00:00:00Z'}}}", NULL));
    UPDATE("INVALID_QUERY $currentDate.a", NULL, "{'$currentDate':{'a':1}}");
    UPDATE("INVALID_QUERY $currentDate.a", NULL, "{'$currentDate':{'a':{'$type':'day'}}}");
    memory_db_close(db);
}

static void numbers_of_nothing_and_of_other_kinds(void) {
    BECOMES("{'a':{'b':2}}", "{}", "{'$inc':{'a.b':2}}");
    BECOMES("{'a':0}", "{}", "{'$mul':{'a':2}}");
    BECOMES("INVALID_QUERY $inc.a", "{'a':'1'}", "{'$inc':{'a':1}}");
    BECOMES("INVALID_QUERY $inc.a", "{'a':null}", "{'$inc':{'a':1}}");
    BECOMES("INVALID_QUERY $mul.a", "{'a':true}", "{'$mul':{'a':1}}");
    BECOMES("INVALID_QUERY $inc.a", "{'a':1}", "{'$inc':{'a':true}}");
    BECOMES("INVALID_QUERY $mul.a", "{'a':1}", "{'$mul':{'a':'2'}}");
    BECOMES("{'a':6}", "{}", "{'$bit':{'a':{'or':6}}}");
}

/* ---- Arrays ---- */

static void push_appends(void) {
    BECOMES("{'a':[1,2]}", "{'a':[1]}", "{'$push':{'a':2}}");
    BECOMES("{'a':[1,[2,3]]}", "{'a':[1]}", "{'$push':{'a':[2,3]}}");
    BECOMES("{'a':{'b':[2]}}", "{}", "{'$push':{'a.b':2}}");
    BECOMES("{'a':[1,2,3]}", "{'a':[1]}", "{'$push':{'a':{'$each':[2,3]}}}");
    BECOMES("{'a':[1,2,3]}", "{'a':[1]}", "{'$pushAll':{'a':[2,3]}}");
    BECOMES("{'a':[2,3,1]}", "{'a':[1]}", "{'$push':{'a':{'$each':[2,3],'$position':0}}}");
    BECOMES("{'a':[1,9,2]}", "{'a':[1,2]}", "{'$push':{'a':{'$each':[9],'$position':-1}}}");
    BECOMES("{'a':[9,1,2]}", "{'a':[1,2]}", "{'$push':{'a':{'$each':[9],'$position':-7}}}");
    BECOMES("{'a':[1,2,9]}", "{'a':[1,2]}", "{'$push':{'a':{'$each':[9],'$position':70}}}");
    BECOMES("{'a':[1,2]}", "{'a':[1,2]}", "{'$push':{'a':{'$each':[3],'$slice':2}}}");
    BECOMES("{'a':[2,3]}", "{'a':[1,2]}", "{'$push':{'a':{'$each':[3],'$slice':-2}}}");
    BECOMES("{'a':[]}", "{'a':[1,2]}", "{'$push':{'a':{'$each':[3],'$slice':0}}}");
    BECOMES("{'a':[1,2,3]}", "{'a':[3,1]}", "{'$push':{'a':{'$each':[2],'$sort':1}}}");
    BECOMES("{'a':[3,2]}", "{'a':[3,1]}", "{'$push':{'a':{'$each':[2],'$sort':-1,'$slice':2}}}");
    BECOMES("{'a':[{'x':1,'y':9},{'x':2,'y':1},{'x':2,'y':3}]}", "{'a':[{'x':2,'y':3}]}",
            "{'$push':{'a':{'$each':[{'x':2,'y':1},{'x':1,'y':9}],'$sort':{'x':1,'y':1}}}}");
    BECOMES("INVALID_QUERY $push.a", "{'a':1}", "{'$push':{'a':1}}");
    BECOMES("INVALID_QUERY $push.a", "{'a':null}", "{'$push':{'a':1}}");
    BECOMES("{'a':[{'$slice':1}]}", "{'a':[]}", "{'$push':{'a':{'$slice':1}}}");
    BECOMES("INVALID_QUERY $push.a", "{'a':[]}", "{'$push':{'a':{'$each':1}}}");
    BECOMES("INVALID_QUERY $push.a", "{'a':[]}", "{'$push':{'a':{'$each':[],'$up':1}}}");
    BECOMES("INVALID_QUERY $push.a", "{'a':[]}", "{'$push':{'a':{'$each':[],'$sort':{}}}}");
    BECOMES("INVALID_QUERY $push.a", "{'a':[]}", "{'$push':{'a':{'$each':[],'$slice':1.5}}}");
    BECOMES("INVALID_QUERY $pushAll.a", "{'a':[]}", "{'$pushAll':{'a':1}}");
}

static void add_to_set_adds_what_is_not_there(void) {
    BECOMES("{'a':[1,2]}", "{'a':[1]}", "{'$addToSet':{'a':2}}");
    BECOMES("{'a':[1]}", "{'a':[1]}", "{'$addToSet':{'a':{'$numberDouble':'1.0'}}}");
    BECOMES("{'a':[1,[1]]}", "{'a':[1]}", "{'$addToSet':{'a':[1]}}");
    BECOMES("{'a':[{'x':1,'y':2},{'y':2,'x':1}]}", "{'a':[{'x':1,'y':2}]}",
            "{'$addToSet':{'a':{'$each':[{'x':1,'y':2},{'y':2,'x':1}]}}}");
    BECOMES("{'a':[1,3]}", "{'a':[1]}", "{'$addToSet':{'a':{'$each':[3,1,3]}}}");
    /* Many values take another way. */
    BECOMES("{'a':[1,2,9,8,7,'x']}", "{'a':[1,2]}", "{'$addToSetAll':{'a':[9,1,8,7,9,2,'x','x']}}");
    BECOMES("{'a':[2]}", "{}", "{'$addToSet':{'a':2}}");
    BECOMES("INVALID_QUERY $addToSet.a", "{'a':1}", "{'$addToSet':{'a':1}}");
    BECOMES("INVALID_QUERY $addToSet.a", "{'a':[]}", "{'$addToSet':{'a':{'$each':[],'$slice':1}}}");
    BECOMES("INVALID_QUERY $addToSetAll.a", "{'a':[]}", "{'$addToSetAll':{'a':1}}");
}

/* The name of a field leads into no array: for most operators that is an error, as in MongoDB. */
static void names_lead_into_no_array(void) {
    static const char *const operators[][2] = {
        {"$pullAll", "[1]"}, {"$pull", "1"}, {"$pop", "1"}, {"$push", "1"}, {"$addToSet", "1"},
        {"$set", "1"},       {"$inc", "1"},  {"$min", "1"}, {"$max", "1"},  {"$bit", "{'or':1}"}};
    const char *document = "{'a':[{'b':[1,2]},{'b':[1]}]}";
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        char update[64], expected[64];
        snprintf(update, sizeof update, "{'%s':{'a.b':%s}}", operators[i][0], operators[i][1]);
        snprintf(expected, sizeof expected, "INVALID_QUERY %s.a.b", operators[i][0]);
        BECOMES(expected, document, update);
    }
    BECOMES(document, document, "{'$unset':{'a.b':''}}");
}

static void pull_takes_out(void) {
    BECOMES("{'a':[2,3]}", "{'a':[1,2,1,3]}", "{'$pull':{'a':1}}");
    BECOMES("{'a':[1]}", "{'a':[1,5,9]}", "{'$pull':{'a':{'$gt':3}}}");
    BECOMES("{'a':[{'x':1,'y':2},7]}", "{'a':[{'x':1,'y':2},{'x':1,'y':3},7]}",
            "{'$pull':{'a':{'x':1,'y':{'$gt':2}}}}");
    BECOMES("{'a':[1,2]}", "{'a':[1,[1,2],2]}", "{'$pull':{'a':[1,2]}}");
    BECOMES("{'a':[3]}", "{'a':[1,2,3,1]}", "{'$pullAll':{'a':[1,2]}}");
    BECOMES("{'b':1}", "{'b':1}", "{'$pull':{'a':1},'$pullAll':{'c':[1]},'$pop':{'d.e':1}}");
    BECOMES("INVALID_QUERY $pull.a", "{'a':1}", "{'$pull':{'a':1}}");
    BECOMES("INVALID_QUERY $pullAll.a", "{'a':[1]}", "{'$pullAll':{'a':1}}");
    CHECK(strncmp(becomes("{'a':[1]}", NULL, "{'$pull':{'a':{'$near':1}}}", NULL), "INVALID_QUERY ",
                  14) == 0);
}

static void pop_takes_an_end(void) {
    BECOMES("{'a':[1,2]}", "{'a':[1,2,3]}", "{'$pop':{'a':1}}");
    BECOMES("{'a':[2,3]}", "{'a':[1,2,3]}", "{'$pop':{'a':-1}}");
    BECOMES("{'a':[]}", "{'a':[]}", "{'$pop':{'a':1}}");
    BECOMES("INVALID_QUERY $pop.a", "{'a':[1]}", "{'$pop':{'a':2}}");
    BECOMES("INVALID_QUERY $pop.a", "{'a':1}", "{'$pop':{'a':1}}");
}

static void positions_in_arrays(void) {
    BECOMES_FOR("{'a':[1,99,9]}", "{'a':[1,7,9]}", "{'a':{'$gt':5}}", "{'$set':{'a.$':99}}");
    BECOMES_FOR("{'a':[{'k':1,'n':0},{'k':2,'n':1}]}", "{'a':[{'k':1,'n':0},{'k':2,'n':0}]}",
                "{'a.k':2}", "{'$inc':{'a.$.n':1}}");
    BECOMES_FOR("INVALID_QUERY $set.a.$", "{'a':[1],'b':1}", "{'b':1}", "{'$set':{'a.$':1}}");
    BECOMES("{'a':[2,3]}", "{'a':[1,2]}", "{'$inc':{'a.$[]':1}}");
    BECOMES("{'a':[{'b':[2,3]},{'b':[4]}]}", "{'a':[{'b':[1,2]},{'b':[3]}]}",
            "{'$inc':{'a.$[].b.$[]':1}}");
    BECOMES("INVALID_QUERY $inc.a.$[]", "{}", "{'$inc':{'a.$[]':1}}");
    BECOMES("INVALID_QUERY $inc.a.$[]", "{'a':{'0':1}}", "{'$inc':{'a.$[]':1}}");
    BECOMES_HINTED("{'a':[1,0,0]}", "{'a':[1,5,9]}", "{'$set':{'a.$[big]':0}}",
                   "{'$arrayFilters':[{'big':{'$gt':3}}]}");
    BECOMES_HINTED("{'a':[{'k':1,'b':[1]},{'k':2,'b':[1,0]}]}",
                   "{'a':[{'k':1,'b':[1]},{'k':2,'b':[1,5]}]}", "{'$set':{'a.$[x].b.$[y]':0}}",
                   "{'$arrayFilters':[{'x.k':2},{'y':{'$gt':3}}]}");
    BECOMES("INVALID_QUERY $set.a.$[x]", "{'a':[1]}", "{'$set':{'a.$[x]':0}}");
    BECOMES("INVALID_QUERY $set.$[]", "{'a':[1]}", "{'$set':{'$[]':0}}");
    BECOMES("INVALID_QUERY $set.a.$x", "{'a':[1]}", "{'$set':{'a.$x':0}}");
    BECOMES("INVALID_QUERY $set.a.$.b.$", "{'a':[1]}", "{'$set':{'a.$.b.$':0}}");
    BECOMES_HINTED("INVALID_QUERY hints.$arrayFilters", "{'a':[1]}", "{'$set':{'a':0}}",
                   "{'$arrayFilters':[{'x':1}]}");
    BECOMES_HINTED("INVALID_QUERY hints.$arrayFilters", "{'a':[1]}", "{'$set':{'a.$[x]':0}}",
                   "{'$arrayFilters':[{'x':1},{'x.y':1}]}");
    BECOMES_HINTED("INVALID_QUERY hints.$arrayFilters", "{'a':[1]}", "{'$set':{'a.$[x]':0}}",
                   "{'$arrayFilters':[{'x':1,'y':1}]}");
}

/* ---- Statements ---- */

static void conflicts_name_both_paths(void) {
    BECOMES("INVALID_QUERY a", "{'a':1}", "{'$set':{'a':1},'$inc':{'a':1}}");
    BECOMES("INVALID_QUERY a.b", "{'a':1}", "{'$set':{'a.b':1},'$unset':{'a':1}}");
    CHECK(strstr(call_error.message, "\"$unset\" of \"a\"") != NULL);
    CHECK(strstr(call_error.message, "\"$set\" of \"a.b\"") != NULL);
    BECOMES("{'a':{'b':1,'bc':2}}", "{'a':{}}", "{'$set':{'a.b':1,'a.bc':2}}");
    BECOMES("INVALID_QUERY a.0", "{'a':[1,2]}", "{'$set':{'a.$[]':1,'a.0':2}}");
    BECOMES_HINTED("INVALID_QUERY a.1", "{'a':[1,5]}", "{'$set':{'a.$[x]':1},'$inc':{'a.$[y]':2}}",
                   "{'$arrayFilters':[{'x':{'$gt':0}},{'y':{'$gt':3}}]}");
    BECOMES_HINTED("{'a':[0,7]}", "{'a':[1,5]}", "{'$set':{'a.$[x]':0},'$inc':{'a.$[y]':2}}",
                   "{'$arrayFilters':[{'x':{'$lt':3}},{'y':{'$gt':3}}]}");
    BECOMES("INVALID_QUERY c.d", "{'a':1}", "{'$rename':{'a':'c'},'$set':{'c.d':1}}");
}

static void unknown_and_malformed_operations_are_errors(void) {
    BECOMES("INVALID_QUERY $put", "{}", "{'$put':{'a':1}}");
    BECOMES("INVALID_QUERY a", "{}", "{'$set':{'b':1},'a':1}");
    BECOMES("INVALID_QUERY a", "{}", "{'a':1,'$set':{'b':1}}");
    BECOMES("INVALID_QUERY update", "{}", "{}");
    BECOMES("INVALID_QUERY set", "{'a':1}", "{'set':{'a':2}}");
    BECOMES("INVALID_QUERY $replace", "{'a':1}", "{'$replace':{'a':2},'$set':{'b':1}}");
    BECOMES("INVALID_QUERY $replace", "{'a':1}", "{'$replace':{'$set':{'b':1}}}");
    BECOMES("INVALID_QUERY $replace", "{'a':1}", "{'$replace':5}");
    BECOMES("INVALID_QUERY $set", "{}", "{'$set':5}");
    BECOMES("INVALID_QUERY $set.", "{}", "{'$set':{'':5}}");
    BECOMES("INVALID_QUERY $set.a..b", "{}", "{'$set':{'a..b':5}}");
    BECOMES_HINTED("INVALID_QUERY hints.$fields", "{}", "{'$set':{'a':1}}", "{'$fields':{'a':1}}");
    BECOMES_HINTED("INVALID_QUERY hints.$onlycount", "{}", "{'$set':{'a':1}}",
                   "{'$onlycount':true}");
    BECOMES_HINTED("INVALID_QUERY hints.$up", "{}", "{'$set':{'a':1}}", "{'$up':true}");
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT,
                 tansu_update(NULL, NULL, NULL, TANSU_NO_DOCUMENT, TANSU_NO_DOCUMENT,
                              TANSU_NO_DOCUMENT, NULL, NULL));
}

#define COUNTS(matched, modified) \
    "{ \"matched\" : " #matched ", \"modified\" : " #modified ", \"upserted\" : [  ] }"
#define UPSERTED(id) "{ \"matched\" : 0, \"modified\" : 0, \"upserted\" : [ " id " ] }"

static void counts_are_matched_and_modified(void) {
    db = memory_db_open();
    UPDATE(COUNTS(0, 0), NULL, "{'$set':{'a':1}}");
    for (int i = 1; i <= 5; i++) {
        char json[60];
        snprintf(json, sizeof json, "{'_id':%d,'a':%d,'b':0}", i, i % 2);
        save_text(db, json);
    }
    UPDATE(COUNTS(5, 2), NULL, "{'$set':{'a':1}}");
    UPDATE(COUNTS(5, 0), NULL, "{'$set':{'a':1}}");
    UPDATE(COUNTS(2, 2), "{'_id':{'$gt':3}}", "{'$inc':{'a':1}}");
    UPDATE_HINTED(COUNTS(2, 2), "{}", "{'$set':{'b':9}}", "{'$orderby':{'_id':-1},'$max':2}");
    CHECK_TEXT("4 5", find_ids(db, "{'b':9}", NULL));
    /* What an update writes does not make further matches. */
    UPDATE(COUNTS(5, 5), "{'a':{'$gte':1}}", "{'$inc':{'a':1}}");
    CHECK_TEXT("1 2 3", find_ids(db, "{'a':2}", NULL));
    memory_db_close(db);
}

static void the_id_stays(void) {
    BECOMES("{'a':2}", "{'a':1}", "{'$set':{'_id':1,'a':2}}");
    BECOMES("{'a':1}", "{'a':1}", "{'$set':{'_id':{'$numberDouble':'1.0'}}}");
    BECOMES("INVALID_ID _id", "{'a':1}", "{'$set':{'_id':2}}");
    BECOMES("INVALID_ID _id", "{'a':1}", "{'$inc':{'_id':1}}");
    BECOMES("INVALID_ID _id", "{'a':1}", "{'$unset':{'_id':1}}");
    BECOMES("INVALID_ID _id", "{'a':1}", "{'$rename':{'_id':'b'}}");
    BECOMES("INVALID_ID _id", "{'a':2}", "{'$rename':{'a':'_id'}}");
}

static void a_document_replaces_one(void) {
    db = memory_db_open();
    save_text(db, "{'_id':1,'a':1}");
    save_text(db, "{'_id':2,'a':1}");
    UPDATE("INVALID_QUERY update", "{'a':1}", "{'$replace':{'b':2}}");
    UPDATE_HINTED(COUNTS(1, 1), "{'a':1}", "{'$replace':{'b':2}}", "{'$max':1}");
    UPDATE(COUNTS(1, 1), "{'_id':2}", "{'$replace':{'c':3,'_id':2}}");
    /* An equal document is written again, as by a save. */
    UPDATE(COUNTS(1, 1), "{'_id':2}", "{'$replace':{'c':3}}");
    CHECK_TEXT("{ \"_id\" : 1, \"b\" : 2 } { \"_id\" : 2, \"c\" : 3 }",
               find_documents(db, NULL, NULL));
    UPDATE("INVALID_ID _id", "{'_id':2}", "{'$replace':{'_id':3,'c':1}}");
    UPDATE(COUNTS(0, 0), "{'_id':9}", "{'$replace':{'x':1}}");
    memory_db_close(db);
}

static void upserts_insert_what_the_query_says(void) {
    db = memory_db_open();
    UPDATE_HINTED(UPSERTED("7"), "{'_id':7,'a':{'$gt':5},'b.c':1,'$and':[{'d':{'$eq':[1]}}]}",
                  "{'$set':{'e':2},'$setOnInsert':{'f':3}}", "{'$upsert':true}");
    CHECK_TEXT("{ \"_id\" : 7, \"b\" : { \"c\" : 1 }, \"d\" : [ 1 ], \"e\" : 2, \"f\" : 3 }",
               find_documents(db, NULL, NULL));
    UPDATE_HINTED(COUNTS(1, 0), "{'_id':7}", "{'$setOnInsert':{'f':4}}", "{'$upsert':true}");
    UPDATE_HINTED("EXISTS _id", "{'_id':7,'e':5}", "{'$set':{'x':1}}", "{'$upsert':true}");
    UPDATE_HINTED("INVALID_QUERY a", "{'$and':[{'a':1},{'a':2}]}", "{'$set':{'x':1}}",
                  "{'$upsert':true}");
    UPDATE_HINTED("INVALID_ID _id", "{'_id':8}", "{'$set':{'_id':9}}", "{'$upsert':true}");
    UPDATE_HINTED(UPSERTED("9"), "{'x':8}", "{'$set':{'_id':9}}", "{'$upsert':true}");
    CHECK_TEXT("{ \"_id\" : 9, \"x\" : 8 }", find_documents(db, "{'_id':9}", NULL));
    /* A whole document, and a nested query. */
    UPDATE_HINTED(UPSERTED("10"), "{'_id':10,'q':1}", "{'$replace':{'a':1}}", "{'$upsert':true}");
    CHECK_TEXT("{ \"_id\" : 10, \"a\" : 1 }", find_documents(db, "{'_id':10}", NULL));
    UPDATE_HINTED(UPSERTED("11"), "{'_id':11,'p':{'k':'x','n':{'$gt':1}}}", "{'$set':{'a':1}}",
                  "{'$upsert':true}");
    CHECK_TEXT("{ \"_id\" : 11, \"p\" : { \"k\" : \"x\" }, \"a\" : 1 }",
               find_documents(db, "{'_id':11}", NULL));
    /* In the operations; and EJDB's form, in the query. */
    UPDATE(UPSERTED("12"), "{'_id':12}", "{'$set':{'a':1},'$upsert':true}");
    UPDATE(UPSERTED("13"), "{'_id':13,'$upsert':{'z':1,'b':2}}", NULL);
    CHECK_TEXT("{ \"_id\" : 13, \"z\" : 1, \"b\" : 2 }", find_documents(db, "{'_id':13}", NULL));
    UPDATE(COUNTS(1, 1), "{'_id':13,'$upsert':{'z':5}}", NULL);
    CHECK_TEXT("{ \"_id\" : 13, \"z\" : 5, \"b\" : 2 }", find_documents(db, "{'_id':13}", NULL));
    /* Nothing to set is no whole document, which would take the place of the match. */
    UPDATE(COUNTS(1, 0), "{'_id':13,'$upsert':{}}", NULL);
    UPDATE(COUNTS(1, 0), "{'_id':13,'$upsert':{}}", "{}");
    UPDATE(COUNTS(1, 0), "{'_id':13,'$upsert':true}", NULL);
    UPDATE_HINTED(COUNTS(1, 0), "{'_id':13}", NULL, "{'$upsert':true}");
    CHECK_TEXT("{ \"_id\" : 13, \"z\" : 5, \"b\" : 2 }", find_documents(db, "{'_id':13}", NULL));
    UPDATE(UPSERTED("14"), "{'_id':14,'$upsert':{}}", NULL);
    UPDATE(UPSERTED("15"), "{'_id':15,'a':1,'$upsert':true}", NULL);
    CHECK_TEXT("{ \"_id\" : 14 } { \"_id\" : 15, \"a\" : 1 }",
               find_documents(db, "{'_id':{'$in':[14,15]}}", NULL));
    UPDATE("INVALID_QUERY $upsert", "{'_id':13,'$upsert':{'z':5}}", "{'$upsert':true}");
    UPDATE("INVALID_QUERY $upsert", "{'$upsert':'x'}", "{'$set':{'a':1}}");
    /* A new `_id` comes first and is reported. */
    CHECK(strstr(update_text(db, NULL, "{'name':'new'}", "{'$set':{'a':1},'$upsert':true}", NULL),
                 "$oid") != NULL);
    CHECK(strncmp(find_documents(db, "{'name':'new'}", NULL), "{ \"_id\" : { \"$oid\"", 18) == 0);
    memory_db_close(db);
}

static void dropall_removes(void) {
    db = memory_db_open();
    for (int i = 1; i <= 4; i++) {
        char json[60];
        snprintf(json, sizeof json, "{'_id':%d,'a':%d}", i, i);
        save_text(db, json);
    }
    UPDATE("{ \"matched\" : 2, \"modified\" : 0, \"upserted\" : [  ], \"removed\" : 2 }",
           "{'a':{'$gt':2},'$dropall':true}", NULL);
    CHECK_TEXT("1 2", find_ids(db, NULL, NULL));
    UPDATE("{ \"matched\" : 1, \"modified\" : 0, \"upserted\" : [  ], \"removed\" : 1 }", "{'a':1}",
           "{'$dropall':true}");
    UPDATE("INVALID_QUERY $dropall", "{'a':2}", "{'$dropall':true,'$set':{'a':1}}");
    UPDATE("INVALID_QUERY $dropall", "{'a':2,'$dropall':true}", "{'$replace':{'b':1}}");
    CHECK_TEXT("2", find_ids(db, NULL, NULL));
    memory_db_close(db);
}

static void an_update_is_applied_whole_or_not_at_all(void) {
    static const char *const before = "{ \"_id\" : 1, \"n\" : 1 } { \"_id\" : 2, \"n\" : 3 } "
                                      "{ \"_id\" : 3, \"n\" : 4 } { \"_id\" : 4, \"n\" : \"x\" }";
    db = memory_db_open();
    save_text(db, "{'_id':1,'n':1}");
    save_text(db, "{'_id':2,'n':3}");
    save_text(db, "{'_id':3,'n':4}");
    save_text(db, "{'_id':4,'n':'x'}");
    create_index(db, "u", "{'n':1}", "{'unique':true}");
    /* 1 becomes 2, and then 3 would become 4, which is taken. */
    UPDATE("NOT_UNIQUE u", "{'n':{'$gt':0}}", "{'$inc':{'n':1}}");
    CHECK_TEXT(before, find_documents(db, NULL, NULL));
    CHECK_TEXT("1 2 3", find_ids(db, "{'n':{'$gt':0}}", "{'$orderby':{'n':1}}"));
    UPDATE("INVALID_QUERY $inc.n", NULL, "{'$inc':{'n':10}}");
    CHECK_TEXT(before, find_documents(db, NULL, NULL));
    /* In a transaction, only the call that failed is taken back. */
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    CHECK_TEXT(COUNTS(1, 1), update_text(db, txn, "{'_id':4}", "{'$set':{'n':0}}", NULL));
    CHECK_TEXT("NOT_UNIQUE u", update_text(db, txn, "{'n':{'$gt':0}}", "{'$inc':{'n':1}}", NULL));
    CHECK_TEXT("{ \"_id\" : 4, \"n\" : 0 }", call_find(db, txn, "c", "{'n':0}", NULL));
    CHECK_INT(1, call_count(db, txn, "c", "{'n':1}"));
    CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
    CHECK_TEXT("1 2 3 4", find_ids(db, "{'n':{'$gte':0}}", NULL));
    memory_db_close(db);
}

static void an_update_is_bounded(void) {
    /* Each element is to get a text of 64 KiB: more than a document may hold. */
    bson_t doc = BSON_INITIALIZER, array, operations = BSON_INITIALIZER, set;
    char *text = bson_malloc0(65537);
    memset(text, 'x', 65536);
    db = memory_db_open();
    bson_append_int32(&doc, "_id", 3, 1);
    BSON_APPEND_ARRAY_BEGIN(&doc, "a", &array);
    for (int i = 0; i < 1000; i++) {
        char key[12];
        snprintf(key, sizeof key, "%d", i);
        bson_append_int32(&array, key, -1, i);
    }
    bson_append_array_end(&doc, &array);
    save_bson(db, &doc);
    BSON_APPEND_DOCUMENT_BEGIN(&operations, "$set", &set);
    bson_append_utf8(&set, "a.$[]", 5, text, 65536);
    bson_append_document_end(&operations, &set);
    CHECK_STATUS(TANSU_E_TOO_LARGE,
                 tansu_update(db, NULL, "c", TANSU_NO_DOCUMENT, document_of(&operations),
                              TANSU_NO_DOCUMENT, NULL, NULL));
    CHECK_INT(1, count_matches(db, "{'a':999}", NULL));
    bson_free(text);
    bson_destroy(&doc);
    bson_destroy(&operations);
    memory_db_close(db);
    /* A path that makes more levels than a document may have. */
    char path[600] = "{'$set':{'a";
    for (int i = 0; i < 99; i++)
        strcat(path, ".a");
    strcat(path, "':{'b':{}}}}");
    CHECK(strncmp(becomes("{}", NULL, path, NULL), "TOO_LARGE", 9) == 0);
}

static void find_and_modify_returns_the_document(void) {
    db = memory_db_open();
    save_text(db, "{'_id':1,'a':3,'b':1}");
    save_text(db, "{'_id':2,'a':2,'b':1}");
    CHECK_TEXT("{ \"_id\" : 2, \"a\" : 2, \"b\" : 1 }",
               find_and_modify_text(db, NULL, "{'$inc':{'a':5}}", "{'$orderby':{'a':1}}",
                                    TANSU_MODIFY_RETURN_BEFORE));
    CHECK_TEXT("{ \"_id\" : 1, \"a\" : 8, \"b\" : 1 }",
               find_and_modify_text(db, NULL, "{'$inc':{'a':5}}", "{'$orderby':{'a':1}}",
                                    TANSU_MODIFY_RETURN_AFTER));
    CHECK_TEXT("{ \"_id\" : 1, \"a\" : 9 }",
               find_and_modify_text(db, "{'_id':1}", "{'$inc':{'a':1}}", "{'$fields':{'a':1}}",
                                    TANSU_MODIFY_RETURN_AFTER));
    CHECK_TEXT("", find_and_modify_text(db, "{'_id':7}", "{'$inc':{'a':1}}", NULL,
                                        TANSU_MODIFY_RETURN_AFTER));
    CHECK_TEXT("", find_and_modify_text(db, "{'_id':3}", "{'$set':{'a':1}}", "{'$upsert':true}",
                                        TANSU_MODIFY_RETURN_BEFORE));
    CHECK_TEXT("{ \"_id\" : 4, \"a\" : 1 }",
               find_and_modify_text(db, "{'_id':4}", "{'$set':{'a':1}}", "{'$upsert':true}",
                                    TANSU_MODIFY_RETURN_AFTER));
    CHECK_TEXT("{ \"_id\" : 4, \"z\" : 1 }",
               find_and_modify_text(db, "{'_id':{'$gt':1}}", "{'$replace':{'z':1}}",
                                    "{'$orderby':{'_id':-1}}", TANSU_MODIFY_RETURN_AFTER));
    CHECK_TEXT("{ \"_id\" : 1, \"a\" : 9, \"b\" : 1 }",
               find_and_modify_text(db, "{'b':1}", NULL, NULL, TANSU_MODIFY_REMOVE));
    CHECK_TEXT("2 3 4", find_ids(db, NULL, NULL));
    CHECK_TEXT("INVALID_QUERY hints",
               find_and_modify_text(db, "{}", NULL, "{'$upsert':true}", TANSU_MODIFY_REMOVE));
    CHECK(strncmp(find_and_modify_text(db, "{}", "{'a':1}", NULL, TANSU_MODIFY_REMOVE),
                  "INVALID_ARGUMENT", 6) == 0);
    CHECK(strncmp(find_and_modify_text(db, "{}", "{'a':1}", NULL, (tansu_modify_mode)7),
                  "INVALID_ARGUMENT", 6) == 0);
    CHECK(strncmp(find_and_modify_text(db, "{}", NULL, NULL, TANSU_MODIFY_RETURN_AFTER),
                  "INVALID_ARGUMENT", 6) == 0);
    memory_db_close(db);
}

static void pull_compares_nested_documents_as_a_whole(void) {
    BECOMES("{'a':[{'d':{'k':1,'l':2}}]}", "{'a':[{'d':{'k':1,'l':2}},{'d':{'k':1}}]}",
            "{'$pull':{'a':{'d':{'k':1}}}}");
    BECOMES("{'a':[]}", "{'a':[{'d':{'k':1,'l':2}},{'d':{'k':1}}]}",
            "{'$pull':{'a':{'d':{'k':{'$lt':2}}}}}");
    BECOMES("{'a':[{'k':2}]}", "{'a':[{'k':1,'l':2},{'k':2}]}", "{'$pull':{'a':{'k':1}}}");
    BECOMES("{'a':[1,[]]}", "{'a':[1,{'k':1},{},[]]}", "{'$pull':{'a':{}}}");
    BECOMES("{'a':[[1],1]}", "{'a':[[1,2],[1],1]}", "{'$pull':{'a':{'$all':[1,2]}}}");
    BECOMES("{'a':[[1],1]}", "{'a':[[1,5],[1],1,7]}", "{'$pull':{'a':{'$gt':3}}}");
    BECOMES("{'a':[[1,2]]}", "{'a':[[1,2],1]}", "{'$pull':{'a':1}}");
    BECOMES_HINTED("{'a':[{'k':1,'l':2},0]}", "{'a':[{'k':1,'l':2},{'k':1}]}",
                   "{'$set':{'a.$[x]':0}}", "{'$arrayFilters':[{'x':{'k':1}}]}");
    BECOMES_HINTED("{'a':[0,0]}", "{'a':[{'k':1,'l':2},{'k':1}]}", "{'$set':{'a.$[x]':0}}",
                   "{'$arrayFilters':[{'x.k':1}]}");
}

int main(void) {
    RUN(set_puts_values_where_they_belong);
    RUN(new_fields_come_in_the_order_of_their_names);
    RUN(unset_takes_away);
    RUN(rename_moves);
    RUN(min_and_max_compare_all_kinds);
    RUN(current_date_is_now);
    RUN(numbers_of_nothing_and_of_other_kinds);
    RUN(push_appends);
    RUN(add_to_set_adds_what_is_not_there);
    RUN(names_lead_into_no_array);
    RUN(pull_takes_out);
    RUN(pop_takes_an_end);
    RUN(positions_in_arrays);
    RUN(conflicts_name_both_paths);
    RUN(unknown_and_malformed_operations_are_errors);
    RUN(counts_are_matched_and_modified);
    RUN(the_id_stays);
    RUN(a_document_replaces_one);
    RUN(upserts_insert_what_the_query_says);
    RUN(dropall_removes);
    RUN(an_update_is_applied_whole_or_not_at_all);
    RUN(an_update_is_bounded);
    RUN(find_and_modify_returns_the_document);
    RUN(pull_compares_nested_documents_as_a_whole);
    return check_finish();
}
