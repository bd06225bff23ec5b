/*
 * query/pipeline/accumulators.h -- the accumulators of $group, $bucket, $bucketAuto and
 * $setWindowFields: {"$sum": "$price"} compiled, and the states that take values.
 *
 *     accumulation_compile(s, "total", &spec, &a);
 *     void *state = …;                                     // accumulation_size(&a) zeroed bytes
 *     accumulation_begin(&c, &a, state);
 *     for each document:
 *         evaluation_document(&s->p->ev, …);
 *         accumulation_evaluate(&c, &a, &doc, &input);
 *         accumulation_add(&c, &a, state, &input);
 *     accumulation_result(&c, &a, state, &value);          // more may be added after it
 *     accumulation_end(&a, state);
 *
 * How to add an accumulator: write an accumulation_kind, and name it in the table of
 * accumulators.c.
 */
#ifndef TANSU_QUERY_PIPELINE_ACCUMULATORS_H
#define TANSU_QUERY_PIPELINE_ACCUMULATORS_H

#include "query/pipeline/sort_pattern.h"
#include "query/pipeline/value_reader.h"

typedef struct accumulation accumulation;

/* What all states of a stage share. Zeroed but for the stage, it is ready; accumulating_free()
 * frees it. */
typedef struct accumulating {
    stage *s;
    size_t used;           /* bytes that the states have allocated */
    tansu_buffer result;   /* of the latest accumulation_result() */
    tansu_buffer sort_key; /* of the latest accumulation_evaluate() */
    tansu_buffer key;
} accumulating;

/* What a document adds to a state. */
typedef struct accumulator_input {
    doc_value value;
    const uint8_t *order; /* its sort key, where the accumulator has an order */
    size_t order_size;
} accumulator_input;

/* What stands after the name. */
enum accumulator_form {
    ACCUMULATOR_VALUE,     /* an expression */
    ACCUMULATOR_NOTHING,   /* {} */
    ACCUMULATOR_N,         /* {input, n} */
    ACCUMULATOR_TOP,       /* {sortBy, output} */
    ACCUMULATOR_TOP_N,     /* {sortBy, output, n} */
    ACCUMULATOR_MEDIAN,    /* {input, method} */
    ACCUMULATOR_PERCENTILE /* {input, p, method} */
};

/* What an index may give instead of documents (group_index.h). */
enum accumulator_index {
    INDEX_GIVES_NOTHING,
    INDEX_GIVES_COUNT,  /* the state is an int64_t, the number of documents */
    INDEX_GIVES_EXTREME /* the least value, or with variant 1 the greatest */
};

typedef struct accumulation_kind {
    const char *name; /* "$sum" */
    enum accumulator_form form;
    size_t size; /* of a state, which begins with an int64_t, n, in those that have one */
    tansu_status (*add)(accumulating *c, const accumulation *a, void *state,
                        const accumulator_input *input);
    /* Missing counts as null. It lives until the state or another result changes. */
    tansu_status (*result)(accumulating *c, const accumulation *a, void *state, doc_value *result);
    void (*free)(void *state); /* NULL: nothing to be freed */
    int variant;               /* for the functions of several */
    enum accumulator_index index;
} accumulation_kind;

/* An accumulator with its operands. */
struct accumulation {
    const accumulation_kind *kind;
    value_reader input;  /* without an expression: none */
    const expression *n; /* NULL: none */
    const sort_pattern *sort_by;
    const double *ranks; /* of $percentile: between 0 and 1 */
    uint32_t rank_count;
};

/* accumulation_kind_find -- by its name; NULL: there is none. */
const accumulation_kind *accumulation_kind_find(const char *name);

/* accumulation_compile -- reads {"$name": operand}; `part` of the stage for errors. Errors:
 * INVALID_QUERY, UNSUPPORTED, MEMORY. */
tansu_status accumulation_compile(stage *s, const char *part, const doc_value *spec,
                                  accumulation *result);

/* accumulation_size -- the bytes of a state; states may follow one another. */
static inline size_t accumulation_size(const accumulation *a) {
    size_t unit = sizeof(max_align_t);
    return (a->kind->size + unit - 1) / unit * unit;
}

/* accumulation_begin -- makes a zeroed state ready. The operand n is evaluated for the document
 * that is set: the group's `_id`. Errors: those of an evaluation. */
tansu_status accumulation_begin(accumulating *c, const accumulation *a, void *state);

/* accumulation_evaluate -- what a document adds, which is set in the evaluation. The value lives as
 * long as those of the evaluation, the sort key until the next call. Errors: those of an
 * evaluation. */
tansu_status accumulation_evaluate(accumulating *c, const accumulation *a, const doc_value *doc,
                                   accumulator_input *input);

/* accumulation_add_elements -- the same of each element of an array. */
tansu_status accumulation_add_elements(accumulating *c, const accumulation *a, void *state,
                                       const doc_value *array);

/* accumulation_add -- adds it to a state. Errors: INVALID_QUERY, MEMORY. */
static inline tansu_status accumulation_add(accumulating *c, const accumulation *a, void *state,
                                            const accumulator_input *input) {
    if (a->input.elements && input->value.type == DOC_ARRAY)
        return accumulation_add_elements(c, a, state, &input->value);
    return a->kind->add(c, a, state, input);
}

/* accumulation_result -- the value of what was added. Errors: MEMORY, TIMEOUT, CANCELLED. */
static inline tansu_status accumulation_result(accumulating *c, const accumulation *a, void *state,
                                               doc_value *result) {
    return a->kind->result(c, a, state, result);
}

/* accumulation_end -- frees what a state has. */
static inline void accumulation_end(const accumulation *a, void *state) {
    if (a->kind->free)
        a->kind->free(state);
}

/* accumulating_free -- frees the memory that is shared. */
void accumulating_free(accumulating *c);

/* ---- The accumulators ---- */

/* accumulators_array.c: those that collect values. */
extern const accumulation_kind accumulate_push;
extern const accumulation_kind accumulate_concat_arrays;
extern const accumulation_kind accumulate_add_to_set;
extern const accumulation_kind accumulate_set_union;
extern const accumulation_kind accumulate_merge_objects;
extern const accumulation_kind accumulate_distinct; /* of the groups of queries */

/* accumulators.c: others of the groups of queries, whose whole numbers are int64. */
extern const accumulation_kind accumulate_documents; /* $count */
extern const accumulation_kind accumulate_values;    /* $count of a path */
extern const accumulation_kind accumulate_total;     /* $sum */

/* accumulators_n.c: those that keep n values. */
extern const accumulation_kind accumulate_first_n;
extern const accumulation_kind accumulate_last_n;
extern const accumulation_kind accumulate_min_n;
extern const accumulation_kind accumulate_max_n;
extern const accumulation_kind accumulate_top;
extern const accumulation_kind accumulate_top_n;
extern const accumulation_kind accumulate_bottom;
extern const accumulation_kind accumulate_bottom_n;

#endif
