/*
 * api/matcher.c -- asking a query about documents outside of a database.
 */
#include "api/handles.h"
#include "base/error.h"
#include "query/condition.h"

#include <stdlib.h>

struct tansu_matcher {
    query *query;
    match_context context;
};

tansu_status tansu_matcher_new(const void *query_bson, size_t query_size, tansu_matcher **matcher,
                               tansu_error *error) {
    if (matcher == NULL)
        return misuse("matcher", error);
    *matcher = NULL;
    tansu_status status = check_bson(query_bson, query_size, true, "query", error);
    doc_value join;
    if (status == TANSU_OK && query_bson != NULL &&
        doc_find(query_bson, query_size, "$do", 3, &join))
        status = error_set(error, TANSU_E_INVALID_QUERY, "$do",
                           "$do has no meaning here: there are no collections to join");
    if (status != TANSU_OK)
        return status;
    tansu_matcher *m = calloc(1, sizeof *m);
    if (m == NULL)
        return error_memory(error);
    status = query_compile(query_bson, query_size, NULL, 0, NULL, &m->query, error);
    if (status != TANSU_OK) {
        free(m);
        return status;
    }
    *matcher = m;
    return TANSU_OK;
}

tansu_status tansu_matcher_ask(tansu_matcher *matcher, const void *document, size_t size,
                               int *matches, tansu_error *error) {
    if (matcher == NULL || matches == NULL)
        return misuse(matcher == NULL ? "matcher" : "matches", error);
    *matches = 0;
    tansu_status status = check_bson(document, size, false, "document", error);
    if (status != TANSU_OK)
        return status;
    bool matched = query_matches(matcher->query, &matcher->context, document, size);
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
