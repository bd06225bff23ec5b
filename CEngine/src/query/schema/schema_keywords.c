/*
 * query/schema/schema_keywords.c -- the operands of keywords.
 */
#include "bson/number.h"
#include "query/schema/schema_parser.h"
#include "util/buffer.h"

#include <math.h>

/* ---- Names ---- */

tansu_status schema_add_name(schema_parser *p, key_set *names, const char *name, size_t size,
                             schema_name **result, bool *added) {
    size_t used = 0;
    const uint8_t *key = arena_copy(p->memory, name, size);
    if (key)
        *result = (schema_name *)key_set_add(names, p->memory, key, size + 1, sizeof **result,
                                             added, &used);
    if (!key || !*result)
        return error_memory(p->error);
    if (*added)
        (*result)->number = (uint32_t)names->count - 1;
    return TANSU_OK;
}

/* add_names -- the strings of a list, all different; none only in 2020-12. */
static tansu_status add_names(schema_parser *p, const char *keyword, const doc_value *list,
                              schema_rule *r) {
    doc_iter iter = {0};
    bool added = list->type == DOC_ARRAY && doc_iter_value(&iter, list);
    bool empty = added && p->dialect == DIALECT_2020;
    while (added && doc_iter_next(&iter)) {
        schema_name *name;
        size_t size = 0;
        const char *text = iter.value.type == DOC_STRING ? doc_string(&iter.value, &size) : NULL;
        /* No key has a NUL, which ends the names of a set. */
        added = text && memchr(text, 0, size) == NULL;
        tansu_status status =
            added ? schema_add_name(p, &r->keys, text, size, &name, &added) : TANSU_OK;
        if (status != TANSU_OK)
            return status;
    }
    if (!added || (r->keys.count == 0 && !empty))
        return schema_fault(p, "\"%s\" must be a list of different strings", keyword);
    return TANSU_OK;
}

/* field_fault -- INVALID_QUERY at a field of a document of schemas. */
static tansu_status field_fault(schema_parser *p, const char *name, const char *what) {
    return schema_enter(p, name) ? schema_fault(p, "the property \"%.64s\" %s", name, what)
                                 : error_memory(p->error);
}

tansu_status schema_named_nodes(schema_parser *p, const char *keyword, const doc_value *list,
                                key_set *names) {
    doc_iter iter;
    if (list->type != DOC_DOCUMENT)
        return schema_fault(p, "\"%s\" must be a document of schemas", keyword);
    for (doc_iter_value(&iter, list); doc_iter_next(&iter);) {
        schema_name *name;
        bool added;
        if (!schema_is(p, &iter.value))
            return field_fault(p, iter.key, "must be a schema");
        tansu_status status = schema_add_name(p, names, iter.key, iter.key_size, &name, &added);
        if (status == TANSU_OK && !added)
            return field_fault(p, iter.key, "is given twice; remove one of them");
        if (status == TANSU_OK)
            status = schema_node_at(p, iter.key, keyword, &iter.value, &name->node);
        if (status != TANSU_OK)
            return status;
    }
    return TANSU_OK;
}

/* ---- Schemas ---- */

/* node_list -- the schemas of a list. */
static tansu_status node_list(schema_parser *p, const char *keyword, const doc_value *list,
                              bool empty, schema_rule *r) {
    uint32_t count = 0;
    doc_iter iter;
    if (!doc_array_size(list, &count) || (count == 0 && !empty))
        return schema_fault(p, "\"%s\" must be a list of schemas", keyword);
    r->nodes = arena_alloc(p->memory, (count + 1) * sizeof *r->nodes);
    if (!r->nodes)
        return error_memory(p->error);
    for (doc_iter_value(&iter, list); doc_iter_next(&iter);) {
        if (!schema_is(p, &iter.value))
            return schema_fault(p, "\"%s\" must be a list of schemas", keyword);
        tansu_status status =
            schema_node_at(p, iter.key, keyword, &iter.value, &r->nodes[r->count]);
        if (status != TANSU_OK)
            return status;
        r->count++;
    }
    return TANSU_OK;
}

/* node_of -- the schema that is the operand at the path. */
static tansu_status node_of(schema_parser *p, const char *keyword, const doc_value *value,
                            schema_node **result) {
    return schema_is(p, value) ? schema_node_parse(p, keyword, value, result)
                               : schema_fault(p, "\"%s\" must be a schema", keyword);
}

/* node_single -- one schema. */
static tansu_status node_single(schema_parser *p, const schema_keyword *k, schema_rule *r) {
    r->nodes = arena_alloc(p->memory, sizeof *r->nodes);
    if (!r->nodes)
        return error_memory(p->error);
    r->count = 1;
    return node_of(p, k->at->key, &k->at->value, r->nodes);
}

/* ---- Keywords that make one rule together ---- */

/* sibling -- the operand of a keyword of the same schema; false when there is none. */
static bool sibling(const schema_keyword *k, const char *name, doc_value *value) {
    return doc_find(k->schema->data, k->schema->size, name, strlen(name), value);
}

/* is_first -- whether a keyword is the first of several in its schema. */
static bool is_first(const schema_keyword *k, const char *const *names, size_t count) {
    doc_value value;
    for (size_t i = 0; i < count; i++)
        if (sibling(k, names[i], &value) && value.data < k->at->value.data)
            return false;
    return true;
}

/* outer_path -- the size of the path of the schema that a keyword is in. */
static size_t outer_path(const schema_parser *p, const schema_keyword *k) {
    return p->path.size - k->at->key_size - (p->path.size > k->at->key_size ? 1 : 0);
}

/* go_to -- makes the path that of another keyword; false when memory is exhausted. */
static bool go_to(schema_parser *p, size_t outer, const char *name) {
    p->path.size = outer;
    return schema_enter(p, name);
}

/* add_patterns -- `patternProperties`. */
static tansu_status add_patterns(schema_parser *p, const doc_value *list, schema_rule *r) {
    schema_pattern **next = &r->patterns;
    doc_iter iter;
    if (list->type != DOC_DOCUMENT)
        return schema_fault(p, "\"patternProperties\" must be a document of schemas");
    size_t before = p->path.size;
    for (doc_iter_value(&iter, list); doc_iter_next(&iter);) {
        schema_pattern *one = arena_alloc(p->memory, sizeof *one);
        if (!schema_is(p, &iter.value))
            return field_fault(p, iter.key, "must be a schema");
        if (!one || !schema_enter(p, iter.key))
            return error_memory(p->error);
        tansu_status status = schema_pattern_compile(p, iter.key, iter.key_size, &one->regex);
        if (status == TANSU_OK)
            status = schema_node_parse(p, "patternProperties", &iter.value, &one->node);
        if (status != TANSU_OK)
            return status;
        p->path.size = before;
        *next = one;
        next = &one->next;
    }
    return TANSU_OK;
}

/* add_others -- what `additionalProperties` says of fields that are not named. */
static tansu_status add_others(schema_parser *p, const doc_value *value, schema_rule *r) {
    schema_node *unused;
    r->all = true;
    if (value->type == DOC_DOCUMENT)
        return schema_node_parse(p, "additionalProperties", value, &r->rest);
    if (value->type != DOC_BOOL)
        return schema_fault(p, "\"additionalProperties\" must be true, false or a schema");
    r->others = doc_bool(value);
    /* References may lead to it. */
    return schema_is(p, value) ? schema_node_parse(p, "additionalProperties", value, &unused)
                               : TANSU_OK;
}

/* parse_properties -- `properties`, `patternProperties` and `additionalProperties` make one rule,
 * compiled at the first of them; the others have none. */
static tansu_status parse_properties(schema_parser *p, const schema_keyword *k, schema_rule *r,
                                     bool *none) {
    static const char *const names[] = {"properties", "patternProperties", "additionalProperties"};
    doc_value value;
    tansu_status status = TANSU_OK;
    size_t outer = outer_path(p, k);
    *none = !is_first(k, names, 3);
    r->others = true;
    for (int i = 0; i < 3 && !*none && status == TANSU_OK; i++) {
        if (!sibling(k, names[i], &value))
            continue;
        if (!go_to(p, outer, names[i]))
            return error_memory(p->error);
        status = i == 0   ? schema_named_nodes(p, names[i], &value, &r->keys)
                 : i == 1 ? add_patterns(p, &value, r)
                          : add_others(p, &value, r);
    }
    return status;
}

/* add_more_items -- `additionalItems`, which means something beside a list of `items` only. */
static tansu_status add_more_items(schema_parser *p, const doc_value *value, bool used,
                                   schema_rule *r) {
    schema_node *n = NULL;
    tansu_status status = TANSU_OK;
    if (value->type == DOC_DOCUMENT || schema_is(p, value)) {
        status = schema_node_parse(p, "additionalItems", value, &n);
    } else if (value->type != DOC_BOOL) {
        return schema_fault(p, "\"additionalItems\" must be true, false or a schema");
    } else if (!doc_bool(value)) {
        /* False, where no other schema may be it. */
        n = arena_alloc(p->memory, sizeof *n);
        if (n)
            n->first = arena_alloc(p->memory, sizeof *n->first);
        if (!n || !n->first)
            return error_memory(p->error);
        *n->first = (schema_rule){.kind = RULE_NOTHING, .keyword = "additionalItems"};
        n->resource = p->resource;
    }
    if (used) {
        r->rest = n;
        r->all = true;
    }
    return status;
}

/* parse_items -- `items`, `prefixItems` and `additionalItems` likewise. */
static tansu_status parse_items(schema_parser *p, const schema_keyword *k, schema_rule *r,
                                bool *none) {
    static const char *const names[] = {"items", "prefixItems", "additionalItems"};
    doc_value items = {0}, value;
    tansu_status status = TANSU_OK;
    bool modern = p->dialect == DIALECT_2020;
    size_t outer = outer_path(p, k);
    *none = !is_first(k, names, modern ? 2 : 3);
    if (*none)
        return TANSU_OK;
    bool given = sibling(k, "items", &items);
    bool list = given && items.type == DOC_ARRAY && !modern;
    if (given && !go_to(p, outer, "items"))
        return error_memory(p->error);
    if (list) {
        status = node_list(p, "items", &items, true, r);
    } else if (given) {
        r->all = true;
        status = node_of(p, "items", &items, &r->rest);
    }
    if (status == TANSU_OK && sibling(k, "prefixItems", &value)) {
        if (!go_to(p, outer, "prefixItems"))
            return error_memory(p->error);
        if (list)
            return schema_fault(p, "\"items\" must be a schema beside \"prefixItems\"");
        status = node_list(p, "prefixItems", &value, false, r);
    }
    if (status != TANSU_OK || modern || !sibling(k, "additionalItems", &value))
        return status;
    return go_to(p, outer, "additionalItems") ? add_more_items(p, &value, list, r)
                                              : error_memory(p->error);
}

/* count_of -- a size, which is 0 or more. */
static tansu_status count_of(schema_parser *p, const char *keyword, const doc_value *value,
                             int64_t *result) {
    if (!doc_is_number(value) || !doc_as_int64(value, result) || *result < 0)
        return schema_fault(p, "\"%s\" must be 0 or more", keyword);
    return TANSU_OK;
}

/* parse_contains -- `contains` has the rule; `minContains` and `maxContains` belong to it. */
static tansu_status parse_contains(schema_parser *p, const schema_keyword *k, schema_rule *r,
                                   bool *none) {
    doc_value value;
    int64_t unused;
    *none = strcmp(k->at->key, "contains") != 0;
    if (*none)
        return count_of(p, k->at->key, &k->at->value, &unused);
    r->size = 1;
    r->most = INT64_MAX;
    /* What is no count is refused where it stands. */
    if (sibling(k, "minContains", &value) && doc_is_number(&value))
        doc_as_int64(&value, &r->size);
    if (sibling(k, "maxContains", &value) && doc_is_number(&value))
        doc_as_int64(&value, &r->most);
    return node_single(p, k, r);
}

/* parse_if -- with `then` and `else`. */
static tansu_status parse_if(schema_parser *p, const schema_keyword *k, schema_rule *r) {
    static const char *const names[] = {"if", "then", "else"};
    size_t outer = outer_path(p, k);
    doc_value value;
    tansu_status status = TANSU_OK;
    r->count = 3;
    r->nodes = arena_alloc(p->memory, 3 * sizeof *r->nodes);
    if (!r->nodes)
        return error_memory(p->error);
    for (int i = 0; i < 3 && status == TANSU_OK; i++) {
        if (!sibling(k, names[i], &value))
            continue;
        status = go_to(p, outer, names[i]) ? node_of(p, names[i], &value, &r->nodes[i])
                                           : error_memory(p->error);
    }
    return status;
}

/* parse_dependent -- `dependentRequired`, `dependentSchemas`, and `dependencies`, which is both. */
static tansu_status parse_dependent(schema_parser *p, const schema_keyword *k, schema_rule *r) {
    const char *keyword = k->at->key;
    bool lists = strcmp(keyword, "dependentSchemas") != 0;
    bool schemas = strcmp(keyword, "dependentRequired") != 0;
    size_t before = p->path.size;
    doc_iter iter;
    if (k->at->value.type != DOC_DOCUMENT)
        return schema_fault(p, "\"%s\" must be a document", keyword);
    for (doc_iter_value(&iter, &k->at->value); doc_iter_next(&iter);) {
        schema_name *name;
        bool added, list = iter.value.type == DOC_ARRAY;
        if (list ? !lists : !schemas || !schema_is(p, &iter.value))
            return field_fault(p, iter.key,
                               !schemas ? "must be a list of names"
                               : lists  ? "must be a list of names or a schema"
                                        : "must be a schema");
        tansu_status status = schema_add_name(p, &r->keys, iter.key, iter.key_size, &name, &added);
        if (status == TANSU_OK && !added)
            return field_fault(p, iter.key, "is given twice; remove one of them");
        if (status == TANSU_OK && !schema_enter(p, iter.key))
            status = error_memory(p->error);
        if (status == TANSU_OK && list) {
            name->rule = arena_alloc(p->memory, sizeof *name->rule);
            if (!name->rule)
                return error_memory(p->error);
            *name->rule = (schema_rule){.kind = RULE_REQUIRED, .keyword = r->keyword};
            status = add_names(p, keyword, &iter.value, name->rule);
        } else if (status == TANSU_OK) {
            status = schema_node_parse(p, r->keyword, &iter.value, &name->node);
        }
        if (status != TANSU_OK)
            return status;
        p->path.size = before;
    }
    return TANSU_OK;
}

/* ---- Values ---- */

/* keep_text -- the operand for messages, as JSON. */
static tansu_status keep_text(schema_parser *p, const doc_value *value, schema_rule *r) {
    p->key.size = 0;
    if (schema_value_text(&p->key, value, 1000))
        r->text = arena_copy(p->memory, p->key.data, p->key.size);
    return r->text ? TANSU_OK : error_memory(p->error);
}

/* add_type -- a name of `type` or `bsonType`. */
static tansu_status add_type(schema_parser *p, const schema_keyword *k, schema_rule *r,
                             const char *name, size_t size) {
    bool bson = k->at->key[0] == 'b';
    uint32_t bit = schema_type_find(name, size, bson);
    bool whole = strcmp(name, "integer") == 0 && p->dialect == DIALECT_MONGO;
    if (whole)
        return schema_fault(p, "the dialect of MongoDB has no type \"integer\"; use \"bsonType\"");
    if (bit == 0)
        return schema_fault(p, "\"%s\" has the unknown type \"%.32s\"; use one of %s", k->at->key,
                            name, schema_type_names(bson));
    r->types |= bit;
    if ((p->key.size != 0 && !buffer_append(&p->key, ", ", 2)) ||
        !buffer_append(&p->key, name, size))
        return error_memory(p->error);
    return TANSU_OK;
}

static tansu_status parse_types(schema_parser *p, const schema_keyword *k, schema_rule *r) {
    tansu_status status = TANSU_OK;
    doc_value other;
    p->key.size = 0;
    if (p->dialect == DIALECT_MONGO && k->at->key[0] == 'b' && sibling(k, "type", &other))
        return schema_fault(p, "\"type\" and \"bsonType\" exclude each other; remove one of them");
    if (k->at->value.type == DOC_STRING) {
        size_t size;
        const char *name = doc_string(&k->at->value, &size);
        status = add_type(p, k, r, name, size);
    } else {
        status = add_names(p, k->at->key, &k->at->value, r);
        if (status == TANSU_OK && r->keys.count == 0)
            return schema_fault(p, "\"%s\" must name a type", k->at->key);
        for (key_set_item *i = r->keys.first; status == TANSU_OK && i; i = i->next)
            status = add_type(p, k, r, (const char *)i->key, i->key_size - 1);
    }
    if (status != TANSU_OK)
        return status;
    r->text = arena_copy(p->memory, p->key.data, p->key.size);
    return r->text ? TANSU_OK : error_memory(p->error);
}

/* add_value -- a value of `enum` or `const`. */
static tansu_status add_value(schema_parser *p, const doc_value *value, schema_rule *r,
                              bool *added) {
    size_t used = 0;
    const uint8_t *key =
        schema_value_key(&p->key, value) ? arena_copy(p->memory, p->key.data, p->key.size) : NULL;
    /* With the NUL after the copy, as key_set_find_name() needs it. */
    return key && key_set_add(&r->keys, p->memory, key, p->key.size + 1, sizeof(key_set_item),
                              added, &used)
               ? TANSU_OK
               : error_memory(p->error);
}

static tansu_status parse_enum(schema_parser *p, const schema_keyword *k, schema_rule *r) {
    uint32_t count = 0;
    doc_iter iter;
    bool added;
    if (k->at->key[0] == 'c') {
        tansu_status status = add_value(p, &k->at->value, r, &added);
        return status == TANSU_OK ? keep_text(p, &k->at->value, r) : status;
    }
    if (!doc_array_size(&k->at->value, &count) || (count == 0 && p->dialect != DIALECT_2020))
        return schema_fault(p, "\"enum\" must be a list of values");
    for (doc_iter_value(&iter, &k->at->value); doc_iter_next(&iter);) {
        tansu_status status = add_value(p, &iter.value, r, &added);
        if (status != TANSU_OK)
            return status;
        if (!added && p->dialect == DIALECT_MONGO)
            return schema_fault(p, "\"enum\" has a value twice; remove one of them");
    }
    return keep_text(p, &k->at->value, r);
}

static tansu_status parse_size(schema_parser *p, const schema_keyword *k, schema_rule *r) {
    const char *of = k->at->key + 3;
    r->is_minimum = k->at->key[1] == 'i';
    r->sized = of[0] == 'P' ? DOC_DOCUMENT : of[0] == 'L' ? DOC_STRING : DOC_ARRAY;
    return count_of(p, k->at->key, &k->at->value, &r->size);
}

/* parse_number -- `exclusiveMinimum` is a bound or, in draft 4 of JSON Schema and MongoDB, a flag
 * that excludes `minimum`. */
static tansu_status parse_number(schema_parser *p, const schema_keyword *k, schema_rule *r,
                                 bool *none) {
    bool own = k->at->key[0] == 'e';
    r->is_minimum = strstr(k->at->key, "inimum") != NULL;
    const char *plain = r->is_minimum ? "minimum" : "maximum";
    const char *exclusive = r->is_minimum ? "exclusiveMinimum" : "exclusiveMaximum";
    doc_value other;
    if (own && k->at->value.type == DOC_BOOL && p->dialect != DIALECT_2020) {
        *none = true;
        return sibling(k, plain, &other)
                   ? TANSU_OK
                   : schema_fault(p, "\"%s\" as true or false requires \"%s\"", exclusive, plain);
    }
    if (own && p->dialect == DIALECT_MONGO)
        return schema_fault(p, "\"%s\" must be true or false", k->at->key);
    if (!doc_is_number(&k->at->value))
        return schema_fault(p, "\"%s\" must be a number", k->at->key);
    r->exclusive =
        own || (sibling(k, exclusive, &other) && other.type == DOC_BOOL && doc_bool(&other));
    r->keyword = r->exclusive ? exclusive : plain;
    r->bound = k->at->value;
    return keep_text(p, &r->bound, r);
}

static tansu_status parse_multiple(schema_parser *p, const schema_keyword *k, schema_rule *r) {
    static const uint8_t zero[4];
    const doc_value none = {zero, sizeof zero, DOC_INT32};
    uint8_t key[NUMBER_KEY_MAX];
    r->bound = k->at->value;
    if (!doc_is_number(&r->bound) || number_compare(&r->bound, &none) <= 0 ||
        number_key(key, &r->bound) == 0 || key[0] != NUMBER_POSITIVE)
        return schema_fault(p, "\"multipleOf\" must be a number above 0");
    return keep_text(p, &r->bound, r);
}

static tansu_status parse_pattern(schema_parser *p, const schema_keyword *k, schema_rule *r) {
    size_t size;
    if (k->at->value.type != DOC_STRING)
        return schema_fault(p, "\"pattern\" must be a string");
    r->text = doc_string(&k->at->value, &size);
    return schema_pattern_compile(p, r->text, size, &r->regex);
}

static tansu_status parse_unique(schema_parser *p, const schema_keyword *k, bool *none) {
    if (k->at->value.type != DOC_BOOL)
        return schema_fault(p, "\"uniqueItems\" must be true or false");
    *none = !doc_bool(&k->at->value);
    return TANSU_OK;
}

tansu_status schema_operand_parse(schema_parser *p, const schema_keyword *k, schema_rule *r,
                                  bool *none) {
    switch (r->kind) {
    case RULE_TYPES: return parse_types(p, k, r);
    case RULE_ENUM: return parse_enum(p, k, r);
    case RULE_REQUIRED: return add_names(p, k->at->key, &k->at->value, r);
    case RULE_PROPERTIES: return parse_properties(p, k, r, none);
    case RULE_DEPENDENT: return parse_dependent(p, k, r);
    case RULE_SIZE: return parse_size(p, k, r);
    case RULE_NUMBER: return parse_number(p, k, r, none);
    case RULE_MULTIPLE: return parse_multiple(p, k, r);
    case RULE_PATTERN: return parse_pattern(p, k, r);
    case RULE_UNIQUE: return parse_unique(p, k, none);
    case RULE_ITEMS: return parse_items(p, k, r, none);
    case RULE_CONTAINS: return parse_contains(p, k, r, none);
    case RULE_IF: return parse_if(p, k, r);
    case RULE_DYNAMIC: return schema_reference_add(p, k, r);
    case RULE_ALL:
    case RULE_ANY:
    case RULE_ONE: return node_list(p, k->at->key, &k->at->value, false, r);
    default: return node_single(p, k, r);
    }
}
