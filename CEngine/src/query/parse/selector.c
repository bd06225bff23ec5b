/*
 * query/parse/selector.c -- from a selector document to nodes (rules 1, 2, 3 and 9 of
 * docs/query-language.md).
 *
 * The depth that doc_check() allows bounds the recursion.
 */
#include "query/parse/selector.h"

#include "bson/number.h"
#include "bson/writer.h"
#include "query/match/match_value.h"
#include "query/match/merged_test.h"
#include "query/parse/parsed_query.h"
#include "query/parse/selector_parser.h"
#include "query/schema/schema.h"
#include "util/error.h"

#include <stdio.h>
#include <stdlib.h>

#define MAX_CONTEXT sizeof((tansu_error *)0)->context /* bytes */
#define PARSE_STEPS 1024                              /* nodes between two deadline checks */

/* ---- Errors ---- */

/* where_add -- appends a part to the text of a place; beyond MAX_CONTEXT nothing is shown. */
static bool where_add(tansu_buffer *where, const char *name, size_t size) {
    if (where->size >= MAX_CONTEXT)
        return true;
    return (where->size == 0 || buffer_append_byte(where, '.')) &&
           buffer_append(where, name, size < MAX_CONTEXT ? size : MAX_CONTEXT);
}

/* where_text -- appends the names of a place and of those around it, the outermost first. */
static bool where_text(tansu_buffer *where, const parse_place *place) {
    char text[24];
    if (!place)
        return true;
    return where_text(where, place->outer) && where_add(where, place->name, place->size) &&
           (place->number < 0 ||
            where_add(where, text,
                      (size_t)snprintf(text, sizeof text, "%lld", (long long)place->number)));
}

const char *parse_context(parser *p, const char *name) {
    tansu_buffer *out = &p->context, where = TANSU_BUFFER_INIT;
    bool fine = where_text(&where, p->where);
    const char *parts[] = {(const char *)p->prefix.data, (const char *)where.data, name};
    size_t sizes[] = {p->prefix.size, where.size, strlen(name)};
    out->size = 0;
    for (int i = 0; i < 3; i++) {
        /* Cut here, since a long path may have many tests. */
        size_t left = out->size < MAX_CONTEXT ? MAX_CONTEXT - out->size : 0;
        if (sizes[i] == 0 || left == 0)
            continue;
        fine = fine && (out->size == 0 || buffer_append_byte(out, '.')) &&
               buffer_append(out, parts[i], sizes[i] < left ? sizes[i] : left);
    }
    fine = fine && buffer_append_byte(out, 0);
    tansu_buffer_free(&where);
    return fine ? (const char *)out->data : name;
}

void parse_enter(parser *p, const char *name, int64_t number, parse_place *place) {
    *place = (parse_place){name, strlen(name), number, p->where};
    p->where = place;
}

void parse_leave(parser *p, const parse_place *place) {
    p->where = place->outer;
}

tansu_status parse_bad(parser *p, const char *name, const char *message) {
    return error_set(p->error, TANSU_E_INVALID_QUERY, parse_context(p, name), "%s", message);
}

/* at_top -- whether the parser is at the top level of a selector, where fields and $and, $or are
 * expected. */
static bool at_top(const parser *p) {
    return p->depth == 0 && !p->self;
}

/* at_document -- the same, and it is the selector of the document, not of an $elemMatch. */
static bool at_document(const parser *p) {
    return at_top(p) && p->prefix.size == 0;
}

/* ---- Creating nodes ---- */

/* new_node -- NULL when memory is exhausted. */
static node *new_node(parser *p, enum node_kind kind) {
    node *n = arena_alloc(&p->q->memory, sizeof *n);
    if (n)
        n->kind = kind;
    return n;
}

tansu_status parse_add(parser *p, node *parent, enum node_kind kind, node **result) {
    *result = new_node(p, kind);
    if (!*result)
        return error_memory(p->error);
    node_append(parent, *result);
    return ++p->q->nodes % PARSE_STEPS == 0 ? deadline_check(&p->q->deadline, p->error) : TANSU_OK;
}

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
    if (!p->current && p->wild != WILD_NONE)
        status = query_wild_path(p->q, p->path.data, p->path.size, "", &p->current, p->error);
    else if (!p->current)
        status = query_path_keys(p->q, p->path.data, p->path.size, "", &p->current, p->error);
    /* Few paths are refused, and the context is long. */
    if (status == TANSU_E_INVALID_QUERY && p->error)
        snprintf(p->error->context, sizeof p->error->context, "%s", parse_context(p, name));
    n->test->path = p->current;
    return status;
}

tansu_status parse_add_not(parser *p, node **parent) {
    return parse_add(p, *parent, NODE_NOT, parent);
}

/* ---- Conditions and selectors ---- */

/* path_push -- appends a key, which is path text itself (rule 2), to the current path. False when
 * memory is exhausted. */
static bool path_push(parser *p, const doc_iter *iter) {
    p->current = NULL;
    if (p->depth++ == 0) {
        p->path = (path_text){iter->key, iter->key_size};
        return true;
    }
    p->joined.size = p->depth == 2 ? 0 : p->path.size;
    if ((p->depth == 2 && !buffer_append(&p->joined, p->path.data, p->path.size)) ||
        !buffer_append_byte(&p->joined, '.') ||
        !buffer_append(&p->joined, iter->key, iter->key_size))
        return false;
    p->path = (path_text){(const char *)p->joined.data, p->joined.size};
    return true;
}

/* path_pop -- back to the path before; its text may have moved. */
static void path_pop(parser *p, path_text before) {
    p->path = before;
    if (--p->depth > 1)
        p->path.data = (const char *)p->joined.data;
}

/* wild_of -- whether a path is "*", "**" or begins with "**.". */
static enum wild wild_of(const parser *p, const char *key) {
    if (p->depth != 0)
        return WILD_NONE;
    if (strncmp(key, "**.", 3) == 0)
        return WILD_NAMED;
    return strcmp(key, "*") == 0 ? WILD_FIELDS : strcmp(key, "**") == 0 ? WILD_ANYWHERE : WILD_NONE;
}

/* read_field -- the condition of a key that is a path. */
static tansu_status read_field(parser *p, node *parent, const doc_iter *iter) {
    if (p->self)
        return parse_bad(
            p, iter->key,
            "Condition mixes operators on the value itself with fields; use one of the two");
    if (p->wild != WILD_NONE)
        return parse_bad(p, iter->key,
                         "Wildcard paths take no sub-query; use \"$eq\" for a whole document, or "
                         "\"$elemMatch\"");
    path_text before = p->path;
    parse_place place = {iter->key, iter->key_size, -1, p->where};
    p->wild = wild_of(p, iter->key);
    p->where = &place;
    tansu_status status =
        path_push(p, iter) ? parse_condition(p, parent, &iter->value) : error_memory(p->error);
    path_pop(p, before);
    parse_leave(p, &place);
    p->current = NULL;
    p->wild = WILD_NONE;
    return status;
}

/* read_operators -- the operators on the current path; $options belongs to $regex. */
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
                               "Document mixes operators and fields; nest the fields under their "
                               "own key, or use \"$and\"");
        else
            status = parse_operator(p, parent, iter.key, &iter.value);
    }
    p->regex_options = outer;
    return status;
}

/* has_operators -- whether a document has operators at any depth. The depth that doc_check() allows
 * bounds the recursion. */
static bool has_operators(const doc_value *value) {
    doc_iter iter;
    if (value->type != DOC_DOCUMENT || !doc_iter_value(&iter, value))
        return false;
    while (doc_iter_next(&iter)) {
        if ((iter.key[0] == '$' && strcmp(iter.key, "$ref") != 0 && strcmp(iter.key, "$id") != 0 &&
             strcmp(iter.key, "$db") != 0) ||
            has_operators(&iter.value))
            return true;
    }
    return false;
}

/* parse_condition -- operators, a sub-query (rule 3) or a value. */
tansu_status parse_condition(parser *p, node *parent, const doc_value *value) {
    if (value->type == DOC_REGEX)
        return parse_regex_value(p, parent, "", value);
    doc_iter iter;
    if (value->type != DOC_DOCUMENT || !doc_iter_value(&iter, value) || !doc_iter_next(&iter))
        return parse_eq(p, parent, "", value); /* also {}, which has no conditions */
    if (p->q->exact_documents && !has_operators(value))
        return parse_eq(p, parent, "", value);
    if (iter.key[0] == '$')
        return read_operators(p, parent, value);
    tansu_status status = TANSU_OK;
    do {
        if (iter.key[0] == '$')
            return parse_bad(p, iter.key,
                             "Document mixes operators and fields; nest the fields under their own "
                             "key, or use \"$and\"");
        status = read_field(p, parent, &iter);
    } while (status == TANSU_OK && doc_iter_next(&iter));
    return status;
}

static tansu_status read_selector(parser *p, node *parent, doc_iter *iter);

/* read_branch -- an element of $and, $or, $nor: at the top level a selector, else a condition. */
static tansu_status read_branch(parser *p, node *parent, const char *name, int64_t number,
                                const doc_value *value) {
    doc_iter iter;
    if (value->type != DOC_DOCUMENT || !doc_iter_value(&iter, value))
        return parse_bad(p, name, "Operand must be an array of documents");
    node *all;
    parse_place place;
    tansu_status status = parse_add(p, parent, NODE_AND, &all);
    if (status != TANSU_OK)
        return status;
    parse_enter(p, name, number, &place);
    if (at_top(p))
        status = read_selector(p, all, &iter);
    else
        status = parse_condition(p, all, value);
    parse_leave(p, &place);
    return status;
}

tansu_status parse_branches(parser *p, node *parent, const char *name, const doc_value *operand) {
    doc_iter iter;
    if (operand->type != DOC_ARRAY || !doc_iter_value(&iter, operand))
        return parse_bad(p, name, "Operand must be an array of documents");
    tansu_status status = TANSU_OK;
    if (strcmp(name, "$nor") == 0)
        status = parse_add_not(p, &parent);
    node *branches;
    if (status == TANSU_OK)
        status = parse_add(p, parent, strcmp(name, "$and") == 0 ? NODE_AND : NODE_OR, &branches);
    for (int64_t i = 0; status == TANSU_OK && doc_iter_next(&iter); i++)
        status = read_branch(p, branches, name, i, &iter.value);
    if (status == TANSU_OK && !branches->first)
        return parse_bad(p, name, "Array of conditions is empty; give at least one");
    return status;
}

/* add_comparison -- a test that an expression implies, of a path and a constant, for the planner.
 * Paths that mean something else in a query have none. */
static tansu_status add_comparison(parser *p, node *parent, enum test_op op, const char *path,
                                   const doc_value *constant) {
    const doc_iter field = {.key = path, .key_size = (uint32_t)strlen(path)};
    path_text before = p->path;
    bool number = path[0] >= '0' && path[0] <= '9';
    for (const char *at = path; *at != '\0' && !number; at++)
        number = at[0] == '\\' || at[0] == '*' || (at[0] == '.' && at[1] >= '0' && at[1] <= '9');
    if (number)
        return TANSU_OK;
    if (!path_push(p, &field))
        return error_memory(p->error);
    tansu_status status =
        op == TEST_EQ ? parse_eq(p, parent, "", constant) : parse_order(p, parent, op, constant);
    path_pop(p, before);
    return status;
}

/* add_document_test -- a test of the whole document. */
static tansu_status add_document_test(parser *p, node *parent, const char *name, test **result) {
    bool self = p->self;
    p->self = true; /* it has no path */
    p->wild = WILD_DOCUMENT;
    tansu_status status = parse_add_test(p, parent, TEST_DOCUMENT, name, result);
    p->wild = WILD_NONE;
    p->self = self;
    return status;
}

/* read_expression -- $expr, and the comparisons that it implies. `name`: the operator that stands
 * for it. */
static tansu_status read_expression(parser *p, node *parent, const char *name,
                                    const doc_value *operand) {
    query *q = p->q;
    expression_compiler c;
    const expression_test *compiled = NULL;
    enum test_op op;
    const char *path;
    doc_value constant;
    node *all;
    test *t;
    if (!at_document(p))
        return parse_bad(p, name, "Operator is allowed only at the top level of a query");
    tansu_status status =
        expression_compiler_init(&c, &q->memory, &q->regexes, p->collation, &q->deadline, p->error);
    if (status == TANSU_OK) {
        expression_scope(&c, q->scope);
        c.score = q->scope ? q->scope->score : SCORE_NOWHERE;
        status = expression_test_new(&c, operand, &compiled);
        if (q->scope)
            q->scope->reads_score = q->scope->reads_score || c.reads_score;
        if (q->scope && c.lowest_slot < q->scope->lowest_slot)
            q->scope->lowest_slot = c.lowest_slot;
    }
    expression_compiler_free(&c);
    if (status == TANSU_E_INVALID_QUERY)
        error_prefix(p->error, parse_context(p, name));
    if (status == TANSU_OK)
        status = parse_add(p, parent, NODE_AND, &all);
    if (status == TANSU_OK)
        status = add_document_test(p, all, name, &t);
    if (status != TANSU_OK)
        return status;
    t->document = &compiled->test;
    for (uint32_t i = 0; status == TANSU_OK &&
                         expression_comparison(compiled->expression, i, &op, &path, &constant);
         i++)
        status = path ? add_comparison(p, all, op, path, &constant) : TANSU_OK;
    return status;
}

/* read_sample_rate -- $sampleRate: {"$expr": {"$lt": [{"$rand": {}}, rate]}}. */
static tansu_status read_sample_rate(parser *p, node *parent, const doc_value *operand) {
    static const uint8_t ends[] = {0, 0, 0, 0, 1, 0, 0, 0};
    const doc_value least = {ends, 4, DOC_INT32}, greatest = {ends + 4, 4, DOC_INT32};
    if (!doc_is_number(operand) || number_compare(operand, &least) < 0 ||
        number_compare(operand, &greatest) > 0)
        return parse_bad(p, "$sampleRate", "Operand must be a number from 0 to 1");
    tansu_buffer bson = TANSU_BUFFER_INIT;
    writer w = {.out = &bson};
    size_t start = writer_begin(&w), list = writer_open(&w, "$lt", DOC_ARRAY);
    size_t random = writer_open(&w, "0", DOC_DOCUMENT);
    writer_end(&w, writer_open(&w, "$rand", DOC_DOCUMENT));
    writer_end(&w, random);
    writer_index_value(&w, 1, operand);
    writer_end(&w, list);
    writer_end(&w, start);
    const doc_value expression = {bson.data, (uint32_t)bson.size, DOC_DOCUMENT};
    tansu_status status =
        w.failed ? error_memory(p->error) : read_expression(p, parent, "$sampleRate", &expression);
    tansu_buffer_free(&bson);
    return status;
}

/* read_schema -- $jsonSchema. */
static tansu_status read_schema(parser *p, node *parent, const doc_value *operand) {
    query *q = p->q;
    const document_test *compiled = NULL;
    test *t;
    if (!at_document(p))
        return parse_bad(p, "$jsonSchema", "Operator is allowed only at the top level of a query");
    if (operand->type != DOC_DOCUMENT)
        return parse_bad(p, "$jsonSchema", "Operand must be a schema, a document");
    tansu_status status =
        schema_test_new(&q->memory, &q->regexes, operand, &q->deadline, &compiled, p->error);
    if (status == TANSU_E_INVALID_QUERY)
        error_prefix(p->error, parse_context(p, "$jsonSchema"));
    if (status == TANSU_OK)
        status = add_document_test(p, parent, "$jsonSchema", &t);
    if (status == TANSU_OK)
        t->document = compiled;
    return status;
}

/* in_conjunction -- whether the parser is at the top level of the query, or in a $and there. */
static bool in_conjunction(const parser *p) {
    bool all = at_document(p);
    for (const parse_place *place = p->where; all && place; place = place->outer)
        all = strcmp(place->name, "$and") == 0;
    return all;
}

/* read_text -- $text, which becomes no test: an index of words finds what has it. */
static tansu_status read_text(parser *p, const doc_value *operand) {
    query *q = p->q;
    if (!q->takes_text || !in_conjunction(p))
        return parse_bad(p, "$text", PARSE_NO_TEXT);
    if (q->text)
        return parse_bad(
            p, "$text", "Query has \"$text\" twice; one search can have several words and phrases");
    if (operand->type != DOC_DOCUMENT)
        return parse_bad(p, "$text", "Operand must be a document, {\"$search\": …}");
    text_condition *text = NULL;
    tansu_status status =
        text_query_parse(operand->data, operand->size, &q->memory, &text, p->error);
    if (status == TANSU_E_INVALID_QUERY)
        error_prefix(p->error, parse_context(p, "$text"));
    q->text = text;
    return status;
}

/* read_logic -- an operator at the top level of a selector. */
static tansu_status read_logic(parser *p, node *parent, const char *name,
                               const doc_value *operand) {
    static const char *const options[] = {"$do", "$upsert", "$dropall"};
    if (strcmp(name, "$and") == 0 || strcmp(name, "$or") == 0 || strcmp(name, "$nor") == 0)
        return parse_branches(p, parent, name, operand);
    if (strcmp(name, "$not") == 0) {
        doc_iter iter;
        if (operand->type != DOC_DOCUMENT || !doc_iter_value(&iter, operand))
            return parse_bad(p, name, "Operand must be a document");
        node *all;
        parse_place place;
        tansu_status status = parse_add_not(p, &parent);
        if (status == TANSU_OK)
            status = parse_add(p, parent, NODE_AND, &all);
        if (status != TANSU_OK)
            return status;
        parse_enter(p, name, -1, &place);
        status = read_selector(p, all, &iter);
        parse_leave(p, &place);
        return status;
    }
    if (strcmp(name, "$expr") == 0)
        return read_expression(p, parent, name, operand);
    if (strcmp(name, "$sampleRate") == 0)
        return read_sample_rate(p, parent, operand);
    if (strcmp(name, "$jsonSchema") == 0)
        return read_schema(p, parent, operand);
    if (strcmp(name, "$text") == 0)
        return read_text(p, operand);
    /* For those who read the query. */
    if (strcmp(name, "$comment") == 0)
        return TANSU_OK;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (strcmp(name, options[i]) == 0)
            return parse_bad(
                p, name,
                "Operator is allowed only at the top level of a whole query; move it there");
    }
    return parse_bad(
        p, name,
        "Unknown operator at the top level of a query; docs/query-language.md lists all operators");
}

/* read_selector -- the keys of a whole selector, joined by AND (rule 1). */
static tansu_status read_selector(parser *p, node *parent, doc_iter *iter) {
    tansu_status status = TANSU_OK;
    while (status == TANSU_OK && doc_iter_next(iter))
        status = iter->key[0] == '$' ? read_logic(p, parent, iter->key, &iter->value)
                                     : read_field(p, parent, iter);
    return status;
}

/* ---- Conditions on elements and keys ---- */

bool condition_is_on_value(const doc_value *condition) {
    doc_iter iter;
    if (condition->type == DOC_ARRAY)
        return doc_iter_value(&iter, condition) && doc_iter_next(&iter) &&
               condition_is_on_value(&iter.value);
    if (condition->type != DOC_DOCUMENT)
        return true;
    if (!doc_iter_value(&iter, condition) || !doc_iter_next(&iter) || iter.key[0] != '$')
        return false;
    bool logic = strcmp(iter.key, "$and") == 0 || strcmp(iter.key, "$or") == 0 ||
                 strcmp(iter.key, "$nor") == 0 || strcmp(iter.key, "$not") == 0;
    return !logic || condition_is_on_value(&iter.value);
}

/* read_inner -- a condition with its own root. */
static tansu_status read_inner(parser *p, const doc_value *operand, subcondition *s) {
    doc_iter iter;
    node *root = new_node(p, NODE_AND);
    if (!root)
        return error_memory(p->error);
    p->self = condition_is_on_value(operand);
    tansu_status status = TANSU_OK;
    if (p->self)
        status = parse_condition(p, root, operand);
    else if (doc_iter_value(&iter, operand))
        status = read_selector(p, root, &iter);
    if (status != TANSU_OK)
        return status;
    root = normalise(root);
    if (p->self)
        s->value = merge_value_tests(&p->q->memory, root);
    else
        s->matcher = matcher_compile(&p->q->memory, s->fields = root);
    return s->value || s->matcher ? TANSU_OK : error_memory(p->error);
}

tansu_status parse_inner(parser *p, const char *name, const doc_value *operand,
                         const subcondition **result) {
    subcondition *s = arena_alloc(&p->q->memory, sizeof *s);
    if (!s)
        return error_memory(p->error);
    const char *context = parse_context(p, name);
    parser outer = *p;
    p->prefix = p->joined = (tansu_buffer){0};
    p->path = (path_text){0};
    p->where = NULL;
    p->current = NULL;
    p->depth = 0;
    p->wild = WILD_NONE;
    p->regex_options = NULL;
    tansu_status status = buffer_append(&p->prefix, context, strlen(context))
                              ? read_inner(p, operand, s)
                              : error_memory(p->error);
    tansu_buffer_free(&p->prefix);
    tansu_buffer_free(&p->joined);
    p->prefix = outer.prefix;
    p->path = outer.path;
    p->joined = outer.joined;
    p->depth = outer.depth;
    p->where = outer.where;
    p->current = outer.current;
    p->wild = outer.wild;
    p->self = outer.self;
    p->regex_options = outer.regex_options;
    *result = s;
    return status;
}

/* parser_free -- frees its buffers. */
static void parser_free(parser *p) {
    buffer_free(&p->prefix);
    buffer_free(&p->joined);
    buffer_free(&p->context);
    buffer_free(&p->scratch);
}

tansu_status subcondition_parse(query *q, const doc_value *operand, const char *context,
                                subcondition **result, tansu_error *error) {
    parser p = {.q = q, .error = error, .collation = q->collation};
    const subcondition *read = NULL;
    tansu_status status = parse_inner(&p, context, operand, &read);
    parser_free(&p);
    *result = (subcondition *)read;
    return status;
}

tansu_status selector_parse(query *q, const uint8_t *doc, size_t size, tansu_error *error) {
    parser p = {.q = q, .error = error, .collation = q->collation};
    doc_iter iter;
    tansu_status status = TANSU_OK;
    q->text = NULL;
    q->root = new_node(&p, NODE_AND);
    if (!q->root)
        status = error_memory(error);
    else if (doc_iter_init(&iter, doc, size))
        status = read_selector(&p, q->root, &iter);
    parser_free(&p);
    return status;
}

/* ---- Conditions on one value, outside a query ---- */

/* The query has no selector: it only owns what the condition is made of. */
struct condition {
    query query;
    subcondition *inner;
};

tansu_status condition_compile(const doc_value *operand, const char *context,
                               const collation *collation, condition **result, tansu_error *error) {
    condition *c = calloc(1, sizeof *c);
    if (!c)
        return error_memory(error);
    c->query.collation = collation;
    c->query.memory.limit = QUERY_MEMORY;
    c->query.exact_documents = true;
    doc_value copy = *operand;
    copy.data = arena_copy(&c->query.memory, operand->data, operand->size);
    tansu_status status = copy.data
                              ? subcondition_parse(&c->query, &copy, context, &c->inner, error)
                              : error_memory(error);
    status = query_too_large(&c->query.memory, status, error);
    if (status != TANSU_OK) {
        condition_free(c);
        return status;
    }
    *result = c;
    return TANSU_OK;
}

void condition_free(condition *c) {
    if (!c)
        return;
    query_free_members(&c->query);
    free(c);
}

bool condition_holds(const condition *c, match_context *context, const doc_value *value) {
    return subcondition_pulls(c->inner, context, value);
}

/* ---- The paths of a query, which live as long as it does ---- */

/* check_parts -- rejects parts that begin with `$`, but for the keys of a DBRef: of a path that is no
 * condition, other such parts are hardly meant as keys. */
static tansu_status check_parts(const path *path, const char *context, tansu_error *error) {
    for (uint32_t i = 0; i < path->count; i++) {
        const char *name = path->parts[i].name;
        if (name[0] == '$' && (i == 0 || (strcmp(name, "$ref") != 0 && strcmp(name, "$id") != 0 &&
                                          strcmp(name, "$db") != 0)))
            return error_set(error, TANSU_E_INVALID_QUERY, context,
                             "Path has the part \"%.64s\"; use the name of a field, or the "
                             "expression $getField for a key that begins with $",
                             name);
    }
    return TANSU_OK;
}

/* What a path may be. */
enum path_use { USE_PLAIN, USE_KEYS, USE_WILD };

/* add_path -- query_path(), query_path_keys() and query_wild_path(). */
static tansu_status add_path(query *q, const char *text, size_t size, enum path_use use,
                             const char *context, const path **result, tansu_error *error) {
    path_link *link = arena_alloc(&q->memory, sizeof *link);
    if (!link)
        return error_memory(error);
    bool named = use == USE_WILD && size > 2 && memcmp(text, "**.", 3) == 0;
    if (path_has_wildcard(text + (named ? 3 : 0), size - (named ? 3 : 0)) &&
        (use != USE_WILD || named))
        return error_set(
            error, TANSU_E_INVALID_QUERY, context,
            "Path has a part of asterisks only; \"*\", \"**\" and \"**.name\" are whole "
            "paths of a condition, and a key of that name is written with a "
            "backslash, \\*");
    tansu_status status = use == USE_KEYS
                              ? path_parse_keys(&link->path, &q->memory, text, size, error)
                              : path_parse(&link->path, &q->memory, text, size, error);
    if (status == TANSU_E_INVALID_QUERY && error != NULL)
        snprintf(error->context, sizeof error->context, "%s", context);
    if (status != TANSU_OK)
        return status;
    link->next = q->paths;
    q->paths = link;
    *result = &link->path;
    if (named && link->path.count != 2)
        return error_set(error, TANSU_E_INVALID_QUERY, context,
                         "Path has several keys after \"**\"; give one, the name of a field at any "
                         "depth");
    return use == USE_PLAIN ? check_parts(&link->path, context, error) : TANSU_OK;
}

tansu_status query_path(query *q, const char *text, size_t size, const char *context,
                        const path **result, tansu_error *error) {
    return add_path(q, text, size, USE_PLAIN, context, result, error);
}

tansu_status query_path_keys(query *q, const char *text, size_t size, const char *context,
                             const path **result, tansu_error *error) {
    return add_path(q, text, size, USE_KEYS, context, result, error);
}

tansu_status query_wild_path(query *q, const char *text, size_t size, const char *context,
                             const path **result, tansu_error *error) {
    return add_path(q, text, size, USE_WILD, context, result, error);
}
