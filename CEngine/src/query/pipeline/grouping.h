/*
 * query/pipeline/grouping.h -- groups of documents with their accumulators, for $group, $count and
 * $sortByCount.
 *
 * The groups are in a hash table, and come out in the order in which their first documents came. A
 * group key is compared in place where it can be, and a document allocates nothing.
 *
 * Groups that exceed three quarters of the stage's memory spill: documents of further groups go to
 * an external sort by group key, as what they add to the accumulators; so do those of all groups
 * when the accumulators grow beyond seven eighths. At the end the groups in memory are completed and shown
 * one by one, and then each of the others is made by itself, and sorted by its first arrival.
 */
#ifndef TANSU_QUERY_PIPELINE_GROUPING_H
#define TANSU_QUERY_PIPELINE_GROUPING_H

#include "query/pipeline/accumulators.h"

typedef struct grouping grouping;

/* grouping_compile -- reads {"_id": …, "name": {"$sum": …}}. Errors: INVALID_QUERY, MEMORY. */
tansu_status grouping_compile(stage *s, const doc_value *spec, grouping **result);

/* grouping_next -- the next group, in s->out; the first call reads all documents. TANSU_DONE at the
 * end. Errors: those of evaluations, TOO_LARGE, IO, FULL. */
tansu_status grouping_next(stage *s, grouping *g, doc_value *doc);

/* grouping_end -- frees the groups, so that another run may begin. */
void grouping_end(grouping *g);

/* grouping_free -- frees what is not in the arena of the pipeline. NULL is allowed. */
void grouping_free(grouping *g);

/* accumulated_fields -- reads the members of a document, but `_id`, as accumulators. */
typedef struct accumulated_field {
    const char *name;
    accumulation accumulation;
    size_t offset; /* of its state in those of a group */
} accumulated_field;

typedef struct accumulated_fields {
    uint32_t count;
    size_t size; /* of the states of a group */
    accumulated_field *fields;
} accumulated_fields;

tansu_status accumulated_fields_compile(stage *s, const char *part, const doc_value *spec,
                                        accumulated_fields *result);

/* accumulated_begin, accumulated_add -- all states of a group; for accumulated_add() the document is
 * set in the evaluation. Errors: those of evaluations. */
tansu_status accumulated_begin(accumulating *c, const accumulated_fields *f, uint8_t *states);
tansu_status accumulated_add(accumulating *c, const accumulated_fields *f, uint8_t *states,
                             const doc_value *doc);

/* accumulated_write -- the results as elements. Errors: MEMORY, TIMEOUT, CANCELLED. */
tansu_status accumulated_write(accumulating *c, const accumulated_fields *f, uint8_t *states,
                               writer *w);

/* accumulated_within -- TOO_LARGE if the states that cannot spill, of one group or one bucket, have
 * more than `limit` bytes, and more than any may have. */
tansu_status accumulated_within(const accumulating *c, size_t used, size_t limit);

/* accumulated_end -- frees what the states have. */
void accumulated_end(const accumulated_fields *f, uint8_t *states);

#endif
