/*
 * query/schema/schema_parse.c -- compiles schemas. But for 2020-12, whatever is unknown is an
 * error.
 */
#include "query/schema/schema_parser.h"
#include "util/buffer.h"

#include <stdarg.h>
#include <stdio.h>

#define DRAFT_2020 "https://json-schema.org/draft/2020-12/schema"
#define PARSE_STEPS 1024 /* schemas between two checks of the deadline */

/* ---- Errors and paths ---- */

bool schema_end_path(schema_parser *p) {
    bool ended = buffer_append_byte(&p->path, 0);
    p->path.size -= ended;
    return ended;
}

tansu_status schema_fault(schema_parser *p, const char *format, ...) {
    char message[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (!schema_end_path(p))
        return error_memory(p->error);
    return error_set(p->error, TANSU_E_INVALID_QUERY, (const char *)p->path.data,
                     "The schema is invalid: %s", message);
}

bool schema_enter(schema_parser *p, const char *part) {
    return (p->path.size == 0 || buffer_append_byte(&p->path, '.')) &&
           buffer_append(&p->path, part, strlen(part));
}

bool schema_is(const schema_parser *p, const doc_value *value) {
    return value->type == DOC_DOCUMENT || (value->type == DOC_BOOL && p->dialect != DIALECT_MONGO);
}

tansu_status schema_node_at(schema_parser *p, const char *part, const char *keyword,
                            const doc_value *value, schema_node **result) {
    size_t before = p->path.size;
    if (!schema_enter(p, part))
        return error_memory(p->error);
    tansu_status status = schema_node_parse(p, keyword, value, result);
    p->path.size = before;
    return status;
}

/* ---- Keywords ---- */

/* Keywords that have no rule, by what their operand must be. */
enum {
    PLAIN_ANY = -1,
    PLAIN_TEXT = -2,
    PLAIN_FLAG = -3,
    PLAIN_LIST = -4,
    PLAIN_SCHEMA = -5,
    PLAIN_SCHEMAS = -6,
    PLAIN_ANCHOR = -7
};

enum { IN_MONGO = 1, IN_2020 = 2, IN_BOTH = 3 };

/* All keywords, and the dialects that take them. */
static const struct {
    const char *name;
    int kind;
    int where;
} keywords[] = {
    {"title", PLAIN_TEXT, IN_BOTH},
    {"description", PLAIN_TEXT, IN_BOTH},
    {"type", RULE_TYPES, IN_BOTH},
    {"bsonType", RULE_TYPES, IN_BOTH},
    {"enum", RULE_ENUM, IN_BOTH},
    {"const", RULE_ENUM, IN_BOTH},
    {"required", RULE_REQUIRED, IN_BOTH},
    {"properties", RULE_PROPERTIES, IN_BOTH},
    {"patternProperties", RULE_PROPERTIES, IN_BOTH},
    {"additionalProperties", RULE_PROPERTIES, IN_BOTH},
    {"propertyNames", RULE_NAMES, IN_BOTH},
    {"dependencies", RULE_DEPENDENT, IN_BOTH},
    {"dependentRequired", RULE_DEPENDENT, IN_BOTH},
    {"dependentSchemas", RULE_DEPENDENT, IN_BOTH},
    {"unevaluatedProperties", RULE_OTHER_FIELDS, IN_BOTH},
    {"minProperties", RULE_SIZE, IN_BOTH},
    {"maxProperties", RULE_SIZE, IN_BOTH},
    {"minLength", RULE_SIZE, IN_BOTH},
    {"maxLength", RULE_SIZE, IN_BOTH},
    {"minItems", RULE_SIZE, IN_BOTH},
    {"maxItems", RULE_SIZE, IN_BOTH},
    {"minimum", RULE_NUMBER, IN_BOTH},
    {"maximum", RULE_NUMBER, IN_BOTH},
    {"exclusiveMinimum", RULE_NUMBER, IN_BOTH},
    {"exclusiveMaximum", RULE_NUMBER, IN_BOTH},
    {"multipleOf", RULE_MULTIPLE, IN_BOTH},
    {"pattern", RULE_PATTERN, IN_BOTH},
    {"items", RULE_ITEMS, IN_BOTH},
    {"prefixItems", RULE_ITEMS, IN_BOTH},
    {"additionalItems", RULE_ITEMS, IN_MONGO},
    {"contains", RULE_CONTAINS, IN_BOTH},
    {"minContains", RULE_CONTAINS, IN_BOTH},
    {"maxContains", RULE_CONTAINS, IN_BOTH},
    {"uniqueItems", RULE_UNIQUE, IN_BOTH},
    {"unevaluatedItems", RULE_OTHER_ITEMS, IN_BOTH},
    {"allOf", RULE_ALL, IN_BOTH},
    {"anyOf", RULE_ANY, IN_BOTH},
    {"oneOf", RULE_ONE, IN_BOTH},
    {"not", RULE_NOT, IN_BOTH},
    {"if", RULE_IF, IN_BOTH},
    {"then", PLAIN_SCHEMA, IN_BOTH},
    {"else", PLAIN_SCHEMA, IN_BOTH},
    {"$ref", RULE_DYNAMIC, IN_2020},
    {"$dynamicRef", RULE_DYNAMIC, IN_BOTH},
    {"$defs", PLAIN_SCHEMAS, IN_BOTH},
    {"definitions", PLAIN_SCHEMAS, IN_2020},
    {"$anchor", PLAIN_ANCHOR, IN_BOTH},
    {"$dynamicAnchor", PLAIN_ANCHOR, IN_BOTH},
    {"$id", PLAIN_TEXT, IN_BOTH},
    {"$schema", PLAIN_TEXT, IN_2020},
    {"$vocabulary", PLAIN_ANY, IN_2020},
    {"$comment", PLAIN_TEXT, IN_BOTH},
    {"format", PLAIN_TEXT, IN_2020},
    {"default", PLAIN_ANY, IN_2020},
    {"examples", PLAIN_LIST, IN_BOTH},
    {"readOnly", PLAIN_FLAG, IN_BOTH},
    {"writeOnly", PLAIN_FLAG, IN_BOTH},
    {"deprecated", PLAIN_FLAG, IN_BOTH},
    {"contentEncoding", PLAIN_TEXT, IN_BOTH},
    {"contentMediaType", PLAIN_TEXT, IN_BOTH},
    {"contentSchema", PLAIN_SCHEMA, IN_BOTH},
};
#define KEYWORDS (sizeof keywords / sizeof *keywords)

/* find_keyword -- its position; KEYWORDS for what is none. */
static size_t find_keyword(const char *name) {
    size_t i = 0;
    while (i < KEYWORDS && strcmp(keywords[i].name, name) != 0)
        i++;
    return i;
}

/* is_operator -- whether a key is one of a query. */
static bool is_operator(const char *key) {
    return key[0] == '$' && find_keyword(key) == KEYWORDS;
}

schema_or_query schema_tell(const doc_value *document, const char **keyword, const char **other) {
    bool rule = false, dialect = false, condition = false;
    doc_iter iter, inner;
    doc_value schema = *document;
    *keyword = *other = NULL;
    schema_unwrap(&schema);
    if (schema.data != document->data)
        return IS_SCHEMA;
    for (doc_iter_value(&iter, document); doc_iter_next(&iter);) {
        condition = condition || is_operator(iter.key) ||
                    (iter.value.type == DOC_DOCUMENT && doc_iter_value(&inner, &iter.value) &&
                     doc_iter_next(&inner) && is_operator(inner.key));
        size_t i = find_keyword(iter.key);
        const char **first = i < KEYWORDS ? keyword : other;
        if (*first == NULL)
            *first = iter.key;
        rule = rule || (i < KEYWORDS && keywords[i].kind >= 0);
        dialect = dialect || strcmp(iter.key, "$schema") == 0;
    }
    if (dialect || (!condition && rule && *other == NULL))
        return IS_SCHEMA;
    return condition || *keyword == NULL ? IS_QUERY : IS_EITHER;
}

/* plain_parse -- a keyword without a rule. */
static tansu_status plain_parse(schema_parser *p, const schema_keyword *k, int kind,
                                schema_node *n) {
    const doc_value *value = &k->at->value;
    const char *name = k->at->key;
    schema_node *unused;
    key_set names = {0};
    switch (kind) {
    case PLAIN_TEXT:
        return value->type == DOC_STRING ? TANSU_OK
                                         : schema_fault(p, "\"%s\" must be a string", name);
    case PLAIN_FLAG:
        return value->type == DOC_BOOL ? TANSU_OK
                                       : schema_fault(p, "\"%s\" must be true or false", name);
    case PLAIN_LIST:
        return value->type == DOC_ARRAY ? TANSU_OK : schema_fault(p, "\"%s\" must be a list", name);
    case PLAIN_SCHEMA:
        return schema_is(p, value) ? schema_node_parse(p, name, value, &unused)
                                   : schema_fault(p, "\"%s\" must be a schema", name);
    case PLAIN_SCHEMAS: return schema_named_nodes(p, name, value, &names);
    case PLAIN_ANCHOR: return schema_anchor_add(p, k, n);
    default: return TANSU_OK;
    }
}

/* unknown -- a keyword that the dialect does not take. */
static tansu_status unknown(schema_parser *p, const char *name, bool known) {
    if (p->dialect == DIALECT_2020)
        return TANSU_OK;
    return known ? schema_fault(p,
                                "the dialect of MongoDB has no \"%s\"; add \"$schema\": "
                                "\"" DRAFT_2020 "\" to the whole schema",
                                name)
                 : schema_fault(p, "the keyword \"%.64s\" is unknown", name);
}

/* rule_parse -- adds the rule of a keyword, if it has one, at *next or *last, which it moves. */
static tansu_status rule_parse(schema_parser *p, const schema_keyword *k, schema_node *n,
                               schema_rule ***next, schema_rule ***last) {
    size_t i = find_keyword(k->at->key);
    bool taken =
        i < KEYWORDS && (p->dialect == DIALECT_COMMON ||
                         keywords[i].where & (p->dialect == DIALECT_2020 ? IN_2020 : IN_MONGO));
    if (!taken)
        return unknown(p, k->at->key, i < KEYWORDS);
    if (doc_has_before(k->schema->data, k->schema->size, k->at))
        return schema_fault(p, "the keyword \"%s\" is given twice; remove one of them", k->at->key);
    if (keywords[i].kind < 0)
        return plain_parse(p, k, keywords[i].kind, n);
    schema_rule *r = arena_alloc(p->memory, sizeof *r);
    if (!r)
        return error_memory(p->error);
    bool none = false;
    r->kind = (enum rule_kind)keywords[i].kind;
    r->keyword = keywords[i].name;
    tansu_status status = schema_operand_parse(p, k, r, &none);
    if (status == TANSU_OK && !none) {
        bool late = r->kind == RULE_OTHER_FIELDS || r->kind == RULE_OTHER_ITEMS;
        schema_rule ***at = late ? last : next;
        **at = r;
        *at = &r->next;
    }
    return status;
}

/* ---- Schemas ---- */

/* false_parse -- the rule of the schema false. */
static tansu_status false_parse(schema_parser *p, const char *keyword, schema_node *n) {
    n->first = arena_alloc(p->memory, sizeof *n->first);
    if (!n->first)
        return error_memory(p->error);
    n->first->kind = RULE_NOTHING;
    n->first->keyword = keyword;
    return TANSU_OK;
}

/* keywords_parse -- the rules of a document. */
static tansu_status keywords_parse(schema_parser *p, const doc_value *value, schema_node *n) {
    doc_iter iter;
    size_t before = p->path.size;
    schema_rule **next = &n->first, **last = &n->last;
    for (doc_iter_value(&iter, value); doc_iter_next(&iter);) {
        tansu_status status = schema_enter(p, iter.key)
                                  ? rule_parse(p, &(schema_keyword){&iter, value}, n, &next, &last)
                                  : error_memory(p->error);
        if (status != TANSU_OK)
            return status;
        p->path.size = before;
    }
    return TANSU_OK;
}

/* node_item -- the place of a schema in the set of all; NULL when memory is exhausted. */
static schema_name *node_item(schema_parser *p, const doc_value *value) {
    uint32_t at = (uint32_t)(value->data - p->document);
    uint8_t bytes[4] = {(uint8_t)(at >> 24), (uint8_t)(at >> 16), (uint8_t)(at >> 8), (uint8_t)at};
    const uint8_t *key = arena_copy(p->memory, bytes, sizeof bytes);
    bool added;
    size_t used = 0;
    return key ? (schema_name *)key_set_add(&p->nodes, p->memory, key, sizeof bytes,
                                            sizeof(schema_name), &added, &used)
               : NULL;
}

/* BSON's depth bounds the recursion. */
tansu_status schema_node_parse(schema_parser *p, const char *keyword, const doc_value *value,
                               schema_node **result) {
    schema_resource *outer = p->resource;
    schema_name *item = node_item(p, value);
    if (item && item->node) {
        *result = item->node;
        return TANSU_OK;
    }
    schema_node *n = item ? arena_alloc(p->memory, sizeof *n) : NULL;
    if (!n)
        return error_memory(p->error);
    item->node = *result = n;
    tansu_status status =
        p->nodes.count % PARSE_STEPS == 0 ? deadline_check(p->deadline, p->error) : TANSU_OK;
    if (status == TANSU_OK && value->type == DOC_DOCUMENT)
        status = schema_resource_enter(p, value, n);
    n->resource = p->resource;
    if (status == TANSU_OK && value->type == DOC_DOCUMENT)
        status = keywords_parse(p, value, n);
    else if (status == TANSU_OK && !doc_bool(value))
        status = false_parse(p, keyword, n);
    p->resource = outer;
    return status;
}

/* ---- The whole ---- */

/* read_dialect -- what `$schema` of the whole schema says. */
static tansu_status read_dialect(schema_parser *p, const doc_value *value) {
    doc_value named;
    size_t size = 0;
    if (!doc_find(value->data, value->size, "$schema", 7, &named))
        return TANSU_OK;
    const char *text = named.type == DOC_STRING ? doc_string(&named, &size) : "";
    bool fragment = size != 0 && text[size - 1] == '#';
    if (size - fragment == strlen(DRAFT_2020) && memcmp(text, DRAFT_2020, size - fragment) == 0) {
        p->dialect = DIALECT_2020;
        return TANSU_OK;
    }
    return schema_enter(p, "$schema") ? schema_fault(p, "\"$schema\" must be \"" DRAFT_2020 "\"")
                                      : error_memory(p->error);
}

/* parse -- into a schema, with the memory that the parser has. */
static tansu_status parse(schema_parser *p, const uint8_t *doc, size_t size) {
    doc_value value = {arena_copy(p->memory, doc, size), (uint32_t)size, DOC_DOCUMENT};
    if (!value.data)
        return error_memory(p->error);
    p->document = value.data;
    p->last_reference = &p->references;
    tansu_status status = read_dialect(p, &value);
    if (status == TANSU_OK)
        status = schema_node_parse(p, "", &value, &p->schema->root);
    if (status == TANSU_OK)
        status = schema_references_resolve(p);
    buffer_free(&p->path);
    buffer_free(&p->key);
    buffer_free(&p->uri);
    if (status == TANSU_E_MEMORY && p->memory->full)
        return error_set(p->error, TANSU_E_TOO_LARGE, NULL,
                         "The schema takes more than %zu bytes of memory; simplify it",
                         p->memory->limit);
    return status;
}

void schema_unwrap(doc_value *value) {
    doc_iter iter;
    doc_iter_value(&iter, value);
    if (!doc_iter_next(&iter) || strcmp(iter.key, "$jsonSchema") != 0 ||
        iter.value.type != DOC_DOCUMENT || iter.next != iter.end)
        return;
    *value = iter.value;
}

tansu_status schema_compile(const uint8_t *doc, size_t size, schema **result, tansu_error *error) {
    const deadline none = {0};
    schema *s = calloc(1, sizeof *s);
    if (!s)
        return error_memory(error);
    s->own.limit = SCHEMA_MEMORY;
    s->keeps_id = true;
    schema_parser p = {.schema = s,
                       .memory = &s->own,
                       .regexes = &s->own_regexes,
                       .deadline = &none,
                       .error = error};
    tansu_status status = parse(&p, doc, size);
    if (status != TANSU_OK) {
        schema_free(s);
        return status;
    }
    *result = s;
    return TANSU_OK;
}

tansu_status schema_in_query(arena *memory, regex **regexes, const doc_value *value,
                             const deadline *deadline, schema **result, tansu_error *error) {
    schema_parser p = {.memory = memory,
                       .regexes = regexes,
                       .deadline = deadline,
                       .dialect = DIALECT_MONGO,
                       .error = error};
    p.schema = *result = arena_alloc(memory, sizeof **result);
    return p.schema ? parse(&p, value->data, value->size) : error_memory(error);
}

void schema_free(schema *s) {
    if (!s)
        return;
    regex_free_all(s->own_regexes);
    arena_free(&s->own);
    free(s);
}
