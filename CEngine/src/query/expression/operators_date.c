/*
 * query/expression/operators_date.c -- the parts of dates, and making dates of parts.
 */
#include "query/expression/expression_internal.h"

const operator_info operators_date[] = {
    {.name = NULL},
};
