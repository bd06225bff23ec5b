/*
 * query/expression/operators_bitwise.c -- the bits of whole numbers.
 */
#include "query/expression/expression_internal.h"

const operator_info operators_bitwise[] = {
    {.name = NULL},
};
