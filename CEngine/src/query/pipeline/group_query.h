/*
 * query/pipeline/group_query.h -- groups of the documents that a query selects, and the distinct values
 * of a path (docs/query-language.md, "Groups and distinct values"): a short form of a pipeline with
 * $match, $group and $sort, whose paths are those of queries.
 */
#ifndef TANSU_QUERY_PIPELINE_GROUP_QUERY_H
#define TANSU_QUERY_PIPELINE_GROUP_QUERY_H

#include "query/pipeline/pipeline.h"

/* A validated and compiled request. */
typedef struct group_query group_query;

/*
 * group_query_compile -- of the query of a collection, a group document {"by": …, "fields": {…}} and
 * hints. Errors: INVALID_BSON, INVALID_QUERY (context such as "group.fields.n"), MEMORY, and those
 * of a query's compilation.
 */
tansu_status group_query_compile(const char *collection, pipeline_text query, pipeline_text group,
                                 pipeline_text hints, const interrupt *stop, group_query **result,
                                 tansu_error *error);

/* group_query_compile_distinct -- of a query, a dotted path and hints. Errors: as above. */
tansu_status group_query_compile_distinct(const char *collection, pipeline_text query,
                                          const char *path, pipeline_text hints,
                                          const interrupt *stop, group_query **result,
                                          tansu_error *error);

/* group_query_free -- NULL is allowed. */
void group_query_free(group_query *q);

/* group_query_run -- appends {"groups": […]}, or {"values": […]}, or with $explain the plan. May be
 * called once. Errors: those of a query's run, and TOO_LARGE. */
tansu_status group_query_run(group_query *q, const snapshot *snapshot, const read_context *rctx,
                             tansu_buffer *result, tansu_error *error);

#endif
