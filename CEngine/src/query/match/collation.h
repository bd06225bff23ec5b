/*
 * query/match/collation.h -- comparing strings other than by their bytes.
 *
 * A collation maps every string to a collated string. Strings compare as the bytes of their
 * collated strings do, so value_compare() and value_key() apply to collated values as to any
 * others.
 */
#ifndef TANSU_QUERY_MATCH_COLLATION_H
#define TANSU_QUERY_MATCH_COLLATION_H

#include "bson/document.h"
#include "util/buffer.h"

typedef struct collation {
    bool fold;    /* ignores letter case (bson/case_fold.h) */
    bool numeric; /* runs of the digits 0 to 9 compare as numbers: a2 before a10 */
} collation;

/* collation_applies -- whether a collated value may differ from it: strings, documents, arrays. */
bool collation_applies(const doc_value *value);

/* collation_value -- collates the strings of a value at any depth, but not the keys. The result
 * points to the buffer, which is replaced, or to the value itself when it has no strings. False
 * when memory is exhausted. */
bool collation_value(const collation *c, tansu_buffer *out, const doc_value *value,
                     doc_value *result);

/* collation_key -- appends value_key() of the collated value. `scratch` is reused memory. `c` NULL:
 * of the value itself. False when memory is exhausted. */
bool collation_key(const collation *c, tansu_buffer *scratch, tansu_buffer *key,
                   const doc_value *value, bool descending);

/* collation_compare -- value_compare() of two collated values. `scratch` is reused memory. `c`
 * NULL: of the values themselves. False when memory is exhausted. */
bool collation_compare(const collation *c, tansu_buffer scratch[2], const doc_value *a,
                       const doc_value *b, int *order);

#endif
