/*
 * store/validators/validator.h -- the options of a collection that have every document satisfy a
 * schema or a query: checked in the transaction that saves it, whichever way it comes.
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
    uint8_t condition[]; /* a schema, {"$jsonSchema": schema} or a query */
} validator;

/* validator_parse -- reads the option: a document; an empty one, {"$jsonSchema": {}}, false or null
 * for none (*result is NULL). Whether the document is valid is known when it is compiled. Errors:
 * INVALID_QUERY, MEMORY. */
tansu_status validator_parse(const doc_value *option, void **result, tansu_error *error);

/* validator_equal -- NULL is none. */
bool validator_equal(const void *a, const void *b);

/* validator_write -- appends an element "validator" with the document; false for NULL. */
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

/* ---- Levels ---- */

/* What becomes of a document that violates the validator. */
typedef enum validation_level {
    VALIDATION_STRICT,   /* it is refused; the default */
    VALIDATION_MODERATE, /* the same, unless it replaces one that violates it as well */
    VALIDATION_WARN,     /* it is saved and reported */
    VALIDATION_OFF       /* it is saved */
} validation_level;

/* The option of a collection; one that is strict is NULL. */
typedef struct validation {
    validation_level level;
} validation;

/* validation_level_of -- of an option that may be NULL. */
static inline validation_level validation_level_of(const validation *v) {
    return v != NULL ? v->level : VALIDATION_STRICT;
}

/* validation_new -- the option for a level. Errors: MEMORY. */
tansu_status validation_new(validation_level level, void **result, tansu_error *error);

/* validation_parse -- reads the option: "strict", "moderate", "warn" or "off". Errors: INVALID_QUERY,
 * MEMORY. */
tansu_status validation_parse(const doc_value *option, void **result, tansu_error *error);

/* validation_equal -- of two levels. */
bool validation_equal(const void *a, const void *b);

/* validation_write -- appends an element "validationLevel". */
void validation_write(const void *option, writer *w);

/* The most warnings of one call that are reported. */
#define WARNINGS_REPORTED 100

/* validation_warn -- appends {"collection", "document": {"_id"}, "violation": {"path", "rule",
 * "message"}} of a document that is saved though it violates a validator; `violation` is the error of
 * validator_check(). False when memory is exhausted. */
bool validation_warn(tansu_buffer *warnings, const uint8_t *doc, size_t size,
                     const char *collection, const tansu_error *violation);

#endif
