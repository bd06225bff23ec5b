/*
 * api/api_aggregate.c -- distinct values and groups.
 */
#include "api/slow_log.h"
#include "query/aggregate/aggregate.h"
#include "util/buffer.h"
#include "util/error.h"

/* run -- runs a compiled aggregation and frees it. */
static tansu_status run(aggregation *a, tansu_db *db, tansu_txn *txn, const char *collection,
                        tansu_buffer *result, tansu_error *error) {
    read_call r;
    tansu_status status = read_call_begin(&r, db, txn, error);
    if (status == TANSU_OK) {
        const collection_state *state;
        status = snapshot_find(r.snapshot, collection, &state, error);
        if (status == TANSU_OK)
            status = aggregate_run(a, r.snapshot, &r.rctx, state, result, error);
        status = read_call_end(&r, status, error);
    }
    aggregate_free(a);
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
    aggregation *a;
    tansu_status status =
        distinct_compile((aggregate_text){query.data, query.size}, path,
                         (aggregate_text){hints.data, hints.size}, txn_stop(txn), &a, error);
    return status == TANSU_OK ? run(a, db, txn, collection, result, error) : status;
}

tansu_status tansu_distinct(tansu_db *db, tansu_txn *txn, const char *collection, const char *path,
                            tansu_document query, tansu_document hints, tansu_buffer *result,
                            tansu_error *error) {
    const slow_log timer = slow_log_begin(db);
    return slow_log_end(&timer, TANSU_LOG_DISTINCT,
                        distinct(db, txn, collection, path, query, hints, result, error),
                        collection, query);
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
    aggregation *a;
    tansu_status status = aggregate_compile(
        (aggregate_text){query.data, query.size}, (aggregate_text){group.data, group.size},
        (aggregate_text){hints.data, hints.size}, txn_stop(txn), &a, error);
    return status == TANSU_OK ? run(a, db, txn, collection, result, error) : status;
}

tansu_status tansu_aggregate(tansu_db *db, tansu_txn *txn, const char *collection,
                             tansu_document query, tansu_document group, tansu_document hints,
                             tansu_buffer *result, tansu_error *error) {
    const slow_log timer = slow_log_begin(db);
    return slow_log_end(&timer, TANSU_LOG_AGGREGATE,
                        aggregate(db, txn, collection, query, group, hints, result, error),
                        collection, query);
}
