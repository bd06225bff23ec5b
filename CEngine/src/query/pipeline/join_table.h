/*
 * query/pipeline/join_table.h -- documents of a collection by the values of a field, for $lookup:
 * each value, and each element of an array, leads to the documents that have it, as a query
 * {field: value} finds them.
 */
#ifndef TANSU_QUERY_PIPELINE_JOIN_TABLE_H
#define TANSU_QUERY_PIPELINE_JOIN_TABLE_H

#include "query/pipeline/pipeline_internal.h"

typedef struct join_table join_table;

/* join_table_new -- NULL when memory is exhausted. `memory` is its limit. */
join_table *join_table_new(const path *field, const collation *collation, size_t memory);
void join_table_free(join_table *t);

/* join_table_add -- adds a document. *full is set when it would exceed the limit: the table is then
 * of no use. Errors: MEMORY. */
tansu_status join_table_add(join_table *t, const doc_value *doc, bool *full, tansu_error *error);

/* join_table_find -- adds the numbers of the documents that have a value to those found. False when
 * memory is exhausted. */
bool join_table_find(join_table *t, const doc_value *value);

/* join_table_found -- how many documents were found since the last call of join_table_clear(),
 * each once, in the order in which they were added. */
size_t join_table_found(join_table *t);

/* join_table_at -- one of them. */
doc_value join_table_at(const join_table *t, size_t number);

void join_table_clear(join_table *t);

#endif
