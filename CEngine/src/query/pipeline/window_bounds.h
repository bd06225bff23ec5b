/*
 * query/pipeline/window_bounds.h -- where the window of a document begins and ends:
 * {"documents": [-1, "current"]} or {"range": [-3, 3], "unit": "day"}.
 */
#ifndef TANSU_QUERY_PIPELINE_WINDOW_BOUNDS_H
#define TANSU_QUERY_PIPELINE_WINDOW_BOUNDS_H

#include "bson/number.h"
#include "query/pipeline/pipeline_internal.h"
#include "query/util/date_unit.h"

/* What is known of "sortBy". */
typedef struct window_order {
    bool given;
    uint32_t count;       /* paths */
    bool descending;      /* the first one */
    const expression *by; /* the value at the path; NULL: there are none, or several */
} window_order;

enum bound_kind { BOUND_UNBOUNDED, BOUND_CURRENT, BOUND_OFFSET };

/* One end of a window, which is in it. */
typedef struct window_bound {
    enum bound_kind kind;
    int64_t offset; /* documents, or units of time */
    number value;   /* of a range without units */
} window_bound;

typedef struct window_bounds {
    window_bound lower, upper;
    bool range; /* by the values of "sortBy", which are dates if there is a unit */
    bool has_unit;
    date_unit unit;
} window_bounds;

/* window_copy -- copies a number or a date. */
static inline void window_copy(const doc_value *value, number *result) {
    memcpy(result->bytes, value->data, value->size);
    result->size = (uint8_t)value->size;
    result->type = value->type;
}

/* window_bounds_compile -- reads what stands after "window"; missing is the whole partition. `part`
 * of the stage for errors. Errors: INVALID_QUERY, MEMORY. */
tansu_status window_bounds_compile(stage *s, const char *part, const doc_value *spec,
                                   const window_order *order, window_bounds *result);

/* window_unit_compile -- the unit of a name. Errors: INVALID_QUERY. */
tansu_status window_unit_compile(stage *s, const char *part, const doc_value *value,
                                 date_unit *unit);

/* The value at which a bound of a range is for one document. */
typedef struct window_end {
    const window_bound *bound;
    number base;  /* the document's value of "sortBy" */
    double near;  /* about the value, if it is */
    double slack; /* so far at most from it; negative: not known */
    bool known;   /* the value is */
    number value;
} window_end;

/* window_end_begin -- for a document whose value of "sortBy" is `base`, one that window_check_base()
 * accepts. Errors: INVALID_QUERY. */
tansu_status window_end_begin(stage *s, const window_bounds *bounds, const window_bound *bound,
                              const number *base, window_end *result);

/* window_end_compare -- the order of a value of "sortBy" and the end. Errors: MEMORY. */
tansu_status window_end_compare(stage *s, window_end *end, const doc_value *value, int *order);

/* window_check_base -- whether a value can be the middle of a range. Errors: INVALID_QUERY. */
tansu_status window_check_base(stage *s, const window_bounds *bounds, const doc_value *base);

/* window_is_expected -- whether a value is of the kind that the range takes. */
static inline bool window_is_expected(const window_bounds *bounds, const doc_value *value) {
    return bounds->has_unit ? value->type == DOC_DATE : doc_is_number(value);
}

#endif
