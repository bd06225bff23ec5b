/*
 * bson/trail.h -- caches the key layout of the previous document so that a path is found without a
 * search.
 *
 * Documents of a collection mostly have the same keys in the same order. So the elements that were
 * passed on the way to a value are remembered, and in the next document each is compared as a whole
 * (bson/known_element.h). What is found is what a search finds: only bytes that were compared are
 * relied upon, sizes are those of the document at hand, and where it differs the search goes on
 * from there.
 */
#ifndef TANSU_BSON_TRAIL_H
#define TANSU_BSON_TRAIL_H

#include "bson/known_element.h"
#include "bson/path.h"

#define TRAIL_STEPS 24
#define TRAIL_BYTES 32 /* of a type and a key with its NUL */

/* An element that is passed. */
typedef struct trail_step {
    known_element element;
    uint8_t rest[TRAIL_BYTES - KNOWN_ELEMENT_WORD];
    bool part; /* the key is the next part of the path */
} trail_step;

/* Memory for a trail. Zeroed, it has no owner. */
typedef struct trail {
    const void *owner; /* for whoever shares it: who uses it */
    uint32_t count;
    backoff remembering; /* documents that differ from the ones before */
    trail_step steps[TRAIL_STEPS + 1];
} trail;

/* trail_begin -- an empty trail. */
void trail_begin(trail *t, const void *owner);

enum trail_end {
    TRAIL_FOUND,
    TRAIL_NO_FIELD, /* the document does not have the first part */
    TRAIL_MISSING,  /* it has, but not what is below */
    TRAIL_ARRAY     /* there is an array before the end: path_walk() finds the values */
};

/* trail_find -- the value of a path: the same one with each call. */
enum trail_end trail_find(trail *t, const path *path, const uint8_t *doc, size_t size,
                          doc_value *value);

#endif
