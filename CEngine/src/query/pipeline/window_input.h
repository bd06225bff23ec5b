/*
 * query/pipeline/window_input.h -- the documents of a stage by partition, and within that in an
 * order.
 */
#ifndef TANSU_QUERY_PIPELINE_WINDOW_INPUT_H
#define TANSU_QUERY_PIPELINE_WINDOW_INPUT_H

#include "query/pipeline/sort_pattern.h"
#include "query/pipeline/value_reader.h"

typedef struct window_input {
    stage *s;
    value_reader partition;      /* without an expression: all are one partition */
    const sort_pattern *sort_by; /* NULL: no order */
    external_sort *sort;         /* NULL: nothing was read, or nothing is to be sorted */
    tansu_buffer key;
    tansu_buffer before; /* the key of the document before, with the size of its partition's part */
} window_input;

/* A document of it. */
typedef struct window_document {
    doc_value doc;
    bool begins; /* it is the first one of its partition */
    bool tied;   /* it is in the same place as the one before, which is of its partition */
} window_document;

/* window_input_next -- the next one, which lives until the next call; the first call sorts. `memory`
 * is what that takes before it spills. TANSU_DONE at the end. Errors: those of a stage's next(). */
tansu_status window_input_next(window_input *in, size_t memory, window_document *result);

/* window_input_end -- frees what a run has taken. */
void window_input_end(window_input *in);

#endif
