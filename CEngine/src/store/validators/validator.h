/*
 * store/validators/validator.h -- the option of a collection that has every document satisfy a
 * schema: checked in the transaction that saves it, whichever way it comes.
 */
#ifndef TANSU_STORE_VALIDATORS_VALIDATOR_H
#define TANSU_STORE_VALIDATORS_VALIDATOR_H

#include "bson/writer.h"
#include "index/definition.h"

/* Immutable once made, but for `compiled`: snapshots share it. */
typedef struct validator {
    const query_hooks *hooks; /* that have compiled it */
    void *compiled;           /* NULL until it is first needed; guarded by the write lock */
    uint32_t size;
    uint8_t schema[];
} validator;

/* validator_parse -- reads the option: a schema, or {"$jsonSchema": schema}; an empty one, false or
 * null for none (*result is NULL). Whether the schema is valid is known when it is compiled. Errors:
 * INVALID_QUERY, MEMORY. */
tansu_status validator_parse(const doc_value *option, void **result, tansu_error *error);

/* validator_equal -- NULL is none. */
bool validator_equal(const void *a, const void *b);

/* validator_write -- appends an element "validator" with the schema; false for NULL. */
void validator_write(const void *option, writer *w);

/* validator_free -- a retire_free; NULL is allowed. */
void validator_free(void *context, void *v);

/* validator_prepare -- compiles it unless it is. Errors: UNSUPPORTED (`hooks` is NULL), and those of
 * validator_compile(). */
tansu_status validator_prepare(const validator *v, const query_hooks *hooks, tansu_error *error);

/* validator_check -- whether a document satisfies it. The caller has the write lock. Errors:
 * INVALID_DOCUMENT, and those of validator_prepare() and the hook. */
tansu_status validator_check(const validator *v, const query_hooks *hooks, const char *collection,
                             const uint8_t *doc, size_t size, tansu_error *error);

#endif
