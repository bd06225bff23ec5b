/*
 * test_schema_queries.c -- `$jsonSchema` in queries: what it selects beside other conditions, and
 * what it refuses.
 */
#include "support/calls/call.h"
#include "support/calls/query_calls.h"
#include "support/check.h"
#include "support/libraries.h"

static tansu_db *db;

#define NUMBER "{'$jsonSchema': {'properties': {'a': {'type': 'number'}}, 'required': ['a']}}"
#define DRAFT "'$schema': 'https://json-schema.org/draft/2020-12/schema'"

static void selects(const char *query, const char *ids) {
    if (!CHECK_TEXT(ids, find_ids(db, query, "{'$orderby': {'_id': 1}}")))
        check_note("    %s", query);
}

static void it_is_a_condition_among_others(void) {
    selects(NUMBER, "1 2");
    selects("{'$nor': [" NUMBER "]}", "3 4");
    selects("{'$or': [" NUMBER ", {'a': 'x'}]}", "1 2 3");
    selects("{'$and': [" NUMBER ", {'a': {'$gt': 1}}]}", "2");
    selects("{'a': {'$lt': 5}, '$jsonSchema': {'minProperties': 3}}", "2");
    selects("{'$jsonSchema': {}}", "1 2 3 4");
    selects("{'$jsonSchema': {'type': 'array'}}", "");
    /* The `_id` is a field as others are. */
    selects("{'$jsonSchema': {'properties': {'a': {}}, 'additionalProperties': false}}", "");
    selects("{'$jsonSchema': {'properties': {'a': {}, '_id': {}}, 'additionalProperties': false}}",
            "1 3");
}

static void it_takes_what_2020_has(void) {
    selects("{'$jsonSchema': {'properties': {'a': {'const': 1}}, 'required': ['a']}}", "1");
    selects("{'$jsonSchema': {'if': {'required': ['b']}, 'then': {'required': ['c']}}}", "1 3 4");
    selects("{'$jsonSchema': {" DRAFT ", 'properties': {'a': {'$ref': '#/$defs/a'}}, "
            "'$defs': {'a': {'type': 'integer', 'exclusiveMinimum': 1}}}}",
            "2 4");
}

static void refuses(const char *query, const char *context) {
    if (!CHECK_TEXT("INVALID_QUERY", call_find(db, NULL, "c", query, NULL)) ||
        !CHECK_TEXT(context, call_error.context))
        check_note("    %s", query);
}

static void it_refuses_what_is_invalid(void) {
    refuses("{'$jsonSchema': 1}", "$jsonSchema");
    refuses("{'$jsonSchema': true}", "$jsonSchema");
    refuses("{'$jsonSchema': {'unknown': 1}}", "$jsonSchema.unknown");
    refuses("{'a': {'$elemMatch': {'$jsonSchema': {}}}}", "a.$elemMatch.$jsonSchema");
    refuses("{'$jsonSchema': {'properties': {'a': {'minimum': 'x'}}}}",
            "$jsonSchema.properties.a.minimum");
    /* As in MongoDB, which has none of these. */
    refuses("{'$jsonSchema': {'$ref': '#/a'}}", "$jsonSchema.$ref");
    refuses("{'$jsonSchema': {'format': 'date'}}", "$jsonSchema.format");
    refuses("{'$jsonSchema': {'default': 1}}", "$jsonSchema.default");
    refuses("{'$jsonSchema': {'definitions': {}}}", "$jsonSchema.definitions");
    refuses("{'$jsonSchema': {'$schema': 'http://json-schema.org/draft-04/schema#'}}",
            "$jsonSchema.$schema");
    refuses("{'$jsonSchema': {'id': 'a'}}", "$jsonSchema.id");
    refuses("{'$jsonSchema': {'type': 'integer'}}", "$jsonSchema.type");
    refuses("{'$jsonSchema': {'type': 'number', 'bsonType': 'int'}}", "$jsonSchema.bsonType");
    refuses("{'$jsonSchema': {'exclusiveMinimum': 1}}", "$jsonSchema.exclusiveMinimum");
    refuses("{'$jsonSchema': {'enum': [1, 1.0]}}", "$jsonSchema.enum");
    refuses("{'$jsonSchema': {'not': true}}", "$jsonSchema.not");
}

static void no_index_is_limited_by_it(void) {
    CHECK_STATUS(TANSU_E_INVALID_INDEX,
                 call_index(db, NULL, "c", "p", "{'a': 1}", "{'partialFilter': " NUMBER "}"));
}

/* A schema that never ends is an error of the query, not an answer. */
static void references_end(void) {
    refuses("{'$jsonSchema': {" DRAFT ", 'allOf': [{'$ref': '#'}]}}", "$ref");
}

int main(void) {
    static const char *const documents[] = {"{'_id': 1, 'a': 1}", "{'_id': 2, 'a': 2.0, 'b': 0}",
                                            "{'_id': 3, 'a': 'x'}", "{'_id': 4, 'c': [1]}", NULL};
    library_regex_start();
    db = memory_db_with(documents);
    RUN(it_is_a_condition_among_others);
    RUN(it_takes_what_2020_has);
    RUN(it_refuses_what_is_invalid);
    RUN(no_index_is_limited_by_it);
    RUN(references_end);
    memory_db_close(db);
    return check_finish();
}
