/*
 * query/aggregate.h -- groups of matching documents with figures about each, and the distinct values
 * of a path (docs/query-language.md, "Aggregates"). Part query; may call catalog, index, base.
 */
#ifndef TANSU_QUERY_AGGREGATE_H
#define TANSU_QUERY_AGGREGATE_H

#include "catalog/view.h"

/* An answer is no longer than this; above it there is TOO_LARGE. */
#define AGGREGATE_MEMORY ((size_t)256 * 1024 * 1024)

/* What to make of which documents, checked and compiled. */
typedef struct aggregation aggregation;

/* BSON that a caller gives; NULL is empty. */
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
 * aggregate_run -- appends {"groups": […]}, or {"values": […]}, or with $explain the plan. Used
 * once. `collection` NULL is an empty one. Errors: MEMORY, TOO_LARGE, IO, CORRUPT, and those of a
 * query's run.
 */
tansu_status aggregate_run(aggregation *a, const view *v, const collection_state *collection,
                           tansu_buffer *result, tansu_error *error);

#endif
