/*
 * query/plan/access_path.h -- access paths: an index and the key ranges of it that contain every
 * match of a conjunction.
 */
#ifndef TANSU_QUERY_PLAN_ACCESS_PATH_H
#define TANSU_QUERY_PLAN_ACCESS_PATH_H

#include "query/parse/parsed_query.h"
#include "query/plan/bounds.h"
#include "store/read_context.h"

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

/* access_path_measure_few -- counts the entries in the ranges for a plan that may read them.
 * Errors: those of the deadline, IO, CORRUPT, MEMORY. */
tansu_status access_path_measure_few(planner *p, access_path *a);

/* access_path_measure -- counts the entries in the ranges: exactly, or in a sample of them. Errors:
 * those of the deadline (NULL: none), IO, CORRUPT. */
tansu_status access_path_measure(const read_context *rctx, access_path *a, bool exactly,
                                 const deadline *deadline, tansu_error *error);

#endif
