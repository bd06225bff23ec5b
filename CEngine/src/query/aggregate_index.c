/*
 * query/aggregate_index.c -- figures from an index instead of documents.
 *
 *   $count        without "by": as tansu_count(), which needs no documents where an index is exact
 *   $min, $max    without "by": the first and the last document in the order of the path, when that
 *                 order comes from an index
 *   $distinct     without "by", and $count by one path: a walk over an index of that one path, which
 *                 looks at one document for each value
 *
 * An index serves only if it has strings in the form in which they are compared ($collation), and if
 * it never met an array on its paths: then the documents in it have one value each, and the rules
 * about array elements have nothing to say. The values themselves are
 * read from documents, because 1 and 1.0 have the same key.
 */
#include "index/definition.h"
#include "query/aggregate_parts.h"
#include <stdlib.h>

/* ---- Walking an index of one path ---- */

/* walkable -- whether an index has just one entry, by value, of every document, and strings in the
 * form that they are compared in. */
static bool walkable(const aggregation *a, const access *index, const path *path) {
    const hints *h = &a->q->hints;
    const collation *by = a->q->collation;
    bool folded = by && by->fold && !by->numeric;
    if (h->index_choice == INDEX_NAMED && strcmp(h->index_name, index->name) != 0)
        return false;
    if (index->fold ? !folded : by != NULL)
        return false;
    return index->path_count == 1 && !index->multikey && path_equal(&index->paths[0], path) &&
           index->entries->count == a->collection->count;
}

/* find_walk -- the index of a path whose ranges are exactly the query's matches; *found NULL when
 * there is none. */
static tansu_status find_walk(aggregation *a, planner *p, const path *path, access **found) {
    *found = NULL;
    conjunction *all = arena_alloc(&a->memory, sizeof *all);
    if (!all)
        return error_memory(a->error);
    conjunction_of(a->q->root, all);
    for (uint32_t i = 0; i < access_count(a->collection) && !*found; i++) {
        access *index = arena_alloc(&a->memory, sizeof *index);
        if (!index)
            return error_memory(a->error);
        access_begin(a->collection, i, index);
        if (!walkable(a, index, path))
            continue;
        tansu_status status = access_bind(p, all, index);
        if (status != TANSU_OK)
            return status;
        if (index->exact)
            *found = index;
    }
    return TANSU_OK;
}

/* A walk from value to value. */
typedef struct value_walk {
    aggregation *a;
    const access *index;
    tree_cursor cursor;
    tansu_buffer key;
    tansu_buffer end; /* the first key behind the present value's entries */
    query_run watch;  /* asked whether time is over; nothing else of it is used */
} value_walk;

/* fetch -- a document that the index names. */
static tansu_status fetch(value_walk *w, uint64_t docno, const uint8_t **doc, uint32_t *size) {
    doc_ref ref;
    tansu_status status = view_find(w->a->view, w->a->collection, docno, &ref, w->a->error);
    if (status == TANSU_DONE)
        return error_set(w->a->error, TANSU_E_CORRUPT, w->index->name,
                         "The index has an entry of a document that does not exist.");
    if (status != TANSU_OK)
        return status;
    *doc = view_document(w->a->view, ref, size);
    w->a->documents_examined++;
    return TANSU_OK;
}

/* is_missing -- whether the index's path finds nothing in a document. */
static bool is_missing(const value_walk *w, const uint8_t *doc, uint32_t size) {
    doc_value value;
    return path_get(&w->index->paths[0], doc, size, &value) && value.type == DOC_MISSING;
}

/* present_document -- the first document of the present value in which the path has a value: null
 * and missing have one key, but only null is a distinct value. *doc NULL: none has. */
static tansu_status present_document(value_walk *w, const uint8_t **doc, uint32_t *size) {
    bool valid = true;
    tansu_status status = TANSU_OK;
    while (status == TANSU_OK && valid) {
        status = run_step(&w->watch, w->a->error);
        if (status == TANSU_OK)
            status = fetch(w, tree_cursor_docno(&w->cursor), doc, size);
        if (status != TANSU_OK || !is_missing(w, *doc, *size))
            return status;
        status = tree_cursor_next(&w->cursor, &valid, w->a->error);
        if (status == TANSU_OK && valid && !tree_cursor_key(&w->cursor, &w->key))
            return error_memory(w->a->error);
        valid = valid && bounds_compare(w->key.data, w->key.size, w->end.data, w->end.size) < 0;
        w->a->keys_examined++;
    }
    *doc = NULL;
    return status;
}

/* add_value -- the present value, with the number of its documents. */
static tansu_status add_value(value_walk *w, uint64_t count) {
    aggregation *a = w->a;
    const uint8_t *doc;
    uint32_t size;
    group *g;
    tansu_status status = TANSU_OK;
    bool distinct = a->fields[0].figure == FIGURE_DISTINCT;
    if (distinct)
        status = present_document(w, &doc, &size);
    else
        status = fetch(w, tree_cursor_docno(&w->cursor), &doc, &size);
    if (status != TANSU_OK || !doc)
        return status;
    status = group_of(a, doc, size, &g);
    for (uint32_t i = 0; status == TANSU_OK && i < a->field_count; i++)
        status = accumulate(a, &a->fields[i], &g->accumulators[i], doc, size, count);
    return status == TANSU_OK ? within_memory(a) : status;
}

/* count_entries -- entries from one key to another. */
static tansu_status count_entries(const value_walk *w, const tansu_buffer *low,
                                  const tansu_buffer *high, uint64_t *count) {
    uint64_t first, last;
    tree_store *trees = w->a->view->trees;
    tansu_status status =
        tree_rank(trees, w->index->entries, low->data, low->size, &first, w->a->error);
    if (status == TANSU_OK)
        status = tree_rank(trees, w->index->entries, high->data, high->size, &last, w->a->error);
    if (status == TANSU_OK)
        *count = last - first;
    return status;
}

/* walk_range -- all values of one range. A range is never cut within a value's entries. */
static tansu_status walk_range(value_walk *w, const key_range *range) {
    bool valid;
    tansu_error *error = w->a->error;
    tansu_status status = tree_cursor_seek(&w->cursor, range->low, range->low_size, &valid, error);
    while (status == TANSU_OK && valid) {
        uint64_t count = 1;
        if (!tree_cursor_key(&w->cursor, &w->key))
            return error_memory(error);
        if (range->high &&
            bounds_compare(w->key.data, w->key.size, range->high, range->high_size) >= 0)
            return TANSU_OK;
        w->a->keys_examined++;
        w->key.size -= INDEX_TAIL_SIZE;
        /* There is a successor: no key begins with 0xFF. */
        if (!buffer_set(&w->end, w->key.data, w->key.size) || !key_successor(&w->end))
            return error_memory(error);
        status = w->a->by_count != 0 ? count_entries(w, &w->key, &w->end, &count) : TANSU_OK;
        if (status == TANSU_OK)
            status = add_value(w, count);
        if (status == TANSU_OK)
            status = run_step(&w->watch, error);
        if (status == TANSU_OK)
            status = tree_cursor_seek(&w->cursor, w->end.data, w->end.size, &valid, error);
    }
    return status;
}

/* walk_values -- all values of an index's ranges. */
static tansu_status walk_values(aggregation *a, const access *index) {
    value_walk w = {.a = a, .index = index};
    tansu_status status = TANSU_OK;
    w.watch.watch = a->watch;
    w.watch.watched = watch_wanted(&a->watch);
    tree_cursor_init(&w.cursor, a->view->trees, index->entries);
    for (uint32_t i = 0; status == TANSU_OK && i < index->range_count; i++)
        status = walk_range(&w, &index->ranges[i]);
    tree_cursor_end(&w.cursor);
    tansu_buffer_free(&w.key);
    tansu_buffer_free(&w.end);
    a->index = index->name;
    return status;
}

/* walk_path -- the same, if there is such an index. */
static tansu_status walk_path(aggregation *a, const path *path, bool *done) {
    planner p = {.q = a->q,
                 .view = a->view,
                 .collection = a->collection,
                 .purpose = PLAN_COUNT,
                 .memory = {.arena = &a->memory},
                 .watch = &a->watch,
                 .error = a->error};
    access *index = NULL;
    const arena_mark before = arena_now(&a->memory);
    a->memory.limit = PLAN_MEMORY;
    tansu_status status = find_walk(a, &p, path, &index);
    a->memory.limit = 0;
    if (status == TANSU_E_MEMORY && a->memory.full) {
        /* Planning would take too much memory: the documents will do. */
        arena_release(&a->memory, before);
        status = TANSU_OK;
        index = NULL;
    }
    if (status == TANSU_OK && index) {
        *done = true;
        status = walk_values(a, index);
    }
    tansu_buffer_free(&p.memory.scratch);
    return status;
}

/* ---- The first or last document in the order of a path ---- */

/* write_hints -- those given, but with another order and window. */
static bool write_hints(const aggregation *a, const path *path, bool descending,
                        tansu_buffer *out) {
    static const char *const others[] = {"$orderby", "$skip", "$max", "$limit", "$explain"};
    writer w = {.out = out};
    size_t start = writer_begin(&w);
    doc_iter iter;
    bool valid = a->hints.data && doc_iter_init(&iter, a->hints.data, a->hints.size);
    while (valid && doc_iter_next(&iter)) {
        bool other = false;
        for (size_t i = 0; i < sizeof others / sizeof *others; i++)
            other = other || strcmp(others[i], iter.key) == 0;
        if (!other)
            writer_value(&w, iter.key, &iter.value);
    }
    size_t order = writer_open(&w, "$orderby", DOC_DOCUMENT);
    writer_int32(&w, path->text, descending ? -1 : 1);
    writer_end(&w, order);
    writer_int32(&w, "$max", 1);
    writer_end(&w, start);
    return !w.failed;
}

/* write_selector -- {"$and": [the query, {path: {"$ne": null}}]}. */
static bool write_selector(const aggregation *a, const path *path, tansu_buffer *out) {
    static const uint8_t empty[5] = {5};
    doc_value given = {empty, sizeof empty, DOC_DOCUMENT}, null = {NULL, 0, DOC_NULL};
    if (a->selector.data)
        given = (doc_value){a->selector.data, (uint32_t)a->selector.size, DOC_DOCUMENT};
    writer w = {.out = out};
    size_t start = writer_begin(&w);
    size_t both = writer_open(&w, "$and", DOC_ARRAY);
    writer_value(&w, "0", &given);
    size_t second = writer_open(&w, "1", DOC_DOCUMENT);
    size_t test = writer_open(&w, path->text, DOC_DOCUMENT);
    writer_value(&w, "$ne", &null);
    writer_end(&w, test);
    writer_end(&w, second);
    writer_end(&w, both);
    writer_end(&w, start);
    return !w.failed;
}

/* is_ordered -- whether a run's order comes from an index that met no array on the path. */
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

/* run_extreme -- feeds the one document to the accumulator. */
static tansu_status run_extreme(aggregation *a, const query *q, const figure_field *field,
                                accumulator *to, bool *done) {
    query_run *run;
    hit h;
    const uint8_t *doc;
    uint32_t size;
    tansu_status status = run_begin(q, a->view, a->collection, PLAN_DOCUMENTS, &run, a->error);
    *done = status == TANSU_OK && is_ordered(run, field->path);
    if (status == TANSU_OK)
        run->watch = a->watch;
    if (*done) {
        status = run_hit(run, &h, &doc, &size, a->error);
        if (status == TANSU_OK)
            status = accumulate(a, field, to, doc, size, 1);
        else if (status == TANSU_DONE)
            status = TANSU_OK;
        a->keys_examined += run->keys_examined + run->walk.keys_examined;
        a->documents_examined += run->documents_examined;
        if (run->plan->kind == PLAN_INDEX)
            a->index = run->plan->accesses[0]->name;
    }
    query_end(run);
    return status;
}

/* find_extreme -- $min or $max by an index's order; *done false when none has it. A query that can't
 * be put into another one is left to the documents. */
static tansu_status find_extreme(aggregation *a, const figure_field *field, accumulator *to,
                                 bool *done) {
    tansu_buffer selector = TANSU_BUFFER_INIT, hints = TANSU_BUFFER_INIT;
    query *q = NULL;
    *done = false;
    tansu_status status = TANSU_OK;
    if (!write_selector(a, field->path, &selector) ||
        !write_hints(a, field->path, field->figure == FIGURE_MAX, &hints))
        status = error_memory(a->error);
    if (status == TANSU_OK && query_compile(selector.data, selector.size, hints.data, hints.size,
                                            NULL, &q, NULL) == TANSU_OK)
        status = run_extreme(a, q, field, to, done);
    query_free(q);
    tansu_buffer_free(&selector);
    tansu_buffer_free(&hints);
    return status;
}

/* count_documents -- $count, which all fields that are left want. */
static tansu_status count_documents(aggregation *a, accumulator *found) {
    int64_t count;
    tansu_status status = watch_check(&a->watch, a->error);
    if (status == TANSU_OK)
        status = query_count(a->q, a->view, a->collection, &count, a->error);
    for (uint32_t i = 0; status == TANSU_OK && i < a->field_count; i++) {
        if (a->fields[i].figure == FIGURE_COUNT)
            found[i].count = (uint64_t)count;
    }
    if (status != TANSU_OK || !a->explain || a->index)
        return status;
    a->q->hints.only_count = true;
    status = query_explain(a->q, a->view, a->collection, &a->plan, a->error);
    a->q->hints.only_count = false;
    return status;
}

/* find_figures -- each figure of the one group by itself. */
static tansu_status find_figures(aggregation *a, bool *done) {
    static const uint8_t nothing[5] = {5};
    accumulator found[MAX_GROUP_FIELDS];
    tansu_status status = TANSU_OK;
    group *g = NULL;
    bool counts = false;
    memset(found, 0, sizeof found);
    *done = true;
    for (uint32_t i = 0; status == TANSU_OK && *done && i < a->field_count; i++) {
        counts = counts || a->fields[i].figure == FIGURE_COUNT;
        if (a->fields[i].figure != FIGURE_COUNT)
            status = find_extreme(a, &a->fields[i], &found[i], done);
    }
    if (status == TANSU_OK && *done && counts)
        status = count_documents(a, found);
    if (status == TANSU_OK && *done)
        status = group_of(a, nothing, sizeof nothing, &g);
    if (!g)
        a->index = NULL;
    for (uint32_t i = 0; i < a->field_count; i++) {
        if (g)
            g->accumulators[i] = found[i];
        else
            accumulator_free(&found[i]);
    }
    return status;
}

/* ---- Which of them ---- */

/* only -- whether all fields are of the figures asked for, as bits; counts of documents, not of
 * values. */
static bool only(const aggregation *a, uint32_t figures) {
    for (uint32_t i = 0; i < a->field_count; i++) {
        const figure_field *field = &a->fields[i];
        if (!(figures & 1u << field->figure) || (field->figure == FIGURE_COUNT && field->path))
            return false;
    }
    return true;
}

/* aggregate_from_index -- see aggregate_parts.h. */
tansu_status aggregate_from_index(aggregation *a, bool *done) {
    *done = false;
    if (a->q->hints.index_choice == INDEX_NONE)
        return TANSU_OK;
    if (a->by_count == 0 && only(a, 1u << FIGURE_COUNT | 1u << FIGURE_MIN | 1u << FIGURE_MAX))
        return find_figures(a, done);
    if (a->by_count == 0 && a->field_count == 1 && only(a, 1u << FIGURE_DISTINCT))
        return walk_path(a, a->fields[0].path, done);
    if (a->by_count == 1 && only(a, 1u << FIGURE_COUNT))
        return walk_path(a, a->by[0].path, done);
    return TANSU_OK;
}
