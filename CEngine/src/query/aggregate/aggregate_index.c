/*
 * query/aggregate/aggregate_index.c -- aggregates from an index instead of documents.
 *
 *   $count        without "by": as tansu_count(), which needs no documents where an index is exact
 *   $min, $max    without "by": the first and the last document in the order of the path, when an
 *                 index provides that order
 *   $distinct     without "by", and $count by one path: a scan of an index on that path alone,
 *                 which reads one document for each value
 *
 * The index must have its strings collated as $collation asks, and must not be multikey: then each
 * document has one value, and the rules for array elements do not matter. The values themselves are
 * read from documents, because 1 and 1.0 have the same key.
 */
#include "index/definition.h"
#include "query/aggregate/aggregate_internal.h"
#include "store/index_backlog/index_backlog.h"
#include <stdlib.h>

/* ---- Scanning an index of one path ---- */

/* scannable -- whether an index has exactly one entry for every document, and its strings collated
 * as they are compared. */
static bool scannable(const aggregation *a, const access_path *index, const path *path) {
    const hints *h = &a->q->hints;
    const collation *collation = a->q->collation;
    bool folded = collation && collation->fold && !collation->numeric;
    if (h->index_choice == INDEX_NAMED && strcmp(h->index_name, index->name) != 0)
        return false;
    if (index->fold ? !folded : collation != NULL)
        return false;
    return index->path_count == 1 && !index->multikey && path_equal(&index->paths[0], path) &&
           index->entries->count == a->collection->count;
}

/* find_index -- the index on a path whose ranges are exactly the matches, or NULL. */
static tansu_status find_index(aggregation *a, planner *p, const path *path, access_path **found) {
    *found = NULL;
    conjunction *all = arena_alloc(&a->memory, sizeof *all);
    if (!all)
        return error_memory(a->error);
    conjunction_of(a->q->root, all);
    for (uint32_t i = 0; i < access_path_count(a->collection) && !*found; i++) {
        if (!path_equal(access_path_first(a->collection, i), path))
            continue;
        tansu_status status = index_current(a->collection, i, a->error);
        if (status != TANSU_OK)
            return status;
        access_path *index = arena_alloc(&a->memory, sizeof *index);
        if (!index)
            return error_memory(a->error);
        access_path_begin(a->collection, i, index);
        if (!scannable(a, index, path))
            continue;
        status = access_path_bind(p, all, index);
        if (status != TANSU_OK)
            return status;
        if (index->exact)
            *found = index;
    }
    return TANSU_OK;
}

/* A scan from value to value. */
typedef struct value_scan {
    aggregation *a;
    const access_path *index;
    tree_cursor cursor;
    tansu_buffer key;
    tansu_buffer end;   /* the first key after the entries of the current value */
    query_run deadline; /* only its deadline is used */
} value_scan;

/* fetch -- reads the document of an entry. */
static tansu_status fetch(value_scan *w, uint64_t rid, const uint8_t **doc, uint32_t *size) {
    doc_ref ref;
    tansu_status status = read_find(w->a->rctx, w->a->collection, rid, &ref, w->a->error);
    if (status == TANSU_DONE)
        return error_set(w->a->error, TANSU_E_CORRUPT, w->index->name,
                         "Index \"%.120s\" has an entry for a document that does not exist; verify "
                         "the database",
                         w->index->name);
    if (status != TANSU_OK)
        return status;
    *doc = read_document(w->a->rctx, ref, size);
    w->a->documents_examined++;
    return TANSU_OK;
}

/* is_missing -- whether the path of the index has no value in a document. */
static bool is_missing(const value_scan *w, const uint8_t *doc, uint32_t size) {
    doc_value value;
    return path_get(&w->index->paths[0], doc, size, &value) && value.type == DOC_MISSING;
}

/* first_document -- the first document of the current key in which the path has a value: null and
 * missing have the same key, but only null is a distinct value. *doc is NULL when there is none. */
static tansu_status first_document(value_scan *w, const uint8_t **doc, uint32_t *size) {
    bool valid = true;
    tansu_status status = TANSU_OK;
    while (status == TANSU_OK && valid) {
        status = run_step(&w->deadline, w->a->error);
        if (status == TANSU_OK)
            status = fetch(w, tree_cursor_rid(&w->cursor), doc, size);
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

/* add_value -- adds the current value with the number of its documents. */
static tansu_status add_value(value_scan *w, uint64_t count) {
    aggregation *a = w->a;
    const uint8_t *doc;
    uint32_t size;
    group *g;
    tansu_status status = TANSU_OK;
    bool distinct = a->fields[0].kind == ACCUMULATE_DISTINCT;
    if (distinct)
        status = first_document(w, &doc, &size);
    else
        status = fetch(w, tree_cursor_rid(&w->cursor), &doc, &size);
    if (status != TANSU_OK || !doc)
        return status;
    status = group_of(a, doc, size, &g);
    for (uint32_t i = 0; status == TANSU_OK && i < a->field_count; i++)
        status = accumulate(a, &a->fields[i], &g->accumulators[i], doc, size, count);
    return status == TANSU_OK ? within_memory(a) : status;
}

/* count_entries -- the number of entries between two keys. */
static tansu_status count_entries(const value_scan *w, const tansu_buffer *low,
                                  const tansu_buffer *high, uint64_t *count) {
    const tree_range range = {low->data, low->size, high->data, high->size};
    return tree_count(w->a->rctx->trees, w->index->entries, &range, count, w->a->error);
}

/* scan_range -- adds all values of one range. Ranges do not end between entries of one value. */
static tansu_status scan_range(value_scan *w, const key_range *range) {
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
        w->key.size -= RID_SUFFIX_SIZE;
        /* No key begins with 0xFF, so there is a successor. */
        if (!buffer_set(&w->end, w->key.data, w->key.size) || !key_successor(&w->end))
            return error_memory(error);
        status = w->a->by_count != 0 ? count_entries(w, &w->key, &w->end, &count) : TANSU_OK;
        if (status == TANSU_OK)
            status = add_value(w, count);
        if (status == TANSU_OK)
            status = run_step(&w->deadline, error);
        if (status == TANSU_OK)
            status = tree_cursor_seek(&w->cursor, w->end.data, w->end.size, &valid, error);
    }
    return status;
}

/* scan_index -- adds all values of an access path. */
static tansu_status scan_index(aggregation *a, const access_path *index) {
    value_scan w = {.a = a, .index = index};
    tansu_status status = TANSU_OK;
    w.deadline.deadline = a->deadline;
    w.deadline.cancellable = deadline_active(&a->deadline);
    tree_cursor_init(&w.cursor, a->rctx->trees, index->entries);
    for (uint32_t i = 0; status == TANSU_OK && i < index->range_count; i++)
        status = scan_range(&w, &index->ranges[i]);
    tree_cursor_end(&w.cursor);
    tansu_buffer_free(&w.key);
    tansu_buffer_free(&w.end);
    a->index = index->name;
    return status;
}

/* scan_path -- the same, if there is an index on the path. */
static tansu_status scan_path(aggregation *a, const path *path, bool *done) {
    planner p = {.q = a->q,
                 .rctx = a->rctx,
                 .collection = a->collection,
                 .purpose = PLAN_COUNT,
                 .memory = {.arena = &a->memory},
                 .deadline = &a->deadline,
                 .error = a->error};
    access_path *index = NULL;
    const arena_mark before = arena_get_mark(&a->memory);
    a->memory.limit = PLAN_MEMORY;
    tansu_status status = find_index(a, &p, path, &index);
    a->memory.limit = 0;
    if (status == TANSU_E_MEMORY && a->memory.full) {
        /* Planning exceeds its memory limit: read documents instead. */
        arena_release(&a->memory, before);
        status = TANSU_OK;
        index = NULL;
    }
    if (status == TANSU_OK && index) {
        *done = true;
        status = scan_index(a, index);
    }
    tansu_buffer_free(&p.memory.scratch);
    return status;
}

/* ---- The first or last document in the order of a path ---- */

/* write_hints -- the given hints with another order and window. The variables of $let have their
 * values already. */
static bool write_hints(const aggregation *a, const path *path, bool descending,
                        tansu_buffer *out) {
    static const char *const others[] = {"$orderby", "$skip", "$max", "$limit", "$explain", "$let"};
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

/* run_extreme -- adds the one document to the accumulator. */
static tansu_status run_extreme(aggregation *a, const query *q, const group_field *field,
                                accumulator *to, bool *done) {
    query_run *run;
    hit h;
    const uint8_t *doc;
    uint32_t size;
    tansu_status status = run_begin(q, a->rctx, a->collection, PLAN_DOCUMENTS, &run, a->error);
    *done = status == TANSU_OK && is_ordered(run, field->path);
    if (status == TANSU_OK)
        run->deadline = a->deadline;
    if (*done) {
        status = run_hit(run, &h, &doc, &size, a->error);
        if (status == TANSU_OK)
            status = accumulate(a, field, to, doc, size, 1);
        else if (status == TANSU_DONE)
            status = TANSU_OK;
        a->keys_examined += run_keys_examined(run);
        a->documents_examined += run->documents_examined;
        if (run->plan->kind == PLAN_INDEX)
            a->index = run->plan->accesses[0]->name;
    }
    query_end(run);
    return status;
}

/* find_extreme -- $min or $max by the order of an index; *done is false when none provides it, or
 * when the query has subqueries or cannot be nested in another one. */
static tansu_status find_extreme(aggregation *a, const group_field *field, accumulator *to,
                                 bool *done) {
    tansu_buffer selector = TANSU_BUFFER_INIT, hints = TANSU_BUFFER_INIT;
    query *q = NULL;
    *done = false;
    tansu_status status = TANSU_OK;
    if (a->q->subqueries)
        return TANSU_OK; /* they would run again */
    if (!write_selector(a, field->path, &selector) ||
        !write_hints(a, field->path, field->kind == ACCUMULATE_MAX, &hints))
        status = error_memory(a->error);
    expression_compiler *scope = a->q->scope;
    bool compiled =
        status == TANSU_OK && (scope ? query_compile_in(scope, selector.data, selector.size,
                                                        hints.data, hints.size, NULL, &q, NULL)
                                     : query_compile(selector.data, selector.size, hints.data,
                                                     hints.size, NULL, &q, NULL)) == TANSU_OK;
    if (compiled)
        status = run_extreme(a, q, field, to, done);
    query_free(q);
    tansu_buffer_free(&selector);
    tansu_buffer_free(&hints);
    return status;
}

/* count_documents -- $count, for all fields that need it. */
static tansu_status count_documents(aggregation *a, accumulator *found) {
    int64_t count;
    tansu_status status = deadline_check(&a->deadline, a->error);
    if (status == TANSU_OK)
        status = query_count(a->q, a->rctx, a->collection, &count, a->error);
    for (uint32_t i = 0; status == TANSU_OK && i < a->field_count; i++) {
        if (a->fields[i].kind == ACCUMULATE_COUNT)
            found[i].count = (uint64_t)count;
    }
    if (status != TANSU_OK || !a->explain || a->index)
        return status;
    a->q->hints.only_count = true;
    status = query_explain(a->q, a->rctx, a->collection, &a->plan, a->error);
    a->q->hints.only_count = false;
    return status;
}

/* find_aggregates -- finds each aggregate of the only group by itself. */
static tansu_status find_aggregates(aggregation *a, bool *done) {
    static const uint8_t nothing[5] = {5};
    accumulator found[MAX_GROUP_FIELDS];
    tansu_status status = TANSU_OK;
    group *g = NULL;
    bool counts = false;
    memset(found, 0, sizeof found);
    *done = true;
    for (uint32_t i = 0; status == TANSU_OK && *done && i < a->field_count; i++) {
        counts = counts || a->fields[i].kind == ACCUMULATE_COUNT;
        if (a->fields[i].kind != ACCUMULATE_COUNT)
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

/* ---- The choice ---- */

/* only -- whether all fields have accumulators of these kinds, given as bits, and all counts are of
 * documents. */
static bool only(const aggregation *a, uint32_t kinds) {
    for (uint32_t i = 0; i < a->field_count; i++) {
        const group_field *field = &a->fields[i];
        if (!(kinds & 1u << field->kind) || (field->kind == ACCUMULATE_COUNT && field->path))
            return false;
    }
    return true;
}

tansu_status aggregate_from_index(aggregation *a, bool *done) {
    *done = false;
    if (a->q->hints.index_choice == INDEX_NONE)
        return TANSU_OK;
    if (a->by_count == 0 &&
        only(a, 1u << ACCUMULATE_COUNT | 1u << ACCUMULATE_MIN | 1u << ACCUMULATE_MAX))
        return find_aggregates(a, done);
    if (a->by_count == 0 && a->field_count == 1 && only(a, 1u << ACCUMULATE_DISTINCT))
        return scan_path(a, a->fields[0].path, done);
    if (a->by_count == 1 && a->by[0].trunc == NULL && only(a, 1u << ACCUMULATE_COUNT))
        return scan_path(a, a->by[0].path, done);
    return TANSU_OK;
}
