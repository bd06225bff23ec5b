/*
 * query/expression/operators_array.c -- arrays: their elements, parts, and making them.
 */
#include "query/expression/expression_internal.h"

const operator_info operators_array[] = {
    {.name = NULL},
};
