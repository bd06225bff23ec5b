/*
 * store/validators/validator.c -- schemas of collections.
 */
#include "store/validators/validator.h"

#include "util/error.h"

#include <stdlib.h>

tansu_status validator_parse(const doc_value *option, void **result, tansu_error *error) {
    *result = NULL;
    if (option->type == DOC_NULL || (option->type == DOC_BOOL && !doc_bool(option)))
        return TANSU_OK;
    if (option->type != DOC_DOCUMENT)
        return error_set(error, TANSU_E_INVALID_QUERY, "validator",
                         "The option \"validator\" must be a schema, such as {\"required\": "
                         "[\"name\"]}, or false");
    doc_value schema = *option;
    doc_iter iter;
    if (doc_iter_value(&iter, option) && doc_iter_next(&iter) &&
        strcmp(iter.key, "$jsonSchema") == 0 && iter.value.type == DOC_DOCUMENT) {
        const doc_value inner = iter.value;
        if (!doc_iter_next(&iter))
            schema = inner;
    }
    if (schema.size <= 5)
        return TANSU_OK;
    validator *v = malloc(sizeof *v + schema.size);
    if (v == NULL)
        return error_memory(error);
    *v = (validator){.size = (uint32_t)schema.size};
    memcpy(v->schema, schema.data, schema.size);
    *result = v;
    return TANSU_OK;
}

bool validator_equal(const void *left, const void *right) {
    const validator *a = left, *b = right;
    if (a == NULL || b == NULL)
        return a == b;
    return a->size == b->size && memcmp(a->schema, b->schema, a->size) == 0;
}

void validator_write(const void *option, writer *w) {
    const validator *v = option;
    if (v == NULL)
        writer_bool(w, "validator", false);
    else
        writer_document(w, "validator", v->schema, v->size);
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
                         "The collection has a schema, which can't be read here");
    own->hooks = hooks;
    return hooks->validator_compile(v->schema, v->size, &own->compiled, error);
}

tansu_status validator_check(const validator *v, const query_hooks *hooks, const char *collection,
                             const uint8_t *doc, size_t size, tansu_error *error) {
    tansu_status status = validator_prepare(v, hooks, error);
    return status == TANSU_OK ? v->hooks->validator_check(v->compiled, collection, doc, size, error)
                              : status;
}
