/*
 * support/calls/expression_calls.h -- checking the values of expressions.
 */
#ifndef TANSU_TESTS_SUPPORT_CALLS_EXPRESSION_CALLS_H
#define TANSU_TESTS_SUPPORT_CALLS_EXPRESSION_CALLS_H

#include <stddef.h>

/* An expression and its value, both as bson_from_text() takes them; NULL: INVALID_QUERY. */
typedef struct expression_sample {
    const char *expression, *value;
} expression_sample;

/* expect_expressions -- checks the values of expressions for a document, with their types. */
void expect_expressions(const char *document, const expression_sample *samples, size_t count);

#define EXPECT_EXPRESSIONS(document, samples) \
    expect_expressions(document, samples, sizeof(samples) / sizeof *(samples))

#endif
