/*
 * query/plan/plan.h -- the planner: candidate plans, their costs, the choice of the cheapest.
 */
#ifndef TANSU_QUERY_PLAN_PLAN_H
#define TANSU_QUERY_PLAN_PLAN_H

#include "query/plan/access_path.h"
#include "util/error.h"

/* The memory limit of planning one run of a query. */
#define PLAN_MEMORY ((size_t)64 * 1024 * 1024)

enum plan_kind { PLAN_NONE, PLAN_SCAN, PLAN_INDEX, PLAN_UNION, PLAN_INTERSECTION };
enum plan_sort { PLAN_SORT_NONE, PLAN_SORT_INDEX, PLAN_SORT_MEMORY };

/* A candidate plan. */
typedef struct plan {
    enum plan_kind kind;
    enum plan_sort sort;
    access_path **accesses; /* PLAN_INDEX: one; PLAN_UNION: one a branch; PLAN_INTERSECTION: two */
    uint32_t access_count;
    bool exact;    /* there is no residual filter: entries in the ranges are matches */
    bool streamed; /* entries are read in the order of the results, as they are needed */
    bool backward;
    uint32_t group_paths; /* leading paths that determine the order */
    uint32_t streams;     /* parts of the index that are merged; 1: no merge */
    uint32_t fixed_paths; /* leading paths that each stream fixes to one value */
    const bool *covered;  /* covering index: which of its paths the results have; else NULL */
    uint64_t keys;
    double cost;       /* nanoseconds, roughly */
    struct plan *next; /* the next candidate */
} plan;

/* PLAN_PROJECTED: documents as $fields projects them, so a covering index need not read them. */
enum plan_purpose { PLAN_DOCUMENTS, PLAN_PROJECTED, PLAN_RIDS, PLAN_COUNT };

/* The input of planning, and its results. */
struct planner {
    const query *q;
    const read_context *rctx;
    const collection_state *collection; /* NULL: empty */
    enum plan_purpose purpose;
    bounds_memory memory;
    const deadline *deadline; /* NULL: none */
    uint32_t steps;           /* taken so far */
    tansu_error *error;

    uint32_t order_count;   /* 0 when the order does not matter */
    uint64_t limit;         /* skip + max */
    uint64_t matches;       /* the lowest upper estimate so far */
    uint32_t document_size; /* of a sampled document; 0: none */
    /* of TANSU_MAX_INDEXES + 1, while a plan is chosen: those whose ranges exclude documents */
    access_path **selective;
    uint32_t selective_count;
    plan *candidates;
    plan *chosen;
    uint32_t skipped; /* indexes and unions that would have needed more than PLAN_MEMORY */
};

/* plan_choose -- sets candidates and chosen. Candidates that need more memory than the arena's
 * limit are left out; the table scan always remains. Errors: INVALID_QUERY ($index names no index),
 * TOO_LARGE (the named index needs more than the limit), TIMEOUT, CANCELLED, MEMORY, IO,
 * CORRUPT. */
tansu_status plan_choose(planner *p);

#define PLAN_STEPS 256 /* clauses and ranges between two checks of the deadline */

/* plan_step -- counts what planning is about to examine. Errors: TIMEOUT, CANCELLED. */
static inline tansu_status plan_step(planner *p, uint32_t count) {
    uint32_t before = p->steps;
    p->steps += count;
    return p->deadline && (before ^ p->steps) >= PLAN_STEPS ? deadline_check(p->deadline, p->error)
                                                            : TANSU_OK;
}

/* plan_returns_documents -- whether a purpose needs documents at all. */
static inline bool plan_returns_documents(enum plan_purpose purpose) {
    return purpose == PLAN_DOCUMENTS || purpose == PLAN_PROJECTED;
}

/* ---- plan_order.c ---- */

/* How an index provides the order of $orderby. */
typedef struct index_order {
    bool backward;
    uint32_t group_paths; /* leading paths that determine it; 0: the ranges fix all of them */
    uint32_t streams, fixed_paths; /* as in a plan */
} index_order;

/* plan_order -- whether an access path provides the order. */
bool plan_order(const planner *p, const access_path *a, index_order *order);

/* ---- plan_covering.c ---- */

/* plan_covering -- whether the index covers $fields: *covered says which of its paths the
 * projection has; NULL when it does not cover. Errors: MEMORY, IO, CORRUPT. */
tansu_status plan_covering(planner *p, const access_path *a, const bool **covered);

/* ---- plan_waiting_count.c ---- */

/* plan_waiting_count -- the access path of the index with that number, whose entries are counted
 * and are all matches, although the index is not current; otherwise NULL. */
access_path *plan_waiting_count(planner *p, const conjunction *c, uint32_t number);

#endif
