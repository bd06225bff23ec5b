/*
 * query/pipeline/accumulators_array.c -- accumulators that collect values: $push, $concatArrays,
 * $addToSet, $setUnion and $mergeObjects, and $distinct of the groups of queries.
 *
 * The BSON of the result grows in the state; only its end is written with a result.
 */
#include "query/pipeline/accumulators.h"

#include "query/pipeline/value_hash.h"
#include "query/util/key_set.h"
#include "query/util/merge_sort.h"

/* An array that grows, and for sets what is in it. */
typedef struct array_state {
    tansu_buffer bytes; /* without the end */
    uint32_t count;
    hashed_set *set; /* NULL: no element of a set was added */
} array_state;

/* put_element -- appends a value. */
static tansu_status put_element(accumulating *c, array_state *s, const doc_value *value) {
    writer w = {.out = &s->bytes};
    size_t before = s->bytes.capacity;
    if (s->bytes.size == 0)
        writer_begin(&w);
    writer_index_value(&w, s->count++, value);
    c->used += s->bytes.capacity - before;
    if (s->bytes.size > INT32_MAX / 2)
        return error_set(c->s->p->error, TANSU_E_TOO_LARGE, c->s->kind->name,
                         "An array that it makes exceeds what a document may have");
    return w.failed ? error_memory(c->s->p->error) : TANSU_OK;
}

/* put_member -- appends a value, unless an equal one is there. */
static tansu_status put_member(accumulating *c, array_state *s, const doc_value *value) {
    evaluation *ev = &c->s->p->ev;
    hashed_value key;
    bool added;
    if (!s->set) {
        s->set = calloc(1, sizeof *s->set);
        if (!s->set)
            return error_memory(c->s->p->error);
        c->used += sizeof *s->set;
    }
    if (!hashed_value_of(ev, value, &c->key, &key) ||
        !hashed_set_add(s->set, (uint64_t)(uintptr_t)c, &key, &added, &c->used))
        return error_memory(c->s->p->error);
    return added ? put_element(c, s, value) : TANSU_OK;
}

static tansu_status push_add(accumulating *c, const accumulation *a, void *state,
                             const accumulator_input *input) {
    (void)a;
    return input->value.type == DOC_MISSING ? TANSU_OK : put_element(c, state, &input->value);
}

static tansu_status add_to_set_add(accumulating *c, const accumulation *a, void *state,
                                   const accumulator_input *input) {
    (void)a;
    return input->value.type == DOC_MISSING ? TANSU_OK : put_member(c, state, &input->value);
}

/* arrays_add -- $concatArrays, and $setUnion, whose variant is 1. */
static tansu_status arrays_add(accumulating *c, const accumulation *a, void *state,
                               const accumulator_input *input) {
    doc_iter iter;
    tansu_status status = TANSU_OK;
    if (input->value.type == DOC_MISSING)
        return TANSU_OK;
    if (input->value.type != DOC_ARRAY)
        return stage_error(c->s, a->kind->name, "A value is no array");
    for (doc_iter_value(&iter, &input->value); status == TANSU_OK && doc_iter_next(&iter);) {
        status = a->kind->variant == 1 ? put_member(c, state, &iter.value)
                                       : put_element(c, state, &iter.value);
        if (status == TANSU_OK)
            status = stage_step(c->s);
    }
    return status;
}

static tansu_status array_result(accumulating *c, const accumulation *a, void *state,
                                 doc_value *result) {
    array_state *s = state;
    writer w = {.out = &s->bytes};
    size_t before = s->bytes.capacity;
    (void)a;
    if (s->bytes.size == 0)
        writer_begin(&w);
    writer_end(&w, 0);
    c->used += s->bytes.capacity - before;
    if (w.failed)
        return error_memory(c->s->p->error);
    *result = (doc_value){s->bytes.data, (uint32_t)s->bytes.size, DOC_ARRAY};
    /* More may be added. */
    s->bytes.size--;
    return TANSU_OK;
}

static void array_free(void *state) {
    array_state *s = state;
    tansu_buffer_free(&s->bytes);
    if (s->set)
        hashed_set_free(s->set);
    free(s->set);
}

#define COLLECTS(text, function, kind_variant)                                                  \
    {                                                                                           \
        .name = (text), .size = sizeof(array_state), .add = (function), .result = array_result, \
        .free = array_free, .variant = (kind_variant)                                           \
    }

const accumulation_kind accumulate_push = COLLECTS("$push", push_add, 0);
const accumulation_kind accumulate_add_to_set = COLLECTS("$addToSet", add_to_set_add, 0);
const accumulation_kind accumulate_concat_arrays = COLLECTS("$concatArrays", arrays_add, 0);
const accumulation_kind accumulate_set_union = COLLECTS("$setUnion", arrays_add, 1);

/* ---- $distinct ---- */

/* An element of a set that is sorted. */
typedef struct sorted_element {
    const uint8_t *key;
    size_t key_size;
    doc_value value;
} sorted_element;

/* compare_elements -- for merge_sort(). No key is a prefix of another. */
static int compare_elements(const void *left, const void *right) {
    const sorted_element *a = left, *b = right;
    return memcmp(a->key, b->key, a->key_size < b->key_size ? a->key_size : b->key_size);
}

/* sort_elements -- the elements of a set in the order of values, as an array in c->result. */
static tansu_status sort_elements(accumulating *c, const doc_value *set, sorted_element *elements,
                                  uint32_t count) {
    evaluation *ev = &c->s->p->ev;
    writer w = {.out = &c->result};
    doc_iter iter;
    uint32_t i = 0;
    c->key.size = c->result.size = 0;
    for (doc_iter_value(&iter, set); doc_iter_next(&iter); i++) {
        size_t before = c->key.size;
        if (!collation_key(ev->collation, &ev->collated[0], &c->key, &iter.value, false))
            return error_memory(c->s->p->error);
        elements[i] = (sorted_element){.key_size = c->key.size - before, .value = iter.value};
    }
    const uint8_t *key = c->key.data;
    for (i = 0; i < count; key += elements[i++].key_size)
        elements[i].key = key;
    tansu_status status = merge_sort(elements, count, sizeof *elements, compare_elements,
                                     &c->s->p->deadline, c->s->p->error);
    size_t start = writer_begin(&w);
    for (i = 0; i < count; i++)
        writer_index_value(&w, i, &elements[i].value);
    writer_end(&w, start);
    return status == TANSU_OK && w.failed ? error_memory(c->s->p->error) : status;
}

/* distinct_add -- undefined is null. */
static tansu_status distinct_add(accumulating *c, const accumulation *a, void *state,
                                 const accumulator_input *input) {
    accumulator_input null = *input;
    null.value.type = input->value.type == DOC_UNDEFINED ? DOC_NULL : input->value.type;
    return add_to_set_add(c, a, state, &null);
}

static tansu_status distinct_result(accumulating *c, const accumulation *a, void *state,
                                    doc_value *result) {
    uint32_t count = ((const array_state *)state)->count;
    doc_value set = {0};
    tansu_status status = array_result(c, a, state, &set);
    sorted_element *elements = malloc((count + 1) * sizeof *elements);
    if (!elements && status == TANSU_OK)
        status = error_memory(c->s->p->error);
    if (status == TANSU_OK)
        status = sort_elements(c, &set, elements, count);
    free(elements);
    *result = (doc_value){c->result.data, (uint32_t)c->result.size, DOC_ARRAY};
    return status;
}

const accumulation_kind accumulate_distinct = {.name = "$distinct",
                                               .size = sizeof(array_state),
                                               .add = distinct_add,
                                               .result = distinct_result,
                                               .free = array_free};

/* ---- $mergeObjects ---- */

/* A field of the result. */
typedef struct merged_field {
    key_set_item head; /* its name, with the NUL */
    doc_value value;
} merged_field;

typedef struct merge_state {
    key_set fields;
    arena memory;
} merge_state;

/* merge_field -- sets a field, which keeps its place. */
static tansu_status merge_field(accumulating *c, merge_state *s, const doc_iter *at) {
    bool added;
    uint8_t *copy = NULL;
    merged_field *field =
        (merged_field *)key_set_add(&s->fields, &s->memory, (const uint8_t *)at->key,
                                    at->key_size + 1, sizeof *field, &added, &c->used);
    if (!field)
        return error_memory(c->s->p->error);
    if (at->value.size <= field->value.size)
        copy = (uint8_t *)(uintptr_t)field->value.data;
    else
        c->used += at->value.size;
    if (!copy)
        copy = arena_alloc(&s->memory, at->value.size);
    if (!copy)
        return error_memory(c->s->p->error);
    if (at->value.size != 0)
        memcpy(copy, at->value.data, at->value.size);
    field->value = (doc_value){copy, at->value.size, at->value.type};
    return TANSU_OK;
}

static tansu_status merge_add(accumulating *c, const accumulation *a, void *state,
                              const accumulator_input *input) {
    doc_iter iter;
    tansu_status status = TANSU_OK;
    uint8_t type = input->value.type;
    if (type == DOC_MISSING || type == DOC_NULL || type == DOC_UNDEFINED)
        return TANSU_OK;
    if (type != DOC_DOCUMENT)
        return stage_error(c->s, a->kind->name, "A value is no document");
    for (doc_iter_value(&iter, &input->value); status == TANSU_OK && doc_iter_next(&iter);)
        status = merge_field(c, state, &iter);
    return status;
}

static tansu_status merge_result(accumulating *c, const accumulation *a, void *state,
                                 doc_value *result) {
    const merge_state *s = state;
    writer w = {.out = &c->result};
    (void)a;
    c->result.size = 0;
    size_t start = writer_begin(&w);
    for (const key_set_item *item = s->fields.first; item; item = item->next) {
        const merged_field *field = (const merged_field *)item;
        writer_element(&w, (const char *)item->key, item->key_size - 1, &field->value);
    }
    writer_end(&w, start);
    *result = (doc_value){c->result.data, (uint32_t)c->result.size, DOC_DOCUMENT};
    return w.failed ? error_memory(c->s->p->error) : TANSU_OK;
}

static void merge_free(void *state) {
    arena_free(&((merge_state *)state)->memory);
}

const accumulation_kind accumulate_merge_objects = {.name = "$mergeObjects",
                                                    .size = sizeof(merge_state),
                                                    .add = merge_add,
                                                    .result = merge_result,
                                                    .free = merge_free};
