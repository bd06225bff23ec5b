/*
 * query/update/update_query.c -- what updates and removals need of a query besides its matches.
 */
#include "query/exec/project.h"
#include "query/update/update.h"
#include "util/error.h"

void query_limit_to_one(query *q) {
    if (q->hints.max > 1)
        q->hints.max = 1;
}

deadline query_deadline(const query *q, const interrupt *stop) {
    deadline d = deadline_begin(stop, q->hints.max_milliseconds);
    deadline_shorten(&d, q->spent);
    return d;
}

tansu_status query_project(const query *q, match_context *context, const uint8_t *doc, size_t size,
                           tansu_buffer *out, tansu_error *error) {
    tansu_document document = {doc, size};
    if (q->hints.fields != NULL)
        return project(q, context, &document, &document, out, error);
    return buffer_set(out, doc, size) ? TANSU_OK : error_memory(error);
}
