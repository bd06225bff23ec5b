/*
 * support/calls/evaluate_expression.c -- see expression_calls.h.
 */
#include "support/calls/evaluate_expression.h"
#include "bson/writer.h"
#include "query/match/regex.h"
#include "support/check.h"

#include <string.h>

doc_value value_in_bson(const bson_t *doc, const char *key) {
    doc_value value;
    doc_find(bson_get_data(doc), doc->len, key, strlen(key), &value);
    return value;
}

tansu_status evaluate_expression(const doc_value *e, const bson_t *doc,
                                 const expression_setting *how, tansu_buffer *result,
                                 tansu_error *error) {
    static const deadline none;
    static expression_compiler c;
    static evaluation ev;
    const expression *compiled;
    arena memory = {0};
    regex *regexes = NULL;
    doc_value value;
    writer w = {.out = result};
    result->size = 0;
    memset(error, 0, sizeof *error);
    tansu_status status =
        expression_compiler_init(&c, &memory, &regexes, how->collation, &none, error);
    REQUIRE(status == TANSU_OK);
    if (how->memory != 0)
        c.constant->memory.limit = how->memory;
    status = expression_compile(&c, e, &compiled);
    expression_compiler_free(&c);
    evaluation_init(&ev, how->collation, how->deadline ? how->deadline : &none, error);
    if (how->memory != 0)
        ev.memory.limit = how->memory;
    if (status == TANSU_OK && !how->only_compile) {
        evaluation_document(&ev, bson_get_data(doc), doc->len);
        status = expression_evaluate(&ev, compiled, &value);
    }
    if (status == TANSU_OK && !how->only_compile) {
        size_t start = writer_begin(&w);
        if (value.type != DOC_MISSING)
            writer_element(&w, "v", 1, &value);
        writer_end(&w, start);
        REQUIRE(!w.failed);
    }
    evaluation_free(&ev);
    regex_free_all(regexes);
    arena_free(&memory);
    return status;
}
