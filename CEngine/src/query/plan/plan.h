/*
 * query/plan/plan.h -- the planner: access paths, candidate plans, their costs, the choice of
 * the cheapest.
 */
#ifndef TANSU_QUERY_PLAN_PLAN_H
#define TANSU_QUERY_PLAN_PLAN_H

#include "query/parse/parsed_query.h"
#include "query/plan/bounds.h"
#include "store/read_context.h"
#include "util/error.h"

/* ---- Access paths ---- */

/*
 * Access paths: an index and the key ranges of it that contain every
 * match of a conjunction.
 */

/* Entries of an index from `low`, inclusive, to `high`, exclusive (NULL: to the end). */
typedef struct key_range {
    const uint8_t *low;
    const uint8_t *high;
    size_t low_size;
    size_t high_size;
} key_range;

typedef struct access_path {
    const char *name;
    const tree *entries;
    const path *paths;
    const bool *descending;
    uint32_t path_count;
    const index_definition *definition; /* NULL: the index on `_id` */
    bool multikey;
    bool unique;
    bool fold;     /* keys are made of case-folded values */
    bool complete; /* it has every match; of sparse and partial indexes this must be proven */
    bool subset;   /* sparse or partial: it leaves documents out, so even a full scan may help */

    bool wildcard;           /* `paths` are the one path that this is used for */
    uint32_t key_prefix;     /* bytes before the key of the first path in every range */
    struct access_path *ids; /* ranges of the index on `_id` that belong to these, or NULL */

    key_range *ranges; /* ascending and disjoint */
    uint32_t range_count;
    uint32_t bound_paths;                        /* leading paths that have bounds */
    bool all_points;                             /* every range is one value of every path */
    interval_list bounds[TANSU_MAX_INDEX_PATHS]; /* of each path, for explain */
    bool exact;     /* a document matches if and only if it has an entry in the ranges */
    bool *used;     /* for each clause of the conjunction: whether the ranges are exact for it */
    bool distinct;  /* no document has two entries in the ranges */
    bool in_order;  /* entries are in record id order */
    bool estimated; /* `keys` is an estimate from some of the ranges */
    bool counted;   /* `keys` is the exact number */
    uint64_t keys;  /* entries in the ranges */
    /* The record ids of all entries, where counting came upon them; `few` NULL: it did not. */
    const uint64_t *few;
    uint32_t few_count;
} access_path;

#define MAX_CONJUNCTION 256 /* tests of one conjunction that the planner considers */
#define MAX_DISJUNCTIONS 16 /* ORs of tests of one path, likewise */
#define MAX_CLAUSES (MAX_CONJUNCTION + MAX_DISJUNCTIONS)

/* The clauses that hold in every match of a branch: tests, and ORs of tests of one path, which work
 * as tests do, since the keys of an OR are those of all its tests. Clause numbers count the tests
 * first, then the ORs. */
typedef struct conjunction {
    const test *tests[MAX_CONJUNCTION];
    const node *disjunctions[MAX_DISJUNCTIONS];
    uint32_t count;
    uint32_t disjunction_count;
    const node *branch;
    bool whole; /* the clauses are the whole branch */
} conjunction;

/* conjunction_of -- collects the clauses of a branch. */
void conjunction_of(const node *n, conjunction *c);

/* conjunction_has -- whether an OR is among the clauses. */
bool conjunction_has(const conjunction *c, const node *disjunction);

/* What planning is done with. */
typedef struct planner planner;

/* access_path_count -- the number of indexes of a collection, including the one on `_id`. */
uint32_t access_path_count(const collection_state *collection);

/* access_path_name, access_path_first -- name and first path of the index with that number. */
const char *access_path_name(const collection_state *collection, uint32_t number);
const path *access_path_first(const collection_state *collection, uint32_t number);

/* access_path_concerns -- false only if neither the selector nor the order of a query has a path of
 * the index with that number, so that no plan would read it. */
bool access_path_concerns(const planner *p, uint32_t number);

/* access_path_begin -- an access path of the index with that number (0: `_id`), without ranges. The
 * index is current (store/index_backlog/index_backlog.h). */
void access_path_begin(const collection_state *collection, uint32_t number, access_path *a);

/* access_path_bind -- sets the ranges for a conjunction. With bound_paths 0 it is the whole index.
 * The access path may be used only if `complete` is true. Errors: TIMEOUT, CANCELLED, MEMORY. */
tansu_status access_path_bind(planner *p, const conjunction *c, access_path *a);

/* What a wildcard index can be used for: the values at one path, or anywhere. */
#define MAX_WILDCARD_USES 16
typedef struct wildcard_uses {
    access_path *list[MAX_WILDCARD_USES];
    uint32_t count;
} wildcard_uses;

/* access_path_wildcard -- the access paths of the wildcard index with that number, with ranges: one
 * for each path that the clauses test, as far as the index has every match. Errors: TIMEOUT,
 * CANCELLED, MEMORY, IO, CORRUPT. */
tansu_status access_path_wildcard(planner *p, const conjunction *c, uint32_t number,
                                  wildcard_uses *uses);

/* access_path_is_wildcard -- whether the index with that number is a wildcard index. */
static inline bool access_path_is_wildcard(const collection_state *collection, uint32_t number) {
    return number != 0 && collection->indexes[number - 1].definition->wildcard;
}

/* access_path_is_text -- whether it is an index of words, which has no entries of values. */
static inline bool access_path_is_text(const collection_state *collection, uint32_t number) {
    return number != 0 && collection->indexes[number - 1].definition->text;
}

/* access_path_measure_few -- counts the entries in the ranges for a plan that may read them.
 * Errors: those of the deadline, IO, CORRUPT, MEMORY. */
tansu_status access_path_measure_few(planner *p, access_path *a);

/* access_path_measure -- counts the entries in the ranges: exactly, or in a sample of them. Errors:
 * those of the deadline (NULL: none), IO, CORRUPT. */
tansu_status access_path_measure(const read_context *rctx, access_path *a, bool exactly,
                                 const deadline *deadline, tansu_error *error);

/* ---- Bounds of an access path ---- */

/*
 * Steps of making the key ranges of an access path, for ordinary
 * indexes (access_path.c) and wildcard indexes (wildcard_access.c).
 */

/* access_bounds -- the bounds of one path of an index; *found is false when no clause has any.
 * Clauses for which they are exact are marked in `used`. Errors: TIMEOUT, CANCELLED, MEMORY. */
tansu_status access_bounds(planner *p, const conjunction *c, const access_path *a, uint32_t which,
                           bool *used, interval_list *result, bool *found);

/* access_extend -- appends the intervals of the next path to each range, all of which are points so
 * far. Errors: MEMORY. */
tansu_status access_extend(planner *p, access_path *a, const interval_list *list);

/* access_prefix_range -- sets the upper bound to the first key that does not begin with `low`.
 * Errors: MEMORY. */
tansu_status access_prefix_range(planner *p, key_range *range);

/* access_all_points -- whether all intervals are points. */
bool access_all_points(const interval_list *list);

/* access_collated -- whether an index has strings collated as the test compares them. */
bool access_collated(const access_path *a, const test *t);

/* access_complete -- whether the index has an entry for every match, if it is sparse or partial. */
bool access_complete(planner *p, const conjunction *c, const access_path *a);

/* access_implied -- whether all documents in the index pass a test, so that it is redundant. */
bool access_implied(planner *p, const access_path *a, const test *t);

/* access_wildcard_has -- whether bounds on a path have keys of scalars only, neither null nor
 * missing among them, so that a wildcard index has all of these. */
bool access_wildcard_has(const interval_list *list);

/* ---- Plans ---- */

/* The memory limit of planning one run of a query. */
#define PLAN_MEMORY ((size_t)64 * 1024 * 1024)

enum plan_kind { PLAN_NONE, PLAN_SCAN, PLAN_INDEX, PLAN_UNION, PLAN_INTERSECTION, PLAN_TEXT };
enum plan_sort { PLAN_SORT_NONE, PLAN_SORT_INDEX, PLAN_SORT_MEMORY, PLAN_SORT_SCORE };

/* A candidate plan. */
typedef struct plan {
    enum plan_kind kind;
    enum plan_sort sort;
    access_path **accesses; /* PLAN_INDEX: one; PLAN_UNION: one a branch; PLAN_INTERSECTION: two;
                               PLAN_TEXT: one or none, besides the index of words */
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
    struct text_access *text; /* the search of a query with $text (text_access.h); else NULL */
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

/* plan_examined -- how many of `total` candidates are examined until the limit is reached. */
double plan_examined(const planner *p, double total, bool sorted_later);

/* plan_add -- adds an empty candidate. NULL when memory is exhausted. */
plan *plan_add(planner *p, enum plan_kind kind);

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
