/*
 * query/expression/implied.c -- the comparisons of fields with constants that an expression implies, by
 * which an index finds candidates for it.
 */
#include "query/expression/expression_internal.h"

#include "bson/number.h"
#include "bson/value.h"

#include <string.h>

/* comparison_of -- the test of a query that an operator is, with its operands the other way round
 * if `swapped`; false if it is none. */
static bool comparison_of(const operator_info *op, bool swapped, enum test_op *result) {
    static const struct {
        const char *name;
        enum test_op as_is, swapped;
    } comparisons[] = {{"$eq", TEST_EQ, TEST_EQ},
                       {"$gt", TEST_GT, TEST_LT},
                       {"$gte", TEST_GTE, TEST_LTE},
                       {"$lt", TEST_LT, TEST_GT},
                       {"$lte", TEST_LTE, TEST_GTE}};
    for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++) {
        if (strcmp(op->name, comparisons[i].name) == 0) {
            *result = swapped ? comparisons[i].swapped : comparisons[i].as_is;
            return true;
        }
    }
    return false;
}

/* reaches_arrays -- whether a comparison with a constant is true of arrays, which expressions compare
 * as a whole. */
static bool reaches_arrays(enum test_op op, const doc_value *constant) {
    bool above = value_kind_of(constant->type) < KIND_ARRAY;
    return op != TEST_EQ && above == (op == TEST_GT || op == TEST_GTE);
}

/* implies -- whether a query can compare a field with a constant so that it selects all of which the
 * expression is true. Expressions tell missing from null. An array of the values behind arrays, which
 * a path of several names yields, is in no index; and a query takes a document that begins
 * with $ for a condition. */
static bool implies(enum test_op op, const char *path, const doc_value *constant) {
    doc_iter iter;
    bool is_condition = constant->type == DOC_DOCUMENT && doc_iter_value(&iter, constant) &&
                        doc_iter_next(&iter) && iter.key[0] == '$';
    if (is_condition || constant->type == DOC_ARRAY || constant->type == DOC_MISSING ||
        constant->type == DOC_UNDEFINED || constant->type == DOC_REGEX)
        return false;
    return op == TEST_EQ || (!(op == TEST_LT && constant->type == DOC_NULL) &&
                             !(doc_is_number(constant) && number_is_nan(constant)) &&
                             !(reaches_arrays(op, constant) && strchr(path, '.')));
}

bool expression_comparison(const expression *e, uint32_t number, enum test_op *op,
                           const char **path, doc_value *constant) {
    *path = NULL;
    bool all = e->op && strcmp(e->op->name, "$and") == 0;
    if (number >= (all ? e->count : 1))
        return false;
    if (all)
        e = e->args[number];
    for (uint32_t i = 0; e->op && i < 2 && !*path && comparison_of(e->op, i == 1, op); i++) {
        const char *text = expression_field(e->args[i]);
        if (text && expression_constant(e->args[1 - i], constant) && implies(*op, text, constant))
            *path = text;
    }
    return true;
}
