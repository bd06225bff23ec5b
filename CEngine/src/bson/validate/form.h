/*
 * bson/validate/form.h -- the form of a collection's documents: which keys they have, in which
 * order, at every level. Documents of a known form are validated faster.
 *
 * Documents of a collection mostly have the same keys in the same order, some left out. Validation
 * spends most of its time on keys: where one ends, its UTF-8, whether it is there twice, whether it
 * may begin with `$`. All of that follows from the keys alone, and holds for a part of them in the
 * same order too. So the keys of documents that doc_check() accepted are remembered, the next
 * document's are compared with them as words, and only values are checked. A document with another
 * key, or in which anything is wrong, is validated by doc_check(), which says what is wrong: the
 * result is always that of doc_check().
 */
#ifndef TANSU_BSON_VALIDATE_FORM_H
#define TANSU_BSON_VALIDATE_FORM_H

#include "bson/document.h"

#define FORM_KEYS 64
#define FORM_BYTES 512 /* of what is longer than a word in keys */
#define FORM_DEPTH 8   /* levels whose keys are remembered */

/* A key. Those of the documents below it, be it their parent or an array of them, follow it. */
typedef struct form_key {
    uint64_t word;     /* the type of the value that it had, and its first seven bytes with the NUL,
                          then zeros */
    uint64_t mask;     /* which of them are compared */
    uint32_t least;    /* bytes that must follow, up to the NUL that ends its level, for a value of
                          that type to be read with words; UINT32_MAX: it is not */
    uint32_t own_mask; /* of the length that the value begins with; 0: it begins with none */
    uint16_t size;     /* of the type, the key and its NUL */
    uint16_t rest;     /* where its other bytes are */
    uint16_t next;     /* the next key of its level, or the end of that */
    uint8_t fixed;     /* bytes of the value in addition to that length */
    uint8_t least_value; /* of a valid value */
    bool id;             /* the `_id` of the document */
} form_key;

/* Memory for a form. Zeroed, it is one without keys. */
typedef struct form {
    uint32_t owner;  /* for whoever shares it: whose documents; 0: nobody's */
    uint32_t others; /* calls for other owners since the last one for this */
    uint16_t count;
    uint16_t bytes;
    uint32_t wait;  /* documents that are validated without it */
    uint32_t waits; /* how many they were the last time: twice as many when documents often have
                       another form, so that those of many forms lose little */
    form_key keys[FORM_KEYS];
    uint8_t rest[FORM_BYTES];
} form;

/* form_check -- doc_check() of a document to store. Once it returns TANSU_OK, the form has the
 * document's keys, or will have those of a later one. */
tansu_status form_check(form *f, const uint8_t *doc, size_t size, tansu_error *error);

/* The forms of some collections. */
#define FORM_SLOTS 8
typedef struct form_table {
    form slots[FORM_SLOTS];
} form_table;

/* form_of -- the form of an owner; NULL while another one has its place. */
form *form_of(form_table *table, uint32_t owner);

#endif
