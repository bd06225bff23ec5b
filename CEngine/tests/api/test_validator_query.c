/*
 * test_validator_query.c -- collections whose documents satisfy a query: what is one, what it may
 * say, and which of its conditions the error names.
 */
#include "support/calls/backup_calls.h"
#include "support/calls/call.h"
#include "support/calls/dump_calls.h"
#include "support/calls/maintenance_calls.h"
#include "support/calls/query_calls.h"
#include "support/check.h"
#include "support/fault/fault_injection.h"
#include "support/libraries.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* set -- sets the validator of "c". */
static tansu_status set(tansu_db *db, const char *validator) {
    char options[2000];
    snprintf(options, sizeof options, "{'validator': %s}", validator);
    return call_ensure(db, NULL, "c", options);
}

/* limited -- a memory store whose collection "c" has a validator. */
static tansu_db *limited(const char *validator) {
    tansu_db *db = memory_db_open();
    CHECK_OK(set(db, validator), &call_error);
    return db;
}

/* answers -- whether the answer of a command contains a text; single quotes stand for double ones. */
static bool answers(tansu_db *db, const char *command, const char *text) {
    char request[1000], wanted[300], *answer = NULL;
    snprintf(request, sizeof request, "%s", command);
    snprintf(wanted, sizeof wanted, "%s", text);
    for (char *at = request; *at != 0; at++)
        *at = *at == '\'' ? '"' : *at;
    for (char *at = wanted; *at != 0; at++)
        *at = *at == '\'' ? '"' : *at;
    (void)tansu_execute_json(db, request, &answer);
    bool found = answer != NULL && strstr(answer, wanted) != NULL;
    if (!found)
        fprintf(stderr, "%s: %s\n", request, answer == NULL ? "" : answer);
    tansu_free(answer);
    return found;
}

/* ---- Schemas and queries ---- */

static void a_document_is_a_schema_or_a_query(void) {
    /* What is set, a document that satisfies it, one that does not, and the error's context. */
    static const char *const cases[][4] = {
        /* Schemas. */
        {"{'required': ['a']}", "{'a': 1}", "{'b': 1}", "a: required"},
        {"{'$jsonSchema': {'required': ['a']}}", "{'a': 1}", "{'b': 1}", "a: required"},
        {"{'title': 'x', 'type': 'object', 'required': ['a']}", "{'a': 1}", "{}", "a: required"},
        {"{'$schema': 'https://json-schema.org/draft/2020-12/schema', 'other': 1, 'required': "
         "['a']}",
         "{'a': 1}", "{'b': 1}", "a: required"},
        {"{'$schema': 'https://json-schema.org/draft/2020-12/schema', 'properties': {'$price': "
         "{'type': 'integer'}}}",
         "{'$price': 1}", "{'$price': 'x'}", "$price: type"},
        {"{'$jsonSchema': {'properties': {'$price': {'type': 'integer'}}}}", "{'$price': 1}",
         "{'$price': 'x'}", "$price: type"},
        {"{'$ref': '#/$defs/x', '$defs': {'x': {'required': ['a']}}}", "{'a': 1}", "{}",
         "a: required"},
        {"{'not': {'$ref': '#/$defs/x'}, '$defs': {'x': {'required': ['a']}}}", "{}", "{'a': 1}",
         ": not"},
        /* Queries. */
        {"{'a': {'$gte': 0}}", "{'a': 0}", "{'a': -1}", "a: $gte"},
        {"{'a': {'$gte': 0, '$lt': 9}}", "{'a': 8}", "{'a': 9}", "a: $lt"},
        {"{'a': 1, 'b': {'c': 2}}", "{'a': 1, 'b': {'c': 2}}", "{'a': 1}", "b: $eq"},
        {"{'$expr': {'$lt': ['$a', '$b']}}", "{'a': 1, 'b': 2}", "{'a': 2, 'b': 2}", "$expr"},
        {"{'$and': [{'a': 1}, {'b.c': {'$exists': true}}]}", "{'a': 1, 'b': {'c': 1}}", "{'a': 1}",
         "b.c: $exists"},
        {"{'$or': [{'a': 1}, {'b': 1}]}", "{'b': 1}", "{'a': 2}", "$or"},
        {"{'$nor': [{'a': 1}]}", "{'a': 2}", "{'a': 1}", "$nor"},
        {"{'$jsonSchema': {'required': ['a']}, 'b': 1}", "{'a': 1, 'b': 1}", "{'b': 1}",
         "a: required"},
        {"{'$and': [{'$jsonSchema': {'properties': {'p': {'minimum': 0}}}}]}", "{'p': 0}",
         "{'p': -1}", "p: minimum"},
        {"{'s': {'$regex': '^A', '$options': 'i'}}", "{'s': 'abc'}", "{'s': 'bc'}", "s: $regex"},
        {"{'l': {'$elemMatch': {'x': {'$gt': 1}}}}", "{'l': [{'x': 2}]}", "{'l': [{'x': 1}]}",
         "l: $elemMatch"},
        {"{'a': {'$not': {'$gt': 1}}}", "{'a': 1}", "{'a': 2}", "a: $not"},
        {"{'$expr': {'$lt': ['$d', '$$NOW']}}", "{'d': {'$date': '2000-01-01T00:00:00Z'}}",
         "{'d': {'$date': '9000-01-01T00:00:00Z'}}", "$expr"},
        /* Fields with names of keywords. */
        {"{'type': {'$in': ['cat', 'dog']}}", "{'type': 'dog'}", "{'type': 'cow'}", "type: $in"},
        {"{'title': {'$exists': true}}", "{'title': 1}", "{}", "title: $exists"},
        {"{'$and': [{'title': 'x'}]}", "{'title': 'x'}", "{'title': 'y'}", "title: $eq"},
        {"{'items': {'$size': 2}, 'format': 'a'}", "{'items': [1, 2], 'format': 'a'}",
         "{'items': [1, 2]}", "format: $eq"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tansu_db *db = limited(cases[i][0]);
        CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, cases[i][1]), &call_error);
        CHECK_STATUS(TANSU_E_INVALID_DOCUMENT, call_save(db, NULL, "c", TANSU_SAVE, cases[i][2]));
        CHECK_TEXT(cases[i][3], call_error.context);
        CHECK(strstr(call_error.message, "of collection \"c\": ") != NULL);
        CHECK_INT(1, call_count(db, NULL, "c", "{}"));
        call_close(db);
    }
}

static void what_may_be_either_is_refused(void) {
    static const char *const cases[][2] = {
        {"{'title': 'x'}", "title"},
        {"{'default': 1}", "default"},
        {"{'required': ['a'], 'propertys': {'a': {}}}", "propertys"},
        {"{'age': 1, 'type': 'dog'}", "age"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tansu_db *db = memory_db_open();
        CHECK_STATUS(TANSU_E_INVALID_QUERY, set(db, cases[i][0]));
        CHECK_TEXT(cases[i][1], call_error.context);
        CHECK(strstr(call_error.message, "{\"$jsonSchema\": {...}} for a schema, "
                                         "{\"$and\": [{...}]} for a query") != NULL);
        CHECK_INT(0, call_count(db, NULL, "c", "{}"));
        call_close(db);
    }
    /* Both ways of writing it are taken. */
    tansu_db *db = limited("{'$jsonSchema': {'title': 'x'}}");
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1}"), &call_error);
    CHECK_STATUS(TANSU_E_INVALID_DOCUMENT, set(db, "{'$and': [{'title': 'x'}]}"));
    CHECK_TEXT("title: $eq", call_error.context);
    CHECK(strstr(call_error.message, "it is the document with the _id 1; fix it first") != NULL);
    call_close(db);
}

static void bad_queries_are_refused(void) {
    static const char *const cases[][2] = {
        {"{'a': {'$gtx': 0}}", "a.$gtx"},
        {"{'$text': {'$search': 'x'}}", "$text"},
        {"{'$where': 'true'}", "$where"},
        {"{'$expr': {'$lt': ['$a', {'$rand': {}}]}}", "$rand"},
        {"{'$and': [{'$expr': {'$gt': [{'$rand': {}}, 0.5]}}]}", "$rand"},
        {"{'$sampleRate': 1}", "$sampleRate"},
        {"{'a': 1, '$nor': [{'$sampleRate': 0.5}]}", "$sampleRate"},
        {"{'a': {'$gt': 1}, '$do': {'a': {'$join': 'd'}}}", "$do"},
        {"{'$expr': {'$no': 1}}", NULL},
        {"{'a': {'$in': {'$query': {'$from': 'd', '$field': 'x'}}}}", NULL},
        {"[]", "validator"},
        {"'x'", "validator"},
        {"true", "validator"},
    };
    tansu_db *db = memory_db_open();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK_STATUS(TANSU_E_INVALID_QUERY, set(db, cases[i][0]));
        if (cases[i][1] != NULL)
            CHECK_TEXT(cases[i][1], call_error.context);
        CHECK_TEXT("NOT_FOUND", call_collection(db, NULL, "c"));
    }
    call_close(db);
}

static void an_expression_that_fails_is_a_violation(void) {
    tansu_db *db = limited("{'$expr': {'$gt': [{'$divide': ['$a', '$b']}, 1]}}");
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'a': 4, 'b': 2}"), &call_error);
    CHECK_STATUS(TANSU_E_INVALID_DOCUMENT,
                 call_save(db, NULL, "c", TANSU_SAVE, "{'a': 4, 'b': 0}"));
    CHECK(strstr(call_error.message, "violates the validator of collection \"c\": ") != NULL);
    CHECK_INT(1, call_count(db, NULL, "c", "{}"));
    call_close(db);
}

static void the_time_is_that_of_the_save(void) {
    tansu_db *db = limited("{'$expr': {'$lte': ['$d', '$$NOW']}}");
    const struct timespec pause = {.tv_nsec = 5000000};
    for (int i = 0; i < 3; i++) {
        CHECK(answers(db,
                      "{'op': 'update', 'collection': 'c', 'query': {'_id': 1}, 'update': "
                      "[{'$set': {'d': '$$NOW'}}], 'hints': {'$upsert': true}}",
                      "'ok': true"));
        nanosleep(&pause, NULL);
    }
    CHECK(answers(db,
                  "{'op': 'update', 'collection': 'c', 'query': {'_id': 1}, 'update': "
                  "[{'$set': {'d': {'$add': ['$$NOW', 3600000]}}}]}",
                  "'code': 'INVALID_DOCUMENT'"));
    call_close(db);
}

/* ---- Ways of writing ---- */

static void every_way_of_writing_is_checked(void) {
    static const char *const writes[] = {
        "{'op': 'save', 'collection': 'c', 'documents': [{'_id': 7, 'n': 1}, {'_id': 8, 'n': -1}]}",
        "{'op': 'insert', 'collection': 'c', 'documents': [{'_id': 7, 'n': 1}, {'n': -1}]}",
        "{'op': 'update', 'collection': 'c', 'query': {}, 'update': {'$inc': {'n': -2}}}",
        "{'op': 'update', 'collection': 'c', 'query': {'_id': 2}, 'replace': {'n': 'x'}}",
        "{'op': 'update', 'collection': 'c', 'query': {'_id': 9}, 'update': {'$set': {'n': -1}}, "
        "'hints': {'$upsert': true}}",
        "{'op': 'update', 'collection': 'c', 'query': {}, 'update': [{'$unset': 'n'}]}",
        "{'op': 'findAndModify', 'collection': 'c', 'query': {'_id': 1}, 'update': {'$unset': "
        "{'n': 1}}}",
        "{'op': 'findAndModify', 'collection': 'c', 'query': {'_id': 1}, 'replace': {}}",
        "{'op': 'aggregate', 'collection': 'd', 'pipeline': [{'$merge': {'into': 'c'}}]}",
        "{'op': 'aggregate', 'collection': 'd', 'pipeline': [{'$merge': {'into': 'c', "
        "'whenNotMatched': 'discard', 'whenMatched': [{'$set': {'n': -1}}]}}]}",
        "{'op': 'aggregate', 'collection': 'd', 'pipeline': [{'$out': 'c'}]}",
        "{'op': 'transaction', 'commands': [{'op': 'remove', 'collection': 'c', 'id': 1}, {'op': "
        "'save', 'collection': 'c', 'documents': [{'_id': 1, 'n': -1}]}]}",
    };
    for (size_t i = 0; i < sizeof writes / sizeof *writes; i++) {
        tansu_db *db = limited("{'n': {'$gte': 0}}");
        save_text(db, "{'_id': 1, 'n': 1}");
        save_text(db, "{'_id': 2, 'n': 2}");
        CHECK_OK(call_save(db, NULL, "d", TANSU_SAVE, "{'_id': 2, 'n': -2}"), &call_error);
        CHECK(answers(db, writes[i], "'code': 'INVALID_DOCUMENT'"));
        CHECK(answers(db, writes[i], "'path': 'n: $gte'"));
        CHECK(answers(db, "{'op': 'find', 'collection': 'c'}",
                      "'documents': [{'_id': 1, 'n': 1}, {'_id': 2, 'n': 2}]"));
        CHECK(strstr(call_collection(db, NULL, "c"), "$gte") != NULL);
        CHECK(maintenance_clean(db));
        call_close(db);
    }
}

static void an_update_names_the_document(void) {
    tansu_db *db = limited("{'n': {'$gte': 0}}");
    save_text(db, "{'_id': 1, 'n': 5}");
    save_text(db, "{'_id': 'two', 'n': 2}");
    CHECK(answers(db,
                  "{'op': 'update', 'collection': 'c', 'query': {}, 'update': {'$inc': {'n': -3}}}",
                  "does not hold; it is the document with the _id \\'two\\''"));
    call_close(db);
}

static void out_keeps_the_validator(void) {
    tansu_db *db = limited("{'n': {'$gte': 0}}");
    save_text(db, "{'_id': 1, 'n': 1}");
    CHECK_OK(call_save(db, NULL, "d", TANSU_SAVE, "{'_id': 2, 'n': 2}"), &call_error);
    CHECK(answers(db, "{'op': 'aggregate', 'collection': 'd', 'pipeline': [{'$out': 'c'}]}",
                  "'ok': true"));
    CHECK(answers(db, "{'op': 'find', 'collection': 'c'}", "'documents': [{'_id': 2, 'n': 2}]"));
    CHECK_STATUS(TANSU_E_INVALID_DOCUMENT, call_save(db, NULL, "c", TANSU_SAVE, "{'n': -1}"));
    call_close(db);
}

static void loads_are_checked(void) {
    tansu_db *db = limited("{'n': {'$gte': 0}}");
    const char *lines = "{\"_id\": 5, \"n\": 1}\n{\"_id\": 6, \"n\": -1}\n";
    CHECK_STATUS(TANSU_E_INVALID_DOCUMENT,
                 load_text(db, lines, strlen(lines), "{'collection': 'c', 'atomic': true}"));
    CHECK_TEXT("n: $gte", call_error.context);
    CHECK_INT(2, call_error.offset);
    CHECK_INT(0, call_count(db, NULL, "c", "{}"));
    call_close(db);
}

static void a_save_after_a_refused_one_is_kept(void) {
    tansu_db *db = limited("{'n': {'$gte': 0}}");
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    CHECK_OK(call_save(db, txn, "c", TANSU_SAVE, "{'_id': 1, 'n': 1}"), &call_error);
    CHECK_OK(tansu_savepoint_begin(txn, &call_error), &call_error);
    CHECK_OK(call_save(db, txn, "c", TANSU_SAVE, "{'_id': 2, 'n': 2}"), &call_error);
    CHECK_STATUS(TANSU_E_INVALID_DOCUMENT,
                 call_save(db, txn, "c", TANSU_SAVE, "{'_id': 2, 'n': -2}"));
    CHECK_OK(call_save(db, txn, "c", TANSU_SAVE, "{'_id': 3, 'n': 3}"), &call_error);
    CHECK_OK(tansu_savepoint_roll_back(txn, &call_error), &call_error);
    CHECK_STATUS(TANSU_E_INVALID_DOCUMENT,
                 call_save(db, txn, "c", TANSU_SAVE, "{'_id': 1, 'n': -1}"));
    CHECK_OK(call_save(db, txn, "c", TANSU_SAVE, "{'_id': 4, 'n': 4}"), &call_error);
    CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
    CHECK(answers(db, "{'op': 'find', 'collection': 'c'}",
                  "'documents': [{'_id': 1, 'n': 1}, {'_id': 4, 'n': 4}]"));
    CHECK(maintenance_clean(db));
    call_close(db);
}

/* ---- Memory ---- */

static void a_failed_allocation_leaves_all_or_nothing(void) {
    /* That of the C library fails in its own way. */
    if (!library_pcre2())
        return;
    if (!fault_has_memory()) {
        check_skip("allocations cannot be made to fail here");
        return;
    }
    bool met = true;
    for (unsigned nth = 1; met; nth++) {
        tansu_db *db = memory_db_open();
        bson_t *options = bson_from_text(
            "{'validator': {'n': {'$gte': 0}, '$and': [{'s': {'$regex': '^a'}}, {'$jsonSchema': "
            "{'required': ['s']}}], '$expr': {'$lt': [{'$strLenCP': '$s'}, 3]}}}");
        bson_t *good = bson_from_text("{'_id': 1, 'n': 1, 's': 'a'}");
        bson_t *bad = bson_from_text("{'_id': 2, 'n': 1, 's': 'abcd'}");
        fault_start(FAULT_OWN_MEMORY, nth, false, 0);
        tansu_status set = tansu_collection_ensure(db, NULL, "c", document_of(options), NULL);
        tansu_status saved = call_save_bson(db, NULL, "c", TANSU_SAVE, good);
        tansu_status refused = call_save_bson(db, NULL, "c", TANSU_SAVE, bad);
        fault_stop();
        met = fault_occurred();
        CHECK(set == TANSU_OK || set == TANSU_E_MEMORY);
        CHECK(saved == TANSU_OK || (met && saved == TANSU_E_MEMORY));
        if (set == TANSU_OK)
            CHECK(refused == TANSU_E_INVALID_DOCUMENT || (met && refused == TANSU_E_MEMORY));
        CHECK_INT((saved == TANSU_OK) + (refused == TANSU_OK), call_count(db, NULL, "c", "{}"));
        CHECK(maintenance_clean(db));
        bson_destroy(options);
        bson_destroy(good);
        bson_destroy(bad);
        call_close(db);
    }
}

int main(void) {
    library_regex_start();
    RUN(a_document_is_a_schema_or_a_query);
    RUN(what_may_be_either_is_refused);
    RUN(bad_queries_are_refused);
    RUN(an_expression_that_fails_is_a_violation);
    RUN(the_time_is_that_of_the_save);
    RUN(every_way_of_writing_is_checked);
    RUN(an_update_names_the_document);
    RUN(out_keeps_the_validator);
    RUN(loads_are_checked);
    RUN(a_save_after_a_refused_one_is_kept);
    RUN(a_failed_allocation_leaves_all_or_nothing);
    return check_finish();
}
