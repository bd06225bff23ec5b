/*
 * query/exec/execute.c -- from a plan to documents.
 *
 * Unless an index provides the order of $orderby, every scan returns record ids in ascending order,
 * so that the order of the results does not depend on the plan.
 */
#include "query/exec/project.h"
#include "query/exec/text_scan.h"
#include "util/error.h"

#include <stdlib.h>

/* Of a plan that tests so many documents that remembering their form is worth the memory. */
#define TRAIL_COST 1000.0 /* nanoseconds, roughly */

/* reads_few -- whether the record ids that planning came upon are those of a streamed plan, in its
 * order. */
static bool reads_few(const plan *p) {
    const access_path *a = p->accesses[0];
    return a->few && !p->covered && !p->backward &&
           (p->group_paths == 0 || p->group_paths == a->path_count);
}

/* fetches -- whether a plan reads the documents of the record ids that it comes upon. */
static bool fetches(const query_run *run) {
    return !run->plan->exact || run_needs_documents(run);
}

/* begin_streams -- opens the scans of a streamed plan. */
static tansu_status begin_streams(query_run *run, tansu_error *error) {
    const plan *p = run->plan;
    const access_path *a = p->accesses[0];
    index_scan_options options = {.access = a,
                                  .ranges = a->ranges,
                                  .range_count = a->range_count,
                                  .group_paths = p->group_paths,
                                  .backward = p->backward,
                                  .keep_entries = p->covered != NULL};
    if (p->streams > 1)
        return merge_scan_init(&run->merge, run, &options, p->streams, p->fixed_paths, error);
    if (reads_few(p)) {
        if (fetches(run))
            read_prefetch_records(&run->rctx, run->collection, a->few, a->few_count);
        return TANSU_OK;
    }
    run->index_scan = malloc(sizeof *run->index_scan);
    if (!run->index_scan)
        return error_memory(error);
    index_scan_init(run->index_scan, run, &options);
    return TANSU_OK;
}

/* counts_entries -- whether a count is the number of entries in the ranges: each match has one of
 * them, and all are of matches. */
static bool counts_entries(const query_run *run) {
    const plan *p = run->plan;
    return run->purpose == PLAN_COUNT && p->exact && p->kind == PLAN_INDEX &&
           p->accesses[0]->distinct;
}

tansu_status run_make_matcher(query_run *run, tansu_error *error) {
    arena *memory = &run->memory;
    memory->limit = memory->used + QUERY_MEMORY;
    run->matcher = matcher_compile(memory, run->q->root);
    memory->limit = 0;
    return run->matcher ? TANSU_OK : query_too_large(memory, error_memory(error), error);
}

/* count_uses -- of the indexes that a plan reads, but for explain. */
static void count_uses(const query_run *run) {
    const plan *p = run->plan;
    if (run->q->hints.explain)
        return;
    for (uint32_t i = 0; i < p->access_count; i++) {
        /* The branches of a union may use the same index. */
        if (p->accesses[i]->definition &&
            (i == 0 || p->accesses[i]->definition != p->accesses[i - 1]->definition))
            index_definition_use(p->accesses[i]->definition);
    }
    if (p->kind == PLAN_TEXT)
        index_definition_use(run->text->access.definition);
}

tansu_status run_begin(const query *q, const read_context *rctx, const collection_state *collection,
                       enum plan_purpose purpose, query_run **result, tansu_error *error) {
    query_run *run = zeroed_alloc(sizeof *run);
    *result = run;
    if (!run)
        return error_memory(error);
    run->q = q;
    run->rctx = *rctx;
    run->collection = collection;
    run->purpose = purpose;
    run->to_skip = q->hints.skip;
    run->left = q->hints.max;
    run_begin_deadline(run);
    run->match.deadline = run->cancellable ? &run->deadline : NULL;
    planner *p = &run->planner;
    *p = (planner){.q = q,
                   .rctx = &run->rctx,
                   .collection = collection,
                   .purpose = purpose,
                   .memory = {.arena = &run->memory},
                   .deadline = run->cancellable ? &run->deadline : NULL,
                   .error = error};
    run->memory.limit = PLAN_MEMORY;
    tansu_status status = run->cancellable ? run_check(run, error) : TANSU_OK;
    if (status == TANSU_OK && q->text && collection)
        status = text_scan_begin(run, error);
    if (status == TANSU_OK)
        status = plan_choose(p);
    run->memory.limit = 0;
    tansu_buffer_free(&p->memory.scratch);
    if (status != TANSU_OK)
        return status;
    run->plan = p->chosen;
    p->error = NULL;
    count_uses(run);
    if (run->text)
        text_scan_planned(run);
    if (!run->plan->exact) {
        status = run_make_matcher(run, error);
        if (status != TANSU_OK)
            return status;
    }
    if (!run->plan->exact && run->plan->cost > TRAIL_COST) {
        /* Or does without. */
        run->match.trail = arena_alloc(&run->memory, sizeof *run->match.trail);
        run->match.layout = arena_alloc(&run->memory, sizeof *run->match.layout);
    }
    if (run->plan->kind == PLAN_SCAN)
        table_scan_init(&run->scan, &run->rctx, collection);
    run->rids.keep_entries = run->plan->covered != NULL;
    return run->plan->streamed && !counts_entries(run) ? begin_streams(run, error) : TANSU_OK;
}

void run_close_indexes(query_run *run) {
    if (run->index_scan)
        index_scan_free(run->index_scan);
    if (run->merge.streams)
        merge_scan_free(&run->merge);
    if (run->text)
        text_scan_close(run->text);
}

void query_end(query_run *run) {
    if (!run)
        return;
    run_close_indexes(run);
    text_scan_end(run->text);
    free(run->index_scan);
    buffer_free(&run->values);
    rid_list_free(&run->rids);
    hit_list_free(&run->hits);
    sorter_free(run->sorter);
    buffer_free(&run->output);
    buffer_free(&run->joined);
    buffer_free(&run->results);
    match_context_free(&run->match);
    arena_free(&run->memory);
    free(run);
}

/* ---- Record ids of candidates ---- */

/* collect_intersection -- collects the record ids that are in the ranges of both indexes. */
static tansu_status collect_intersection(query_run *run, tansu_error *error) {
    const plan *p = run->plan;
    run->rids.limit /= 2;
    rid_list other = {.limit = run->rids.limit};
    tansu_status status = rid_list_add_access(&run->rids, run, p->accesses[0], error);
    if (status == TANSU_OK && !run->rids.full)
        status = rid_list_add_access(&other, run, p->accesses[1], error);
    run->keys_examined += run->rids.count + other.count;
    run->rids.full = run->rids.full || other.full;
    if (status == TANSU_OK && (!rid_list_sort(&run->rids) || !rid_list_sort(&other)))
        status = error_memory(error);
    if (status == TANSU_OK)
        rid_list_intersect(&run->rids, &other);
    rid_list_free(&other);
    return status;
}

/* collect_rids -- collects all record ids of the ranges, sorted and without duplicates. */
static tansu_status collect_rids(query_run *run, tansu_error *error) {
    const plan *p = run->plan;
    run->rids.limit = hints_sort_memory(&run->q->hints, &run->rctx);
    if (p->kind == PLAN_INTERSECTION)
        return collect_intersection(run, error);
    if (!rid_list_clear(&run->rids))
        return error_memory(error);
    for (uint32_t i = 0; i < p->access_count && !run->rids.full; i++) {
        tansu_status status = run->cancellable ? run_check(run, error) : TANSU_OK;
        if (status != TANSU_OK)
            return status;
        status = rid_list_add_access(&run->rids, run, p->accesses[i], error);
        if (status != TANSU_OK)
            return status;
    }
    run->keys_examined += run->rids.count;
    return rid_list_sort(&run->rids) ? TANSU_OK : error_memory(error);
}

/* scan_instead -- the record ids of the plan would exceed the memory of a sort: from here on the
 * run is a collection scan, which returns the same documents in the same order. */
static tansu_status scan_instead(query_run *run, tansu_error *error) {
    plan *scan = arena_alloc(&run->memory, sizeof *scan);
    if (!scan)
        return error_memory(error);
    *scan = (plan){.kind = PLAN_SCAN,
                   .sort = run->plan->sort,
                   .keys = run->plan->keys,
                   .cost = run->plan->cost};
    run->plan = scan;
    rid_list_free(&run->rids);
    table_scan_init(&run->scan, &run->rctx, run->collection);
    return run->matcher ? TANSU_OK : run_make_matcher(run, error);
}

/* next_few -- the next of the record ids that planning came upon. */
static tansu_status next_few(query_run *run, bool fetched, uint64_t *rid) {
    const access_path *a = run->plan->accesses[0];
    if (run->next_rid == a->few_count)
        return TANSU_DONE;
    if (fetched && run->next_rid != 0) /* the first were asked for in begin_streams() */
        read_prefetch(&run->rctx, run->collection, a->few, a->few_count, run->next_rid);
    *rid = a->few[run->next_rid++];
    run->keys_examined++;
    return TANSU_OK;
}

/* next_streamed -- the next record id of a streamed plan. */
static tansu_status next_streamed(query_run *run, bool fetched, uint64_t *rid, tansu_error *error) {
    index_scan *scan = run->index_scan;
    tansu_status status;
    if (run->plan->streams > 1) {
        status = merge_scan_next(&run->merge, rid, error);
        run->keys_examined = run->merge.keys_examined;
        if (status == TANSU_OK)
            run->entry = merge_scan_entry(&run->merge);
        return status;
    }
    if (!scan)
        return next_few(run, fetched, rid);
    status = index_scan_next(scan, rid, error);
    if (status == TANSU_OK && scan->batch.keep_entries)
        run->entry = index_scan_entry(scan);
    else if (status == TANSU_OK && fetched)
        read_prefetch(&run->rctx, run->collection, scan->batch.items, scan->batch.count,
                      scan->next - 1);
    return status;
}

/* next_rid -- the next record id of an index scan; `fetched`: its document will be read. */
static tansu_status next_rid(query_run *run, bool fetched, uint64_t *rid, tansu_error *error) {
    rid_list *list = &run->rids;
    if (run->plan->streamed)
        return next_streamed(run, fetched, rid, error);
    if (run->next_rid == 0 && list->capacity == 0) {
        tansu_status status = collect_rids(run, error);
        if (status == TANSU_OK && list->full)
            status = scan_instead(run, error);
        if (status != TANSU_OK)
            return status;
    }
    if (run->plan->kind == PLAN_SCAN)
        return TANSU_DONE;
    if (run->next_rid == list->count)
        return TANSU_DONE;
    if (list->keep_entries)
        run->entry = rid_list_next_entry(list, run->next_rid);
    else if (fetched)
        read_prefetch(&run->rctx, run->collection, list->items, list->count, run->next_rid);
    *rid = rid_list_at(list, run->next_rid++);
    return TANSU_OK;
}

tansu_status run_missing(const query_run *run, tansu_error *error) {
    const plan *p = run->plan;
    const char *name =
        p->kind == PLAN_TEXT ? run->text->access.definition->name : p->accesses[0]->name;
    return error_set(error, TANSU_E_CORRUPT, name,
                     "Index \"%.120s\" has an entry for a document that does not exist; verify the "
                     "database",
                     name);
}

double run_score(const query_run *run) {
    return run->text ? run->text->score : 0;
}

/* fetch -- run_fetch() within next_match(). */
static inline tansu_status fetch(query_run *run, hit *h, const uint8_t **doc, uint32_t *size,
                                 tansu_error *error) {
    tansu_status status =
        read_find_document(&run->rctx, run->collection, h->rid, &h->ref, doc, size, error);
    if (status == TANSU_DONE)
        return run_missing(run, error);
    if (status != TANSU_OK)
        return status;
    run->documents_examined++;
    return run_read(run, *size, error);
}

tansu_status run_fetch(query_run *run, hit *h, const uint8_t **doc, uint32_t *size,
                       tansu_error *error) {
    return fetch(run, h, doc, size, error);
}

/* matches -- run_matches(), and the words of the document where the plan does not search them. */
static inline bool matches(query_run *run, const uint8_t *doc, size_t size) {
    return run_matches(run, doc, size) &&
           (!run->text || text_scan_holds(run, doc, size) || run->match.status != TANSU_OK);
}

/* next_scanned -- the next match of a collection scan. */
static tansu_status next_scanned(query_run *run, hit *h, const uint8_t **doc, uint32_t *size,
                                 tansu_error *error) {
    do {
        tansu_status status = run_step(run, error);
        if (status != TANSU_OK)
            return status;
        status = table_scan_next(&run->scan, &h->rid, &h->ref, doc, size, error);
        if (status == TANSU_OK)
            status = run_read(run, *size, error);
        if (status != TANSU_OK)
            return status;
        run->documents_examined++;
    } while (!run->plan->exact && !matches(run, *doc, *size));
    return match_context_status(&run->match, error);
}

/* next_match -- the next match, in the order of the scan. */
static tansu_status next_match(query_run *run, hit *h, const uint8_t **doc, uint32_t *size,
                               tansu_error *error) {
    const plan *p = run->plan;
    tansu_status status;
    if (p->kind == PLAN_NONE)
        return TANSU_DONE;
    if (p->kind == PLAN_SCAN)
        return next_scanned(run, h, doc, size, error);
    if (p->kind == PLAN_TEXT)
        return text_scan_next(run, h, doc, size, error);
    bool fetched = fetches(run);
    do {
        status = run_step(run, error);
        if (status != TANSU_OK)
            return status;
        status = next_rid(run, fetched, &h->rid, error);
        if (status == TANSU_DONE && run->plan->kind == PLAN_SCAN)
            return next_scanned(run, h, doc, size, error); /* scan_instead() */
        if (status != TANSU_OK)
            return status;
        if (!fetched || (p->covered && covering_has_values(run->entry))) {
            h->ref = 0;
            *doc = NULL;
            *size = 0;
            return TANSU_OK;
        }
        status = fetch(run, h, doc, size, error);
        if (status != TANSU_OK || p->exact)
            return status;
    } while (!matches(run, *doc, *size));
    return match_context_status(&run->match, error);
}

/* ---- Sort and window ---- */

/* sort_matches -- reads and sorts all matches. */
static tansu_status sort_matches(query_run *run, tansu_error *error) {
    const hints *order = &run->q->hints;
    const sorter_options options = {.order = order->order,
                                    .order_count = order->order_count,
                                    .collation = run->q->collation,
                                    .keep = run->planner.limit,
                                    .rctx = &run->rctx,
                                    .deadline = &run->deadline,
                                    .memory = hints_sort_memory(order, &run->rctx),
                                    .may_spill = !order->no_disk};
    run->sorter = sorter_new(&options);
    tansu_status status = run->sorter ? TANSU_OK : error_memory(error);
    while (status == TANSU_OK) {
        hit h;
        const uint8_t *doc;
        uint32_t size;
        status = next_match(run, &h, &doc, &size, error);
        if (status == TANSU_OK)
            status = sorter_add(run->sorter, &h, doc, size, error);
    }
    if (status == TANSU_DONE)
        status = sorter_finish(run->sorter, error);
    run->materialized = status == TANSU_OK;
    return status;
}

/* next_materialized -- the next of the materialized results. */
static tansu_status next_materialized(query_run *run, hit *h, tansu_error *error) {
    if (run->text && run->text->ranks)
        return text_scan_next_ranked(run, h, error);
    if (run->unread) {
        run->unread = false;
        *h = run->last_hit;
        return TANSU_OK;
    }
    if (run->sorter) {
        tansu_status status = sorter_next(run->sorter, h, error);
        if (status == TANSU_OK)
            run->last_hit = *h;
        run->spilled = sorter_spilled(run->sorter);
        return status;
    }
    return hit_list_next(&run->hits, h, error);
}

/* next_in_order -- the next document of the results, disregarding $skip and $max. */
static tansu_status next_in_order(query_run *run, hit *h, const uint8_t **doc, uint32_t *size,
                                  tansu_error *error) {
    if (!run->materialized && run->plan->sort == PLAN_SORT_MEMORY) {
        tansu_status status = sort_matches(run, error);
        if (status != TANSU_OK)
            return status;
    }
    if (!run->materialized)
        return next_match(run, h, doc, size, error);
    tansu_status status = next_materialized(run, h, error);
    if (status != TANSU_OK)
        return status;
    *doc = NULL;
    *size = 0;
    if (plan_returns_documents(run->purpose))
        *doc = read_document(&run->rctx, h->ref, size);
    return TANSU_OK;
}

tansu_status run_hit(query_run *run, hit *h, const uint8_t **doc, uint32_t *size,
                     tansu_error *error) {
    if (run->left == 0)
        return TANSU_DONE;
    for (;;) {
        tansu_status status = next_in_order(run, h, doc, size, error);
        if (status != TANSU_OK)
            return status;
        if (run->to_skip == 0)
            break;
        run->to_skip--;
    }
    run->left--;
    run->returned++;
    return TANSU_OK;
}

/* ---- Counting ---- */

/* windowed -- the number of results after $skip and $max. */
static uint64_t windowed(const query_run *run, uint64_t matches) {
    uint64_t left = matches > run->to_skip ? matches - run->to_skip : 0;
    return left < run->left ? left : run->left;
}

tansu_status run_count(query_run *run, uint64_t *count, tansu_error *error) {
    const plan *p = run->plan;
    if (p->exact && p->kind == PLAN_SCAN) {
        *count = windowed(run, run->collection->count);
    } else if (counts_entries(run)) {
        access_path *a = p->accesses[0];
        tansu_status status =
            a->counted ? TANSU_OK
                       : access_path_measure(&run->rctx, a, true, run->match.deadline, error);
        if (status != TANSU_OK)
            return status;
        *count = windowed(run, p->accesses[0]->keys);
    } else {
        hit h;
        const uint8_t *doc;
        uint32_t size;
        tansu_status status;
        while ((status = run_hit(run, &h, &doc, &size, error)) == TANSU_OK)
            ;
        if (status != TANSU_DONE)
            return status;
        *count = run->returned;
    }
    run->returned = *count;
    return run->cancellable ? run_check(run, error) : TANSU_OK;
}

/* ---- Writes a part of an array ---- */

/* count_elements -- how many elements an array has. */
static int64_t count_elements(const doc_value *array) {
    doc_iter iter;
    int64_t count = 0;
    for (bool valid = doc_iter_value(&iter, array); valid && doc_iter_next(&iter);)
        count++;
    return count;
}

void write_slice(writer *w, const array_slice *slice, const doc_iter *element) {
    int64_t size = slice->skip < 0 ? count_elements(&element->value) : 0;
    int64_t skip = slice->skip >= 0 ? slice->skip : size + slice->skip < 0 ? 0 : size + slice->skip;
    uint32_t taken = 0;
    doc_iter iter;
    writer_head(w, DOC_ARRAY, element->key, element->key_size);
    size_t start = writer_begin(w);
    bool valid = doc_iter_value(&iter, &element->value);
    for (int64_t i = 0; valid && (int64_t)taken < slice->count && doc_iter_next(&iter); i++) {
        if (i >= skip)
            writer_index_value(w, taken++, &iter.value);
    }
    writer_end(w, start);
}
