/*
 * catalog/feed_names.h -- which names the collections had where a feed stands. Part catalog.
 *
 * Records name a collection by its number, and a collection may have been renamed or dropped since.
 */
#ifndef TANSU_CATALOG_FEED_NAMES_H
#define TANSU_CATALOG_FEED_NAMES_H

#include "catalog/version.h"

typedef struct feed_name {
    uint32_t id;
    bool wanted; /* the feed tells of it */
    char name[TANSU_MAX_NAME + 1];
} feed_name;

typedef struct feed_names {
    feed_name *list; /* sorted by id */
    size_t count;
    size_t room;
    size_t last;   /* found last */
    char **filter; /* names of the collections that are told of; NULL: all */
    size_t filter_count;
} feed_names;

/* feed_names_filter -- copies the names that are wanted; false when memory is exhausted. */
bool feed_names_filter(feed_names *n, const char *const *names, size_t count);

/* feed_names_want -- whether a collection of that name is told of. */
bool feed_names_want(const feed_names *n, const char *name);

/* feed_names_find -- NULL when the number is not known. */
const feed_name *feed_names_find(feed_names *n, uint32_t id);

/* feed_names_set -- gives a number a name; `over`: also if it has one. False when memory is exhausted. */
bool feed_names_set(feed_names *n, uint32_t id, const char *name, bool over);

/* feed_names_drop -- forgets a number. */
void feed_names_drop(feed_names *n, uint32_t id);

/* feed_names_take -- sets those that a version has and that are not known yet. */
bool feed_names_take(feed_names *n, const version *v);

/* feed_names_clear -- forgets all numbers; feed_names_free also frees. */
void feed_names_clear(feed_names *n);
void feed_names_free(feed_names *n);

#endif
