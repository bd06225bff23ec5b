/*
 * query/pipeline/sort_pattern.h -- the order {"a": 1, "b.c": -1} of $sort, $top and the like: the
 * sort keys of documents, byte strings in that order.
 *
 * A path leads through arrays, and a document's key is the least of those that their elements give,
 * as in MongoDB: paths through one array take the same element together, and paths through two
 * arrays are an error. An empty array is before null and missing values.
 */
#ifndef TANSU_QUERY_PIPELINE_SORT_PATTERN_H
#define TANSU_QUERY_PIPELINE_SORT_PATTERN_H

#include "query/pipeline/pipeline_internal.h"

typedef struct sort_pattern sort_pattern;

/* sort_pattern_compile -- reads the document. `part` of the stage for errors, or NULL. Errors:
 * INVALID_QUERY, MEMORY. */
tansu_status sort_pattern_compile(stage *s, const char *part, const doc_value *spec,
                                  const sort_pattern **result);

/* sort_pattern_key -- appends the key of a document. Errors: INVALID_QUERY (two arrays), MEMORY,
 * TIMEOUT, CANCELLED. */
tansu_status sort_pattern_key(stage *s, const sort_pattern *pattern, const doc_value *doc,
                              tansu_buffer *key);

#endif
