/*
 * feed/feed.h -- change feeds: reading the log from a commit up to the newest snapshot, and waiting
 * for more.
 *
 * A feed buffers no events: the log is its buffer. Between two commits it keeps the number of the
 * last one and a hint for its location. So a feed that nobody reads costs no memory, and compaction
 * may replace the segments that it has not read yet. Three rules make that safe:
 *
 *  - While the events of a commit are delivered, a snapshot is held, so that the segments stay
 *    mapped. A small commit is copied and the snapshot released before the caller gets its first
 *    event.
 *  - Compaction asks feed_begin_compaction() how far the open feeds are. Deletions, and records
 *    about collections, are kept from there on. So an open feed misses no event.
 *  - Deletions up to the floor (`feeds.floor`) may be dropped already: a feed can't resume from a
 *    commit before it, except from 0. Such a feed holds its snapshot until it has passed the floor,
 *    because a compaction that is in progress does not know the feed.
 */
#ifndef TANSU_FEED_FEED_H
#define TANSU_FEED_FEED_H

#include "feed/feed_internal.h"

/* Which events a feed delivers. */
typedef struct feed_options {
    const char *const *collections; /* names; NULL: all */
    size_t count;
    bool before;
    bool after;
} feed_options;

/* feed_open -- `since`: the last commit that needs no delivery; UINT64_MAX: the newest. Acquires a
 * handle of the database. Errors: CLOSED, NOT_FOUND (the events after `since` are not complete any
 * more), CORRUPT, MEMORY. */
tansu_status feed_open(database *db, uint64_t since, const feed_options *options, feed **result,
                       tansu_error *error);

/* feed_next -- the next event. DONE: none in `timeout_ms` milliseconds (negative: no limit).
 * Errors: CANCELLED, CLOSED, CORRUPT, MEMORY. */
tansu_status feed_next(feed *f, int64_t timeout_ms, tansu_change *change, tansu_error *error);

/* feed_skip -- waits for a commit that is not delivered yet, and skips all that there are.
 * *sequence: the newest. Otherwise as feed_next(). */
tansu_status feed_skip(feed *f, int64_t timeout_ms, uint64_t *sequence, tansu_error *error);

/* feed_cancel -- from any thread. */
void feed_cancel(feed *f);

/* feed_close -- fine on NULL. */
void feed_close(feed *f);

/* feed_begin_compaction -- returns the commit from which on a compaction must keep deletions, no
 * later than `oldest`, the oldest snapshot in use. `last`: the last commit of the segments from the
 * log's beginning on in which it drops older deletions; 0: it drops none. */
uint64_t feed_begin_compaction(database *db, uint64_t oldest, uint64_t last);

/* feed_end_compaction -- before the compaction takes effect: it drops deletions up to commit
 * `dropped` in segments up to commit `last`. False when a feed that was opened since it began has
 * not delivered them: the compaction must not take effect then. */
bool feed_end_compaction(database *db, uint64_t dropped, uint64_t last);

#endif
