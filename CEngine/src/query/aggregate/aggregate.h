/*
 * query/aggregate/aggregate.h -- groups of matching documents with their aggregates, and the
 * distinct values of a path (docs/query-language.md, "Aggregates").
 */
#ifndef TANSU_QUERY_AGGREGATE_AGGREGATE_H
#define TANSU_QUERY_AGGREGATE_AGGREGATE_H

#include "store/read_context.h"

/* The limit of a result; above it the error is TOO_LARGE. */
#define AGGREGATE_MEMORY ((size_t)256 * 1024 * 1024)

/* A validated and compiled aggregation. */
typedef struct aggregation aggregation;

/* BSON of the caller; NULL is empty. */
typedef struct aggregate_text {
    const uint8_t *data;
    size_t size;
} aggregate_text;

/*
 * aggregate_compile -- of a query, a group document {"by": …, "fields": {…}} and hints. Errors:
 * INVALID_BSON, INVALID_QUERY (context such as "group.fields.n"), MEMORY.
 */
tansu_status aggregate_compile(aggregate_text query, aggregate_text group, aggregate_text hints,
                               const interrupt *stop, aggregation **result, tansu_error *error);

/* distinct_compile -- of a query, a dotted path and hints. Errors: as above. */
tansu_status distinct_compile(aggregate_text query, const char *path, aggregate_text hints,
                              const interrupt *stop, aggregation **result, tansu_error *error);

void aggregate_free(aggregation *a);

/*
 * aggregate_run -- appends {"groups": […]}, or {"values": […]}, or with $explain the plan. May be
 * called once. `collection` NULL is an empty one; `snapshot` has those of subqueries. Errors:
 * MEMORY, TOO_LARGE, IO, CORRUPT, and those of a query's run.
 */
tansu_status aggregate_run(aggregation *a, const snapshot *snapshot, const read_context *rctx,
                           const collection_state *collection, tansu_buffer *result,
                           tansu_error *error);

#endif
