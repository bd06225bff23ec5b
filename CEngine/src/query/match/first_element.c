/*
 * query/match/first_element.c -- which element of an array satisfied the selector.
 */
#include "query/match/first_element.h"
#include "query/match/match_value.h"
#include <stdlib.h>

/* A search among the elements of one array. */
typedef struct element_search {
    match_context *context;
    const path *array;
    const doc_value *element;
    uint32_t position;
    const test *test;
} element_search;

/* visit -- tests a value below an element; ends the walk at the first that passes. */
static bool visit(void *context, const doc_value *value) {
    const element_search *s = context;
    doc_iter iter;
    if (test_value(s->test, s->context, value))
        return false;
    if (s->test->on_array || value->type != DOC_ARRAY || !doc_iter_value(&iter, value))
        return true;
    while (doc_iter_next(&iter)) {
        if (test_value(s->test, s->context, &iter.value))
            return false;
    }
    return true;
}

/* leads_through -- whether a path is the array's or continues below it. */
static bool leads_through(const path *p, const path *array) {
    if (p->count < array->count)
        return false;
    path beginning = {p->parts, array->count, NULL};
    return path_equal(&beginning, array);
}

/* element_passes -- whether a test of the array holds by this element. */
static bool element_passes(element_search *s, const test *t) {
    path rest = {t->path->parts + s->array->count, t->path->count - s->array->count, NULL};
    if (rest.count == 0) {
        if (t->op == TEST_ELEMENT || t->op == TEST_ALL_ELEMENTS)
            return subcondition_holds(t->condition, s->context, s->element);
        return test_value(t, s->context, s->element);
    }
    s->test = t;
    if (rest.parts[0].index >= 0 && (uint32_t)rest.parts[0].index == s->position) {
        path below = {rest.parts + 1, rest.count - 1, NULL};
        if (below.count == 0)
            return !visit(s, s->element);
        if (s->element->type == DOC_DOCUMENT &&
            !path_walk(&below, s->element->data, s->element->size, visit, s, NULL))
            return true;
    }
    return s->element->type == DOC_DOCUMENT &&
           !path_walk(&rest, s->element->data, s->element->size, visit, s, NULL);
}

/* tests_elements -- whether a test applies to the elements of an array. */
static bool tests_elements(const test *t, const path *array) {
    return !t->negated && t->wild == WILD_NONE && t->op != TEST_SIZE &&
           leads_through(t->path, array);
}

/* list_tests -- stores the tests of the array in `list`, unless it is NULL, and returns their
 * number. `ors`: those below an OR count even if a branch has none; *alternatives: some are below
 * one. `c` counts the nodes; NULL: they have been. */
static size_t list_tests(const node *n, match_context *c, const path *array, bool ors,
                         const test **list, bool *alternatives) {
    size_t count = 0;
    if (!match_step(c, 1))
        return 0;
    if (n->kind == NODE_TEST && tests_elements(n->test, array)) {
        if (list)
            list[0] = n->test;
        return 1;
    }
    if (n->kind != NODE_AND && n->kind != NODE_OR)
        return 0;
    for (const node *child = n->first; child; child = child->next) {
        size_t more = list_tests(child, c, array, ors, list ? list + count : NULL, alternatives);
        if (more == 0 && n->kind == NODE_OR && !ors)
            return 0;
        count += more;
    }
    *alternatives = *alternatives || (n->kind == NODE_OR && count != 0);
    return count;
}

/* visit_array -- keeps the first array that a path leads to. */
static bool visit_array(void *context, const doc_value *value) {
    doc_value *found = context;
    if (value->type != DOC_ARRAY)
        return true;
    *found = *value;
    return false;
}

/* passes -- whether a test of the array holds by an element; looks at the deadline. */
static bool passes(element_search *s, const test *t) {
    return match_read(s->context, s->element->size) && element_passes(s, t);
}

/* find_first -- the first element that passes all of the tests, or one of them. Begins with the
 * test that decided about the element before: of bounds in order, the next one does. */
static bool find_first(element_search *s, const doc_value *array, const test *const *tests,
                       size_t count, bool all) {
    doc_iter iter;
    size_t from = 0;
    s->position = 0;
    for (bool valid = doc_iter_value(&iter, array); valid && doc_iter_next(&iter); s->position++) {
        size_t left = count;
        s->element = &iter.value;
        for (; left > 0 && passes(s, tests[from]) == all; left--)
            from = from + 1 == count ? 0 : from + 1;
        if ((left == 0) == all)
            return !s->context || s->context->status == TANSU_OK;
    }
    return false;
}

/* search_elements -- match_first_element() for tests that were listed: the first element that
 * passes them all. If there is none, each test may have one of its own: of alternatives the
 * first element, otherwise the one of the last test that has one, as in MongoDB. */
static bool search_elements(element_search *s, const doc_value *array, const test *const *tests,
                            size_t count, bool alternatives) {
    if (find_first(s, array, tests, count, true))
        return true;
    if (alternatives)
        return find_first(s, array, tests, count, false);
    while (count > 0 && match_step(s->context, 1)) {
        if (find_first(s, array, &tests[--count], 1, true))
            return true;
    }
    return false;
}

bool match_first_element(const node *root, match_context *context, const uint8_t *doc, size_t size,
                         const path *array, bool ors, uint32_t *position) {
    doc_value value = {NULL, 0, DOC_MISSING};
    bool alternatives = false;
    (void)path_walk(array, doc, size, visit_array, &value, NULL);
    size_t count =
        value.type == DOC_ARRAY ? list_tests(root, context, array, ors, NULL, &alternatives) : 0;
    if (count == 0 || (context && context->status != TANSU_OK))
        return false;
    const test **tests = malloc(count * sizeof *tests);
    if (!tests)
        return match_fail(context, TANSU_E_MEMORY, NULL, NULL);
    list_tests(root, NULL, array, ors, tests, &alternatives);
    element_search s = {.context = context, .array = array};
    bool found = search_elements(&s, &value, tests, count, alternatives);
    free(tests);
    if (found)
        *position = s.position;
    return found;
}

bool match_any_element(const node *root, match_context *context, const uint8_t *doc, size_t size,
                       const node *part, uint32_t *position) {
    if (part->kind == NODE_TEST) {
        const test *t = part->test;
        bool found = false;
        if (!t->path || t->wild != WILD_NONE)
            return false;
        path front = *t->path;
        for (front.count = 1; front.count <= t->path->count && !found; front.count++)
            found = match_step(context, 1) &&
                    match_first_element(root, context, doc, size, &front, false, position);
        return found;
    }
    for (const node *child = part->kind == NODE_AND ? part->first : NULL; child;
         child = child->next) {
        if (match_any_element(root, context, doc, size, child, position))
            return true;
    }
    return false;
}
