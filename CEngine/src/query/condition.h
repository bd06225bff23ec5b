/*
 * query/condition.h -- asking one document or one value, outside of a query's run: array filters,
 * $pull, positional paths, projections of elements. Part query; may call base.
 */
#ifndef TANSU_QUERY_CONDITION_H
#define TANSU_QUERY_CONDITION_H

#include "base/path.h"
#include "query/query.h"

/*
 * What matching needs while it goes on: memory that is used again from document to document, and
 * the error that stopped it (a regular expression that needs too much work, memory). Zeroed, it is
 * ready. Used by one thread at a time. After every answer, ask `status`: unless it is TANSU_OK the
 * answer means nothing.
 */
typedef struct match_context {
    tansu_status status;
    const struct watch *watch; /* what stops a match (interrupt.h); NULL: nothing */
    uint64_t steps;            /* tests and values that were looked at */
    tansu_buffer text;         /* a value in the form of a collation */
    tansu_buffer key;          /* a key as a string, for $keyMapMatch */
    tansu_buffer marks;        /* a byte for each of many values that must all be found */
    struct regex_memory *regex;
    char place[256];     /* of the error: path and operator */
    const char *message; /* of the error; NULL: memory */
} match_context;

/* match_context_free -- the context is then zeroed. */
void match_context_free(match_context *c);

/* match_context_status -- its status, with *error filled in unless it is TANSU_OK. */
tansu_status match_context_status(const match_context *c, tansu_error *error);

struct collation;

/* A compiled condition on one value. Immutable; may be asked by many threads. */
typedef struct condition condition;

/*
 * condition_compile -- reads what stands behind $elemMatch or $pull: operators ({"$gt": 5}) ask the
 * value itself, fields ({"name": "x", "age": {"$gt": 5}}) ask a value that is a document, anything
 * else is compared with the value. `place` names the condition in errors; `by` is how strings compare
 * (NULL: by bytes), and must outlive the condition. Errors: INVALID_QUERY, MEMORY.
 */
tansu_status condition_compile(const doc_value *operand, const char *place,
                               const struct collation *by, condition **result, tansu_error *error);
void condition_free(condition *c);

/* condition_holds -- whether a value meets the condition. It is one value: an array is not looked
 * into, but by the operators that speak of arrays. */
bool condition_holds(const condition *c, match_context *context, const doc_value *value);

/* query_matches -- whether a document matches a query's selector. */
bool query_matches(const query *q, match_context *context, const uint8_t *doc, size_t size);

/*
 * query_first_element -- the position of the element by which a document that matches the query has
 * its array at `array` matched, for `array.$`: the first element that passes all tests of the query
 * on the array or on paths through it (negated ones aside), or if there is none, the first that
 * passes any of them. False when the query does not speak of the array, or the array is not there.
 */
bool query_first_element(const query *q, match_context *context, const uint8_t *doc, size_t size,
                         const path *array, uint32_t *position);

#endif
