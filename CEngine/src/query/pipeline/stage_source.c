/*
 * query/pipeline/stage_source.c -- where the documents of a pipeline come from: a collection, or
 * the stage $documents.
 */
#include "query/pipeline/pipeline_internal.h"

#include "query/exec/run.h"
#include "query/exec/subquery.h"

/* ---- A collection ---- */

/* The query that reads it. */
typedef struct source_state {
    tansu_buffer matches; /* queries one after the other, all of which select */
    uint32_t match_count;
    tansu_buffer hints; /* a document that is not ended; or empty */
    tansu_buffer selector;
    query *query;
    query_run *run;
} source_state;

static tansu_status source_compile(stage *s, const doc_value *spec) {
    (void)spec;
    s->state = stage_alloc(s, sizeof(source_state));
    return s->state ? TANSU_OK : TANSU_E_MEMORY;
}

tansu_status source_push_match(stage *s, const doc_value *match) {
    source_state *state = s->state;
    state->match_count++;
    return buffer_append(&state->matches, match->data, match->size) ? TANSU_OK
                                                                    : error_memory(s->p->error);
}

tansu_status source_push_hint(stage *s, const char *hint, const doc_value *value) {
    source_state *state = s->state;
    writer w = {.out = &state->hints};
    if (state->hints.size == 0)
        writer_begin(&w);
    writer_value(&w, hint, value);
    return w.failed ? error_memory(s->p->error) : TANSU_OK;
}

/* make_selector -- {"$and": […]} of what selects; one alone is itself, none is nothing. */
static tansu_status make_selector(stage *s) {
    source_state *state = s->state;
    const tansu_buffer *outer = s->p->selector;
    state->selector.size = 0;
    if (state->match_count + (outer != NULL) <= 1) {
        const tansu_buffer *only = outer ? outer : &state->matches;
        return only->size == 0 || buffer_set(&state->selector, only->data, only->size)
                   ? TANSU_OK
                   : error_memory(s->p->error);
    }
    writer w = {.out = &state->selector};
    uint32_t count = 0;
    size_t start = writer_begin(&w);
    size_t all = writer_open(&w, "$and", DOC_ARRAY);
    if (outer) {
        const doc_value value = {outer->data, (uint32_t)outer->size, DOC_DOCUMENT};
        writer_index_value(&w, count++, &value);
    }
    for (size_t at = 0; at < state->matches.size; at += load_u32(state->matches.data + at)) {
        const uint8_t *match = state->matches.data + at;
        const doc_value value = {match, load_u32(match), DOC_DOCUMENT};
        writer_index_value(&w, count++, &value);
    }
    writer_end(&w, all);
    writer_end(&w, start);
    return w.failed ? error_memory(s->p->error) : TANSU_OK;
}

static tansu_status source_begin(stage *s) {
    source_state *state = s->state;
    pipeline *p = s->p;
    const collection_state *collection;
    if (p->inner != INNER_COLLECTION || p->empty)
        return TANSU_OK;
    tansu_status status = make_selector(s);
    writer w = {.out = &state->hints};
    size_t open = state->hints.size;
    if (open != 0)
        writer_end(&w, 0);
    if (w.failed)
        status = error_memory(p->error);
    p->compiler.known = &p->ev;
    p->compiler.lowest_slot = VARIABLES_MAX;
    if (status == TANSU_OK)
        status =
            query_compile_in(&p->compiler, state->selector.size != 0 ? state->selector.data : NULL,
                             state->selector.size, open != 0 ? state->hints.data : NULL,
                             state->hints.size, p->rctx.interrupt, &state->query, p->error);
    state->hints.size = open;
    if (status == TANSU_OK)
        status = snapshot_find(p->snapshot, p->collection, &collection, p->error);
    if (status == TANSU_OK)
        status =
            query_start(state->query, p->snapshot, &p->rctx, collection, &state->run, p->error);
    return status;
}

static tansu_status source_next(stage *s, doc_value *doc) {
    source_state *state = s->state;
    tansu_document document;
    tansu_status status = deadline_check(&s->p->deadline, s->p->error);
    if (s->p->empty)
        return TANSU_DONE;
    if (status == TANSU_OK && s->p->inner != INNER_COLLECTION)
        return s->p->feed(s->p->feed_context, doc);
    if (status == TANSU_OK)
        status = query_next(state->run, &document, s->p->error);
    if (status == TANSU_OK)
        *doc = (doc_value){document.data, (uint32_t)document.size, DOC_DOCUMENT};
    return status;
}

tansu_status source_explain(stage *s, writer *w) {
    source_state *state = s->state;
    tansu_buffer plan = TANSU_BUFFER_INIT;
    if (!state->run)
        return TANSU_OK;
    tansu_status status =
        explain_write(state->run, (double)s->nanoseconds / 1e6, &plan, s->p->error);
    if (status == TANSU_OK)
        writer_document(w, "plan", plan.data, plan.size);
    tansu_buffer_free(&plan);
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
    tansu_buffer_free(&state->matches);
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
