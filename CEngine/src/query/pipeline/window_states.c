/*
 * query/pipeline/window_states.c -- accumulators that values are removed from again, as a window
 * moves: $sum, $avg, $count, $min, $max and the standard deviations; and $minMaxScaler.
 */
#include "query/pipeline/window_sum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- $sum, $avg and $count ---- */

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
        window_sum_update(f, f->state, &value, false);
    return status;
}

static tansu_status sum_remove(window_function *f, const doc_value *doc) {
    doc_value value;
    tansu_status status = input_of(f, doc, &value);
    if (status == TANSU_OK)
        window_sum_update(f, f->state, &value, true);
    return status;
}

static tansu_status sum_result(window_function *f) {
    number total;
    window_sum_total(f->state, &total);
    return window_keep_number(f, &total);
}

static tansu_status avg_result(window_function *f) {
    number mean;
    return window_sum_mean(f->state, &mean) ? window_keep_number(f, &mean) : window_keep_null(f);
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
    if (window_sum_special(&special, value, 1)) {
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

/* put_extreme -- a value comes into the window. Of equal values the first one is the least, and the
 * last one the greatest, as in MongoDB. */
static tansu_status put_extreme(window_function *f, extreme_queue *q, const doc_value *value,
                                bool greatest) {
    for (; q->count != 0; q->count--) {
        const extreme_item *last = item_at(q, q->count - 1);
        const doc_value other = {last->bytes, last->size, last->type};
        int order;
        if (!expression_compare(&f->p->s->p->ev, value, &other, &order))
            return error_memory(f->p->s->p->error);
        if (greatest ? order < 0 : order >= 0)
            break;
    }
    /* Where none leaves, what is behind the best one never becomes it. */
    if (q->count != 0 && f->bounds.lower.kind == BOUND_UNBOUNDED)
        return TANSU_OK;
    return put_item(f, q, value);
}

/* drop_extreme -- the first document leaves the window. */
static void drop_extreme(const window_function *f, extreme_queue *q) {
    if (q->count != 0 && item_at(q, 0)->index == f->lower.index) {
        q->first = (q->first + 1) & (q->capacity - 1);
        q->count--;
    }
}

/* extreme_add -- the variant is 1 for $max. */
static tansu_status extreme_add(window_function *f, const doc_value *doc, bool tied) {
    doc_value value;
    (void)tied;
    tansu_status status = input_of(f, doc, &value);
    if (status != TANSU_OK || window_is_nothing(&value))
        return status;
    return put_extreme(f, f->state, &value, f->kind->variant == 1);
}

static tansu_status extreme_remove(window_function *f, const doc_value *doc) {
    (void)doc;
    drop_extreme(f, f->state);
    return TANSU_OK;
}

/* best_of -- the value that is the least or the greatest of a queue that has some. */
static doc_value best_of(const extreme_queue *q) {
    const extreme_item *item = item_at(q, 0);
    return (doc_value){item->bytes, item->size, item->type};
}

static tansu_status extreme_result(window_function *f) {
    const extreme_queue *q = f->state;
    if (q->count == 0)
        return window_keep_null(f);
    f->result = best_of(q);
    return TANSU_OK;
}

static void extreme_free(void *state) {
    extreme_queue *q = state;
    for (size_t i = 0; i < q->capacity; i++)
        free(q->items[i].bytes);
    free(q->items);
}

/* ---- $minMaxScaler ---- */

/* The state of a window. */
typedef struct scaler {
    extreme_queue least, greatest;
} scaler;

/* read_end -- a number that is one end of the results. */
static tansu_status read_end(stage *s, const window_function *f, const char *name,
                             const doc_value *given, doc_value *result) {
    const expression *e;
    tansu_status status = stage_expression(s, f->kind->name, given, &e);
    if (status == TANSU_OK && (!expression_constant(e, result) || !doc_is_number(result)))
        return stage_error(s, f->kind->name, "Member \"%s\" must be a constant number", name);
    return status;
}

/* has_members -- whether an operand is a document of members, not an expression. */
static bool has_members(const doc_value *operand) {
    doc_iter iter;
    return operand->type == DOC_DOCUMENT &&
           (!doc_iter_value(&iter, operand) || !doc_iter_next(&iter) || iter.key[0] != '$');
}

/* has_present -- whether a window has the document that it is of. */
static bool has_present(const window_bounds *b) {
    number none;
    number_int32(0, &none);
    const doc_value zero = number_value(&none);
    const doc_value lower = number_value(&b->lower.value), upper = number_value(&b->upper.value);
    return (b->lower.kind == BOUND_UNBOUNDED || number_compare(&lower, &zero) <= 0) &&
           (b->upper.kind == BOUND_UNBOUNDED || number_compare(&upper, &zero) >= 0);
}

static tansu_status scaler_compile(stage *s, window_function *f, const window_order *order,
                                   const doc_value *operand) {
    static const uint8_t zero_and_one[] = {0, 0, 0, 0, 1, 0, 0, 0};
    enum { INPUT, MIN, MAX, MEMBERS };
    doc_value members[MEMBERS] = {
        *operand, {zero_and_one, 4, DOC_INT32}, {zero_and_one + 4, 4, DOC_INT32}};
    (void)order;
    tansu_status status = TANSU_OK;
    if (!has_present(&f->bounds))
        return stage_error(s, f->kind->name, "Its window must have the document itself");
    if (has_members(operand)) {
        doc_value given[MEMBERS];
        status = stage_members(s, operand, "input! min max", given);
        if (status != TANSU_OK) {
            error_prefix(s->p->error, f->kind->name);
            return status;
        }
        if ((given[MIN].type == DOC_MISSING) != (given[MAX].type == DOC_MISSING))
            return stage_error(s, f->kind->name, "Has both \"min\" and \"max\", or neither");
        members[INPUT] = given[INPUT];
        if (given[MIN].type != DOC_MISSING)
            memcpy(&members[MIN], &given[MIN], 2 * sizeof *members);
    }
    status = read_end(s, f, "min", &members[MIN], &f->least);
    if (status == TANSU_OK)
        status = read_end(s, f, "max", &members[MAX], &f->greatest);
    if (status == TANSU_OK && number_compare(&f->least, &f->greatest) >= 0)
        return stage_error(s, f->kind->name, "Member \"max\" must be greater than \"min\"");
    if (status == TANSU_OK)
        status = stage_expression(s, f->kind->name, &members[INPUT], &f->input);
    return status == TANSU_OK ? window_formula_compile(
                                    s, f, "x low high least greatest",
                                    "{\"$add\":[{\"$multiply\":[{\"$divide\":["
                                    "{\"$subtract\":[\"$$x\",\"$$low\"]},"
                                    "{\"$subtract\":[\"$$high\",\"$$low\"]}]},"
                                    "{\"$subtract\":[\"$$greatest\",\"$$least\"]}]},\"$$least\"]}")
                              : status;
}

/* scaler_input -- the number of a document. Errors: INVALID_QUERY. */
static tansu_status scaler_input(window_function *f, const doc_value *doc, doc_value *result) {
    tansu_status status = window_value(f, f->input, doc, result);
    if (status == TANSU_OK && !doc_is_number(result))
        return stage_error(f->p->s, f->kind->name, "Values must be numbers");
    return status;
}

static tansu_status scaler_add(window_function *f, const doc_value *doc, bool tied) {
    scaler *s = f->state;
    doc_value value;
    (void)tied;
    tansu_status status = scaler_input(f, doc, &value);
    if (status == TANSU_OK)
        status = put_extreme(f, &s->least, &value, false);
    return status == TANSU_OK ? put_extreme(f, &s->greatest, &value, true) : status;
}

static tansu_status scaler_remove(window_function *f, const doc_value *doc) {
    scaler *s = f->state;
    (void)doc;
    drop_extreme(f, &s->least);
    drop_extreme(f, &s->greatest);
    return TANSU_OK;
}

/* scaler_result -- it depends on the present document, also where the window does not change. Of
 * values that are all equal it is the least one. */
static tansu_status scaler_result(window_function *f) {
    const scaler *s = f->state;
    doc_value value, result;
    int order;
    f->changed = true;
    tansu_status status = scaler_input(f, &f->p->doc, &value);
    if (status != TANSU_OK)
        return status;
    if (s->least.count == 0)
        return window_keep_null(f);
    const doc_value values[FORMULA_VARIABLES] = {value, best_of(&s->least), best_of(&s->greatest),
                                                 f->least, f->greatest};
    if (!expression_compare(&f->p->s->p->ev, &values[1], &values[2], &order))
        return error_memory(f->p->s->p->error);
    if (order == 0)
        return window_keep(f, &f->least);
    status = window_formula(f, values, &result);
    return status == TANSU_OK ? window_keep(f, &result) : status;
}

static void scaler_free(void *state) {
    scaler *s = state;
    extreme_free(&s->least);
    extreme_free(&s->greatest);
}

const window_kind window_min_max_scaler = {.name = "$minMaxScaler",
                                           .size = sizeof(scaler),
                                           .compile = scaler_compile,
                                           .add = scaler_add,
                                           .remove = scaler_remove,
                                           .result = scaler_result,
                                           .free = scaler_free};

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
