/*
 * query/aggregate/aggregate_run.c -- documents to groups, groups to the result.
 *
 * Documents come in insertion order whatever the plan, so that $first, $last and the choice among
 * equal values do not depend on an index.
 */
#include "query/aggregate/aggregate_internal.h"
#include "query/exec/subquery.h"
#include "util/clock.h"
#include <stdlib.h>

/* Groups that are written or sorted between two checks of the deadline. */
#define GROUP_STEP 1024

/* ---- Groups ---- */

/* by_value -- the value of one member of "by" in a document: of a truncated date that of a->date,
 * null of what is no date. False when memory is exhausted. */
static bool by_value(aggregation *a, const group_path *by, const uint8_t *doc, size_t size,
                     doc_value *value) {
    if (!path_value(a, by->path, doc, size, value))
        return false;
    if (by->trunc == NULL)
        return true;
    if (value->type != DOC_DATE) {
        *value = (doc_value){NULL, 0, DOC_NULL};
        return true;
    }
    store_u64(a->date, (uint64_t)date_trunc_apply(by->trunc, doc_int64(value)));
    *value = (doc_value){a->date, sizeof a->date, DOC_DATE};
    return true;
}

/* keep_keys -- copies the values of "by" to a new group. */
static tansu_status keep_keys(aggregation *a, group *g, const uint8_t *doc, size_t size) {
    g->keys = arena_alloc(&a->memory, (a->by_count + 1) * sizeof *g->keys);
    if (!g->keys)
        return error_memory(a->error);
    for (uint32_t i = 0; i < a->by_count; i++) {
        doc_value value;
        if (!by_value(a, &a->by[i], doc, size, &value))
            return error_memory(a->error);
        tansu_status status = owned_value_set(a, &g->keys[i], &value);
        if (status != TANSU_OK)
            return status;
    }
    return TANSU_OK;
}

bool group_key(aggregation *a, const uint8_t *doc, size_t size) {
    a->key.size = 0;
    for (uint32_t i = 0; i < a->by_count; i++) {
        doc_value value;
        if (!by_value(a, &a->by[i], doc, size, &value) ||
            !collation_key(a->q->collation, &a->collated, &a->key, &value, false))
            return false;
    }
    return true;
}

tansu_status group_of(aggregation *a, const uint8_t *doc, size_t size, group **result) {
    bool added;
    if (!group_key(a, doc, size))
        return error_memory(a->error);
    size_t size_of_group = sizeof(group) + a->field_count * sizeof(accumulator);
    key_set_item *item = key_set_add(&a->groups, &a->memory, a->key.data, a->key.size,
                                     size_of_group, &added, &a->used);
    if (!item)
        return error_memory(a->error);
    *result = (group *)item;
    return added ? keep_keys(a, *result, doc, size) : TANSU_OK;
}

/* add_document -- adds a match to its group. */
static tansu_status add_document(aggregation *a, const uint8_t *doc, size_t size) {
    group *g;
    tansu_status status = group_of(a, doc, size, &g);
    for (uint32_t i = 0; status == TANSU_OK && i < a->field_count; i++)
        status = accumulate(a, &a->fields[i], &g->accumulators[i], doc, size, 1);
    return status == TANSU_OK ? within_memory(a) : status;
}

double milliseconds_now(void) {
    return (double)clock_now() / 1e6;
}

/* add_documents -- adds all matches. */
static tansu_status add_documents(aggregation *a) {
    query_run *run;
    hit h;
    const uint8_t *doc;
    uint32_t size;
    tansu_status status = run_begin(a->q, a->rctx, a->collection, PLAN_DOCUMENTS, &run, a->error);
    if (status == TANSU_OK)
        run->deadline = a->deadline;
    while (status == TANSU_OK) {
        status = run_hit(run, &h, &doc, &size, a->error);
        if (status == TANSU_OK)
            status = add_document(a, doc, size);
    }
    if (status == TANSU_DONE)
        status = a->explain
                     ? explain_write(run, milliseconds_now() - a->started, &a->plan, a->error)
                     : TANSU_OK;
    if (run)
        a->spilled += run->spilled;
    query_end(run);
    return status;
}

/* ensure_group -- without "by" there is always one group, even without documents. */
static tansu_status ensure_group(aggregation *a) {
    static const uint8_t nothing[5] = {5};
    group *g;
    return a->by_count == 0 ? group_of(a, nothing, sizeof nothing, &g) : TANSU_OK;
}

/* ---- The result ---- */

tansu_status write_group(aggregation *a, group *g, writer *w) {
    size_t start = writer_begin(w);
    for (uint32_t i = 0; i < a->by_count; i++) {
        doc_value value = {g->keys[i].data, g->keys[i].size, g->keys[i].type};
        writer_value(w, a->by[i].name, &value);
    }
    tansu_status status = TANSU_OK;
    for (uint32_t i = 0; status == TANSU_OK && i < a->field_count; i++)
        status = accumulator_write(a, w, &a->fields[i], &g->accumulators[i]);
    writer_end(w, start);
    return status == TANSU_OK && w->failed ? error_memory(a->error) : status;
}

/* Groups as concatenated documents, and where each begins. */
typedef struct group_list {
    tansu_buffer bytes;
    size_t *starts;
    hit *order; /* the record id is the number of the group */
    size_t count;
} group_list;

/* list_groups -- writes all groups in the order of their keys. */
static tansu_status list_groups(aggregation *a, group_list *list) {
    key_set_item **sorted = NULL;
    tansu_status status = key_set_sorted(&a->groups, &a->deadline, &sorted, a->error);
    if (status != TANSU_OK)
        return status;
    list->starts = calloc(a->groups.count + 1, sizeof *list->starts);
    if (!list->starts)
        status = error_memory(a->error);
    writer w = {.out = &list->bytes};
    for (size_t i = 0; status == TANSU_OK && i < a->groups.count; i++) {
        list->starts[i] = list->bytes.size;
        if (i % GROUP_STEP == GROUP_STEP - 1)
            status = deadline_check(&a->deadline, a->error);
        if (status == TANSU_OK)
            status = write_group(a, (group *)sorted[i], &w);
        if (status == TANSU_OK && list->bytes.size > AGGREGATE_MEMORY) {
            /* $skip and $max may leave little of the result. */
            a->retry_sorted = !a->q->hints.no_disk;
            status = result_too_large(a);
        }
    }
    list->count = a->groups.count;
    free(sorted);
    return status;
}

/* sort_groups -- sorts by $orderby, in the collation. Equal groups stay in the order of their
 * keys. */
static tansu_status sort_groups(aggregation *a, group_list *list) {
    const sorter_options options = {.order = a->order,
                                    .order_count = a->order_count,
                                    .collation = a->q->collation,
                                    .keep = UINT64_MAX,
                                    .rctx = a->rctx,
                                    .deadline = &a->deadline,
                                    .memory = hints_sort_memory(&a->q->hints, a->rctx),
                                    .may_spill = !a->q->hints.no_disk};
    sorter *s = sorter_new(&options);
    list->order = malloc((list->count + 1) * sizeof *list->order);
    tansu_status status = s && list->order ? TANSU_OK : error_memory(a->error);
    for (size_t i = 0; status == TANSU_OK && i < list->count; i++) {
        const uint8_t *doc = list->bytes.data + list->starts[i];
        hit h = {.rid = i, .ref = 0};
        if (i % GROUP_STEP == GROUP_STEP - 1)
            status = deadline_check(&a->deadline, a->error);
        if (status == TANSU_OK)
            status = sorter_add(s, &h, doc, load_u32(doc), a->error);
    }
    if (status == TANSU_OK)
        status = sorter_finish(s, a->error);
    for (size_t i = 0; status == TANSU_OK && i < list->count; i++)
        status = sorter_next(s, &list->order[i], a->error);
    sorter_free(s);
    return status;
}

/* write_window -- writes the groups that remain after $skip and $max. */
static void write_window(const aggregation *a, const group_list *list, writer *w) {
    size_t array = writer_open(w, "groups", DOC_ARRAY);
    uint32_t number = 0;
    for (size_t i = 0; i < list->count && number < a->max; i++) {
        if (i < a->skip)
            continue;
        size_t group = list->order ? (size_t)list->order[i].rid : i;
        const uint8_t *doc = list->bytes.data + list->starts[group];
        doc_value value = {doc, load_u32(doc), DOC_DOCUMENT};
        writer_index_value(w, number++, &value);
    }
    writer_end(w, array);
}

/* write_groups -- {"groups": […]}. */
static tansu_status write_groups(aggregation *a, writer *w) {
    group_list list = {.bytes = TANSU_BUFFER_INIT};
    tansu_status status = list_groups(a, &list);
    if (status == TANSU_OK && a->order_count != 0)
        status = sort_groups(a, &list);
    if (status == TANSU_OK)
        write_window(a, &list, w);
    tansu_buffer_free(&list.bytes);
    free(list.starts);
    free(list.order);
    return status;
}

/* write_values -- {"values": […]}. */
static tansu_status write_values(aggregation *a, writer *w) {
    accumulator *from = &((group *)a->groups.first)->accumulators[0];
    distinct_cursor cursor = {.next = 0};
    doc_value value;
    uint64_t at = 0;
    uint32_t number = 0;
    tansu_status status = TANSU_OK;
    size_t array = writer_open(w, "values", DOC_ARRAY);
    while (number < a->max && (status = next_distinct(a, from, &cursor, &value)) == TANSU_OK) {
        if (at++ < a->skip)
            continue;
        writer_index_value(w, number++, &value);
        if (w->failed || w->out->size > AGGREGATE_MEMORY) {
            status = w->failed ? error_memory(a->error) : result_too_large(a);
            break;
        }
    }
    writer_end(w, array);
    distinct_end(&cursor);
    return status == TANSU_DONE ? TANSU_OK : status;
}

/* count_values -- the number of distinct values. */
static tansu_status count_values(aggregation *a, int64_t *count) {
    accumulator *from = &((group *)a->groups.first)->accumulators[0];
    distinct_cursor cursor = {.next = 0};
    doc_value value;
    tansu_status status;
    *count = 0;
    while ((status = next_distinct(a, from, &cursor, &value)) == TANSU_OK)
        ++*count;
    distinct_end(&cursor);
    return status == TANSU_DONE ? TANSU_OK : status;
}

/* write_explanation -- where the groups come from, and the plan. */
static void write_explanation(const aggregation *a, int64_t count, double milliseconds, writer *w) {
    size_t inner = writer_open(w, "aggregate", DOC_DOCUMENT);
    writer_string(w, "from", a->index ? "index" : "documents");
    writer_int64(w, a->values ? "values" : "groups", count);
    if (a->spilled != 0)
        writer_int64(w, "spilledBytes", (int64_t)a->spilled);
    writer_end(w, inner);
    if (!a->index) {
        doc_iter iter;
        bool valid = doc_iter_init(&iter, a->plan.data, a->plan.size);
        while (valid && doc_iter_next(&iter))
            writer_value(w, iter.key, &iter.value);
        return;
    }
    inner = writer_open(w, "plan", DOC_DOCUMENT);
    writer_string(w, "kind", "index");
    writer_string(w, "index", a->index);
    writer_end(w, inner);
    writer_int64(w, "keysExamined", (int64_t)a->keys_examined);
    writer_int64(w, "documentsExamined", (int64_t)a->documents_examined);
    writer_double(w, "milliseconds", milliseconds);
    explain_subqueries(a->q, w);
}

/* make_groups -- makes all groups in memory: from an index, or from documents. */
static tansu_status make_groups(aggregation *a) {
    bool done = false;
    a->from_index = true;
    tansu_status status = a->collection && !a->no_index ? aggregate_from_index(a, &done) : TANSU_OK;
    a->from_index = false;
    if (status == TANSU_OK && !done)
        status = add_documents(a);
    return status == TANSU_OK ? ensure_group(a) : status;
}

/* write_result -- the groups or values, or with $explain the plan. */
static tansu_status write_result(aggregation *a, writer *w) {
    int64_t count = (int64_t)a->groups.count;
    tansu_status status = TANSU_OK;
    if (!a->explain)
        return a->sorting  ? write_sorted(a, w)
               : a->values ? write_values(a, w)
                           : write_groups(a, w);
    if (a->sorting) {
        status = write_sorted(a, NULL);
        count = (int64_t)a->group_number;
    } else if (a->values) {
        status = count_values(a, &count);
    }
    if (status == TANSU_OK)
        write_explanation(a, count, milliseconds_now() - a->started, w);
    return status;
}

/* run_once -- the whole result, in memory or sorting, as a->sorting says. */
static tansu_status run_once(aggregation *a, tansu_buffer *result) {
    tansu_status status = a->sorting ? TANSU_OK : make_groups(a);
    if (status != TANSU_OK)
        return status;
    writer w = {.out = result};
    size_t whole = writer_begin(&w);
    status = write_result(a, &w);
    writer_end(&w, whole);
    return status == TANSU_OK && w.failed ? error_memory(a->error) : status;
}

tansu_status aggregate_run(aggregation *a, const snapshot *snapshot, const read_context *rctx,
                           const collection_state *collection, tansu_buffer *result,
                           tansu_error *error) {
    size_t before = result->size;
    a->started = milliseconds_now();
    a->rctx = rctx;
    a->collection = collection;
    a->error = error;
    tansu_status status = query_resolve(a->q, snapshot, rctx, collection, a->explain, error);
    if (status != TANSU_OK)
        return status;
    a->memory_limit = hints_group_memory(&a->q->hints, rctx);
    a->deadline = deadline_begin(rctx->interrupt, a->q->hints.max_milliseconds);
    deadline_shorten(&a->deadline, a->q->spent);
    status = run_once(a, result);
    if (!a->retry_sorted)
        return status == TANSU_OK ? deadline_check(&a->deadline, error) : status;
    /* The groups, or the whole result, exceed the memory limit. */
    groups_clear(a);
    result->size = before;
    a->retry_sorted = false;
    a->index = NULL;
    a->no_index = true;
    a->plan.size = 0;
    a->sorting = a->by_count != 0;
    status = run_once(a, result);
    return status == TANSU_OK ? deadline_check(&a->deadline, error) : status;
}

void groups_clear(aggregation *a) {
    for (key_set_item *item = a->groups.first; item; item = item->next) {
        group *g = (group *)item;
        for (uint32_t i = 0; g->keys && i < a->by_count; i++)
            free(g->keys[i].data);
        for (uint32_t i = 0; i < a->field_count; i++)
            accumulator_free(&g->accumulators[i]);
    }
    a->groups = (key_set){.count = 0};
    a->used = a->value_used = 0;
    arena_free(&a->memory);
    arena_free(&a->value_memory);
}

void aggregate_free(aggregation *a) {
    if (!a)
        return;
    groups_clear(a);
    for (uint32_t i = 0; i < a->by_count; i++)
        date_trunc_free(a->by[i].trunc);
    tansu_buffer_free(&a->key);
    tansu_buffer_free(&a->scratch);
    tansu_buffer_free(&a->collated);
    tansu_buffer_free(&a->plan);
    query_free(a->q);
    free(a);
}
