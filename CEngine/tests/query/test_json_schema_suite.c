/*
 * test_json_schema_suite.c -- the required cases of the JSON Schema Test Suite for 2020-12
 * (tests/vectors/json-schema): each value is valid or invalid as there; a document is, as well, in
 * a query with `$jsonSchema`. What only a reference to another document leads to is not among them.
 */
#include "query/schema/schema.h"
#include "support/calls/call.h"
#include "support/calls/document_of.h"
#include "support/check.h"
#include "support/libraries.h"
#include "support/repo_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CASES "CEngine/tests/vectors/json-schema/draft2020-12.ndjson.gz"

/* schema_of -- the schema of a case: one that is true or false in one that is a document. */
static bson_t *schema_of(const bson_t *test) {
    bson_iter_t iter;
    bson_t list, *schema;
    const uint8_t *data;
    uint32_t size;
    REQUIRE(bson_iter_init_find(&iter, test, "schema"));
    if (BSON_ITER_HOLDS_DOCUMENT(&iter)) {
        bson_iter_document(&iter, &size, &data);
        schema = bson_new_from_data(data, size);
        REQUIRE(schema != NULL);
        return schema;
    }
    schema = bson_new();
    BSON_APPEND_UTF8(schema, "$schema", "https://json-schema.org/draft/2020-12/schema");
    BSON_APPEND_ARRAY_BEGIN(schema, "allOf", &list);
    bson_append_iter(&list, "0", 1, &iter);
    bson_append_array_end(schema, &list);
    return schema;
}

/* field_of -- a field as the engine's value. */
static doc_value field_of(const bson_t *doc, const char *name) {
    doc_value value;
    REQUIRE(doc_find(bson_get_data(doc), doc->len, name, strlen(name), &value));
    return value;
}

/* is_selected -- whether a query with the schema selects the document. */
static bool is_selected(const bson_t *schema, const doc_value *document) {
    bson_t query = BSON_INITIALIZER;
    tansu_matcher *matcher;
    int matches = 0;
    BSON_APPEND_DOCUMENT(&query, "$jsonSchema", schema);
    if (CHECK_OK(tansu_matcher_new(document_of(&query), &matcher, &call_error), &call_error))
        CHECK_OK(tansu_matcher_ask(matcher, (tansu_document){document->data, document->size},
                                   &matches, &call_error),
                 &call_error);
    tansu_matcher_free(matcher);
    bson_destroy(&query);
    return matches != 0;
}

/* run_case -- one value and what is expected of it. */
static void run_case(const bson_t *test, const char *line) {
    tansu_buffer violations = TANSU_BUFFER_INIT;
    schema *compiled;
    uint64_t count = 0;
    bson_t *source = schema_of(test);
    doc_value data = field_of(test, "data"), expected = field_of(test, "valid");
    bool valid = doc_bool(&expected), fine = false;
    if (CHECK_OK(schema_compile(bson_get_data(source), source->len, &compiled, &call_error),
                 &call_error)) {
        fine = CHECK_OK(schema_check_value(compiled, &data, 0, &violations, &count, &call_error),
                        &call_error) &&
               CHECK((count == 0) == valid);
        schema_free(compiled);
    }
    if (fine && data.type == DOC_DOCUMENT && bson_has_field(source, "$schema"))
        fine = CHECK(is_selected(source, &data) == valid);
    if (!fine)
        check_note("    %s", line);
    tansu_buffer_free(&violations);
    bson_destroy(source);
}

static void cases_come_out_as_in_the_suite(void) {
    size_t size, cases = 0;
    char *text = repo_file_inflate(CASES, &size), *state = NULL;
    for (char *line = strtok_r(text, "\n", &state); line; line = strtok_r(NULL, "\n", &state)) {
        tansu_buffer bson = TANSU_BUFFER_INIT;
        bson_t test;
        if (!library_pcre2() && strstr(line, "attern") != NULL)
            continue;
        cases++;
        if (CHECK_OK(tansu_json_to_bson(line, strlen(line), &bson, &call_error), &call_error)) {
            REQUIRE(bson_init_static(&test, bson.data, bson.size));
            run_case(&test, line);
        } else {
            check_note("    %s", line);
        }
        tansu_buffer_free(&bson);
    }
    free(text);
    CHECK(cases > 1000);
}

int main(void) {
    library_regex_start();
    RUN(cases_come_out_as_in_the_suite);
    return check_finish();
}
