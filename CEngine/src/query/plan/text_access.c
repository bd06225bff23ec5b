/*
 * query/plan/text_access.c -- planning a query with $text.
 */
#include "query/plan/text_access.h"

#include "store/index_backlog/index_backlog.h"

#include <math.h>
#include <string.h>

/* As those of plan.c, roughly nanoseconds. */
#define COST_MATCH 60.0  /* one match of the search */
#define COST_SCORED 80.0 /* with its score */
#define COST_MEMBER 8.0  /* looking for it among the record ids of another index */
#define COST_WORDS 20.0  /* of a byte of a document whose words are tested */

#define USUAL_SIZE 1000.0 /* bytes of a document with texts */

/* ---- The search ---- */

tansu_status text_access_missing(const char *collection, tansu_error *error) {
    return error_set(
        error, TANSU_E_INVALID_QUERY, "$text",
        "Collection \"%.100s\" has no index of words, which a search needs; create one with the "
        "fields that have the texts as keys, {\"body\": \"text\"} or for all fields "
        "{\"**\": \"text\"}; on the command line: tansu index create DATABASE %.100s "
        "'{\"body\": \"text\"}'",
        collection, collection);
}

/* is_scored -- whether the results need scores. */
static bool is_scored(const planner *p) {
    if (p->purpose == PLAN_COUNT)
        return false;
    return p->q->hints.score_place != 0 || (p->q->scored && plan_returns_documents(p->purpose));
}

tansu_status text_access_begin(planner *p, const deadline *d, text_access *t) {
    t->number = collection_words(p->collection);
    if (t->number == 0)
        return text_access_missing(p->collection->name, p->error);
    tansu_status status = index_current(p->collection, t->number, p->error);
    if (status != TANSU_OK)
        return status;
    const collection_index *index = &p->collection->indexes[t->number - 1];
    t->definition = index->definition;
    t->scored = is_scored(p);
    status =
        text_query_bind(p->q->text, t->definition, &t->words, p->memory.arena, &t->query, p->error);
    if (status == TANSU_E_MEMORY && p->memory.arena->full)
        return error_set(p->error, TANSU_E_TOO_LARGE, "$text",
                         "Search needs more than %zu MiB of memory to plan; use fewer words",
                         PLAN_MEMORY / (1024 * 1024));
    if (status == TANSU_OK)
        status = text_search_new(t->query, p->rctx, p->collection, &index->entries, d, &t->search,
                                 p->error);
    if (status == TANSU_OK)
        t->bound = text_search_bound(t->search);
    return status;
}

void text_access_end(text_access *t) {
    text_search_free(t->search);
    t->search = NULL;
}

void text_access_free(text_access *t) {
    text_access_end(t);
    text_document_free(&t->words);
    text_found_free(&t->found);
}

tansu_status text_access_named(const planner *p, uint32_t number) {
    if (p->text)
        return TANSU_OK;
    return error_set(p->error, TANSU_E_INVALID_QUERY, "hints.$index",
                     "Index \"%.120s\" is an index of words, which only \"$text\" uses; remove the "
                     "hint",
                     access_path_name(p->collection, number));
}

uint64_t text_access_matches(const planner *p) {
    return p->text->bound < p->collection->count ? p->text->bound : p->collection->count;
}

/* ---- Candidates ---- */

/* is_named -- whether $index names the index of words. */
static bool is_named(const planner *p) {
    const hints *h = &p->q->hints;
    return h->index_choice == INDEX_NAMED &&
           strcmp(h->index_name, access_path_name(p->collection, p->text->number)) == 0;
}

/* add_search -- adds a plan of the search. */
static plan *add_search(planner *p) {
    plan *c = plan_add(p, PLAN_TEXT);
    if (!c)
        return NULL;
    c->exact = p->q->planned->kind == NODE_TRUE;
    c->keys = text_access_matches(p);
    c->streams = 1;
    if (p->text->scored && p->q->hints.score_place != 0 && p->order_count == 0)
        c->sort = PLAN_SORT_SCORE;
    return c;
}

/* add_intersection -- adds the search intersected with the most selective of the other indexes. */
static tansu_status add_intersection(planner *p) {
    access_path *best = NULL;
    double documents = (double)p->collection->count;
    for (uint32_t i = 0; i < p->selective_count; i++) {
        if (!best || p->selective[i]->keys < best->keys)
            best = p->selective[i];
    }
    if (!best || documents == 0)
        return TANSU_OK;
    plan *candidate = add_search(p);
    access_path **list = arena_alloc(p->memory.arena, sizeof *list);
    if (!candidate || !list)
        return error_memory(p->error);
    *list = best;
    candidate->accesses = list;
    candidate->access_count = 1;
    candidate->exact = best->exact;
    candidate->keys = (uint64_t)ceil((double)candidate->keys * (double)best->keys / documents);
    return TANSU_OK;
}

tansu_status text_access_consider(planner *p) {
    const hints *h = &p->q->hints;
    /* Only the search has scores. */
    if (p->text->scored)
        p->candidates = NULL;
    for (plan *other = p->candidates; other; other = other->next) {
        if (other->kind == PLAN_NONE)
            continue;
        other->exact = false;
        other->covered = NULL;
    }
    if (!p->text->scored && h->index_choice != INDEX_ANY && !is_named(p))
        return TANSU_OK;
    if (!add_search(p))
        return error_memory(p->error);
    return add_intersection(p);
}

double text_access_cost(const planner *p, const plan *c) {
    bool all = c->sort == PLAN_SORT_MEMORY || c->sort == PLAN_SORT_SCORE;
    if (c->kind == PLAN_NONE)
        return 0;
    if (c->kind == PLAN_TEXT)
        return plan_examined(p, (double)p->text->bound, all) *
               ((p->text->scored ? COST_SCORED : COST_MATCH) +
                (c->access_count != 0 ? COST_MEMBER : 0));
    double size = p->document_size != 0 ? (double)p->document_size : USUAL_SIZE;
    double rows = c->kind == PLAN_SCAN ? (double)p->collection->count : (double)c->keys;
    return plan_examined(p, rows, all) * size * COST_WORDS;
}

tansu_status text_access_test(text_access *t, const uint8_t *doc, size_t size, bool *matches,
                              tansu_error *error) {
    const index_definition *d = t->definition;
    *matches = false;
    if (d->filter && !d->hooks->filter_matches(d->filter, doc, size))
        return TANSU_OK;
    tansu_status status = text_document_read(&t->words, d, doc, size, error);
    if (status == TANSU_OK && !text_query_test(t->query, &t->words, &t->found))
        status = error_memory(error);
    *matches = status == TANSU_OK && t->found.matches;
    return status;
}
