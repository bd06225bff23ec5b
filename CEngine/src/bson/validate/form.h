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
 *
 * Where the values were is kept until the next document, so that whoever wants some of them need
 * not search.
 */
#ifndef TANSU_BSON_VALIDATE_FORM_H
#define TANSU_BSON_VALIDATE_FORM_H

#include "bson/backoff.h"
#include "bson/known_element.h"
#include "bson/path.h"
#include "bson/validate/turn.h"

#define FORM_KEYS 64   /* bits of form.present */
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
    turn turn;        /* for whoever shares it: whose documents */
    uint32_t changes; /* how often the keys were changed */
    uint16_t count;
    uint16_t bytes;
    backoff trying; /* documents of another form; it is not even tried with those passed over */
    /* Of the document that was last found to have this form: a bit for each key that is there, also
     * in an array, and the value that it had last. */
    uint64_t present;
    doc_value values[FORM_KEYS];
    form_key keys[FORM_KEYS];
    uint8_t rest[FORM_BYTES];
} form;

/* form_check -- doc_check() of a document to store. Once it returns TANSU_OK, the form has the
 * document's keys, or will have those of a later one. *fits: the document has the form, and
 * form_find() can be asked for its values until the next call. */
tansu_status form_check(form *f, const uint8_t *doc, size_t size, bool *fits, tansu_error *error);

/* Where a path is in a form, for one path and form. Zeroed, it is not known. */
typedef struct form_place {
    uint32_t changes; /* of the form when it was searched for */
    uint32_t depth;   /* how many keys the path has; 0: it is not in the form */
    uint8_t keys[FORM_DEPTH];
} form_place;

/* form_find -- path_get() of the document for which form_check() said that it fits. False: search
 * for it, it was not found or there is an array before its end. */
bool form_find(const form *f, form_place *place, const path *path, doc_value *value);

/* The forms of some collections. */
#define FORM_SLOTS 8
typedef struct form_table {
    form slots[FORM_SLOTS];
} form_table;

/* form_of -- the form of an owner; NULL while another one has its place. */
form *form_of(form_table *table, uint32_t owner);

#endif
