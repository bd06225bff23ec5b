/*
 * query/exec/subquery.c -- runs subqueries and collects the values that they yield.
 *
 * The values are kept sorted and without duplicates, which is the form that $in has after parsing.
 * Duplicates are removed whenever the values reach the memory limit.
 */
#include "query/exec/subquery.h"
#include "query/exec/project.h"
#include "query/exec/run.h"
#include "query/parse/subquery_spec.h"
#include "query/util/merge_sort.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/error.h"
#include <stdlib.h>

/* The values of one subquery while it runs. */
typedef struct collector {
    subquery *to;
    uint32_t capacity;
    bool unsorted; /* values are not in order, and may be there twice */
    size_t limit;  /* bytes of the values */
    const deadline *deadline;
    tansu_status status;
    tansu_error *error;
} collector;

/* ---- Values ---- */

/* compare_values -- value_compare() for merge_sort(). */
static int compare_values(const void *a, const void *b) {
    return value_compare(a, b);
}

/* used_memory -- bytes of the values and of their list. */
static size_t used_memory(const collector *c) {
    return c->to->memory.used + c->capacity * sizeof *c->to->values;
}

/* sort_values -- sorts the values and removes duplicates. */
static tansu_status sort_values(collector *c) {
    subquery *s = c->to;
    if (!c->unsorted)
        return TANSU_OK;
    tansu_status status =
        merge_sort(s->values, s->count, sizeof *s->values, compare_values, c->deadline, c->error);
    if (status != TANSU_OK)
        return status;
    uint32_t kept = 1;
    for (uint32_t i = 1; i < s->count; i++) {
        if (value_compare(&s->values[i], &s->values[kept - 1]) != 0)
            s->values[kept++] = s->values[i];
    }
    s->count = kept;
    c->unsorted = false;
    return TANSU_OK;
}

/* too_large -- the error for values over the memory limit. */
static tansu_status too_large(const collector *c) {
    return error_set(c->error, TANSU_E_TOO_LARGE, c->to->context,
                     "Values of the subquery exceed its memory limit of %zu bytes; narrow the "
                     "subquery, or raise \"$maxMemory\"",
                     c->limit);
}

/* compact -- removes duplicates and frees their memory. An eighth of the limit must become free, so
 * that this is rare. */
static tansu_status compact(collector *c) {
    subquery *s = c->to;
    tansu_status status = sort_values(c);
    if (status != TANSU_OK)
        return status;
    arena kept = {.used = 0};
    for (uint32_t i = 0; i < s->count; i++) {
        void *copy = arena_copy(&kept, s->values[i].data, s->values[i].size);
        if (!copy) {
            arena_free(&kept);
            /* The values that were copied are gone with it. */
            s->count = 0;
            return error_memory(c->error);
        }
        s->values[i].data = copy;
    }
    arena_free(&s->memory);
    s->memory = kept;
    return used_memory(c) > c->limit - c->limit / 8 ? too_large(c) : TANSU_OK;
}

/* add_value -- adds a value, unless it equals the last one. */
static tansu_status add_value(collector *c, const doc_value *value) {
    subquery *s = c->to;
    int order = s->count == 0 ? 1 : value_compare(value, &s->values[s->count - 1]);
    if (order == 0)
        return TANSU_OK;
    if (used_memory(c) + value->size > c->limit) {
        tansu_status status = compact(c);
        if (status != TANSU_OK)
            return status;
        order = -1; /* the last value is another one */
    }
    if (s->count == UINT32_MAX)
        return too_large(c);
    const void *copy = arena_copy(&s->memory, value->data, value->size);
    if (!copy || !ARRAY_RESERVE(s->values, s->count, c->capacity, 1))
        return error_memory(c->error);
    s->values[s->count++] = (doc_value){copy, value->size, value->type};
    c->unsorted = c->unsorted || order < 0;
    return TANSU_OK;
}

/* visit -- adds a value that the path finds, or the elements of an array. */
static bool visit(void *context, const doc_value *value) {
    collector *c = context;
    doc_iter iter;
    if (value->type == DOC_MISSING)
        return true;
    if (value->type != DOC_ARRAY) {
        c->status = add_value(c, value);
    } else if (doc_iter_value(&iter, value)) {
        while (c->status == TANSU_OK && doc_iter_next(&iter))
            c->status = add_value(c, &iter.value);
    }
    return c->status == TANSU_OK;
}

/* ---- Running ---- */

/* next_document -- the next match, or the covered part of it. TANSU_DONE at the end. */
static tansu_status next_document(query_run *run, const uint8_t **doc, uint32_t *size,
                                  tansu_error *error) {
    hit h;
    tansu_status status = run_hit(run, &h, doc, size, error);
    if (status != TANSU_OK || *doc)
        return status;
    status = covering_project(run->plan->accesses[0], run->plan->covered, run->entry, &run->values,
                              &run->output, error);
    *doc = run->output.data;
    *size = (uint32_t)run->output.size;
    return status;
}

/* collect_values -- the values that a run yields. */
static tansu_status collect_values(query_run *run, collector *c) {
    const uint8_t *doc;
    uint32_t size;
    tansu_status status;
    while ((status = next_document(run, &doc, &size, c->error)) == TANSU_OK) {
        doc_value value;
        if (path_get(c->to->field, doc, size, &value))
            visit(c, &value);
        else
            path_walk(c->to->field, doc, size, visit, c, NULL);
        if (c->status != TANSU_OK)
            return c->status;
    }
    return status == TANSU_DONE ? sort_values(c) : status;
}

/* The run of the whole query. */
typedef struct resolution {
    const query *outermost; /* whose limits apply */
    const snapshot *snapshot;
    const read_context *rctx;
    const deadline *deadline;
    bool explained;
    tansu_error *error;
} resolution;

static tansu_status resolve_all(query *q, const resolution *r);

/* resolve -- runs one subquery. */
static tansu_status resolve(subquery *s, const resolution *r) {
    hints *limits = &s->inner->hints;
    limits->max_milliseconds = r->outermost->hints.max_milliseconds;
    limits->max_memory = r->outermost->hints.max_memory;
    limits->no_disk = r->outermost->hints.no_disk;
    tansu_status status = resolve_all(s->inner, r);
    if (status != TANSU_OK)
        return status;
    s->inner->spent = deadline_spent(r->deadline);
    collector c = {.to = s,
                   .limit = hints_group_memory(limits, r->rctx),
                   .deadline = r->deadline,
                   .error = r->error};
    clock_time start = clock_now();
    query_run *run;
    status = run_begin(s->inner, r->rctx, snapshot_collection(r->snapshot, s->collection),
                       r->rctx->pending ? PLAN_DOCUMENTS : PLAN_PROJECTED, &run, r->error);
    if (status == TANSU_OK)
        status = collect_values(run, &c);
    if (status == TANSU_OK && r->explained)
        status = explain_write(run, (double)(clock_now() - start) / 1e6, &s->plan, r->error);
    query_end(run);
    return status;
}

/* resolve_all -- runs the subqueries of a query, and compiles it. */
static tansu_status resolve_all(query *q, const resolution *r) {
    tansu_status status = TANSU_OK;
    for (subquery *s = q->subqueries; status == TANSU_OK && s; s = s->next)
        status = resolve(s, r);
    return status == TANSU_OK && q->subqueries ? query_compile_resolved(q, r->deadline, r->error)
                                               : status;
}

/* expand -- turns conditions on what references lead to into subqueries, also in subqueries. */
static tansu_status expand(query *q, const collection_state *collection, const snapshot *snapshot,
                           const deadline *d, tansu_error *error) {
    tansu_status status = TANSU_OK;
    if (collection && collection->references) {
        tansu_buffer selector = TANSU_BUFFER_INIT;
        status = reference_paths_expand(&q->selector, collection->references, &selector, error);
        if (status == TANSU_OK && selector.size != 0)
            status = query_compile_expanded(q, &selector, d, error);
        tansu_buffer_free(&selector);
    }
    for (subquery *s = q->subqueries; status == TANSU_OK && s; s = s->next)
        status = expand(s->inner, snapshot_collection(snapshot, s->collection), snapshot, d, error);
    return status;
}

tansu_status query_expand(query *q, const snapshot *snapshot, const collection_state *collection,
                          const struct interrupt *stop, tansu_error *error) {
    deadline d = deadline_begin(stop, q->hints.max_milliseconds);
    deadline_shorten(&d, q->spent);
    return expand(q, collection, snapshot, &d, error);
}

tansu_status query_resolve(query *q, const snapshot *snapshot, const read_context *rctx,
                           const collection_state *collection, bool explained, tansu_error *error) {
    bool expands = collection && collection->references;
    if ((!q->subqueries && !expands) || q->all_resolved)
        return TANSU_OK;
    deadline d = deadline_begin(rctx->interrupt, q->hints.max_milliseconds);
    deadline_shorten(&d, q->spent);
    const resolution r = {q, snapshot, rctx, &d, explained || q->hints.explain, error};
    tansu_status status = expand(q, collection, snapshot, &d, error);
    if (status == TANSU_OK)
        status = resolve_all(q, &r);
    q->spent = deadline_spent(&d);
    q->all_resolved = status == TANSU_OK;
    return status;
}
