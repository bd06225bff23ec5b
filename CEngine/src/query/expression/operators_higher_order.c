/*
 * query/expression/operators_higher_order.c -- operators that evaluate an expression for each element: $map, $filter, $reduce, $sortArray.
 */
#include "query/expression/expression_internal.h"

const operator_info operators_higher_order[] = {
    {.name = NULL},
};
