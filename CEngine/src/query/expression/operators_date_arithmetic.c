/*
 * query/expression/operators_date_arithmetic.c -- adding to dates, their differences, and truncating them.
 */
#include "query/expression/expression_internal.h"

const operator_info operators_date_arithmetic[] = {
    {.name = NULL},
};
