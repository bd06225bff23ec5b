/*
 * query/expression/operators_date_text.c -- dates as text.
 */
#include "query/expression/expression_internal.h"

const operator_info operators_date_text[] = {
    {.name = NULL},
};
