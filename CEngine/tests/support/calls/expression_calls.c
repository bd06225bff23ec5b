/*
 * support/calls/expression_calls.c -- evaluating expressions, each as the member of a document.
 */
#include "support/calls/expression_calls.h"

#include "query/expression/expression.h"
#include "support/calls/query_calls.h"
#include "support/check.h"
#include "util/buffer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* evaluate -- the document {"r": value} of an expression for a document, or an error. */
static tansu_status evaluate(const char *expression_text, const char *doc, tansu_buffer *result,
                             tansu_error *error) {
    char text[1000];
    snprintf(text, sizeof text, "{'r': %s}", expression_text);
    bson_t *bson = bson_from_text(text), *document = bson_from_text(doc);
    doc_value value = {bson_get_data(bson), bson->len, DOC_DOCUMENT};
    arena memory = {.limit = 0};
    expression_compiler compiler;
    const expression *e;
    evaluation *ev = calloc(1, sizeof *ev);
    REQUIRE(ev != NULL);
    REQUIRE(expression_compiler_init(&compiler, &memory, NULL, NULL, NULL, error) == TANSU_OK);
    tansu_status status = expression_compile(&compiler, &value, &e);
    evaluation_init(ev, NULL, NULL, error);
    evaluation_document(ev, bson_get_data(document), document->len);
    if (status == TANSU_OK)
        status = expression_evaluate(ev, e, &value);
    result->size = 0;
    if (status == TANSU_OK)
        REQUIRE(buffer_append(result, value.data, value.size));
    evaluation_free(ev);
    free(ev);
    expression_compiler_free(&compiler);
    arena_free(&memory);
    bson_destroy(bson);
    bson_destroy(document);
    return status;
}

/* json_of -- for messages; the caller frees it. */
static char *json_of(const tansu_buffer *bytes) {
    bson_t doc;
    REQUIRE(bson_init_static(&doc, bytes->data, bytes->size));
    return bson_as_canonical_extended_json(&doc, NULL);
}

void expect_expressions(const char *document, const expression_sample *samples, size_t count) {
    tansu_buffer value = TANSU_BUFFER_INIT;
    for (size_t i = 0; i < count; i++) {
        tansu_error error = {.code = TANSU_OK};
        char text[1000];
        tansu_status status = evaluate(samples[i].expression, document, &value, &error);
        if (!samples[i].value) {
            if (!CHECK_INT(TANSU_E_INVALID_QUERY, status))
                check_note("%s", samples[i].expression);
            continue;
        }
        if (!CHECK_OK(status, &error)) {
            check_note("%s", samples[i].expression);
            continue;
        }
        snprintf(text, sizeof text, "{'r': %s}", samples[i].value);
        bson_t *wanted = bson_from_text(text);
        char *json = json_of(&value);
        if (!CHECK(wanted->len == value.size &&
                   memcmp(bson_get_data(wanted), value.data, value.size) == 0))
            check_note("%s is %s, not %s", samples[i].expression, json, samples[i].value);
        bson_free(json);
        bson_destroy(wanted);
    }
    tansu_buffer_free(&value);
}
