/*
 * query/match/merged_test.c -- merges tests of one path, so that a value is searched for in one
 * sorted list instead of being compared with every operand.
 *
 * The conjunction that represents an OR (matcher.c) has inverted tests: "a is not 1 and a is not 2
 * …" is "a is not in [1, 2, …]". The others must all hold, each by a value of its own (rule 4). One
 * walk over the values finds them all and marks those found.
 */
#include "query/match/merged_test.h"
#include "query/match/string_operands.h"
#include <stdlib.h>

/* Fewer tests than this are not merged. */
#define FEW_TESTS 8

/* How tests of one path can be merged. */
enum merge_kind { MERGE_NOT, MERGE_ANY, MERGE_ALL_VALUES, MERGE_ALL_TOKENS };

/* merge_kind_of -- for one test. */
static enum merge_kind merge_kind_of(const merged_test *g) {
    const test *t = g->test;
    if (g->inverted)
        return t->op == TEST_EQ || t->op == TEST_IN ? MERGE_ANY : MERGE_NOT;
    if (t->wild != WILD_NONE)
        return MERGE_NOT;
    if (t->op == TEST_TOKEN)
        return t->operand_count == 1 ? MERGE_ALL_TOKENS : MERGE_NOT;
    return t->op == TEST_EQ ? MERGE_ALL_VALUES : MERGE_NOT;
}

int part_order(const char *a, size_t a_size, const char *b, size_t b_size) {
    return a_size != b_size ? (a_size > b_size) - (a_size < b_size) : memcmp(a, b, a_size);
}

/* path_order -- part by part. Equal paths are usually one object. */
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

/* merge_order -- 0 for tests that can be merged. */
static int merge_order(const merged_test *a, const merged_test *b) {
    int order = a->test->path && b->test->path ? path_order(a->test->path, b->test->path) : 0;
    if (order == 0)
        order = (int)merge_kind_of(a) - (int)merge_kind_of(b);
    if (order == 0)
        order = (int)a->test->wild - (int)b->test->wild;
    uintptr_t x = (uintptr_t)a->test->collation, y = (uintptr_t)b->test->collation;
    return order != 0 ? order : (x > y) - (x < y);
}

/* compare_tests -- by merge_order(), then by position in the query. */
static int compare_tests(const void *left, const void *right) {
    const merged_test *a = left, *b = right;
    int order = merge_order(a, b);
    return order != 0 ? order : (a->number > b->number) - (a->number < b->number);
}

/* compare_values -- value_compare() for qsort(). */
static int compare_values(const void *a, const void *b) {
    return value_compare(a, b);
}

/* collect -- collects the operands of tests to be merged. */
static bool collect(arena *memory, const merged_test *list, uint32_t count, test *result) {
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

/* sort_values -- sorts the operands and removes duplicates. */
static void sort_values(test *t) {
    qsort(t->operands, t->operand_count, sizeof *t->operands, compare_values);
    uint32_t kept = 1;
    for (uint32_t i = 1; i < t->operand_count; i++) {
        if (value_compare(&t->operands[i], &t->operands[kept - 1]) != 0)
            t->operands[kept++] = t->operands[i];
    }
    t->operand_count = kept;
}

/* merge -- merges tests into one. */
static bool merge(arena *memory, const merged_test *list, uint32_t count, merged_test *result) {
    test *t = arena_alloc(memory, sizeof *t);
    if (!t)
        return false;
    enum merge_kind kind = merge_kind_of(&list[0]);
    *t = *list[0].test;
    t->negated = false;
    if (!collect(memory, list, count, t))
        return false;
    if (kind == MERGE_ALL_TOKENS) {
        strings_sort(t);
    } else {
        sort_values(t);
        t->op = TEST_IN;
        t->special = t->collation != NULL;
    }
    *result = (merged_test){.test = t, .inverted = list[0].inverted, .number = list[0].number};
    if (kind == MERGE_ANY)
        return true;
    const test **all = arena_alloc(memory, count * sizeof *all);
    if (!all)
        return false;
    for (uint32_t i = 0; i < count; i++)
        all[i] = list[i].test;
    result->all = all;
    result->all_count = count;
    return true;
}

bool merge_tests(arena *memory, merged_test *list, uint32_t *count) {
    uint32_t kept = 0;
    qsort(list, *count, sizeof *list, compare_tests);
    for (uint32_t from = 0, to; from < *count; from = to) {
        for (to = from + 1; to < *count && merge_order(&list[from], &list[to]) == 0;)
            to++;
        if (to - from >= FEW_TESTS && merge_kind_of(&list[from]) != MERGE_NOT) {
            merged_test one;
            if (!merge(memory, list + from, to - from, &one))
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

/* Merges equalities only: in an OR as they are, in an AND negated ones. */
node *merge_value_tests(arena *memory, node *n) {
    if (n->kind != NODE_AND && n->kind != NODE_OR)
        return n;
    uint32_t count = 0, kept = 0;
    for (node *child = n->first; child; child = child->next)
        count++;
    merged_test *list = arena_alloc(memory, count * sizeof *list);
    node **nodes = arena_alloc(memory, count * sizeof *nodes);
    if (!list || !nodes)
        return NULL;
    uint32_t mergeable = 0;
    for (node *child = n->first; child; child = child->next) {
        merged_test g = {.test = child->test, .inverted = true, .number = mergeable};
        bool taken = child->kind == NODE_TEST && child->test->negated == (n->kind == NODE_AND) &&
                     merge_kind_of(&g) == MERGE_ANY;
        if (taken)
            list[mergeable++] = g;
        else
            nodes[kept++] = child;
    }
    if (mergeable < FEW_TESTS) {
        for (uint32_t i = 0; i < kept; i++) {
            if (!merge_value_tests(memory, nodes[i]))
                return NULL;
        }
        return n;
    }
    if (!merge_tests(memory, list, &mergeable))
        return NULL;
    n->first = n->last = NULL;
    for (uint32_t i = 0; i < mergeable; i++) {
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
        if (!merge_value_tests(memory, nodes[i]))
            return NULL;
        node_append(n, nodes[i]);
    }
    return n->first == n->last ? n->first : n;
}
