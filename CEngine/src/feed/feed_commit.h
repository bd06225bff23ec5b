/*
 * feed/feed_commit.h -- the events of one commit.
 */
#ifndef TANSU_FEED_FEED_COMMIT_H
#define TANSU_FEED_FEED_COMMIT_H

#include "feed/feed_state.h"

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

#endif
