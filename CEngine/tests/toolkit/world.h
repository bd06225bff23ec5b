/*
 * toolkit/world.h -- a collection of a real database beside what toolkit/model.h says of it: documents,
 * indexes, and questions that are asked with whatever plan the engine likes, with no index, and with
 * each index that there is. Makes no checks of its own: what differs is told, so that a shrinker may
 * try the same again and again.
 */
#ifndef TOOLKIT_WORLD_H
#define TOOLKIT_WORLD_H

#include "shrink.h"
#include "tansu.h"

#include <bson/bson.h>

#define WORLD_DOCS 64
#define WORLD_INDEXES 6

/* The first thing in which engine and model were not of one mind. */
typedef struct world_difference {
    const char *what;      /* "save", "index", "find", "count", "remove", "open"; NULL: nothing */
    tansu_status status;   /* of the engine */
    bson_t *query, *hints; /* of a question */
    bson_t *asked;         /* its hints with $index */
    char *engine;          /* what it said, or the error's message */
    char *model;
} world_difference;

/* What was done so far. */
typedef struct world_counts {
    uint64_t answers;          /* compared */
    uint64_t lacking, refused; /* asked of sparse or partial indexes; the engine would not use it */
    uint64_t folded;           /* answered from ranges of a case-insensitive index, under such a
                                   collation */
    uint64_t unique, unique_refused, saves_refused; /* unique indexes, and what they kept out */
    uint64_t reopened, rebuilt, remade;             /* databases; indexes */
} world_counts;

typedef struct world_index {
    char name[16];
    bson_t *keys, *options;
} world_index;

typedef struct world {
    tansu_db *db;
    tansu_options options;
    char *folder; /* NULL: in memory */
    bson_t *docs[WORLD_DOCS];
    size_t count;
    world_index indexes[WORLD_INDEXES];
    size_t index_count;
    world_difference difference;
    shrink_case history; /* what was done, in order; empty in a world that plays it again */
    bool plays;
    world_counts *counts;
} world;

/* world_open -- an empty one, in memory or in a temporary folder; `small`: with checkpoints all the
 * time and no room for blocks in memory. */
void world_open(world *w, bool stored, bool small, world_counts *counts);

/* world_close -- frees all of it. */
void world_close(world *w);

/* All of these: false when engine and model differ; w->difference tells. */

/* world_save -- inserts a document (with an `_id`, an int32), or replaces the one that has its `_id`;
 * both must say whether unique indexes permit it. */
bool world_save(world *w, const bson_t *doc);

/* world_index_new -- creates an index likewise. It is there only when both permit it. */
bool world_index_new(world *w, const char *name, const bson_t *keys, const bson_t *options);

/* world_index_again -- drops an index and builds it anew over the documents that are there. */
bool world_index_again(world *w, size_t at, bool background);

/* world_reopen -- closes and opens a stored one again; `rebuild`: after all that can be made from
 * the log was deleted. */
bool world_reopen(world *w, bool rebuild);

/* world_ask -- one query in all ways. */
bool world_ask(world *w, const bson_t *query, const bson_t *hints);

/* world_remove -- removes what a query with hints selects. */
bool world_remove(world *w, const bson_t *query, const bson_t *hints);

/* world_smallest -- after a difference: the smallest case that shows it again in a new world, found
 * with at most `steps` tries, as parts with the roles document, index, again, remove, reopen, hints
 * and query. What is there is tried first, and if that is not enough, how it came to be. False when
 * the difference was not met again: the case is then all that was done. */
bool world_smallest(const world *w, size_t steps, shrink_case *c);

/* world_tell -- prints that case and both answers. */
void world_tell(const world *w, size_t steps);

#endif
