/*
 * test_text_operator.c -- $text in queries and pipelines: where it may stand, the index of words that
 * it needs, what else an index of words is not used for, and that every plan gives the same
 * documents, scores and order.
 */
#include "support/calls/aggregate_calls.h"
#include "support/calls/call.h"
#include "support/calls/query_calls.h"
#include "support/calls/update_calls.h"
#include "support/check.h"
#include "support/fault/fault_injection.h"
#include "support/folder.h"
#include "support/random/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOX "{'$text':{'$search':'fox'}}"
#define BY_SCORE "'$orderby':{'score':{'$meta':'textScore'}}"
#define SHOW_SCORE "'$fields':{'score':{'$meta':'textScore'}}"

/* notes -- a few documents and an index of words. */
static tansu_db *notes(void) {
    static const char *const documents[] = {
        "{'_id':1,'body':'the quick brown fox','n':1}",
        "{'_id':2,'body':'a lazy dog','n':2}",
        "{'_id':3,'body':'fox fox fox','n':2}",
        "{'_id':4,'n':4}",
        "{'_id':5,'body':'fox and dog, and what else they may be called','n':5}",
        NULL};
    tansu_db *db = memory_db_with(documents);
    create_index(db, "words", "{'body':'text'}", NULL);
    return db;
}

/* pipeline_text -- the documents of a pipeline as relaxed JSON with spaces between, or the name of the
 * status and the error's context. */
static const char *pipeline_text(tansu_db *db, const char *stages, const char *hints) {
    static char text[1 << 16];
    char wrapped[4096];
    snprintf(wrapped, sizeof wrapped, "{'stages':%s}", stages);
    bson_t *all = bson_from_text(wrapped), *h = bson_from_text(hints), list;
    bson_iter_t iter;
    const uint8_t *data;
    uint32_t size;
    tansu_error error;
    tansu_cursor *cursor = NULL;
    tansu_document document;
    REQUIRE(bson_iter_init_find(&iter, all, "stages"));
    bson_iter_array(&iter, &size, &data);
    REQUIRE(bson_init_static(&list, data, size));
    text[0] = '\0';
    tansu_status status =
        tansu_pipeline(db, NULL, "c", document_of(&list), document_of(h), &cursor, &error);
    while (status == TANSU_OK &&
           (status = tansu_cursor_next(cursor, &document, &error)) == TANSU_OK) {
        bson_t one;
        REQUIRE(bson_init_static(&one, document.data, document.size));
        char *json = bson_as_relaxed_extended_json(&one, NULL);
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%s", used ? " " : "", json);
        bson_free(json);
    }
    if (status != TANSU_DONE)
        snprintf(text, sizeof text, "%s %s", tansu_status_name(status), error.context);
    tansu_cursor_close(cursor);
    bson_destroy(all);
    bson_destroy(h);
    return text;
}

/* Queries and hints with their answers. */
typedef struct query_case {
    const char *query, *hints, *expected;
} query_case;

static void check_cases(tansu_db *db, const query_case *cases, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (!CHECK_TEXT(cases[i].expected, find_ids(db, cases[i].query, cases[i].hints)))
            check_note("query %s hints %s", cases[i].query, cases[i].hints ? cases[i].hints : "");
    }
}

static void it_finds_documents(void) {
    static const query_case cases[] = {
        {FOX, NULL, "1 3 5"},
        {"{'$text':{'$search':'fox dog'}}", NULL, "1 2 3 5"},
        {"{'$text':{'$search':'\\\"quick brown\\\"'}}", NULL, "1"},
        {"{'$text':{'$search':'fox -dog'}}", NULL, "1 3"},
        {"{'$text':{'$search':'cat'}}", NULL, ""},
        {"{'$text':{'$search':'fox'},'n':2}", NULL, "3"},
        {"{'n':{'$gt':1},'$text':{'$search':'fox'},'_id':{'$ne':3}}", NULL, "5"},
        {"{'$and':[{'n':2},{'$and':[{'$text':{'$search':'fox'}}]}]}", NULL, "3"},
        {FOX, "{'$orderby':{'n':-1}}", "5 3 1"},
        {FOX, "{'$skip':1,'$max':1}", "3"},
        {FOX, "{'$index':'words'}", "1 3 5"},
        {FOX, "{'$index':false}", "1 3 5"},
        {FOX, "{" BY_SCORE "}", "3 1 5"},
        {FOX, "{" BY_SCORE ",'$max':2}", "3 1"},
        {FOX, "{" BY_SCORE ",'$skip':1,'$max':5}", "1 5"},
        {"{'$text':{'$search':'fox'},'n':{'$lt':3}}", "{" BY_SCORE ",'$max':1}", "3"},
        {"{'_id':{'$in':{'$from':'c','$query':{'$text':{'$search':'dog'}}}}}", NULL, "2 5"},
        {"{'_id':7,'$text':{'$search':'fox'}}", "{" BY_SCORE "}", ""},
        {"{'$and':[{'n':{'$in':[]}},{'$text':{'$search':'fox'}}]}", "{" BY_SCORE "}", ""},
    };
    tansu_db *db = notes();
    check_cases(db, cases, sizeof cases / sizeof *cases);
    CHECK_INT(3, count_matches(db, FOX, NULL));
    CHECK_INT(1, count_matches(db, "{'$text':{'$search':'fox'},'n':1}", "{" BY_SCORE "}"));
    CHECK_INT(0, call_count(db, NULL, "elsewhere", FOX));
    memory_db_close(db);
}

static void it_stands_at_the_top(void) {
    static const query_case cases[] = {
        {"{'$or':[" FOX ",{'n':1}]}", NULL, "INVALID_QUERY $or.0.$text"},
        {"{'$nor':[" FOX "]}", NULL, "INVALID_QUERY $nor.0.$text"},
        {"{'$not':" FOX "}", NULL, "INVALID_QUERY $not.$text"},
        {"{'$and':[{'$or':[" FOX "]}]}", NULL, "INVALID_QUERY $and.0.$or.0.$text"},
        {"{'a':{'$elemMatch':" FOX "}}", NULL, "INVALID_QUERY a.$elemMatch.$text"},
        {"{'body':{'$text':'fox'}}", NULL, "INVALID_QUERY body.$text"},
        {"{'$and':[" FOX "," FOX "]}", NULL, "INVALID_QUERY $and.1.$text"},
        {"{'$text':'fox'}", NULL, "INVALID_QUERY $text"},
        {"{}", "{'$fields':{'a':{'$elemMatch':" FOX "}}}",
         "INVALID_QUERY hints.$fields.a.$elemMatch.$text"},
    };
    tansu_db *db = notes();
    check_cases(db, cases, sizeof cases / sizeof *cases);
    CHECK_STATUS(TANSU_E_INVALID_QUERY,
                 call_index(db, NULL, "c", "some", "{'n':1}", "{'partialFilter':" FOX "}"));
    CHECK_STATUS(TANSU_E_INVALID_QUERY, call_ensure(db, NULL, "v", "{'validator':" FOX "}"));
    tansu_matcher *matcher = NULL;
    bson_t *query = bson_from_text(FOX);
    CHECK_STATUS(TANSU_E_INVALID_QUERY, tansu_matcher_new(document_of(query), &matcher, NULL));
    bson_destroy(query);
    memory_db_close(db);
}

/* The error says how to make the index. */
static void it_needs_an_index_of_words(void) {
    static const char *const documents[] = {"{'_id':1,'body':'fox'}", NULL};
    tansu_db *db = memory_db_with(documents);
    create_index(db, "values", "{'body':1}", NULL);
    CHECK_TEXT("INVALID_QUERY", call_find(db, NULL, "c", FOX, NULL));
    CHECK(strstr(call_error.message, "tansu index create DATABASE c '{\"body\": \"text\"}'") !=
          NULL);
    CHECK_TEXT("INVALID_QUERY $text", find_ids(db, FOX, NULL));
    CHECK_TEXT("INVALID_QUERY $text", find_ids(db, FOX, "{'$index':false}"));
    memory_db_close(db);
}

static void a_collection_has_one(void) {
    tansu_db *db = notes();
    CHECK_OK(call_index(db, NULL, "c", "words", "{'body':'text'}", NULL), &call_error);
    CHECK_STATUS(TANSU_E_INVALID_INDEX,
                 call_index(db, NULL, "c", "more", "{'title':'text'}", NULL));
    CHECK(strstr(call_error.message, "\"words\"") != NULL);
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    CHECK_STATUS(TANSU_E_INVALID_INDEX, call_index(db, txn, "c", "more", "{'title':'text'}", NULL));
    CHECK_OK(tansu_index_drop(db, txn, "c", "words", NULL), NULL);
    CHECK_OK(call_index(db, txn, "c", "more", "{'title':'text'}", NULL), &call_error);
    CHECK_OK(tansu_txn_commit(txn, NULL, NULL), NULL);
    CHECK_TEXT("", find_ids(db, FOX, NULL));
    bson_t *body = bson_from_text("{'body':'text'}"), *title = bson_from_text("{'title':'text'}");
    CHECK_OK(tansu_index_declare(db, NULL, "d", NULL, document_of(body), TANSU_NO_DOCUMENT, NULL,
                                 NULL, NULL),
             NULL);
    CHECK_STATUS(TANSU_E_INVALID_INDEX, tansu_index_declare(db, NULL, "d", NULL, document_of(title),
                                                            TANSU_NO_DOCUMENT, NULL, NULL, NULL));
    bson_destroy(body);
    bson_destroy(title);
    memory_db_close(db);
}

/* Its entries are words, not values: no condition, order, join or count reads them. */
static void it_is_for_text_only(void) {
    static const char *const queries[] = {
        "{'body':'a lazy dog'}",
        "{'body':{'$gt':'f'}}",
        "{'body':{'$exists':true}}",
        "{'body':{'$begin':'fox'}}",
        "{'$or':[{'body':'a lazy dog'},{'n':4}]}",
        "{'$or':[{'body':'a lazy dog'},{'body':'fox fox fox'},{'n':{'$type':'string'}}]}",
        "{'**':'fox fox fox'}",
        "{}"};
    static const char *const hints[] = {
        "{}", "{'$orderby':{'body':1}}", "{'$orderby':{'body':-1},'$max':2}",
        "{'$fields':{'body':1,'_id':0}}", "{'$fields':{'body':1,'_id':0},'$orderby':{'body':1}}"};
    tansu_db *with = notes(), *without = notes();
    CHECK_OK(tansu_index_drop(without, NULL, "c", "words", NULL), NULL);
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        for (size_t k = 0; k < sizeof hints / sizeof *hints; k++) {
            char *expected = strdup(find_documents(without, queries[i], hints[k]));
            if (!CHECK_TEXT(expected, find_documents(with, queries[i], hints[k])))
                check_note("query %s hints %s", queries[i], hints[k]);
            free(expected);
        }
        CHECK_INT(count_matches(without, queries[i], NULL), count_matches(with, queries[i], NULL));
        CHECK_TEXT("INVALID_QUERY hints.$index", find_ids(with, queries[i], "{'$index':'words'}"));
    }
    CHECK_TEXT("\"scan\"", plan_field(with, "{'body':'a lazy dog'}", NULL, "plan.kind"));
    CHECK_TEXT("{ \"body\" : 1 }", plan_field(with, "{'body':'a lazy dog'}", NULL, "suggestion"));
    CHECK_TEXT(
        "{ \"values\" : [ \"a lazy dog\", \"fox and dog, and what else they may be called\", "
        "\"fox fox fox\", \"the quick brown fox\" ] }",
        distinct_text(with, "body", NULL, NULL));
    char *groups =
        strdup(aggregate_text(without, NULL, "{'by':'body','fields':{'n':{'$count':true}}}", NULL));
    CHECK_TEXT(groups,
               aggregate_text(with, NULL, "{'by':'body','fields':{'n':{'$count':true}}}", NULL));
    free(groups);
    const char *join =
        "[{'$lookup':{'from':'c','localField':'body','foreignField':'body','as':'j'}},"
        "{'$project':{'j':{'$size':'$j'}}}]";
    char *joined = strdup(pipeline_text(without, join, NULL));
    CHECK_TEXT(joined, pipeline_text(with, join, NULL));
    free(joined);
    memory_db_close(with);
    memory_db_close(without);
}

/* Also where it has as many entries as there are documents. */
static void groups_do_not_read_it(void) {
    static const char *const documents[] = {"{'_id':1,'body':'x'}", "{'_id':2,'body':'x'}",
                                            "{'_id':3,'body':'x'}", NULL};
    tansu_db *db = memory_db_with(documents);
    create_index(db, "words", "{'body':'text'}", NULL);
    CHECK_TEXT("{ \"groups\" : [ { \"body\" : \"x\", \"n\" : 3 } ] }",
               aggregate_text(db, NULL, "{'by':'body','fields':{'n':{'$count':true}}}", NULL));
    CHECK_TEXT("{ \"_id\" : \"x\", \"count\" : 3 }",
               pipeline_text(db, "[{'$sortByCount':'$body'}]", NULL));
    CHECK_TEXT("{ \"values\" : [ \"x\" ] }", distinct_text(db, "body", NULL, NULL));
    CHECK_TEXT("{ \"_id\" : null, \"m\" : \"x\" }",
               pipeline_text(db, "[{'$group':{'_id':null,'m':{'$max':'$body'}}}]", NULL));
    memory_db_close(db);
}

static void scores_are_metadata(void) {
    static const query_case cases[] = {
        {"{}", "{" BY_SCORE "}", "INVALID_QUERY hints.$orderby.score"},
        {"{}", "{" SHOW_SCORE "}", "INVALID_QUERY hints.$fields.score.$meta"},
        {"{'n':1}", "{'$fields':{'a':{'$add':[1,{'$meta':'textScore'}]}}}",
         "INVALID_QUERY hints.$fields.a.$meta"},
        {FOX, "{'$orderby':{'score':{'$meta':'indexKey'}}}", "INVALID_QUERY hints.$orderby.score"},
        {FOX, "{'$orderby':{'a':{'$meta':'textScore'},'b':{'$meta':'textScore'}}}",
         "INVALID_QUERY hints.$orderby.b"},
        {"{'$expr':{'$gt':[{'$meta':'textScore'},1]}}", NULL, "INVALID_QUERY $expr.$meta"},
        {FOX, "{'$orderby':{'n':1,'s':{'$meta':'textScore'}}}", "1 3 5"},
        {FOX, "{'$orderby':{'s':{'$meta':'textScore'},'n':1}}", "3 1 5"},
        {FOX, "{'$orderby':{'n':-1,'s':{'$meta':'textScore'}},'$max':2}", "5 3"},
    };
    tansu_db *db = notes();
    check_cases(db, cases, sizeof cases / sizeof *cases);
    const char *scores = find_documents(db, FOX,
                                        "{'$fields':{'_id':0,'s':{'$gt':[{'$meta':"
                                        "'textScore'},0.01]}}}");
    CHECK_TEXT("{ \"s\" : true } { \"s\" : true } { \"s\" : true }", scores);
    memory_db_close(db);
}

static void pipelines_take_it_first(void) {
#define MATCH "{'$match':" FOX "}"
#define META "{'$meta':'textScore'}"
    static const struct {
        const char *stages, *expected;
    } cases[] = {
        {"[" MATCH ",{'$project':{'_id':1}}]", "{ \"_id\" : 1 } { \"_id\" : 3 } { \"_id\" : 5 }"},
        {"[" MATCH ",{'$match':{'n':2}},{'$project':{'_id':1}}]", "{ \"_id\" : 3 }"},
        {"[" MATCH ",{'$count':'n'}]", "{ \"n\" : 3 }"},
        {"[" MATCH ",{'$group':{'_id':'$n','m':{'$sum':1}}},{'$sort':{'_id':1}}]",
         "{ \"_id\" : 1, \"m\" : 1 } { \"_id\" : 2, \"m\" : 1 } { \"_id\" : 5, \"m\" : 1 }"},
        {"[" MATCH ",{'$group':{'_id':null,'m':{'$max':'$n'},'k':{'$sum':1}}}]",
         "{ \"_id\" : null, \"m\" : 5, \"k\" : 3 }"},
        {"[" MATCH ",{'$sort':{'s':" META "}},{'$limit':2},{'$project':{'_id':1}}]",
         "{ \"_id\" : 3 } { \"_id\" : 1 }"},
        {"[" MATCH ",{'$sort':{'s':" META ",'n':1}},{'$project':{'_id':1,'s':{'$gt':[" META
         ",0]}}}]",
         "{ \"_id\" : 3, \"s\" : true } { \"_id\" : 1, \"s\" : true } { \"_id\" : 5, \"s\" : true "
         "}"},
        {"[" MATCH ",{'$project':{'n':1}},{'$sort':{'s':" META "}},{'$project':{'_id':1}}]",
         "{ \"_id\" : 3 } { \"_id\" : 1 } { \"_id\" : 5 }"},
        {"[" MATCH ",{'$sort':{'s':" META ",'n':1,'_id':1}},{'$project':{'_id':1}}]",
         "{ \"_id\" : 3 } { \"_id\" : 1 } { \"_id\" : 5 }"},
        {"[" MATCH ",{'$addFields':{'s':" META "}},{'$sort':{'s':-1}},{'$project':{'_id':1}}]",
         "{ \"_id\" : 3 } { \"_id\" : 1 } { \"_id\" : 5 }"},
        {"[" MATCH ",{'$match':{'$expr':{'$gt':[" META ",100]}}},{'$count':'n'}]", ""},
        {"[" MATCH ",{'$match':{'n':{'$lt':5},'$expr':{'$gt':[" META
         ",0]}}},{'$project':{'_id':1}}]",
         "{ \"_id\" : 1 } { \"_id\" : 3 }"},
        {"[" MATCH ",{'$group':{'_id':{'$gt':[" META ",0]},'n':{'$sum':1}}}]",
         "{ \"_id\" : true, \"n\" : 3 }"},
        {"[" MATCH ",{'$sort':{'n':-1}},{'$project':{'_id':1,'s':{'$gt':[" META ",0]}}}]",
         "{ \"_id\" : 5, \"s\" : true } { \"_id\" : 3, \"s\" : true } { \"_id\" : 1, \"s\" : true "
         "}"},
        {"[{'$match':{'_id':4}},{'$lookup':{'from':'c','pipeline':[" MATCH ",{'$sort':{'s':" META
         "}},{'$project':{'_id':1}}],'as':'j'}},{'$project':{'j':1}}]",
         "{ \"_id\" : 4, \"j\" : [ { \"_id\" : 3 }, { \"_id\" : 1 }, { \"_id\" : 5 } ] }"},
        {"[{'$match':{'_id':2}},{'$lookup':{'from':'c','localField':'n','foreignField':'n',"
         "'pipeline':[" MATCH ",{'$project':{'_id':1}}],'as':'j'}},{'$project':{'j':1}}]",
         "{ \"_id\" : 2, \"j\" : [ { \"_id\" : 3 } ] }"},
        {"[{'$match':{'_id':4}},{'$project':{'_id':1}},{'$unionWith':{'coll':'c','pipeline':[" MATCH
         ",{'$project':{'_id':1}}]}}]",
         "{ \"_id\" : 4 } { \"_id\" : 1 } { \"_id\" : 3 } { \"_id\" : 5 }"},
        {"[{'$match':{'_id':2}},{'$graphLookup':{'from':'c','startWith':'$n','connectFromField':'"
         "no',"
         "'connectToField':'n','as':'j','restrictSearchWithMatch':" FOX
         "}},{'$project':{'j._id':1}}]",
         "{ \"_id\" : 2, \"j\" : [ { \"_id\" : 3 } ] }"},
        {"[" MATCH ",{'$facet':{'a':[{'$count':'n'}]}}]", "{ \"a\" : [ { \"n\" : 3 } ] }"},
        {"[" MATCH ",{'$bucket':{'groupBy':" META ",'boundaries':[0,100]}}]",
         "{ \"_id\" : 0, \"count\" : 3 }"},
        {"[" MATCH ",{'$sortByCount':{'$gt':[" META ",0]}}]", "{ \"_id\" : true, \"count\" : 3 }"},
        /* Where it is not, or its scores are not. */
        {"[" MATCH ",{'$bucketAuto':{'groupBy':" META ",'buckets':2}}]",
         "INVALID_QUERY 1.$bucketAuto.groupBy.$meta"},
        {"[" MATCH ",{'$setWindowFields':{'output':{'s':{'$sum':" META "}}}}]",
         "INVALID_QUERY 1.$setWindowFields.output.s.$sum.$meta"},
        {"[" MATCH ",{'$group':{'_id':1,'t':{'$top':{'sortBy':{'s':" META "},'output':'$n'}}}}]",
         "INVALID_QUERY 1.$group.t.$top"},
        {"[{'$match':{'n':1}}," MATCH "]", "INVALID_QUERY 1.$match.$text"},
        {"[{'$project':{'n':1}}," MATCH "]", "INVALID_QUERY 1.$match.$text"},
        {"[{'$match':{'$or':[" FOX "]}}]", "INVALID_QUERY 0.$match.$or.0.$text"},
        {"[{'$facet':{'a':[" MATCH "]}}]", "INVALID_QUERY 0.$facet.a.0.$match.$text"},
        {"[{'$project':{'s':" META "}}]", "INVALID_QUERY 0.$project.s.$meta"},
        {"[{'$sort':{'s':" META "}}]", "INVALID_QUERY 0.$sort"},
        {"[" MATCH ",{'$group':{'_id':'$n'}},{'$project':{'s':" META "}}]",
         "INVALID_QUERY 2.$project.s.$meta"},
        {"[" MATCH ",{'$project':{'n':1}},{'$sort':{'n':1}},{'$project':{'s':" META "}}]",
         "INVALID_QUERY 3.$project.s.$meta"},
        {"[" MATCH ",{'$facet':{'a':[{'$project':{'s':" META "}}]}}]",
         "INVALID_QUERY 1.$facet.a.0.$project.s.$meta"},
        {"[{'$match':{'$text':{'$search':'fox'},'$expr':{'$gt':[" META ",1]}}}]",
         "INVALID_QUERY 0.$match.$expr.$meta"},
    };
    tansu_db *db = notes();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (!CHECK_TEXT(cases[i].expected, pipeline_text(db, cases[i].stages, NULL)))
            check_note("pipeline %s", cases[i].stages);
    }
    memory_db_close(db);
}

static void writes_use_it(void) {
    tansu_db *db = notes();
    int64_t removed = 0;
    CHECK_TEXT("{ \"_id\" : 3, \"body\" : \"fox fox fox\", \"n\" : 7 }",
               find_and_modify_text(db, FOX, "{'$set':{'n':7}}", "{" BY_SCORE "}",
                                    TANSU_MODIFY_RETURN_AFTER));
    CHECK_TEXT("{ \"matched\" : 0, \"modified\" : 0, \"upserted\" : [ 9 ] }",
               update_text(db, NULL, "{'$text':{'$search':'zebra'},'_id':9}", "{'$upsert':{'n':7}}",
                           NULL));
    CHECK_TEXT("{ \"matched\" : 3, \"modified\" : 3, \"upserted\" : [  ] }",
               update_text(db, NULL, FOX, "{'$set':{'seen':true}}", NULL));
    CHECK_TEXT("1 3 5", find_ids(db, "{'seen':true}", NULL));
    CHECK_OK(call_remove(db, NULL, "c", "{'$text':{'$search':'dog'}}", &removed), &call_error);
    CHECK_INT(2, removed);
    CHECK_TEXT("1 3", find_ids(db, FOX, NULL));
    CHECK_TEXT("{ \"values\" : [ 1, 7 ] }", distinct_text(db, "n", FOX, NULL));
    CHECK_TEXT("{ \"groups\" : [ { \"n\" : 2 } ] }",
               aggregate_text(db, FOX, "{'fields':{'n':{'$count':true}}}", NULL));
    CHECK_TEXT("INVALID_QUERY hints.$orderby",
               aggregate_text(db, FOX, "{'fields':{'n':{'$count':true}}}", "{" BY_SCORE "}"));
    memory_db_close(db);
}

/* What a transaction wrote is found in it, and by others once it is committed. */
static void transactions_see_their_own_words(void) {
    tansu_db *db = notes();
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    int removed;
    CHECK_OK(call_save(db, txn, "c", TANSU_INSERT, "{'_id':6,'body':'fox fox'}"), &call_error);
    CHECK_OK(call_save(db, txn, "c", TANSU_SAVE, "{'_id':1,'body':'hen'}"), &call_error);
    CHECK_OK(call_remove_id(db, txn, "c", "{'':3}", &removed), &call_error);
    CHECK_TEXT("{ \"_id\" : 5 } { \"_id\" : 6 }",
               call_find(db, txn, "c", FOX, "{'$fields':{'_id':1}}"));
    CHECK_TEXT("{ \"_id\" : 6, \"s\" : true } { \"_id\" : 5, \"s\" : true }",
               call_find(db, txn, "c", FOX,
                         "{" BY_SCORE
                         ",'$fields':{'_id':1,'s':{'$gt':[{'$meta':'textScore'},0]}}}"));
    CHECK_TEXT("{ \"_id\" : 5, \"s\" : true } { \"_id\" : 6, \"s\" : true }",
               call_find(db, txn, "c", FOX,
                         "{'$fields':{'_id':1,'s':{'$gt':[{'$meta':'textScore'},0]}}}"));
    CHECK_TEXT("1 3 5", find_ids(db, FOX, NULL));
    /* A cursor keeps its results while the transaction goes on. */
    tansu_cursor *cursor = call_cursor(db, txn, "c", FOX, "{" BY_SCORE ",'$fields':{'_id':1}}");
    CHECK_OK(call_save(db, txn, "c", TANSU_INSERT, "{'_id':7,'body':'fox'}"), &call_error);
    CHECK_TEXT("{ \"_id\" : 6 }", call_next(cursor));
    CHECK_TEXT("{ \"_id\" : 5 }", call_next(cursor));
    CHECK_TEXT("", call_next(cursor));
    tansu_cursor_close(cursor);
    CHECK_OK(tansu_txn_commit(txn, NULL, NULL), NULL);
    CHECK_TEXT("5 6 7", find_ids(db, FOX, NULL));
    memory_db_close(db);
}

/* The index stays after the database was closed, and after a kill is made from the log. */
static void it_is_there_after_opening(void) {
    char *folder = folder_new();
    tansu_db *db = call_open(folder);
    CHECK_OK(call_index(db, NULL, "c", "words", "{'body':'text'}", NULL), &call_error);
    CHECK_OK(call_save(db, NULL, "c", TANSU_INSERT, "{'_id':1,'body':'a fox'}"), &call_error);
    call_close(db);
    db = call_open(folder);
    CHECK_OK(call_save(db, NULL, "c", TANSU_INSERT, "{'_id':2,'body':'foxes, a fox'}"),
             &call_error);
    CHECK_INT(2, call_count(db, NULL, "c", FOX));
    CHECK_TEXT("{ \"_id\" : 1 } { \"_id\" : 2 }",
               call_find(db, NULL, "c", FOX, "{'$fields':{'_id':1}}"));
    CHECK_STATUS(TANSU_E_INVALID_INDEX,
                 call_index(db, NULL, "c", "more", "{'title':'text'}", NULL));
    /* What the folder has now is what a kill would leave. */
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id':1,'body':'a hen'}"), &call_error);
    char *killed = folder_new();
    folder_remove(killed);
    folder_copy(folder, killed);
    call_close(db);
    db = call_open(killed);
    CHECK_TEXT("{ \"_id\" : 2 }", call_find(db, NULL, "c", FOX, "{'$fields':{'_id':1}}"));
    CHECK_INT(1, call_count(db, NULL, "c", "{'$text':{'$search':'hen'}}"));
    call_close(db);
    folder_end(killed);
    folder_end(folder);
}

/* Another opening that reads follows the commits of the one that writes. */
static void readers_follow_it(void) {
    char *folder = folder_new();
    tansu_db *db = call_open(folder);
    CHECK_OK(call_index(db, NULL, "c", "words", "{'body':'text'}", NULL), &call_error);
    CHECK_OK(call_save(db, NULL, "c", TANSU_INSERT, "{'_id':1,'body':'a fox'}"), &call_error);
    tansu_options options = call_options(folder);
    options.allow_writer = 1;
    options.follow = 1;
    tansu_db *reader = call_open_with(&options);
    CHECK_INT(1, call_count(reader, NULL, "c", FOX));
    CHECK_OK(call_save(db, NULL, "c", TANSU_INSERT, "{'_id':2,'body':'fox fox'}"), &call_error);
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id':1,'body':'a hen'}"), &call_error);
    CHECK_TEXT("{ \"_id\" : 2 }",
               call_find(reader, NULL, "c", FOX, "{" BY_SCORE ",'$max':3,'$fields':{'_id':1}}"));
    CHECK_INT(1, call_count(reader, NULL, "c", "{'$text':{'$search':'hen'}}"));
    call_close(reader);
    call_close(db);
    folder_end(folder);
}

static void explain_shows_the_search(void) {
    tansu_db *db = notes();
    create_index(db, "by_n", "{'n':1}", NULL);
    CHECK_TEXT("\"text\"", plan_field(db, FOX, NULL, "plan.kind"));
    CHECK_TEXT("\"words\"", plan_field(db, FOX, NULL, "plan.index"));
    CHECK_TEXT("\"words\"", plan_field(db, FOX, NULL, "plan.search.index"));
    CHECK_TEXT("3", plan_field(db, FOX, NULL, "plan.search.bound"));
    CHECK_TEXT("true", plan_field(db, FOX, NULL, "plan.exact"));
    CHECK_TEXT("\"none\"", plan_field(db, FOX, NULL, "plan.sort"));
    CHECK_TEXT("\"score\"", plan_field(db, FOX, "{" BY_SCORE "}", "plan.sort"));
    CHECK_TEXT("\"memory\"", plan_field(db, FOX, "{'$orderby':{'n':1}}", "plan.sort"));
    CHECK_TEXT("0", plan_field(db, FOX, "{'$onlycount':true}", "documentsExamined"));
    CHECK_TEXT("3", plan_field(db, FOX, "{'$onlycount':true}", "returned"));
    CHECK(strstr(plan_field(db, FOX, NULL, "plan.search"), "\"fox\"") != NULL);
    const char *query =
        "{'$text':{'all':['fox',{'any':['dog',{'phrase':'a hen'}]}],'not':['cat']}}";
    CHECK_TEXT("[ \"fox\" ]", plan_field(db, query, NULL, "plan.search.all.0.term"));
    CHECK_TEXT("[ \"a\", \"hen\" ]", plan_field(db, query, NULL, "plan.search.all.1.any.1.phrase"));
    CHECK_TEXT("[ \"cat\" ]", plan_field(db, query, NULL, "plan.search.without.0.term"));
    memory_db_close(db);
}

/* Another index is read with the search, or instead of it, where that is cheaper. */
static void other_indexes_help(void) {
    tansu_db *db = memory_db_open();
    create_index(db, "words", "{'body':'text'}", NULL);
    create_index(db, "by_n", "{'n':1}", NULL);
    create_index(db, "by_half", "{'half':1}", NULL);
    for (uint32_t i = 0; i < 4000; i++) {
        char document[128];
        snprintf(document, sizeof document, "{'_id':%u,'body':'%s','n':%u,'half':%u}", (unsigned)i,
                 i % 3 == 0 ? "fox hen" : "fox", (unsigned)(i % 1000), (unsigned)(i / 100 % 10));
        save_text(db, document);
    }
    /* A few documents, whose words are tested. */
    const char *few = "{'$text':{'$search':'fox'},'n':7}";
    CHECK_TEXT("\"index\"", plan_field(db, few, NULL, "plan.kind"));
    CHECK_TEXT("\"by_n\"", plan_field(db, few, NULL, "plan.index"));
    CHECK_TEXT("7 1007 2007 3007", find_ids(db, few, NULL));
    /* The first ones in the order of an index. */
    CHECK_TEXT("\"by_n\"", plan_field(db, FOX, "{'$orderby':{'n':-1},'$max':3}", "plan.index"));
    CHECK_TEXT("999 1999 2999", find_ids(db, FOX, "{'$orderby':{'n':-1},'$max':3}"));
    /* Many of both: record ids are intersected, and documents outside are not read. */
    const char *both = "{'$text':{'$search':'hen'},'half':3}";
    CHECK_TEXT("\"text\"", plan_field(db, both, NULL, "plan.kind"));
    CHECK_TEXT("\"by_half\"", plan_field(db, both, NULL, "plan.intersected.index"));
    CHECK_TEXT("true", plan_field(db, both, NULL, "plan.exact"));
    CHECK_TEXT("134", plan_field(db, both, NULL, "documentsExamined"));
    CHECK_TEXT("0", plan_field(db, both, "{'$onlycount':true}", "documentsExamined"));
    CHECK_INT(134, count_matches(db, both, NULL));
    CHECK_TEXT("\"by_half\"", plan_field(db, both, "{" BY_SCORE "}", "plan.intersected.index"));
    CHECK_TEXT("300 303 306", find_ids(db, both, "{" BY_SCORE ",'$max':3}"));
    /* A limit ends the search. */
    CHECK_TEXT("2", plan_field(db, FOX, "{'$max':2}", "documentsExamined"));
    memory_db_close(db);
}

/* Beyond the memory of a sort, scores are sorted in temporary files, and the conditions of another
 * index are tested instead of its record ids. */
static void memory_is_bounded(void) {
    tansu_db *db = memory_db_open();
    create_index(db, "words", "{'body':'text'}", NULL);
    create_index(db, "by_quarter", "{'quarter':1}", NULL);
    for (uint32_t i = 0; i < 20000; i++) {
        char document[128];
        snprintf(document, sizeof document, "{'_id':%u,'body':'%s','quarter':%u}", (unsigned)i,
                 i % 2   ? "fox"
                 : i % 3 ? "fox hen"
                         : "hen",
                 (unsigned)(i % 4));
        save_text(db, document);
    }
    const char *both = "{'$text':{'$search':'hen'},'quarter':2}";
    CHECK_TEXT("\"by_quarter\"", plan_field(db, both, NULL, "plan.intersected.index"));
    CHECK_TEXT("", plan_field(db, both, "{'$maxMemory':65536}", "plan.intersected.index"));
    CHECK_TEXT("false", plan_field(db, both, "{'$maxMemory':65536}", "plan.exact"));
    CHECK_INT(5000, count_matches(db, both, NULL));
    CHECK_INT(5000, count_matches(db, both, "{'$maxMemory':65536}"));
    char *expected = strdup(find_ids(db, both, "{" BY_SCORE "}"));
    CHECK_TEXT(expected, find_ids(db, both, "{" BY_SCORE ",'$maxMemory':65536}"));
    CHECK(strcmp("", plan_field(db, both, "{" BY_SCORE ",'$maxMemory':65536}", "spilledBytes")) !=
          0);
    CHECK_TEXT("TOO_LARGE $text",
               find_ids(db, both, "{" BY_SCORE ",'$maxMemory':65536,'$allowDiskUse':false}"));
    free(expected);
    memory_db_close(db);
}

/* ---- Every plan gives the same ---- */

#define DOCUMENTS 400
#define WORDS 24
#define ROUNDS 60

/* put_words -- some words, the first of them often. */
static void put_words(random_source *r, char *to, size_t size, uint32_t most) {
    uint32_t count = (uint32_t)random_below(r, most + 1);
    to[0] = '\0';
    for (uint32_t i = 0; i < count; i++) {
        uint32_t word = (uint32_t)random_below(r, 1 + random_below(r, WORDS));
        size_t used = strlen(to);
        snprintf(to + used, size - used, "%s%c%c", i ? " " : "", random_chance(r, 5) ? 'W' : 'w',
                 'a' + (int)word);
    }
}

/* save_some -- changes some documents. */
static void save_some(random_source *r, tansu_db *db, uint32_t count) {
    char words[256], title[64], document[512];
    for (uint32_t i = 0; i < count; i++) {
        put_words(r, words, sizeof words, 12);
        put_words(r, title, sizeof title, 3);
        snprintf(document, sizeof document, "{'_id':%u,'body':'%s','title':['%s',7],'n':%u,'k':%u}",
                 (unsigned)random_below(r, DOCUMENTS), words, title, (unsigned)random_below(r, 6),
                 (unsigned)random_below(r, 100));
        CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, document), &call_error);
    }
}

/* put_search -- a random operand of $text. */
static void put_search(random_source *r, char *to, size_t size) {
    char words[128], a = 'a' + (char)random_below(r, 6), b = 'a' + (char)random_below(r, 6);
    switch (random_below(r, 10)) {
    case 0: snprintf(to, size, "{'$search':'\\\"w%c w%c\\\"'}", a, b); break;
    case 1: snprintf(to, size, "{'prefix':'w','path':'title'}"); break;
    case 2: snprintf(to, size, "{'fuzzy':'w%c'}", a); break;
    case 3: snprintf(to, size, "{'near':['w%c','w%c'],'within':3}", a, b); break;
    case 4: snprintf(to, size, "{'all':['w%c','w%c'],'not':['wd']}", a, b); break;
    case 5: snprintf(to, size, "{'any':['w%c',{'phrase':'w%c wa','boost':2}]}", a, b); break;
    case 6: snprintf(to, size, "{'$search':'W%c w%c','$caseSensitive':true}", a - 32, b); break;
    default:
        put_words(r, words, sizeof words, 4);
        snprintf(to, size, "{'$search':'%s%s'}", words, random_chance(r, 30) ? " -wc" : "");
    }
}

/* put_query -- a random search with other conditions. */
static void put_query(random_source *r, char *to, size_t size) {
    static const char *const others[] = {"",
                                         ",'n':1",
                                         ",'k':7",
                                         ",'k':{'$lt':4}",
                                         ",'n':{'$gt':2},'k':{'$gte':50}",
                                         ",'$or':[{'k':3},{'n':0}]",
                                         ",'_id':{'$lt':9}",
                                         ",'$expr':{'$lt':['$n','$k']}"};
    char search[256];
    put_search(r, search, sizeof search);
    snprintf(to, size, "{'$text':%s%s}", search,
             others[random_below(r, sizeof others / sizeof *others)]);
}

/* indexed -- an empty database with indexes of random options. */
static tansu_db *indexed(random_source *r) {
    static const char *const options[] = {"{'weights':{'title':3}}", "{'positions':false}",
                                          "{'partialFilter':{'n':{'$gt':0}}}", "{}"};
    tansu_db *db = memory_db_open();
    create_index(db, "words", "{'body':'text','title':'text'}",
                 options[random_below(r, sizeof options / sizeof *options)]);
    create_index(db, "by_k", "{'k':1}", NULL);
    create_index(db, "by_n", "{'n':1,'k':1}", NULL);
    return db;
}

/* next_round -- changes the documents, or begins anew. */
static tansu_db *next_round(random_source *r, tansu_db *db, uint32_t round) {
    if (round % 10 != 0) {
        save_some(r, db, 30);
        return db;
    }
    if (db)
        memory_db_close(db);
    db = indexed(r);
    save_some(r, db, 2 * DOCUMENTS);
    return db;
}

static void every_plan_gives_the_same(void) {
    static const char *const orders[] = {"", ",'$orderby':{'k':1}", ",'$orderby':{'n':-1,'k':1}",
                                         ",'$orderby':{'_id':-1}"};
    static const char *const indexes[] = {"'by_k'", "'by_n'", "'words'", "'_id'"};
    random_source r = random_start(1);
    tansu_db *db = NULL;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        db = next_round(&r, db, round);
        for (uint32_t i = 0; i < 10; i++) {
            char query[512], hints[256], window[64];
            put_query(&r, query, sizeof query);
            snprintf(window, sizeof window, "'$skip':%u,'$max':%u", (unsigned)random_below(&r, 4),
                     (unsigned)random_below(&r, 20));
            const char *order = orders[random_below(&r, sizeof orders / sizeof *orders)];
            snprintf(hints, sizeof hints, "{%s%s,'$index':false}", window, order);
            char *expected = strdup(find_ids(db, query, hints));
            snprintf(hints, sizeof hints, "{%s%s}", window, order);
            if (!CHECK_TEXT(expected, find_ids(db, query, hints)))
                check_note("query %s hints %s", query, hints);
            snprintf(hints, sizeof hints, "{%s%s,'$index':%s}", window, order,
                     indexes[random_below(&r, sizeof indexes / sizeof *indexes)]);
            if (!CHECK_TEXT(expected, find_ids(db, query, hints)))
                check_note("query %s hints %s", query, hints);
            free(expected);
            CHECK_INT(count_matches(db, query, "{'$index':false}"), count_matches(db, query, NULL));
        }
    }
    memory_db_close(db);
}

/* The best of a search are the first of all its matches by score, as another way sorts these. */
static void the_best_are_the_first_of_all(void) {
    random_source r = random_start(2);
    tansu_db *db = NULL;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        db = next_round(&r, db, round);
        for (uint32_t i = 0; i < 10; i++) {
            char query[512], hints[512], stages[1024];
            uint32_t skip = (uint32_t)random_below(&r, 4),
                     most = 1 + (uint32_t)random_below(&r, 20);
            put_query(&r, query, sizeof query);
            snprintf(
                stages, sizeof stages,
                "[{'$match':%s},{'$project':{'s':{'$meta':'textScore'}}},{'$sort':{'s':-1,'_id'"
                ":1}},{'$skip':%u},{'$limit':%u}]",
                query, skip, most);
            char *expected = strdup(pipeline_text(db, stages, NULL));
            snprintf(hints, sizeof hints,
                     "{'$orderby':{'s':{'$meta':'textScore'},'_id':1},'$skip':%u,'$max':%u,"
                     "'$fields':{'_id':1,'s':{'$meta':'textScore'}}}",
                     skip, most);
            if (!CHECK_TEXT(expected, find_documents(db, query, hints)))
                check_note("query %s hints %s", query, hints);
            free(expected);
            /* By score alone, equal ones are in the order of their insertion. */
            snprintf(stages, sizeof stages,
                     "[{'$match':%s},{'$project':{'s':{'$meta':'textScore'}}},{'$sort':{'s':-1}},"
                     "{'$skip':%u},{'$limit':%u}]",
                     query, skip, most);
            expected = strdup(pipeline_text(db, stages, NULL));
            snprintf(hints, sizeof hints,
                     "{" BY_SCORE ",'$skip':%u,'$max':%u,'$fields':{'_id':1,'s':{'$meta':"
                     "'textScore'}}}",
                     skip, most);
            if (!CHECK_TEXT(expected, find_documents(db, query, hints)))
                check_note("query %s hints %s", query, hints);
            free(expected);
        }
    }
    memory_db_close(db);
}

/* read_all -- how many documents a query, in a transaction or not, has. */
static tansu_status read_all(tansu_db *db, tansu_txn *txn, const bson_t *query, const bson_t *hints,
                             uint32_t *count) {
    tansu_cursor *cursor = NULL;
    tansu_document document;
    *count = 0;
    tansu_status status =
        tansu_find(db, txn, "c", document_of(query), document_of(hints), &cursor, NULL);
    while (status == TANSU_OK && (status = tansu_cursor_next(cursor, &document, NULL)) == TANSU_OK)
        ++*count;
    tansu_cursor_close(cursor);
    return status == TANSU_DONE ? TANSU_OK : status;
}

static void every_failing_allocation_is_reported(void) {
    static const query_case cases[] = {
        {FOX, "{}", ""},
        {"{'$text':{'all':['fox'],'not':['hen']},'n':{'$lt':9}}", "{" BY_SCORE ",'$max':2}", ""},
        {FOX, "{'$orderby':{'n':1,'s':{'$meta':'textScore'}}," SHOW_SCORE "}", ""},
        {"{'$text':{'prefix':'f'},'n':2}",
         "{'$index':'by_n',"
         "'$fields':{'n':1}}",
         ""},
        {"{'$text':{'$search':'fox'},'n':{'$gte':0}}", "{'$index':'words'," BY_SCORE "}", ""},
    };
    if (!fault_has_memory()) {
        check_skip("the linker of this system cannot make allocations fail");
        return;
    }
    tansu_db *db = notes();
    create_index(db, "by_n", "{'n':1}", NULL);
    for (size_t i = 0; i < 2 * (sizeof cases / sizeof *cases); i++) {
        bson_t *query = bson_from_text(cases[i / 2].query);
        bson_t *hints = bson_from_text(cases[i / 2].hints);
        tansu_txn *txn = i % 2 ? call_begin(db, TANSU_TXN_WRITE) : NULL;
        uint32_t expected = 0, count;
        unsigned failures = 0;
        bool met = true;
        CHECK_OK(read_all(db, txn, query, hints, &expected), NULL);
        for (unsigned nth = 1; met; nth++) {
            fault_start(FAULT_OWN_MEMORY, nth, false, 0);
            tansu_status status = read_all(db, txn, query, hints, &count);
            met = fault_occurred();
            fault_stop();
            if (status == TANSU_OK)
                CHECK_INT(expected, count);
            else
                failures += CHECK_STATUS(TANSU_E_MEMORY, status);
        }
        CHECK(failures > 8);
        if (txn)
            tansu_txn_abort(txn);
        bson_destroy(query);
        bson_destroy(hints);
    }
    memory_db_close(db);
}

/* As in MongoDB, a score alone leaves no field out. */
static void a_score_is_added_to_all_fields(void) {
    static const char *const documents[] = {"{'_id':1,'t':'tea','n':2}", NULL};
    static const struct {
        const char *fields, *expected;
    } cases[] = {
        {"{'s':{'$meta':'textScore'}}", "'_id' : 1, 't' : 'tea', 'n' : 2, 's'"},
        {"{'s':{'$meta':'textScore'},'_id':0}", "'t' : 'tea', 'n' : 2, 's'"},
        {"{'s':{'$meta':'textScore'},'t':0}", "'_id' : 1, 'n' : 2, 's'"},
        {"{'s':{'$meta':'textScore'},'t':1}", "'_id' : 1, 't' : 'tea', 's'"},
        {"{'_id':1,'s':{'$meta':'textScore'}}", "'_id' : 1, 's'"},
    };
    tansu_db *one = memory_db_with(documents);
    create_index(one, "w", "{'t':'text'}", NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char hints[128], expected[128];
        snprintf(hints, sizeof hints, "{'$fields':%s}", cases[i].fields);
        snprintf(expected, sizeof expected, "{ %s", cases[i].expected);
        for (char *at = expected; *at; at++)
            *at = *at == '\'' ? '"' : *at;
        const char *found = find_documents(one, "{'$text':{'$search':'tea'}}", hints);
        if (!CHECK(strncmp(found, expected, strlen(expected)) == 0))
            check_note("%s: %s", cases[i].fields, found);
    }
    memory_db_close(one);
}

/* A document with the lowest record id, and beginnings that no word has. */
static void what_no_word_has_adds_nothing(void) {
    static const char *const searches[] = {"{'$search':'tea zz*'}", "{'$search':'zz* tea'}",
                                           "{'any':['tea',{'fuzzy':'zzzz'}]}",
                                           "{'all':['tea'],'any':['tea',{'prefix':'zz'}]}"};
    static const char *const none[] = {"{'prefix':'zzzz'}", "{'all':['tea','zz*']}",
                                       "{'fuzzy':'zzzz','distance':2}"};
    static const char *const documents[] = {"{'_id':1,'t':'tea coffee'}", NULL};
    const char *hints = "{'$orderby':{'s':{'$meta':'textScore'}},'$max':2}";
    char query[128];
    tansu_db *one = memory_db_with(documents), *empty = memory_db_open();
    create_index(one, "w", "{'t':'text'}", NULL);
    create_index(empty, "w", "{'t':'text'}", NULL);
    for (size_t i = 0; i < sizeof searches / sizeof *searches; i++) {
        snprintf(query, sizeof query, "{'$text':%s}", searches[i]);
        CHECK_TEXT("1", find_ids(one, query, hints));
        CHECK_TEXT("1", find_ids(one, query, NULL));
        CHECK_TEXT("", find_ids(empty, query, hints));
    }
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        snprintf(query, sizeof query, "{'$text':%s}", none[i]);
        CHECK_TEXT("", find_ids(one, query, hints));
        CHECK_TEXT("", find_ids(empty, query, hints));
    }
    /* Where only the length counts, or only whether a word is there. */
    static const char *const two[] = {"{'_id':1,'t':'bean roasted for an hour, arabic'}",
                                      "{'_id':2,'t':'arabic bean'}", NULL};
    static const char *const formulas[] = {"'b':1", "'k1':0", "'k1':0,'b':1", "'b':0"};
    tansu_db *pair = memory_db_with(two);
    create_index(pair, "w", "{'t':'text'}", NULL);
    for (size_t i = 0; i < sizeof formulas / sizeof *formulas; i++) {
        const char *best = strcmp(formulas[i], "'b':1") == 0 ? "2" : "1";
        snprintf(query, sizeof query, "{'$text':{'all':[{'any':['zz*','bean']},'arabic'],%s}}",
                 formulas[i]);
        CHECK_TEXT(best,
                   find_ids(pair, query, "{'$orderby':{'s':{'$meta':'textScore'}},'$max':1}"));
        snprintf(query, sizeof query, "{'$text':{'any':['zz*','bean','arabic'],%s}}", formulas[i]);
        CHECK_TEXT(best,
                   find_ids(pair, query, "{'$orderby':{'s':{'$meta':'textScore'}},'$max':1}"));
    }
    memory_db_close(pair);
    memory_db_close(one);
    memory_db_close(empty);
}

int main(void) {
    RUN(it_finds_documents);
    RUN(it_stands_at_the_top);
    RUN(it_needs_an_index_of_words);
    RUN(a_collection_has_one);
    RUN(it_is_for_text_only);
    RUN(groups_do_not_read_it);
    RUN(scores_are_metadata);
    RUN(pipelines_take_it_first);
    RUN(writes_use_it);
    RUN(transactions_see_their_own_words);
    RUN(it_is_there_after_opening);
    RUN(readers_follow_it);
    RUN(explain_shows_the_search);
    RUN(other_indexes_help);
    RUN(memory_is_bounded);
    RUN(every_failing_allocation_is_reported);
    RUN(every_plan_gives_the_same);
    RUN(the_best_are_the_first_of_all);
    RUN(a_score_is_added_to_all_fields);
    RUN(what_no_word_has_adds_nothing);
    return check_finish();
}
