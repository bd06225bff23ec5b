/*
 * query/expression/operators_arithmetic.c -- sums, products, rounding, roots and logarithms.
 */
#include "query/expression/expression_internal.h"

const operator_info operators_arithmetic[] = {
    {.name = NULL},
};
