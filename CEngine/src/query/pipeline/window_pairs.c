/*
 * query/pipeline/window_pairs.c -- functions of pairs of numbers: the covariances, and $integral;
 * and what $derivative shares with that.
 */
#include "query/pipeline/window_sum.h"

#include "bson/decimal_arithmetic.h"

#include <math.h>

/* ---- Covariances ---- */

typedef struct covariance {
    int64_t count; /* pairs of finite numbers */
    int64_t nan;   /* other pairs that count as NaN */
    window_sum x, y;
    window_sum products;
} covariance;

static tansu_status covariance_compile(stage *s, window_function *f, const window_order *order,
                                       const doc_value *operand) {
    (void)order;
    tansu_status status = stage_expression(s, f->kind->name, operand, &f->input);
    return status == TANSU_OK
               ? window_formula_compile(s, f, "x y meanX meanY",
                                        "{\"$multiply\":[{\"$subtract\":[\"$$x\",\"$$meanX\"]},"
                                        "{\"$subtract\":[\"$$y\",\"$$meanY\"]}]}")
               : status;
}

/* read_pair -- the two numbers of an array; false for all else. */
static bool read_pair(const doc_value *value, doc_value *pair) {
    doc_iter iter;
    uint32_t count = 0;
    if (value->type != DOC_ARRAY)
        return false;
    for (doc_iter_value(&iter, value); doc_iter_next(&iter); count++) {
        if (count == 2 || !doc_is_number(&iter.value))
            return false;
        pair[count] = iter.value;
    }
    return count == 2;
}

/* is_special_pair -- whether a number of the pair is not finite; then `result` stands for it. */
static bool is_special_pair(const doc_value *pair, number *result) {
    window_sum both = {.count = 0};
    bool special = window_sum_special(&both, &pair[0], 1);
    special = window_sum_special(&both, &pair[1], 1) || special;
    for (int i = 0; i < 2; i++)
        both.decimals += pair[i].type == DOC_DECIMAL128 && !number_is_nan(&pair[i]);
    return special && window_sum_special_total(&both, result);
}

/* mean_of -- the mean of a sum, or null. */
static doc_value mean_of(const window_sum *s, number *mean) {
    return window_sum_mean(s, mean) ? number_value(mean) : (doc_value){NULL, 0, DOC_NULL};
}

/* covariance_update -- adds a pair, or removes one that was added. The product of its differences
 * is that from the mean of the others in x, and of all in y. */
static tansu_status covariance_update(window_function *f, const doc_value *doc, bool remove) {
    covariance *s = f->state;
    doc_value value, pair[2], product;
    number special, mean_x, mean_y;
    tansu_status status = expression_evaluate(&f->p->s->p->ev, f->input, &value);
    (void)doc;
    if (status != TANSU_OK || !read_pair(&value, pair))
        return status;
    if (is_special_pair(pair, &special)) {
        const doc_value number = number_value(&special);
        s->nan += number_is_nan(&number) ? (remove ? -1 : 1) : 0;
        window_sum_update(f, &s->products, &number, remove);
        return TANSU_OK;
    }
    s->count += remove ? -1 : 1;
    if (remove && s->count == 0) {
        const window_sum left = s->products;
        *s = (covariance){.nan = s->nan};
        s->products.nan = left.nan;
        s->products.plus_infinity = left.plus_infinity;
        s->products.minus_infinity = left.minus_infinity;
        return TANSU_OK;
    }
    if (remove)
        window_sum_update(f, &s->x, &pair[0], true);
    doc_value values[FORMULA_VARIABLES] = {pair[0], pair[1], mean_of(&s->x, &mean_x)};
    if (!remove) {
        window_sum_update(f, &s->x, &pair[0], false);
        window_sum_update(f, &s->y, &pair[1], false);
    }
    values[3] = mean_of(&s->y, &mean_y);
    status = window_formula(f, values, &product);
    if (status == TANSU_OK)
        window_sum_update(f, &s->products, &product, remove);
    if (remove)
        window_sum_update(f, &s->y, &pair[1], true);
    return status;
}

static tansu_status covariance_add(window_function *f, const doc_value *doc, bool tied) {
    (void)tied;
    return covariance_update(f, doc, false);
}

static tansu_status covariance_remove(window_function *f, const doc_value *doc) {
    return covariance_update(f, doc, true);
}

/* covariance_result -- the variant is 1 for a sample. */
static tansu_status covariance_result(window_function *f) {
    const covariance *s = f->state;
    int64_t count = s->count - f->kind->variant;
    decimal sum, divisor;
    number total;
    if (count <= 0)
        return window_keep_null(f);
    window_sum_total(&s->products, &total);
    const doc_value products = number_value(&total);
    if (s->count == 1 && f->kind->variant == 0) {
        number_double(0, &total);
    } else if (s->nan != 0) {
        number_double(NAN, &total);
    } else if (products.type == DOC_DECIMAL128) {
        decimal_read(&sum, products.data);
        decimal_from_double_15((double)count, &divisor);
        decimal_quotient(&sum, &divisor, &sum);
        number_decimal(&sum, &total);
    } else {
        number_double(number_to_double(&products) / (double)count, &total);
    }
    return window_keep_number(f, &total);
}

const window_kind window_covariance_pop = {.name = "$covariancePop",
                                           .size = sizeof(covariance),
                                           .compile = covariance_compile,
                                           .add = covariance_add,
                                           .remove = covariance_remove,
                                           .result = covariance_result};
const window_kind window_covariance_samp = {.name = "$covarianceSamp",
                                            .size = sizeof(covariance),
                                            .compile = covariance_compile,
                                            .add = covariance_add,
                                            .remove = covariance_remove,
                                            .result = covariance_result,
                                            .variant = 1};

/* ---- $integral ---- */

/* A point of the series. */
typedef struct integral_point {
    number x, y;
    bool nan; /* one of them is */
} integral_point;

typedef struct integral {
    window_sum sum;      /* of the areas between points */
    integral_point last; /* the newest point */
    int64_t count;       /* points */
    int64_t nan;         /* those with one */
} integral;

/* The units that have one length. */
static const int64_t unit_milliseconds[] = {
    [DATE_WEEK] = 604800000, [DATE_DAY] = 86400000, [DATE_HOUR] = 3600000,
    [DATE_MINUTE] = 60000,   [DATE_SECOND] = 1000,  [DATE_MILLISECOND] = 1};

tansu_status window_slope_compile(stage *s, window_function *f, const window_order *order,
                                  const doc_value *operand) {
    enum { INPUT, UNIT, MEMBERS };
    doc_value members[MEMBERS];
    const char *name = f->kind->name;
    if (!order->by || order->count != 1)
        return stage_error(s, name, "Needs \"sortBy\" with one path");
    tansu_status status = stage_members(s, operand, "input! unit", members);
    if (status != TANSU_OK) {
        error_prefix(s->p->error, name);
        return status;
    }
    f->has_unit = members[UNIT].type != DOC_MISSING;
    if (f->has_unit)
        status = window_unit_compile(s, name, &members[UNIT], &f->unit);
    if (status == TANSU_OK && f->has_unit && f->unit < DATE_WEEK)
        return stage_error(s, name, "Member \"unit\" must be \"week\" or a shorter one");
    if (status == TANSU_OK)
        status = stage_expression(s, name, &members[INPUT], &f->input);
    return status;
}

int64_t window_unit_milliseconds(const window_function *f) {
    return f->has_unit ? unit_milliseconds[f->unit] : 1;
}

static tansu_status integral_compile(stage *s, window_function *f, const window_order *order,
                                     const doc_value *operand) {
    tansu_status status = window_slope_compile(s, f, order, operand);
    return status == TANSU_OK ? window_formula_compile(
                                    s, f, "x1 y1 x2 y2",
                                    "{\"$divide\":[{\"$multiply\":[{\"$add\":[\"$$y2\",\"$$y1\"]},"
                                    "{\"$subtract\":[\"$$x2\",\"$$x1\"]}]},2.0]}")
                              : status;
}

/* read_point -- the point of the document that is set. Errors: INVALID_QUERY. */
static tansu_status read_point(window_function *f, integral_point *point) {
    stage *s = f->p->s;
    doc_value x, y;
    tansu_status status = expression_evaluate(&s->p->ev, f->by, &x);
    if (status == TANSU_OK)
        status = expression_evaluate(&s->p->ev, f->input, &y);
    if (status != TANSU_OK)
        return status;
    if (!doc_is_number(&y))
        return stage_error(s, f->kind->name, "Member \"input\" must give numbers");
    if (f->has_unit ? x.type != DOC_DATE : !doc_is_number(&x))
        return stage_error(s, f->kind->name,
                           "The path of \"sortBy\" must have dates with a unit, and numbers "
                           "without one");
    point->nan = number_is_nan(&y) || (doc_is_number(&x) && number_is_nan(&x));
    window_copy(&x, &point->x);
    window_copy(&y, &point->y);
    return TANSU_OK;
}

/* update_area -- adds the area below two points, or removes it. */
static tansu_status update_area(window_function *f, const integral_point *a,
                                const integral_point *b, bool remove) {
    integral *s = f->state;
    doc_value area;
    const doc_value values[FORMULA_VARIABLES] = {number_value(&a->x), number_value(&a->y),
                                                 number_value(&b->x), number_value(&b->y)};
    if (a->nan || b->nan)
        return TANSU_OK;
    tansu_status status = window_formula(f, values, &area);
    if (status == TANSU_OK)
        window_sum_update(f, &s->sum, &area, remove);
    return status;
}

static tansu_status integral_add(window_function *f, const doc_value *doc, bool tied) {
    integral *s = f->state;
    integral_point point;
    (void)doc;
    (void)tied;
    tansu_status status = read_point(f, &point);
    if (status == TANSU_OK && s->count != 0)
        status = update_area(f, &s->last, &point, false);
    if (status != TANSU_OK)
        return status;
    s->last = point;
    s->count++;
    s->nan += point.nan;
    return TANSU_OK;
}

/* integral_remove -- also the area up to the next document. */
static tansu_status integral_remove(window_function *f, const doc_value *doc) {
    integral *s = f->state;
    integral_point point, next;
    doc_value other;
    (void)doc;
    tansu_status status = read_point(f, &point);
    if (status != TANSU_OK)
        return status;
    s->nan -= point.nan;
    if (--s->count == 0) {
        *s = (integral){.count = 0};
        return TANSU_OK;
    }
    f->scan.reader.at = f->lower.reader.at;
    status = partition_read(f->p, &f->scan, &other);
    if (status == TANSU_OK)
        status = partition_peek(f->p, &f->scan, &other);
    if (status != TANSU_OK)
        return status;
    evaluation_document(&f->p->s->p->ev, other.data, other.size);
    status = read_point(f, &next);
    return status == TANSU_OK ? update_area(f, &point, &next, true) : status;
}

static tansu_status integral_result(window_function *f) {
    const integral *s = f->state;
    decimal total, unit;
    number sum;
    if (s->count == 0)
        return window_keep_null(f);
    if (s->nan != 0) {
        number_double(NAN, &sum);
        return window_keep_number(f, &sum);
    }
    window_sum_total(&s->sum, &sum);
    const doc_value value = number_value(&sum);
    if (f->has_unit && value.type == DOC_DECIMAL128) {
        decimal_read(&total, value.data);
        decimal_from_int64(window_unit_milliseconds(f), &unit);
        decimal_quotient(&total, &unit, &total);
        number_decimal(&total, &sum);
    } else if (f->has_unit) {
        number_double(number_to_double(&value) / (double)window_unit_milliseconds(f), &sum);
    }
    return window_keep_number(f, &sum);
}

const window_kind window_integral = {.name = "$integral",
                                     .size = sizeof(integral),
                                     .compile = integral_compile,
                                     .add = integral_add,
                                     .remove = integral_remove,
                                     .result = integral_result};
