/*
 * query/expression/operators_number.h -- what operators on numbers share.
 */
#ifndef TANSU_QUERY_EXPRESSION_OPERATORS_NUMBER_H
#define TANSU_QUERY_EXPRESSION_OPERATORS_NUMBER_H

#include "query/expression/expression_internal.h"
#include "query/util/numeric_sum.h"

/* The work of a root, a logarithm or the like of a decimal, in steps. */
#define DECIMAL_FUNCTION_STEPS 64

/* result_decimal -- a decimal128. Errors: as result_int32(). */
tansu_status result_decimal(evaluation *ev, const decimal *value, doc_value *result);

/* number_argument -- the value of an operand, which must be a number, and its width; or *null is
 * set: it is null, undefined or missing. Errors: those of the operand; INVALID_QUERY. */
tansu_status number_argument(evaluation *ev, const expression *e, uint32_t i, doc_value *value,
                             enum numeric_width *width, bool *null);

/* not_a_number -- INVALID_QUERY: the operator does not take a value of this type. */
tansu_status not_a_number(evaluation *ev, const expression *e, const doc_value *value);

#endif
