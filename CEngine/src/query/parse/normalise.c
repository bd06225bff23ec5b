/*
 * query/parse/normalise.c -- the normal form of a selector: NOT is pushed down to the tests (exact
 * by De Morgan, and rule 5 makes the negation of a test exact), AND and OR are flattened, constants
 * are folded, $in lists are sorted.
 */
#include "query/parse/selector.h"
#include <stdlib.h>

static node *reduce(node *n, bool negate);

/* constant -- turns a node into TRUE or FALSE. */
static node *constant(node *n, bool value) {
    n->kind = value ? NODE_TRUE : NODE_FALSE;
    n->first = n->last = NULL;
    return n;
}

/* compare_operands -- value_compare() for qsort(). */
static int compare_operands(const void *a, const void *b) {
    return value_compare(a, b);
}

/* is_sorted -- whether the operands are sorted and distinct already, as those of a subquery are. */
static bool is_sorted(const test *t) {
    for (uint32_t i = 1; i < t->operand_count; i++) {
        if (value_compare(&t->operands[i - 1], &t->operands[i]) >= 0)
            return false;
    }
    return true;
}

/* reduce_test -- negates a test. Sorts the values of $in; an $in without values is a constant. */
static node *reduce_test(node *n, bool negate) {
    test *t = n->test;
    t->negated = negate;
    if (t->op != TEST_IN)
        return n;
    if (t->operand_count == 0)
        return constant(n, negate);
    if (is_sorted(t))
        return n;
    qsort(t->operands, t->operand_count, sizeof *t->operands, compare_operands);
    uint32_t kept = 1;
    for (uint32_t i = 1; i < t->operand_count; i++) {
        if (value_compare(&t->operands[i], &t->operands[kept - 1]) != 0)
            t->operands[kept++] = t->operands[i];
    }
    t->operand_count = kept;
    return n;
}

/* splice -- appends the children of `from` to those of `to`. */
static void splice(node *to, node *from) {
    if (!from->first)
        return;
    if (to->last)
        to->last->next = from->first;
    else
        to->first = from->first;
    to->last = from->last;
}

/* reduce_group -- an AND or OR; `kind` is the one after negation. */
static node *reduce_group(node *n, enum node_kind kind, bool negate) {
    enum node_kind neutral = kind == NODE_AND ? NODE_TRUE : NODE_FALSE;
    enum node_kind final = kind == NODE_AND ? NODE_FALSE : NODE_TRUE;
    node *child = n->first;
    n->kind = kind;
    n->first = n->last = NULL;
    while (child) {
        node *next = child->next;
        child = reduce(child, negate);
        if (child->kind == final)
            return constant(n, final == NODE_TRUE);
        if (child->kind == kind)
            splice(n, child);
        else if (child->kind != neutral)
            node_append(n, child);
        child = next;
    }
    if (!n->first)
        return constant(n, neutral == NODE_TRUE);
    return n->first == n->last ? n->first : n;
}

/* reduce -- the normal form of a node or of its negation. */
static node *reduce(node *n, bool negate) {
    switch (n->kind) {
    case NODE_TRUE:
    case NODE_FALSE: return constant(n, (n->kind == NODE_TRUE) != negate);
    case NODE_AND: return reduce_group(n, negate ? NODE_OR : NODE_AND, negate);
    case NODE_OR: return reduce_group(n, negate ? NODE_AND : NODE_OR, negate);
    case NODE_NOT:
        /* The parser gives a NOT exactly one child. */
        return reduce(n->first, !negate);
    case NODE_TEST: return reduce_test(n, negate);
    }
    return n;
}

node *normalise(node *n) {
    n = reduce(n, false);
    n->next = NULL;
    return n;
}
