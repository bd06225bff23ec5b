/*
 * query/pipeline/windowing.h -- $setWindowFields, which $fill also is: documents by partition and
 * order, each with fields that functions compute of a window of documents around it.
 *
 *   windowing.c          what is compiled, and the documents one by one
 *   window_input.c       the documents by partition and order
 *   window_bounds.c      where a window begins and ends
 *   window_functions.c   the table of functions, and the accumulators
 *   window_states.c      accumulators that values are removed from again, as a window moves
 *   window_sum.c         the sums of these
 *   window_pairs.c       functions of pairs of numbers: covariances and $integral
 *   window_series.c      functions of a series of documents: ranks, averages, interpolation
 *
 * When no function looks ahead or back, documents stream from the sort. Otherwise one partition at a
 * time is in a document_list, in which each function has its own readers.
 */
#ifndef TANSU_QUERY_PIPELINE_WINDOWING_H
#define TANSU_QUERY_PIPELINE_WINDOWING_H

#include "query/pipeline/pipeline_internal.h"

typedef struct windowing windowing;

/* The members of the stage; those that are not given are missing. */
typedef struct windowing_spec {
    doc_value partition_by;
    doc_value sort_by;
    doc_value output;
} windowing_spec;

/* windowing_compile -- errors: INVALID_QUERY, UNSUPPORTED, MEMORY. */
tansu_status windowing_compile(stage *s, const windowing_spec *spec, windowing **result);

/* windowing_next -- the next document, which lives until the next call; the first call reads those
 * of the stage before. TANSU_DONE at the end. Errors: those of a stage's next(). */
tansu_status windowing_next(windowing *w, doc_value *doc);

/* windowing_end -- frees what a run has taken. NULL is allowed. */
void windowing_end(windowing *w);

#endif
