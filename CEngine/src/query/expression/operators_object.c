/*
 * query/expression/operators_object.c -- documents: their fields, merging them, and arrays of their fields.
 */
#include "query/expression/expression_internal.h"

const operator_info operators_object[] = {
    {.name = NULL},
};
