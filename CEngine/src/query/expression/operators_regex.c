/*
 * query/expression/operators_regex.c -- $regexFind, $regexFindAll, $regexMatch.
 */
#include "query/expression/expression_internal.h"

const operator_info operators_regex[] = {
    {.name = NULL},
};
