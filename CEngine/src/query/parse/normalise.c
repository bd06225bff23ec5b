/*
 * query/parse/normalise.c -- the normal form of a selector: NOT is pushed down to the tests (exact
 * by De Morgan, and rule 5 makes the negation of a test exact), AND and OR are flattened, constants
 * are folded, $in lists are sorted.
 */
#include "bson/number.h"
#include "query/match/match_value.h"
#include "query/parse/query_compile.h"
#include "query/parse/selector.h"
#include "util/error.h"

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

/* ---- Tests that conditions on elements imply ---- */

/*
 * Only tests that scalars pass, and no missing value, are taken over: an element that has such a
 * value has it where the path from the document leads, too. Array positions are left out, which
 * mean the array in the document.
 */

/* A condition on the elements at a path of the document. */
typedef struct holder {
    query *q;
    const path *path;
    node *conjunction; /* takes the tests */
    tansu_error *error;
} holder;

/* has_number -- whether a part of a path is a number, which may be the position in an array: of an
 * element that is an array even where the path begins with it. */
static bool has_number(const path *path) {
    for (uint32_t i = 0; i < path->count; i++) {
        if (path->parts[i].index >= 0)
            return true;
    }
    return false;
}

/* is_scalar -- whether neither an array nor a document nor a missing value can equal an operand,
 * and it has an order among others. */
static bool is_scalar(const doc_value *operand) {
    switch (value_kind_of(operand->type)) {
    case KIND_NUMBER: return !number_is_nan(operand);
    case KIND_STRING:
    case KIND_BINARY:
    case KIND_OID:
    case KIND_BOOL:
    case KIND_DATE:
    case KIND_TIMESTAMP: return true;
    default: return false;
    }
}

/* is_simple -- whether a test may be taken over. */
static bool is_simple(const test *t) {
    if (t->negated || t->on_array || t->other_kinds || t->wild != WILD_NONE ||
        (t->path && has_number(t->path)))
        return false;
    switch (t->op) {
    case TEST_EQ:
    case TEST_GT:
    case TEST_GTE:
    case TEST_LT:
    case TEST_LTE: return is_scalar(&t->operand);
    case TEST_BETWEEN: return is_scalar(&t->operand) && is_scalar(&t->operands[0]);
    case TEST_BEGIN: return true;
    case TEST_IN:
        for (uint32_t i = 0; i < t->operand_count; i++) {
            if (!is_scalar(&t->operands[i]))
                return false;
        }
        return true;
    default: return false;
    }
}

/* holds_elements -- whether a test is a condition on elements whose tests can be taken over. */
static bool holds_elements(const test *t) {
    return (t->op == TEST_ELEMENT || t->op == TEST_ALL_ELEMENTS) && !t->negated && t->path &&
           t->wild == WILD_NONE && !has_number(t->path);
}

/* any_elements -- whether a tree has such a test. */
static bool any_elements(const node *n) {
    if (n->kind == NODE_TEST)
        return holds_elements(n->test);
    for (const node *child = n->first; child; child = child->next) {
        if (any_elements(child))
            return true;
    }
    return false;
}

/* add_node -- a test as a child of a conjunction or disjunction. */
static tansu_status add_node(query *q, node *parent, test *t, tansu_error *error) {
    node *n = arena_alloc(&q->memory, sizeof *n);
    if (!n)
        return error_memory(error);
    *n = (node){.kind = NODE_TEST, .test = t};
    node_append(parent, n);
    return TANSU_OK;
}

/* add_test -- takes a test over, which is on `path` there. */
static tansu_status add_test(const holder *h, const test *t, const path *path) {
    test *copy = arena_alloc(&h->q->memory, sizeof *copy);
    if (!copy)
        return error_memory(h->error);
    *copy = *t;
    copy->path = path;
    return add_node(h->q, h->conjunction, copy, h->error);
}

/* join_path -- the path from the document to a field of an element; NULL, without an error, where
 * it would be too deep. */
static tansu_status join_path(const holder *h, const path *rest, const path **result) {
    tansu_error found = {.message = ""};
    size_t size = strlen(h->path->text), rest_size = strlen(rest->text);
    char *text = arena_alloc(&h->q->memory, size + 1 + rest_size + 1);
    if (!text)
        return error_memory(h->error);
    memcpy(text, h->path->text, size);
    text[size] = '.';
    memcpy(text + size + 1, rest->text, rest_size);
    tansu_status status = query_path_keys(h->q, text, size + 1 + rest_size, "", result, &found);
    if (status != TANSU_OK)
        *result = NULL;
    return status == TANSU_E_MEMORY ? error_memory(h->error) : TANSU_OK;
}

static tansu_status take_over(const holder *h, const subcondition *s);

/* take_field_test -- a test of a field of the elements, which has a path. */
static tansu_status take_field_test(const holder *h, const test *t) {
    const path *path = NULL;
    bool below = holds_elements(t);
    if (!below && !is_simple(t))
        return TANSU_OK;
    tansu_status status = join_path(h, t->path, &path);
    if (status != TANSU_OK || !path)
        return status;
    const holder inner = {h->q, path, h->conjunction, h->error};
    return below ? take_over(&inner, t->condition) : add_test(h, t, path);
}

/* is_bound -- whether a test is one of two ends of a range. */
static bool is_bound(const test *t, bool lower) {
    return lower ? t->op == TEST_GT || t->op == TEST_GTE : t->op == TEST_LT || t->op == TEST_LTE;
}

/* find_bound -- the first lower or upper bound on the elements themselves; NULL: none. */
static const test *find_bound(const node *conjunction, bool lower) {
    for (const node *n = conjunction->first; n; n = n->next) {
        if (n->kind == NODE_TEST && is_bound(n->test, lower) && is_simple(n->test))
            return n->test;
    }
    return NULL;
}

/* take_range -- one element is within both bounds: a range, where two tests on the path would be
 * about any two elements. */
static tansu_status take_range(const holder *h, const node *conjunction) {
    const test *low = find_bound(conjunction, true), *high = find_bound(conjunction, false);
    if (!low || !high || low->kind != high->kind || low->collation != high->collation ||
        value_compare(&low->operand, &high->operand) > 0)
        return TANSU_OK;
    test range = *low;
    range.op = TEST_BETWEEN;
    range.special = true;
    range.operands = arena_alloc(&h->q->memory, sizeof *range.operands);
    if (!range.operands)
        return error_memory(h->error);
    range.operands[0] = high->operand;
    range.operand_count = 1;
    return add_test(h, &range, h->path);
}

/* take_over -- all tests that the condition is a conjunction of. */
static tansu_status take_over(const holder *h, const subcondition *s) {
    const node *condition = s->matcher ? s->fields : s->value;
    bool several = condition->kind == NODE_AND;
    tansu_status status = TANSU_OK;
    if (several && !s->matcher)
        status = take_range(h, condition);
    for (const node *n = several ? condition->first : condition; status == TANSU_OK && n;
         n = several ? n->next : NULL) {
        if (n->kind != NODE_TEST)
            continue;
        if (s->matcher)
            status = take_field_test(h, n->test);
        else if (is_simple(n->test))
            status = add_test(h, n->test, h->path);
    }
    return status;
}

/* add_all -- a copy of a tree, below `parent`, with what it implies. */
static tansu_status add_all(query *q, node *parent, const node *n, tansu_error *error) {
    if (n->kind == NODE_TEST && (!holds_elements(n->test) || parent->kind == NODE_AND)) {
        const holder h = {q, n->test->path, parent, error};
        tansu_status status = add_node(q, parent, n->test, error);
        return status == TANSU_OK && holds_elements(n->test) ? take_over(&h, n->test->condition)
                                                             : status;
    }
    /* In a disjunction a test and what it implies are a conjunction of their own. */
    node *copy = arena_alloc(&q->memory, sizeof *copy);
    if (!copy)
        return error_memory(error);
    *copy = (node){.kind = n->kind == NODE_TEST ? NODE_AND : n->kind};
    node_append(parent, copy);
    tansu_status status = n->kind == NODE_TEST ? add_all(q, copy, n, error) : TANSU_OK;
    for (const node *child = n->first; status == TANSU_OK && child; child = child->next)
        status = add_all(q, copy, child, error);
    return status;
}

tansu_status implied_tests_add(query *q, node **planned, tansu_error *error) {
    *planned = q->root;
    if (!any_elements(q->root))
        return TANSU_OK;
    node *holder = arena_alloc(&q->memory, sizeof *holder);
    if (!holder)
        return error_memory(error);
    holder->kind = NODE_OR; /* of one branch, the tree */
    tansu_status status = add_all(q, holder, q->root, error);
    if (status == TANSU_OK)
        *planned = holder->first;
    return status;
}
