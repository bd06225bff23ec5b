/*
 * api/api_matcher.c -- asking a query about documents outside of a database.
 */
#include "api/handles.h"
#include "util/error.h"

#include <stdlib.h>

struct tansu_matcher {
    query *query;
    match_context context;
};

tansu_status tansu_matcher_new(tansu_document query_bson, tansu_matcher **matcher,
                               tansu_error *error) {
    if (matcher == NULL)
        return null_argument("matcher", error);
    *matcher = NULL;
    tansu_status status = check_bson(query_bson, true, "query", error);
    doc_value join;
    if (status == TANSU_OK && query_bson.data != NULL &&
        doc_find(query_bson.data, query_bson.size, "$do", 3, &join))
        status = error_set(error, TANSU_E_INVALID_QUERY, "$do",
                           "\"$do\" is not allowed in a matcher; there are no collections to join");
    if (status != TANSU_OK)
        return status;
    tansu_matcher *m = calloc(1, sizeof *m);
    if (m == NULL)
        return error_memory(error);
    status = query_compile_alone(query_bson.data, query_bson.size, &m->query, error);
    if (status != TANSU_OK) {
        free(m);
        return status;
    }
    *matcher = m;
    return TANSU_OK;
}

tansu_status tansu_matcher_ask(tansu_matcher *matcher, tansu_document document, int *matches,
                               tansu_error *error) {
    if (matcher == NULL || matches == NULL)
        return null_argument(matcher == NULL ? "matcher" : "matches", error);
    *matches = 0;
    tansu_status status = check_bson(document, false, "document", error);
    if (status != TANSU_OK)
        return status;
    bool matched = query_matches(matcher->query, &matcher->context, document.data, document.size);
    status = match_context_status(&matcher->context, error);
    matcher->context.status = TANSU_OK; /* the next document may be simpler */
    if (status == TANSU_OK)
        *matches = matched;
    return status;
}

void tansu_matcher_free(tansu_matcher *matcher) {
    if (matcher == NULL)
        return;
    match_context_free(&matcher->context);
    query_free(matcher->query);
    free(matcher);
}
