/*
 * support/random/random_operator.h -- random operators of the query language beyond comparisons,
 * such that query_model.h knows them too.
 */
#ifndef SUPPORT_RANDOM_OPERATOR_H
#define SUPPORT_RANDOM_OPERATOR_H

#include "support/random/random.h"

#include <bson/bson.h>

#define RANDOM_OPERATORS 14

/* random_short_text -- one of few strings, so that two are often equal or alike. */
const char *random_short_text(random_source *r);

/* random_operator -- appends the operator of that number, with a random operand. */
void random_operator(random_source *r, bson_t *doc, uint64_t which);

/* random_regex_value -- appends a regex value. */
void random_regex_value(random_source *r, bson_t *doc, const char *key);

/* random_collation -- appends the hint $collation. */
void random_collation(random_source *r, bson_t *hints);

#endif
