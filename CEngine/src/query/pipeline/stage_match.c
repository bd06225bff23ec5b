/*
 * query/pipeline/stage_match.c -- $match, $limit and $skip.
 */
#include "query/pipeline/pipeline_internal.h"

#include "bson/number.h"
#include "query/parse/parsed_query.h"

/* ---- $match ---- */

typedef struct match_state {
    query *query;
    bool tests_score; /* by $expr and $meta */
    match_context context;
    expression_context expressions; /* of $expr */
} match_state;

static tansu_status match_compile(stage *s, const doc_value *spec) {
    match_state *state = s->state = stage_alloc(s, sizeof *state);
    if (!state)
        return TANSU_E_MEMORY;
    if (spec->type != DOC_DOCUMENT)
        return stage_error(s, NULL, "Takes a document, the query");
    doc_value join;
    if (doc_find(spec->data, spec->size, "$do", 3, &join))
        return stage_error(s, "$do", "Is a join of find; in a pipeline that is $lookup");
    /* The query of the collection does what the first stage does. */
    bool first = s == s->p->stages && s->p->collection && s->p->inner == INNER_COLLECTION;
    expression_compiler *c = &s->p->compiler;
    bool scored = c->reads_score;
    c->reads_score = false;
    tansu_status status =
        query_compile_alone_in(c, spec->data, spec->size, first, &state->query, s->p->error);
    state->tests_score = c->reads_score;
    c->reads_score = c->reads_score || scored;
    return status;
}

bool match_tests_score(const stage *s) {
    return ((const match_state *)s->state)->tests_score;
}

bool match_searches(const stage *s) {
    return s->kind == &stage_match && ((const match_state *)s->state)->query->text;
}

static tansu_status match_next(stage *s, doc_value *doc) {
    match_state *state = s->state;
    state->context.deadline = &s->p->deadline;
    state->expressions.ev = &s->p->ev;
    state->context.evaluation = &state->expressions;
    for (;;) {
        tansu_status status = stage_next(s, doc);
        if (status != TANSU_OK)
            return status;
        bool matches = query_matches(state->query, &state->context, doc->data, doc->size);
        status = match_context_status(&state->context, s->p->error);
        if (status != TANSU_OK || matches)
            return status;
    }
}

static void match_free(stage *s) {
    match_state *state = s->state;
    if (!state)
        return;
    match_context_free(&state->context);
    query_free(state->query);
}

const stage_kind stage_match = {
    .name = "$match", .compile = match_compile, .next = match_next, .free = match_free};

/* ---- $limit, $skip ---- */

typedef struct window_state {
    uint64_t given;
    uint64_t left;
} window_state;

/* window_compile -- a whole number, at least `min`. */
static tansu_status window_compile(stage *s, const doc_value *spec, int64_t min) {
    int64_t number;
    window_state *state = s->state = stage_alloc(s, sizeof *state);
    if (!state)
        return TANSU_E_MEMORY;
    if (!doc_as_int64(spec, &number) || number < min)
        return stage_error(s, NULL, "Takes a whole number, %d or greater", (int)min);
    state->given = (uint64_t)number;
    return TANSU_OK;
}

static tansu_status limit_compile(stage *s, const doc_value *spec) {
    return window_compile(s, spec, 1);
}

static tansu_status skip_compile(stage *s, const doc_value *spec) {
    return window_compile(s, spec, 0);
}

static tansu_status window_begin(stage *s) {
    window_state *state = s->state;
    state->left = state->given;
    return TANSU_OK;
}

static tansu_status limit_next(stage *s, doc_value *doc) {
    window_state *state = s->state;
    if (state->left == 0)
        return TANSU_DONE;
    state->left--;
    return stage_next(s, doc);
}

static tansu_status skip_next(stage *s, doc_value *doc) {
    window_state *state = s->state;
    tansu_status status = stage_next(s, doc);
    for (; status == TANSU_OK && state->left != 0; state->left--)
        status = stage_next(s, doc);
    return status;
}

const stage_kind stage_limit = {
    .name = "$limit", .compile = limit_compile, .begin = window_begin, .next = limit_next};

const stage_kind stage_skip = {
    .name = "$skip", .compile = skip_compile, .begin = window_begin, .next = skip_next};

uint64_t stages_wanted(const stage *s) {
    uint64_t skipped = 0;
    for (const stage *next = s->next; next; next = next->next) {
        const window_state *window = next->state;
        if (next->kind == &stage_limit)
            return window->given > UINT64_MAX - skipped ? UINT64_MAX : window->given + skipped;
        if (next->kind != &stage_skip || window->given > UINT64_MAX - skipped)
            return UINT64_MAX;
        skipped += window->given;
    }
    return UINT64_MAX;
}
