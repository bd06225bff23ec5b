/*
 * store/tracking/change_tracking.h -- the option of a collection that has each commit note which
 * documents it changed: the `_id`s are documents of another collection, from which whoever follows
 * the changes removes them. (SQL Server calls this change tracking; a feed, in contrast, tells each
 * change.)
 */
#ifndef TANSU_STORE_TRACKING_CHANGE_TRACKING_H
#define TANSU_STORE_TRACKING_CHANGE_TRACKING_H

#include "bson/writer.h"
#include "tansu.h"

/* Immutable once made: snapshots share it. */
typedef struct change_tracking {
    char to[TANSU_MAX_NAME + 1]; /* the collection that gets the `_id`s */
} change_tracking;

/* change_tracking_parse -- reads the option: the name of a collection; false or null for none
 * (*result is NULL). Errors: INVALID_QUERY, MEMORY. */
tansu_status change_tracking_parse(const doc_value *option, void **result, tansu_error *error);

/* change_tracking_equal -- NULL is none. */
bool change_tracking_equal(const void *a, const void *b);

/* change_tracking_write -- appends an element "changeTracking"; false for NULL. */
void change_tracking_write(const void *option, writer *w);

#endif
