/*
 * query/pipeline/granularity.h -- series of preferred numbers, at which the buckets of $bucketAuto
 * begin: Renard numbers, E series, 1-2-5 and the powers of two.
 */
#ifndef TANSU_QUERY_PIPELINE_GRANULARITY_H
#define TANSU_QUERY_PIPELINE_GRANULARITY_H

#include "bson/number.h"

typedef struct granularity granularity;

/* granularity_find -- the series of a name, such as "R5" or "POWERSOF2"; NULL: there is none. */
const granularity *granularity_find(const char *name);

/* granularity_up, granularity_down -- the next number of the series above, or below, a finite
 * positive number; zero stays zero. A decimal128 gives a decimal128, another number a double. */
void granularity_up(const granularity *g, const doc_value *value, number *result);
void granularity_down(const granularity *g, const doc_value *value, number *result);

#endif
