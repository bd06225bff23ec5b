/*
 * query/collection_validator.c -- validators of collections: compiled once, asked about every
 * document that is saved. Which part of a query a document violates is found when it does.
 */
#include "query/collection_validator.h"

#include "bson/json/json.h"
#include "bson/writer.h"
#include "query/parse/query_compile.h"
#include "query/schema/schema.h"
#include "util/buffer.h"
#include "util/error.h"

#include <stdio.h>
#include <stdlib.h>

/* One of the two. */
typedef struct collection_validator {
    schema *schema;
    query *query;
} collection_validator;

/* ---- Compiling ---- */

/* ambiguous -- the error for what may be a schema and a query. */
static tansu_status ambiguous(const char *keyword, const char *other, tansu_error *error) {
    if (other == NULL)
        return error_set(error, TANSU_E_INVALID_QUERY, keyword,
                         "The validator has keywords of a schema but no rule; write "
                         "{\"$jsonSchema\": {...}} for a schema, {\"$and\": [{...}]} for a query");
    return error_set(error, TANSU_E_INVALID_QUERY, other,
                     "In the validator, \"%.64s\" is a keyword of schemas and \"%.64s\" is none; "
                     "write {\"$jsonSchema\": {...}} for a schema, {\"$and\": [{...}]} for a query",
                     keyword, other);
}

/* check_keys -- refuses what a query says that does not depend on the document alone. */
static tansu_status check_keys(const doc_value *value, tansu_error *error) {
    tansu_status status = TANSU_OK;
    doc_iter iter;
    if (value->type != DOC_DOCUMENT && value->type != DOC_ARRAY)
        return TANSU_OK;
    for (doc_iter_value(&iter, value); status == TANSU_OK && doc_iter_next(&iter);)
        status = strcmp(iter.key, "$rand") == 0 || strcmp(iter.key, "$sampleRate") == 0 ||
                         strcmp(iter.key, "$do") == 0
                     ? error_set(error, TANSU_E_INVALID_QUERY, iter.key,
                                 "A validator cannot have \"%s\"; the document alone decides "
                                 "whether it is valid",
                                 iter.key)
                     : check_keys(&iter.value, error);
    return status;
}

tansu_status collection_validator_compile(const uint8_t *condition, size_t size, void **result,
                                          tansu_error *error) {
    doc_value document = {condition, (uint32_t)size, DOC_DOCUMENT};
    const char *keyword, *other;
    collection_validator *v = calloc(1, sizeof *v);
    *result = NULL;
    if (v == NULL)
        return error_memory(error);
    tansu_status status;
    switch (schema_tell(&document, &keyword, &other)) {
    case IS_SCHEMA:
        schema_unwrap(&document);
        status = schema_compile(document.data, document.size, &v->schema, error);
        break;
    case IS_QUERY:
        status = check_keys(&document, error);
        if (status == TANSU_OK)
            status = query_compile_alone(document.data, document.size, &v->query, error);
        break;
    default: status = ambiguous(keyword, other, error);
    }
    if (status == TANSU_OK)
        *result = v;
    else
        free(v);
    return status;
}

void collection_validator_free(void *validator) {
    collection_validator *v = validator;
    if (v == NULL)
        return;
    schema_free(v->schema);
    query_free(v->query);
    free(v);
}

/* ---- Schemas ---- */

/* text_of -- a member of a violation. */
static const char *text_of(const doc_value *violation, const char *key) {
    doc_value value;
    size_t length;
    return doc_find(violation->data, violation->size, key, strlen(key), &value) &&
                   value.type == DOC_STRING
               ? doc_string(&value, &length)
               : "";
}

#define MOST_RULE 64 /* bytes of the name of a rule of a schema, and more */

/* violated -- the error for a violation. */
static tansu_status violated(const char *path, const char *rule, const char *collection,
                             const char *what, const char *message, tansu_error *error) {
    char context[sizeof error->context];
    /* The name of a rule is whole, a long path is not. */
    int room = (int)(sizeof context - 3 - strnlen(rule, MOST_RULE));
    snprintf(context, sizeof context, "%.*s: %.*s", room, path, MOST_RULE, rule);
    return error_set(error, TANSU_E_INVALID_DOCUMENT, context,
                     "The document violates the %s of collection \"%s\": %s: %s: %s", what,
                     collection, path, rule, message);
}

/* check_schema -- the error is that of the first violation. */
static tansu_status check_schema(const schema *s, const char *collection, const char *what,
                                 const uint8_t *doc, size_t size, tansu_error *error) {
    tansu_buffer found = TANSU_BUFFER_INIT;
    uint64_t count;
    doc_value list;
    doc_iter first;
    tansu_status status = schema_check(s, doc, size, 1, &found, &count, error);
    if (status == TANSU_OK && count != 0 &&
        doc_find(found.data, found.size, "violations", 10, &list) &&
        doc_iter_value(&first, &list) && doc_iter_next(&first))
        status = violated(text_of(&first.value, "path"), text_of(&first.value, "rule"), collection,
                          what, text_of(&first.value, "message"), error);
    tansu_buffer_free(&found);
    return status;
}

/* ---- Queries ---- */

/* A document that a query does not select. */
typedef struct refused {
    const char *collection;
    const uint8_t *doc;
    size_t size;
    tansu_buffer text; /* a condition as JSON */
    tansu_error *error;
} refused;

/* matches -- whether a query selects a document; the error is why it cannot be said. */
static tansu_status matches(const query *q, const uint8_t *doc, size_t size, bool *result,
                            tansu_error *error) {
    match_context context = {.status = TANSU_OK};
    *result = query_matches(q, &context, doc, size);
    tansu_status status = match_context_status(&context, error);
    match_context_free(&context);
    return status;
}

/* fails -- whether {key: value} on its own is not satisfied. False when it cannot be said. */
static bool fails(const refused *r, const char *key, const doc_value *value) {
    tansu_buffer bson = TANSU_BUFFER_INIT;
    bool holds = true;
    query *q;
    if (writer_single(&bson, key, value) &&
        query_compile_alone(bson.data, bson.size, &q, NULL) == TANSU_OK) {
        if (matches(q, r->doc, r->size, &holds, NULL) != TANSU_OK)
            holds = false;
        query_free(q);
    }
    tansu_buffer_free(&bson);
    return !holds;
}

/* fails_at -- the same for {key: {operator: operand}}. */
static bool fails_at(const refused *r, const char *key, const doc_iter *operator) {
    tansu_buffer bson = TANSU_BUFFER_INIT;
    bool failed = writer_single(&bson, operator->key, &operator->value) &&
                  fails(r, key, &(doc_value){bson.data, (uint32_t)bson.size, DOC_DOCUMENT});
    tansu_buffer_free(&bson);
    return failed;
}

/* report -- the error for the condition that a document violates. An operator at the top has no
 * path. */
static tansu_status report(refused *r, const char *path, const char *operator,
                           const doc_value * condition) {
    char message[200];
    r->text.size = 0;
    if (!json_write_value(&r->text, condition, false) || !buffer_append_byte(&r->text, 0))
        return error_memory(r->error);
    snprintf(message, sizeof message, "%.180s does not hold", (const char *)r->text.data);
    if (path != NULL)
        return violated(path, operator, r->collection, "validator", message, r->error);
    return error_set(r->error, TANSU_E_INVALID_DOCUMENT, operator,
                     "The document violates the validator of collection \"%s\": %s: %s",
                     r->collection, operator, message);
}

/* report_schema -- the violation of a $jsonSchema. TANSU_OK: none was found. */
static tansu_status report_schema(refused *r, const doc_value *value) {
    schema *s;
    if (value->type != DOC_DOCUMENT ||
        schema_compile(value->data, value->size, &s, NULL) != TANSU_OK)
        return TANSU_OK;
    tansu_status status = check_schema(s, r->collection, "validator", r->doc, r->size, r->error);
    schema_free(s);
    return status == TANSU_E_INVALID_QUERY ? TANSU_OK : status;
}

/* report_field -- the error for a condition on a path: of its operators, the first that is not
 * satisfied on its own. */
static tansu_status report_field(refused *r, const char *path, const doc_value *value) {
    const char *first = value->type == DOC_REGEX ? "$regex" : "$eq";
    doc_iter part;
    if (value->type != DOC_DOCUMENT)
        return report(r, path, first, value);
    for (doc_iter_value(&part, value); doc_iter_next(&part);) {
        if (part.key[0] != '$')
            continue;
        if (fails_at(r, path, &part))
            return report(r, path, part.key, value);
        if (strcmp(first, "$eq") == 0)
            first = part.key;
    }
    return report(r, path, first, value);
}

/* report_first -- the error for the first condition of a query that is not satisfied. TANSU_OK: none
 * was found. */
static tansu_status report_first(refused *r, const doc_value *selector) {
    doc_iter iter, part;
    for (doc_iter_value(&iter, selector); doc_iter_next(&iter);) {
        tansu_status status = TANSU_OK;
        const doc_value *value = &iter.value;
        if (!fails(r, iter.key, value))
            continue;
        if (iter.key[0] != '$')
            return report_field(r, iter.key, value);
        if (strcmp(iter.key, "$and") == 0 && value->type == DOC_ARRAY)
            for (doc_iter_value(&part, value); status == TANSU_OK && doc_iter_next(&part);)
                status = report_first(r, &part.value);
        else if (strcmp(iter.key, "$jsonSchema") == 0)
            status = report_schema(r, value);
        return status != TANSU_OK ? status : report(r, NULL, iter.key, value);
    }
    return TANSU_OK;
}

/* check_query -- an error of an expression is a violation: no answer is none that allows it. */
static tansu_status check_query(const query *q, const char *collection, const uint8_t *doc,
                                size_t size, tansu_error *error) {
    bool holds;
    tansu_error fault;
    tansu_status status = matches(q, doc, size, &holds, &fault);
    if (status == TANSU_E_INVALID_QUERY)
        return error_set(error, TANSU_E_INVALID_DOCUMENT, fault.context,
                         "The document violates the validator of collection \"%s\": %s: %s",
                         collection, fault.context, fault.message);
    if (status != TANSU_OK) {
        if (error != NULL)
            *error = fault;
        return status;
    }
    if (holds)
        return TANSU_OK;
    refused r = {.collection = collection, .doc = doc, .size = size, .error = error};
    const doc_value selector = query_selector(q);
    status = report_first(&r, &selector);
    if (status == TANSU_OK)
        status = report(&r, NULL, "validator", &selector);
    tansu_buffer_free(&r.text);
    return status;
}

tansu_status collection_validator_check(const void *validator, const char *collection,
                                        const uint8_t *doc, size_t size, tansu_error *error) {
    const collection_validator *v = validator;
    return v->schema != NULL ? check_schema(v->schema, collection, "schema", doc, size, error)
                             : check_query(v->query, collection, doc, size, error);
}
