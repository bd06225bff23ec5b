/*
 * query/pipeline/group_index.c -- groups from an index instead of documents.
 */
#include "query/pipeline/group_index.h"

#include "index/definition.h"
#include "query/exec/run.h"
#include "query/parse/parsed_query.h"
#include "query/util/merge_sort.h"
#include "store/index_backlog/index_backlog.h"
#include "util/array.h"
#include "util/clock.h"

#include <stdlib.h>
#include <string.h>

/* ---- Finding an index ---- */

/* scannable -- whether an index has exactly one entry for every document, and its strings collated
 * as they are compared. */
static bool scannable(const query_source *from, const access_path *index, const path *path) {
    const hints *h = &from->query->hints;
    const collation *collation = from->query->collation;
    bool folded = collation && collation->fold && !collation->numeric;
    if (h->index_choice == INDEX_NAMED && strcmp(h->index_name, index->name) != 0)
        return false;
    if (index->fold ? !folded : collation != NULL)
        return false;
    return index->path_count == 1 && !index->multikey && path_equal(&index->paths[0], path) &&
           index->entries->count == from->collection->count;
}

/* find_index -- the index on a path whose ranges are exactly the matches, or NULL. */
static tansu_status find_index(const query_source *from, planner *p, const path *path,
                               access_path **found) {
    conjunction *all = arena_alloc(p->memory.arena, sizeof *all);
    *found = NULL;
    if (!all)
        return error_memory(p->error);
    conjunction_of(from->query->root, all);
    for (uint32_t i = 0; i < access_path_count(from->collection) && !*found; i++) {
        if (access_path_is_text(from->collection, i) ||
            !path_equal(access_path_first(from->collection, i), path))
            continue;
        tansu_status status = index_current(from->collection, i, p->error);
        if (status != TANSU_OK)
            return status;
        access_path *index = arena_alloc(p->memory.arena, sizeof *index);
        if (!index)
            return error_memory(p->error);
        access_path_begin(from->collection, i, index);
        if (!scannable(from, index, path))
            continue;
        status = access_path_bind(p, all, index);
        if (status != TANSU_OK)
            return status;
        if (index->exact)
            *found = index;
    }
    return TANSU_OK;
}

/* ---- Scanning an index from value to value ---- */

/* A value of the index: its first document. */
typedef struct index_value {
    uint64_t rid;
    uint64_t count; /* documents that have it */
} index_value;

typedef struct value_scan {
    stage *s;
    query_source *from;
    const access_path *index;
    bool elements; /* distinct values are asked for: a document without the field has none */
    bool pipeline; /* it is of no query: undefined is a group beside that of null and missing */
    bool counts;   /* of documents are asked for */
    tree_cursor cursor;
    tansu_buffer key;
    tansu_buffer end; /* the first key after the entries of the current value */
    index_value *values;
    size_t count, capacity;
    size_t checked;     /* values until the latest check_number() */
    tansu_buffer since; /* the first key after these */
    bool too_many;
} value_scan;

/* So many values are read before their number is compared with that of the documents. */
#define VALUES_CHECKED 100
/* Going to the next value takes as long as reading so many documents one after the other. */
#define VALUE_COST 8
/* Documents of the key of null that are read to see whether one of them is undefined. */
#define NULLS_MAX 1000

/* fetch -- reads the document of a record id. */
static tansu_status fetch(value_scan *w, uint64_t rid, doc_value *doc) {
    doc_ref ref;
    const read_context *rctx = &w->s->p->rctx;
    tansu_status status = read_find(rctx, w->from->collection, rid, &ref, w->s->p->error);
    if (status == TANSU_DONE)
        return error_set(w->s->p->error, TANSU_E_CORRUPT, w->index->name,
                         "Index \"%.120s\" has an entry for a document that does not exist; verify "
                         "the database",
                         w->index->name);
    if (status != TANSU_OK)
        return status;
    doc->data = read_document(rctx, ref, &doc->size);
    doc->type = DOC_DOCUMENT;
    w->from->documents_examined++;
    return TANSU_OK;
}

/* read_nulls -- null, undefined and missing have the same key. Distinct values: *found is whether a
 * document has the field, and the value is that of the first one. Pipelines: gives up where a value
 * may be undefined, which is another group. */
static tansu_status read_nulls(value_scan *w, index_value *value, bool *found) {
    const path *path = &w->index->paths[0];
    tansu_status status = TANSU_OK;
    bool valid = true;
    *found = !w->elements;
    for (uint32_t read = 0; status == TANSU_OK && valid; read++) {
        doc_value doc, at;
        w->too_many = w->pipeline && read == NULLS_MAX;
        if (w->too_many)
            return TANSU_OK;
        status = stage_step(w->s);
        if (status == TANSU_OK)
            status = fetch(w, tree_cursor_rid(&w->cursor), &doc);
        if (status != TANSU_OK)
            return status;
        if (!path_get(path, doc.data, doc.size, &at) || at.type != DOC_MISSING) {
            *found = true;
            w->too_many = w->pipeline && at.type == DOC_UNDEFINED;
            value->rid = w->elements ? tree_cursor_rid(&w->cursor) : value->rid;
            if (w->too_many || w->elements)
                return TANSU_OK;
        }
        status = tree_cursor_next(&w->cursor, &valid, w->s->p->error);
        if (status == TANSU_OK && valid && !tree_cursor_key(&w->cursor, &w->key))
            return error_memory(w->s->p->error);
        valid = valid && bounds_compare(w->key.data, w->key.size, w->end.data, w->end.size) < 0;
        w->from->keys_examined++;
    }
    return status;
}

/* count_entries -- the number of entries between two keys. */
static tansu_status count_entries(const value_scan *w, const uint8_t *low, size_t low_size,
                                  uint64_t *count) {
    const tree_range range = {low, low_size, w->end.data, w->end.size};
    return tree_count(w->s->p->rctx.trees, w->index->entries, &range, count, w->s->p->error);
}

/* add_value -- adds the current value. */
static tansu_status add_value(value_scan *w) {
    index_value value = {.rid = tree_cursor_rid(&w->cursor), .count = 1};
    bool found = true;
    /* Of a descending index all bits are complemented. */
    bool null = w->key.data[0] == KIND_NULL || w->key.data[0] == (uint8_t)~KIND_NULL;
    tansu_status status = TANSU_OK;
    if (w->counts)
        status = count_entries(w, w->key.data, w->key.size, &value.count);
    if (status == TANSU_OK && null && (w->elements || w->pipeline))
        status = read_nulls(w, &value, &found);
    if (status != TANSU_OK || !found)
        return status;
    if (!ARRAY_RESERVE(w->values, w->count, w->capacity, 1))
        return error_memory(w->s->p->error);
    w->values[w->count++] = value;
    return TANSU_OK;
}

/* check_number -- gives up when there are too many values for the documents that have them. Whenever
 * there are twice as many values, those since the time before are looked at. */
static tansu_status check_number(value_scan *w) {
    uint64_t entries;
    if (w->count < VALUES_CHECKED || w->count < 2 * w->checked)
        return TANSU_OK;
    tansu_status status = count_entries(w, w->since.data, w->since.size, &entries);
    w->too_many = (status == TANSU_OK && entries < (w->count - w->checked) * VALUE_COST) ||
                  w->capacity * sizeof *w->values > pipeline_memory(w->s->p) / 4;
    w->checked = w->count;
    return buffer_set(&w->since, w->end.data, w->end.size) ? status : error_memory(w->s->p->error);
}

/* scan_range -- adds all values of one range. Ranges do not end between entries of one value. */
static tansu_status scan_range(value_scan *w, const key_range *range) {
    bool valid;
    tansu_error *error = w->s->p->error;
    tansu_status status = tree_cursor_seek(&w->cursor, range->low, range->low_size, &valid, error);
    while (status == TANSU_OK && valid && !w->too_many) {
        if (!tree_cursor_key(&w->cursor, &w->key))
            return error_memory(error);
        if (range->high &&
            bounds_compare(w->key.data, w->key.size, range->high, range->high_size) >= 0)
            return TANSU_OK;
        w->from->keys_examined++;
        w->key.size -= RID_SUFFIX_SIZE;
        /* No key begins with 0xFF, so there is a successor. */
        if (!buffer_set(&w->end, w->key.data, w->key.size) || !key_successor(&w->end))
            return error_memory(error);
        status = add_value(w);
        if (status == TANSU_OK && !w->too_many)
            status = check_number(w);
        if (status == TANSU_OK)
            status = stage_step(w->s);
        if (status == TANSU_OK)
            status = tree_cursor_seek(&w->cursor, w->end.data, w->end.size, &valid, error);
    }
    return status;
}

/* compare_values -- by the insertion of their first documents. */
static int compare_values(const void *left, const void *right) {
    const index_value *a = left, *b = right;
    return (a->rid > b->rid) - (a->rid < b->rid);
}

/* add_groups -- makes a group of each value, in the order in which these were inserted. */
static tansu_status add_groups(value_scan *w, grouping *g) {
    bool fits = true;
    doc_value doc;
    tansu_status status = TANSU_OK;
    /* Groups of queries are in the order of their keys. */
    if (w->pipeline)
        status = merge_sort(w->values, w->count, sizeof *w->values, compare_values,
                            &w->s->p->deadline, w->s->p->error);
    for (size_t i = 0; status == TANSU_OK && fits && i < w->count; i++) {
        status = fetch(w, w->values[i].rid, &doc);
        if (status == TANSU_OK)
            status = grouping_add(w->s, g, &doc, w->values[i].count, &fits);
        if (status == TANSU_OK)
            status = stage_step(w->s);
    }
    w->too_many = !fits;
    return status;
}

/* scan_index -- makes the groups of the values of an index; *done is false if there are too many. */
static tansu_status scan_index(stage *s, grouping *g, query_source *from, const access_path *index,
                               bool *done) {
    value_scan w = {.s = s,
                    .from = from,
                    .index = index,
                    .elements = grouping_part(g)->elements,
                    .pipeline = grouping_part(g)->expression != NULL,
                    .counts = grouping_accumulated(g)->count != 0};
    tansu_status status = TANSU_OK;
    tree_cursor_init(&w.cursor, s->p->rctx.trees, index->entries);
    for (uint32_t i = 0; status == TANSU_OK && !w.too_many && i < index->range_count; i++)
        status = scan_range(&w, &index->ranges[i]);
    tree_cursor_end(&w.cursor);
    if (status == TANSU_OK && !w.too_many)
        status = add_groups(&w, g);
    *done = status == TANSU_OK && !w.too_many;
    if (*done) {
        from->index = index->name;
        from->ordered = !w.pipeline && !index->descending[0];
    }
    free(w.values);
    tansu_buffer_free(&w.since);
    tansu_buffer_free(&w.key);
    tansu_buffer_free(&w.end);
    return status;
}

/* scan_field -- the same if there is an index on the field. */
static tansu_status scan_field(stage *s, grouping *g, query_source *from, bool *done) {
    arena memory = {.limit = PLAN_MEMORY};
    planner p = {.q = from->query,
                 .rctx = &s->p->rctx,
                 .collection = from->collection,
                 .purpose = PLAN_COUNT,
                 .memory = {.arena = &memory},
                 .deadline = &s->p->deadline,
                 .error = s->p->error};
    access_path *index = NULL;
    tansu_status status = find_index(from, &p, &grouping_part(g)->path, &index);
    /* Planning exceeds its memory limit: read documents instead. */
    if (status == TANSU_E_MEMORY && memory.full)
        status = TANSU_OK;
    else if (status == TANSU_OK && index)
        status = scan_index(s, g, from, index, done);
    tansu_buffer_free(&p.memory.scratch);
    arena_free(&memory);
    return status;
}

/* ---- The first or last document in the order of a field ---- */

/* write_hints -- the hints of the query with an order, and for one result. */
static bool write_hints(const query_source *from, const path *path, bool descending,
                        tansu_buffer *out) {
    writer w = {.out = out};
    size_t start = writer_begin(&w);
    doc_iter iter;
    bool valid = from->hints.size != 0 && doc_iter_value(&iter, &from->hints);
    while (valid && doc_iter_next(&iter))
        writer_value(&w, iter.key, &iter.value);
    size_t order = writer_open(&w, "$orderby", DOC_DOCUMENT);
    writer_int32(&w, path->text, descending ? -1 : 1);
    writer_end(&w, order);
    writer_int32(&w, "$max", 1);
    writer_end(&w, start);
    return !w.failed;
}

/* write_selector -- {"$and": [the query, {path: {"$ne": null}}]}. */
static bool write_selector(const query_source *from, const path *path, tansu_buffer *out) {
    const doc_value null = {NULL, 0, DOC_NULL};
    writer w = {.out = out};
    size_t start = writer_begin(&w);
    size_t both = writer_open(&w, "$and", DOC_ARRAY);
    size_t test = writer_open(&w, "0", DOC_DOCUMENT);
    size_t inner = writer_open(&w, path->text, DOC_DOCUMENT);
    writer_value(&w, "$ne", &null);
    writer_end(&w, inner);
    writer_end(&w, test);
    if (from->selector.size != 0)
        writer_value(&w, "1", &from->selector);
    writer_end(&w, both);
    writer_end(&w, start);
    return !w.failed;
}

/* set_deadline -- gives a run the deadline of the pipeline. */
static void set_deadline(query_run *run, const pipeline *p) {
    run->deadline = p->deadline;
    run->cancellable = deadline_active(&p->deadline);
}

/* is_ordered -- whether an index that is not multikey provides the order of a run. */
static bool is_ordered(const query_run *run, const path *path) {
    const plan *p = run->plan;
    if (p->kind == PLAN_NONE)
        return true;
    if (p->kind != PLAN_INDEX || p->sort != PLAN_SORT_INDEX || !p->streamed)
        return false;
    for (uint32_t i = 0; i < p->accesses[0]->path_count; i++) {
        if (path_equal(&p->accesses[0]->paths[i], path))
            return !p->accesses[0]->multikey;
    }
    return false;
}

/* The least or greatest values that were found, before it is known that an index gives all. */
typedef struct extremes {
    stage *s;
    grouping *g;
    query_source *from;
    uint8_t *states; /* of the group; NULL: it is not made yet */
} extremes;

/* add_extreme -- adds a document to one accumulator. */
static tansu_status add_extreme(extremes *x, const accumulated_field *field, const doc_value *doc) {
    stage *s = x->s;
    accumulating c = {.s = s};
    accumulator_input input;
    tansu_status status = x->states ? TANSU_OK : grouping_only(s, x->g, &x->states);
    evaluation_document(&s->p->ev, doc->data, doc->size);
    if (status == TANSU_OK)
        status = accumulation_evaluate(&c, &field->accumulation, doc, &input);
    if (status == TANSU_OK)
        status = accumulation_add(&c, &field->accumulation, x->states + field->offset, &input);
    accumulating_free(&c);
    return status;
}

/* run_extreme -- runs the query for the one document. */
static tansu_status run_extreme(extremes *x, const query *q, const accumulated_field *field,
                                bool *done) {
    stage *s = x->s;
    query_run *run;
    hit h;
    doc_value doc = {.type = DOC_DOCUMENT};
    tansu_status status =
        run_begin(q, &s->p->rctx, x->from->collection, PLAN_DOCUMENTS, &run, s->p->error);
    *done = status == TANSU_OK && is_ordered(run, &field->accumulation.input.path);
    if (*done) {
        set_deadline(run, s->p);
        status = run_hit(run, &h, &doc.data, &doc.size, s->p->error);
        if (status == TANSU_OK)
            status = add_extreme(x, field, &doc);
        else if (status == TANSU_DONE)
            status = TANSU_OK;
        x->from->keys_examined += run_keys_examined(run);
        x->from->documents_examined += run->documents_examined;
        if (run->plan->kind == PLAN_INDEX)
            x->from->index = run->plan->accesses[0]->name;
    }
    query_end(run);
    return status;
}

/* find_extreme -- $min or $max by the order of an index; *done is false when none provides it, or
 * when the query cannot be nested in another one. */
static tansu_status find_extreme(extremes *x, const accumulated_field *field, bool *done) {
    const accumulation *a = &field->accumulation;
    pipeline *p = x->s->p;
    tansu_buffer selector = TANSU_BUFFER_INIT, hints = TANSU_BUFFER_INIT;
    query *q = NULL;
    tansu_status status = TANSU_OK;
    *done = false;
    /* Subqueries would run again. */
    if (x->from->query->subqueries)
        return TANSU_OK;
    if (!write_selector(x->from, &a->input.path, &selector) ||
        !write_hints(x->from, &a->input.path, a->kind->variant > 0, &hints))
        status = error_memory(p->error);
    tansu_status compiled = status;
    if (status == TANSU_OK)
        compiled = x->from->scope
                       ? query_compile_in(x->from->scope, selector.data, selector.size, hints.data,
                                          hints.size, p->rctx.interrupt, &q, NULL)
                       : query_compile(selector.data, selector.size, hints.data, hints.size,
                                       p->rctx.interrupt, &q, NULL);
    if (compiled == TANSU_OK)
        status = run_extreme(x, q, field, done);
    query_free(q);
    tansu_buffer_free(&selector);
    tansu_buffer_free(&hints);
    return status;
}

tansu_status count_from_index(stage *s, query_source *from, uint64_t *count) {
    pipeline *p = s->p;
    query_run *run;
    clock_time began = clock_now();
    tansu_status status =
        run_begin(from->query, &p->rctx, from->collection, PLAN_COUNT, &run, p->error);
    if (status == TANSU_OK) {
        set_deadline(run, p);
        status = run_count(run, count, p->error);
    }
    if (status == TANSU_OK && p->explain && !from->index)
        status = explain_write(run, (double)(clock_now() - began) / 1e6, &from->plan, p->error);
    query_end(run);
    return status;
}

/* count_documents -- counts for all accumulators that count. Without documents there is no group. */
static tansu_status count_documents(extremes *x) {
    const accumulated_fields *fields = grouping_accumulated(x->g);
    uint64_t count;
    tansu_status status = count_from_index(x->s, x->from, &count);
    if (status != TANSU_OK || (count == 0 && !x->states))
        return status;
    if (!x->states)
        status = grouping_only(x->s, x->g, &x->states);
    for (uint32_t i = 0; status == TANSU_OK && i < fields->count; i++) {
        if (fields->fields[i].accumulation.kind->index == INDEX_GIVES_COUNT)
            *(int64_t *)(x->states + fields->fields[i].offset) = (int64_t)count;
    }
    return status;
}

/* find_aggregates -- finds each aggregate of the only group by itself. */
static tansu_status find_aggregates(stage *s, grouping *g, query_source *from, bool *done) {
    const accumulated_fields *fields = grouping_accumulated(g);
    extremes x = {.s = s, .g = g, .from = from};
    tansu_status status = TANSU_OK;
    bool counts = fields->count == 0;
    *done = true;
    for (uint32_t i = 0; status == TANSU_OK && *done && i < fields->count; i++) {
        bool is_count = fields->fields[i].accumulation.kind->index == INDEX_GIVES_COUNT;
        counts = counts || is_count;
        if (!is_count)
            status = find_extreme(&x, &fields->fields[i], done);
    }
    /* Whether there is a document at all. */
    counts = counts || !x.states;
    if (status == TANSU_OK && *done && counts)
        status = count_documents(&x);
    return status;
}

/* ---- The choice ---- */

/* only -- whether an index may give all accumulators: those of fields if `fields`. */
static bool only(const grouping *g, bool fields) {
    const accumulated_fields *all = grouping_accumulated(g);
    for (uint32_t i = 0; i < all->count; i++) {
        const accumulation *a = &all->fields[i].accumulation;
        if (a->kind->index == INDEX_GIVES_NOTHING ||
            (a->kind->index == INDEX_GIVES_EXTREME && (!fields || !a->input.trail)))
            return false;
    }
    return true;
}

tansu_status group_from_index(stage *s, grouping *g, query_source *from, bool *done) {
    const value_reader *part = grouping_part(g);
    const hints *h = &from->query->hints;
    tansu_status status = TANSU_OK;
    *done = false;
    if (!from->collection || h->index_choice == INDEX_NONE || h->order_count != 0 || h->skip != 0 ||
        h->max != UINT64_MAX)
        return TANSU_OK;
    /* The conditions of the query are not all that selects, with $text. */
    if (part && part->trail && only(g, false) && !from->query->text)
        status = scan_field(s, g, from, done);
    else if (grouping_is_constant(g) && only(g, true))
        status = find_aggregates(s, g, from, done);
    if (status == TANSU_OK && *done)
        return grouping_filled(s, g);
    grouping_end(g);
    from->index = NULL;
    from->keys_examined = from->documents_examined = 0;
    return status;
}
