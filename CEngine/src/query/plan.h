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
    bool multikey;
    bool unique;

    key_range *ranges; /* ascending, none touching another */
    uint32_t range_count;
    uint32_t bound_paths; /* leading paths that the ranges are made of */
    uint32_t point_paths; /* leading paths that the ranges hold to a single value */
    bool all_points;      /* every range is one value of every path */
    interval_list bounds[TANSU_MAX_INDEX_PATHS]; /* for explain */
    bool exact;     /* a document matches if and only if it has an entry in the ranges */
    bool distinct;  /* no document has two entries in the ranges */
    bool in_order;  /* the entries' docnos ascend */
    bool estimated; /* `keys` was not counted in every range */
    bool counted;   /* `keys` was counted in every range */
    uint64_t keys;  /* entries in the ranges */
} access;

enum plan_kind { PLAN_NONE, PLAN_SCAN, PLAN_INDEX, PLAN_UNION };
enum plan_sort { PLAN_SORT_NONE, PLAN_SORT_INDEX, PLAN_SORT_MEMORY };

typedef struct plan {
    enum plan_kind kind;
    enum plan_sort sort;
    access **accesses; /* one for PLAN_INDEX, one a branch for PLAN_UNION */
    uint32_t access_count;
    bool exact;    /* documents need no second look */
    bool streamed; /* entries are read in the answer's order, as they are asked for */
    bool backward;
    uint32_t group_paths; /* leading paths that order the answer */
    uint64_t keys;
    double cost;       /* nanoseconds, roughly */
    struct plan *next; /* the next candidate */
} plan;

enum plan_purpose { PLAN_DOCUMENTS, PLAN_DOCNOS, PLAN_COUNT };

/* What planning needs to know, and its results. */
typedef struct planner {
    const query *q;
    const view *view;
    const collection_state *collection; /* NULL: empty */
    enum plan_purpose purpose;
    bounds_memory memory;
    tansu_error *error;

    uint32_t order_count; /* 0 when the order cannot matter */
    uint64_t limit;       /* skip + max */
    uint64_t matches;     /* the best upper estimate so far */
    plan *candidates;
    plan *chosen;
} planner;

/* plan_choose -- fills in candidates and chosen. Errors: INVALID_QUERY (no such index as $index
 * names), MEMORY, IO, CORRUPT. */
tansu_status plan_choose(planner *p);

/* plan_cost -- a candidate's cost, given p->matches. */
double plan_cost(const planner *p, const plan *candidate);

/* ---- access.c ---- */

#define MAX_CONJUNCTION 256 /* tests of one conjunction that planning looks at */
#define MAX_RANGES 20000

/* The tests that all hold in every match of a branch. */
typedef struct conjunction {
    const test *tests[MAX_CONJUNCTION];
    uint32_t count;
    bool whole; /* there is nothing else to the branch */
} conjunction;

/* conjunction_of -- reads a TEST or an AND. */
void conjunction_of(const node *n, conjunction *c);

/* access_count -- how many indexes a collection has, the one over `_id` included. access_begin --
 * an access to the index of that number (0: `_id`), without ranges. */
uint32_t access_count(const collection_state *collection);
void access_begin(const collection_state *collection, uint32_t number, access *a);

/* access_bind -- makes the ranges for a conjunction; with bound_paths 0 the one range is
 * everything. Errors: MEMORY. */
tansu_status access_bind(planner *p, const conjunction *c, access *a);

/* access_measure -- counts the entries in the ranges. `exactly`: all of them, not a sample. */
tansu_status access_measure(const view *v, access *a, bool exactly, tansu_error *error);

#endif
