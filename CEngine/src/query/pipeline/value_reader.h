/*
 * query/pipeline/value_reader.h -- an expression that a stage evaluates for each document, with a
 * fast path for fields: where the document before had one is looked at first.
 */
#ifndef TANSU_QUERY_PIPELINE_VALUE_READER_H
#define TANSU_QUERY_PIPELINE_VALUE_READER_H

#include "bson/trail.h"
#include "query/pipeline/pipeline_internal.h"

typedef struct value_reader {
    const expression *expression;
    trail *trail; /* NULL: the expression is no plain field */
    path path;
} value_reader;

/* value_reader_init -- for a compiled expression. Errors: MEMORY. */
tansu_status value_reader_init(stage *s, const expression *e, value_reader *result);

/* value_read -- the value for a document, which is set in the evaluation. It lives as long as that
 * of expression_evaluate(). Errors: as expression_evaluate(). */
static inline tansu_status value_read(evaluation *ev, const value_reader *r, const doc_value *doc,
                                      doc_value *result) {
    enum trail_end end =
        r->trail ? trail_find(r->trail, &r->path, doc->data, doc->size, result) : TRAIL_ARRAY;
    if (end == TRAIL_FOUND)
        return TANSU_OK;
    if (end == TRAIL_ARRAY)
        return expression_evaluate(ev, r->expression, result);
    *result = (doc_value){NULL, 0, DOC_MISSING};
    return TANSU_OK;
}

#endif
