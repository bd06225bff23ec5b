/*
 * query/pipeline/value_reader.h -- an expression that a stage evaluates for each document, with a
 * fast path for fields: where the document before had one is looked at first.
 *
 * Groups of queries (group_query.h) read by the paths of queries instead, which may lead through
 * arrays and have array positions.
 */
#ifndef TANSU_QUERY_PIPELINE_VALUE_READER_H
#define TANSU_QUERY_PIPELINE_VALUE_READER_H

#include "bson/trail.h"
#include "query/pipeline/pipeline_internal.h"
#include "query/util/date_trunc.h"

typedef struct value_reader {
    const expression *expression; /* NULL: `path` is one of a query */
    trail *trail;                 /* NULL: the expression is no plain field */
    path path;
    bool elements; /* an array stands for its elements, those of all arrays that a path finds */
    const date_trunc *trunc; /* the date at the path is truncated; NULL: the value as it is */
} value_reader;

/* value_reader_init -- for a compiled expression. Errors: MEMORY. */
tansu_status value_reader_init(stage *s, const expression *e, value_reader *result);

/* value_reader_path -- for a path of a query, which lives as long as the pipeline. Errors: MEMORY. */
tansu_status value_reader_path(stage *s, const path *path, bool elements, const date_trunc *trunc,
                               value_reader *result);

/* value_walk -- the value at a path of a query; where the path leads through arrays, the array of
 * all values that it finds. A path with an array position, such as "tags.0", names one value: the
 * one that it finds, or none at all. Errors: MEMORY. */
tansu_status value_walk(evaluation *ev, const value_reader *r, const doc_value *doc,
                        doc_value *result);

/* value_read -- the value for a document, which is set in the evaluation. It lives as long as that
 * of expression_evaluate(). Errors: as expression_evaluate(). */
static inline tansu_status value_read(evaluation *ev, const value_reader *r, const doc_value *doc,
                                      doc_value *result) {
    enum trail_end end =
        r->trail ? trail_find(r->trail, &r->path, doc->data, doc->size, result) : TRAIL_ARRAY;
    if (end == TRAIL_FOUND)
        return TANSU_OK;
    if (end == TRAIL_ARRAY)
        return r->expression ? expression_evaluate(ev, r->expression, result)
                             : value_walk(ev, r, doc, result);
    *result = (doc_value){NULL, 0, DOC_MISSING};
    return TANSU_OK;
}

#endif
