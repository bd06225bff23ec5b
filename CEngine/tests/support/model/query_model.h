/*
 * support/model/query_model.h -- the query language a second time, as plainly as possible: over an
 * array of documents, with libbson, interpreting the selector as it stands. Written from
 * docs/query-language.md and not from the engine; tests hold the two against each other.
 */
#ifndef SUPPORT_QUERY_MODEL_H
#define SUPPORT_QUERY_MODEL_H

#include <bson/bson.h>

/* model_compare -- the order of two values (rules 7 and 8); a NULL iterator is a missing value.
 * Numbers must be doubles, or decimals that are exact as doubles, below 2^62, or not finite. */
int model_compare(const bson_iter_t *a, const bson_iter_t *b);

/* model_compare_in -- the same in the collation of the hints. */
int model_compare_in(const bson_iter_t *a, const bson_iter_t *b, const bson_t *hints);

/* model_matches -- whether a document matches a valid selector. */
bool model_matches(const bson_t *doc, const bson_t *selector);

/* model_find -- the numbers of the documents that match, in the order and window that the hints ask
 * for; returns how many. `result` has space for `count`. */
size_t model_find(bson_t *const *docs, size_t count, const bson_t *selector, const bson_t *hints,
                  size_t *result);

/* model_is_unique -- whether the options of an index say so. */
bool model_is_unique(const bson_t *options);

/* model_collide -- whether two documents can't both be in a unique index of these keys and
 * options. */
bool model_collide(const bson_t *a, const bson_t *b, const bson_t *keys, const bson_t *options);

#endif
