/*
 * query/pipeline/window_states.c -- functions that values are removed from again, as a window moves:
 * $sum, $avg, $count, $min, $max, the standard deviations and the covariances; and $integral.
 *
 * Sums of doubles have 106 bits, so that removing a value hardly ever costs a bit of what is left.
 * Where it may, the function says so (drifts, inexact), and the window is added up anew.
 */
#include "query/pipeline/window_functions.h"

#include "bson/decimal_arithmetic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Sums ---- */

/* A sum of which numbers can be removed. */
typedef struct window_sum {
    numeric_sum sum;
    int64_t count;
    int64_t doubles, decimals; /* so many of the numbers are */
    int64_t nan, plus_infinity, minus_infinity;
} window_sum;

/* count_special -- counts a number that is not finite; false if it is. */
static bool count_special(window_sum *s, const doc_value *value, int64_t step) {
    decimal d;
    bool negative;
    if (number_is_nan(value)) {
        s->nan += step;
        return true;
    }
    if (value->type == DOC_DOUBLE) {
        negative = doc_double(value) < 0;
        if (!isinf(doc_double(value)))
            return false;
    } else if (value->type == DOC_DECIMAL128) {
        decimal_read(&d, value->data);
        negative = d.negative;
        if (d.kind != DECIMAL_INFINITE)
            return false;
    } else {
        return false;
    }
    *(negative ? &s->minus_infinity : &s->plus_infinity) += step;
    return true;
}

/* add_negated -- adds the negative of a finite number. */
static void add_negated(window_sum *s, const doc_value *value) {
    decimal d;
    number n;
    switch (value->type) {
    case DOC_INT32: number_int64(-(int64_t)doc_int32(value), &n); break;
    case DOC_INT64:
        if (doc_int64(value) == INT64_MIN) {
            number_int64(1, &n);
            const doc_value one = number_value(&n);
            numeric_sum_add(&s->sum, &one);
            number_int64(INT64_MAX, &n);
        } else {
            number_int64(-doc_int64(value), &n);
        }
        break;
    case DOC_DOUBLE: number_double(-doc_double(value), &n); break;
    default:
        decimal_read(&d, value->data);
        d.negative = !d.negative;
        number_decimal(&d, &n);
        break;
    }
    const doc_value negated = number_value(&n);
    numeric_sum_add(&s->sum, &negated);
}

/* sum_update -- adds a number, or removes one that was added. */
static void sum_update(window_function *f, window_sum *s, const doc_value *value, bool remove) {
    enum numeric_width width;
    int64_t step = remove ? -1 : 1;
    if (!number_width(value, &width))
        return;
    s->count += step;
    s->doubles += width == WIDTH_DOUBLE ? step : 0;
    s->decimals += width == WIDTH_DECIMAL ? step : 0;
    if (count_special(s, value, step))
        return;
    f->drifts = f->drifts || width == WIDTH_DOUBLE;
    if (!remove) {
        numeric_sum_add(&s->sum, value);
        return;
    }
    add_negated(s, value);
    if (width == WIDTH_DOUBLE && doc_double(value) != 0 &&
        !(fabs(doc_double(value)) <= 0x1p40 * fabs(s->sum.high)))
        f->inexact = true;
}

/* special_total -- the sum if it is not finite. */
static bool special_total(const window_sum *s, number *result) {
    double value = INFINITY;
    if (s->nan == 0 && s->plus_infinity == 0 && s->minus_infinity == 0)
        return false;
    if (s->nan != 0 || (s->plus_infinity != 0 && s->minus_infinity != 0))
        value = NAN;
    else if (s->minus_infinity != 0)
        value = -INFINITY;
    if (s->decimals == 0) {
        number_double(value, result);
        return true;
    }
    const decimal d = {.kind = isnan(value) ? DECIMAL_NAN : DECIMAL_INFINITE,
                       .negative = value < 0};
    number_decimal(&d, result);
    return true;
}

/* sum_total -- the sum, in the type of the numbers that are there. */
static void sum_total(const window_sum *s, number *result) {
    int64_t whole;
    if (special_total(s, result))
        return;
    numeric_sum_total(&s->sum, result);
    const doc_value total = number_value(result);
    if (total.type == DOC_DECIMAL128 && s->decimals != 0)
        return;
    if (total.type == DOC_DOUBLE && s->doubles != 0)
        return;
    if (s->doubles == 0 && s->decimals == 0 && doc_as_int64(&total, &whole)) {
        if (whole >= INT32_MIN && whole <= INT32_MAX)
            number_int32((int32_t)whole, result);
        else
            number_int64(whole, result);
        return;
    }
    number_double(number_to_double(&total), result);
}

/* sum_mean -- the mean; false of no numbers. */
static bool sum_mean(const window_sum *s, number *result) {
    decimal total, count;
    if (s->count <= 0)
        return false;
    sum_total(s, result);
    const doc_value sum = number_value(result);
    if (sum.type != DOC_DECIMAL128) {
        number_double(number_to_double(&sum) / (double)s->count, result);
        return true;
    }
    decimal_read(&total, sum.data);
    if (total.kind == DECIMAL_FINITE) {
        decimal_from_int64(s->count, &count);
        decimal_quotient(&total, &count, &total);
        number_decimal(&total, result);
    }
    return true;
}

/* input_of -- the value that an accumulator takes of a document. */
static tansu_status input_of(window_function *f, const doc_value *doc, doc_value *result) {
    accumulator_input input;
    tansu_status status = accumulation_evaluate(&f->memory, &f->accumulation, doc, &input);
    *result = input.value;
    return status;
}

static tansu_status sum_add(window_function *f, const doc_value *doc, bool tied) {
    doc_value value;
    (void)tied;
    tansu_status status = input_of(f, doc, &value);
    if (status == TANSU_OK)
        sum_update(f, f->state, &value, false);
    return status;
}

static tansu_status sum_remove(window_function *f, const doc_value *doc) {
    doc_value value;
    tansu_status status = input_of(f, doc, &value);
    if (status == TANSU_OK)
        sum_update(f, f->state, &value, true);
    return status;
}

static tansu_status sum_result(window_function *f) {
    number total;
    sum_total(f->state, &total);
    return window_keep_number(f, &total);
}

static tansu_status avg_result(window_function *f) {
    number mean;
    return sum_mean(f->state, &mean) ? window_keep_number(f, &mean) : window_keep_null(f);
}

/* count_result -- of any window. */
static tansu_status count_result(window_function *f) {
    number n;
    uint64_t count = window_count(f);
    if (count <= INT32_MAX)
        number_int32((int32_t)count, &n);
    else
        number_int64((int64_t)count, &n);
    return window_keep_number(f, &n);
}

/* ---- Standard deviations ---- */

typedef struct moving_deviation {
    int64_t count;
    int64_t special; /* numbers that are not finite */
    numeric_sum sum;
    numeric_sum squares; /* of the differences from the mean */
} moving_deviation;

/* add_double -- adds to a sum. */
static void add_double(numeric_sum *s, double value) {
    number n;
    number_double(value, &n);
    const doc_value number = number_value(&n);
    numeric_sum_add(s, &number);
}

/* deviation_update -- adds a number, or removes one that was added. */
static void deviation_update(window_function *f, const doc_value *value, bool remove) {
    moving_deviation *s = f->state;
    enum numeric_width width;
    window_sum special = {.count = 0};
    int64_t step = remove ? -1 : 1;
    if (!number_width(value, &width))
        return;
    if (count_special(&special, value, 1)) {
        s->special += step;
        return;
    }
    double number = number_to_double(value);
    if (s->count + step == 0) {
        *s = (moving_deviation){.special = s->special};
        return;
    }
    double distance = (double)s->count * number - s->sum.high;
    int64_t before = s->count;
    s->count += step;
    add_double(&s->sum, (double)step * number);
    if (before == 0)
        return;
    double square = distance * distance / ((double)s->count * (double)before);
    add_double(&s->squares, (double)step * square);
    f->drifts = true;
    if (remove && square != 0 && !(square <= 0x1p20 * s->squares.high))
        f->inexact = true;
}

static tansu_status deviation_add_input(window_function *f, const doc_value *doc, bool tied) {
    doc_value value;
    (void)tied;
    tansu_status status = input_of(f, doc, &value);
    if (status == TANSU_OK)
        deviation_update(f, &value, false);
    return status;
}

static tansu_status deviation_remove_input(window_function *f, const doc_value *doc) {
    doc_value value;
    tansu_status status = input_of(f, doc, &value);
    if (status == TANSU_OK)
        deviation_update(f, &value, true);
    return status;
}

/* deviation_value -- the variant is 1 for a sample. As in MongoDB, a deviation that is known to be
 * zero is an int32. */
static tansu_status deviation_value(window_function *f) {
    const moving_deviation *s = f->state;
    int64_t count = s->count - f->kind->variant;
    number n;
    if (s->special > 0 || count <= 0)
        return window_keep_null(f);
    double squares = isfinite(s->squares.high) ? s->squares.high : s->squares.special;
    if (squares < 0 || (s->count == 1 && f->kind->variant == 0))
        number_int32(0, &n);
    else
        number_double(sqrt(squares / (double)count), &n);
    return window_keep_number(f, &n);
}

/* ---- $min and $max ---- */

/* A value that may become the result. */
typedef struct extreme_item {
    uint8_t *bytes;
    uint32_t capacity;
    uint32_t size;
    uint8_t type;
    uint64_t index; /* of its document */
} extreme_item;

/* A queue, in a ring: each item is behind those that are better and leave earlier. */
typedef struct extreme_queue {
    extreme_item *items;
    size_t capacity; /* a power of two, or 0 */
    size_t first;
    size_t count;
} extreme_queue;

/* item_at -- an item of the queue. */
static extreme_item *item_at(const extreme_queue *q, size_t i) {
    return &q->items[(q->first + i) & (q->capacity - 1)];
}

/* grow_queue -- twice as many items. */
static tansu_status grow_queue(window_function *f, extreme_queue *q) {
    size_t capacity = q->capacity == 0 ? 16 : q->capacity * 2;
    extreme_item *items =
        capacity > SIZE_MAX / 2 / sizeof *items ? NULL : calloc(capacity, sizeof *items);
    if (!items)
        return error_memory(f->p->s->p->error);
    for (size_t i = 0; i < q->capacity; i++)
        items[i] = *item_at(q, i);
    f->memory.used += (capacity - q->capacity) * sizeof *items;
    free(q->items);
    q->items = items;
    q->capacity = capacity;
    q->first = 0;
    return TANSU_OK;
}

/* put_item -- appends a value to the queue. */
static tansu_status put_item(window_function *f, extreme_queue *q, const doc_value *value) {
    tansu_status status = q->count == q->capacity ? grow_queue(f, q) : TANSU_OK;
    if (status != TANSU_OK)
        return status;
    extreme_item *item = item_at(q, q->count);
    if (value->size > item->capacity) {
        uint8_t *bytes = realloc(item->bytes, value->size);
        if (!bytes)
            return error_memory(f->p->s->p->error);
        f->memory.used += value->size - item->capacity;
        item->bytes = bytes;
        item->capacity = value->size;
    }
    if (value->size != 0)
        memcpy(item->bytes, value->data, value->size);
    item->size = value->size;
    item->type = value->type;
    item->index = f->upper.index;
    q->count++;
    return TANSU_OK;
}

/* extreme_add -- the variant is 1 for $max. Of equal values the first one is the least, and the last
 * one the greatest, as in MongoDB. */
static tansu_status extreme_add(window_function *f, const doc_value *doc, bool tied) {
    extreme_queue *q = f->state;
    doc_value value;
    (void)tied;
    tansu_status status = input_of(f, doc, &value);
    if (status != TANSU_OK)
        return status;
    if (window_is_nothing(&value))
        return TANSU_OK;
    for (; q->count != 0; q->count--) {
        const extreme_item *last = item_at(q, q->count - 1);
        const doc_value other = {last->bytes, last->size, last->type};
        int order;
        if (!expression_compare(&f->p->s->p->ev, &value, &other, &order))
            return error_memory(f->p->s->p->error);
        if (f->kind->variant == 1 ? order < 0 : order >= 0)
            break;
    }
    return put_item(f, q, &value);
}

static tansu_status extreme_remove(window_function *f, const doc_value *doc) {
    extreme_queue *q = f->state;
    (void)doc;
    if (q->count != 0 && item_at(q, 0)->index == f->lower.index) {
        q->first = (q->first + 1) & (q->capacity - 1);
        q->count--;
    }
    return TANSU_OK;
}

static tansu_status extreme_result(window_function *f) {
    const extreme_queue *q = f->state;
    if (q->count == 0)
        return window_keep_null(f);
    const extreme_item *item = item_at(q, 0);
    f->result = (doc_value){item->bytes, item->size, item->type};
    return TANSU_OK;
}

static void extreme_free(void *state) {
    extreme_queue *q = state;
    for (size_t i = 0; i < q->capacity; i++)
        free(q->items[i].bytes);
    free(q->items);
}

/* ---- The table ---- */

static const window_kind moving[] = {
    {.name = "$sum",
     .size = sizeof(window_sum),
     .add = sum_add,
     .remove = sum_remove,
     .result = sum_result},
    {.name = "$avg",
     .size = sizeof(window_sum),
     .add = sum_add,
     .remove = sum_remove,
     .result = avg_result},
    {.name = "$count", .result = count_result},
    {.name = "$stdDevPop",
     .size = sizeof(moving_deviation),
     .add = deviation_add_input,
     .remove = deviation_remove_input,
     .result = deviation_value},
    {.name = "$stdDevSamp",
     .size = sizeof(moving_deviation),
     .add = deviation_add_input,
     .remove = deviation_remove_input,
     .result = deviation_value,
     .variant = 1},
    {.name = "$min",
     .size = sizeof(extreme_queue),
     .add = extreme_add,
     .remove = extreme_remove,
     .result = extreme_result,
     .free = extreme_free},
    {.name = "$max",
     .size = sizeof(extreme_queue),
     .add = extreme_add,
     .remove = extreme_remove,
     .result = extreme_result,
     .free = extreme_free,
     .variant = 1},
};

const window_kind *window_moving_kind(const char *name) {
    for (size_t i = 0; i < sizeof moving / sizeof *moving; i++) {
        if (strcmp(moving[i].name, name) == 0)
            return &moving[i];
    }
    return NULL;
}

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
    bool special = count_special(&both, &pair[0], 1);
    special = count_special(&both, &pair[1], 1) || special;
    for (int i = 0; i < 2; i++)
        both.decimals += pair[i].type == DOC_DECIMAL128 && !number_is_nan(&pair[i]);
    return special && special_total(&both, result);
}

/* mean_of -- the mean of a sum, or null. */
static doc_value mean_of(const window_sum *s, number *mean) {
    return sum_mean(s, mean) ? number_value(mean) : (doc_value){NULL, 0, DOC_NULL};
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
        sum_update(f, &s->products, &number, remove);
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
        sum_update(f, &s->x, &pair[0], true);
    doc_value values[FORMULA_VARIABLES] = {pair[0], pair[1], mean_of(&s->x, &mean_x)};
    if (!remove) {
        sum_update(f, &s->x, &pair[0], false);
        sum_update(f, &s->y, &pair[1], false);
    }
    values[3] = mean_of(&s->y, &mean_y);
    status = window_formula(f, values, &product);
    if (status == TANSU_OK)
        sum_update(f, &s->products, &product, remove);
    if (remove)
        sum_update(f, &s->y, &pair[1], true);
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
    sum_total(&s->products, &total);
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

typedef struct integral {
    window_sum sum; /* of the trapezia */
    number x, y;    /* the point before */
    int64_t count;  /* points */
    int64_t nan;    /* points with one */
    bool before_is_nan;
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

static tansu_status integral_add(window_function *f, const doc_value *doc, bool tied) {
    integral *s = f->state;
    evaluation *ev = &f->p->s->p->ev;
    stage *stage = f->p->s;
    doc_value x, y, area;
    (void)doc;
    (void)tied;
    tansu_status status = expression_evaluate(ev, f->by, &x);
    if (status == TANSU_OK)
        status = expression_evaluate(ev, f->input, &y);
    if (status != TANSU_OK)
        return status;
    if (!doc_is_number(&y))
        return stage_error(stage, f->kind->name, "Member \"input\" must give numbers");
    if (f->has_unit ? x.type != DOC_DATE : !doc_is_number(&x))
        return stage_error(stage, f->kind->name,
                           "The path of \"sortBy\" must have dates with a unit, and numbers "
                           "without one");
    bool nan = number_is_nan(&y) || (doc_is_number(&x) && number_is_nan(&x));
    if (s->count != 0 && !nan && !s->before_is_nan) {
        const doc_value values[FORMULA_VARIABLES] = {number_value(&s->x), number_value(&s->y), x,
                                                     y};
        status = window_formula(f, values, &area);
        if (status != TANSU_OK)
            return status;
        sum_update(f, &s->sum, &area, false);
    }
    window_copy(&x, &s->x);
    window_copy(&y, &s->y);
    s->count++;
    s->nan += nan;
    s->before_is_nan = nan;
    return TANSU_OK;
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
    sum_total(&s->sum, &sum);
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
                                     .result = integral_result};
