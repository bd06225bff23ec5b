/*
 * query/update_query.c -- the little that updates and removals want of a query besides its matches.
 */
#include "query/internal.h"
#include "query/update.h"

void query_ask_for_one(query *q) {
    if (q->hints.max > 1)
        q->hints.max = 1;
}

watch query_watch(const query *q, const interrupt *stop) {
    watch w = watch_begin(stop, q->hints.max_milliseconds);
    watch_shorten(&w, q->spent);
    return w;
}

tansu_status query_show(const query *q, match_context *context, const uint8_t *doc, size_t size,
                        tansu_buffer *out, tansu_error *error) {
    tansu_document shown = {doc, size};
    if (q->hints.fields != NULL)
        return projection_apply(q, context, &shown, &shown, out, error);
    return buffer_set(out, doc, size) ? TANSU_OK : error_memory(error);
}
