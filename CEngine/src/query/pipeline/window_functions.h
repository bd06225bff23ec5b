/*
 * query/pipeline/window_functions.h -- what the files of windows share: a function of windows
 * compiled, with what it has while it runs, and the readers of a partition.
 *
 * How to add a function: write a window_kind, and name it in the table of window_functions.c.
 */
#ifndef TANSU_QUERY_PIPELINE_WINDOW_FUNCTIONS_H
#define TANSU_QUERY_PIPELINE_WINDOW_FUNCTIONS_H

#include "query/pipeline/accumulators.h"
#include "query/pipeline/document_list.h"
#include "query/pipeline/window_bounds.h"
#include "query/pipeline/window_input.h"
#include "query/pipeline/windowing.h"
#include "query/util/numeric_sum.h"

typedef struct window_function window_function;

/* ---- The documents of a partition ---- */

/* Where one reads. Zeroed, it is before the first document. */
typedef struct partition_reader {
    document_reader reader;
    uint64_t index; /* of the next document */
} partition_reader;

/* The partition that the present document is in. */
typedef struct partition {
    stage *s;
    document_list list; /* the documents in order, unless they stream */
    tansu_buffer ties;  /* a bit for each: it is in the same place as the one before */
    uint64_t index;     /* of the present document */
    doc_value doc;      /* the present document */
    number base;        /* its value of "sortBy", if that is a number or a date: */
    bool has_base;
} partition;

/* partition_read -- the next document of a reader, which lives until its next call. TANSU_DONE at
 * the end. Errors: MEMORY, IO. */
tansu_status partition_read(const partition *p, partition_reader *r, doc_value *doc);

/* partition_peek -- the same, and the reader stays where it is. */
tansu_status partition_peek(const partition *p, partition_reader *r, doc_value *doc);

/* ---- Functions ---- */

/* Which documents a function sees. */
enum window_scope {
    SCOPE_WINDOW, /* those of its window */
    SCOPE_BEFORE, /* those up to the present one; it has no window */
    SCOPE_OFFSET, /* the one at a distance, which is its window */
    SCOPE_SERIES, /* it reads itself; it has no window */
};

typedef struct window_kind {
    const char *name; /* "$rank" */
    enum window_scope scope;
    size_t size; /* of the state */
    /* Reads the operand, after the window. */
    tansu_status (*compile)(stage *s, window_function *f, const window_order *order,
                            const doc_value *operand);
    /* A document comes into the window, or leaves it, the first one first; it is set in the
     * evaluation. NULL `add`: it only looks at the ends. NULL `remove`: a window of which documents
     * leave is added up anew. */
    tansu_status (*add)(window_function *f, const doc_value *doc, bool tied);
    tansu_status (*remove)(window_function *f, const doc_value *doc);
    /* The value for the present document: f->result, which lives until the next call. */
    tansu_status (*result)(window_function *f);
    /* Frees what a state has. NULL: nothing. */
    void (*free)(void *state);
    int variant;
} window_kind;

/* Slots of variables of formulas. */
enum { FORMULA_VARIABLES = 5 };

struct window_function {
    const window_kind *kind;
    const partition *p;
    window_bounds bounds;
    bool has_window; /* the window was given */
    /* Operands. */
    accumulation accumulation;
    const expression *input;
    const expression *by;      /* the value of "sortBy" */
    const value_reader *place; /* the same */
    const expression *formula; /* what it computes of the variables */
    uint32_t variables[FORMULA_VARIABLES];
    bool has_unit;
    date_unit unit;
    decimal weight;            /* $expMovingAvg */
    doc_value fallback;        /* $shift: where there is no document */
    doc_value least, greatest; /* $minMaxScaler: the ends of its results */
    /* The state of a partition. */
    void *state;
    accumulating memory;
    partition_reader lower; /* before the first document of the window */
    partition_reader upper; /* behind the last one */
    partition_reader scan;
    uint64_t last;        /* where the reader of the last one is */
    window_end low, high; /* of a range, for the present document */
    bool changed;         /* since the last result */
    bool drifts;          /* sums of doubles: the error of a result grows with what has left */
    bool inexact;         /* what has left was much greater than what is there */
    uint64_t removed;     /* documents since it was added up */
    doc_value result;
    tansu_buffer value; /* a result that is kept */
};

/* window_count -- documents in the window. */
static inline uint64_t window_count(const window_function *f) {
    return f->upper.index - f->lower.index;
}

/* window_function_compile -- reads {"$name": operand, "window": …}; `part` names the field. Errors:
 * INVALID_QUERY, UNSUPPORTED, MEMORY. */
tansu_status window_function_compile(stage *s, const char *part, const doc_value *spec,
                                     const window_order *order, window_function *result);

/* window_function_streams -- whether it sees the documents up to the present one. */
bool window_function_streams(const window_function *f);

/* window_function_begin -- empties the state for a new partition. Errors: those of an evaluation. */
tansu_status window_function_begin(window_function *f);

/* window_function_clear -- empties the state. Errors: as above. */
tansu_status window_function_clear(window_function *f);

/* window_function_end -- frees what it has. */
void window_function_end(window_function *f);

/* window_value -- the value of an expression for a document. It lives until the next evaluation for
 * a document. Errors: those of an evaluation. */
tansu_status window_value(const window_function *f, const expression *e, const doc_value *doc,
                          doc_value *result);

/* window_keep -- copies a value to f->result. Errors: MEMORY. */
tansu_status window_keep(window_function *f, const doc_value *value);

/* window_keep_null, window_keep_number -- the same of null, and of a number. */
static inline tansu_status window_keep_null(window_function *f) {
    f->result = (doc_value){NULL, 0, DOC_NULL};
    return TANSU_OK;
}
static inline tansu_status window_keep_number(window_function *f, const number *n) {
    const doc_value value = number_value(n);
    return window_keep(f, &value);
}

/* window_is_nothing -- null, undefined or missing. */
static inline bool window_is_nothing(const doc_value *value) {
    return value->type == DOC_NULL || value->type == DOC_MISSING || value->type == DOC_UNDEFINED;
}

/* window_slope_compile -- reads {"input": …, "unit": …}, of a function that needs one path of
 * "sortBy". Errors: INVALID_QUERY, MEMORY. */
tansu_status window_slope_compile(stage *s, window_function *f, const window_order *order,
                                  const doc_value *operand);

/* window_unit_milliseconds -- the length of the unit; 1 without one. */
int64_t window_unit_milliseconds(const window_function *f);

/* window_formula_compile -- an expression of variables with these names, "x y". Errors: those of
 * expression_compile(). */
tansu_status window_formula_compile(stage *s, window_function *f, const char *names,
                                    const char *json);

/* window_formula -- its value, of the values of the variables. It lives as long as those of the
 * evaluation. Errors: those of an evaluation. */
tansu_status window_formula(window_function *f, const doc_value *values, doc_value *result);

/* ---- The functions ---- */

extern const window_kind window_accumulates; /* any accumulator */

/* window_moving_kind -- an accumulator whose window moves, in window_states.c; NULL: all windows of
 * that name are added up anew. */
const window_kind *window_moving_kind(const char *name);

/* window_pairs.c */
extern const window_kind window_covariance_pop;
extern const window_kind window_covariance_samp;
extern const window_kind window_integral;

/* window_states.c */
extern const window_kind window_min_max_scaler;

/* window_series.c */
extern const window_kind window_rank;
extern const window_kind window_dense_rank;
extern const window_kind window_document_number;
extern const window_kind window_exp_moving_avg;
extern const window_kind window_locf;
extern const window_kind window_linear_fill;
extern const window_kind window_first;
extern const window_kind window_last;
extern const window_kind window_shift;
extern const window_kind window_derivative;

#endif
