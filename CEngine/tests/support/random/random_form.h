/*
 * support/random/random_form.h -- random documents of a form: the same keys and types in the same
 * order at every level, with other values each time. Keys begin alike, and some are longer than
 * what code that compares words has room for.
 */
#ifndef SUPPORT_RANDOM_FORM_H
#define SUPPORT_RANDOM_FORM_H

#include "bson/writer.h"
#include "support/random/random.h"

#define RANDOM_FORM_ELEMENTS 30

/* An element; documents and arrays have others, which begin at `first`. */
typedef struct random_form_element {
    const char *key;
    uint8_t type;
    uint32_t first, count;
} random_form_element;

typedef struct random_form {
    random_form_element elements[RANDOM_FORM_ELEMENTS];
    uint32_t count, top; /* `top`: of the first level, one or more */
} random_form;

/* What random_form_write() writes. */
typedef struct random_form_values {
    bool valid;       /* values that are valid; otherwise their bytes are random too */
    unsigned omitted; /* percentage of elements that are left out */
} random_form_values;

/* random_form_key -- one of the keys. */
const char *random_form_key(random_source *r);

/* random_form_make -- makes a form of up to `most` elements a level. `valid`: no key is there twice
 * in a level, and most have no rules of their own. */
void random_form_make(random_source *r, random_form *f, uint32_t most, bool valid);

/* random_form_write -- appends a document of the form. */
void random_form_write(random_source *r, writer *w, const random_form *f,
                       random_form_values values);

/* random_form_spoil -- cuts a document off, or changes some of its bytes. */
void random_form_spoil(random_source *r, tansu_buffer *doc);

#endif
