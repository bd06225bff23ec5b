/*
 * query/expression/operators_conversion.c -- types of values, and converting them.
 */
#include "query/expression/expression_internal.h"

const operator_info operators_conversion[] = {
    {.name = NULL},
};
