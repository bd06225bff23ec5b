/*
 * query/selector.c -- from a selector document to nodes (rules 1, 2, 3 and 9 of
 * docs/query-language.md).
 *
 * Recursion is bounded by the depth that doc_check() allowed.
 */
#include "query/parse.h"

#define MAX_PLACE sizeof((tansu_error *)0)->context /* bytes of a place that are shown */
#define PARSE_STEPS 1024 /* nodes between two looks at what stops a call */

/* ---- Errors ---- */

/* parse_place -- see parse.h. */
const char *parse_place(parser *p, const char *name) {
    tansu_buffer *out = &p->context;
    const char *parts[] = {(const char *)p->prefix.data, (const char *)p->path.data, name};
    size_t sizes[] = {p->prefix.size, p->path.size, strlen(name)};
    out->size = 0;
    bool fine = true;
    for (int i = 0; i < 3; i++) {
        /* An error has no room for more; and a long path may have very many tests. */
        size_t room = out->size < MAX_PLACE ? MAX_PLACE - out->size : 0;
        if (sizes[i] == 0 || room == 0)
            continue;
        fine = fine && (out->size == 0 || buffer_append_byte(out, '.')) &&
               buffer_append(out, parts[i], sizes[i] < room ? sizes[i] : room);
    }
    fine = fine && buffer_append_byte(out, 0);
    return fine ? (const char *)out->data : name;
}

/* parse_bad -- see parse.h. */
tansu_status parse_bad(parser *p, const char *name, const char *message) {
    return error_set(p->error, TANSU_E_INVALID_QUERY, parse_place(p, name), "%s", message);
}

/* parse_at_top -- see parse.h. */
bool parse_at_top(const parser *p) {
    return p->path.size == 0 && !p->self;
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

/* parse_add -- see parse.h. */
tansu_status parse_add(parser *p, node *parent, enum node_kind kind, node **result) {
    *result = new_node(p, kind);
    if (!*result)
        return error_memory(p->error);
    node_append(parent, *result);
    return ++p->q->nodes % PARSE_STEPS == 0 ? watch_check(&p->q->watch, p->error) : TANSU_OK;
}

/* parse_add_test -- see parse.h. */
tansu_status parse_add_test(parser *p, node *parent, enum test_op op, const char *name,
                            test **result) {
    node *n;
    tansu_status status = parse_add(p, parent, NODE_TEST, &n);
    if (status != TANSU_OK)
        return status;
    n->test = arena_alloc(&p->q->memory, sizeof *n->test);
    if (!n->test)
        return error_memory(p->error);
    n->test->op = op;
    n->test->wild = p->wild;
    *result = n->test;
    if (p->self)
        return TANSU_OK;
    if (!p->present)
        status = query_path(p->q, (const char *)p->path.data, p->path.size, parse_place(p, name),
                            &p->present, p->error);
    n->test->path = p->present;
    return status;
}

/* parse_add_not -- see parse.h. */
tansu_status parse_add_not(parser *p, node **parent) {
    return parse_add(p, *parent, NODE_NOT, parent);
}

/* ---- Conditions and selectors ---- */

/* path_push -- goes one step down: the key is path text itself (rule 2). Returns what path_pop()
 * wants; false when memory is exhausted. */
static bool path_push(parser *p, const doc_iter *iter, size_t *before) {
    *before = p->path.size;
    p->present = NULL;
    return (p->path.size == 0 || buffer_append_byte(&p->path, '.')) &&
           buffer_append(&p->path, iter->key, iter->key_size);
}

/* wild_of -- whether a path is "*" or "**". */
static enum wild wild_of(const parser *p, const char *key) {
    if (p->path.size != 0)
        return WILD_NONE;
    return strcmp(key, "*") == 0 ? WILD_FIELDS : strcmp(key, "**") == 0 ? WILD_ANYWHERE : WILD_NONE;
}

/* read_field -- the condition under one key that is a path. */
static tansu_status read_field(parser *p, node *parent, const doc_iter *iter) {
    if (iter->key_size == 0)
        return parse_bad(p, "", "A path may not be empty.");
    if (p->self)
        return parse_bad(p, iter->key,
                         "This condition asks a value itself: fields of it can't "
                         "stand beside.");
    if (p->wild != WILD_NONE)
        return parse_bad(p, iter->key,
                         "A sub-query can't stand under \"*\" or \"**\": use "
                         "$eq for a whole document, or $elemMatch.");
    size_t before;
    p->wild = wild_of(p, iter->key);
    tansu_status status = path_push(p, iter, &before) ? parse_condition(p, parent, &iter->value)
                                                      : error_memory(p->error);
    p->path.size = before;
    p->present = NULL;
    p->wild = WILD_NONE;
    return status;
}

/* read_operators -- the operators on the present path; $options belongs to $regex. */
static tansu_status read_operators(parser *p, node *parent, const doc_value *value) {
    doc_iter iter;
    doc_value options, regex;
    bool with_options = doc_find(value->data, value->size, "$options", 8, &options) &&
                        doc_find(value->data, value->size, "$regex", 6, &regex);
    const doc_value *outer = p->regex_options;
    p->regex_options = with_options ? &options : NULL;
    tansu_status status = TANSU_OK;
    bool valid = doc_iter_value(&iter, value);
    while (valid && status == TANSU_OK && doc_iter_next(&iter)) {
        if (iter.key[0] != '$')
            status = parse_bad(p, "",
                               "Operators and fields may not stand side by side in one document.");
        else
            status = parse_operator(p, parent, iter.key, &iter.value);
    }
    p->regex_options = outer;
    return status;
}

/* parse_condition -- operators, a sub-query (rule 3) or a value. */
tansu_status parse_condition(parser *p, node *parent, const doc_value *value) {
    if (value->type == DOC_REGEX)
        return parse_regex_value(p, parent, "", value);
    doc_iter iter;
    if (value->type != DOC_DOCUMENT || !doc_iter_value(&iter, value) || !doc_iter_next(&iter))
        return parse_eq(p, parent, "", value); /* {} as well: there is nothing to ask below it */
    if (iter.key[0] == '$')
        return read_operators(p, parent, value);
    tansu_status status = TANSU_OK;
    do {
        if (iter.key[0] == '$')
            return parse_bad(p, iter.key,
                             "Operators and fields may not stand side by side in one document.");
        status = read_field(p, parent, &iter);
    } while (status == TANSU_OK && doc_iter_next(&iter));
    return status;
}

static tansu_status read_selector(parser *p, node *parent, doc_iter *iter);

/* read_branch -- one element of $and, $or, $nor: a selector at the top, a condition on a field. */
static tansu_status read_branch(parser *p, node *parent, const char *name, const doc_value *value) {
    doc_iter iter;
    if (value->type != DOC_DOCUMENT || !doc_iter_value(&iter, value))
        return parse_bad(p, name, "The operand must be an array of documents.");
    node *all;
    tansu_status status = parse_add(p, parent, NODE_AND, &all);
    if (status != TANSU_OK)
        return status;
    return parse_at_top(p) ? read_selector(p, all, &iter) : parse_condition(p, all, value);
}

/* parse_branches -- an AND, OR or NOT OR of the operand's elements. */
tansu_status parse_branches(parser *p, node *parent, const char *name, const doc_value *operand) {
    doc_iter iter;
    if (operand->type != DOC_ARRAY || !doc_iter_value(&iter, operand))
        return parse_bad(p, name, "The operand must be an array of documents.");
    tansu_status status = TANSU_OK;
    if (strcmp(name, "$nor") == 0)
        status = parse_add_not(p, &parent);
    node *branches;
    if (status == TANSU_OK)
        status = parse_add(p, parent, strcmp(name, "$and") == 0 ? NODE_AND : NODE_OR, &branches);
    while (status == TANSU_OK && doc_iter_next(&iter))
        status = read_branch(p, branches, name, &iter.value);
    if (status == TANSU_OK && !branches->first)
        return parse_bad(p, name, "The array of conditions is empty.");
    return status;
}

/* read_logic -- an operator at the top of a selector. */
static tansu_status read_logic(parser *p, node *parent, const char *name,
                               const doc_value *operand) {
    static const char *const foreseen[] = {"$do", "$upsert", "$dropall"};
    if (strcmp(name, "$and") == 0 || strcmp(name, "$or") == 0 || strcmp(name, "$nor") == 0)
        return parse_branches(p, parent, name, operand);
    if (strcmp(name, "$not") == 0) {
        doc_iter iter;
        if (operand->type != DOC_DOCUMENT || !doc_iter_value(&iter, operand))
            return parse_bad(p, name, "The operand must be a document.");
        node *all;
        tansu_status status = parse_add_not(p, &parent);
        if (status == TANSU_OK)
            status = parse_add(p, parent, NODE_AND, &all);
        return status == TANSU_OK ? read_selector(p, all, &iter) : status;
    }
    for (size_t i = 0; i < sizeof foreseen / sizeof *foreseen; i++) {
        if (strcmp(name, foreseen[i]) == 0)
            return parse_bad(p, name,
                             "It stands beside the whole query only, where it has a meaning.");
    }
    return parse_bad(p, name, "There is no such operator at the top of a query.");
}

/* read_selector -- the keys of a whole selector, joined by AND (rule 1). */
static tansu_status read_selector(parser *p, node *parent, doc_iter *iter) {
    tansu_status status = TANSU_OK;
    while (status == TANSU_OK && doc_iter_next(iter))
        status = iter->key[0] == '$' ? read_logic(p, parent, iter->key, &iter->value)
                                     : read_field(p, parent, iter);
    return status;
}

/* ---- Conditions inside ---- */

/* asks_value -- whether a condition is of operators on the value itself, and not of fields; $and and
 * its like are what their first branch is. */
static bool asks_value(const doc_value *condition) {
    doc_iter iter;
    if (condition->type == DOC_ARRAY)
        return doc_iter_value(&iter, condition) && doc_iter_next(&iter) && asks_value(&iter.value);
    if (condition->type != DOC_DOCUMENT)
        return true;
    if (!doc_iter_value(&iter, condition) || !doc_iter_next(&iter) || iter.key[0] != '$')
        return false;
    bool logic = strcmp(iter.key, "$and") == 0 || strcmp(iter.key, "$or") == 0 ||
                 strcmp(iter.key, "$nor") == 0 || strcmp(iter.key, "$not") == 0;
    return !logic || asks_value(&iter.value);
}

/* read_inner -- a condition with a root of its own. */
static tansu_status read_inner(parser *p, const doc_value *operand, subcondition *s) {
    doc_iter iter;
    node *root = new_node(p, NODE_AND);
    if (!root)
        return error_memory(p->error);
    p->self = asks_value(operand);
    tansu_status status = TANSU_OK;
    if (p->self)
        status = parse_condition(p, root, operand);
    else if (doc_iter_value(&iter, operand))
        status = read_selector(p, root, &iter);
    if (status != TANSU_OK)
        return status;
    root = normalise(root);
    if (p->self)
        s->value = gather_values(&p->q->memory, root);
    else
        s->matcher = matcher_compile(&p->q->memory, root);
    return s->value || s->matcher ? TANSU_OK : error_memory(p->error);
}

/* parse_inner -- see parse.h. */
tansu_status parse_inner(parser *p, const char *name, const doc_value *operand,
                         const subcondition **result) {
    subcondition *s = arena_alloc(&p->q->memory, sizeof *s);
    if (!s)
        return error_memory(p->error);
    const char *place = parse_place(p, name);
    parser outer = *p;
    p->prefix = p->path = (tansu_buffer){0};
    p->present = NULL;
    p->wild = WILD_NONE;
    p->regex_options = NULL;
    tansu_status status = buffer_append(&p->prefix, place, strlen(place))
                              ? read_inner(p, operand, s)
                              : error_memory(p->error);
    tansu_buffer_free(&p->prefix);
    tansu_buffer_free(&p->path);
    p->prefix = outer.prefix;
    p->path = outer.path;
    p->present = outer.present;
    p->wild = outer.wild;
    p->self = outer.self;
    p->regex_options = outer.regex_options;
    *result = s;
    return status;
}

/* parser_free -- its buffers. */
static void parser_free(parser *p) {
    tansu_buffer_free(&p->prefix);
    tansu_buffer_free(&p->path);
    tansu_buffer_free(&p->context);
    tansu_buffer_free(&p->scratch);
}

/* subcondition_parse -- see internal.h. */
tansu_status subcondition_parse(query *q, const doc_value *operand, const char *place,
                                subcondition **result, tansu_error *error) {
    parser p = {.q = q, .error = error, .collation = q->collation};
    const subcondition *read = NULL;
    tansu_status status = parse_inner(&p, place, operand, &read);
    parser_free(&p);
    *result = (subcondition *)read;
    return status;
}

/* selector_parse -- reads the whole selector. */
tansu_status selector_parse(query *q, const uint8_t *doc, size_t size, tansu_error *error) {
    parser p = {.q = q, .error = error, .collation = q->collation};
    doc_iter iter;
    tansu_status status = TANSU_OK;
    q->root = new_node(&p, NODE_AND);
    if (!q->root)
        status = error_memory(error);
    else if (doc_iter_init(&iter, doc, size))
        status = read_selector(&p, q->root, &iter);
    parser_free(&p);
    return status;
}
