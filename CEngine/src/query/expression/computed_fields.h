/*
 * query/expression/computed_fields.h -- the fields of $project, $addFields and $unset, and of a
 * projection that computes some: a tree by the parts of their paths, applied to documents.
 */
#ifndef TANSU_QUERY_EXPRESSION_COMPUTED_FIELDS_H
#define TANSU_QUERY_EXPRESSION_COMPUTED_FIELDS_H

#include "bson/writer.h"
#include "query/expression/expression.h"

/* Immutable once compiled: many threads may apply it. */
typedef struct computed_fields computed_fields;

enum computed_kind {
    COMPUTE_PROJECT, /* those named, or all but those named */
    COMPUTE_FIELDS,  /* the same; all, where only metadata is named */
    COMPUTE_ADD      /* all, with those named */
};

/* computed_fields_compile -- reads the document, which lives as long as the result. Errors:
 * INVALID_QUERY, MEMORY. */
tansu_status computed_fields_compile(expression_compiler *c, const doc_value *spec,
                                     enum computed_kind kind, computed_fields **result);

/* computed_fields_exclude -- all but the paths of a string, or of an array of strings. */
tansu_status computed_fields_exclude(expression_compiler *c, const doc_value *paths,
                                     computed_fields **result);

/* computed_fields_apply -- writes the document. `ev` is at it (evaluation_document()). Errors: those
 * of an evaluation. */
tansu_status computed_fields_apply(evaluation *ev, const computed_fields *f, const doc_value *doc,
                                   writer *w);

#endif
