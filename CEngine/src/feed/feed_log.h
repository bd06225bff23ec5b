/*
 * feed/feed_log.h -- reading the commits of the log from a feed's position on.
 */
#ifndef TANSU_FEED_FEED_LOG_H
#define TANSU_FEED_FEED_LOG_H

#include "feed/feed_state.h"

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
