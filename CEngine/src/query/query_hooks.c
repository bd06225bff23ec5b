/*
 * query/query_hooks.c -- partial filters of indexes, and validators of collections.
 */
#include "query/query_hooks.h"

#include "query/plan/partial_filter.h"
#include "query/schema/schema.h"
#include "util/buffer.h"
#include "util/error.h"

#include <stdio.h>

/* ---- Validators ---- */

static tansu_status compile_schema(const uint8_t *doc, size_t size, void **validator,
                                   tansu_error *error) {
    schema *compiled = NULL;
    tansu_status status = schema_compile(doc, size, &compiled, error);
    *validator = compiled;
    return status;
}

static void free_schema(void *validator) {
    schema_free(validator);
}

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

/* violated -- the error for the first violation. */
static tansu_status violated(const tansu_buffer *found, const char *collection,
                             tansu_error *error) {
    doc_value list;
    doc_iter first;
    char context[sizeof error->context];
    doc_find(found->data, found->size, "violations", 10, &list);
    doc_iter_value(&first, &list);
    if (!doc_iter_next(&first))
        return TANSU_OK;
    const char *path = text_of(&first.value, "path"), *rule = text_of(&first.value, "rule");
    /* The name of a rule is whole, a long path is not. */
    int room = (int)(sizeof context - 3 - strnlen(rule, MOST_RULE));
    snprintf(context, sizeof context, "%.*s: %.*s", room, path, MOST_RULE, rule);
    return error_set(error, TANSU_E_INVALID_DOCUMENT, context,
                     "The document violates the schema of collection \"%s\": %s: %s: %s",
                     collection, path, rule, text_of(&first.value, "message"));
}

static tansu_status check_schema(const void *validator, const char *collection, const uint8_t *doc,
                                 size_t size, tansu_error *error) {
    tansu_buffer found = TANSU_BUFFER_INIT;
    uint64_t count;
    tansu_status status = schema_check(validator, doc, size, 1, &found, &count, error);
    if (status == TANSU_OK && count != 0)
        status = violated(&found, collection, error);
    tansu_buffer_free(&found);
    return status;
}

const query_hooks engine_query_hooks = {
    .filter_compile = partial_filter_compile,
    .filter_matches = partial_filter_matches,
    .filter_free = partial_filter_free,
    .validator_compile = compile_schema,
    .validator_check = check_schema,
    .validator_free = free_schema,
};
