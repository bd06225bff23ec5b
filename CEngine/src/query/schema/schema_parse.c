/*
 * query/schema/schema_parse.c -- compiles schemas. Whatever is unknown is an error.
 */
#include "bson/number.h"
#include "query/parse/query_compile.h"
#include "query/schema/schema_internal.h"
#include "util/buffer.h"
#include "util/error.h"

#include <stdarg.h>
#include <stdio.h>

typedef struct parser {
    schema *schema;
    tansu_buffer path; /* of the keyword, dotted */
    tansu_buffer key;
    tansu_error *error;
} parser;

/* A keyword of a schema. */
typedef struct keyword {
    const doc_iter *at;
    const doc_value *schema; /* that it stands in */
} keyword;

/* ---- Errors and paths ---- */

/* end_path -- puts a NUL behind the path; false when memory is exhausted. */
static bool end_path(parser *p) {
    bool ended = buffer_append_byte(&p->path, 0);
    p->path.size -= ended;
    return ended;
}

/* fault -- INVALID_QUERY at the path. */
PRINTF_LIKE(2, 3)
static tansu_status fault(parser *p, const char *format, ...) {
    char message[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (!end_path(p))
        return error_memory(p->error);
    return error_set(p->error, TANSU_E_INVALID_QUERY, (const char *)p->path.data,
                     "The schema is invalid: %s", message);
}

/* enter -- appends a part to the path; false when memory is exhausted. */
static bool enter(parser *p, const char *part) {
    return (p->path.size == 0 || buffer_append_byte(&p->path, '.')) &&
           buffer_append(&p->path, part, strlen(part));
}

static tansu_status node_parse(parser *p, const doc_value *value, schema_node **result);

/* node_at -- compiles the schema one part below the path. */
static tansu_status node_at(parser *p, const char *part, const doc_value *value,
                            schema_node **result) {
    size_t before = p->path.size;
    if (!enter(p, part))
        return error_memory(p->error);
    tansu_status status = node_parse(p, value, result);
    p->path.size = before;
    return status;
}

/* ---- Operands ---- */

static tansu_status parse_text(parser *p, const keyword *k) {
    if (k->at->value.type == DOC_STRING)
        return TANSU_OK;
    return fault(p, "\"%.64s\" must be a string", k->at->key);
}

/* add_name -- adds a string to the names of a rule; sets *added to false for one that is there, and
 * for a value that is no name. */
static tansu_status add_name(parser *p, schema_rule *r, const char *name, size_t size,
                             schema_name **result, bool *added) {
    size_t used = 0;
    const uint8_t *key = arena_copy(&p->schema->memory, name, size);
    if (key)
        *result = (schema_name *)key_set_add(&r->keys, &p->schema->memory, key, size + 1,
                                             sizeof **result, added, &used);
    if (!key || !*result)
        return error_memory(p->error);
    if (*added)
        (*result)->number = (uint32_t)r->keys.count - 1;
    return TANSU_OK;
}

/* add_names -- the strings of a list, all different. */
static tansu_status add_names(parser *p, const keyword *k, schema_rule *r) {
    doc_iter iter = {0};
    bool added = k->at->value.type == DOC_ARRAY && doc_iter_value(&iter, &k->at->value);
    while (added && doc_iter_next(&iter)) {
        schema_name *name;
        size_t size = 0;
        const char *text = iter.value.type == DOC_STRING ? doc_string(&iter.value, &size) : NULL;
        /* No key has a NUL, which ends the names of a set. */
        added = text && memchr(text, 0, size) == NULL;
        tansu_status status = added ? add_name(p, r, text, size, &name, &added) : TANSU_OK;
        if (status != TANSU_OK)
            return status;
    }
    if (!added || r->keys.count == 0)
        return fault(p, "\"%s\" must be a list of different strings", k->at->key);
    return TANSU_OK;
}

/* node_list -- the schemas of a list. */
static tansu_status node_list(parser *p, const keyword *k, schema_rule *r) {
    uint32_t count = 0;
    doc_iter iter;
    if (!doc_array_size(&k->at->value, &count) || count == 0)
        return fault(p, "\"%s\" must be a list of schemas", k->at->key);
    r->nodes = arena_alloc(&p->schema->memory, count * sizeof *r->nodes);
    if (!r->nodes)
        return error_memory(p->error);
    for (doc_iter_value(&iter, &k->at->value); doc_iter_next(&iter);) {
        if (iter.value.type != DOC_DOCUMENT)
            return fault(p, "\"%s\" must be a list of schemas", k->at->key);
        tansu_status status = node_at(p, iter.key, &iter.value, &r->nodes[r->count]);
        if (status != TANSU_OK)
            return status;
        r->count++;
    }
    return TANSU_OK;
}

/* node_single -- one schema. */
static tansu_status node_single(parser *p, const keyword *k, schema_rule *r) {
    if (k->at->value.type != DOC_DOCUMENT)
        return fault(p, "\"%s\" must be a schema", k->at->key);
    r->nodes = arena_alloc(&p->schema->memory, sizeof *r->nodes);
    if (!r->nodes)
        return error_memory(p->error);
    r->count = 1;
    return node_parse(p, &k->at->value, r->nodes);
}

/* keep_text -- the operand for messages, as JSON. */
static tansu_status keep_text(parser *p, const doc_value *value, schema_rule *r) {
    p->key.size = 0;
    if (schema_value_text(&p->key, value, 1000))
        r->text = arena_copy(&p->schema->memory, p->key.data, p->key.size);
    return r->text ? TANSU_OK : error_memory(p->error);
}

/* ---- Keywords ---- */

/* add_type -- a name of `type` or `bsonType`. */
static tansu_status add_type(parser *p, const keyword *k, schema_rule *r, const char *name,
                             size_t size) {
    bool bson = k->at->key[0] == 'b';
    uint32_t bit = schema_type_find(name, size, bson);
    if (bit == 0)
        return fault(p, "\"%s\" has the unknown type \"%.32s\"; use one of %s", k->at->key, name,
                     schema_type_names(bson));
    r->types |= bit;
    if ((p->key.size != 0 && !buffer_append(&p->key, ", ", 2)) ||
        !buffer_append(&p->key, name, size))
        return error_memory(p->error);
    return TANSU_OK;
}

static tansu_status parse_types(parser *p, const keyword *k, schema_rule *r) {
    tansu_status status = TANSU_OK;
    p->key.size = 0;
    if (k->at->value.type == DOC_STRING) {
        size_t size;
        const char *name = doc_string(&k->at->value, &size);
        status = add_type(p, k, r, name, size);
    } else {
        status = add_names(p, k, r);
        for (key_set_item *i = r->keys.first; status == TANSU_OK && i; i = i->next)
            status = add_type(p, k, r, (const char *)i->key, i->key_size - 1);
    }
    if (status != TANSU_OK)
        return status;
    r->text = arena_copy(&p->schema->memory, p->key.data, p->key.size);
    return r->text ? TANSU_OK : error_memory(p->error);
}

static tansu_status parse_enum(parser *p, const keyword *k, schema_rule *r) {
    uint32_t count = 0;
    doc_iter iter;
    if (!doc_array_size(&k->at->value, &count) || count == 0)
        return fault(p, "\"enum\" must be a list of values");
    for (doc_iter_value(&iter, &k->at->value); doc_iter_next(&iter);) {
        bool added;
        size_t used = 0;
        const uint8_t *key = schema_value_key(&p->key, &iter.value)
                                 ? arena_copy(&p->schema->memory, p->key.data, p->key.size)
                                 : NULL;
        /* With the NUL after the copy, as key_set_find_name() needs it. */
        if (!key || !key_set_add(&r->keys, &p->schema->memory, key, p->key.size + 1,
                                 sizeof(key_set_item), &added, &used))
            return error_memory(p->error);
    }
    return keep_text(p, &k->at->value, r);
}

/* property_fault -- INVALID_QUERY at a field of `properties`. */
static tansu_status property_fault(parser *p, const char *name, const char *what) {
    return enter(p, name) ? fault(p, "the property \"%.64s\" %s", name, what)
                          : error_memory(p->error);
}

/* add_properties -- the schemas of `properties`; the path is that of the schema around it. */
static tansu_status add_properties(parser *p, const doc_value *list, schema_rule *r) {
    doc_iter iter;
    if (!enter(p, "properties"))
        return error_memory(p->error);
    if (list->type != DOC_DOCUMENT)
        return fault(p, "\"properties\" must be a document of schemas");
    for (doc_iter_value(&iter, list); doc_iter_next(&iter);) {
        schema_name *name;
        bool added;
        if (iter.value.type != DOC_DOCUMENT)
            return property_fault(p, iter.key, "must be a schema");
        tansu_status status = add_name(p, r, iter.key, iter.key_size, &name, &added);
        if (status == TANSU_OK && !added)
            return property_fault(p, iter.key, "is given twice; remove one of them");
        if (status == TANSU_OK)
            status = node_at(p, iter.key, &iter.value, &name->node);
        if (status != TANSU_OK)
            return status;
    }
    return TANSU_OK;
}

/* add_others -- what `additionalProperties` says of fields that are not named. */
static tansu_status add_others(parser *p, const doc_value *value, schema_rule *r) {
    if (value->type == DOC_DOCUMENT)
        return node_at(p, "additionalProperties", value, &r->rest);
    if (value->type == DOC_BOOL) {
        r->others = doc_bool(value);
        return TANSU_OK;
    }
    return enter(p, "additionalProperties")
               ? fault(p, "\"additionalProperties\" must be true, false or a schema")
               : error_memory(p->error);
}

/* parse_properties -- `properties` and `additionalProperties` make one rule, compiled at the first
 * of them; the other has none. */
static tansu_status parse_properties(parser *p, const keyword *k, schema_rule *r, bool *none) {
    doc_value named, others;
    bool has_named = doc_find(k->schema->data, k->schema->size, "properties", 10, &named);
    bool has_others =
        doc_find(k->schema->data, k->schema->size, "additionalProperties", 20, &others);
    const uint8_t *first = has_named ? named.data : others.data;
    if (has_named && has_others && others.data < first)
        first = others.data;
    *none = k->at->value.data != first;
    if (*none)
        return TANSU_OK;
    size_t own = p->path.size;
    p->path.size -= k->at->key_size + (own > k->at->key_size ? 1 : 0);
    size_t outer = p->path.size;
    r->others = true;
    tansu_status status = has_named ? add_properties(p, &named, r) : TANSU_OK;
    if (status != TANSU_OK)
        return status;
    p->path.size = outer;
    return has_others ? add_others(p, &others, r) : TANSU_OK;
}

static tansu_status parse_size(parser *p, const keyword *k, schema_rule *r) {
    const char *of = k->at->key + 3;
    if (!doc_is_number(&k->at->value) || !doc_as_int64(&k->at->value, &r->size) || r->size < 0)
        return fault(p, "\"%s\" must be 0 or more", k->at->key);
    r->is_minimum = k->at->key[1] == 'i';
    r->sized = of[0] == 'P' ? DOC_DOCUMENT : of[0] == 'L' ? DOC_STRING : DOC_ARRAY;
    return TANSU_OK;
}

/* parse_number -- `exclusiveMinimum` is a bound or, in draft 4 of JSON Schema, a flag that excludes
 * `minimum`. */
static tansu_status parse_number(parser *p, const keyword *k, schema_rule *r, bool *none) {
    bool own = k->at->key[0] == 'e';
    r->is_minimum = strstr(k->at->key, "inimum") != NULL;
    const char *plain = r->is_minimum ? "minimum" : "maximum";
    const char *exclusive = r->is_minimum ? "exclusiveMinimum" : "exclusiveMaximum";
    doc_value other;
    if (own && k->at->value.type == DOC_BOOL) {
        *none = true;
        return doc_find(k->schema->data, k->schema->size, plain, 7, &other)
                   ? TANSU_OK
                   : fault(p, "\"%s\" as true or false requires \"%s\"", exclusive, plain);
    }
    if (!doc_is_number(&k->at->value))
        return fault(p, "\"%s\" must be a number", k->at->key);
    r->exclusive = own || (doc_find(k->schema->data, k->schema->size, exclusive, 16, &other) &&
                           other.type == DOC_BOOL && doc_bool(&other));
    r->keyword = r->exclusive ? exclusive : plain;
    r->bound = k->at->value;
    return keep_text(p, &r->bound, r);
}

static tansu_status parse_pattern(parser *p, const keyword *k, schema_rule *r) {
    size_t size;
    tansu_status status = parse_text(p, k);
    if (status != TANSU_OK)
        return status;
    r->text = doc_string(&k->at->value, &size);
    const deadline none = {0};
    regex_source source = {.pattern = r->text, .size = size, .options = ""};
    tansu_error inner = {0};
    status =
        regex_compile(&p->schema->memory, &p->schema->regexes, &source, &none, &r->regex, &inner);
    if (status == TANSU_OK)
        return TANSU_OK;
    if (status != TANSU_E_INVALID_QUERY)
        return end_path(p)
                   ? error_set(p->error, status, (const char *)p->path.data, "%s", inner.message)
                   : error_memory(p->error);
    status = fault(p, "%s", inner.message);
    if (status == TANSU_E_INVALID_QUERY && p->error)
        p->error->offset = inner.offset;
    return status;
}

static tansu_status parse_unique(parser *p, const keyword *k, bool *none) {
    if (k->at->value.type != DOC_BOOL)
        return fault(p, "\"uniqueItems\" must be true or false");
    *none = !doc_bool(&k->at->value);
    return TANSU_OK;
}

/* What has no rule of its own. */
enum { NO_RULE = -1 };

static const struct {
    const char *name;
    int kind;
} keywords[] = {
    {"title", NO_RULE},
    {"description", NO_RULE},
    {"type", RULE_TYPES},
    {"bsonType", RULE_TYPES},
    {"enum", RULE_ENUM},
    {"required", RULE_REQUIRED},
    {"properties", RULE_PROPERTIES},
    {"additionalProperties", RULE_PROPERTIES},
    {"minProperties", RULE_SIZE},
    {"maxProperties", RULE_SIZE},
    {"minLength", RULE_SIZE},
    {"maxLength", RULE_SIZE},
    {"minItems", RULE_SIZE},
    {"maxItems", RULE_SIZE},
    {"minimum", RULE_NUMBER},
    {"maximum", RULE_NUMBER},
    {"exclusiveMinimum", RULE_NUMBER},
    {"exclusiveMaximum", RULE_NUMBER},
    {"pattern", RULE_PATTERN},
    {"items", RULE_ITEMS},
    {"uniqueItems", RULE_UNIQUE},
    {"allOf", RULE_ALL},
    {"anyOf", RULE_ANY},
    {"oneOf", RULE_ONE},
    {"not", RULE_NOT},
};

/* operand_parse -- the operand of a keyword; sets *none when it has no rule of its own. */
static tansu_status operand_parse(parser *p, const keyword *k, schema_rule *r, bool *none) {
    switch (r->kind) {
    case RULE_TYPES: return parse_types(p, k, r);
    case RULE_ENUM: return parse_enum(p, k, r);
    case RULE_REQUIRED: return add_names(p, k, r);
    case RULE_PROPERTIES: return parse_properties(p, k, r, none);
    case RULE_SIZE: return parse_size(p, k, r);
    case RULE_NUMBER: return parse_number(p, k, r, none);
    case RULE_PATTERN: return parse_pattern(p, k, r);
    case RULE_UNIQUE: return parse_unique(p, k, none);
    case RULE_ITEMS:
        if (k->at->value.type != DOC_ARRAY)
            return node_single(p, k, r);
        r->kind = RULE_POSITIONS;
        return node_list(p, k, r);
    case RULE_NOT: return node_single(p, k, r);
    default: return node_list(p, k, r);
    }
}

/* rule_parse -- adds the rule of a keyword, if it has one, and moves *last to its end. */
static tansu_status rule_parse(parser *p, const keyword *k, schema_rule ***last) {
    size_t i = 0, count = sizeof keywords / sizeof keywords[0];
    while (i < count && strcmp(keywords[i].name, k->at->key) != 0)
        i++;
    if (i == count)
        return fault(p, "the keyword \"%.64s\" is unknown", k->at->key);
    if (doc_has_before(k->schema->data, k->schema->size, k->at))
        return fault(p, "the keyword \"%s\" is given twice; remove one of them", k->at->key);
    if (keywords[i].kind == NO_RULE)
        return parse_text(p, k);
    schema_rule *r = arena_alloc(&p->schema->memory, sizeof *r);
    if (!r)
        return error_memory(p->error);
    bool none = false;
    r->kind = (enum rule_kind)keywords[i].kind;
    r->keyword = keywords[i].name;
    tansu_status status = operand_parse(p, k, r, &none);
    if (status == TANSU_OK && !none) {
        **last = r;
        *last = &r->next;
    }
    return status;
}

/* node_parse -- compiles the schema at the path. BSON's depth bounds the recursion. */
static tansu_status node_parse(parser *p, const doc_value *value, schema_node **result) {
    schema_node *n = arena_alloc(&p->schema->memory, sizeof *n);
    doc_iter iter;
    size_t before = p->path.size;
    if (!n)
        return error_memory(p->error);
    schema_rule **last = &n->first;
    for (doc_iter_value(&iter, value); doc_iter_next(&iter);) {
        tansu_status status = enter(p, iter.key) ? rule_parse(p, &(keyword){&iter, value}, &last)
                                                 : error_memory(p->error);
        if (status != TANSU_OK)
            return status;
        p->path.size = before;
    }
    *result = n;
    return TANSU_OK;
}

/* ---- The whole ---- */

/* parse -- into a schema that has its memory. */
static tansu_status parse(schema *s, const uint8_t *doc, size_t size, tansu_error *error) {
    doc_value value = {arena_copy(&s->memory, doc, size), (uint32_t)size, DOC_DOCUMENT};
    if (!value.data)
        return error_memory(error);
    parser p = {.schema = s, .error = error};
    tansu_status status = node_parse(&p, &value, &s->root);
    buffer_free(&p.path);
    buffer_free(&p.key);
    if (status == TANSU_E_MEMORY && s->memory.full)
        return error_set(error, TANSU_E_TOO_LARGE, NULL,
                         "The schema takes more than %zu bytes of memory; simplify it",
                         QUERY_MEMORY);
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
    schema *s = calloc(1, sizeof *s);
    if (!s)
        return error_memory(error);
    s->memory.limit = QUERY_MEMORY;
    tansu_status status = parse(s, doc, size, error);
    if (status != TANSU_OK) {
        schema_free(s);
        return status;
    }
    *result = s;
    return TANSU_OK;
}

void schema_free(schema *s) {
    if (!s)
        return;
    regex_free_all(s->regexes);
    arena_free(&s->memory);
    free(s);
}
