/*
 * feed/feed_names.h -- the names that the collections had at a feed's position in the log.
 *
 * Records name a collection by its id, and a collection may have been renamed or dropped since.
 * What a feed does not deliver has no name here but where one of the log's next records names it,
 * so that a feed of a few collections takes as much as those.
 */
#ifndef TANSU_FEED_FEED_NAMES_H
#define TANSU_FEED_FEED_NAMES_H

#include "store/snapshot.h"
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

#endif
