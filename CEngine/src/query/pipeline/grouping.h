/*
 * query/pipeline/grouping.h -- groups of documents with their accumulators, for $group and
 * $sortByCount, and for groups of queries.
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

/* ---- Accumulators of groups ---- */

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

/* ---- Groups of queries ---- */

/* What the groups of a query (group_query.h) are made of. */
typedef struct grouping_key {
    value_reader *parts; /* of the group key, by paths of queries: missing ones are null */
    const char **names;  /* of the parts */
    uint32_t count;      /* of the parts; 0: there is one group, even of no documents */
} grouping_key;

/* grouping_of_query -- groups by these. `_id` is the only part, or a document of several; where the
 * only part reads elements, a document is in the group of each of them. What is given lives as long
 * as the pipeline. Errors: MEMORY. */
tansu_status grouping_of_query(stage *s, const grouping_key *key, const accumulated_fields *fields,
                               grouping **result);

/* ---- Groups from an index (group_index.h) ---- */

/* grouping_part -- the only part of the group key; NULL: there are several, or none. */
const value_reader *grouping_part(const grouping *g);

/* grouping_is_constant -- whether the group key is a constant. */
bool grouping_is_constant(const grouping *g);

/* grouping_accumulated -- the accumulators of each group. */
const accumulated_fields *grouping_accumulated(const grouping *g);

/* grouping_add -- adds a document that stands for `count` ones with its group key; all accumulators
 * are INDEX_GIVES_COUNT. *fits is false when the groups exceed their memory. Errors: MEMORY. */
tansu_status grouping_add(stage *s, grouping *g, const doc_value *doc, uint64_t count, bool *fits);

/* grouping_only -- the states of the group of a constant key, which is made if it is not there.
 * Errors: MEMORY, those of evaluations. */
tansu_status grouping_only(stage *s, grouping *g, uint8_t **states);

/* grouping_filled -- these are all groups: the stage before is not read. Errors: MEMORY. */
tansu_status grouping_filled(stage *s, grouping *g);

#endif
