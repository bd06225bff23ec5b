/*
 * query/condition.c -- see condition.h.
 */
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
    regex_memory_free(c->regex);
    memset(c, 0, sizeof *c);
}

/* match_context_status -- see condition.h. */
tansu_status match_context_status(const match_context *c, tansu_error *error) {
    if (c->status == TANSU_OK)
        return TANSU_OK;
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
    for (const node *child = n->first; child; child = child->next) {
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
    doc_value copy = *operand;
    copy.data = arena_copy(&c->query.memory, operand->data, operand->size);
    tansu_status status = copy.data ? subcondition_parse(&c->query, &copy, place, &c->inner, error)
                                    : error_memory(error);
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
    uint32_t tests;  /* that speak of the array */
    uint32_t passed; /* by the element */
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

/* ask_element -- counts the tests that speak of the array, and those that the element passes. */
static void ask_element(element_search *s, const node *n) {
    if (n->kind == NODE_AND || n->kind == NODE_OR) {
        for (const node *child = n->first; child; child = child->next)
            ask_element(s, child);
        return;
    }
    if (n->kind != NODE_TEST || n->test->negated || n->test->wild != WILD_NONE ||
        n->test->op == TEST_SIZE || !leads_through(n->test->path, s->array))
        return;
    s->tests++;
    s->passed += element_passes(s, n->test);
}

/* visit_array -- keeps the first array that a path finds. */
static bool visit_array(void *context, const doc_value *value) {
    doc_value *found = context;
    if (value->type != DOC_ARRAY)
        return true;
    *found = *value;
    return false;
}

/* query_first_element -- see condition.h. */
bool query_first_element(const query *q, match_context *context, const uint8_t *doc, size_t size,
                         const path *array, uint32_t *position) {
    doc_value value = {NULL, 0, DOC_MISSING};
    doc_iter iter;
    bool any = false;
    (void)path_walk(array, doc, size, visit_array, &value, NULL);
    if (value.type != DOC_ARRAY || !doc_iter_value(&iter, &value))
        return false;
    for (uint32_t i = 0; doc_iter_next(&iter); i++) {
        element_search s = {
            .context = context, .array = array, .element = &iter.value, .position = i};
        ask_element(&s, q->root);
        if (s.tests == 0)
            return false;
        if (s.passed != 0 && (!any || s.passed == s.tests))
            *position = i;
        any = any || s.passed != 0;
        if (s.passed == s.tests)
            return true;
    }
    return any;
}
