/*
 * query/pipeline/window_series.c -- functions of a series of documents: ranks, moving averages, the
 * last value and interpolation; and functions of the documents at the ends of a window.
 */
#include "query/pipeline/window_functions.h"

#include "bson/decimal_arithmetic.h"

#include <string.h>

/* ---- Ranks ---- */

typedef struct rank_state {
    int64_t rank;
    int64_t tied; /* documents with that rank */
} rank_state;

enum { RANK, RANK_DENSE, RANK_NUMBER };

static tansu_status rank_compile(stage *s, window_function *f, const window_order *order,
                                 const doc_value *operand) {
    if (operand->type != DOC_DOCUMENT || operand->size > 5)
        return stage_error(s, f->kind->name, "Takes an empty document");
    if (order->count != 1)
        return stage_error(s, f->kind->name, "Needs \"sortBy\" with one path");
    return TANSU_OK;
}

static tansu_status rank_add(window_function *f, const doc_value *doc, bool tied) {
    rank_state *s = f->state;
    (void)doc;
    if (tied && f->kind->variant != RANK_NUMBER) {
        s->tied++;
        return TANSU_OK;
    }
    s->rank += f->kind->variant == RANK && s->tied != 0 ? s->tied : 1;
    s->tied = 1;
    return TANSU_OK;
}

static tansu_status rank_result(window_function *f) {
    const rank_state *s = f->state;
    number n;
    if (s->rank <= INT32_MAX)
        number_int32((int32_t)s->rank, &n);
    else
        number_int64(s->rank, &n);
    return window_keep_number(f, &n);
}

#define RANKS(text, which)                                                                  \
    {                                                                                       \
        .name = (text), .scope = SCOPE_BEFORE, .size = sizeof(rank_state),                  \
        .compile = rank_compile, .add = rank_add, .result = rank_result, .variant = (which) \
    }

const window_kind window_rank = RANKS("$rank", RANK);
const window_kind window_dense_rank = RANKS("$denseRank", RANK_DENSE);
const window_kind window_document_number = RANKS("$documentNumber", RANK_NUMBER);

/* ---- $expMovingAvg ---- */

typedef struct average_state {
    decimal value;
    bool any;
    bool has_decimal;
} average_state;

/* read_weight -- of a value, by {"N": …} or {"alpha": …}. */
static tansu_status read_weight(stage *s, window_function *f, const doc_value *n,
                                const doc_value *alpha) {
    decimal one, two;
    int64_t count;
    decimal_from_int64(1, &one);
    decimal_from_int64(2, &two);
    if ((n->type == DOC_MISSING) == (alpha->type == DOC_MISSING))
        return stage_error(s, f->kind->name, "Has either \"N\" or \"alpha\"");
    if (n->type != DOC_MISSING) {
        if (!doc_is_number(n) || !doc_as_int64(n, &count) || count <= 0)
            return stage_error(s, f->kind->name, "Member \"N\" must be a whole number above 0");
        decimal_from_int64(count, &f->weight);
        decimal_add(&f->weight, &one, &f->weight);
        decimal_quotient(&two, &f->weight, &f->weight);
        return TANSU_OK;
    }
    number zero_number, one_number;
    number_int32(0, &zero_number);
    number_int32(1, &one_number);
    const doc_value least = number_value(&zero_number), greatest = number_value(&one_number);
    if (!doc_is_number(alpha) || number_compare(alpha, &least) <= 0 ||
        number_compare(alpha, &greatest) >= 0)
        return stage_error(s, f->kind->name, "Member \"alpha\" must be between 0 and 1");
    number_to_decimal(alpha, &f->weight);
    return TANSU_OK;
}

static tansu_status average_compile(stage *s, window_function *f, const window_order *order,
                                    const doc_value *operand) {
    enum { INPUT, N, ALPHA, MEMBERS };
    doc_value members[MEMBERS];
    if (!order->given)
        return stage_error(s, f->kind->name, "Needs \"sortBy\"");
    tansu_status status = stage_members(s, operand, "input! N alpha", members);
    if (status != TANSU_OK) {
        error_prefix(s->p->error, f->kind->name);
        return status;
    }
    status = read_weight(s, f, &members[N], &members[ALPHA]);
    return status == TANSU_OK ? stage_expression(s, f->kind->name, &members[INPUT], &f->input)
                              : status;
}

static tansu_status average_add(window_function *f, const doc_value *doc, bool tied) {
    average_state *s = f->state;
    decimal number, rest;
    doc_value value;
    (void)doc;
    (void)tied;
    tansu_status status = expression_evaluate(&f->p->s->p->ev, f->input, &value);
    if (status != TANSU_OK || !doc_is_number(&value))
        return status;
    s->has_decimal = s->has_decimal || value.type == DOC_DECIMAL128;
    number_to_decimal(&value, &number);
    if (!s->any) {
        s->any = true;
        s->value = number;
        return TANSU_OK;
    }
    decimal_from_int64(1, &rest);
    decimal_subtract(&rest, &f->weight, &rest);
    decimal_multiply(&s->value, &rest, &rest);
    decimal_multiply(&number, &f->weight, &number);
    decimal_add(&number, &rest, &s->value);
    return TANSU_OK;
}

static tansu_status average_result(window_function *f) {
    const average_state *s = f->state;
    number n;
    if (!s->any)
        return window_keep_null(f);
    if (s->has_decimal)
        number_decimal(&s->value, &n);
    else
        number_double(decimal_to_double(&s->value), &n);
    return window_keep_number(f, &n);
}

const window_kind window_exp_moving_avg = {.name = "$expMovingAvg",
                                           .scope = SCOPE_BEFORE,
                                           .size = sizeof(average_state),
                                           .compile = average_compile,
                                           .add = average_add,
                                           .result = average_result};

/* ---- $locf ---- */

/* input_compile -- the operand is an expression. */
static tansu_status input_compile(stage *s, window_function *f, const window_order *order,
                                  const doc_value *operand) {
    (void)order;
    return stage_expression(s, f->kind->name, operand, &f->input);
}

/* locf_add -- the state says whether there was a value, which is the result from then on. */
static tansu_status locf_add(window_function *f, const doc_value *doc, bool tied) {
    bool *any = f->state;
    doc_value value;
    (void)doc;
    (void)tied;
    tansu_status status = expression_evaluate(&f->p->s->p->ev, f->input, &value);
    if (status != TANSU_OK || window_is_nothing(&value))
        return status;
    *any = true;
    return window_keep(f, &value);
}

static tansu_status locf_result(window_function *f) {
    return *(const bool *)f->state ? TANSU_OK : window_keep_null(f);
}

const window_kind window_locf = {.name = "$locf",
                                 .scope = SCOPE_BEFORE,
                                 .size = sizeof(bool),
                                 .compile = input_compile,
                                 .add = locf_add,
                                 .result = locf_result};

/* ---- $linearFill ---- */

typedef struct fill_point {
    number x, y;
} fill_point;

typedef struct fill_state {
    bool has_before, has_after;
    bool none_after; /* no document behind has a value */
    bool any;
    number x;                 /* of the document before */
    fill_point before, after; /* points with values */
} fill_state;

static tansu_status fill_compile(stage *s, window_function *f, const window_order *order,
                                 const doc_value *operand) {
    if (!order->by || order->count != 1)
        return stage_error(s, f->kind->name, "Needs \"sortBy\" with one path");
    tansu_status status = stage_expression(s, f->kind->name, operand, &f->input);
    return status == TANSU_OK
               ? window_formula_compile(
                     s, f, "x1 y1 x2 y2 x",
                     "{\"$add\":[\"$$y1\",{\"$multiply\":[{\"$subtract\":[\"$$x\",\"$$x1\"]},"
                     "{\"$divide\":[{\"$subtract\":[\"$$y2\",\"$$y1\"]},"
                     "{\"$subtract\":[\"$$x2\",\"$$x1\"]}]}]}]}")
               : status;
}

/* is_place -- whether a value of "sortBy" can be interpolated. */
static bool is_place(const doc_value *value) {
    return doc_is_number(value) || value->type == DOC_DATE;
}

/* read_point -- the values of a document. *has_value: there is one. Errors: INVALID_QUERY. */
static tansu_status read_point(window_function *f, const doc_value *doc, fill_point *point,
                               bool *has_value) {
    stage *s = f->p->s;
    doc_value x, y;
    tansu_status status = window_value(f, f->input, doc, &y);
    if (status == TANSU_OK)
        status = expression_evaluate(&s->p->ev, f->by, &x);
    if (status != TANSU_OK)
        return status;
    *has_value = !window_is_nothing(&y);
    if (*has_value && !doc_is_number(&y))
        return stage_error(s, f->kind->name, "Values must be numbers, or null");
    if (!is_place(&x))
        return stage_error(s, f->kind->name, "The path of \"sortBy\" must have numbers or dates");
    window_copy(&x, &point->x);
    if (*has_value)
        window_copy(&y, &point->y);
    return TANSU_OK;
}

/* check_place -- that the place of the present document is another one than that of the document
 * before, and of the same kind. */
static tansu_status check_place(window_function *f, fill_state *s, const number *x) {
    const doc_value before = number_value(&s->x), place = number_value(x);
    int order;
    if (s->any) {
        if ((before.type == DOC_DATE) != (place.type == DOC_DATE))
            return stage_error(f->p->s, f->kind->name,
                               "The path of \"sortBy\" has both numbers and dates");
        if (!expression_compare(&f->p->s->p->ev, &before, &place, &order))
            return error_memory(f->p->s->p->error);
        if (order == 0)
            return stage_error(f->p->s, f->kind->name,
                               "Two documents have the same value at the path of \"sortBy\"");
    }
    s->any = true;
    s->x = *x;
    return TANSU_OK;
}

/* find_after -- the next document behind the present one that has a value. */
static tansu_status find_after(window_function *f, fill_state *s) {
    tansu_status status = TANSU_OK;
    doc_value doc;
    while (status == TANSU_OK && !s->has_after) {
        status = partition_read(f->p, &f->scan, &doc);
        if (status == TANSU_OK && f->scan.index > f->p->index + 1)
            status = read_point(f, &doc, &s->after, &s->has_after);
        if (status == TANSU_OK)
            status = stage_step(f->p->s);
    }
    s->none_after = status == TANSU_DONE;
    return status == TANSU_DONE ? TANSU_OK : status;
}

static tansu_status fill_result(window_function *f) {
    fill_state *s = f->state;
    fill_point here;
    bool has_value = false;
    doc_value value;
    tansu_status status = read_point(f, &f->p->doc, &here, &has_value);
    if (status == TANSU_OK)
        status = check_place(f, s, &here.x);
    if (status != TANSU_OK)
        return status;
    if (has_value) {
        s->before = here;
        s->has_before = true;
        s->has_after = false;
        return window_keep_number(f, &here.y);
    }
    if (!s->has_before || s->none_after)
        return window_keep_null(f);
    if (!s->has_after)
        status = find_after(f, s);
    if (status != TANSU_OK || !s->has_after)
        return status == TANSU_OK ? window_keep_null(f) : status;
    const doc_value values[FORMULA_VARIABLES] = {
        number_value(&s->before.x), number_value(&s->before.y), number_value(&s->after.x),
        number_value(&s->after.y), number_value(&here.x)};
    status = window_formula(f, values, &value);
    return status == TANSU_OK ? window_keep(f, &value) : status;
}

const window_kind window_linear_fill = {.name = "$linearFill",
                                        .scope = SCOPE_SERIES,
                                        .size = sizeof(fill_state),
                                        .compile = fill_compile,
                                        .result = fill_result};

/* ---- The ends of a window ---- */

/* first_document, last_document -- of a window that is not empty. */
static tansu_status first_document(window_function *f, doc_value *doc) {
    return partition_peek(f->p, &f->lower, doc);
}

static tansu_status last_document(window_function *f, doc_value *doc) {
    f->scan.reader.at = f->last;
    return partition_peek(f->p, &f->scan, doc);
}

/* end_result -- the value of the first document, or of the last one: the variant is 1. */
static tansu_status end_result(window_function *f) {
    doc_value doc, value;
    if (window_count(f) == 0)
        return window_keep(f, &f->fallback);
    tansu_status status = f->kind->variant == 1 ? last_document(f, &doc) : first_document(f, &doc);
    if (status == TANSU_OK)
        status = window_value(f, f->input, &doc, &value);
    return status == TANSU_OK ? window_keep(f, &value) : status;
}

static tansu_status end_compile(stage *s, window_function *f, const window_order *order,
                                const doc_value *operand) {
    f->fallback = (doc_value){NULL, 0, DOC_NULL};
    return input_compile(s, f, order, operand);
}

const window_kind window_first = {.name = "$first", .compile = end_compile, .result = end_result};
const window_kind window_last = {
    .name = "$last", .compile = end_compile, .result = end_result, .variant = 1};

/* shift_compile -- the window is the one document at a distance. */
static tansu_status shift_compile(stage *s, window_function *f, const window_order *order,
                                  const doc_value *operand) {
    enum { OUTPUT, BY, DEFAULT, MEMBERS };
    doc_value members[MEMBERS];
    const expression *e;
    int64_t by;
    if (!order->given)
        return stage_error(s, f->kind->name, "Needs \"sortBy\"");
    tansu_status status = stage_members(s, operand, "output! by! default", members);
    if (status != TANSU_OK) {
        error_prefix(s->p->error, f->kind->name);
        return status;
    }
    if (!doc_is_number(&members[BY]) || !doc_as_int64(&members[BY], &by) || by < INT32_MIN ||
        by > INT32_MAX)
        return stage_error(s, f->kind->name, "Member \"by\" must be a whole number of 32 bits");
    f->bounds.lower = f->bounds.upper = (window_bound){.kind = BOUND_OFFSET, .offset = by};
    f->fallback = (doc_value){NULL, 0, DOC_NULL};
    if (members[DEFAULT].type != DOC_MISSING) {
        status = stage_expression(s, f->kind->name, &members[DEFAULT], &e);
        if (status == TANSU_OK && !expression_constant(e, &f->fallback))
            return stage_error(s, f->kind->name, "Member \"default\" must be constant");
    }
    return status == TANSU_OK ? stage_expression(s, f->kind->name, &members[OUTPUT], &f->input)
                              : status;
}

const window_kind window_shift = {
    .name = "$shift", .scope = SCOPE_OFFSET, .compile = shift_compile, .result = end_result};

/* ---- $derivative ---- */

static tansu_status derivative_compile(stage *s, window_function *f, const window_order *order,
                                       const doc_value *operand) {
    tansu_status status = window_slope_compile(s, f, order, operand);
    if (status == TANSU_OK && !f->has_window)
        return stage_error(s, f->kind->name, "Needs a \"window\"");
    return status == TANSU_OK
               ? window_formula_compile(
                     s, f, "x1 y1 x2 y2 unit",
                     "{\"$let\":{\"vars\":{\"run\":{\"$subtract\":[\"$$x2\",\"$$x1\"]},"
                     "\"rise\":{\"$subtract\":[\"$$y2\",\"$$y1\"]}},\"in\":{\"$cond\":["
                     "{\"$eq\":[\"$$run\",0]},null,{\"$multiply\":["
                     "{\"$divide\":[\"$$rise\",\"$$run\"]},\"$$unit\"]}]}}}")
               : status;
}

/* read_end -- place and value of a document at an end. */
static tansu_status read_end(window_function *f, const doc_value *doc, number *x, number *y) {
    stage *s = f->p->s;
    doc_value place, value;
    tansu_status status = window_value(f, f->by, doc, &place);
    if (status == TANSU_OK)
        status = expression_evaluate(&s->p->ev, f->input, &value);
    if (status != TANSU_OK)
        return status;
    if (f->has_unit ? place.type != DOC_DATE : !doc_is_number(&place))
        return stage_error(s, f->kind->name,
                           "The path of \"sortBy\" must have dates with a unit, and numbers "
                           "without one");
    if (!is_place(&value))
        return stage_error(s, f->kind->name, "Member \"input\" must give numbers");
    window_copy(&place, x);
    window_copy(&value, y);
    return TANSU_OK;
}

static tansu_status derivative_result(window_function *f) {
    number x1, y1, x2, y2, unit;
    doc_value doc, value;
    if (window_count(f) == 0)
        return window_keep_null(f);
    tansu_status status = first_document(f, &doc);
    if (status == TANSU_OK)
        status = read_end(f, &doc, &x1, &y1);
    if (status == TANSU_OK)
        status = last_document(f, &doc);
    if (status == TANSU_OK)
        status = read_end(f, &doc, &x2, &y2);
    if (status != TANSU_OK)
        return status;
    number_int64(window_unit_milliseconds(f), &unit);
    const doc_value values[FORMULA_VARIABLES] = {number_value(&x1), number_value(&y1),
                                                 number_value(&x2), number_value(&y2),
                                                 number_value(&unit)};
    status = window_formula(f, values, &value);
    return status == TANSU_OK ? window_keep(f, &value) : status;
}

const window_kind window_derivative = {
    .name = "$derivative", .compile = derivative_compile, .result = derivative_result};
