/*
 * query/cursor.c -- what other parts call: cursors, counts, docno lists, explanations.
 */
#include "base/clock.h"
#include "query/cover.h"
#include "query/join.h"
#include "query/run.h"
#include "query/writer.h"
#include <stdlib.h>

/* milliseconds_now -- of a clock that only goes forward. */
static double milliseconds_now(void) {
    return (double)clock_now() / 1e6;
}

/* add_hit -- appends to a growing array of hits. */
static bool add_hit(query_run *run, size_t *capacity, const hit *h) {
    if (run->hit_count == *capacity) {
        size_t more = *capacity == 0 ? 64 : *capacity * 2;
        hit *hits = realloc(run->hits, more * sizeof *hits);
        if (!hits)
            return false;
        run->hits = hits;
        *capacity = more;
    }
    run->hits[run->hit_count++] = *h;
    return true;
}

/* fix_answer -- reads the whole answer now: a transaction changes its trees in place as it goes on
 * writing, only references to documents stay valid. */
static tansu_status fix_answer(query_run *run, tansu_error *error) {
    size_t capacity = 0;
    hit h;
    const uint8_t *doc;
    uint32_t size;
    tansu_status status;
    if (run->plan->sort == PLAN_SORT_MEMORY) {
        /* The first document sorts, and so fixes, them all; it is put back. */
        status = run_hit(run, &h, &doc, &size, error);
        if (status != TANSU_OK)
            return status == TANSU_DONE ? TANSU_OK : status;
        run->put_back = true;
        run->left++;
        run->returned--;
        return TANSU_OK;
    }
    while ((status = run_hit(run, &h, &doc, &size, error)) == TANSU_OK) {
        if (!add_hit(run, &capacity, &h))
            return error_memory(error);
    }
    if (status != TANSU_DONE)
        return status;
    run->fixed = true;
    run->left = UINT64_MAX;
    run->returned = 0;
    return TANSU_OK;
}

/* write_count -- {"count": n}. */
static tansu_status write_count(uint64_t count, tansu_buffer *out, tansu_error *error) {
    writer w = {.out = out};
    size_t start = writer_begin(&w);
    writer_int64(&w, "count", (int64_t)count);
    writer_end(&w, start);
    return w.failed ? error_memory(error) : TANSU_OK;
}

/* start_one -- runs $onlycount or $explain: the answer is one document. */
static tansu_status start_one(const query *q, const view *v, const collection_state *collection,
                              query_run **result, tansu_error *error) {
    query_run *run = calloc(1, sizeof *run);
    if (!run)
        return error_memory(error);
    run->one_document = true;
    tansu_status status;
    if (q->hints.explain) {
        status = query_explain(q, v, collection, &run->output, error);
    } else {
        int64_t count;
        status = query_count(q, v, collection, &count, error);
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
        status = cover_write(run->plan->accesses[0], run->plan->shown, run->entry, &run->values,
                             &run->output, error);
        *document = (tansu_document){run->output.data, run->output.size};
        return status;
    }
    tansu_document stored = {doc, size};
    *document = stored;
    if (h->joins && run->version) {
        status = join_apply(h->joins, run->version, &run->view, &stored, &run->joined, error);
        *document = (tansu_document){run->joined.data, run->joined.size};
    }
    if (status == TANSU_OK && h->fields) {
        status = projection_apply(run->q, &run->match, &stored, document, &run->output, error);
        *document = (tansu_document){run->output.data, run->output.size};
    }
    return status;
}

/* All results of a query with joins in a write transaction. */
#define MAX_ANSWER ((size_t)256 * 1024 * 1024)

/* fix_joined -- makes all results now: the collections that are joined may change as well. */
static tansu_status fix_joined(query_run *run, tansu_error *error) {
    tansu_document document;
    tansu_status status;
    while ((status = next_result(run, &document, error)) == TANSU_OK) {
        if (run->answer.size + document.size > MAX_ANSWER)
            return error_set(error, TANSU_E_TOO_LARGE, "$do",
                             "In a write transaction the results of a query with joins may take "
                             "%zu MiB: narrow the query, or set $max.",
                             MAX_ANSWER / (1024 * 1024));
        if (!buffer_append(&run->answer, document.data, document.size))
            return error_memory(error);
    }
    run->answered = true;
    return status == TANSU_DONE ? TANSU_OK : status;
}

/* next_answer -- the next of the results that were made before. */
static tansu_status next_answer(query_run *run, tansu_document *document) {
    if (run->next_answer == run->answer.size)
        return TANSU_DONE;
    const uint8_t *doc = run->answer.data + run->next_answer;
    *document = (tansu_document){doc, load_u32(doc)};
    run->next_answer += document->size;
    return TANSU_OK;
}

/* purpose_of -- whether results may come from an index alone: not where other documents are put into
 * them, nor where they are fixed as references to documents. */
static enum plan_purpose purpose_of(const query *q, const view *v) {
    return q->hints.fields && !q->hints.joins && !v->pending ? PLAN_PROJECTED : PLAN_DOCUMENTS;
}

/* query_start -- see query.h. */
tansu_status query_start(const query *q, const version *version, const view *v,
                         const collection_state *collection, query_run **result,
                         tansu_error *error) {
    if (q->hints.explain || q->hints.only_count)
        return start_one(q, v, collection, result, error);
    query_run *run;
    tansu_status status = run_begin(q, v, collection, purpose_of(q, v), &run, error);
    if (status == TANSU_OK)
        run->version = version;
    if (status == TANSU_OK && v->pending)
        status = q->hints.joins ? fix_joined(run, error) : fix_answer(run, error);
    if (status != TANSU_OK) {
        query_end(run);
        return status;
    }
    if (v->pending) /* the trees will be changed: nothing of them is to be looked at any more */
        run_park(run);
    *result = run;
    return TANSU_OK;
}

/* query_next -- see query.h. After the end, or an error, there is nothing more. */
tansu_status query_next(query_run *run, tansu_document *document, tansu_error *error) {
    if (run->done)
        return TANSU_DONE;
    if (run->one_document) {
        run->done = true;
        *document = (tansu_document){run->output.data, run->output.size};
        return TANSU_OK;
    }
    tansu_status status =
        run->answered ? next_answer(run, document) : next_result(run, document, error);
    run->done = status != TANSU_OK;
    return status;
}

/* query_count -- see query.h. */
tansu_status query_count(const query *q, const view *v, const collection_state *collection,
                         int64_t *count, tansu_error *error) {
    query_run *run;
    uint64_t number;
    tansu_status status = run_begin(q, v, collection, PLAN_COUNT, &run, error);
    if (status == TANSU_OK)
        status = run_count(run, &number, error);
    if (status == TANSU_OK)
        *count = (int64_t)number;
    query_end(run);
    return status;
}

/* query_docnos -- see query.h. */
tansu_status query_docnos(const query *q, const view *v, const collection_state *collection,
                          uint64_t **docnos, size_t *count, tansu_error *error) {
    query_run *run;
    docno_list list = {.items = NULL};
    hit h;
    const uint8_t *doc;
    uint32_t size;
    tansu_status status = run_begin(q, v, collection, PLAN_DOCNOS, &run, error);
    while (status == TANSU_OK) {
        status = run_hit(run, &h, &doc, &size, error);
        if (status != TANSU_OK)
            break;
        if (!docno_list_reserve(&list, 1))
            status = error_memory(error);
        else
            list.items[list.count++] = h.docno;
    }
    query_end(run);
    if (status != TANSU_DONE) {
        docno_list_free(&list);
        return status;
    }
    *docnos = list.items;
    *count = list.count;
    return TANSU_OK;
}

/* query_explain -- see query.h. */
tansu_status query_explain(const query *q, const view *v, const collection_state *collection,
                           tansu_buffer *result, tansu_error *error) {
    double start = milliseconds_now();
    query_run *run;
    enum plan_purpose purpose = q->hints.only_count ? PLAN_COUNT : purpose_of(q, v);
    tansu_status status = run_begin(q, v, collection, purpose, &run, error);
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
