/*
 * query/pipeline/stage_source.c -- where the documents of a pipeline come from: a collection, or
 * the stage $documents.
 */
#include "query/pipeline/pipeline_internal.h"

#include "query/exec/run.h"
#include "query/exec/subquery.h"
#include "query/parse/parsed_query.h"

/* ---- A collection ---- */

/* The query that reads it. */
typedef struct source_state {
    tansu_buffer matches; /* queries one after the other, all of which select */
    uint32_t match_count;
    tansu_buffer hints; /* a document that is not ended; or empty */
    tansu_buffer selector;
    query_source from;
    bool at_once; /* the collection does not change before the run ends */
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

tansu_status source_use(stage *s, query *query, const doc_value *selector, const doc_value *hints) {
    source_state *state = s->state;
    state->from.query = query;
    state->from.scope = query->scope;
    state->at_once = true;
    state->match_count = selector->size != 0;
    if (!buffer_set(&state->matches, selector->data, selector->size) ||
        !buffer_set(&state->hints, hints->data, hints->size))
        return error_memory(s->p->error);
    return TANSU_OK;
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

/* compile -- the query, unless it was given. */
static tansu_status compile(stage *s) {
    source_state *state = s->state;
    query_source *from = &state->from;
    pipeline *p = s->p;
    from->selector =
        (doc_value){state->selector.data, (uint32_t)state->selector.size, DOC_DOCUMENT};
    from->hints = (doc_value){state->hints.data, (uint32_t)state->hints.size, DOC_DOCUMENT};
    if (from->query)
        return TANSU_OK;
    from->scope = &p->compiler;
    p->compiler.known = &p->ev;
    p->compiler.lowest_slot = VARIABLES_MAX;
    tansu_status status =
        query_compile_in(&p->compiler, from->selector.size != 0 ? from->selector.data : NULL,
                         from->selector.size, from->hints.size != 0 ? from->hints.data : NULL,
                         from->hints.size, p->rctx.interrupt, &from->query, p->error);
    if (status == TANSU_OK)
        from->query->scored = p->compiler.reads_score;
    return status;
}

/* ask_index -- whether the first stage takes from an index what it makes. */
static tansu_status ask_index(stage *s, bool *done) {
    source_state *state = s->state;
    for (uint32_t i = 0; i < s->p->count; i++) {
        stage *reader = &s->p->stages[i];
        if (reader->source == s && reader->kind->from_index) {
            tansu_status status = reader->kind->from_index(reader, &state->from, done);
            reader->indexed = *done && state->from.index;
            return status;
        }
    }
    return TANSU_OK;
}

/* run -- begins to read, unless an index gives all. */
static tansu_status run(stage *s) {
    source_state *state = s->state;
    query_source *from = &state->from;
    pipeline *p = s->p;
    bool done = false;
    tansu_status status = snapshot_find(p->snapshot, p->collection, &from->collection, p->error);
    if (status == TANSU_OK && state->at_once)
        status = query_resolve(from->query, p->snapshot, &p->rctx, from->collection, p->explain,
                               p->error);
    if (status == TANSU_OK)
        status = ask_index(s, &done);
    if (status != TANSU_OK || done)
        return status;
    if (!state->at_once)
        return query_start(from->query, p->snapshot, &p->rctx, from->collection, &state->run,
                           p->error);
    status =
        run_begin(from->query, &p->rctx, from->collection, PLAN_DOCUMENTS, &state->run, p->error);
    if (status == TANSU_OK)
        state->run->deadline = p->deadline;
    return status;
}

static tansu_status source_begin(stage *s) {
    source_state *state = s->state;
    pipeline *p = s->p;
    if (p->inner != INNER_COLLECTION || p->empty)
        return TANSU_OK;
    tansu_status status = make_selector(s);
    writer w = {.out = &state->hints};
    size_t open = state->hints.size;
    if (open != 0)
        writer_end(&w, 0);
    if (w.failed)
        status = error_memory(p->error);
    if (status == TANSU_OK)
        status = compile(s);
    if (status == TANSU_OK)
        status = run(s);
    state->hints.size = open;
    return status;
}

/* read_next -- the next document, as the run gives it. */
static tansu_status read_next(stage *s, source_state *state, doc_value *doc) {
    tansu_document document;
    hit h;
    if (state->at_once) {
        doc->type = DOC_DOCUMENT;
        return run_hit(state->run, &h, &doc->data, &doc->size, s->p->error);
    }
    tansu_status status = query_next(state->run, &document, s->p->error);
    if (status == TANSU_OK)
        *doc = (doc_value){document.data, (uint32_t)document.size, DOC_DOCUMENT};
    return status;
}

static tansu_status source_next(stage *s, doc_value *doc) {
    source_state *state = s->state;
    tansu_status status = deadline_check(&s->p->deadline, s->p->error);
    if (s->p->empty)
        return TANSU_DONE;
    if (status == TANSU_OK && s->p->inner != INNER_COLLECTION)
        return s->p->feed(s->p->feed_context, doc);
    if (status == TANSU_OK)
        status = read_next(s, state, doc);
    if (status == TANSU_OK && state->from.query->scored)
        s->p->ev.score = run_score(state->run);
    return status;
}

const query_source *source_query(const stage *s) {
    return &((const source_state *)s->state)->from;
}

/* explain_index -- the plan document where an index gave what the first stage makes. */
static tansu_status explain_index(stage *s, double milliseconds, tansu_buffer *plan) {
    const query_source *from = source_query(s);
    writer w = {.out = plan};
    size_t start = writer_begin(&w);
    size_t inner = writer_open(&w, "plan", DOC_DOCUMENT);
    writer_string(&w, "kind", "index");
    writer_string(&w, "index", from->index);
    writer_end(&w, inner);
    writer_int64(&w, "keysExamined", (int64_t)from->keys_examined);
    writer_int64(&w, "documentsExamined", (int64_t)from->documents_examined);
    writer_double(&w, "milliseconds", milliseconds);
    explain_subqueries(from->query, &w);
    writer_end(&w, start);
    return w.failed ? error_memory(s->p->error) : TANSU_OK;
}

tansu_status source_explain(stage *s, double milliseconds, tansu_buffer *plan) {
    source_state *state = s->state;
    if (state->from.index)
        return explain_index(s, milliseconds, plan);
    if (state->run)
        return explain_write(state->run, milliseconds, plan, s->p->error);
    return buffer_append(plan, state->from.plan.data, state->from.plan.size)
               ? TANSU_OK
               : error_memory(s->p->error);
}

static void source_end(stage *s) {
    source_state *state = s->state;
    if (state->run && state->at_once)
        s->p->spilled += state->run->spilled;
    query_end(state->run);
    query_free(state->from.query);
    tansu_buffer_free(&state->from.plan);
    state->run = NULL;
    state->from = (query_source){.index = NULL};
}

static void source_free(stage *s) {
    source_state *state = s->state;
    if (!state)
        return;
    query_free(state->from.query);
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
