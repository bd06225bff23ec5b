/*
 * query/accumulate.c -- figures about the documents of a group.
 *
 * All but $first and $last look at the values that a path finds one by one: an array at its end
 * gives its elements, and what is missing gives nothing.
 */
#include "query/aggregate_parts.h"
#include <stdlib.h>

/* One accumulator being fed with one document's values. */
typedef struct feeding {
    aggregation *a;
    const figure_field *field;
    accumulator *to;
    uint64_t times;
    tansu_status status;
} feeding;

/* accumulate_keep -- see aggregate_parts.h. */
tansu_status accumulate_keep(aggregation *a, kept_value *kept, const doc_value *value) {
    if (value->size > kept->capacity) {
        uint8_t *data = realloc(kept->data, value->size);
        if (!data)
            return error_memory(a->error);
        a->used += value->size - kept->capacity;
        kept->data = data;
        kept->capacity = value->size;
    }
    if (value->size != 0)
        memcpy(kept->data, value->data, value->size);
    kept->size = value->size;
    kept->type = value->type;
    kept->set = true;
    return TANSU_OK;
}

/* kept -- a kept value as a value. */
static doc_value kept_as_value(const kept_value *kept) {
    return (doc_value){kept->data, kept->size, kept->type};
}

/* add_distinct -- a value for $distinct: the first of equal ones, in the collation, stays. */
static tansu_status add_distinct(aggregation *a, accumulator *to, const doc_value *value) {
    bool added;
    a->key.size = 0;
    if (!collation_key(a->q->collation, &a->form, &a->key, value, false))
        return error_memory(a->error);
    keyset_item *item = keyset_add(&to->values, &a->value_memory, a->key.data, a->key.size,
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

/* add_extreme -- a value for $min and $max: the first of those that are equal in the collation
 * stays. */
static tansu_status add_extreme(aggregation *a, accumulator *to, const doc_value *value,
                                bool greatest) {
    const collation *by = a->q->collation;
    doc_value form = *value;
    if (by && !collation_value(by, &a->form, value, &form))
        return error_memory(a->error);
    if (to->kept.set) {
        doc_value before = kept_as_value(by ? &to->form : &to->kept);
        int order = value_compare(&form, &before);
        if (greatest ? order <= 0 : order >= 0)
            return TANSU_OK;
    }
    tansu_status status = by ? accumulate_keep(a, &to->form, &form) : TANSU_OK;
    return status == TANSU_OK ? accumulate_keep(a, &to->kept, value) : status;
}

/* feed_number -- a value for $sum and $avg; what is no number is left out. */
static tansu_status feed_number(aggregation *a, accumulator *to, const doc_value *value,
                                uint64_t times) {
    for (uint64_t i = 0; i < times; i++) {
        if (!sum_add(&to->sum, value, &a->used))
            return error_memory(a->error);
    }
    return TANSU_OK;
}

/* feed -- one value. */
static tansu_status feed(feeding *f, const doc_value *value) {
    bool nothing = value_kind_of(value->type) == KIND_NULL;
    if (value->type == DOC_MISSING || (nothing && f->field->figure != FIGURE_DISTINCT))
        return TANSU_OK;
    switch (f->field->figure) {
    case FIGURE_COUNT: f->to->count += f->times; return TANSU_OK;
    case FIGURE_SUM:
    case FIGURE_AVG: return feed_number(f->a, f->to, value, f->times);
    case FIGURE_MIN: return add_extreme(f->a, f->to, value, false);
    case FIGURE_MAX: return add_extreme(f->a, f->to, value, true);
    default: return add_distinct(f->a, f->to, value);
    }
}

/* visit -- what the path finds: an array's elements, or the value. */
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

/* The array that a path through arrays stands for. */
typedef struct collecting {
    writer w;
    uint32_t count;
    doc_value last;
} collecting;

/* collect -- appends one value that the path finds. */
static bool collect(void *context, const doc_value *value) {
    collecting *c = context;
    char key[12];
    if (value->type == DOC_MISSING)
        return true;
    writer_value(&c->w, writer_index_key(key, c->count++), value);
    c->last = *value;
    return !c->w.failed;
}

/* has_positions -- whether a part of the path may be a place in an array. */
static bool has_positions(const path *path) {
    for (uint32_t i = 1; i < path->count; i++) {
        if (path->parts[i].index >= 0)
            return true;
    }
    return false;
}

/* whole_value -- see aggregate_parts.h. A path with a place in an array, such as "tags.0", that finds
 * one value stands for that value. */
bool whole_value(aggregation *a, const path *path, const uint8_t *doc, size_t size,
                 doc_value *value) {
    if (path_get(path, doc, size, value))
        return true;
    a->scratch.size = 0;
    collecting c = {.w = {.out = &a->scratch}};
    size_t start = writer_begin(&c.w);
    path_walk(path, doc, size, collect, &c, NULL);
    writer_end(&c.w, start);
    *value = (doc_value){a->scratch.data, (uint32_t)a->scratch.size, DOC_ARRAY};
    if (c.count == 1 && has_positions(path))
        *value = c.last;
    return !c.w.failed;
}

/* accumulate_whole -- $first and $last. */
static tansu_status accumulate_whole(aggregation *a, const figure_field *field, accumulator *to,
                                     const uint8_t *doc, size_t size) {
    doc_value value;
    if (field->figure == FIGURE_FIRST && to->kept.set)
        return TANSU_OK;
    if (!whole_value(a, field->path, doc, size, &value))
        return error_memory(a->error);
    return accumulate_keep(a, &to->kept, &value);
}

/* accumulate -- see aggregate_parts.h. */
tansu_status accumulate(aggregation *a, const figure_field *field, accumulator *to,
                        const uint8_t *doc, size_t size, uint64_t times) {
    if (!field->path) {
        to->count += times;
        return field->figure == FIGURE_SUM ? feed_number(a, to, &field->constant, times) : TANSU_OK;
    }
    if (field->figure == FIGURE_FIRST || field->figure == FIGURE_LAST)
        return accumulate_whole(a, field, to, doc, size);
    feeding f = {.a = a, .field = field, .to = to, .times = times, .status = TANSU_OK};
    path_walk(field->path, doc, size, visit, &f, NULL);
    return f.status;
}

/* write_distinct -- the distinct values in order, as an array. */
static tansu_status write_distinct(aggregation *a, writer *w, const char *name, accumulator *from) {
    distinct_place place = {.next = 0};
    doc_value value;
    uint32_t number = 0;
    tansu_status status;
    size_t array = writer_open(w, name, DOC_ARRAY);
    while ((status = next_distinct(a, from, &place, &value)) == TANSU_OK) {
        char key[12];
        writer_value(w, writer_index_key(key, number++), &value);
        if (w->failed || w->out->size > AGGREGATE_MEMORY) {
            status = w->failed ? error_memory(a->error) : too_long(a);
            break;
        }
    }
    writer_end(w, array);
    distinct_end(&place);
    return status == TANSU_DONE ? TANSU_OK : status;
}

/* accumulator_write -- see aggregate_parts.h. */
tansu_status accumulator_write(aggregation *a, writer *w, const figure_field *field,
                               accumulator *from) {
    number_result number;
    doc_value value = {NULL, 0, DOC_NULL};
    switch (field->figure) {
    case FIGURE_COUNT: writer_int64(w, field->name, (int64_t)from->count); break;
    case FIGURE_SUM:
        if (!sum_total(&from->sum, &number))
            return error_memory(a->error);
        writer_value(w, field->name, &number.value);
        break;
    case FIGURE_AVG:
        if (!sum_mean(&from->sum, &number))
            return error_memory(a->error);
        writer_value(w, field->name, &number.value);
        break;
    case FIGURE_DISTINCT: return write_distinct(a, w, field->name, from);
    default:
        if (from->kept.set)
            value = kept_as_value(&from->kept);
        writer_value(w, field->name, &value);
    }
    return TANSU_OK;
}

/* accumulator_free -- fine on a zeroed one. */
void accumulator_free(accumulator *a) {
    sum_free(&a->sum);
    free(a->kept.data);
    free(a->form.data);
    run_sort_free(a->more);
}
