/*
 * api/aggregates.c -- distinct values and groups.
 */
#include "api/handles.h"
#include "base/buffer.h"
#include "base/error.h"
#include "query/aggregate.h"

/* run -- runs a compiled aggregation and frees it. */
static tansu_status run(aggregation *a, tansu_db *db, tansu_txn *txn, const char *collection,
                        tansu_buffer *result, tansu_error *error) {
    reading r;
    tansu_status status = reading_begin(&r, db, txn, error);
    if (status == TANSU_OK) {
        status =
            aggregate_run(a, &r.view, version_collection(r.version, collection), result, error);
        status = reading_end(&r, status, error);
    }
    aggregate_free(a);
    if (status != TANSU_OK)
        result->size = 0;
    return status;
}

tansu_status tansu_distinct(tansu_db *db, tansu_txn *txn, const char *collection, const char *path,
                            const void *query, size_t query_size, const void *hints,
                            size_t hints_size, tansu_buffer *result, tansu_error *error) {
    if (collection == NULL || path == NULL || result == NULL)
        return misuse(result == NULL ? "result" : path == NULL ? "path" : "collection", error);
    result->size = 0;
    aggregation *a;
    tansu_status status =
        distinct_compile((aggregate_text){query, query_size}, path,
                         (aggregate_text){hints, hints_size}, txn_stop(txn), &a, error);
    return status == TANSU_OK ? run(a, db, txn, collection, result, error) : status;
}

tansu_status tansu_aggregate(tansu_db *db, tansu_txn *txn, const char *collection,
                             const void *query, size_t query_size, const void *group,
                             size_t group_size, const void *hints, size_t hints_size,
                             tansu_buffer *result, tansu_error *error) {
    if (collection == NULL || group == NULL || result == NULL)
        return misuse(result == NULL ? "result" : group == NULL ? "group" : "collection", error);
    result->size = 0;
    aggregation *a;
    tansu_status status =
        aggregate_compile((aggregate_text){query, query_size}, (aggregate_text){group, group_size},
                          (aggregate_text){hints, hints_size}, txn_stop(txn), &a, error);
    return status == TANSU_OK ? run(a, db, txn, collection, result, error) : status;
}
