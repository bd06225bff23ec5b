/*
 * query/expression/operators_group.c -- accumulators as operators: $sum, $avg, $min, $max, $first,
 * $last and others, of the values of one document.
 */
#include "query/expression/expression_internal.h"
#include "query/util/numeric_sum.h"

#include "query/util/merge_sort.h"

#include <math.h>
#include <string.h>

/* ---- The values of the operands ---- */

/* Takes one value. */
typedef tansu_status (*value_taker)(evaluation *ev, void *context, const doc_value *value);

/* each_element -- gives the elements of an array. */
static tansu_status each_element(evaluation *ev, const doc_value *array, value_taker take,
                                 void *context) {
    doc_iter iter;
    tansu_status status = TANSU_OK;
    for (doc_iter_value(&iter, array); status == TANSU_OK && doc_iter_next(&iter);) {
        status = evaluation_step(ev, 1 + iter.value.size / 64);
        if (status == TANSU_OK)
            status = take(ev, context, &iter.value);
    }
    return status;
}

/* each_value -- gives the values of the operands; of a single one that is an array, its elements. */
static tansu_status each_value(evaluation *ev, const expression *e, value_taker take,
                               void *context) {
    tansu_status status = TANSU_OK;
    for (uint32_t i = 0; status == TANSU_OK && i < e->count; i++) {
        doc_value value;
        status = argument(ev, e, i, &value);
        if (status == TANSU_OK && e->count == 1 && value.type == DOC_ARRAY)
            status = each_element(ev, &value, take, context);
        else if (status == TANSU_OK)
            status = take(ev, context, &value);
    }
    return status;
}

/* ---- Numbers ---- */

/* take_sum -- into a numeric_sum. */
static tansu_status take_sum(evaluation *ev, void *context, const doc_value *value) {
    (void)ev;
    numeric_sum_add(context, value);
    return TANSU_OK;
}

/* take_deviation -- into a deviation. */
static tansu_status take_deviation(evaluation *ev, void *context, const doc_value *value) {
    (void)ev;
    deviation_add(context, value);
    return TANSU_OK;
}

static tansu_status sum_of(evaluation *ev, const expression *e, doc_value *result) {
    numeric_sum s = {0};
    number total;
    tansu_status status = each_value(ev, e, take_sum, &s);
    if (status != TANSU_OK)
        return status;
    numeric_sum_total(&s, &total);
    return result_bytes(ev, total.type, total.bytes, total.size, result);
}

static tansu_status average(evaluation *ev, const expression *e, doc_value *result) {
    numeric_sum s = {0};
    number mean;
    tansu_status status = each_value(ev, e, take_sum, &s);
    if (status != TANSU_OK)
        return status;
    return numeric_sum_mean(&s, &mean) ? result_bytes(ev, mean.type, mean.bytes, mean.size, result)
                                       : result_null(result);
}

/* standard_deviation -- the variant says whether it is that of a sample. */
static tansu_status standard_deviation(evaluation *ev, const expression *e, doc_value *result) {
    deviation d = {0};
    double value;
    tansu_status status = each_value(ev, e, take_deviation, &d);
    if (status != TANSU_OK)
        return status;
    return deviation_result(&d, e->op->variant != 0, &value) ? result_double(ev, value, result)
                                                             : result_null(result);
}

/* ---- Least and greatest ---- */

enum extreme { LEAST, GREATEST };

/* The least or greatest value so far. */
typedef struct extreme_value {
    const expression *e;
    doc_value value;
} extreme_value;

/* take_extreme -- keeps the first of the least or greatest values. */
static tansu_status take_extreme(evaluation *ev, void *context, const doc_value *value) {
    extreme_value *x = context;
    int order = 0;
    if (is_nullish(value))
        return TANSU_OK;
    if (x->value.type != DOC_NULL && !expression_compare(ev, value, &x->value, &order))
        return error_memory(ev->error);
    if (x->value.type == DOC_NULL || (x->e->op->variant == GREATEST ? order > 0 : order < 0))
        x->value = *value;
    return TANSU_OK;
}

static tansu_status extreme(evaluation *ev, const expression *e, doc_value *result) {
    extreme_value x = {e, {NULL, 0, DOC_NULL}};
    tansu_status status = each_value(ev, e, take_extreme, &x);
    *result = x.value;
    return status;
}

/* ---- First and last ---- */

/* The first or last elements of an array. */
enum end { FIRST, LAST };

/* array_argument -- the value of an operand, which must be an array, and its length. */
static tansu_status array_argument(evaluation *ev, const expression *e, uint32_t i,
                                   doc_value *array, uint32_t *count) {
    doc_iter iter;
    tansu_status status = argument(ev, e, i, array);
    if (status != TANSU_OK)
        return status;
    if (array->type != DOC_ARRAY)
        return evaluation_error(ev, e, "Takes an array, not a value of type %s", type_name(array));
    *count = 0;
    for (doc_iter_value(&iter, array); status == TANSU_OK && doc_iter_next(&iter);) {
        ++*count;
        status = evaluation_step(ev, 1);
    }
    return status;
}

static tansu_status first_or_last(evaluation *ev, const expression *e, doc_value *result) {
    doc_value array;
    doc_iter iter;
    tansu_status status = argument(ev, e, 0, &array);
    if (status != TANSU_OK)
        return status;
    if (is_nullish(&array))
        return result_null(result);
    if (array.type != DOC_ARRAY)
        return evaluation_error(ev, e, "Takes an array, not a value of type %s", type_name(&array));
    result_missing(result);
    for (doc_iter_value(&iter, &array); status == TANSU_OK && doc_iter_next(&iter);) {
        *result = iter.value;
        if (e->op->variant == FIRST)
            break;
        status = evaluation_step(ev, 1);
    }
    return status;
}

/* count_argument -- "n": how many elements are asked for. */
static tansu_status count_argument(evaluation *ev, const expression *e, uint64_t *count) {
    static const uint8_t zero[8] = {0};
    doc_value value, whole = {zero, sizeof zero, DOC_INT64};
    uint8_t bytes[8];
    int64_t n = 0;
    enum numeric_width width;
    tansu_status status = argument(ev, e, 0, &value);
    if (status != TANSU_OK)
        return status;
    bool valid = number_width(&value, &width) && number_whole(&value, FRACTION_CUT, &n) && n > 0;
    store_u64(bytes, (uint64_t)n);
    whole.data = bytes;
    if (!valid || number_compare(&whole, &value) != 0)
        return evaluation_error(ev, e, "Member \"n\" must be a whole number above 0");
    *count = (uint64_t)n;
    return TANSU_OK;
}

static tansu_status first_or_last_n(evaluation *ev, const expression *e, doc_value *result) {
    doc_value array;
    doc_iter iter;
    uint64_t n;
    uint32_t count, i = 0;
    build b;
    tansu_status status = count_argument(ev, e, &n);
    if (status == TANSU_OK)
        status = array_argument(ev, e, 1, &array, &count);
    if (status != TANSU_OK)
        return status;
    uint64_t from = e->op->variant == FIRST || n >= count ? 0 : count - n;
    build_begin(ev, &b);
    for (doc_iter_value(&iter, &array); doc_iter_next(&iter) && b.count < n; i++) {
        if (i >= from)
            build_add(&b, &iter.value);
    }
    return build_end(ev, e, &b, DOC_ARRAY, result);
}

/* ---- The least and greatest n ---- */

/* An element that is sorted. */
typedef struct ordered_value {
    doc_value value;
    evaluation *ev;
    uint32_t at; /* equal ones are in the order of the array */
    bool descending;
} ordered_value;

/* compare_ordered -- for merge_sort(). */
static int compare_ordered(const void *a, const void *b) {
    const ordered_value *x = a, *y = b;
    int order = 0;
    if (!expression_compare(x->ev, &x->value, &y->value, &order))
        order = 0;
    if (order == 0)
        order = x->at < y->at ? -1 : 1;
    return x->descending ? -order : order;
}

static tansu_status extreme_n(evaluation *ev, const expression *e, doc_value *result) {
    doc_value array;
    doc_iter iter;
    uint64_t n;
    uint32_t count, used = 0;
    build b;
    tansu_status status = count_argument(ev, e, &n);
    if (status == TANSU_OK)
        status = array_argument(ev, e, 1, &array, &count);
    if (status != TANSU_OK)
        return status;
    ordered_value *values = arena_alloc(&ev->memory, ((size_t)count + 1) * sizeof *values);
    if (!values)
        return evaluation_too_large(ev, e);
    for (doc_iter_value(&iter, &array); doc_iter_next(&iter);) {
        if (is_nullish(&iter.value))
            continue;
        values[used] = (ordered_value){iter.value, ev, used, e->op->variant == GREATEST};
        used++;
    }
    status = merge_sort(values, used, sizeof *values, compare_ordered, ev->deadline, ev->error);
    if (status != TANSU_OK)
        return status;
    build_begin(ev, &b);
    for (uint32_t i = 0; i < used && i < n; i++)
        build_add(&b, &values[i].value);
    return build_end(ev, e, &b, DOC_ARRAY, result);
}

/* ---- Percentiles ---- */

/* The constant operands of $percentile. */
typedef struct percentiles {
    uint32_t count;
    double p[];
} percentiles;

/* check_method -- that a member "method" is a string that names the method. */
static tansu_status check_method(const expression_compiler *c, const doc_value *operand,
                                 const expression *e) {
    static const char method[] = "approximate";
    doc_iter iter;
    size_t size;
    for (doc_iter_value(&iter, operand); doc_iter_next(&iter);) {
        if (strcmp(iter.key, "method") != 0)
            continue;
        if (iter.value.type != DOC_STRING || strcmp(doc_string(&iter.value, &size), method) != 0)
            return compile_error(c, e->op->name, "Member \"method\" must be \"%s\"", method);
    }
    return TANSU_OK;
}

static tansu_status compile_median(expression_compiler *c, const doc_value *operand,
                                   expression *e) {
    tansu_status status = compile_named(c, operand, e, "input! method!");
    return status == TANSU_OK ? check_method(c, operand, e) : status;
}

static tansu_status compile_percentile(expression_compiler *c, const doc_value *operand,
                                       expression *e) {
    static const char wrong[] = "Member \"p\" must be an array of numbers from 0 to 1, constant "
                                "and not empty";
    doc_value array;
    doc_iter iter;
    uint32_t count = 0;
    enum numeric_width width;
    tansu_status status = compile_named(c, operand, e, "input! p! method!");
    if (status == TANSU_OK)
        status = check_method(c, operand, e);
    if (status != TANSU_OK)
        return status;
    if (!expression_constant(e->args[1], &array) || array.type != DOC_ARRAY)
        return compile_error(c, e->op->name, "%s", wrong);
    for (doc_iter_value(&iter, &array); doc_iter_next(&iter);)
        count++;
    percentiles *list = arena_alloc(c->memory, sizeof *list + count * sizeof *list->p);
    if (!list)
        return error_memory(c->error);
    for (doc_iter_value(&iter, &array); doc_iter_next(&iter);) {
        double p = number_width(&iter.value, &width) ? number_to_double(&iter.value) : -1;
        if (!(p >= 0 && p <= 1))
            return compile_error(c, e->op->name, "%s", wrong);
        list->p[list->count++] = p;
    }
    e->extra = list;
    return count != 0 ? TANSU_OK : compile_error(c, e->op->name, "%s", wrong);
}

/* sorted_numbers -- the numbers of a value, or of the elements of an array; no NaN unless it is the
 * only one. */
static tansu_status sorted_numbers(evaluation *ev, const expression *e, double **numbers,
                                   size_t *count) {
    enum numeric_width width;
    doc_value input;
    doc_iter iter;
    uint32_t length = 1;
    *count = 0;
    tansu_status status = argument(ev, e, 0, &input);
    if (status != TANSU_OK)
        return status;
    if (input.type == DOC_ARRAY)
        status = array_argument(ev, e, 0, &input, &length);
    if (status != TANSU_OK)
        return status;
    *numbers = arena_alloc(&ev->memory, ((size_t)length + 1) * sizeof **numbers);
    if (!*numbers)
        return evaluation_too_large(ev, e);
    if (number_width(&input, &width))
        (*numbers)[(*count)++] = number_to_double(&input);
    if (input.type != DOC_ARRAY)
        return TANSU_OK;
    for (doc_iter_value(&iter, &input); doc_iter_next(&iter);) {
        double value = number_width(&iter.value, &width) ? number_to_double(&iter.value) : NAN;
        if (!isnan(value))
            (*numbers)[(*count)++] = value;
    }
    return percentile_sort(*numbers, *count, ev->deadline, ev->error);
}

static tansu_status median(evaluation *ev, const expression *e, doc_value *result) {
    double *numbers;
    size_t count;
    tansu_status status = sorted_numbers(ev, e, &numbers, &count);
    if (status != TANSU_OK)
        return status;
    return count != 0 ? result_double(ev, numbers[percentile_position(count, 0.5)], result)
                      : result_null(result);
}

static tansu_status percentile(evaluation *ev, const expression *e, doc_value *result) {
    const percentiles *list = e->extra;
    double *numbers;
    size_t count;
    build b;
    tansu_status status = sorted_numbers(ev, e, &numbers, &count);
    if (status != TANSU_OK)
        return status;
    build_begin(ev, &b);
    for (uint32_t i = 0; i < list->count; i++) {
        doc_value value = {NULL, 0, DOC_NULL};
        if (count != 0) {
            value = (doc_value){(const uint8_t *)&numbers[percentile_position(count, list->p[i])],
                                sizeof *numbers, DOC_DOUBLE};
        }
        build_add(&b, &value);
    }
    return build_end(ev, e, &b, DOC_ARRAY, result);
}

const operator_info operators_group[] = {
    {.name = "$sum", .evaluate = sum_of, .max = ANY_COUNT},
    {.name = "$avg", .evaluate = average, .max = ANY_COUNT},
    {.name = "$min", .evaluate = extreme, .max = ANY_COUNT, .variant = LEAST},
    {.name = "$max", .evaluate = extreme, .max = ANY_COUNT, .variant = GREATEST},
    {.name = "$first", .evaluate = first_or_last, .min = 1, .max = 1, .variant = FIRST},
    {.name = "$last", .evaluate = first_or_last, .min = 1, .max = 1, .variant = LAST},
    {.name = "$firstN", .evaluate = first_or_last_n, .named = "n! input!", .variant = FIRST},
    {.name = "$lastN", .evaluate = first_or_last_n, .named = "n! input!", .variant = LAST},
    {.name = "$minN", .evaluate = extreme_n, .named = "n! input!", .variant = LEAST},
    {.name = "$maxN", .evaluate = extreme_n, .named = "n! input!", .variant = GREATEST},
    {.name = "$stdDevPop", .evaluate = standard_deviation, .max = ANY_COUNT, .variant = 0},
    {.name = "$stdDevSamp", .evaluate = standard_deviation, .max = ANY_COUNT, .variant = 1},
    {.name = "$median", .evaluate = median, .compile = compile_median},
    {.name = "$percentile", .evaluate = percentile, .compile = compile_percentile},
    {.name = NULL},
};
