/*
 * support/calls/evaluate_expression.h -- expressions of the aggregation language, evaluated without a
 * database.
 */
#ifndef SUPPORT_EVALUATE_EXPRESSION_H
#define SUPPORT_EVALUATE_EXPRESSION_H

#include "query/expression/expression.h"

#include <bson/bson.h>

/* How an expression is evaluated. */
typedef struct expression_setting {
    const collation *collation;
    size_t memory;            /* 0: the usual limit */
    const deadline *deadline; /* of the evaluation alone */
    bool only_compile;
} expression_setting;

/* value_in_bson -- the value of a key, in place. */
doc_value value_in_bson(const bson_t *doc, const char *key);

/* evaluate_expression -- compiles an expression, and makes the document {"v": its value for another
 * document}; {} if the value is missing. */
tansu_status evaluate_expression(const doc_value *e, const bson_t *doc,
                                 const expression_setting *how, tansu_buffer *result,
                                 tansu_error *error);

#endif
