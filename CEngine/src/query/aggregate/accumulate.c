/*
 * query/aggregate/accumulate.c -- accumulators of a group.
 *
 * All but $first and $last take the values that a path finds one by one: an array at the path's end
 * contributes its elements, a missing value nothing.
 */
#include "query/aggregate/aggregate_internal.h"
#include <stdlib.h>

/* An accumulator that takes the values of one document. */
typedef struct feeding {
    aggregation *a;
    const group_field *field;
    accumulator *to;
    uint64_t times;
    tansu_status status;
} feeding;

tansu_status owned_value_set(aggregation *a, owned_value *owned, const doc_value *value) {
    /* Exactly as large as needed, since there may be very many groups. */
    if (value->size > owned->capacity) {
        uint8_t *data = realloc(owned->data, value->size);
        if (!data)
            return error_memory(a->error);
        a->used += value->size - owned->capacity;
        owned->data = data;
        owned->capacity = value->size;
    }
    if (value->size != 0)
        memcpy(owned->data, value->data, value->size);
    owned->size = value->size;
    owned->type = value->type;
    owned->set = true;
    return TANSU_OK;
}

/* value_of -- an owned value as a value. */
static doc_value value_of(const owned_value *owned) {
    return (doc_value){owned->data, owned->size, owned->type};
}

/* add_distinct -- adds a value for $distinct. Of values that are equal in the collation the first
 * is kept. */
static tansu_status add_distinct(aggregation *a, accumulator *to, const doc_value *value) {
    bool added;
    a->key.size = 0;
    if (!collation_key(a->q->collation, &a->collated, &a->key, value, false))
        return error_memory(a->error);
    key_set_item *item = key_set_add(&to->values, &a->value_memory, a->key.data, a->key.size,
                                     sizeof(distinct_item), &added, &a->value_used);
    if (!item)
        return error_memory(a->error);
    if (!added)
        return TANSU_OK;
    const uint8_t *copy = arena_copy(&a->value_memory, value->data, value->size);
    if (!copy)
        return error_memory(a->error);
    a->value_used += value->size;
    ((distinct_item *)item)->number = a->value_number++;
    ((distinct_item *)item)->value = (doc_value){copy, value->size, value->type};
    return TANSU_OK;
}

/* add_extreme -- adds a value for $min and $max. Of values that are equal in the collation the
 * first is kept. */
static tansu_status add_extreme(aggregation *a, accumulator *to, const doc_value *value,
                                bool greatest) {
    const collation *collation = a->q->collation;
    doc_value collated = *value;
    if (collation && !collation_value(collation, &a->collated, value, &collated))
        return error_memory(a->error);
    if (to->kept.set) {
        doc_value before = value_of(collation ? &to->collated : &to->kept);
        int order = value_compare(&collated, &before);
        if (greatest ? order <= 0 : order >= 0)
            return TANSU_OK;
    }
    tansu_status status = collation ? owned_value_set(a, &to->collated, &collated) : TANSU_OK;
    return status == TANSU_OK ? owned_value_set(a, &to->kept, value) : status;
}

/* feed_number -- adds a value for $sum and $avg; ignores everything but numbers. */
static tansu_status feed_number(aggregation *a, accumulator *to, const doc_value *value,
                                uint64_t times) {
    for (uint64_t i = 0; i < times; i++) {
        if (!sum_add(&to->sum, value, &a->used))
            return error_memory(a->error);
    }
    return TANSU_OK;
}

/* feed -- adds one value. */
static tansu_status feed(feeding *f, const doc_value *value) {
    bool nothing = value_kind_of(value->type) == KIND_NULL;
    if (value->type == DOC_MISSING || (nothing && f->field->kind != ACCUMULATE_DISTINCT))
        return TANSU_OK;
    switch (f->field->kind) {
    case ACCUMULATE_COUNT: f->to->count += f->times; return TANSU_OK;
    case ACCUMULATE_SUM:
    case ACCUMULATE_AVG: return feed_number(f->a, f->to, value, f->times);
    case ACCUMULATE_MIN: return add_extreme(f->a, f->to, value, false);
    case ACCUMULATE_MAX: return add_extreme(f->a, f->to, value, true);
    default: return add_distinct(f->a, f->to, value);
    }
}

/* visit -- adds a value that the path finds, or the elements of an array. */
static bool visit(void *context, const doc_value *value) {
    feeding *f = context;
    doc_iter iter;
    if (value->type != DOC_ARRAY) {
        f->status = feed(f, value);
    } else if (doc_iter_value(&iter, value)) {
        while (f->status == TANSU_OK && doc_iter_next(&iter))
            f->status = feed(f, &iter.value);
    }
    return f->status == TANSU_OK;
}

/* The array of the values that a path through arrays finds. */
typedef struct collecting {
    writer w;
    uint32_t count;
    doc_value last;
} collecting;

/* collect -- appends one value. */
static bool collect(void *context, const doc_value *value) {
    collecting *c = context;
    if (value->type == DOC_MISSING)
        return true;
    writer_index_value(&c->w, c->count++, value);
    c->last = *value;
    return !c->w.failed;
}

/* A path with an array position, such as "tags.0", names one value: the one that it finds, or none
 * at all. It finds several where more arrays are on the path. */
bool path_value(aggregation *a, const path *path, const uint8_t *doc, size_t size,
                doc_value *value) {
    if (path_get(path, doc, size, value))
        return true;
    a->scratch.size = 0;
    collecting c = {.w = {.out = &a->scratch}};
    size_t start = writer_begin(&c.w);
    path_walk(path, doc, size, collect, &c, NULL);
    writer_end(&c.w, start);
    *value = (doc_value){a->scratch.data, (uint32_t)a->scratch.size, DOC_ARRAY};
    if (c.count <= 1 && path_has_positions(path))
        *value = c.count == 1 ? c.last : (doc_value){NULL, 0, DOC_MISSING};
    return !c.w.failed;
}

/* accumulate_whole -- $first and $last. */
static tansu_status accumulate_whole(aggregation *a, const group_field *field, accumulator *to,
                                     const uint8_t *doc, size_t size) {
    doc_value value;
    if (field->kind == ACCUMULATE_FIRST && to->kept.set)
        return TANSU_OK;
    if (!path_value(a, field->path, doc, size, &value))
        return error_memory(a->error);
    return owned_value_set(a, &to->kept, &value);
}

tansu_status accumulate(aggregation *a, const group_field *field, accumulator *to,
                        const uint8_t *doc, size_t size, uint64_t times) {
    if (!field->path) {
        to->count += times;
        return field->kind == ACCUMULATE_SUM ? feed_number(a, to, &field->constant, times)
                                             : TANSU_OK;
    }
    if (field->kind == ACCUMULATE_FIRST || field->kind == ACCUMULATE_LAST)
        return accumulate_whole(a, field, to, doc, size);
    feeding f = {.a = a, .field = field, .to = to, .times = times, .status = TANSU_OK};
    path_walk(field->path, doc, size, visit, &f, NULL);
    return f.status;
}

/* write_distinct -- the distinct values in order, as an array. */
static tansu_status write_distinct(aggregation *a, writer *w, const char *name, accumulator *from) {
    distinct_cursor at = {.next = 0};
    doc_value value;
    uint32_t number = 0;
    tansu_status status;
    size_t array = writer_open(w, name, DOC_ARRAY);
    while ((status = next_distinct(a, from, &at, &value)) == TANSU_OK) {
        writer_index_value(w, number++, &value);
        if (w->failed || w->out->size > AGGREGATE_MEMORY) {
            status = w->failed ? error_memory(a->error) : result_too_large(a);
            break;
        }
    }
    writer_end(w, array);
    distinct_end(&at);
    return status == TANSU_DONE ? TANSU_OK : status;
}

tansu_status accumulator_write(aggregation *a, writer *w, const group_field *field,
                               accumulator *from) {
    number_result number;
    doc_value value = {NULL, 0, DOC_NULL};
    switch (field->kind) {
    case ACCUMULATE_COUNT: writer_int64(w, field->name, (int64_t)from->count); break;
    case ACCUMULATE_SUM:
        if (!sum_total(&from->sum, &number))
            return error_memory(a->error);
        writer_value(w, field->name, &number.value);
        break;
    case ACCUMULATE_AVG:
        if (!sum_mean(&from->sum, &number))
            return error_memory(a->error);
        writer_value(w, field->name, &number.value);
        break;
    case ACCUMULATE_DISTINCT: return write_distinct(a, w, field->name, from);
    default:
        if (from->kept.set)
            value = value_of(&from->kept);
        writer_value(w, field->name, &value);
    }
    return TANSU_OK;
}

void accumulator_free(accumulator *a) {
    sum_free(&a->sum);
    free(a->kept.data);
    free(a->collated.data);
    external_sort_free(a->spilled);
}
