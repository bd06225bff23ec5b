/*
 * query/expression/operators_group.c -- accumulators as operators: $sum, $avg, $min, $max, $first, $last and others, of one document.
 */
#include "query/expression/expression_internal.h"

const operator_info operators_group[] = {
    {.name = NULL},
};
