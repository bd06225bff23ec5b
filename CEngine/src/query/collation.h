/*
 * query/collation.h -- comparing strings in other ways than by their bytes. Part query; may call
 * base.
 *
 * A collation gives every string a form; strings compare as the bytes of their forms do. So a value
 * in that form goes through value_compare() and value_key() as any other.
 */
#ifndef TANSU_QUERY_COLLATION_H
#define TANSU_QUERY_COLLATION_H

#include "base/buffer.h"
#include "base/doc.h"

typedef struct collation {
    bool fold;    /* upper and lower case are alike (base/fold.h) */
    bool numeric; /* a run of the digits 0 to 9 compares as the number that it is: a2 before a10 */
} collation;

/* collation_text -- appends the form of a string. False when memory is exhausted. */
bool collation_text(const collation *c, tansu_buffer *out, const char *text, size_t size);

/* collation_touches -- whether a value's form may differ from it: strings, documents, arrays. */
bool collation_touches(const doc_value *value);

/* collation_value -- the form of a value: its strings at any depth take theirs, keys stay. The
 * result points at the buffer, which is replaced, or at the value itself when it has no strings.
 * False when memory is exhausted. */
bool collation_value(const collation *c, tansu_buffer *out, const doc_value *value,
                     doc_value *result);

/* collation_key -- appends the key (value_key()) of a value's form; `form` is memory for that. NULL
 * collation: of the value. False when memory is exhausted. */
bool collation_key(const collation *c, tansu_buffer *form, tansu_buffer *key,
                   const doc_value *value, bool descending);

/* collation_compare -- orders the forms of two values, as value_compare() does; `forms` is memory for
 * them. NULL collation: the values. False when memory is exhausted. */
bool collation_compare(const collation *c, tansu_buffer forms[2], const doc_value *a,
                       const doc_value *b, int *order);

#endif
