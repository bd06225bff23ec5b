/*
 * bson/validate/shape.h -- the key layout of a collection's recent documents: which keys they have,
 * in which order, at every level. Documents of a known shape are validated faster.
 *
 * Documents of a collection mostly have the same keys in the same order, some left out. Validation
 * spends most of its time on keys: where one ends, its UTF-8, duplicates, a leading `$`. All of
 * that follows from the keys alone, and holds for a subset of them in the same order. So the keys
 * of documents that doc_check() accepted are remembered, the next document's are compared with them
 * as words, and only values are checked. A document with another key, or in which anything is
 * wrong, is validated by doc_check(): the result is always that of doc_check(). Measured: without
 * shapes a save in a large transaction takes 24 % more instructions, and with two indexes 15 %
 * more.
 */
#ifndef TANSU_BSON_VALIDATE_SHAPE_H
#define TANSU_BSON_VALIDATE_SHAPE_H

#include "bson/known_element.h"

#define SHAPE_KEYS 64
#define SHAPE_BYTES 512 /* of what is longer than a word in keys */
#define SHAPE_DEPTH 8   /* levels whose keys are remembered */

/* A key. Those of the documents below it, be it their parent or an array of them, follow it. */
typedef struct shape_key {
    known_element element; /* with a value of the type that the key had */
    uint16_t rest;         /* where its other bytes are */
    uint16_t next;         /* the next key of its level, or the end of that */
    bool id;               /* the `_id` of the document */
} shape_key;

/* A shape. Zeroed, it has no keys. */
typedef struct shape {
    uint32_t owner;  /* the collection whose documents it is of; 0: none */
    uint32_t others; /* requests for others in a row */
    uint16_t count;
    uint16_t bytes;
    backoff trying; /* skips documents while they have other shapes */
    shape_key keys[SHAPE_KEYS];
    uint8_t rest[SHAPE_BYTES];
} shape;

/* shape_check -- doc_check() of a document to store, whose keys the shape learns when it is valid. */
tansu_status shape_check(shape *f, const uint8_t *doc, size_t size, tansu_error *error);

/* The shapes of some collections. */
#define SHAPE_SLOTS 8
typedef struct shape_table {
    shape slots[SHAPE_SLOTS];
} shape_table;

/* shape_of -- the shape of a collection; NULL while another one keeps their shared slot: it changes
 * hands after 32 requests without one from its owner. */
shape *shape_of(shape_table *table, uint32_t owner);

#endif
