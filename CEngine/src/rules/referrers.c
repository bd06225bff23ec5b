/*
 * rules/referrers.c -- finding the documents that refer to given documents: an ordinary query
 * {path: {"$in": ids}}, so that it finds what the same query of a caller finds.
 */
#include "rules/referrers.h"

#include "query/query.h"
#include "util/error.h"

#include <stdlib.h>

tansu_status referrers_find(const reference *r, const collection_state *holder,
                            const read_context *rctx, const tansu_buffer *ids, uint64_t **rids,
                            size_t *count, tansu_error *error) {
    *rids = NULL;
    *count = 0;
    tansu_buffer selector = TANSU_BUFFER_INIT;
    writer w = {.out = &selector};
    const doc_value list = {ids->data, (uint32_t)ids->size, DOC_ARRAY};
    size_t document = writer_begin(&w);
    size_t condition = writer_open(&w, r->path.text, DOC_DOCUMENT);
    writer_value(&w, "$in", &list);
    writer_end(&w, condition);
    query *q = NULL;
    tansu_status status =
        writer_finish(&w, document)
            ? query_compile(selector.data, selector.size, NULL, 0, rctx->interrupt, &q, error)
            : error_memory(error);
    if (status == TANSU_OK)
        status = query_rids(q, rctx, holder, rids, count, error);
    query_free(q);
    tansu_buffer_free(&selector);
    return status;
}
