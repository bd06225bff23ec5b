/*
 * store/validators/validator.c -- what the documents of collections satisfy.
 */
#include "store/validators/validator.h"

#include "util/error.h"

#include <stdio.h>
#include <stdlib.h>

/* is_empty -- whether a document says nothing: {} or {"$jsonSchema": {}}. */
static bool is_empty(const doc_value *condition) {
    doc_iter iter;
    if (condition->size <= 5)
        return true;
    return doc_iter_value(&iter, condition) && doc_iter_next(&iter) &&
           strcmp(iter.key, "$jsonSchema") == 0 && iter.value.type == DOC_DOCUMENT &&
           iter.value.size <= 5 && !doc_iter_next(&iter);
}

tansu_status validator_parse(const doc_value *option, void **result, tansu_error *error) {
    *result = NULL;
    if (option->type == DOC_NULL || (option->type == DOC_BOOL && !doc_bool(option)))
        return TANSU_OK;
    if (option->type != DOC_DOCUMENT)
        return error_set(error, TANSU_E_INVALID_QUERY, "validator",
                         "The option \"validator\" must be a schema, such as {\"required\": "
                         "[\"name\"]}, a query, such as {\"age\": {\"$gte\": 0}}, or false");
    if (is_empty(option))
        return TANSU_OK;
    validator *v = malloc(sizeof *v + option->size);
    if (v == NULL)
        return error_memory(error);
    *v = (validator){.size = (uint32_t)option->size};
    memcpy(v->condition, option->data, option->size);
    *result = v;
    return TANSU_OK;
}

bool validator_equal(const void *left, const void *right) {
    const validator *a = left, *b = right;
    if (a == NULL || b == NULL)
        return a == b;
    return a->size == b->size && memcmp(a->condition, b->condition, a->size) == 0;
}

void validator_write(const void *option, writer *w) {
    const validator *v = option;
    if (v == NULL)
        writer_bool(w, "validator", false);
    else
        writer_document(w, "validator", v->condition, v->size);
}

void validator_free(void *context, void *object) {
    validator *v = object;
    (void)context;
    if (v != NULL && v->compiled != NULL)
        v->hooks->validator_free(v->compiled);
    free(v);
}

tansu_status validator_prepare(const validator *v, const query_hooks *hooks, tansu_error *error) {
    validator *own = (validator *)v;
    if (v->compiled != NULL)
        return TANSU_OK;
    if (hooks == NULL)
        return error_set(error, TANSU_E_UNSUPPORTED, "validator",
                         "The collection has a validator, which can't be read here");
    own->hooks = hooks;
    return hooks->validator_compile(v->condition, v->size, &own->compiled, error);
}

tansu_status validator_check(const validator *v, const query_hooks *hooks, const char *collection,
                             const uint8_t *doc, size_t size, tansu_error *error) {
    tansu_status status = validator_prepare(v, hooks, error);
    return status == TANSU_OK ? v->hooks->validator_check(v->compiled, collection, doc, size, error)
                              : status;
}

/* ---- Levels ---- */

static const char *const level_names[] = {[VALIDATION_STRICT] = "strict",
                                          [VALIDATION_MODERATE] = "moderate",
                                          [VALIDATION_WARN] = "warn",
                                          [VALIDATION_OFF] = "off"};

tansu_status validation_new(validation_level level, void **result, tansu_error *error) {
    *result = NULL;
    if (level == VALIDATION_STRICT)
        return TANSU_OK;
    validation *v = malloc(sizeof *v);
    if (v == NULL)
        return error_memory(error);
    v->level = level;
    *result = v;
    return TANSU_OK;
}

tansu_status validation_parse(const doc_value *option, void **result, tansu_error *error) {
    size_t length = 0;
    const char *name = option->type == DOC_STRING ? doc_string(option, &length) : "";
    for (int i = 0; i < (int)(sizeof level_names / sizeof *level_names); i++)
        if (strlen(level_names[i]) == length && memcmp(level_names[i], name, length) == 0)
            return validation_new((validation_level)i, result, error);
    *result = NULL;
    return error_set(error, TANSU_E_INVALID_QUERY, "validationLevel",
                     "The option \"validationLevel\" must be \"strict\", \"moderate\", \"warn\" "
                     "or \"off\"");
}

bool validation_equal(const void *a, const void *b) {
    return validation_level_of(a) == validation_level_of(b);
}

void validation_write(const void *option, writer *w) {
    writer_string(w, "validationLevel", level_names[validation_level_of(option)]);
}

bool validation_warn(tansu_buffer *warnings, const uint8_t *doc, size_t size,
                     const char *collection, const tansu_error *violation) {
    doc_value id;
    writer w = {.out = warnings};
    /* The context is "path: rule", or the rule alone. */
    const char *context = violation->context, *rule = context;
    char path[sizeof violation->context] = "";
    for (const char *at = context; (at = strstr(at, ": ")) != NULL; at++)
        rule = at + 2;
    if (rule != context)
        snprintf(path, sizeof path, "%.*s", (int)(rule - 2 - context), context);
    size_t start = writer_begin(&w);
    writer_string(&w, "collection", collection);
    size_t part = writer_open(&w, "document", DOC_DOCUMENT);
    if (doc_find_id(doc, size, &id))
        writer_value(&w, "_id", &id);
    writer_end(&w, part);
    part = writer_open(&w, "violation", DOC_DOCUMENT);
    writer_string(&w, "path", path);
    writer_string(&w, "rule", rule);
    writer_string(&w, "message", violation->message);
    writer_end(&w, part);
    return writer_finish(&w, start);
}
