/*
 * query/expression/operators_string.c -- strings.
 */
#include "query/expression/expression_internal.h"

const operator_info operators_string[] = {
    {.name = NULL},
};
