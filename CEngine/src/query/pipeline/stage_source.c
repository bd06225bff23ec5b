/*
 * query/pipeline/stage_source.c -- where the documents of a pipeline come from: a collection, or
 * the stage $documents.
 */
#include "query/pipeline/pipeline_internal.h"

#include "query/exec/cursor.h"
#include "query/exec/subquery.h"

/* ---- A collection ---- */

/* The query that reads it. */
typedef struct source_state {
    tansu_buffer selector;
    tansu_buffer hints;
    query *query;
    query_run *run;
} source_state;

static tansu_status source_compile(stage *s, const doc_value *spec) {
    (void)spec;
    s->state = stage_alloc(s, sizeof(source_state));
    return s->state ? TANSU_OK : TANSU_E_MEMORY;
}

static tansu_status source_begin(stage *s) {
    source_state *state = s->state;
    pipeline *p = s->p;
    const collection_state *collection;
    if (p->inner != INNER_COLLECTION)
        return TANSU_OK;
    if (p->selector && !buffer_set(&state->selector, p->selector->data, p->selector->size))
        return error_memory(p->error);
    tansu_status status =
        query_compile(state->selector.data, state->selector.size, state->hints.data,
                      state->hints.size, p->rctx.interrupt, &state->query, p->error);
    if (status == TANSU_OK)
        status = snapshot_find(p->snapshot, p->collection, &collection, p->error);
    if (status == TANSU_OK)
        status = query_resolve(state->query, p->snapshot, &p->rctx, collection, false, p->error);
    if (status == TANSU_OK)
        status =
            query_start(state->query, p->snapshot, &p->rctx, collection, &state->run, p->error);
    return status;
}

static tansu_status source_next(stage *s, doc_value *doc) {
    source_state *state = s->state;
    tansu_document document;
    tansu_status status = deadline_check(&s->p->deadline, s->p->error);
    if (status == TANSU_OK && s->p->inner != INNER_COLLECTION)
        return s->p->feed(s->p->feed_context, doc);
    if (status == TANSU_OK)
        status = query_next(state->run, &document, s->p->error);
    if (status == TANSU_OK)
        *doc = (doc_value){document.data, (uint32_t)document.size, DOC_DOCUMENT};
    return status;
}

static void source_end(stage *s) {
    source_state *state = s->state;
    query_end(state->run);
    query_free(state->query);
    state->run = NULL;
    state->query = NULL;
}

static void source_free(stage *s) {
    source_state *state = s->state;
    if (!state)
        return;
    tansu_buffer_free(&state->selector);
    tansu_buffer_free(&state->hints);
}

const stage_kind stage_source = {.compile = source_compile,
                                 .begin = source_begin,
                                 .next = source_next,
                                 .end = source_end,
                                 .free = source_free};

/* ---- $documents ---- */

/* An expression that yields an array of documents. */
typedef struct documents_state {
    const expression *documents;
    tansu_buffer array; /* its value */
    doc_iter at;
} documents_state;

static tansu_status documents_compile(stage *s, const doc_value *spec) {
    documents_state *state = s->state = stage_alloc(s, sizeof *state);
    return state ? stage_expression(s, NULL, spec, &state->documents) : TANSU_E_MEMORY;
}

static tansu_status documents_begin(stage *s) {
    documents_state *state = s->state;
    doc_value value;
    evaluation_document(&s->p->ev, NULL, 0);
    tansu_status status = expression_evaluate(&s->p->ev, state->documents, &value);
    if (status != TANSU_OK)
        return status;
    if (value.type != DOC_ARRAY)
        return stage_error(s, NULL, "Must be an array of documents, or yield one");
    if (!buffer_set(&state->array, value.data, value.size))
        return error_memory(s->p->error);
    doc_iter_init(&state->at, state->array.data, state->array.size);
    return TANSU_OK;
}

static tansu_status documents_next(stage *s, doc_value *doc) {
    documents_state *state = s->state;
    tansu_status status = stage_step(s);
    if (status != TANSU_OK)
        return status;
    if (!doc_iter_next(&state->at))
        return TANSU_DONE;
    if (state->at.value.type != DOC_DOCUMENT)
        return stage_error(s, "$documents", "An element of the array is no document");
    *doc = state->at.value;
    return TANSU_OK;
}

static void documents_free(stage *s) {
    documents_state *state = s->state;
    if (state)
        tansu_buffer_free(&state->array);
}

const stage_kind stage_documents = {.name = "$documents",
                                    .place = STAGE_FIRST | STAGE_NOT_IN_FACET,
                                    .compile = documents_compile,
                                    .begin = documents_begin,
                                    .next = documents_next,
                                    .free = documents_free};
