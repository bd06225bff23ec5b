/*
 * test_mongo_data.c -- data that MongoDB stores, and that looks like something else: keys that
 * begin with `$`, a null `_id`, and numbers of results of any type. And where the
 * errors of pipelines are.
 */
#include "support/calls/call.h"
#include "support/calls/query_calls.h"
#include "support/check.h"
#include "support/doc_examples.h"

#include <stdlib.h>
#include <string.h>

static tansu_db *db;

/* ask -- a request and its answer, with ' for ". */
static void ask(const char *request, const char *answer) {
    char *texts[2] = {strdup(request), strdup(answer)};
    for (int i = 0; i < 2; i++) {
        REQUIRE(texts[i] != NULL);
        for (char *at = texts[i]; (at = strchr(at, '\'')) != NULL;)
            *at = '"';
    }
    examples_ask(db, texts[0], texts[1]);
    free(texts[0]);
    free(texts[1]);
}

#define OK_IDS(list) "{'ok': true, 'ids': " list "}"
#define OK_DOCS(list) "{'ok': true, 'documents': " list "}"
#define BAD(code, path) \
    "{'ok': false, 'error': {'code': '" code "', 'message': '…', 'path': '" path "'}}"

/* ---- Keys that begin with `$` ---- */

static void save_dollars(void) {
    db = call_open(NULL);
    ask("{'op': 'save', 'collection': 'c', 'documents': [{'_id': 1, 'a': {'$x': 1}}, "
        "{'_id': 2, 'a': {'$x': 2, '$y': 3}}, {'_id': 3, 'a': [{'$x': 1}, {'$gt': 0}]}, "
        "{'_id': 4, '$x': 1, 'a': {'\\u0024oid': 'zz'}}, {'_id': 5, 'a': {'$ref': 'c', '$id': "
        "1}}]}",
        OK_IDS("[1, 2, 3, 4, 5]"));
}

/* The same with and without an index. */
static void queries_of_dollars(void) {
    CHECK_TEXT("1 3", find_ids(db, "{'a': {'$eq': {'$x': 1}}}", NULL));
    CHECK_TEXT("3", find_ids(db, "{'a': {'$eq': {'$gt': 0}}}", NULL));
    CHECK_TEXT("2 4 5", find_ids(db, "{'a': {'$ne': {'$x': 1}}}", NULL));
    ask("{'op': 'count', 'collection': 'c', 'query': {'a': {'$eq': {'\\u0024oid': 'zz'}}}}",
        "{'ok': true, 'count': 1}");
    CHECK_TEXT("2 4 5", find_ids(db, "{'a': {'$gt': {'$x': 1}}}", NULL));
    CHECK_TEXT("1 3", find_ids(db, "{'a.$x': 1}", NULL));
    CHECK_TEXT("3", find_ids(db, "{'a': {'$elemMatch': {'$eq': {'$x': 1}}}}", NULL));
    CHECK_TEXT("5", find_ids(db, "{'a.$id': 1}", NULL));
    CHECK_TEXT("5", find_ids(db, "{'a': {'$in': [{'$ref': 'c', '$id': 1}]}}", NULL));
    CHECK_TEXT("2", find_ids(db, "{'a.$y': {'$exists': true}}", NULL));
    CHECK_TEXT("4",
               find_ids(db, "{'$expr': {'$eq': [{'$getField': {'$literal': '$x'}}, 1]}}", NULL));
    ask("{'op': 'find', 'collection': 'c', 'query': {'a': {'$x': 1}}}",
        BAD("INVALID_QUERY", "a.$x"));
    ask("{'op': 'find', 'collection': 'c', 'query': {'$x': 1}}", BAD("INVALID_QUERY", "$x"));
    ask("{'op': 'find', 'collection': 'c', 'query': {'a': {'\\u0024oid': 'zz'}}}",
        BAD("INVALID_QUERY", "a.$oid"));
    ask("{'op': 'find', 'collection': 'c', 'query': {'a': {'$in': [{'$x': 1}]}}}",
        BAD("INVALID_QUERY", "a.$in"));
    ask("{'op': 'distinct', 'collection': 'c', 'path': '$x'}", "{'ok': true, 'values': [1]}");
    ask("{'op': 'find', 'collection': 'c', 'query': {'a.$y': 3}, 'hints': {'$fields': {'y': "
        "{'$getField': {'field': {'$literal': '$y'}, 'input': '$a'}}}}}",
        OK_DOCS("[{'_id': 2, 'y': 3}]"));
    ask("{'op': 'find', 'collection': 'c', 'hints': {'$fields': {'a.$y': 1}}}",
        BAD("INVALID_QUERY", "hints.$fields.a.$y"));
}

static void a_query_finds_keys_that_begin_with_a_dollar(void) {
    save_dollars();
    queries_of_dollars();
    ask("{'op': 'createIndex', 'collection': 'c', 'name': 'a', 'keys': {'a': 1}}",
        "{'ok': true, 'name': 'a'}");
    ask("{'op': 'createIndex', 'collection': 'c', 'name': 'x', 'keys': {'a.$x': 1}}",
        "{'ok': true, 'name': 'x'}");
    queries_of_dollars();
    ask("{'op': 'dropIndex', 'collection': 'c', 'name': 'x'}", "{'ok': true}");
    ask("{'op': 'createIndex', 'collection': 'c', 'name': 'all', 'keys': {'**': 1}}",
        "{'ok': true, 'name': 'all'}");
    queries_of_dollars();
    ask("{'op': 'createIndex', 'collection': 'c', 'name': 't', 'keys': {'$x': 1}}",
        BAD("INVALID_INDEX", "$x"));
    call_close(db);
}

static void answers_tell_documents_from_values(void) {
    save_dollars();
    ask("{'op': 'find', 'collection': 'c', 'query': {'_id': 4}}",
        OK_DOCS("[{'_id': 4, '$x': 1, 'a': {'\\u0024oid': 'zz'}}]"));
    ask("{'op': 'save', 'collection': 'c', 'documents': [{'_id': 6, 'a': {'$oid': 'zz'}}]}",
        "{'ok': false, 'error': {'code': 'INVALID_JSON', 'message': '…', …}}");
    ask("{'op': 'save', 'collection': 'c', 'documents': [{'_id': {'$x': 1}}]}",
        "{'ok': false, 'error': {'code': 'INVALID_DOCUMENT', 'message': '…', 'path': '_id.$x', "
        "'document': 0}}");
    call_close(db);
}

static void pipelines_make_keys_that_begin_with_a_dollar(void) {
    save_dollars();
    ask("{'op': 'update', 'collection': 'c', 'query': {'_id': 1}, 'update': [{'$replaceWith': "
        "{'$setField': {'field': {'$literal': '$price'}, 'input': '$$ROOT', 'value': 5}}}]}",
        "{'ok': true, 'matched': 1, 'modified': 1, 'upserted': []}");
    ask("{'op': 'aggregate', 'collection': 'c', 'pipeline': [{'$match': {'_id': 1}}, {'$set': "
        "{'p': "
        "{'$getField': {'$literal': '$price'}}, 'l': {'$literal': {'$x': 1}}}}, {'$out': 'd'}]}",
        OK_DOCS("[]"));
    ask("{'op': 'find', 'collection': 'd', 'query': {}}",
        OK_DOCS("[{'_id': 1, 'a': {'$x': 1}, '$price': 5, 'p': 5, 'l': {'$x': 1}}]"));
    ask("{'op': 'update', 'collection': 'e', 'query': {'_id': 1}, 'update': {'$setOnInsert': "
        "{'$x': 1}, '$set': {'a.$y': 2}}, 'hints': {'$upsert': true}}",
        "{'ok': true, 'matched': 0, 'modified': 0, 'upserted': [1]}");
    ask("{'op': 'find', 'collection': 'e', 'query': {}}",
        OK_DOCS("[{'_id': 1, '$x': 1, 'a': {'$y': 2}}]"));
    call_close(db);
}

/* ---- A null `_id` ---- */

static void a_null_id_is_a_value(void) {
    db = call_open(NULL);
    ask("{'op': 'insert', 'collection': 'c', 'documents': [{'_id': null, 'v': 1}, {'_id': 1}]}",
        OK_IDS("[null, 1]"));
    ask("{'op': 'insert', 'collection': 'c', 'documents': [{'_id': null}]}",
        "{'ok': false, 'error': {'code': 'EXISTS', 'message': '…', 'path': '_id', 'document': 0}}");
    ask("{'op': 'insert', 'collection': 'c', 'documents': [{'v': 2}]}", "{'ok': true, 'ids': …}");
    ask("{'op': 'get', 'collection': 'c', 'id': null}",
        "{'ok': true, 'document': {'_id': null, 'v': 1}}");
    CHECK_TEXT("null", find_ids(db, "{'_id': null}", NULL));
    CHECK_TEXT("null 1", find_ids(db, "{'_id': {'$in': [null, 1]}}", NULL));
    CHECK_TEXT("null", find_ids(db, "{'_id': {'$TYPE': 'null'}}", NULL));
    CHECK_TEXT("1", find_ids(db, "{'_id': {'$lte': 1}}", "{'$orderby': {'_id': 1}}"));
    CHECK_TEXT("null 1", find_ids(db, "{'v': {'$ne': 2}}", "{'$orderby': {'_id': 1}}"));
    ask("{'op': 'update', 'collection': 'c', 'query': {'_id': null}, 'update': {'$inc': {'v': 1}}}",
        "{'ok': true, 'matched': 1, 'modified': 1, 'upserted': []}");
    ask("{'op': 'update', 'collection': 'c', 'query': {'_id': 1}, 'update': {'$set': {'_id': "
        "null}}}",
        "{'ok': false, 'error': {'code': 'INVALID_ID', 'message': '…', 'path': '_id'}}");
    ask("{'op': 'save', 'collection': 'c', 'documents': [{'_id': null, 'v': 9}]}",
        OK_IDS("[null]"));
    ask("{'op': 'remove', 'collection': 'c', 'query': {'_id': null}}",
        "{'ok': true, 'removed': 1}");
    ask("{'op': 'update', 'collection': 'c', 'query': {'_id': null}, 'update': {'$set': {'v': 3}}, "
        "'hints': {'$upsert': true}}",
        "{'ok': true, 'matched': 0, 'modified': 0, 'upserted': [null]}");
    ask("{'op': 'find', 'collection': 'c', 'query': {'v': 3}}", OK_DOCS("[{'_id': null, 'v': 3}]"));
    call_close(db);
}

static void pipelines_write_a_null_id(void) {
    db = call_open(NULL);
    ask("{'op': 'insert', 'collection': 'c', 'documents': [{'_id': 1, 'v': 2}, {'_id': 2, 'v': "
        "3}]}",
        OK_IDS("[1, 2]"));
    for (int i = 0; i < 2; i++) {
        ask("{'op': 'aggregate', 'collection': 'c', 'pipeline': [{'$group': {'_id': null, 'sum': "
            "{'$sum': '$v'}}}, {'$merge': 'm'}]}",
            OK_DOCS("[]"));
        ask("{'op': 'aggregate', 'collection': 'c', 'pipeline': [{'$group': {'_id': null, 'sum': "
            "{'$sum': '$v'}}}, {'$out': 'o'}]}",
            OK_DOCS("[]"));
    }
    ask("{'op': 'find', 'collection': 'm', 'query': {}}", OK_DOCS("[{'_id': null, 'sum': 5}]"));
    ask("{'op': 'find', 'collection': 'o', 'query': {}}", OK_DOCS("[{'_id': null, 'sum': 5}]"));
    ask("{'op': 'aggregate', 'collection': 'c', 'pipeline': [{'$match': {'_id': 1}}, {'$lookup': "
        "{'from': 'm', 'localField': 'none', 'foreignField': '_id', 'as': 'l'}}]}",
        OK_DOCS("[{'_id': 1, 'v': 2, 'l': [{'_id': null, 'sum': 5}]}]"));
    ask("{'op': 'save', 'collection': 'c', 'documents': [{'_id': 3, 'r': null}]}", OK_IDS("[3]"));
    ask("{'op': 'find', 'collection': 'c', 'query': {'_id': 3}, 'hints': {'$do': {'r': {'$join': "
        "'m'}}}}",
        OK_DOCS("[{'_id': 3, 'r': null}]"));
    call_close(db);
}

/* ---- Numbers of results ---- */

static void numbers_of_results_have_any_type(void) {
    static const char *const two[] = {"2", "2.0", "{'$numberLong': '2'}",
                                      "{'$numberDecimal': '2.00'}"};
    char request[300];
    db = call_open(NULL);
    ask("{'op': 'insert', 'collection': 'c', 'documents': [{'_id': 1}, {'_id': 2}, {'_id': 3}]}",
        OK_IDS("[1, 2, 3]"));
    for (size_t i = 0; i < sizeof two / sizeof *two; i++) {
        snprintf(request, sizeof request, "{'$max': %s}", two[i]);
        CHECK_TEXT("1 2", find_ids(db, "{}", request));
        snprintf(request, sizeof request, "{'$limit': %s, '$skip': %s}", two[i], two[i]);
        CHECK_TEXT("3", find_ids(db, "{}", request));
        snprintf(request, sizeof request,
                 "{'op': 'aggregate', 'collection': 'c', 'pipeline': [{'$skip': 0.0}, {'$limit': "
                 "%s}, {'$count': 'n'}, {'$skip': -0.0}]}",
                 two[i]);
        ask(request, OK_DOCS("[{'n': 2}]"));
        snprintf(request, sizeof request,
                 "{'op': 'remove', 'collection': 'none', 'query': {}, 'hints': {'$max': %s}}",
                 two[i]);
        ask(request, "{'ok': true, 'removed': 0}");
    }
    CHECK_TEXT("2 3", find_ids(db, "{}", "{'$skip': 1.7}"));
    CHECK_TEXT("3", find_ids(db, "{}", "{'$skip': {'$numberDecimal': '1.7'}}"));
    ask("{'op': 'find', 'collection': 'c', 'hints': {'$max': 1.7}}",
        BAD("INVALID_QUERY", "hints.$max"));
    ask("{'op': 'find', 'collection': 'c', 'hints': {'$max': -1}}",
        BAD("INVALID_QUERY", "hints.$max"));
    ask("{'op': 'find', 'collection': 'c', 'hints': {'$skip': -1}}",
        BAD("INVALID_QUERY", "hints.$skip"));
    ask("{'op': 'aggregate', 'collection': 'c', 'pipeline': [{'$limit': 1.5}]}",
        BAD("INVALID_QUERY", "0.$limit"));
    ask("{'op': 'aggregate', 'collection': 'c', 'pipeline': [{'$limit': 0}]}",
        BAD("INVALID_QUERY", "0.$limit"));
    call_close(db);
}

/* ---- Where an error is ---- */

static void errors_of_pipelines_name_the_stage(void) {
    static const struct {
        const char *stages, *code, *path;
    } cases[] = {
        {"[{'$set': {'y': 1}}, {'$project': {'x': {'$divide': [1, '$z']}}}]", "INVALID_QUERY",
         "1.$project.x.$divide"},
        {"[{'$set': {'y': {'w': {'$add': [1, '$t']}}}}, {'$limit': 1}]", "INVALID_QUERY",
         "0.$set.y.w.$add"},
        {"[{'$set': {'l.w': {'$add': [1, '$t']}}}]", "INVALID_QUERY", "0.$set.l.w.$add"},
        {"[{'$limit': 1}, {'$group': {'_id': {'$add': [1, '$t']}}}, {'$limit': 1}]",
         "INVALID_QUERY", "1.$group.$add"},
        {"[{'$limit': 1}, {'$match': {'$expr': {'$add': [1, '$t']}}}]", "INVALID_QUERY",
         "1.$match.$expr.$add"},
        {"[{'$limit': 1}, {'$lookup': {'from': 'c', 'as': 'n', 'pipeline': [{'$limit': 1}, "
         "{'$set': {'x': {'$add': [1, '$t']}}}]}}, {'$limit': 1}]",
         "INVALID_QUERY", "1.$lookup.pipeline.1.$set.x.$add"},
        {"[{'$facet': {'one': [{'$unset': 'q'}, {'$set': {'x': {'$add': [1, '$t']}}}]}}]",
         "INVALID_QUERY", "0.$facet.one.1.$set.x.$add"},
        {"[{'$limit': 1}, {'$replaceWith': '$t'}]", "INVALID_QUERY", "1.$replaceWith"},
        {"[{'$limit': 1}, {'$merge': {'into': 'c', 'whenMatched': [{'$set': {'y': 1}}, "
         "{'$set': {'x': {'$add': [1, '$t']}}}]}}]",
         "INVALID_QUERY", "1.$merge.whenMatched.1.$set.x.$add"},
        {"[{'$limit': 1}, {'$merge': {'into': 'c', 'whenMatched': [{'$set': {'y': 1}}, "
         "{'$match': {}}]}}]",
         "INVALID_QUERY", "1.$merge.whenMatched.1.$match"},
        {"[{'$match': {'$or': [{'a': 1}, {'$expr': {'$nope': 1}}]}}]", "INVALID_QUERY",
         "0.$match.$or.1.$expr.$nope"},
    };
    char request[600], answer[300];
    db = call_open(NULL);
    ask("{'op': 'save', 'collection': 'c', 'documents': [{'_id': 1, 't': 'text', 'z': 0, 'l': "
        "[{'w': 1}]}]}",
        OK_IDS("[1]"));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(request, sizeof request, "{'op': 'aggregate', 'collection': 'c', 'pipeline': %s}",
                 cases[i].stages);
        snprintf(answer, sizeof answer, BAD("%s", "%s"), cases[i].code, cases[i].path);
        ask(request, answer);
    }
    ask("{'op': 'update', 'collection': 'c', 'query': {}, 'update': [{'$set': {'y': 1}}, "
        "{'$match': "
        "{}}]}",
        BAD("INVALID_QUERY", "$pipeline.1.$match"));
    ask("{'op': 'update', 'collection': 'c', 'query': {}, 'update': [{'$set': {'y': {'$add': [1, "
        "'$t']}}}]}",
        BAD("INVALID_QUERY", "$pipeline.0.$set.y.$add"));
    call_close(db);
}

static void errors_of_queries_and_hints_name_the_place(void) {
    db = call_open(NULL);
    ask("{'op': 'find', 'collection': 'c', 'query': {'$or': [{'a': 1}, {'$and': [{'$expr': "
        "{'$nope': "
        "1}}]}]}}",
        BAD("INVALID_QUERY", "$or.1.$and.0.$expr.$nope"));
    ask("{'op': 'find', 'collection': 'c', 'query': {'$or': [{'a': 1}, {'$jsonSchema': {'type': "
        "5}}]}}",
        BAD("INVALID_QUERY", "$or.1.$jsonSchema.type"));
    ask("{'op': 'aggregate', 'collection': 'c', 'pipeline': [], 'hints': {'$collation': 'german'}}",
        BAD("INVALID_QUERY", "hints.$collation"));
    ask("{'op': 'aggregate', 'collection': 'c', 'pipeline': [], 'hints': {'$nope': 1}}",
        BAD("INVALID_QUERY", "hints.$nope"));
    ask("{'op': 'aggregate', 'collection': 'c', 'pipeline': [], 'hints': {'$maxMemory': 1}}",
        BAD("INVALID_QUERY", "hints.$maxMemory"));
    ask("{'op': 'aggregate', 'collection': 'c', 'pipeline': [], 'hints': {'$maxMemory': 65536}}",
        OK_DOCS("[]"));
    call_close(db);
}

int main(void) {
    RUN(a_query_finds_keys_that_begin_with_a_dollar);
    RUN(answers_tell_documents_from_values);
    RUN(pipelines_make_keys_that_begin_with_a_dollar);
    RUN(a_null_id_is_a_value);
    RUN(pipelines_write_a_null_id);
    RUN(numbers_of_results_have_any_type);
    RUN(errors_of_pipelines_name_the_stage);
    RUN(errors_of_queries_and_hints_name_the_place);
    return check_finish();
}
