/*
 * query/query_collections.h -- which collections a query reads.
 */
#ifndef TANSU_QUERY_QUERY_COLLECTIONS_H
#define TANSU_QUERY_QUERY_COLLECTIONS_H

#include "bson/writer.h"
#include "query/parse/query_compile.h"

/* query_collections -- appends an element "collections", an array of names, each once: `own` first,
 * then those of joins and of subqueries at any depth. To be called after query_expand(). Errors:
 * MEMORY. */
tansu_status query_collections(const query *q, const char *own, writer *w, tansu_error *error);

#endif
