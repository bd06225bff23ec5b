/*
 * support/model/feed_model.h -- the reference model of a change feed: a handful of collections
 * with documents {_id: 0 … 31, n: number}, made of nothing but the events that the feed
 * delivered.
 */
#ifndef SUPPORT_FEED_MODEL_H
#define SUPPORT_FEED_MODEL_H

#include "tansu.h"

#include <stdbool.h>

#define FEED_MODEL_NAMES 4
#define FEED_MODEL_IDS 32

/* The names that collections have. */
extern const char *const feed_model_names[FEED_MODEL_NAMES];

typedef struct feed_model {
    bool there[FEED_MODEL_NAMES];
    int32_t n[FEED_MODEL_NAMES][FEED_MODEL_IDS]; /* -1: no such document */
} feed_model;

/* feed_model_clear -- no collections. */
void feed_model_clear(feed_model *f);

/* feed_model_apply -- takes a change in. `strict`: its kind, its `before` and its collection
 * must fit to what is known, as they do when no compaction was at work. What does not fit is a
 * failed check. */
void feed_model_apply(feed_model *f, const tansu_change *change, bool strict);

/* feed_model_read -- what the database holds; `txn` may be NULL. */
void feed_model_read(feed_model *f, tansu_db *db, tansu_txn *txn);

/* feed_model_equal -- whether two are equal; reports of the first difference when not. */
bool feed_model_equal(const feed_model *expected, const feed_model *actual);

/* feed_model_drain -- takes in all changes that the feed has now; how many. *sequence (may be
 * NULL): of the last. */
int feed_model_drain(feed_model *f, tansu_feed *feed, bool strict, uint64_t *sequence);

/* feed_model_open_feed -- opens a feed; ends the program when that fails. `options` is JSON with
 * single quotes. */
tansu_feed *feed_model_open_feed(tansu_db *db, uint64_t since, const char *options);

#endif
