/*
 * query/parse/condition.c -- conditions on one value, outside a query.
 */
#include "query/parse/condition.h"
#include "query/match/match_value.h"
#include "query/parse/selector.h"
#include "util/error.h"
#include <stdlib.h>

/* The query has no selector: it only owns what the condition is made of. */
struct condition {
    query query;
    subcondition *inner;
};

tansu_status condition_compile(const doc_value *operand, const char *context,
                               const collation *collation, condition **result, tansu_error *error) {
    condition *c = calloc(1, sizeof *c);
    if (!c)
        return error_memory(error);
    c->query.collation = collation;
    c->query.memory.limit = QUERY_MEMORY;
    c->query.exact_documents = true;
    doc_value copy = *operand;
    copy.data = arena_copy(&c->query.memory, operand->data, operand->size);
    tansu_status status = copy.data
                              ? subcondition_parse(&c->query, &copy, context, &c->inner, error)
                              : error_memory(error);
    status = query_too_large(&c->query.memory, status, error);
    if (status != TANSU_OK) {
        condition_free(c);
        return status;
    }
    *result = c;
    return TANSU_OK;
}

void condition_free(condition *c) {
    if (!c)
        return;
    query_free_members(&c->query);
    free(c);
}

bool condition_holds(const condition *c, match_context *context, const doc_value *value) {
    return subcondition_pulls(c->inner, context, value);
}
