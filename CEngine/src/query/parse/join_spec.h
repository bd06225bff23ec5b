/*
 * query/parse/join_spec.h -- $do as parsed: a tree of the keys that lead to ids.
 */
#ifndef TANSU_QUERY_PARSE_JOIN_SPEC_H
#define TANSU_QUERY_PARSE_JOIN_SPEC_H

#include "query/parse/parsed_query.h"

/* A key on the path to an id. The last one has the collection. */
typedef struct join_spec {
    key_set_item head; /* the name, for key_set_find_name() */
    key_set children;
    const char *collection; /* NULL: the path continues */
    const char *path;       /* the whole path, for explain */
} join_spec;

/* join_parse -- adds {path: {"$join": "collection"}, ...} to q->hints.joins. `context` is for
 * errors. Errors: INVALID_QUERY, MEMORY. */
tansu_status join_parse(query *q, const doc_value *value, const char *context, tansu_error *error);

#endif
