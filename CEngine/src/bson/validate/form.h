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

#include "bson/backoff.h"
#include "bson/known_element.h"

#define FORM_KEYS 64
#define FORM_BYTES 512 /* of what is longer than a word in keys */
#define FORM_DEPTH 8   /* levels whose keys are remembered */

/* A key. Those of the documents below it, be it their parent or an array of them, follow it. */
typedef struct form_key {
    known_element element; /* with a value of the type that the key had */
    uint16_t rest;         /* where its other bytes are */
    uint16_t next;         /* the next key of its level, or the end of that */
    bool id;               /* the `_id` of the document */
} form_key;

/* Memory for a form. Zeroed, it is one without keys. */
typedef struct form {
    uint32_t owner;  /* for whoever shares it: whose documents; 0: nobody's */
    uint32_t others; /* calls for other owners since the last one for this */
    uint16_t count;
    uint16_t bytes;
    backoff trying; /* documents of another form; it is not even tried with those passed over */
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
