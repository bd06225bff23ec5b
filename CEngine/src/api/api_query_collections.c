/*
 * api/api_query_collections.c -- which collections a query reads.
 */
#include "api/handles.h"
#include "query/query.h"
#include "query/query_collections.h"
#include "util/error.h"

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
