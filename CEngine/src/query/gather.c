/*
 * query/gather.c -- many tests of one conjunction: sorted by their keys, and of those that ask one path for
 * values, one made of many, so that a value of a document is looked for in a sorted list instead of being
 * compared with each of them.
 *
 * In the conjunction that stands for an OR (see match.c) the tests are inverse: "a is not 1 and a is not 2 …"
 * is "a is not in [1, 2, …]". The others must all hold, each by a value of its own (rule 4): these are looked for
 * together in one walk over the values, which marks what it has found.
 */
#include "query/internal.h"
#include <stdlib.h>

/* Fewer tests than these are left as they are. */
#define FEW_ALIKE 8

/* What can be made of several tests alike. */
enum alike { ALIKE_NOTHING, ALIKE_ANY, ALIKE_EVERY_VALUE, ALIKE_EVERY_TOKEN };

/* alike_of -- for one test. */
static enum alike alike_of(const gathered *g) {
    const test *t = g->test;
    if (g->inverse)
        return t->op == TEST_EQ || t->op == TEST_IN ? ALIKE_ANY : ALIKE_NOTHING;
    if (t->wild != WILD_NONE)
        return ALIKE_NOTHING;
    if (t->op == TEST_TOKEN)
        return t->operand_count == 1 ? ALIKE_EVERY_TOKEN : ALIKE_NOTHING;
    return t->op == TEST_EQ ? ALIKE_EVERY_VALUE : ALIKE_NOTHING;
}

/* part_order -- see internal.h. */
int part_order(const char *a, size_t a_size, const char *b, size_t b_size) {
    return a_size != b_size ? (a_size > b_size) - (a_size < b_size) : memcmp(a, b, a_size);
}

/* path_order -- part by part; the same path is mostly one and the same object. */
static int path_order(const path *a, const path *b) {
    if (a == b)
        return 0;
    uint32_t count = a->count < b->count ? a->count : b->count;
    for (uint32_t i = 0; i < count; i++) {
        const path_part *x = &a->parts[i], *y = &b->parts[i];
        int order = part_order(x->name, x->size, y->name, y->size);
        if (order != 0)
            return order;
    }
    return (a->count > b->count) - (a->count < b->count);
}

/* kin_order -- 0 for tests that may be put together. */
static int kin_order(const gathered *a, const gathered *b) {
    int order = a->test->path && b->test->path ? path_order(a->test->path, b->test->path) : 0;
    if (order == 0)
        order = (int)alike_of(a) - (int)alike_of(b);
    if (order == 0)
        order = (int)a->test->wild - (int)b->test->wild;
    uintptr_t x = (uintptr_t)a->test->collation, y = (uintptr_t)b->test->collation;
    return order != 0 ? order : (x > y) - (x < y);
}

/* compare_gathered -- by kin, then as they stand in the query. */
static int compare_gathered(const void *left, const void *right) {
    const gathered *a = left, *b = right;
    int order = kin_order(a, b);
    return order != 0 ? order : (a->number > b->number) - (a->number < b->number);
}

/* compare_values -- value_compare() for qsort(). */
static int compare_values(const void *a, const void *b) {
    return value_compare(a, b);
}

/* collect -- the operands of tests alike. */
static bool collect(arena *memory, const gathered *list, uint32_t count, test *result) {
    size_t total = 0;
    for (uint32_t i = 0; i < count; i++)
        total += list[i].test->op == TEST_EQ ? 1 : list[i].test->operand_count;
    result->operands =
        total <= UINT32_MAX ? arena_alloc(memory, total * sizeof *result->operands) : NULL;
    if (!result->operands)
        return false;
    result->operand_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        const test *t = list[i].test;
        const doc_value *from = t->op == TEST_EQ ? &t->operand : t->operands;
        uint32_t several = t->op == TEST_EQ ? 1 : t->operand_count;
        for (uint32_t k = 0; k < several; k++)
            result->operands[result->operand_count++] = from[k];
    }
    return true;
}

/* sort_values -- sorts operands, and leaves one of equal ones. */
static void sort_values(test *t) {
    qsort(t->operands, t->operand_count, sizeof *t->operands, compare_values);
    uint32_t kept = 1;
    for (uint32_t i = 1; i < t->operand_count; i++) {
        if (value_compare(&t->operands[i], &t->operands[kept - 1]) != 0)
            t->operands[kept++] = t->operands[i];
    }
    t->operand_count = kept;
}

/* put_together -- makes tests alike one. */
static bool put_together(arena *memory, const gathered *list, uint32_t count, gathered *result) {
    test *t = arena_alloc(memory, sizeof *t);
    if (!t)
        return false;
    enum alike alike = alike_of(&list[0]);
    *t = *list[0].test;
    t->negated = false;
    if (!collect(memory, list, count, t))
        return false;
    if (alike == ALIKE_EVERY_TOKEN) {
        texts_sort(t);
    } else {
        sort_values(t);
        t->op = TEST_IN;
        t->special = t->collation != NULL;
    }
    *result = (gathered){.test = t, .inverse = list[0].inverse, .number = list[0].number};
    if (alike == ALIKE_ANY)
        return true;
    result->every = arena_alloc(memory, count * sizeof *result->every);
    if (!result->every)
        return false;
    result->every_count = count;
    for (uint32_t i = 0; i < count; i++)
        result->every[i] = list[i].test;
    return true;
}

/* gather_tests -- see internal.h. */
bool gather_tests(arena *memory, gathered *list, uint32_t *count) {
    uint32_t kept = 0;
    qsort(list, *count, sizeof *list, compare_gathered);
    for (uint32_t from = 0, to; from < *count; from = to) {
        for (to = from + 1; to < *count && kin_order(&list[from], &list[to]) == 0;)
            to++;
        if (to - from >= FEW_ALIKE && alike_of(&list[from]) != ALIKE_NOTHING) {
            gathered one;
            if (!put_together(memory, list + from, to - from, &one))
                return false;
            list[kept++] = one;
        } else {
            for (uint32_t i = from; i < to; i++)
                list[kept++] = list[i];
        }
    }
    *count = kept;
    return true;
}

/* gather_values -- see internal.h. Only equalities are taken: what stands in an OR as it is, in an AND
 * negated. */
node *gather_values(arena *memory, node *n) {
    if (n->kind != NODE_AND && n->kind != NODE_OR)
        return n;
    uint32_t count = 0, kept = 0;
    for (node *child = n->first; child; child = child->next)
        count++;
    gathered *list = arena_alloc(memory, count * sizeof *list);
    node **nodes = arena_alloc(memory, count * sizeof *nodes);
    if (!list || !nodes)
        return NULL;
    uint32_t alike = 0;
    for (node *child = n->first; child; child = child->next) {
        gathered g = {.test = child->test, .inverse = true, .number = alike};
        bool taken = child->kind == NODE_TEST && child->test->negated == (n->kind == NODE_AND) &&
                     alike_of(&g) == ALIKE_ANY;
        if (taken)
            list[alike++] = g;
        else
            nodes[kept++] = child;
    }
    if (alike < FEW_ALIKE) {
        for (uint32_t i = 0; i < kept; i++) {
            if (!gather_values(memory, nodes[i]))
                return NULL;
        }
        return n;
    }
    if (!gather_tests(memory, list, &alike))
        return NULL;
    n->first = n->last = NULL;
    for (uint32_t i = 0; i < alike; i++) {
        node *child = arena_alloc(memory, sizeof *child);
        test *t = arena_alloc(memory, sizeof *t);
        if (!child || !t)
            return NULL;
        *t = *list[i].test;
        t->negated = n->kind == NODE_AND;
        *child = (node){.kind = NODE_TEST, .test = t};
        node_append(n, child);
    }
    for (uint32_t i = 0; i < kept; i++) {
        if (!gather_values(memory, nodes[i]))
            return NULL;
        node_append(n, nodes[i]);
    }
    return n->first == n->last ? n->first : n;
}
