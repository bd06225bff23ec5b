/*
 * query/exec/cursor.c -- the entry points of other parts: cursors, counts, record ids, explain.
 */
#include "query/exec/cursor.h"

#include "bson/writer.h"
#include "query/exec/project.h"
#include "query/exec/text_scan.h"
#include "util/array.h"
#include "util/bytes.h"
#include "util/clock.h"
#include "util/error.h"

#include <stdlib.h>

/* milliseconds_now -- of a monotonic clock. */
static double milliseconds_now(void) {
    return (double)clock_now() / 1e6;
}

/* materialize -- finds all results now. A write transaction changes its trees in place when it
 * continues, and only references to documents stay valid. */
static tansu_status materialize(query_run *run, tansu_error *error) {
    hit h;
    const uint8_t *doc;
    uint32_t size;
    tansu_status status;
    if (run->text && run->text->ranks)
        return text_scan_rank(run, error);
    if (run->plan->sort == PLAN_SORT_MEMORY) {
        /* The first document sorts, and so materializes, all of them. It is returned again. */
        status = run_hit(run, &h, &doc, &size, error);
        if (status != TANSU_OK)
            return status == TANSU_DONE ? TANSU_OK : status;
        run->unread = true;
        run->left++;
        run->returned--;
        return TANSU_OK;
    }
    size_t memory = hints_sort_memory(&run->q->hints, &run->rctx);
    run->hits.spill =
        (external_sort_options){.rctx = &run->rctx,
                                .deadline = &run->deadline,
                                .memory = memory,
                                .may_spill = !run->q->hints.no_disk,
                                .refusal = {.context = "query",
                                            .what = "The list of results in a write transaction",
                                            .limit = memory,
                                            .advice = "narrow the query, set \"$max\""}};
    while ((status = run_hit(run, &h, &doc, &size, error)) == TANSU_OK) {
        status = hit_list_add(&run->hits, &h, error);
        if (status != TANSU_OK)
            return status;
    }
    if (status != TANSU_DONE)
        return status;
    run->materialized = true;
    run->left = UINT64_MAX;
    run->returned = 0;
    run->spilled = hit_list_spilled(&run->hits);
    return hit_list_finish(&run->hits, error);
}

/* write_count -- {"count": n}. */
static tansu_status write_count(uint64_t count, tansu_buffer *out, tansu_error *error) {
    writer w = {.out = out};
    size_t start = writer_begin(&w);
    writer_int64(&w, "count", (int64_t)count);
    writer_end(&w, start);
    return w.failed ? error_memory(error) : TANSU_OK;
}

/* start_one -- runs $onlycount or $explain, whose result is one document. */
static tansu_status start_one(const query *q, const read_context *rctx,
                              const collection_state *collection, query_run **result,
                              tansu_error *error) {
    query_run *run = calloc(1, sizeof *run);
    if (!run)
        return error_memory(error);
    run->one_document = true;
    tansu_status status;
    if (q->hints.explain) {
        status = query_explain(q, rctx, collection, &run->output, error);
    } else {
        int64_t count;
        status = query_count(q, rctx, collection, &count, error);
        if (status == TANSU_OK)
            status = write_count((uint64_t)count, &run->output, error);
    }
    if (status != TANSU_OK) {
        query_end(run);
        return status;
    }
    *result = run;
    return TANSU_OK;
}

/* show_score -- for $meta in $fields. */
static tansu_status show_score(query_run *run, tansu_error *error) {
    expression_context *x = expression_context_of(&run->match);
    if (!x)
        return error_memory(error);
    x->ev->score = run_score(run);
    return TANSU_OK;
}

/* next_result -- the next result, joined and projected. */
static tansu_status next_result(query_run *run, tansu_document *document, tansu_error *error) {
    const hints *h = &run->q->hints;
    hit found;
    const uint8_t *doc;
    uint32_t size;
    tansu_status status = run_hit(run, &found, &doc, &size, error);
    if (status != TANSU_OK)
        return status;
    if (!doc) {
        status = covering_project(run->plan->accesses[0], run->plan->covered, run->entry,
                                  &run->values, &run->output, error);
        *document = (tansu_document){run->output.data, run->output.size};
        return status;
    }
    tansu_document stored = {doc, size};
    *document = stored;
    if (h->joins && run->snapshot) {
        status = join_apply(h->joins, run->snapshot, &run->rctx, &run->deadline, &stored,
                            &run->joined, error);
        *document = (tansu_document){run->joined.data, run->joined.size};
    }
    if (status == TANSU_OK && h->fields) {
        status = run->q->scored ? show_score(run, error) : TANSU_OK;
        if (status == TANSU_OK)
            status = project(run->q, &run->match, &stored, document, &run->output, error);
        *document = (tansu_document){run->output.data, run->output.size};
    }
    return status;
}

/* Limit of all results of a query with joins in a write transaction. */
#define MAX_RESULTS ((size_t)256 * 1024 * 1024)

/* materialize_joined -- makes all results now, since the joined collections may change as well. */
static tansu_status materialize_joined(query_run *run, tansu_error *error) {
    tansu_document document;
    tansu_status status;
    while ((status = next_result(run, &document, error)) == TANSU_OK) {
        if (run->results.size + document.size > MAX_RESULTS)
            return error_set(error, TANSU_E_TOO_LARGE, "$do",
                             "Results of a query with joins in a write transaction exceed %zu MiB; "
                             "narrow the query, or set \"$max\"",
                             MAX_RESULTS / (1024 * 1024));
        if (!buffer_append(&run->results, document.data, document.size))
            return error_memory(error);
    }
    run->joined_all = true;
    return status == TANSU_DONE ? TANSU_OK : status;
}

/* next_joined -- the next of the results that materialize_joined() made. */
static tansu_status next_joined(query_run *run, tansu_document *document) {
    if (run->next_result == run->results.size)
        return TANSU_DONE;
    const uint8_t *doc = run->results.data + run->next_result;
    *document = (tansu_document){doc, load_u32(doc)};
    run->next_result += document->size;
    return TANSU_OK;
}

/* purpose_of -- whether a covering index may be used: not with joins, nor where results are
 * materialized as references to documents. */
static enum plan_purpose purpose_of(const query *q, const read_context *rctx) {
    return q->hints.fields && !q->hints.joins && !rctx->pending ? PLAN_PROJECTED : PLAN_DOCUMENTS;
}

tansu_status query_start(const query *q, const snapshot *snapshot, const read_context *rctx,
                         const collection_state *collection, query_run **result,
                         tansu_error *error) {
    if (q->hints.explain || q->hints.only_count)
        return start_one(q, rctx, collection, result, error);
    query_run *run;
    tansu_status status = run_begin(q, rctx, collection, purpose_of(q, rctx), &run, error);
    if (status == TANSU_OK)
        run->snapshot = snapshot;
    if (status == TANSU_OK && rctx->pending)
        status = q->hints.joins ? materialize_joined(run, error) : materialize(run, error);
    if (status != TANSU_OK) {
        query_end(run);
        return status;
    }
    if (rctx->pending) /* the trees may change from now on */
        run_close_indexes(run);
    *result = run;
    return TANSU_OK;
}

/* After the end, or an error, every call returns TANSU_DONE. */
tansu_status query_next(query_run *run, tansu_document *document, tansu_error *error) {
    if (run->done)
        return TANSU_DONE;
    if (run->one_document) {
        run->done = true;
        *document = (tansu_document){run->output.data, run->output.size};
        return TANSU_OK;
    }
    tansu_status status =
        run->joined_all ? next_joined(run, document) : next_result(run, document, error);
    run->done = status != TANSU_OK;
    return status;
}

void query_end_timeout(query_run *run) {
    run->deadline.milliseconds = 0;
}

tansu_status query_count(const query *q, const read_context *rctx,
                         const collection_state *collection, int64_t *count, tansu_error *error) {
    query_run *run;
    uint64_t number;
    tansu_status status = run_begin(q, rctx, collection, PLAN_COUNT, &run, error);
    if (status == TANSU_OK)
        status = run_count(run, &number, error);
    if (status == TANSU_OK)
        *count = (int64_t)number;
    query_end(run);
    return status;
}

tansu_status query_rids(const query *q, const read_context *rctx,
                        const collection_state *collection, uint64_t **rids, size_t *count,
                        tansu_error *error) {
    query_run *run;
    rid_list list = {.items = NULL};
    hit h;
    const uint8_t *doc;
    uint32_t size;
    tansu_status status = run_begin(q, rctx, collection, PLAN_RIDS, &run, error);
    while (status == TANSU_OK) {
        status = run_hit(run, &h, &doc, &size, error);
        if (status != TANSU_OK)
            break;
        if (!rid_list_reserve(&list, 1))
            status = error_memory(error);
        else
            list.items[list.count++] = h.rid;
    }
    if (status == TANSU_DONE)
        status = run_check(run, error);
    query_end(run);
    if (status != TANSU_OK) {
        rid_list_free(&list);
        return status;
    }
    *rids = list.items;
    *count = list.count;
    return TANSU_OK;
}

tansu_status query_explain(const query *q, const read_context *rctx,
                           const collection_state *collection, tansu_buffer *result,
                           tansu_error *error) {
    double start = milliseconds_now();
    query_run *run;
    enum plan_purpose purpose = q->hints.only_count ? PLAN_COUNT : purpose_of(q, rctx);
    tansu_status status = run_begin(q, rctx, collection, purpose, &run, error);
    hit h;
    const uint8_t *doc;
    uint32_t size;
    if (status == TANSU_OK && purpose == PLAN_COUNT) {
        uint64_t count;
        status = run_count(run, &count, error);
    } else if (status == TANSU_OK) {
        while ((status = run_hit(run, &h, &doc, &size, error)) == TANSU_OK)
            ;
        if (status == TANSU_DONE)
            status = TANSU_OK;
    }
    if (status == TANSU_OK)
        status = explain_write(run, milliseconds_now() - start, result, error);
    query_end(run);
    return status;
}

/* ---- Hit list ---- */

/*
 * Results in memory, or in the temporary file of an external sort, whose
 * records have no key and so stay in the order of their numbers.
 */

void hit_list_free(hit_list *list) {
    free(list->items);
    external_sort_free(list->external);
    list->items = NULL;
    list->external = NULL;
}

/* add_external -- the next one, to the external sort. */
static tansu_status add_external(hit_list *list, const hit *h, tansu_error *error) {
    uint8_t payload[16];
    store_u64(payload, h->rid);
    store_u64(payload + 8, h->ref);
    const sort_record r = {payload, 0, list->next++, payload, sizeof payload};
    return external_sort_add(list->external, &r, error);
}

/* spill -- from now on hits go to an external sort, those before them first. */
static tansu_status spill(hit_list *list, tansu_error *error) {
    if (!list->spill.may_spill)
        return spill_refuse(&list->spill.refusal, error);
    list->external = external_sort_new(&list->spill);
    tansu_status status = list->external ? TANSU_OK : error_memory(error);
    for (size_t i = 0; status == TANSU_OK && i < list->count; i++)
        status = add_external(list, &list->items[i], error);
    free(list->items);
    list->items = NULL;
    list->count = list->capacity = 0;
    return status;
}

tansu_status hit_list_add(hit_list *list, const hit *h, tansu_error *error) {
    /* The list doubles when it grows, and the external sort comes next to it. */
    if (!list->external && list->count == list->capacity &&
        list->capacity * 4 * sizeof *h > list->spill.memory) {
        tansu_status status = spill(list, error);
        if (status != TANSU_OK)
            return status;
    }
    if (list->external)
        return add_external(list, h, error);
    if (!ARRAY_RESERVE(list->items, list->count, list->capacity, 1))
        return error_memory(error);
    list->items[list->count++] = *h;
    return TANSU_OK;
}

tansu_status hit_list_finish(hit_list *list, tansu_error *error) {
    list->next = 0;
    return list->external ? external_sort_finish(list->external, error) : TANSU_OK;
}

tansu_status hit_list_next(hit_list *list, hit *h, tansu_error *error) {
    if (!list->external) {
        if (list->next == list->count)
            return TANSU_DONE;
        *h = list->items[list->next++];
        return TANSU_OK;
    }
    sort_record r;
    tansu_status status = external_sort_next(list->external, &r, error);
    if (status == TANSU_OK)
        *h = (hit){.rid = load_u64(r.payload), .ref = load_u64(r.payload + 8)};
    return status;
}
