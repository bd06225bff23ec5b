/*
 * query/execute.c -- from a plan to documents.
 *
 * Without an index that serves $orderby, every source gives docnos in ascending order, so that the
 * answer's order does not depend on the plan.
 */
#include "query/cover.h"
#include "query/run.h"
#include <stdlib.h>

/* begin_streams -- opens what a streamed plan reads. */
static tansu_status begin_streams(query_run *run, tansu_error *error) {
    const plan *p = run->plan;
    const access *a = p->accesses[0];
    walk_order order = {.access = a,
                        .ranges = a->ranges,
                        .range_count = a->range_count,
                        .group_paths = p->group_paths,
                        .backward = p->backward,
                        .keeps = p->shown != NULL};
    if (p->streams > 1)
        return merge_init(&run->merge, run, &order, p->streams, p->held_paths, error);
    walk_init(&run->walk, run, &order);
    return TANSU_OK;
}

/* run_begin -- see run.h. */
tansu_status run_begin(const query *q, const view *v, const collection_state *collection,
                       enum plan_purpose purpose, query_run **result, tansu_error *error) {
    query_run *run = calloc(1, sizeof *run);
    *result = run;
    if (!run)
        return error_memory(error);
    run->q = q;
    run->view = *v;
    run->collection = collection;
    run->purpose = purpose;
    run->to_skip = q->hints.skip;
    run->left = q->hints.max;
    run_watch(run);
    run->match.watch = run->watched ? &run->watch : NULL;
    planner *p = &run->planner;
    *p = (planner){.q = q,
                   .view = &run->view,
                   .collection = collection,
                   .purpose = purpose,
                   .memory = {.arena = &run->memory},
                   .watch = run->watched ? &run->watch : NULL,
                   .error = error};
    run->memory.limit = PLAN_MEMORY;
    tansu_status status = run->watched ? run_check(run, error) : TANSU_OK;
    if (status == TANSU_OK)
        status = plan_choose(p);
    run->memory.limit = 0;
    tansu_buffer_free(&p->memory.scratch);
    if (status != TANSU_OK)
        return status;
    run->plan = p->chosen;
    p->error = NULL;
    if (run->plan->kind == PLAN_SCAN)
        view_scan_init(&run->scan, &run->view, collection);
    run->docnos.keeps = run->plan->shown != NULL;
    return run->plan->streamed ? begin_streams(run, error) : TANSU_OK;
}

/* run_park -- see run.h. */
void run_park(query_run *run) {
    walk_free(&run->walk);
    merge_free(&run->merge);
}

/* query_end -- frees everything; fine on NULL. */
void query_end(query_run *run) {
    if (!run)
        return;
    run_park(run);
    tansu_buffer_free(&run->values);
    docno_list_free(&run->docnos);
    free(run->hits);
    sorter_free(run->sorter);
    tansu_buffer_free(&run->output);
    tansu_buffer_free(&run->joined);
    tansu_buffer_free(&run->answer);
    match_context_free(&run->match);
    arena_free(&run->memory);
    free(run);
}

/* ---- The source: docnos that may match ---- */

/* gather_common -- the docnos that are in the ranges of both indexes. */
static tansu_status gather_common(query_run *run, tansu_error *error) {
    const plan *p = run->plan;
    docno_list other = {.items = NULL};
    tansu_status status = docno_list_add_access(&run->docnos, run, p->accesses[0], error);
    if (status == TANSU_OK)
        status = docno_list_add_access(&other, run, p->accesses[1], error);
    run->keys_examined += run->docnos.count + other.count;
    if (status == TANSU_OK && (!docno_list_sort(&run->docnos) || !docno_list_sort(&other)))
        status = error_memory(error);
    if (status == TANSU_OK)
        docno_list_retain(&run->docnos, &other);
    docno_list_free(&other);
    return status;
}

/* gather -- all docnos of the plan's ranges, ascending, each once. */
static tansu_status gather(query_run *run, tansu_error *error) {
    const plan *p = run->plan;
    if (p->kind == PLAN_INTERSECTION)
        return gather_common(run, error);
    if (!docno_list_clear(&run->docnos))
        return error_memory(error);
    for (uint32_t i = 0; i < p->access_count; i++) {
        tansu_status status = run->watched ? run_check(run, error) : TANSU_OK;
        if (status != TANSU_OK)
            return status;
        status = docno_list_add_access(&run->docnos, run, p->accesses[i], error);
        if (status != TANSU_OK)
            return status;
    }
    run->keys_examined += run->docnos.count;
    return docno_list_sort(&run->docnos) ? TANSU_OK : error_memory(error);
}

/* next_streamed -- the next docno of a streamed plan. */
static tansu_status next_streamed(query_run *run, bool fetched, uint64_t *docno,
                                  tansu_error *error) {
    walk *w = &run->walk;
    tansu_status status;
    if (run->plan->streams > 1) {
        status = merge_next(&run->merge, docno, error);
        run->keys_examined = run->merge.keys_examined;
        if (status == TANSU_OK)
            run->entry = merge_entry(&run->merge);
        return status;
    }
    status = walk_next(w, docno, error);
    if (status == TANSU_OK && w->batch.keeps)
        run->entry = walk_entry(w);
    else if (status == TANSU_OK && fetched)
        view_prefetch(&run->view, run->collection, w->batch.items, w->batch.count, w->next - 1);
    return status;
}

/* next_docno -- the next docno that an index gives; `fetched`: its document will be asked for. */
static tansu_status next_docno(query_run *run, bool fetched, uint64_t *docno, tansu_error *error) {
    docno_list *list = &run->docnos;
    if (run->plan->streamed)
        return next_streamed(run, fetched, docno, error);
    if (run->next_docno == 0 && list->capacity == 0) {
        tansu_status status = gather(run, error);
        if (status != TANSU_OK)
            return status;
    }
    if (run->next_docno == list->count)
        return TANSU_DONE;
    if (list->keeps)
        run->entry = docno_list_entry_ahead(list, run->next_docno);
    else if (fetched)
        view_prefetch(&run->view, run->collection, list->items, list->count, run->next_docno);
    *docno = docno_list_at(list, run->next_docno++);
    return TANSU_OK;
}

/* fetch -- a docno's document. */
static tansu_status fetch(query_run *run, hit *h, const uint8_t **doc, uint32_t *size,
                          tansu_error *error) {
    tansu_status status = view_find(&run->view, run->collection, h->docno, &h->ref, error);
    if (status == TANSU_DONE)
        return error_set(error, TANSU_E_CORRUPT, run->plan->accesses[0]->name,
                         "The index has an entry of a document that does not exist.");
    if (status != TANSU_OK)
        return status;
    *doc = view_document(&run->view, h->ref, size);
    run->documents_examined++;
    return TANSU_OK;
}

/* needs_documents -- whether hits must be fetched: to be shown, or to be sorted. */
static bool needs_documents(const query_run *run) {
    return plan_shows(run->purpose) || run->plan->sort == PLAN_SORT_MEMORY;
}

/* matches -- whether a document matches; also true when that could not be found out, so that the
 * search ends there: the context has the error. */
static inline bool matches(query_run *run, const uint8_t *doc, size_t size) {
    return matcher_run(run->q->matcher, &run->match, doc, size) || run->match.status != TANSU_OK;
}

/* next_match -- the next document that matches, in the source's order. */
static tansu_status next_match(query_run *run, hit *h, const uint8_t **doc, uint32_t *size,
                               tansu_error *error) {
    const plan *p = run->plan;
    tansu_status status;
    if (p->kind == PLAN_NONE)
        return TANSU_DONE;
    if (p->kind == PLAN_SCAN) {
        do {
            status = run_step(run, error);
            if (status != TANSU_OK)
                return status;
            status = view_scan_next(&run->scan, &h->docno, &h->ref, doc, size, error);
            if (status != TANSU_OK)
                return status;
            run->documents_examined++;
        } while (!p->exact && !matches(run, *doc, *size));
        return match_context_status(&run->match, error);
    }
    bool fetched = !p->exact || needs_documents(run);
    do {
        status = run_step(run, error);
        if (status != TANSU_OK)
            return status;
        status = next_docno(run, fetched, &h->docno, error);
        if (status != TANSU_OK)
            return status;
        if (!fetched || (p->shown && cover_tells(run->entry))) {
            h->ref = 0;
            *doc = NULL;
            *size = 0;
            return TANSU_OK;
        }
        status = fetch(run, h, doc, size, error);
        if (status != TANSU_OK)
            return status;
    } while (!p->exact && !matches(run, *doc, *size));
    return match_context_status(&run->match, error);
}

/* ---- Sort and window ---- */

/* sort_matches -- reads the source to its end, and sorts what matches. */
static tansu_status sort_matches(query_run *run, tansu_error *error) {
    const hints *order = &run->q->hints;
    const sorter_how how = {.order = order->order,
                            .order_count = order->order_count,
                            .collation = run->q->collation,
                            .keep = run->planner.limit,
                            .view = &run->view,
                            .watch = &run->watch,
                            .may_spill = !order->no_disk};
    run->sorter = sorter_new(&how);
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
    run->fixed = status == TANSU_OK;
    return status;
}

/* next_fixed -- the next of an answer that was fixed. */
static tansu_status next_fixed(query_run *run, hit *h, tansu_error *error) {
    if (run->put_back) {
        run->put_back = false;
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
    if (run->next_hit == run->hit_count)
        return TANSU_DONE;
    *h = run->hits[run->next_hit++];
    return TANSU_OK;
}

/* next_in_order -- the next document of the answer, $skip and $max aside. */
static tansu_status next_in_order(query_run *run, hit *h, const uint8_t **doc, uint32_t *size,
                                  tansu_error *error) {
    if (!run->fixed && run->plan->sort == PLAN_SORT_MEMORY) {
        tansu_status status = sort_matches(run, error);
        if (status != TANSU_OK)
            return status;
    }
    if (!run->fixed)
        return next_match(run, h, doc, size, error);
    tansu_status status = next_fixed(run, h, error);
    if (status != TANSU_OK)
        return status;
    *doc = NULL;
    *size = 0;
    if (plan_shows(run->purpose))
        *doc = view_document(&run->view, h->ref, size);
    return TANSU_OK;
}

/* run_hit -- see run.h. */
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

/* windowed -- what $skip and $max leave of a number of matches. */
static uint64_t windowed(const query_run *run, uint64_t matches) {
    uint64_t left = matches > run->to_skip ? matches - run->to_skip : 0;
    return left < run->left ? left : run->left;
}

/* run_count -- see run.h. */
tansu_status run_count(query_run *run, uint64_t *count, tansu_error *error) {
    const plan *p = run->plan;
    if (p->exact && p->kind == PLAN_SCAN) {
        *count = windowed(run, run->collection->count);
    } else if (p->exact && p->kind == PLAN_INDEX && p->accesses[0]->distinct) {
        /* One entry a match, and the matches' entries are the ranges: their number is the count. */
        access *a = p->accesses[0];
        tansu_status status =
            a->counted ? TANSU_OK : access_measure(&run->view, a, true, run->match.watch, error);
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
    return TANSU_OK;
}
