/*
 * query/collection_validator.h -- what the documents of a collection satisfy: a schema or a query.
 */
#ifndef TANSU_QUERY_COLLECTION_VALIDATOR_H
#define TANSU_QUERY_COLLECTION_VALIDATOR_H

#include "bson/document.h"

/* collection_validator_compile -- compiles a schema, {"$jsonSchema": schema} or a query that one
 * document alone answers. Errors: INVALID_QUERY (also for a document that may be meant as either,
 * and for $do, subqueries and $rand), TOO_LARGE, MEMORY. */
tansu_status collection_validator_compile(const uint8_t *condition, size_t size, void **result,
                                          tansu_error *error);

/* collection_validator_check -- whether a document satisfies it. Any number of threads at once.
 * Errors: INVALID_DOCUMENT (the context is the path and the rule or the operator, such as
 * "age: $gte", or an operator alone), INVALID_QUERY (a pattern of a schema exceeds its limits),
 * MEMORY. */
tansu_status collection_validator_check(const void *v, const char *collection, const uint8_t *doc,
                                        size_t size, tansu_error *error);

/* collection_validator_free -- NULL is allowed. */
void collection_validator_free(void *v);

#endif
