/*
 * toolkit/fold.h -- what a reader of a change feed knows: a handful of collections with documents
 * {_id: 0 … 31, n: number}, made up of nothing but the changes that it was told.
 */
#ifndef TOOLKIT_FOLD_H
#define TOOLKIT_FOLD_H

#include "tansu.h"

#include <stdbool.h>

#define FOLD_NAMES 4
#define FOLD_IDS 32

/* The names that collections have. */
extern const char *const fold_names[FOLD_NAMES];

typedef struct fold {
    bool there[FOLD_NAMES];
    int32_t n[FOLD_NAMES][FOLD_IDS]; /* -1: no such document */
} fold;

/* fold_empty -- no collections. */
void fold_empty(fold *f);

/* fold_apply -- takes a change in. `strict`: its kind, its `before` and its collection must fit to what is known,
 * as they do when no compaction was at work. What does not fit is a failed check. */
void fold_apply(fold *f, const tansu_change *change, bool strict);

/* fold_read -- what the database holds; `txn` may be NULL. */
void fold_read(fold *f, tansu_db *db, tansu_txn *txn);

/* fold_same -- whether two are equal; tells of the first difference when not. */
bool fold_same(const fold *expected, const fold *actual);

/* fold_take -- takes in all changes that the feed has now; how many. *sequence (may be NULL): of the last. */
int fold_take(fold *f, tansu_feed *feed, bool strict, uint64_t *sequence);

/* fold_feed -- opens a feed; ends the program when that fails. `options` is JSON with single quotes. */
tansu_feed *fold_feed(tansu_db *db, uint64_t since, const char *options);

#endif
