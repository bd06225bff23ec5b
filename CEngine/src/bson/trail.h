/*
 * bson/trail.h -- where the document before had a path's value, tried first in the next.
 *
 * Documents of a collection mostly have the same keys in the same order. So the types and keys that
 * were passed on the way to a value are remembered, and in the next document each is compared as a
 * whole, in words: nothing looks for the end of a key, compares it with the one that is looked for,
 * or asks what the size of such a value follows from. What is found is what a search finds: only
 * bytes that were compared are relied upon, sizes are those of the document at hand, and where it
 * differs the search goes on from there.
 */
#ifndef TANSU_BSON_TRAIL_H
#define TANSU_BSON_TRAIL_H

#include "bson/path.h"

#define TRAIL_STEPS 24
#define TRAIL_BYTES 32 /* of a type and a key with its NUL */

/* An element that is passed: what it must begin with, and how the size of its value follows. */
typedef struct trail_step {
    uint8_t bytes[TRAIL_BYTES]; /* its type, its key and the NUL, then zeros */
    uint64_t mask;              /* which of the first eight are compared */
    uint32_t least;    /* bytes that must follow up to the end of the document, so that all that is
                            read is in it; UINT32_MAX: after the last step */
    uint32_t own_mask; /* of the length that the value begins with; 0: it begins with none */
    uint8_t size;      /* of `bytes`, without the zeros */
    uint8_t fixed;     /* bytes of the value in addition to that length */
    uint8_t least_value; /* of a valid value */
    bool part;           /* the key is the next part of the path */
} trail_step;

/* Memory for a trail. Zeroed, it has no owner. */
typedef struct trail {
    const void *owner; /* for whoever shares it: who uses it */
    uint32_t count;
    uint32_t wait;  /* documents that differ before the next one is remembered */
    uint32_t waits; /* how many they were the last time: twice as many when they often differ, so
                       that collections of documents with many forms lose little */
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
