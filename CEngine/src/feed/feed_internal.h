/*
 * feed/feed_internal.h -- the names that the collections had at a feed's position in the log.
 *
 * Records name a collection by its id, and a collection may have been renamed or dropped since.
 * What a feed does not deliver has no name here but where one of the log's next records names it,
 * so that a feed of a few collections takes as much as those.
 */
#ifndef TANSU_FEED_FEED_INTERNAL_H
#define TANSU_FEED_FEED_INTERNAL_H

#include "log/scan.h"
#include "log/segment_reader.h"
#include "store/database.h"
#include "store/pending.h"
#include "store/snapshot.h"
#include "util/aligned_u64.h"
#include "util/buffer.h"
#include "util/interrupt.h"
#include "util/table.h"

typedef struct feed_name {
    table_link link;
    uint32_t id;
    bool wanted; /* the feed delivers its events */
    char text[];
} feed_name;

typedef struct feed_names {
    table ids;             /* of feed_name */
    const feed_name *last; /* the one that was found last; NULL: none */
    char **filter; /* names of the collections whose events are delivered, sorted; NULL: all */
    size_t filter_count;
} feed_names;

/* feed_names_filter -- copies the names that are wanted; false when memory is exhausted. */
bool feed_names_filter(feed_names *n, const char *const *names, size_t count);

/* feed_names_want -- whether events of a collection with that name are delivered. */
bool feed_names_want(const feed_names *n, const char *name);

/* feed_names_find -- valid until the next change; NULL when the id is not known: without a filter
 * there is no such collection then, with one it may be there and not be wanted. */
const feed_name *feed_names_find(feed_names *n, uint32_t id);

/* feed_names_set -- gives an id a name, at the feed's position. False when memory is exhausted. */
bool feed_names_set(feed_names *n, uint32_t id, const char *name);

/* feed_names_note -- gives an id the name that it has until a later record, unless an earlier one
 * has named it. False when memory is exhausted. */
bool feed_names_note(feed_names *n, uint32_t id, const char *name);

/* feed_names_drop -- removes an id. */
void feed_names_drop(feed_names *n, uint32_t id);

/* feed_names_take -- adds the collections of a snapshot that are wanted and not known yet. */
bool feed_names_take(feed_names *n, const snapshot *v);

/* feed_names_clear -- removes all ids; feed_names_free also frees. */
void feed_names_clear(feed_names *n);
void feed_names_free(feed_names *n);

/* ---- Feed state ---- */

/*
 * The state of a change feed: its position in the log, and the commit whose
 * events it delivers.
 */

/* A position in the log. */
typedef struct feed_position {
    aligned_u64 delivered; /* all commits up to this one are delivered; stored atomically */
    uint32_t extent;       /* index of the segment */
    uint64_t offset;       /* in the segment; 0: not known yet */
} feed_position;

/* The commit whose events are being delivered. */
typedef struct feed_commit {
    const frame_header *frame; /* in the log, or the copy; NULL: there is none */
    uint32_t number;           /* of its segment */
    uint64_t offset;           /* in it */
    uint32_t next;             /* offset in the frame of the next record to deliver */
    uint32_t ordinal;          /* index of that record in the frame */
    bool several;              /* there are several records: `newest` has those that count */
    bool searching;            /* `next` may not count: the search for the next one has failed */
    bool copied;
} feed_commit;

typedef struct feed {
    database *db;      /* the instance that it reads (store/open/instances.h) */
    database *root;    /* which other threads may use */
    struct feed *next; /* in the instance's list */
    feed_position position;
    interrupt interrupt;
    bool before;
    bool after;
    feed_names names;
    bool named;      /* `names` is valid */
    bool unreadable; /* the system could not read a part of the log: the feed can't continue */

    uint64_t pinned_to; /* the snapshot is held until this commit is delivered */
    snapshot *snapshot; /* or NULL */
    log_extent *extents;
    uint32_t extent_count;
    segment_image image;   /* of the segment `image_number`, if it is open */
    uint32_t image_number; /* 0: none */
    log_pins pins;         /* of pre-images that are not copied */
    log_location hint; /* of the commit after the last one delivered, if its segment still exists */

    feed_commit commit;
    pending newest;                 /* of a commit with several records: each document's last one */
    tansu_buffer copy;              /* of a small frame */
    tansu_buffer pre_images;        /* of its documents, one after the other */
    tansu_buffer pre_image_offsets; /* of each record, in `pre_images`, or UINT32_MAX */
    tansu_buffer id;                /* {"_id": …} of the event */
    char name[TANSU_MAX_NAME + 1];
    char new_name[TANSU_MAX_NAME + 1];
} feed;

/* feed_set_delivered -- moves a position to a commit. Compaction reads it at any time. */
static inline void feed_set_delivered(feed_position *p, uint64_t sequence) {
    __atomic_store_n(&p->delivered, sequence, __ATOMIC_RELAXED);
}

/* feed_advance -- moves a position to the end of a frame. */
static inline void feed_advance(feed_position *p, const frame_header *frame) {
    p->offset += frame->size;
    feed_set_delivered(p, frame->sequence);
}

/* ---- The events of one commit ---- */

/* feed_begin_commit -- makes a frame of the log the current commit: copies it if it is small, and
 * finds its first event. DONE when there is none. Errors: CORRUPT, MEMORY. */
tansu_status feed_begin_commit(feed *f, const frame_header *frame, uint32_t number, uint64_t offset,
                               tansu_error *error);

/* feed_find_event -- continues a search that has failed. DONE when the commit has no more events;
 * it has ended then. Errors: CORRUPT, MEMORY. */
tansu_status feed_find_event(feed *f, tansu_error *error);

/* feed_fill_event -- fills in the next event, and searches for the one after it; if that search
 * fails, feed_find_event() reports it. Errors: CORRUPT, MEMORY. */
tansu_status feed_fill_event(feed *f, tansu_change *change, tansu_error *error);

/* feed_record_text -- a string of a record's payload, NUL-terminated and no longer than a name;
 * NULL without one. */
const char *feed_record_text(const record_header *record, const char *key);

/* ---- Reading the commits of the log from a feed's position on ---- */

/* feed_acquire -- acquires the newest snapshot and finds the segments with the commits after the
 * feed's position. DONE when there are none. Errors: MEMORY. */
tansu_status feed_acquire(feed *f, tansu_error *error);

/* feed_release -- releases the snapshot, if there is one. */
void feed_release(feed *f);

/* feed_find_names -- reads the log from the position on, for the names that the collections had
 * there. Errors: CORRUPT, MEMORY. */
tansu_status feed_find_names(feed *f, tansu_error *error);

/* feed_next_commit -- begins the next commit of the snapshot with an event; DONE when there is
 * none. Errors: CORRUPT, MEMORY. */
tansu_status feed_next_commit(feed *f, tansu_error *error);

#endif
