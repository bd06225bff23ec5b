/*
 * query/expression/operators_trigonometry.c -- trigonometric functions.
 */
#include "query/expression/expression_internal.h"

const operator_info operators_trigonometry[] = {
    {.name = NULL},
};
