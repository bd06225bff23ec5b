/*
 * support/differential/query_differential.h -- a collection of a database and its reference model
 * (query_model.h): documents, indexes, and queries that are answered with the plan that the
 * engine chooses, without an index, and with each index. Makes no checks of its own, so that a
 * case can be reduced: a difference is a result.
 */
#ifndef SUPPORT_QUERY_DIFFERENTIAL_H
#define SUPPORT_QUERY_DIFFERENTIAL_H

#include "support/random/case_reduction.h"
#include "tansu.h"

#include <bson/bson.h>

#define DIFFERENTIAL_DOCS 64
#define DIFFERENTIAL_INDEXES 6

/* The first thing in which engine and model were not of one mind. */
typedef struct differential_mismatch {
    const char *what;      /* "save", "index", "find", "count", "remove", "open"; NULL: nothing */
    tansu_status status;   /* of the engine */
    bson_t *query, *hints; /* of a question */
    bson_t *asked;         /* its hints with $index */
    char *engine;          /* what it said, or the error's message */
    char *model;
} differential_mismatch;

/* What was done so far. */
typedef struct differential_counts {
    uint64_t answers;          /* compared */
    uint64_t lacking, refused; /* asked of sparse or partial indexes; the engine would not use it */
    uint64_t wildcard;         /* answered from ranges of a wildcard index */
    uint64_t folded;           /* answered from ranges of a case-insensitive index, under such a
                                   collation */
    uint64_t unique, unique_refused, saves_refused; /* unique indexes, and what they kept out */
    uint64_t reopened, rebuilt, remade;             /* databases; indexes */
} differential_counts;

typedef struct differential_index {
    char name[16];
    bson_t *keys, *options;
} differential_index;

typedef struct differential {
    tansu_db *db;
    tansu_options options;
    char *folder; /* NULL: in memory */
    bson_t *docs[DIFFERENTIAL_DOCS];
    size_t count;
    differential_index indexes[DIFFERENTIAL_INDEXES];
    size_t index_count;
    differential_mismatch difference;
    reduction_case history; /* what was done, in order; empty in a collection that plays it again */
    bool plays;
    differential_counts *counts;
} differential;

/* differential_open -- an empty one, in memory or in a temporary folder; `small`: with
 * checkpoints all the time and no space for blocks in memory. */
void differential_open(differential *w, bool stored, bool small, differential_counts *counts);

/* differential_close -- frees all of it. */
void differential_close(differential *w);

/* All of these: false when engine and model differ; w->difference says. */

/* differential_save -- inserts a document (with an `_id`, an int32), or replaces the one that
 * has its `_id`; both must say whether unique indexes permit it. */
bool differential_save(differential *w, const bson_t *doc);

/* differential_create_index -- creates an index likewise. It is there only when both permit it. */
bool differential_create_index(differential *w, const char *name, const bson_t *keys,
                               const bson_t *options);

/* differential_rebuild_index -- drops an index and rebuilds it over the documents that are
 * there. */
bool differential_rebuild_index(differential *w, size_t at, bool background);

/* differential_reopen -- closes and opens a stored one again; `rebuild`: after all that can be
 * made from the log was deleted. */
bool differential_reopen(differential *w, bool rebuild);

/* differential_query -- one query in all ways. */
bool differential_query(differential *w, const bson_t *query, const bson_t *hints);

/* differential_remove -- removes what a query with hints selects. */
bool differential_remove(differential *w, const bson_t *query, const bson_t *hints);

/* differential_minimise -- after a difference: the smallest case that shows it again in a new
 * collection, found with at most `steps` tries, as parts with the roles document, index, again,
 * remove, reopen, hints and query. What is there is tried first, and if that is not enough, how
 * it came to be. False when the difference was not met again: the case is then all that was
 * done. */
bool differential_minimise(const differential *w, size_t steps, reduction_case *c);

/* differential_report -- prints that case and both answers. */
void differential_report(const differential *w, size_t steps);

#endif
