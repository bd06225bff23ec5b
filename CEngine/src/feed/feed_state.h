/*
 * feed/feed_state.h -- the state of a change feed: its position in the log, and the commit whose
 * events it delivers.
 */
#ifndef TANSU_FEED_FEED_STATE_H
#define TANSU_FEED_FEED_STATE_H

#include "feed/feed_names.h"
#include "log/scan.h"
#include "log/segment_reader.h"
#include "store/database.h"
#include "store/pending.h"
#include "util/buffer.h"
#include "util/interrupt.h"

/* A position in the log. */
typedef struct feed_position {
    uint64_t delivered; /* all commits up to this one are delivered; stored atomically */
    uint32_t extent;    /* index of the segment */
    uint64_t offset;    /* in the segment; 0: not known yet */
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
    database *db;      /* the state that it reads (store/open/states.h) */
    database *root;    /* which other threads may use */
    struct feed *next; /* in the state's list */
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

#endif
