/*
 * query/expression/operators_set.c -- arrays as sets.
 */
#include "query/expression/expression_internal.h"

const operator_info operators_set[] = {
    {.name = NULL},
};
