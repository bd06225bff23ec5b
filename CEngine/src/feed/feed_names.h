/*
 * feed/feed_names.h -- the names that the collections had at a feed's position in the log.
 *
 * Records name a collection by its id, and a collection may have been renamed or dropped since.
 */
#ifndef TANSU_FEED_FEED_NAMES_H
#define TANSU_FEED_FEED_NAMES_H

#include "store/snapshot.h"

typedef struct feed_name {
    uint32_t id;
    bool wanted; /* the feed delivers its events */
    char name[TANSU_MAX_NAME + 1];
} feed_name;

typedef struct feed_names {
    feed_name *list; /* sorted by id */
    size_t count;
    size_t capacity;
    size_t last;   /* index of the one that was found last */
    char **filter; /* names of the collections whose events are delivered; NULL: all */
    size_t filter_count;
} feed_names;

/* feed_names_filter -- copies the names that are wanted; false when memory is exhausted. */
bool feed_names_filter(feed_names *n, const char *const *names, size_t count);

/* feed_names_want -- whether events of a collection with that name are delivered. */
bool feed_names_want(const feed_names *n, const char *name);

/* feed_names_find -- NULL when the id is not known. */
const feed_name *feed_names_find(feed_names *n, uint32_t id);

/* feed_names_set -- gives an id a name; `over`: also if it has one. False when memory is exhausted.
 * */
bool feed_names_set(feed_names *n, uint32_t id, const char *name, bool over);

/* feed_names_drop -- removes an id. */
void feed_names_drop(feed_names *n, uint32_t id);

/* feed_names_take -- adds the collections of a snapshot that are not known yet. */
bool feed_names_take(feed_names *n, const snapshot *v);

/* feed_names_clear -- removes all ids; feed_names_free also frees. */
void feed_names_clear(feed_names *n);
void feed_names_free(feed_names *n);

#endif
