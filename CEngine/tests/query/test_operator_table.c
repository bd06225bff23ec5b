/*
 * test_operator_table.c -- one row for each operator of docs/query-language.md: what it selects or
 * changes, what operand it refuses, and whether an index of its field serves it. A query gives the
 * same with no index and with each of several; an update is seen through the index.
 */
#include "support/calls/call.h"
#include "support/calls/query_calls.h"
#include "support/calls/update_calls.h"
#include "support/check.h"
#include "support/libraries.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tansu_db *db;

/* ---- Queries ---- */

static const char *const documents[] = {
    "{'_id':1,'a':1}",
    "{'_id':2,'a':2.5}",
    "{'_id':3,'a':'cat'}",
    "{'_id':4,'a':'Cattle'}",
    "{'_id':5,'a':null}",
    "{'_id':6}",
    "{'_id':7,'a':[1,5]}",
    "{'_id':8,'a':['dog','cat']}",
    "{'_id':9,'a':{'k':1,'l':2}}",
    "{'_id':10,'a':[{'k':1},{'k':3}]}",
    "{'_id':11,'a':true}",
    "{'_id':12,'a':[]}",
    "{'_id':13,'a':7}",
    "{'_id':14,'a':'one, two'}",
};

#define DOCUMENTS (sizeof documents / sizeof *documents)

/* How an index over "a" serves a query: READ is from end to end. */
enum served { READ, RANGES };

static const struct query_row {
    const char *operator;
    const char *query;
    const char *ids;
    enum served served;
    const char *bad;
    const char *context;
} queries[] = {
    {"$eq", "{'a':{'$eq':1}}", "1 7", RANGES, "{'a':{'$icase':{'$eq':1}}}", "a.$eq"},
    {"$ne", "{'a':{'$ne':1}}", "2 3 4 5 6 8 9 10 11 12 13 14", READ,
     "{'a':{'$ne':{'$regularExpression':{'pattern':'c','options':''}}}}", "a.$ne"},
    {"$gt", "{'a':{'$gt':2}}", "2 7 13", RANGES,
     "{'a':{'$gt':{'$regularExpression':{'pattern':'c','options':''}}}}", "a.$gt"},
    {"$gte", "{'a':{'$gte':2.5}}", "2 7 13", RANGES,
     "{'a':{'$gte':{'$regularExpression':{'pattern':'c','options':''}}}}", "a.$gte"},
    {"$lt", "{'a':{'$lt':2.5}}", "1 7", RANGES,
     "{'a':{'$lt':{'$regularExpression':{'pattern':'c','options':''}}}}", "a.$lt"},
    {"$lte", "{'a':{'$lte':2.5}}", "1 2 7", RANGES,
     "{'a':{'$lte':{'$regularExpression':{'pattern':'c','options':''}}}}", "a.$lte"},
    {"$in", "{'a':{'$in':[7,'cat']}}", "3 8 13", RANGES, "{'a':{'$in':7}}", "a.$in"},
    {"$nin", "{'a':{'$nin':[7,'cat']}}", "1 2 4 5 6 7 9 10 11 12 14", READ, "{'a':{'$nin':7}}",
     "a.$nin"},
    {"$bt", "{'a':{'$bt':[2,6]}}", "2 7", RANGES, "{'a':{'$bt':[2]}}", "a.$bt"},
    {"$between", "{'a':{'$between':['c','d']}}", "3 8", RANGES, "{'a':{'$between':[2,'d']}}",
     "a.$between"},
    {"$and", "{'$and':[{'a':{'$gt':1}},{'a':{'$lt':3}}]}", "2 7", RANGES, "{'$and':{'a':1}}",
     "$and"},
    {"$and", "{'a':{'$and':[{'$gt':1},{'$lt':3}]}}", "2 7", RANGES, "{'a':{'$and':[5]}}", "a.$and"},
    {"$or", "{'$or':[{'a':7},{'a':'cat'}]}", "3 8 13", RANGES, "{'$or':[]}", "$or"},
    {"$or", "{'a':{'$or':[{'$eq':7},{'$begin':'o'}]}}", "13 14", RANGES, "{'a':{'$or':5}}",
     "a.$or"},
    {"$nor", "{'$nor':[{'a':{'$exists':true}}]}", "6", RANGES, "{'$nor':[1]}", "$nor"},
    {"$nor", "{'a':{'$nor':[{'$gt':2},{'$TYPE':'string'}]}}", "1 5 6 9 10 11 12", READ,
     "{'a':{'$nor':[]}}", "a.$nor"},
    {"$not", "{'$not':{'a':{'$exists':true}}}", "6", RANGES, "{'$not':5}", "$not"},
    {"$not", "{'a':{'$not':{'$gte':0}}}", "3 4 5 6 8 9 10 11 12 14", READ,
     "{'a':{'$not':{'$nope':1}}}", "a.$not.$nope"},
    {"$begin", "{'a':{'$begin':'cat'}}", "3 8", RANGES, "{'a':{'$begin':1}}", "a.$begin"},
    {"$beginsWith", "{'a':{'$beginsWith':['Ca','do']}}", "4 8", RANGES, "{'a':{'$beginsWith':[]}}",
     "a.$beginsWith"},
    {"$endsWith", "{'a':{'$endsWith':'tle'}}", "4", READ, "{'a':{'$endsWith':[1]}}", "a.$endsWith"},
    {"$contains", "{'a':{'$contains':'at'}}", "3 4 8", READ, "{'a':{'$contains':{}}}",
     "a.$contains"},
    {"$regex", "{'a':{'$REGEX':'^ca'}}", "3 8", RANGES, "{'a':{'$REGEX':1}}", "a.$regex"},
    {"$options", "{'a':{'$REGEX':'^ca','$options':'i'}}", "3 4 8", READ,
     "{'a':{'$REGEX':'x','$options':'y'}}", "a.$options"},
    {"$icase", "{'a':{'$icase':'CAT'}}", "3 8", READ, "{'a':{'$icase':1}}", "a.$icase"},
    {"$strand", "{'a':{'$strand':['one','two']}}", "14", READ, "{'a':{'$strand':','}}",
     "a.$strand"},
    {"$stror", "{'a':{'$stror':['cat','two']}}", "3 8 14", READ, "{'a':{'$stror':7}}", "a.$stror"},
    {"$all", "{'a':{'$all':[1,5]}}", "7", RANGES, "{'a':{'$all':5}}", "a.$all"},
    {"$size", "{'a':{'$size':2}}", "7 8 10", READ, "{'a':{'$size':-1}}", "a.$size"},
    {"$elemMatch", "{'a':{'$elemMatch':{'$gt':4}}}", "7", RANGES, "{'a':{'$elemMatch':5}}",
     "a.$elemMatch"},
    {"$elemMatch", "{'a':{'$elemMatch':{'k':3}}}", "10", READ,
     "{'a':{'$elemMatch':{'$gt':1,'k':1}}}", "a.$elemMatch"},
    {"$allMatch", "{'a':{'$allMatch':{'$gt':0}}}", "7", RANGES, "{'a':{'$allMatch':[]}}",
     "a.$allMatch"},
    {"$exists", "{'a':{'$exists':true}}", "1 2 3 4 5 7 8 9 10 11 12 13 14", READ,
     "{'a':{'$exists':'x'}}", "a.$exists"},
    {"$exists", "{'a':{'$exists':0}}", "6", RANGES, "{'a':{'$exists':null}}", "a.$exists"},
    {"$type", "{'a':{'$TYPE':'string'}}", "3 4 8 14", READ, "{'a':{'$TYPE':'text'}}", "a.$type"},
    {"$mod", "{'a':{'$mod':[3,1]}}", "1 7 13", READ, "{'a':{'$mod':[0,1]}}", "a.$mod"},
    {"$keyMapMatch", "{'a':{'$keyMapMatch':{'$eq':'l'}}}", "9", READ,
     "{'a':{'$keyMapMatch':{'l':1}}}", "a.$keyMapMatch"},
    {"*", "{'*':'cat'}", "3 8", READ, "{'*':{'a':1}}", "*.a"},
    {"**", "{'**':'dog'}", "8", READ, "{'**':{'$nope':1}}", "**.$nope"},
};

/* Indexes that a query may meet. */
static const char *const indexes[][3] = {
    {"a", "{'a':1}", NULL},
    {"down", "{'a':-1}", NULL},
    {"two", "{'z':1,'a':1}", NULL},
    {"other", "{'a':1,'z':-1}", NULL},
    {"folded", "{'a':1}", "{'caseInsensitive':true}"},
    {"sparse", "{'a':1}", "{'sparse':true}"},
    {"partial", "{'a':1}", "{'partialFilter':{'a':{'$gt':0}}}"},
};

/* open_documents -- a database with all of them. */
static void open_documents(void) {
    db = memory_db_open();
    for (size_t i = 0; i < DOCUMENTS; i++)
        save_text(db, documents[i]);
}

/* check_answer -- the ids, and as many, and that the rest is what the negation selects (rule 5). */
static void check_answer(const struct query_row *row, const char *index) {
    char negation[300];
    int64_t count = count_matches(db, row->query, NULL);
    snprintf(negation, sizeof negation, "{'$nor':[%s]}", row->query);
    bool same = CHECK_TEXT(row->ids, find_ids(db, row->query, NULL));
    bool whole = CHECK_INT(DOCUMENTS, count + count_matches(db, negation, NULL));
    if (!same || !whole)
        check_note("%s with the index %s: %s", row->operator, index, row->query);
}

static void a_query_means_the_same_with_any_index(void) {
    open_documents();
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++)
        check_answer(&queries[i], "none");
    memory_db_close(db);
    for (size_t k = 0; k < sizeof indexes / sizeof *indexes; k++) {
        open_documents();
        create_index(db, indexes[k][0], indexes[k][1], indexes[k][2]);
        for (size_t i = 0; i < sizeof queries / sizeof *queries; i++)
            check_answer(&queries[i], indexes[k][0]);
        memory_db_close(db);
    }
}

static void an_index_serves_what_it_can(void) {
    open_documents();
    create_index(db, "a", "{'a':1}", NULL);
    int all = atoi(plan_field(db, "{}", "{'$index':'a'}", "keysExamined"));
    CHECK(all > (int)DOCUMENTS);
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        const struct query_row *row = &queries[i];
        int keys = atoi(plan_field(db, row->query, "{'$index':'a'}", "keysExamined"));
        if (!CHECK((keys < all) == (row->served == RANGES)))
            check_note("%s: %d of %d keys are read: %s", row->operator, keys, all, row->query);
        CHECK_TEXT(row->ids, find_ids(db, row->query, "{'$index':'a'}"));
    }
    memory_db_close(db);
}

static void a_bad_operand_is_named(void) {
    open_documents();
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        char expected[100];
        snprintf(expected, sizeof expected, "INVALID_QUERY %s", queries[i].context);
        CHECK_TEXT(expected, find_ids(db, queries[i].bad, NULL));
    }
    memory_db_close(db);
}

/* ---- Updates ---- */

static const struct update_row {
    const char *operator;
    const char *a; /* before */
    const char *update;
    const char *after;
    const char *finds; /* a value of `a` by which the index finds the document then */
    const char *bad;
    const char *context;
} updates[] = {
    {"$set", "1", "{'$set':{'a':2}}", "{ 'a' : 2 }", "2", "{'$set':2}", "$set"},
    {"$unset", "1", "{'$unset':{'a':1}}", "{ }", "null", "{'$unset':'a'}", "$unset"},
    {"$inc", "1", "{'$inc':{'a':2}}", "{ 'a' : 3 }", "3", "{'$inc':{'a':'x'}}", "$inc.a"},
    {"$mul", "2", "{'$mul':{'a':3}}", "{ 'a' : 6 }", "6", "{'$mul':{'a':null}}", "$mul.a"},
    {"$min", "5", "{'$min':{'a':3}}", "{ 'a' : 3 }", "3", "{'$min':5}", "$min"},
    {"$max", "5", "{'$max':{'a':8}}", "{ 'a' : 8 }", "8", "{'$max':[]}", "$max"},
    {"$rename", "5", "{'$rename':{'a':'b'}}", "{ 'b' : 5 }", "null", "{'$rename':{'a':1}}",
     "$rename.a"},
    {"$currentDate", "5", "{'$currentDate':{'b.c':true},'$set':{'b.d':1},'$unset':{'a':1}}", NULL,
     "null", "{'$currentDate':{'a':1}}", "$currentDate.a"},
    {"$setOnInsert", "5", "{'$setOnInsert':{'a':6}}", "{ 'a' : 5 }", "5", "{'$setOnInsert':6}",
     "$setOnInsert"},
    {"$push", "[1]", "{'$push':{'a':{'$each':[3,2],'$sort':-1,'$slice':2,'$position':0}}}",
     "{ 'a' : [ 3, 2 ] }", "2", "{'$push':{'a':{'$each':5}}}", "$push.a"},
    {"$pushAll", "[1]", "{'$pushAll':{'a':[2]}}", "{ 'a' : [ 1, 2 ] }", "2", "{'$pushAll':{'a':2}}",
     "$pushAll.a"},
    {"$addToSet", "[1]", "{'$addToSet':{'a':2}}", "{ 'a' : [ 1, 2 ] }", "2",
     "{'$addToSet':{'a':{'$each':2}}}", "$addToSet.a"},
    {"$addToSetAll", "[1]", "{'$addToSetAll':{'a':[1,2]}}", "{ 'a' : [ 1, 2 ] }", "2",
     "{'$addToSetAll':{'a':2}}", "$addToSetAll.a"},
    {"$pull", "[1,2]", "{'$pull':{'a':{'$lt':2}}}", "{ 'a' : [ 2 ] }", "[2]",
     "{'$pull':{'a':{'$nope':2}}}", "$pull.a.$nope"},
    {"$pullAll", "[1,2]", "{'$pullAll':{'a':[1]}}", "{ 'a' : [ 2 ] }", "[2]",
     "{'$pullAll':{'a':1}}", "$pullAll.a"},
    {"$pop", "[1,2]", "{'$pop':{'a':-1}}", "{ 'a' : [ 2 ] }", "[2]", "{'$pop':{'a':2}}", "$pop.a"},
    {"$bit", "6", "{'$bit':{'a':{'xor':3}}}", "{ 'a' : 5 }", "5", "{'$bit':{'a':{'nand':3}}}",
     "$bit.a"},
    {"$[]", "[1,2]", "{'$inc':{'a.$[]':2}}", "{ 'a' : [ 3, 4 ] }", "4", "{'$inc':{'$[]':1}}",
     "$inc.$[]"},
    {"$", "[1,2]", "{'$inc':{'a.$':2}}", "{ 'a' : [ 3, 2 ] }", "3", "{'$inc':{'a.$.b.$':1}}",
     "$inc.a.$.b.$"},
    {"$replace", "5", "{'$replace':{'a':9}}", "{ 'a' : 9 }", "9", "{'a':9,'$set':{'a':1}}", "a"},
};

static void an_update_changes_document_and_index(void) {
    for (size_t i = 0; i < sizeof updates / sizeof *updates; i++) {
        const struct update_row *row = &updates[i];
        char text[300], expected[100];
        db = memory_db_open();
        create_index(db, "a", "{'a':1}", NULL);
        snprintf(text, sizeof text, "{'_id':1,'a':%s}", row->a);
        save_text(db, text);
        snprintf(expected, sizeof expected, "INVALID_QUERY %s", row->context);
        CHECK_TEXT(expected, update_text(db, NULL, "{'a':{'$gte':0}}", row->bad, NULL));
        const char *answer = update_text(db, NULL, "{'a':{'$gte':0}}", row->update, NULL);
        if (!CHECK(answer[0] == '{'))
            check_note("%s: %s", row->operator, answer);
        snprintf(text, sizeof text, "%s", find_documents(db, NULL, "{'$fields':{'_id':0}}"));
        for (char *c = text; *c; c++)
            *c = *c == '"' ? '\'' : *c;
        if (row->after)
            CHECK_TEXT(row->after, text);
        snprintf(text, sizeof text, "{'a':%s}", row->finds);
        CHECK_TEXT("1", find_ids(db, text, "{'$index':'a'}"));
        if (strcmp(row->a, row->finds) != 0) {
            snprintf(text, sizeof text, "{'a':{'$eq':%s}}", row->a);
            CHECK_TEXT("", find_ids(db, text, "{'$index':'a'}"));
        }
        memory_db_close(db);
    }
}

/* ---- Flags ---- */

/* A number stands for true or false wherever one of them is asked for, and 0 is false. */
static void numbers_are_flags(void) {
    db = memory_db_open();
    create_index(db, "u", "{'a':1}", "{'unique':1,'sparse':2.5}");
    create_index(db, "u", "{'a':1}", "{'unique':true,'sparse':true,'caseInsensitive':0}");
    save_text(db, "{'_id':1,'a':1}");
    CHECK_STATUS(TANSU_E_NOT_UNIQUE, call_save(db, NULL, "c", TANSU_SAVE, "{'_id':2,'a':1}"));
    CHECK_TEXT("{ \"count\" : 1 }", find_documents(db, NULL, "{'$onlycount':1}"));
    CHECK_TEXT("1", find_ids(db, NULL, "{'$onlycount':0,'$explain':0}"));
    CHECK_TEXT("1", find_ids(db, "{'a':{'$exists':1}}", NULL));
    CHECK_TEXT("1", find_ids(db, NULL, "{'$collation':{'caseInsensitive':1}}"));
    CHECK(update_text(db, NULL, "{'_id':3}", "{'$set':{'b':1}}", "{'$upsert':1}")[0] == '{');
    CHECK_INT(2, count_matches(db, NULL, NULL));
    CHECK(update_text(db, NULL, NULL, "{'$dropall':1}", NULL)[0] == '{');
    CHECK_INT(0, count_matches(db, NULL, NULL));
    CHECK_STATUS(TANSU_E_INVALID_INDEX,
                 call_index(db, NULL, "c", "v", "{'b':1}", "{'unique':'1'}"));
    memory_db_close(db);
}

int main(void) {
    library_regex_start();
    RUN(numbers_are_flags);
    RUN(a_query_means_the_same_with_any_index);
    RUN(an_index_serves_what_it_can);
    RUN(a_bad_operand_is_named);
    RUN(an_update_changes_document_and_index);
    return check_finish();
}
