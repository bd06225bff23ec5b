/*
 * query/pipeline/window_states.c -- accumulators that values are removed from again, as a window
 * moves: $sum, $avg, $count, $min, $max and the standard deviations.
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
