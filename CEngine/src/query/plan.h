/*
 * query/plan.h -- how a query is answered: candidates, their costs, the choice. Part query; may
 * call index and catalog.
 */
#ifndef TANSU_QUERY_PLAN_H
#define TANSU_QUERY_PLAN_H

#include "query/bounds.h"

/* Entries of an index from `low` on that are less than `high` (NULL: to the end). */
typedef struct key_range {
    const uint8_t *low;
    const uint8_t *high;
    size_t low_size;
    size_t high_size;
} key_range;

/* One index and the ranges of it that hold every match of one conjunction. */
typedef struct access {
    const char *name;
    const tree *entries;
    const path *paths;
    const bool *descending;
    uint32_t path_count;
    const index_definition *definition; /* NULL: the index over `_id` */
    bool multikey;
    bool unique;
    bool fold;     /* keys are those of case foldings */
    bool complete; /* it has every match: of sparse and partial indexes to be proven */
    bool narrower; /* it leaves documents out, so that reading all of it may help */

    key_range *ranges; /* ascending, none touching another */
    uint32_t range_count;
    uint32_t bound_paths;                        /* leading paths that the ranges are made of */
    bool all_points;                             /* every range is one value of every path */
    interval_list bounds[TANSU_MAX_INDEX_PATHS]; /* for explain */
    bool exact;     /* a document matches if and only if it has an entry in the ranges */
    bool *used;     /* for each clause of the conjunction, whether the ranges are exact about it */
    bool distinct;  /* no document has two entries in the ranges */
    bool in_order;  /* the entries' docnos ascend */
    bool estimated; /* `keys` was not counted in every range */
    bool counted;   /* `keys` was counted in every range */
    uint64_t keys;  /* entries in the ranges */
} access;

enum plan_kind { PLAN_NONE, PLAN_SCAN, PLAN_INDEX, PLAN_UNION, PLAN_INTERSECTION };
enum plan_sort { PLAN_SORT_NONE, PLAN_SORT_INDEX, PLAN_SORT_MEMORY };

typedef struct plan {
    enum plan_kind kind;
    enum plan_sort sort;
    access **accesses; /* one for PLAN_INDEX, one a branch for PLAN_UNION, two for
                          PLAN_INTERSECTION */
    uint32_t access_count;
    bool exact;    /* documents need no second look */
    bool streamed; /* entries are read in the answer's order, as they are asked for */
    bool backward;
    uint32_t group_paths; /* leading paths that order the answer */
    uint32_t streams;     /* so many parts of the index are merged; 1: it is read as it lies */
    uint32_t held_paths;  /* leading paths that each stream holds to one value */
    const bool *shown;    /* covered: the index's paths that are all of the answer; else NULL */
    uint64_t keys;
    double cost;       /* nanoseconds, roughly */
    struct plan *next; /* the next candidate */
} plan;

/* PLAN_PROJECTED: documents as $fields leaves them, so that those need not be read which an index has
 * all of. */
enum plan_purpose { PLAN_DOCUMENTS, PLAN_PROJECTED, PLAN_DOCNOS, PLAN_COUNT };

/* What planning needs to know, and its results. */
typedef struct planner {
    const query *q;
    const view *view;
    const collection_state *collection; /* NULL: empty */
    enum plan_purpose purpose;
    bounds_memory memory;
    const watch *watch; /* what stops planning too; NULL: nothing */
    uint32_t steps;     /* taken so far */
    tansu_error *error;

    uint32_t order_count;                     /* 0 when the order cannot matter */
    uint64_t limit;                           /* skip + max */
    uint64_t matches;                         /* the best upper estimate so far */
    uint32_t document_size;                   /* of one that was looked at; 0: none was */
    access *narrowing[TANSU_MAX_INDEXES + 1]; /* those whose ranges leave documents out */
    uint32_t narrowing_count;
    plan *candidates;
    plan *chosen;
    uint32_t
        skipped; /* indexes, and unions of them, that would have needed more than PLAN_MEMORY */
} planner;

/* plan_choose -- fills in candidates and chosen. What would need more memory than the arena's limit is left
 * out; the scan always is a candidate. Errors: INVALID_QUERY (no such index as $index names), TOO_LARGE (the
 * limit is too little for that index), TIMEOUT, CANCELLED, MEMORY, IO, CORRUPT. */
tansu_status plan_choose(planner *p);

#define PLAN_STEPS 256 /* clauses and ranges between two looks at what stops planning */

/* plan_step -- counts what planning is about to look at. Errors: TIMEOUT, CANCELLED. */
static inline tansu_status plan_step(planner *p, uint32_t count) {
    uint32_t before = p->steps;
    p->steps += count;
    return p->watch && (before ^ p->steps) >= PLAN_STEPS ? watch_check(p->watch, p->error)
                                                         : TANSU_OK;
}

/* plan_cost -- a candidate's cost, given p->matches. */
double plan_cost(const planner *p, const plan *candidate);

/* plan_shows -- whether a purpose wants documents at all. */
static inline bool plan_shows(enum plan_purpose purpose) {
    return purpose == PLAN_DOCUMENTS || purpose == PLAN_PROJECTED;
}

/* ---- plan_order.c ---- */

/* How an index gives the order asked for. */
typedef struct index_order {
    bool backward;
    uint32_t group_paths; /* leading paths that make it; 0: the ranges hold all of its paths to one
                             value each */
    uint32_t streams, held_paths; /* as in a plan */
} index_order;

/* plan_order -- whether an access gives the order. */
bool plan_order(const planner *p, const access *a, index_order *order);

/* ---- access.c ---- */

#define MAX_CONJUNCTION 256 /* tests of one conjunction that planning looks at */

#define MAX_EITHERS 16 /* ORs of tests on one path, of the same */
#define MAX_CLAUSES (MAX_CONJUNCTION + MAX_EITHERS)

/* The tests that all hold in every match of a branch. An OR of tests on one path is as good as a test:
 * its keys are those of all its tests. Clauses are numbered through: tests, then ORs. */
typedef struct conjunction {
    const test *tests[MAX_CONJUNCTION];
    const node *eithers[MAX_EITHERS];
    uint32_t count;
    uint32_t either_count;
    const node *branch;
    bool whole; /* there is nothing else to the branch */
} conjunction;

/* conjunction_of -- reads a branch. */
void conjunction_of(const node *n, conjunction *c);

/* conjunction_has -- whether an OR is among its clauses. */
bool conjunction_has(const conjunction *c, const node *either);

/* access_count -- how many indexes a collection has, the one over `_id` included. access_begin --
 * an access to the index of that number (0: `_id`), without ranges. */
uint32_t access_count(const collection_state *collection);
void access_begin(const collection_state *collection, uint32_t number, access *a);

/* access_bind -- makes the ranges for a conjunction; with bound_paths 0 the one range is
 * everything. Unless `complete` comes out true the access must not be used. Errors: MEMORY. */
tansu_status access_bind(planner *p, const conjunction *c, access *a);

/* access_measure -- counts the entries in the ranges. `exactly`: all of them, not a sample. Errors: those of
 * `w`, IO, CORRUPT. */
tansu_status access_measure(const view *v, access *a, bool exactly, const watch *w,
                            tansu_error *error);

#endif
