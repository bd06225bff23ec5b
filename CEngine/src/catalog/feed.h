/*
 * catalog/feed.h -- change feeds: a walk of the log from a commit's number up to the newest version
 * that readers see, and waiting for more. Part catalog; may call log and base.
 *
 * A feed keeps no changes: the log is its buffer. Between two commits it holds nothing but a number
 * and a hint where in the log it stands, so one that nobody reads costs no memory, and a compaction
 * may replace the segments that it has yet to read. Three things make that safe:
 *
 *  - While a commit is told, a version is held, so that the segments stay mapped; a small commit is
 *    copied and the version let go before the caller gets its first change.
 *  - Compaction asks feed_thin() what the open feeds have been told: deletions, and what became of
 *    collections, are kept from there on. So an open feed misses nothing that matters.
 *  - What was thinned before a feed was opened is known by `feed_floor`: a number below it is refused.
 *    Only 0 is always right. Such a feed holds its version until it has passed the floor, for a
 *    compaction under way then does not know of it.
 */
#ifndef TANSU_CATALOG_FEED_H
#define TANSU_CATALOG_FEED_H

#include "base/interrupt.h"
#include "catalog/database.h"
#include "catalog/feed_names.h"
#include "catalog/pending.h"

/* Where in the log a feed stands. */
typedef struct feed_position {
    uint64_t told;   /* commits up to this one are told; stored atomically */
    uint32_t extent; /* of those that are read */
    uint64_t offset; /* in it; 0: not known yet */
} feed_position;

/* The frame of the commit that is being told. */
typedef struct feed_frame {
    const frame_header *frame; /* in the log, or the copy; NULL: the next commit is to be found */
    uint32_t number;           /* where it lies in the log */
    uint64_t offset;
    uint32_t next;    /* offset in the frame of the next record that is told */
    uint32_t ordinal; /* which record of the frame that is */
    bool several;     /* `newest` tells which records count */
    bool
        searching; /* `next` need not be told: the search for one that is did not come to its end */
    bool copied;
} feed_frame;

typedef struct feed {
    database *db;
    struct feed *next; /* in the database's list */
    feed_position position;
    interrupt interrupt;
    bool before;
    bool after;
    feed_names names;
    bool unreadable; /* a change was lost for want of reading: the feed can't go on */

    uint64_t pinned_to; /* the version is kept until this commit is told */
    version *held;      /* or NULL */
    log_extent *extents;
    uint32_t extent_count;
    log_place
        hint; /* where the commit after the last one told begins, if its segment is still there */

    feed_frame at;
    pending newest;           /* of a frame with several records: each document's last one */
    tansu_buffer copy;        /* of a small frame */
    tansu_buffer befores;     /* of its documents, one after the other */
    tansu_buffer before_list; /* for each of its records an offset in `befores`, or UINT32_MAX */
    tansu_buffer id;          /* {"_id": …} of the change that is shown */
    char name[TANSU_MAX_NAME + 1];
    char new_name[TANSU_MAX_NAME + 1];
} feed;

/* What a feed is to tell. */
typedef struct feed_options {
    const char *const *collections; /* names; NULL: all */
    size_t count;
    bool before;
    bool after;
} feed_options;

/* feed_open -- `since`: the last commit that need not be told any more; UINT64_MAX: the newest. Counts
 * as a handle of the database. Errors: CLOSED, NOT_FOUND (the changes behind `since` can't be told
 * any more), CORRUPT, MEMORY. */
tansu_status feed_open(database *db, uint64_t since, const feed_options *options, feed **result,
                       tansu_error *error);

/* feed_next -- the next change. DONE: none within so many milliseconds (negative: for ever). Errors:
 * CANCELLED, CLOSED, CORRUPT, MEMORY. */
tansu_status feed_next(feed *f, int64_t timeout_ms, tansu_change *change, tansu_error *error);

/* feed_skip -- waits for a commit that is not told, and passes over all that there are. *sequence: the
 * newest. Otherwise as feed_next(). */
tansu_status feed_skip(feed *f, int64_t timeout_ms, uint64_t *sequence, tansu_error *error);

/* feed_cancel -- from any thread. */
void feed_cancel(feed *f);

/* feed_close -- fine on NULL. */
void feed_close(feed *f);

/* ---- For the rest of the part ---- */

/* feed_wake -- has every waiting feed look again. */
void feed_wake(database *db);

/* feed_note_commit -- the same when there is one; called whenever a version becomes visible, after the
 * version mutex was held. */
static inline void feed_note_commit(database *db) {
    if (__atomic_load_n(&db->feed_waiters, __ATOMIC_RELAXED) != 0)
        feed_wake(db);
}

/* feed_thin -- a compaction begins, and no reader is older than `oldest`. Returns the commit from which
 * on deletions must be kept. `last`: the last commit of a run at the log's beginning, in which older
 * deletions are left out; 0: none are. */
uint64_t feed_thin(database *db, uint64_t oldest, uint64_t last);

/* ---- Within the feed (catalog/feed_walk.c) ---- */

/* feed_hold -- holds the newest version and finds what is to be read of the log. DONE when all of it is
 * told. Errors: MEMORY. */
tansu_status feed_hold(feed *f, tansu_error *error);
void feed_release(feed *f);

/* feed_survey -- goes through what is to be read, for the names that collections had where it begins.
 * Errors: CORRUPT, MEMORY. */
tansu_status feed_survey(feed *f, tansu_error *error);

/* feed_frame_next -- to the next commit of the version that is held; DONE when all are told. Errors:
 * CORRUPT. */
tansu_status feed_frame_next(feed *f, tansu_error *error);

/* feed_frame_end -- the commit at hand is told. */
void feed_frame_end(feed *f);

/* feed_damage -- the error for a record of a frame; `fault` is the middle of a sentence. */
tansu_status feed_damage(uint32_t number, uint64_t offset, const char *fault, tansu_error *error);

/* ---- Within the feed (catalog/feed_frame.c) ---- */

/* feed_frame_begin -- makes a frame of the log the one at hand: checks it, copies it if it is small, and
 * finds the first record that is told. DONE when there is none. Errors: CORRUPT, MEMORY. */
tansu_status feed_frame_begin(feed *f, const frame_header *frame, uint32_t number, uint64_t offset,
                              tansu_error *error);

/* feed_record_text -- a string of a record's payload, NUL-terminated and no longer than a name; NULL without
 * one. */
const char *feed_record_text(const record_header *record, const char *key);

/* feed_frame_search -- goes on with a search that failed; DONE when nothing more of the commit is told, which is
 * at its end then. Errors: CORRUPT, MEMORY. */
tansu_status feed_frame_search(feed *f, tansu_error *error);

/* feed_frame_show -- fills in the change of the record that is next, and finds the one after it; if that fails
 * it is for feed_frame_search() to tell. Errors: CORRUPT, MEMORY. */
tansu_status feed_frame_show(feed *f, tansu_change *change, tansu_error *error);

#endif
