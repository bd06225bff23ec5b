/*
 * query/pipeline/accumulators.c -- the table of accumulators, their operands, and those whose state
 * has a fixed size: sums, extremes, the first and the last value, deviations, percentiles.
 */
#include "query/pipeline/accumulators.h"

#include "bson/value.h"
#include "query/util/numeric_sum.h"
#include "util/array.h"

#include <math.h>

/* put_number -- a number as the result. */
static tansu_status put_number(accumulating *c, const number *n, doc_value *result) {
    if (!buffer_set(&c->result, n->bytes, n->size))
        return error_memory(c->s->p->error);
    *result = (doc_value){c->result.data, n->size, n->type};
    return TANSU_OK;
}

/* put_null -- null as the result. */
static tansu_status put_null(doc_value *result) {
    *result = (doc_value){NULL, 0, DOC_NULL};
    return TANSU_OK;
}

/* ---- $sum, $avg and $count ---- */

static tansu_status sum_add(accumulating *c, const accumulation *a, void *state,
                            const accumulator_input *input) {
    (void)c;
    (void)a;
    numeric_sum_add(state, &input->value);
    return TANSU_OK;
}

static tansu_status sum_result(accumulating *c, const accumulation *a, void *state,
                               doc_value *result) {
    number total;
    (void)a;
    numeric_sum_total(state, &total);
    return put_number(c, &total, result);
}

static tansu_status avg_result(accumulating *c, const accumulation *a, void *state,
                               doc_value *result) {
    number mean;
    (void)a;
    return numeric_sum_mean(state, &mean) ? put_number(c, &mean, result) : put_null(result);
}

static tansu_status count_add(accumulating *c, const accumulation *a, void *state,
                              const accumulator_input *input) {
    (void)c;
    (void)a;
    (void)input;
    ++*(int64_t *)state;
    return TANSU_OK;
}

static tansu_status count_result(accumulating *c, const accumulation *a, void *state,
                                 doc_value *result) {
    (void)a;
    int64_t count = *(const int64_t *)state;
    number n;
    if (count <= INT32_MAX)
        number_int32((int32_t)count, &n);
    else
        number_int64(count, &n);
    return put_number(c, &n, result);
}

static const accumulation_kind accumulate_sum = {
    .name = "$sum", .size = sizeof(numeric_sum), .add = sum_add, .result = sum_result};
static const accumulation_kind accumulate_avg = {
    .name = "$avg", .size = sizeof(numeric_sum), .add = sum_add, .result = avg_result};
static const accumulation_kind accumulate_count = {.name = "$count",
                                                   .form = ACCUMULATOR_NOTHING,
                                                   .size = sizeof(int64_t),
                                                   .add = count_add,
                                                   .result = count_result,
                                                   .index = INDEX_GIVES_COUNT};

/* ---- $sum and $count of the groups of queries ---- */

/* values_add -- null and missing ones are none. */
static tansu_status values_add(accumulating *c, const accumulation *a, void *state,
                               const accumulator_input *input) {
    (void)c;
    (void)a;
    *(int64_t *)state +=
        input->value.type != DOC_MISSING && value_kind_of(input->value.type) != KIND_NULL;
    return TANSU_OK;
}

static tansu_status count_result_int64(accumulating *c, const accumulation *a, void *state,
                                       doc_value *result) {
    number n;
    (void)a;
    number_int64(*(const int64_t *)state, &n);
    return put_number(c, &n, result);
}

/* sum_result_int64 -- of whole numbers an int64, or a decimal where that is too small. */
static tansu_status sum_result_int64(accumulating *c, const accumulation *a, void *state,
                                     doc_value *result) {
    numeric_sum sum = *(const numeric_sum *)state;
    number total;
    (void)a;
    if (sum.width == WIDTH_INT32)
        sum.width = WIDTH_INT64;
    numeric_sum_total(&sum, &total);
    if (sum.width == WIDTH_INT64 && total.type == DOC_DOUBLE) {
        sum.width = WIDTH_DECIMAL;
        numeric_sum_total(&sum, &total);
    }
    return put_number(c, &total, result);
}

const accumulation_kind accumulate_documents = {.name = "$count",
                                                .size = sizeof(int64_t),
                                                .add = count_add,
                                                .result = count_result_int64,
                                                .index = INDEX_GIVES_COUNT};
const accumulation_kind accumulate_values = {
    .name = "$count", .size = sizeof(int64_t), .add = values_add, .result = count_result_int64};
const accumulation_kind accumulate_total = {
    .name = "$sum", .size = sizeof(numeric_sum), .add = sum_add, .result = sum_result_int64};

/* ---- $min, $max, $first and $last ---- */

/* A value that owns its bytes; most fit into the state. */
typedef struct kept_state {
    union {
        uint8_t bytes[16];
        uint8_t *memory;
    } in;
    uint32_t capacity; /* of the memory; 0: the bytes are used */
    uint32_t size;
    uint8_t type;
    bool set;
} kept_state;

/* kept -- the value. */
static doc_value kept(const kept_state *k) {
    return (doc_value){k->capacity == 0 ? k->in.bytes : k->in.memory, k->size, k->type};
}

/* keep -- copies a value. */
static tansu_status keep(accumulating *c, kept_state *k, const doc_value *value) {
    uint32_t room = k->capacity == 0 ? sizeof k->in.bytes : k->capacity;
    if (value->size > room) {
        uint8_t *memory = realloc(k->capacity == 0 ? NULL : k->in.memory, value->size);
        if (!memory)
            return error_memory(c->s->p->error);
        c->used += value->size - k->capacity;
        k->in.memory = memory;
        k->capacity = value->size;
    }
    if (value->size != 0)
        memcpy(k->capacity == 0 ? k->in.bytes : k->in.memory, value->data, value->size);
    k->size = value->size;
    k->type = value->type;
    k->set = true;
    return TANSU_OK;
}

/* is_nothing -- null, undefined or missing. */
static bool is_nothing(const doc_value *value) {
    return value->type == DOC_NULL || value->type == DOC_MISSING || value->type == DOC_UNDEFINED;
}

/* extreme_add -- of equal values the first one is kept. */
static tansu_status extreme_add(accumulating *c, const accumulation *a, void *state,
                                const accumulator_input *input) {
    kept_state *k = state;
    int order;
    if (is_nothing(&input->value))
        return TANSU_OK;
    if (k->set) {
        const doc_value before = kept(k);
        if (!expression_compare(&c->s->p->ev, &input->value, &before, &order))
            return error_memory(c->s->p->error);
        if (order * a->kind->variant <= 0)
            return TANSU_OK;
    }
    return keep(c, k, &input->value);
}

static tansu_status first_add(accumulating *c, const accumulation *a, void *state,
                              const accumulator_input *input) {
    kept_state *k = state;
    (void)a;
    return k->set ? TANSU_OK : keep(c, k, &input->value);
}

static tansu_status last_add(accumulating *c, const accumulation *a, void *state,
                             const accumulator_input *input) {
    (void)a;
    return keep(c, state, &input->value);
}

static tansu_status kept_result(accumulating *c, const accumulation *a, void *state,
                                doc_value *result) {
    const kept_state *k = state;
    (void)c;
    (void)a;
    *result = kept(k);
    return TANSU_OK;
}

static void kept_free(void *state) {
    kept_state *k = state;
    if (k->capacity != 0)
        free(k->in.memory);
}

#define KEPT(text, function, sense)                                                           \
    {                                                                                         \
        .name = (text), .size = sizeof(kept_state), .add = (function), .result = kept_result, \
        .free = kept_free, .variant = (sense),                                                \
        .index = (sense) != 0 ? INDEX_GIVES_EXTREME : INDEX_GIVES_NOTHING                     \
    }

static const accumulation_kind accumulate_min = KEPT("$min", extreme_add, -1);
static const accumulation_kind accumulate_max = KEPT("$max", extreme_add, 1);
static const accumulation_kind accumulate_first = KEPT("$first", first_add, 0);
static const accumulation_kind accumulate_last = KEPT("$last", last_add, 0);

/* ---- $stdDevPop and $stdDevSamp ---- */

static tansu_status deviation_state_add(accumulating *c, const accumulation *a, void *state,
                                        const accumulator_input *input) {
    (void)c;
    (void)a;
    deviation_add(state, &input->value);
    return TANSU_OK;
}

/* deviation_state_result -- the variant is 1 for a sample. */
static tansu_status deviation_state_result(accumulating *c, const accumulation *a, void *state,
                                           doc_value *result) {
    double value;
    number n;
    if (!deviation_result(state, a->kind->variant == 1, &value))
        return put_null(result);
    number_double(value, &n);
    return put_number(c, &n, result);
}

static const accumulation_kind accumulate_deviation_pop = {.name = "$stdDevPop",
                                                           .size = sizeof(deviation),
                                                           .add = deviation_state_add,
                                                           .result = deviation_state_result};
static const accumulation_kind accumulate_deviation_samp = {.name = "$stdDevSamp",
                                                            .size = sizeof(deviation),
                                                            .add = deviation_state_add,
                                                            .result = deviation_state_result,
                                                            .variant = 1};

/* ---- $median and $percentile ---- */

/* All numbers: the percentiles are exact. */
typedef struct percentile_state {
    double *numbers;
    size_t count;
    size_t capacity;
    size_t sorted; /* so many at the beginning are */
} percentile_state;

static tansu_status percentile_add(accumulating *c, const accumulation *a, void *state,
                                   const accumulator_input *input) {
    percentile_state *p = state;
    size_t before = p->capacity;
    double value = doc_is_number(&input->value) ? number_to_double(&input->value) : NAN;
    (void)a;
    if (isnan(value))
        return TANSU_OK;
    if (!ARRAY_RESERVE(p->numbers, p->count, p->capacity, 1))
        return error_memory(c->s->p->error);
    c->used += (p->capacity - before) * sizeof *p->numbers;
    p->numbers[p->count++] = value;
    return TANSU_OK;
}

static tansu_status percentile_result(accumulating *c, const accumulation *a, void *state,
                                      doc_value *result) {
    percentile_state *p = state;
    if (p->sorted != p->count) {
        tansu_status status =
            percentile_sort(p->numbers, p->count, &c->s->p->deadline, c->s->p->error);
        if (status != TANSU_OK)
            return status;
        p->sorted = p->count;
    }
    if (a->kind->form == ACCUMULATOR_MEDIAN) {
        number median;
        if (p->count == 0)
            return put_null(result);
        number_double(p->numbers[percentile_position(p->count, 0.5)], &median);
        return put_number(c, &median, result);
    }
    writer w = {.out = &c->result};
    c->result.size = 0;
    size_t start = writer_begin(&w);
    for (uint32_t i = 0; i < a->rank_count; i++) {
        doc_value value = {NULL, 0, DOC_NULL};
        number n;
        if (p->count != 0) {
            number_double(p->numbers[percentile_position(p->count, a->ranks[i])], &n);
            value = number_value(&n);
        }
        writer_index_value(&w, i, &value);
    }
    writer_end(&w, start);
    *result = (doc_value){c->result.data, (uint32_t)c->result.size, DOC_ARRAY};
    return w.failed ? error_memory(c->s->p->error) : TANSU_OK;
}

static void percentile_free(void *state) {
    free(((percentile_state *)state)->numbers);
}

static const accumulation_kind accumulate_median = {.name = "$median",
                                                    .form = ACCUMULATOR_MEDIAN,
                                                    .size = sizeof(percentile_state),
                                                    .add = percentile_add,
                                                    .result = percentile_result,
                                                    .free = percentile_free};
static const accumulation_kind accumulate_percentile = {.name = "$percentile",
                                                        .form = ACCUMULATOR_PERCENTILE,
                                                        .size = sizeof(percentile_state),
                                                        .add = percentile_add,
                                                        .result = percentile_result,
                                                        .free = percentile_free};

/* ---- Operands ---- */

static const accumulation_kind *const kinds[] = {&accumulate_sum,
                                                 &accumulate_avg,
                                                 &accumulate_min,
                                                 &accumulate_max,
                                                 &accumulate_first,
                                                 &accumulate_last,
                                                 &accumulate_push,
                                                 &accumulate_add_to_set,
                                                 &accumulate_count,
                                                 &accumulate_deviation_pop,
                                                 &accumulate_deviation_samp,
                                                 &accumulate_merge_objects,
                                                 &accumulate_first_n,
                                                 &accumulate_last_n,
                                                 &accumulate_min_n,
                                                 &accumulate_max_n,
                                                 &accumulate_top,
                                                 &accumulate_top_n,
                                                 &accumulate_bottom,
                                                 &accumulate_bottom_n,
                                                 &accumulate_median,
                                                 &accumulate_percentile,
                                                 &accumulate_set_union,
                                                 &accumulate_concat_arrays};

/* read_input -- the expression whose values are taken. Counting is the same as adding ones, and
 * faster. */
static tansu_status read_input(stage *s, const char *name, const doc_value *spec,
                               accumulation *result) {
    const expression *e;
    doc_value value;
    tansu_status status = stage_expression(s, name, spec, &e);
    if (status != TANSU_OK)
        return status;
    if (result->kind == &accumulate_sum && expression_constant(e, &value) &&
        value.type == DOC_INT32 && doc_int32(&value) == 1) {
        result->kind = &accumulate_count;
        return TANSU_OK;
    }
    return value_reader_init(s, e, &result->input);
}

/* read_method -- how a percentile is computed: exactly, whatever is asked for. */
static tansu_status read_method(stage *s, const char *name, const doc_value *value) {
    size_t size = 0;
    const char *text = value->type == DOC_STRING ? doc_string(value, &size) : "";
    if (size != 11 || memcmp(text, "approximate", size) != 0)
        return stage_error(s, name, "Member \"method\" must be \"approximate\"");
    return TANSU_OK;
}

/* read_ranks -- {"p": [0.5, …]}. */
static tansu_status read_ranks(stage *s, const char *name, const doc_value *spec,
                               accumulation *result) {
    const expression *e;
    doc_value list;
    doc_iter iter;
    uint32_t count = 0;
    tansu_status status = stage_expression(s, name, spec, &e);
    if (status != TANSU_OK)
        return status;
    if (!expression_constant(e, &list) || list.type != DOC_ARRAY || list.size <= 5)
        return stage_error(s, name, "Member \"p\" must be an array of constant numbers");
    for (doc_iter_value(&iter, &list); doc_iter_next(&iter);)
        count++;
    double *ranks = stage_alloc(s, count * sizeof *ranks);
    if (!ranks)
        return TANSU_E_MEMORY;
    doc_iter_value(&iter, &list);
    for (uint32_t i = 0; doc_iter_next(&iter); i++) {
        ranks[i] = doc_is_number(&iter.value) ? number_to_double(&iter.value) : NAN;
        if (!(ranks[i] >= 0 && ranks[i] <= 1))
            return stage_error(s, name, "Members of \"p\" must be numbers from 0 to 1");
    }
    result->ranks = ranks;
    result->rank_count = count;
    return TANSU_OK;
}

/* read_members -- an operand whose members have names. */
static tansu_status read_members(stage *s, const char *name, const doc_value *operand,
                                 accumulation *result) {
    static const char *const members[] = {
        [ACCUMULATOR_N] = "n! input!",
        [ACCUMULATOR_TOP] = "output! sortBy!",
        [ACCUMULATOR_TOP_N] = "output! sortBy! n!",
        [ACCUMULATOR_MEDIAN] = "input! method!",
        [ACCUMULATOR_PERCENTILE] = "input! method! p!",
    };
    doc_value values[3];
    enum accumulator_form form = result->kind->form;
    tansu_status status = stage_members(s, operand, members[form], values);
    if (status != TANSU_OK) {
        error_prefix(s->p->error, name);
        return status;
    }
    bool top = form == ACCUMULATOR_TOP || form == ACCUMULATOR_TOP_N;
    bool percentile = form == ACCUMULATOR_MEDIAN || form == ACCUMULATOR_PERCENTILE;
    if (top)
        status = sort_pattern_compile(s, name, &values[1], &result->sort_by);
    if (status == TANSU_OK && percentile)
        status = read_method(s, name, &values[1]);
    if (status == TANSU_OK && form == ACCUMULATOR_PERCENTILE)
        status = read_ranks(s, name, &values[2], result);
    if (status == TANSU_OK && (form == ACCUMULATOR_N || form == ACCUMULATOR_TOP_N))
        status = stage_expression(s, name, &values[form == ACCUMULATOR_N ? 0 : 2], &result->n);
    if (status == TANSU_OK)
        status = read_input(s, name, &values[form == ACCUMULATOR_N ? 1 : 0], result);
    return status;
}

/* read_operand -- what stands after the name. */
static tansu_status read_operand(stage *s, const char *name, const doc_value *operand,
                                 accumulation *result) {
    if (operand->type == DOC_ARRAY)
        return stage_error(s, name, "Takes one operand, which is no array");
    if (result->kind->form == ACCUMULATOR_VALUE)
        return read_input(s, name, operand, result);
    if (result->kind->form != ACCUMULATOR_NOTHING)
        return read_members(s, name, operand, result);
    if (operand->type != DOC_DOCUMENT || operand->size > 5)
        return stage_error(s, name, "Takes an empty document");
    return TANSU_OK;
}

const accumulation_kind *accumulation_kind_find(const char *name) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kinds[i]->name, name) == 0)
            return kinds[i];
    }
    return NULL;
}

tansu_status accumulation_compile(stage *s, const char *part, const doc_value *spec,
                                  accumulation *result) {
    doc_iter iter, rest;
    *result = (accumulation){.kind = NULL};
    if (spec->type != DOC_DOCUMENT || !doc_iter_value(&iter, spec) || !doc_iter_next(&iter) ||
        (rest = iter, doc_iter_next(&rest)))
        return stage_error(s, part, "Must be one accumulator, such as {\"$sum\": 1}");
    result->kind = accumulation_kind_find(iter.key);
    if (!result->kind)
        return stage_error(s, part, "There is no accumulator \"%.100s\"", iter.key);
    tansu_status status = read_operand(s, iter.key, &iter.value, result);
    if (status != TANSU_OK && part)
        error_prefix(s->p->error, part);
    return status;
}

/* ---- Running ---- */

tansu_status accumulation_begin(accumulating *c, const accumulation *a, void *state) {
    doc_value value;
    int64_t *n = state;
    if (a->kind->form == ACCUMULATOR_TOP)
        *n = 1;
    if (!a->n)
        return TANSU_OK;
    tansu_status status = expression_evaluate(&c->s->p->ev, a->n, &value);
    if (status == TANSU_OK && (!doc_as_int64(&value, n) || *n < 1))
        return stage_error(c->s, a->kind->name, "Member \"n\" must be a whole number above 0");
    return status;
}

tansu_status accumulation_evaluate(accumulating *c, const accumulation *a, const doc_value *doc,
                                   accumulator_input *input) {
    if (a->sort_by) {
        c->sort_key.size = 0;
        tansu_status status = sort_pattern_key(c->s, a->sort_by, doc, &c->sort_key);
        if (status != TANSU_OK)
            return status;
        input->order = c->sort_key.data;
        input->order_size = c->sort_key.size;
    }
    if (a->input.expression || a->input.path.count != 0)
        return value_read(&c->s->p->ev, &a->input, doc, &input->value);
    input->value = (doc_value){NULL, 0, DOC_MISSING};
    return TANSU_OK;
}

tansu_status accumulation_add_elements(accumulating *c, const accumulation *a, void *state,
                                       const doc_value *array) {
    doc_iter iter;
    tansu_status status = TANSU_OK;
    for (doc_iter_value(&iter, array); status == TANSU_OK && doc_iter_next(&iter);) {
        const accumulator_input input = {.value = iter.value};
        status = a->kind->add(c, a, state, &input);
    }
    return status;
}

void accumulating_free(accumulating *c) {
    tansu_buffer_free(&c->result);
    tansu_buffer_free(&c->sort_key);
    tansu_buffer_free(&c->key);
    c->used = 0;
}
