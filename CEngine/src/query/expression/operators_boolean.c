/*
 * query/expression/operators_boolean.c -- comparing values, and, or, not, choosing between values,
 * and variables.
 */
#include "query/expression/expression_internal.h"

#include <string.h>

/* ---- Comparing ---- */

enum comparison { COMPARE_EQ, COMPARE_NE, COMPARE_GT, COMPARE_GTE, COMPARE_LT, COMPARE_LTE };

/* compare_operands -- the order of the two operands. */
static tansu_status compare_operands(evaluation *ev, const expression *e, int *order) {
    doc_value a, b;
    tansu_status status = argument(ev, e, 0, &a);
    if (status == TANSU_OK)
        status = argument(ev, e, 1, &b);
    if (status != TANSU_OK)
        return status;
    status = evaluation_step(ev, 1 + (a.size < b.size ? a.size : b.size) / 64);
    if (status != TANSU_OK)
        return status;
    return expression_compare(ev, &a, &b, order) ? TANSU_OK : error_memory(ev->error);
}

static tansu_status compare(evaluation *ev, const expression *e, doc_value *result) {
    int order;
    tansu_status status = compare_operands(ev, e, &order);
    if (status != TANSU_OK)
        return status;
    bool holds = false;
    switch ((enum comparison)e->op->variant) {
    case COMPARE_EQ: holds = order == 0; break;
    case COMPARE_NE: holds = order != 0; break;
    case COMPARE_GT: holds = order > 0; break;
    case COMPARE_GTE: holds = order >= 0; break;
    case COMPARE_LT: holds = order < 0; break;
    case COMPARE_LTE: holds = order <= 0; break;
    }
    return result_bool(holds, result);
}

static tansu_status cmp(evaluation *ev, const expression *e, doc_value *result) {
    int order;
    tansu_status status = compare_operands(ev, e, &order);
    if (status != TANSU_OK)
        return status;
    return result_int32(ev, (order > 0) - (order < 0), result);
}

/* ---- And, or, not ---- */

/* any -- whether one operand is as true as the variant says: $or, and the complement of $and. */
static tansu_status any(evaluation *ev, const expression *e, doc_value *result) {
    bool wanted = e->op->variant != 0;
    for (uint32_t i = 0; i < e->count; i++) {
        doc_value value;
        tansu_status status = argument(ev, e, i, &value);
        if (status != TANSU_OK)
            return status;
        if (expression_is_true(&value) == wanted)
            return result_bool(wanted, result);
    }
    return result_bool(!wanted, result);
}

/* compile_any -- a constant that decides does so wherever it stands, as in MongoDB: the others are
 * not evaluated. */
static tansu_status compile_any(expression_compiler *c, const doc_value *operand, expression *e) {
    bool wanted = e->op->variant != 0;
    doc_value last;
    tansu_status status = compile_commutative(c, operand, e);
    if (status != TANSU_OK || e->count == 0 || !expression_constant(e->args[e->count - 1], &last) ||
        expression_is_true(&last) != wanted)
        return status;
    const expression *constant = e->args[e->count - 1];
    *e = *constant;
    return result_bool(wanted, &e->constant);
}

static tansu_status not(evaluation * ev, const expression *e, doc_value *result) {
    doc_value value;
    tansu_status status = argument(ev, e, 0, &value);
    return status == TANSU_OK ? result_bool(!expression_is_true(&value), result) : status;
}

/* ---- Choosing ---- */

/* compile_cond -- [if, then, else], or the members of these names. */
static tansu_status compile_cond(expression_compiler *c, const doc_value *operand, expression *e) {
    return operand->type == DOC_DOCUMENT ? compile_named(c, operand, e, "if! then! else!")
                                         : compile_operands(c, operand, e, 3, 3);
}

static tansu_status cond(evaluation *ev, const expression *e, doc_value *result) {
    doc_value value;
    tansu_status status = argument(ev, e, 0, &value);
    if (status != TANSU_OK)
        return status;
    return argument(ev, e, expression_is_true(&value) ? 1 : 2, result);
}

static tansu_status if_null(evaluation *ev, const expression *e, doc_value *result) {
    for (uint32_t i = 0; i < e->count; i++) {
        tansu_status status = argument(ev, e, i, result);
        if (status != TANSU_OK || !is_nullish(result))
            return status;
    }
    return TANSU_OK;
}

/* compile_branch -- {"case": …, "then": …}, as two operands. No document reaches the value of a case
 * that is false, nor what follows one that is true. */
static tansu_status compile_branch(expression_compiler *c, const doc_value *branch,
                                   const expression **args) {
    doc_value members[2] = {{NULL, 0, DOC_MISSING}, {NULL, 0, DOC_MISSING}}, value;
    if (branch->type != DOC_DOCUMENT)
        return compile_error(c, "$switch.branches", "Each branch must be a document");
    doc_iter iter;
    for (doc_iter_value(&iter, branch); doc_iter_next(&iter);) {
        uint32_t at = strcmp(iter.key, "then") == 0;
        if ((at == 0 && strcmp(iter.key, "case") != 0) || members[at].type != DOC_MISSING)
            return compile_error(c, "$switch.branches",
                                 "A branch has the members \"case\" and \"then\", each once; it "
                                 "has \"%.100s\"",
                                 iter.key);
        members[at] = iter.value;
    }
    if (members[0].type == DOC_MISSING || members[1].type == DOC_MISSING)
        return compile_error(c, "$switch.branches", "A branch lacks \"case\" or \"then\"");
    tansu_status status = expression_compile(c, &members[0], &args[0]);
    if (status != TANSU_OK)
        return status;
    bool constant = expression_constant(args[0], &value), unreached = c->unreached;
    bool taken = constant && expression_is_true(&value);
    c->unreached = unreached || (constant && !taken);
    status = expression_compile(c, &members[1], &args[1]);
    c->unreached = unreached || taken;
    return status;
}

/* check_cases -- without "default", one case at least may be true. */
static tansu_status check_cases(const expression_compiler *c, const expression *e) {
    doc_value value;
    uint32_t i = 0;
    while (i + 1 < e->count && expression_constant(e->args[i], &value) &&
           !expression_is_true(&value))
        i += 2;
    return i + 1 < e->count || e->args[i] || c->unreached
               ? TANSU_OK
               : compile_error(c, e->op->name, "All cases are false, and there is no \"default\"");
}

/* compile_switch -- {"branches": [{"case": …, "then": …}, …], "default": …}: the operands are cases
 * and values by turns, then the default, or NULL. */
static tansu_status compile_switch(expression_compiler *c, const doc_value *operand,
                                   expression *e) {
    doc_value branches = {NULL, 0, DOC_MISSING}, otherwise = {NULL, 0, DOC_MISSING};
    doc_iter iter;
    if (operand->type != DOC_DOCUMENT)
        return compile_error(c, e->op->name, "Takes a document with the member \"branches\"");
    for (doc_iter_value(&iter, operand); doc_iter_next(&iter);) {
        bool is_default = strcmp(iter.key, "default") == 0;
        doc_value *member = is_default ? &otherwise : &branches;
        if (!is_default && strcmp(iter.key, "branches") != 0)
            return compile_error(c, e->op->name, "Member \"%.100s\" is unknown", iter.key);
        if (member->type != DOC_MISSING)
            return compile_error(c, e->op->name, "Member \"%.100s\" is given twice", iter.key);
        *member = iter.value;
    }
    if (branches.type != DOC_ARRAY)
        return compile_error(c, e->op->name, "Member \"branches\" must be an array");
    uint32_t count = 0;
    for (doc_iter_value(&iter, &branches); doc_iter_next(&iter);)
        count++;
    if (count == 0)
        return compile_error(c, e->op->name, "Member \"branches\" is empty");
    bool unreached = c->unreached;
    tansu_status status = compile_args(c, e, 2 * count + 1);
    if (status == TANSU_OK && otherwise.type != DOC_MISSING)
        status = expression_compile(c, &otherwise, &e->args[(size_t)2 * count]);
    doc_iter_value(&iter, &branches);
    for (uint32_t i = 0; status == TANSU_OK && doc_iter_next(&iter); i++)
        status = compile_branch(c, &iter.value, &e->args[(size_t)2 * i]);
    c->unreached = unreached;
    return status == TANSU_OK ? check_cases(c, e) : status;
}

static tansu_status switch_branch(evaluation *ev, const expression *e, doc_value *result) {
    uint32_t i = 0;
    for (; i + 1 < e->count; i += 2) {
        doc_value value;
        tansu_status status = argument(ev, e, i, &value);
        if (status != TANSU_OK)
            return status;
        if (expression_is_true(&value))
            return argument(ev, e, i + 1, result);
    }
    if (!e->args[i])
        return evaluation_error(ev, e, "No case is true, and there is no \"default\"");
    return argument(ev, e, i, result);
}

/* ---- Variables and literals ---- */

/* compile_let -- {"vars": {name: …}, "in": …}: the operands are the values, then "in". e->slot is
 * that of the first variable. */
static tansu_status compile_let(expression_compiler *c, const doc_value *operand, expression *e) {
    doc_value vars = {NULL, 0, DOC_MISSING}, in = {NULL, 0, DOC_MISSING};
    doc_iter iter;
    if (operand->type != DOC_DOCUMENT)
        return compile_error(c, e->op->name, "Takes a document with the members: vars! in!");
    for (doc_iter_value(&iter, operand); doc_iter_next(&iter);) {
        if (strcmp(iter.key, "vars") == 0)
            vars = iter.value;
        else if (strcmp(iter.key, "in") == 0)
            in = iter.value;
        else
            return compile_error(c, e->op->name, "Member \"%.100s\" is unknown", iter.key);
    }
    if (vars.type != DOC_DOCUMENT || in.type == DOC_MISSING)
        return compile_error(c, e->op->name,
                             "Takes a document \"vars\" of variables, and the expression \"in\"");
    uint32_t count = 0, i = 0;
    for (doc_iter_value(&iter, &vars); doc_iter_next(&iter);)
        count++;
    tansu_status status = compile_args(c, e, count + 1);
    /* The values do not see the variables, but may have others of their own, elsewhere. */
    uint32_t scope = c->variable_count, first = c->slot_count;
    e->slot = first;
    c->slot_count += count < VARIABLES_MAX - first ? count : VARIABLES_MAX - first;
    for (doc_iter_value(&iter, &vars); status == TANSU_OK && doc_iter_next(&iter); i++)
        status = expression_compile(c, &iter.value, &e->args[i]);
    c->slot_count = first;
    doc_iter_value(&iter, &vars);
    while (status == TANSU_OK && doc_iter_next(&iter)) {
        uint32_t slot;
        status = expression_variable(c, iter.key, iter.key_size, &slot);
    }
    if (status == TANSU_OK)
        status = expression_compile(c, &in, &e->args[count]);
    c->variable_count = scope;
    c->slot_count = first;
    return status;
}

static tansu_status let(evaluation *ev, const expression *e, doc_value *result) {
    for (uint32_t i = 0; i + 1 < e->count; i++) {
        tansu_status status = argument(ev, e, i, &ev->variables[e->slot + i]);
        if (status != TANSU_OK)
            return status;
    }
    return argument(ev, e, e->count - 1, result);
}

tansu_status expression_let(expression_compiler *c, const doc_iter *member,
                            const expression **value, uint32_t *slot) {
    bool reads_document = c->reads_document;
    c->reads_document = false;
    tansu_status status = expression_compile(c, &member->value, value);
    if (status == TANSU_OK && c->reads_document)
        status = compile_error(c, NULL,
                               "The variable is of the whole call; it cannot depend on a "
                               "document");
    if (status == TANSU_OK)
        status = expression_variable(c, member->key, member->key_size, slot);
    c->reads_document = reads_document;
    if (status != TANSU_OK)
        error_prefix(c->error, member->key);
    return status;
}

/* compile_literal -- the operand as it stands: a constant that is no expression. */
static tansu_status compile_literal(expression_compiler *c, const doc_value *operand,
                                    expression *e) {
    const expression *constant = NULL;
    tansu_status status = compile_constant(c, operand, &constant);
    if (status == TANSU_OK)
        *e = *constant;
    return status;
}

const operator_info operators_boolean[] = {
    {.name = "$eq", .evaluate = compare, .min = 2, .max = 2, .variant = COMPARE_EQ},
    {.name = "$ne", .evaluate = compare, .min = 2, .max = 2, .variant = COMPARE_NE},
    {.name = "$gt", .evaluate = compare, .min = 2, .max = 2, .variant = COMPARE_GT},
    {.name = "$gte", .evaluate = compare, .min = 2, .max = 2, .variant = COMPARE_GTE},
    {.name = "$lt", .evaluate = compare, .min = 2, .max = 2, .variant = COMPARE_LT},
    {.name = "$lte", .evaluate = compare, .min = 2, .max = 2, .variant = COMPARE_LTE},
    {.name = "$cmp", .evaluate = cmp, .min = 2, .max = 2},
    {.name = "$and", .evaluate = any, .compile = compile_any, .variant = 0},
    {.name = "$or", .evaluate = any, .compile = compile_any, .variant = 1},
    {.name = "$not", .evaluate = not, .min = 1, .max = 1},
    {.name = "$cond", .evaluate = cond, .compile = compile_cond},
    {.name = "$ifNull", .evaluate = if_null, .min = 2, .max = ANY_COUNT},
    {.name = "$switch", .evaluate = switch_branch, .compile = compile_switch, .fails_late = true},
    {.name = "$let", .evaluate = let, .compile = compile_let, .fails_late = true},
    {.name = "$literal", .compile = compile_literal},
    {.name = "$const", .compile = compile_literal},
    {.name = NULL},
};
