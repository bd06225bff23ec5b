/*
 * api/api_query.c -- distinct values and groups.
 */
#include "api/handles.h"
#include "query/pipeline/group_query.h"
#include "query/query.h"
#include "util/buffer.h"
#include "util/error.h"

#include <stdlib.h>

/* run -- runs a compiled request and frees it. */
static tansu_status run(group_query *q, tansu_db *db, tansu_txn *txn, tansu_buffer *result,
                        tansu_error *error) {
    read_call r;
    tansu_status status = read_call_begin(&r, db, txn, error);
    if (status == TANSU_OK) {
        status = group_query_run(q, r.snapshot, &r.rctx, result, error);
        status = read_call_end(&r, status, error);
    }
    group_query_free(q);
    if (status != TANSU_OK)
        result->size = 0;
    return status;
}

/* distinct -- tansu_distinct() without the slow-operation log. */
static tansu_status distinct(tansu_db *db, tansu_txn *txn, const char *collection, const char *path,
                             tansu_document query, tansu_document hints, tansu_buffer *result,
                             tansu_error *error) {
    if (collection == NULL || path == NULL || result == NULL)
        return null_argument(result == NULL ? "result"
                             : path == NULL ? "path"
                                            : "collection",
                             error);
    result->size = 0;
    group_query *q;
    tansu_status status = group_query_compile_distinct(
        collection, (pipeline_text){query.data, query.size}, path,
        (pipeline_text){hints.data, hints.size}, txn_stop(txn), &q, error);
    return status == TANSU_OK ? run(q, db, txn, result, error) : status;
}

tansu_status tansu_distinct(tansu_db *db, tansu_txn *txn, const char *collection, const char *path,
                            tansu_document query, tansu_document hints, tansu_buffer *result,
                            tansu_error *error) {
    const slow_log timer = slow_log_begin(db);
    return slow_log_end(&timer, TANSU_LOG_DISTINCT,
                        distinct(db, txn, collection, path, query, hints, result, error),
                        collection, query, TANSU_NO_DOCUMENT);
}

/* aggregate -- tansu_aggregate() without the slow-operation log. */
static tansu_status aggregate(tansu_db *db, tansu_txn *txn, const char *collection,
                              tansu_document query, tansu_document group, tansu_document hints,
                              tansu_buffer *result, tansu_error *error) {
    if (collection == NULL || group.data == NULL || result == NULL)
        return null_argument(result == NULL       ? "result"
                             : group.data == NULL ? "group"
                                                  : "collection",
                             error);
    result->size = 0;
    group_query *q;
    tansu_status status =
        group_query_compile(collection, (pipeline_text){query.data, query.size},
                            (pipeline_text){group.data, group.size},
                            (pipeline_text){hints.data, hints.size}, txn_stop(txn), &q, error);
    return status == TANSU_OK ? run(q, db, txn, result, error) : status;
}

tansu_status tansu_aggregate(tansu_db *db, tansu_txn *txn, const char *collection,
                             tansu_document query, tansu_document group, tansu_document hints,
                             tansu_buffer *result, tansu_error *error) {
    const slow_log timer = slow_log_begin(db);
    return slow_log_end(&timer, TANSU_LOG_AGGREGATE,
                        aggregate(db, txn, collection, query, group, hints, result, error),
                        collection, query, TANSU_NO_DOCUMENT);
}

/* ---- Asking a query about documents outside of a database ---- */

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

/* ---- Which collections a query reads ---- */

/* write_collections -- the result, for a snapshot. */
static tansu_status write_collections(query *q, const read_call *r, const char *collection,
                                      tansu_buffer *result, tansu_error *error) {
    const collection_state *state;
    tansu_status status = snapshot_find(r->snapshot, collection, &state, error);
    if (status == TANSU_OK)
        status = query_expand(q, r->snapshot, state, r->rctx.interrupt, error);
    if (status != TANSU_OK)
        return status;
    writer w = {.out = result};
    size_t start = writer_begin(&w);
    status = query_collections(q, collection, &w, error);
    if (status == TANSU_OK && !writer_finish(&w, start))
        status = error_memory(error);
    return status;
}

tansu_status tansu_query_collections(tansu_db *db, tansu_txn *txn, const char *collection,
                                     tansu_document query_bson, tansu_document hints,
                                     tansu_buffer *result, tansu_error *error) {
    if (collection == NULL || result == NULL)
        return null_argument(collection == NULL ? "collection" : "result", error);
    result->size = 0;
    query *q;
    tansu_status status = query_compile(query_bson.data, query_bson.size, hints.data, hints.size,
                                        txn_stop(txn), &q, error);
    if (status != TANSU_OK)
        return status;
    read_call r;
    status = read_call_begin(&r, db, txn, error);
    if (status == TANSU_OK) {
        status = write_collections(q, &r, collection, result, error);
        status = read_call_end(&r, status, error);
    }
    query_free(q);
    if (status != TANSU_OK)
        result->size = 0;
    return status;
}
