/*
 * query/expression/operators_miscellaneous.c -- $rand, $meta, sizes, timestamps.
 */
#include "query/expression/expression_internal.h"

const operator_info operators_miscellaneous[] = {
    {.name = NULL},
};
