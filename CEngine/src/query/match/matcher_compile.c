/*
 * query/match/matcher_compile.c -- from a normalised tree to a matcher.
 */
#include "query/match/match_value.h"
#include "query/match/matcher_internal.h"

#define FEW_TESTS 16 /* tests of a conjunction that keep the order of the query */

/* add_child -- adds an empty conjunction below `m`. NULL when memory is exhausted. */
static matcher *add_child(arena *memory, matcher *m) {
    matcher *child = arena_alloc(memory, sizeof *child);
    if (child) {
        child->next = m->children;
        m->children = child;
    }
    return child;
}

/* grow_fields -- ensures capacity for one more field. */
static bool grow_fields(arena *memory, matcher *m) {
    if (m->field_count < m->field_capacity)
        return true;
    uint32_t capacity = m->field_capacity == 0 ? 2 : m->field_capacity * 2;
    match_field *fields = arena_alloc(memory, capacity * sizeof *fields);
    if (!fields)
        return false;
    if (m->field_count != 0)
        memcpy(fields, m->fields, m->field_count * sizeof *fields);
    m->fields = fields;
    m->field_capacity = capacity;
    return true;
}

/* find_field -- finds or adds the field of a key. `sorted`: the keys arrive in order, so it can
 * only be the last one. NULL when memory is exhausted. */
static match_field *find_field(arena *memory, matcher *m, const path_part *part, bool sorted) {
    for (uint32_t i = sorted && m->field_count != 0 ? m->field_count - 1 : 0; i < m->field_count;
         i++) {
        match_field *field = &m->fields[i];
        if (field->key_size == part->size && memcmp(field->key, part->name, part->size) == 0)
            return field;
    }
    if (!grow_fields(memory, m))
        return NULL;
    match_field *field = &m->fields[m->field_count++];
    *field = (match_field){.key = part->name, .key_size = part->size, .passes_missing = true};
    return field;
}

/* add_test -- adds a test to its field. Equalities go first, since they are the cheapest. */
static bool add_test(arena *memory, matcher *m, const merged_test *g, bool sorted) {
    static const doc_value missing = {NULL, 0, DOC_MISSING};
    match_test *entry = arena_alloc(memory, sizeof *entry);
    if (!entry)
        return false;
    if (g->test->wild != WILD_NONE) {
        *entry = (match_test){.is = *g, .next = m->wild};
        m->wild = entry;
        return true;
    }
    match_field *field = find_field(memory, m, &g->test->path->parts[0], sorted);
    if (!field)
        return false;
    bool first = g->test->op == TEST_EQ;
    *entry = (match_test){.is = *g, .next = first ? field->tests : NULL};
    if (first || !field->tests)
        field->tests = entry;
    else
        field->last->next = entry;
    if (!entry->next)
        field->last = entry;
    bool holds_missing = test_value(g->test, NULL, &missing);
    for (uint32_t i = 0; holds_missing && i < g->all_count; i++)
        holds_missing = test_value(g->all[i], NULL, &missing);
    field->passes_missing = field->passes_missing && holds_missing != g->inverted;
    return true;
}

/* only_path -- the path of all tests of the only field; NULL when there are others. */
static const path *only_path(const matcher *m) {
    const path *only = m->field_count == 1 ? m->fields->tests->is.test->path : NULL;
    for (const match_test *test = only ? m->fields->tests : NULL; test; test = test->next) {
        if (test->is.all || !path_equal(test->is.test->path, only))
            return NULL;
    }
    return only;
}

/* add_tests -- adds the tests of a conjunction. Of many, those of one path are merged. */
static bool add_tests(arena *memory, matcher *m, const node *n, bool invert, uint32_t count) {
    merged_test *list = arena_alloc(memory, (count + 1) * sizeof *list);
    if (!list)
        return false;
    count = 0;
    for (const node *child = n->first; child; child = child->next) {
        if (child->kind == NODE_TEST) {
            list[count] = (merged_test){
                .test = child->test, .inverted = child->test->negated != invert, .number = count};
            count++;
        }
    }
    bool sorted = count > FEW_TESTS;
    if (sorted && !merge_tests(memory, list, &count))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (!add_test(memory, m, &list[i], sorted))
            return false;
    }
    for (uint32_t i = 0; i < m->field_count; i++)
        m->required += !m->fields[i].passes_missing;
    m->path = only_path(m);
    return true;
}

/* compile -- fills a conjunction from a node, or with `negate` from its negation. */
static bool compile(arena *memory, matcher *m, const node *n, bool negate) {
    switch (n->kind) {
    case NODE_TRUE:
    case NODE_FALSE: m->negated = (n->kind == NODE_FALSE) != negate; return true;
    case NODE_TEST: {
        merged_test one = {.test = n->test, .inverted = n->test->negated != negate};
        bool added = add_test(memory, m, &one, false);
        m->path = only_path(m);
        return added;
    }
    default: break;
    }
    /* An AND is the conjunction of its children, an OR the negated conjunction of their
     * negations. */
    bool invert = n->kind == NODE_OR;
    uint32_t tests = 0;
    m->negated = invert != negate;
    for (const node *child = n->first; child; child = child->next) {
        if (child->kind == NODE_TEST) {
            tests++;
            continue;
        }
        matcher *below = add_child(memory, m);
        if (!below || !compile(memory, below, child, invert))
            return false;
    }
    return add_tests(memory, m, n, invert, tests);
}

matcher *matcher_compile(arena *memory, const node *root) {
    matcher *m = arena_alloc(memory, sizeof *m);
    return m && compile(memory, m, root, false) ? m : NULL;
}
