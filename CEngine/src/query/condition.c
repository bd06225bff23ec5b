/*
 * query/condition.c -- see condition.h.
 */
#include "query/interrupt.h"
#include "query/regex.h"
#include <stdlib.h>

/* A query of no document: it owns what the condition is made of. */
struct condition {
    query query;
    subcondition *inner;
};

/* match_context_free -- see condition.h. */
void match_context_free(match_context *c) {
    tansu_buffer_free(&c->text);
    tansu_buffer_free(&c->key);
    tansu_buffer_free(&c->marks);
    regex_memory_free(c->regex);
    memset(c, 0, sizeof *c);
}

/* match_context_status -- see condition.h. */
tansu_status match_context_status(const match_context *c, tansu_error *error) {
    if (c->status == TANSU_OK)
        return TANSU_OK;
    if (c->status == TANSU_E_TIMEOUT || c->status == TANSU_E_CANCELLED)
        return watch_error(c->watch, c->status, error);
    if (!c->message)
        return error_memory(error);
    return error_set(error, c->status, c->place, "%s", c->message);
}

/* value_holds -- tests of a value itself, and AND and OR of them. */
static bool value_holds(const node *n, match_context *c, const doc_value *value) {
    switch (n->kind) {
    case NODE_TRUE: return true;
    case NODE_FALSE: return false;
    case NODE_TEST: return test_value(n->test, c, value) != n->test->negated;
    case NODE_NOT: return !value_holds(n->first, c, value);
    default: break;
    }
    bool all = n->kind == NODE_AND;
    for (const node *child = n->first; child && match_step(c, 1); child = child->next) {
        if (value_holds(child, c, value) != all)
            return !all;
    }
    return all;
}

/* subcondition_holds -- see internal.h. An array's elements are its fields by position. */
bool subcondition_holds(const subcondition *s, match_context *c, const doc_value *value) {
    if (s->value)
        return value_holds(s->value, c, value);
    return (value->type == DOC_DOCUMENT || value->type == DOC_ARRAY) &&
           matcher_run(s->matcher, c, value->data, value->size);
}

/* condition_compile -- see condition.h. */
tansu_status condition_compile(const doc_value *operand, const char *place,
                               const struct collation *by, condition **result, tansu_error *error) {
    condition *c = calloc(1, sizeof *c);
    if (!c)
        return error_memory(error);
    c->query.collation = by;
    c->query.memory.limit = QUERY_MEMORY;
    doc_value copy = *operand;
    copy.data = arena_copy(&c->query.memory, operand->data, operand->size);
    tansu_status status = copy.data ? subcondition_parse(&c->query, &copy, place, &c->inner, error)
                                    : error_memory(error);
    status = query_too_large(&c->query, status, error);
    if (status != TANSU_OK) {
        condition_free(c);
        return status;
    }
    *result = c;
    return TANSU_OK;
}

/* condition_free -- fine on NULL. */
void condition_free(condition *c) {
    if (!c)
        return;
    for (path_link *link = c->query.paths; link; link = link->next)
        path_free(&link->path);
    regex_free_all(c->query.regexes);
    arena_free(&c->query.memory);
    free(c);
}

/* condition_holds -- see condition.h. */
bool condition_holds(const condition *c, match_context *context, const doc_value *value) {
    return subcondition_holds(c->inner, context, value);
}

/* query_matches -- see condition.h. */
bool query_matches(const query *q, match_context *context, const uint8_t *doc, size_t size) {
    return matcher_run(q->matcher, context, doc, size);
}

/* ---- Which element ---- */

/* What is asked of elements. */
typedef struct element_search {
    match_context *context;
    const path *array;
    const doc_value *element;
    uint32_t position;
    const test *test;
} element_search;

/* visit -- a value below an element; ends the walk at the first that passes. */
static bool visit(void *context, const doc_value *value) {
    const element_search *s = context;
    doc_iter iter;
    if (test_value(s->test, s->context, value))
        return false;
    if (s->test->whole || value->type != DOC_ARRAY || !doc_iter_value(&iter, value))
        return true;
    while (doc_iter_next(&iter)) {
        if (test_value(s->test, s->context, &iter.value))
            return false;
    }
    return true;
}

/* leads_through -- whether a path is the array's, or goes on behind it. */
static bool leads_through(const path *p, const path *array) {
    if (p->count < array->count)
        return false;
    path beginning = {p->parts, array->count, NULL};
    return path_equal(&beginning, array);
}

/* element_passes -- whether a test of the array holds because of the element. */
static bool element_passes(element_search *s, const test *t) {
    path rest = {t->path->parts + s->array->count, t->path->count - s->array->count, NULL};
    if (rest.count == 0) {
        if (t->op == TEST_ELEMENT || t->op == TEST_ALL_ELEMENTS)
            return subcondition_holds(t->condition, s->context, s->element);
        return test_value(t, s->context, s->element);
    }
    s->test = t;
    if (rest.parts[0].index >= 0 && (uint32_t)rest.parts[0].index == s->position) {
        path behind = {rest.parts + 1, rest.count - 1, NULL};
        if (behind.count == 0)
            return !visit(s, s->element);
        if (s->element->type == DOC_DOCUMENT &&
            !path_walk(&behind, s->element->data, s->element->size, visit, s, NULL))
            return true;
    }
    return s->element->type == DOC_DOCUMENT &&
           !path_walk(&rest, s->element->data, s->element->size, visit, s, NULL);
}

/* asks_element -- whether a test speaks of an array's elements. */
static bool asks_element(const test *t, const path *array) {
    return !t->negated && t->wild == WILD_NONE && t->op != TEST_SIZE &&
           leads_through(t->path, array);
}

/* list_tests -- the tests that speak of the array, in `list` unless it is NULL; returns how many. */
static size_t list_tests(const node *n, const path *array, const test **list) {
    size_t count = 0;
    if (n->kind == NODE_TEST && asks_element(n->test, array)) {
        if (list)
            list[0] = n->test;
        return 1;
    }
    if (n->kind != NODE_AND && n->kind != NODE_OR)
        return 0;
    for (const node *child = n->first; child; child = child->next)
        count += list_tests(child, array, list ? list + count : NULL);
    return count;
}

/* visit_array -- keeps the first array that a path finds. */
static bool visit_array(void *context, const doc_value *value) {
    doc_value *found = context;
    if (value->type != DOC_ARRAY)
        return true;
    *found = *value;
    return false;
}

/* search_elements -- see query_first_element(). */
static bool search_elements(element_search *s, const doc_value *value, const test *const *tests,
                            size_t count, uint32_t *position) {
    doc_iter iter;
    bool any = false, valid = doc_iter_value(&iter, value);
    for (uint32_t i = 0; valid && doc_iter_next(&iter); i++) {
        size_t passed = 0;
        s->element = &iter.value;
        s->position = i;
        for (size_t k = 0; k < count; k++) {
            if (!match_step(s->context, 1))
                return false;
            passed += element_passes(s, tests[k]);
        }
        if (passed != 0 && (!any || passed == count))
            *position = i;
        any = any || passed != 0;
        if (passed == count)
            return true;
    }
    return any;
}

/* query_first_element -- see condition.h. */
bool query_first_element(const query *q, match_context *context, const uint8_t *doc, size_t size,
                         const path *array, uint32_t *position) {
    doc_value value = {NULL, 0, DOC_MISSING};
    (void)path_walk(array, doc, size, visit_array, &value, NULL);
    size_t count = value.type == DOC_ARRAY ? list_tests(q->root, array, NULL) : 0;
    if (count == 0)
        return false;
    const test **tests = malloc(count * sizeof *tests);
    if (!tests)
        return match_fail(context, TANSU_E_MEMORY, NULL, NULL);
    list_tests(q->root, array, tests);
    element_search s = {.context = context, .array = array};
    bool found = search_elements(&s, &value, tests, count, position);
    free(tests);
    return found;
}
