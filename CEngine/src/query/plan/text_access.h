/*
 * query/plan/text_access.h -- planning a query with $text: the search of the collection's index of
 * words, and what it costs next to other indexes.
 *
 * The search gives the record ids of its matches in their order, which may be intersected with
 * those of another index: PLAN_TEXT. Where another index leaves few documents, or provides the
 * order of the results, their own words are tested instead: any other plan, never exact.
 */
#ifndef TANSU_QUERY_PLAN_TEXT_ACCESS_H
#define TANSU_QUERY_PLAN_TEXT_ACCESS_H

#include "query/plan/plan.h"
#include "query/text/text_search.h"

/* The search of one run. Zeroed, it is ready for text_access_begin(). */
typedef struct text_access {
    uint32_t number; /* of the index, as access paths count them */
    const index_definition *definition;
    text_query *query;
    text_search *search;
    uint64_t bound;      /* no more documents match */
    bool scored;         /* matches have scores: the plan is a PLAN_TEXT */
    text_document words; /* the analyzers; of a document that is tested, its words */
    text_found found;
} text_access;

/* text_access_missing -- the error for a collection without an index of words: INVALID_QUERY. */
tansu_status text_access_missing(const char *collection, tansu_error *error);

/* text_access_begin -- finds the index of words, and begins the search, which `d` ends; it outlives
 * the search. text_access_free() is due whatever the result. Errors: INVALID_QUERY (there is no such
 * index, or those of text_query_bind()), UNSUPPORTED, TOO_LARGE (over PLAN_MEMORY), and those of
 * text_search_new(). */
tansu_status text_access_begin(planner *p, const deadline *d, text_access *t);

/* text_access_end -- ends the search, after which the tree may change. */
void text_access_end(text_access *t);
void text_access_free(text_access *t);

/* text_access_named -- for $index with the name of an index of words. Errors: INVALID_QUERY (no
 * $text needs it). */
tansu_status text_access_named(const planner *p, uint32_t number);

/* text_access_matches -- an upper estimate of the matches. */
uint64_t text_access_matches(const planner *p);

/* text_access_consider -- adds the plans of the search to the other candidates, and makes these
 * test the words of documents. Errors: MEMORY. */
tansu_status text_access_consider(planner *p);

/* text_access_cost -- of finding matches, or of testing documents, beside what a plan costs
 * otherwise. */
double text_access_cost(const planner *p, const plan *c);

/* text_access_test -- whether a document is in the index and matches. Errors: those of
 * text_document_read(), MEMORY. */
tansu_status text_access_test(text_access *t, const uint8_t *doc, size_t size, bool *matches,
                              tansu_error *error);

#endif
