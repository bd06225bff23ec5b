/*
 * support/calls/aggregate_calls.h -- aggregations of the collection "c" with requests and answers
 * as JSON, in which single quotes stand for double ones. NULL: none. One thread at a time.
 */
#ifndef SUPPORT_AGGREGATE_CALLS_H
#define SUPPORT_AGGREGATE_CALLS_H

#include "tansu.h"

/* aggregate_text -- the answer of tansu_aggregate() as relaxed JSON, or the name of the status
 * and the error's context. Valid until the next call. */
const char *aggregate_text(tansu_db *db, const char *query, const char *group, const char *hints);

/* distinct_text -- the same of tansu_distinct(). */
const char *distinct_text(tansu_db *db, const char *path, const char *query, const char *hints);

/* aggregate_answer -- a result of either as text, which is freed. */
const char *aggregate_answer(tansu_status status, tansu_buffer *result, const tansu_error *error);

#endif
