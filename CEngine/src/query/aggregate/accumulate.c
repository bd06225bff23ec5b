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

/* ---- Groups that exceed the memory limit ---- */

/*
 * Then an external sort takes the group key and the record id of every match. The documents of a
 * group follow one another, in insertion order, so that each group is made by itself and only one
 * is in memory at a time. The values of $distinct of one group are spilled as well: sorted by their
 * keys, and equal keys in order of arrival.
 */

/* Groups between two checks of the deadline. */
#define GROUP_STEP 1024

/* context_of -- the context of errors. */
static const char *context_of(const aggregation *a) {
    return a->values ? "distinct" : "group";
}

tansu_status result_too_large(aggregation *a) {
    return error_set(
        a->error, TANSU_E_TOO_LARGE, context_of(a),
        "Result exceeds %zu MiB; narrow the query, or read it in parts with \"$skip\" and \"$max\"",
        AGGREGATE_MEMORY / (1024 * 1024));
}

/* refusal_of -- for the error of groups that exceed their memory. */
static spill_refusal refusal_of(const aggregation *a) {
    return (spill_refusal){.context = context_of(a),
                           .what = "Grouping",
                           .limit = a->memory_limit,
                           .advice = "narrow the query, group by paths with fewer values"};
}

/* new_sort -- an external sort for this aggregation. */
static external_sort *new_sort(const aggregation *a, size_t memory) {
    const external_sort_options options = {.rctx = a->rctx,
                                           .deadline = &a->deadline,
                                           .memory = memory,
                                           .may_spill = !a->q->hints.no_disk,
                                           .refusal = refusal_of(a)};
    return external_sort_new(&options);
}

/* ---- Values of $distinct ---- */

/* spill_values -- moves the values of an accumulator to its external sort. */
static tansu_status spill_values(aggregation *a, accumulator *from) {
    tansu_buffer *payload = &a->scratch;
    tansu_status status = TANSU_OK;
    if (!from->spilled)
        from->spilled = new_sort(a, a->memory_limit / 4 / a->field_count);
    if (!from->spilled)
        return error_memory(a->error);
    uint64_t before = external_sort_spilled(from->spilled);
    for (key_set_item *item = from->values.first; status == TANSU_OK && item; item = item->next) {
        const distinct_item *d = (const distinct_item *)item;
        if (!buffer_set(payload, &d->value.type, 1) ||
            !buffer_append(payload, d->value.data, d->value.size))
            return error_memory(a->error);
        const sort_record r = {item->key, item->key_size, d->number, payload->data, payload->size};
        status = external_sort_add(from->spilled, &r, a->error);
    }
    a->spilled += external_sort_spilled(from->spilled) - before;
    from->values = (key_set){.count = 0};
    return status;
}

tansu_status within_memory(aggregation *a) {
    bool one = a->by_count == 0 || a->sorting;
    bool spills = !a->q->hints.no_disk && one && !a->from_index && a->value_used != 0;
    /* The other half is for the sorts of the values and of the documents. */
    if (a->used + a->value_used <= (spills ? a->memory_limit / 2 : a->memory_limit))
        return TANSU_OK;
    if (spills) {
        group *g = (group *)a->groups.first;
        for (uint32_t i = 0; i < a->field_count; i++) {
            tansu_status status = a->fields[i].kind == ACCUMULATE_DISTINCT
                                      ? spill_values(a, &g->accumulators[i])
                                      : TANSU_OK;
            if (status != TANSU_OK)
                return status;
        }
        arena_free(&a->value_memory);
        a->value_used = 0;
        if (a->used <= a->memory_limit)
            return TANSU_OK;
    }
    a->retry_sorted = !a->q->hints.no_disk && (!one || a->from_index);
    const spill_refusal refusal = refusal_of(a);
    return spill_refuse(&refusal, a->error);
}

/* begin_distinct -- sorts the values. */
static tansu_status begin_distinct(aggregation *a, accumulator *from, distinct_cursor *at) {
    at->begun = true;
    if (!from->spilled)
        return key_set_sorted(&from->values, &a->deadline, &at->sorted, a->error);
    tansu_status status = spill_values(a, from);
    uint64_t before = external_sort_spilled(from->spilled);
    if (status == TANSU_OK)
        status = external_sort_finish(from->spilled, a->error);
    a->spilled += external_sort_spilled(from->spilled) - before;
    return status;
}

tansu_status next_distinct(aggregation *a, accumulator *from, distinct_cursor *at,
                           doc_value *value) {
    tansu_status status = at->begun ? TANSU_OK : begin_distinct(a, from, at);
    if (status != TANSU_OK)
        return status;
    if (!from->spilled) {
        if (at->next == from->values.count)
            return TANSU_DONE;
        *value = ((const distinct_item *)at->sorted[at->next++])->value;
        return TANSU_OK;
    }
    sort_record r;
    bool same;
    do {
        status = external_sort_next(from->spilled, &r, a->error);
        if (status != TANSU_OK)
            return status;
        /* Of equal values the first to arrive is the first here. */
        same = at->next != 0 && at->last.size == r.key_size &&
               memcmp(at->last.data, r.key, r.key_size) == 0;
    } while (same);
    at->next++;
    if (!buffer_set(&at->last, r.key, r.key_size))
        return error_memory(a->error);
    *value = (doc_value){r.payload + 1, (uint32_t)r.payload_size - 1, r.payload[0]};
    return TANSU_OK;
}

void distinct_end(distinct_cursor *at) {
    free(at->sorted);
    tansu_buffer_free(&at->last);
}

/* ---- Groups one by one ---- */

/* Where groups go as they are made. */
typedef struct sorted_output {
    writer *w;              /* NULL: nothing is written */
    external_sort *ordered; /* sorts by $orderby; NULL: no order */
    uint64_t written;       /* groups */
    tansu_buffer doc;
    tansu_buffer key;
    tansu_buffer collated[2];
} sorted_output;

/* sort_documents -- sorts all matches by group key. */
static tansu_status sort_documents(aggregation *a, external_sort *keys) {
    query_run *run;
    hit h;
    const uint8_t *doc;
    uint32_t size;
    tansu_status status = run_begin(a->q, a->rctx, a->collection, PLAN_DOCUMENTS, &run, a->error);
    if (status == TANSU_OK)
        run->deadline = a->deadline;
    while (status == TANSU_OK) {
        uint8_t ref[8];
        status = run_hit(run, &h, &doc, &size, a->error);
        if (status != TANSU_OK)
            break;
        if (!group_key(a, doc, size)) {
            status = error_memory(a->error);
            break;
        }
        store_u64(ref, h.ref);
        const sort_record r = {a->key.data, a->key.size, h.rid, ref, sizeof ref};
        status = external_sort_add(keys, &r, a->error);
    }
    if (status == TANSU_DONE)
        status = a->explain
                     ? explain_write(run, milliseconds_now() - a->started, &a->plan, a->error)
                     : TANSU_OK;
    query_end(run);
    return status == TANSU_OK ? external_sort_finish(keys, a->error) : status;
}

/* output_group -- writes a group to the result, unless $skip or $max exclude it. */
static tansu_status output_group(aggregation *a, sorted_output *o, uint64_t at,
                                 const uint8_t *doc) {
    if (!o->w || at < a->skip || o->written >= a->max)
        return TANSU_OK;
    const doc_value value = {doc, load_u32(doc), DOC_DOCUMENT};
    writer_index_value(o->w, (uint32_t)o->written++, &value);
    if (o->w->failed)
        return error_memory(a->error);
    return o->w->out->size > AGGREGATE_MEMORY ? result_too_large(a) : TANSU_OK;
}

/* end_group -- outputs the current group. */
static tansu_status end_group(aggregation *a, sorted_output *o) {
    group *g = (group *)a->groups.first;
    writer w = {.out = &o->doc};
    if (!g)
        return TANSU_OK;
    o->doc.size = 0;
    tansu_status status = write_group(a, g, &w);
    groups_clear(a);
    uint64_t number = a->group_number++;
    if (status == TANSU_OK && number % GROUP_STEP == 0)
        status = deadline_check(&a->deadline, a->error);
    if (status != TANSU_OK || !o->ordered)
        return status == TANSU_OK ? output_group(a, o, number, o->doc.data) : status;
    o->key.size = 0;
    if (!sort_key(a->order, a->order_count, a->q->collation, o->collated, o->doc.data, o->doc.size,
                  &o->key))
        return error_memory(a->error);
    const sort_record r = {o->key.data, o->key.size, number, o->doc.data, o->doc.size};
    return external_sort_add(o->ordered, &r, a->error);
}

/* make_groups -- makes one group after the other. */
static tansu_status make_groups(aggregation *a, external_sort *keys, sorted_output *o) {
    sort_record r;
    tansu_status status;
    while ((status = external_sort_next(keys, &r, a->error)) == TANSU_OK) {
        const key_set_item *current = a->groups.first;
        if (current &&
            (current->key_size != r.key_size || memcmp(current->key, r.key, r.key_size) != 0))
            status = end_group(a, o);
        uint32_t size;
        const uint8_t *doc = read_document(a->rctx, load_u64(r.payload), &size);
        group *g;
        if (status == TANSU_OK)
            status = group_of(a, doc, size, &g);
        for (uint32_t i = 0; status == TANSU_OK && i < a->field_count; i++)
            status = accumulate(a, &a->fields[i], &g->accumulators[i], doc, size, 1);
        if (status == TANSU_OK)
            status = within_memory(a);
        if (status != TANSU_OK)
            return status;
    }
    return status == TANSU_DONE ? end_group(a, o) : status;
}

/* output_ordered -- outputs the groups in the order of $orderby; equal ones in the order of their
 * keys. */
static tansu_status output_ordered(aggregation *a, sorted_output *o) {
    sort_record r;
    tansu_status status = external_sort_finish(o->ordered, a->error);
    for (uint64_t at = 0; status == TANSU_OK && o->written < a->max; at++) {
        status = external_sort_next(o->ordered, &r, a->error);
        if (status == TANSU_OK)
            status = output_group(a, o, at, r.payload);
    }
    return status == TANSU_DONE ? TANSU_OK : status;
}

tansu_status write_sorted(aggregation *a, writer *w) {
    sorted_output o = {.w = w};
    external_sort *keys = new_sort(a, a->memory_limit / 4);
    if (w && a->order_count != 0)
        o.ordered = new_sort(a, a->memory_limit / 4);
    tansu_status status =
        keys && (o.ordered || !w || a->order_count == 0) ? TANSU_OK : error_memory(a->error);
    size_t array = w ? writer_open(w, "groups", DOC_ARRAY) : 0;
    if (status == TANSU_OK)
        status = sort_documents(a, keys);
    if (status == TANSU_OK)
        status = make_groups(a, keys, &o);
    if (status == TANSU_OK && o.ordered)
        status = output_ordered(a, &o);
    if (w)
        writer_end(w, array);
    a->spilled += (keys ? external_sort_spilled(keys) : 0) +
                  (o.ordered ? external_sort_spilled(o.ordered) : 0);
    external_sort_free(keys);
    external_sort_free(o.ordered);
    tansu_buffer_free(&o.doc);
    tansu_buffer_free(&o.key);
    tansu_buffer_free(&o.collated[0]);
    tansu_buffer_free(&o.collated[1]);
    return status;
}
