/*
 * query/selector.c -- from a selector document to nodes (rules 1, 2, 3 and 9 of
 * docs/query-language.md).
 *
 * Recursion is bounded by the depth that doc_check() allowed.
 */
#include "query/internal.h"

#define DOUBLE_EXACT ((int64_t)1 << 53) /* up to here every whole number is a double */

typedef struct parser {
    query *q;
    tansu_error *error;
    tansu_buffer path;    /* the text of the path that is being read; empty at the top */
    tansu_buffer context; /* room for an error's place */
} parser;

/* ---- Errors ---- */

/* place -- "path.name" for an error's context. */
static const char *place(parser *p, const char *name) {
    p->context.size = 0;
    bool fine = true;
    if (p->path.size != 0)
        fine = buffer_append(&p->context, p->path.data, p->path.size) &&
               (*name == 0 || buffer_append_byte(&p->context, '.'));
    fine = fine && buffer_append(&p->context, name, strlen(name) + 1);
    return fine ? (const char *)p->context.data : name;
}

/* bad -- INVALID_QUERY at an operator of the present path. */
static tansu_status bad(parser *p, const char *name, const char *message) {
    return error_set(p->error, TANSU_E_INVALID_QUERY, place(p, name), "%s", message);
}

/* later -- UNSUPPORTED at an operator of the present path. */
static tansu_status later(parser *p, const char *name) {
    return error_set(p->error, TANSU_E_UNSUPPORTED, place(p, name),
                     "The operator %s is not in this version of the library yet.", name);
}

/* ---- Making nodes ---- */

/* new_node -- NULL when memory is exhausted. */
static node *new_node(parser *p, enum node_kind kind) {
    node *n = arena_alloc(&p->q->memory, sizeof *n);
    if (n)
        n->kind = kind;
    return n;
}

/* node_append -- adds a child behind the others. */
void node_append(node *parent, node *child) {
    child->next = NULL;
    if (parent->last)
        parent->last->next = child;
    else
        parent->first = child;
    parent->last = child;
}

/* add_node -- a new child of `parent`. */
static tansu_status add_node(parser *p, node *parent, enum node_kind kind, node **result) {
    *result = new_node(p, kind);
    if (!*result)
        return error_memory(p->error);
    node_append(parent, *result);
    return TANSU_OK;
}

/* add_test -- a new test of the present path as a child of `parent`. */
static tansu_status add_test(parser *p, node *parent, enum test_op op, const char *name,
                             test **result) {
    node *n;
    tansu_status status = add_node(p, parent, NODE_TEST, &n);
    if (status != TANSU_OK)
        return status;
    n->test = arena_alloc(&p->q->memory, sizeof *n->test);
    if (!n->test)
        return error_memory(p->error);
    n->test->op = op;
    *result = n->test;
    return query_path(p->q, (const char *)p->path.data, p->path.size, place(p, name),
                      &n->test->path, p->error);
}

/* add_negation -- a NOT as a child of `parent`, for what follows to be put into. */
static tansu_status add_negation(parser *p, node **parent) {
    return add_node(p, *parent, NODE_NOT, parent);
}

/* set_operand -- the value that a test compares with, and what makes that quick. */
static void set_operand(test *t, const doc_value *value) {
    t->operand = *value;
    t->kind = value_kind_of(value->type);
    int64_t whole;
    if (t->kind == KIND_NUMBER && value->type != DOC_DECIMAL128 && doc_as_int64(value, &whole) &&
        whole >= -DOUBLE_EXACT && whole <= DOUBLE_EXACT) {
        t->integral = true;
        t->integer = whole;
    }
}

/* ---- Operators on a field ---- */

typedef tansu_status (*operator_reader)(parser *p, node *parent, const char *name,
                                        const doc_value *operand);

static tansu_status read_condition(parser *p, node *parent, const doc_value *value);

/* add_compare -- a comparison with one value. */
static tansu_status add_compare(parser *p, node *parent, enum test_op op, const char *name,
                                const doc_value *operand) {
    test *t;
    tansu_status status = add_test(p, parent, op, name, &t);
    if (status == TANSU_OK)
        set_operand(t, operand);
    return status;
}

/* read_eq -- equal to the operand. */
static tansu_status read_eq(parser *p, node *parent, const char *name, const doc_value *operand) {
    return add_compare(p, parent, TEST_EQ, name, operand);
}

/* read_gt -- greater, among the operand's kind. */
static tansu_status read_gt(parser *p, node *parent, const char *name, const doc_value *operand) {
    return add_compare(p, parent, TEST_GT, name, operand);
}

/* read_gte -- greater or equal, among the operand's kind. */
static tansu_status read_gte(parser *p, node *parent, const char *name, const doc_value *operand) {
    return add_compare(p, parent, TEST_GTE, name, operand);
}

/* read_lt -- less, among the operand's kind. */
static tansu_status read_lt(parser *p, node *parent, const char *name, const doc_value *operand) {
    return add_compare(p, parent, TEST_LT, name, operand);
}

/* read_lte -- less or equal, among the operand's kind. */
static tansu_status read_lte(parser *p, node *parent, const char *name, const doc_value *operand) {
    return add_compare(p, parent, TEST_LTE, name, operand);
}

/* read_ne -- everything that $eq does not select (rule 5). */
static tansu_status read_ne(parser *p, node *parent, const char *name, const doc_value *operand) {
    tansu_status status = add_negation(p, &parent);
    return status == TANSU_OK ? read_eq(p, parent, name, operand) : status;
}

/* array_size -- how many elements; false when it is not an array. */
static bool array_size(const doc_value *value, uint32_t *count) {
    doc_iter iter;
    *count = 0;
    if (value->type != DOC_ARRAY || !doc_iter_value(&iter, value))
        return false;
    while (doc_iter_next(&iter))
        ++*count;
    return true;
}

/* copy_elements -- the array's elements as the test's operands. */
static tansu_status copy_elements(parser *p, test *t, const doc_value *array, uint32_t count) {
    t->operands = arena_alloc(&p->q->memory, count * sizeof *t->operands);
    if (!t->operands)
        return error_memory(p->error);
    doc_iter iter;
    doc_iter_value(&iter, array);
    while (t->operand_count < count && doc_iter_next(&iter))
        t->operands[t->operand_count++] = iter.value;
    return TANSU_OK;
}

/* read_in -- any of the values of an array. */
static tansu_status read_in(parser *p, node *parent, const char *name, const doc_value *operand) {
    uint32_t count;
    if (!array_size(operand, &count))
        return bad(p, name, "The operand must be an array of values.");
    test *t;
    tansu_status status = add_test(p, parent, TEST_IN, name, &t);
    if (status == TANSU_OK)
        status = copy_elements(p, t, operand, count);
    for (uint32_t i = 0; status == TANSU_OK && i < t->operand_count; i++) {
        if (t->operands[i].type == DOC_REGEX)
            status =
                error_set(p->error, TANSU_E_UNSUPPORTED, place(p, name),
                          "A regular expression ($regex) in %s is not in this version yet.", name);
    }
    return status;
}

/* read_nin -- everything that $in does not select (rule 5). */
static tansu_status read_nin(parser *p, node *parent, const char *name, const doc_value *operand) {
    tansu_status status = add_negation(p, &parent);
    return status == TANSU_OK ? read_in(p, parent, name, operand) : status;
}

/* read_exists -- {"$exists": true} or its negation. */
static tansu_status read_exists(parser *p, node *parent, const char *name,
                                const doc_value *operand) {
    bool wanted;
    if (!doc_as_bool(operand, &wanted))
        return bad(p, name, "The operand must be true or false.");
    tansu_status status = wanted ? TANSU_OK : add_negation(p, &parent);
    test *t;
    return status == TANSU_OK ? add_test(p, parent, TEST_EXISTS, name, &t) : status;
}

/* read_begin -- strings that begin with a prefix, or with one of several. */
static tansu_status read_begin(parser *p, node *parent, const char *name,
                               const doc_value *operand) {
    uint32_t count = 1;
    bool several = array_size(operand, &count);
    if (!several && operand->type != DOC_STRING)
        return bad(p, name, "The operand must be a string or an array of strings.");
    if (several && count == 0)
        return bad(p, name, "The array of prefixes is empty.");
    test *t;
    tansu_status status = add_test(p, parent, TEST_BEGIN, name, &t);
    if (status != TANSU_OK)
        return status;
    if (several) {
        status = copy_elements(p, t, operand, count);
    } else {
        t->operands = arena_alloc(&p->q->memory, sizeof *t->operands);
        if (!t->operands)
            return error_memory(p->error);
        t->operands[t->operand_count++] = *operand;
    }
    for (uint32_t i = 0; status == TANSU_OK && i < t->operand_count; i++) {
        if (t->operands[i].type != DOC_STRING)
            status = bad(p, name, "The operand must be a string or an array of strings.");
    }
    return status;
}

/* read_not -- the negation of any condition on the same path. */
static tansu_status read_not(parser *p, node *parent, const char *name, const doc_value *operand) {
    (void)name;
    tansu_status status = add_negation(p, &parent);
    node *all;
    if (status == TANSU_OK)
        status = add_node(p, parent, NODE_AND, &all);
    return status == TANSU_OK ? read_condition(p, all, operand) : status;
}

static tansu_status read_branches(parser *p, node *parent, const char *name,
                                  const doc_value *operand);

/* Every operator of the language that stands on a field; `read` NULL: not in this version yet. */
static const struct field_operator {
    const char *name;
    operator_reader read;
} field_operators[] = {
    {"$eq", read_eq},
    {"$ne", read_ne},
    {"$gt", read_gt},
    {"$gte", read_gte},
    {"$lt", read_lt},
    {"$lte", read_lte},
    {"$in", read_in},
    {"$nin", read_nin},
    {"$exists", read_exists},
    {"$begin", read_begin},
    {"$beginsWith", read_begin},
    {"$not", read_not},
    {"$and", read_branches},
    {"$or", read_branches},
    {"$nor", read_branches},
    {"$bt", NULL},
    {"$between", NULL},
    {"$endsWith", NULL},
    {"$contains", NULL},
    {"$regex", NULL},
    {"$options", NULL},
    {"$icase", NULL},
    {"$strand", NULL},
    {"$stror", NULL},
    {"$all", NULL},
    {"$size", NULL},
    {"$elemMatch", NULL},
    {"$allMatch", NULL},
    {"$type", NULL},
    {"$mod", NULL},
    {"$keyMapMatch", NULL},
};

/* read_operator -- one operator of the present path. */
static tansu_status read_operator(parser *p, node *parent, const char *name,
                                  const doc_value *operand) {
    for (size_t i = 0; i < sizeof field_operators / sizeof *field_operators; i++) {
        const struct field_operator *known = &field_operators[i];
        if (strcmp(known->name, name) == 0)
            return known->read ? known->read(p, parent, name, operand) : later(p, name);
    }
    return bad(p, name, "There is no such operator on a field.");
}

/* ---- Conditions and selectors ---- */

/* path_push -- goes one step down: the key is path text itself (rule 2). Returns what path_pop()
 * wants; false when memory is exhausted. */
static bool path_push(parser *p, const doc_iter *iter, size_t *before) {
    *before = p->path.size;
    return (p->path.size == 0 || buffer_append_byte(&p->path, '.')) &&
           buffer_append(&p->path, iter->key, iter->key_size);
}

/* read_field -- the condition under one key that is a path. */
static tansu_status read_field(parser *p, node *parent, const doc_iter *iter) {
    if (iter->key_size == 0)
        return bad(p, "", "A path may not be empty.");
    bool whole = p->path.size == 0 && (strcmp(iter->key, "*") == 0 || strcmp(iter->key, "**") == 0);
    if (whole)
        return later(p, iter->key);
    size_t before;
    tansu_status status = path_push(p, iter, &before) ? read_condition(p, parent, &iter->value)
                                                      : error_memory(p->error);
    p->path.size = before;
    return status;
}

/* read_condition -- what a path must be: operators, a sub-query (rule 3) or a value. */
static tansu_status read_condition(parser *p, node *parent, const doc_value *value) {
    if (value->type == DOC_REGEX)
        return later(p, "$regex");
    doc_iter iter;
    if (value->type != DOC_DOCUMENT || !doc_iter_value(&iter, value) || !doc_iter_next(&iter))
        return read_eq(p, parent, "", value); /* {} as well: there is nothing to ask below it */
    bool operators = iter.key[0] == '$';
    tansu_status status = TANSU_OK;
    do {
        if ((iter.key[0] == '$') != operators)
            return bad(p, operators ? "" : iter.key,
                       "Operators and fields may not stand side by side in one document.");
        status = operators ? read_operator(p, parent, iter.key, &iter.value)
                           : read_field(p, parent, &iter);
    } while (status == TANSU_OK && doc_iter_next(&iter));
    return status;
}

static tansu_status read_selector(parser *p, node *parent, doc_iter *iter);

/* read_branch -- one element of $and, $or, $nor: a selector at the top, a condition on a field. */
static tansu_status read_branch(parser *p, node *parent, const char *name, const doc_value *value) {
    doc_iter iter;
    if (value->type != DOC_DOCUMENT || !doc_iter_value(&iter, value))
        return bad(p, name, "The operand must be an array of documents.");
    node *all;
    tansu_status status = add_node(p, parent, NODE_AND, &all);
    if (status != TANSU_OK)
        return status;
    return p->path.size == 0 ? read_selector(p, all, &iter) : read_condition(p, all, value);
}

/* read_branches -- an AND, OR or NOT OR of the operand's elements. */
static tansu_status read_branches(parser *p, node *parent, const char *name,
                                  const doc_value *operand) {
    doc_iter iter;
    if (operand->type != DOC_ARRAY || !doc_iter_value(&iter, operand))
        return bad(p, name, "The operand must be an array of documents.");
    tansu_status status = TANSU_OK;
    if (strcmp(name, "$nor") == 0)
        status = add_negation(p, &parent);
    node *branches;
    if (status == TANSU_OK)
        status = add_node(p, parent, strcmp(name, "$and") == 0 ? NODE_AND : NODE_OR, &branches);
    while (status == TANSU_OK && doc_iter_next(&iter))
        status = read_branch(p, branches, name, &iter.value);
    if (status == TANSU_OK && !branches->first)
        return bad(p, name, "The array of conditions is empty.");
    return status;
}

/* read_logic -- an operator at the top of a selector. */
static tansu_status read_logic(parser *p, node *parent, const char *name,
                               const doc_value *operand) {
    static const char *const foreseen[] = {"$do", "$upsert", "$dropall"};
    if (strcmp(name, "$and") == 0 || strcmp(name, "$or") == 0 || strcmp(name, "$nor") == 0)
        return read_branches(p, parent, name, operand);
    if (strcmp(name, "$not") == 0) {
        doc_iter iter;
        if (operand->type != DOC_DOCUMENT || !doc_iter_value(&iter, operand))
            return bad(p, name, "The operand must be a document.");
        node *all;
        tansu_status status = add_negation(p, &parent);
        if (status == TANSU_OK)
            status = add_node(p, parent, NODE_AND, &all);
        return status == TANSU_OK ? read_selector(p, all, &iter) : status;
    }
    for (size_t i = 0; i < sizeof foreseen / sizeof *foreseen; i++) {
        if (strcmp(name, foreseen[i]) == 0)
            return later(p, name);
    }
    return bad(p, name, "There is no such operator at the top of a query.");
}

/* read_selector -- the keys of a whole selector, joined by AND (rule 1). */
static tansu_status read_selector(parser *p, node *parent, doc_iter *iter) {
    tansu_status status = TANSU_OK;
    while (status == TANSU_OK && doc_iter_next(iter))
        status = iter->key[0] == '$' ? read_logic(p, parent, iter->key, &iter->value)
                                     : read_field(p, parent, iter);
    return status;
}

/* selector_parse -- reads the whole selector. */
tansu_status selector_parse(query *q, const uint8_t *doc, size_t size, tansu_error *error) {
    parser p = {.q = q, .error = error};
    doc_iter iter;
    tansu_status status = TANSU_OK;
    q->root = new_node(&p, NODE_AND);
    if (!q->root)
        status = error_memory(error);
    else if (doc_iter_init(&iter, doc, size))
        status = read_selector(&p, q->root, &iter);
    tansu_buffer_free(&p.path);
    tansu_buffer_free(&p.context);
    return status;
}
