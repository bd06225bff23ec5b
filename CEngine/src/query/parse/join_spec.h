/*
 * query/parse/join_spec.h -- $do as parsed: a tree of the keys that lead to ids, and to arrays that
 * are sliced.
 */
#ifndef TANSU_QUERY_PARSE_JOIN_SPEC_H
#define TANSU_QUERY_PARSE_JOIN_SPEC_H

#include "query/parse/parsed_query.h"
#include "query/parse/projection.h"

/* A key on a path. The last one has the collection or the slice. */
typedef struct join_spec {
    key_set_item head; /* the name, for key_set_find_name() */
    key_set children;
    const char *collection; /* $join; or NULL */
    bool hex_ids;           /* text of 24 hexadecimal digits is the ObjectId, too */
    bool sliced;            /* $slice */
    array_slice slice;
    const char *path; /* the whole path, for explain */
} join_spec;

/* join_is_leaf -- whether a path ends here. */
static inline bool join_is_leaf(const join_spec *join) {
    return join->collection || join->sliced;
}

/* join_parse -- adds {path: {"$join": "collection"} or {"$slice": n}, ...} to q->hints.joins.
 * `context` is for errors. Errors: INVALID_QUERY, MEMORY. */
tansu_status join_parse(query *q, const doc_value *value, const char *context, tansu_error *error);

/* join_check_projection -- refuses a slice of an array of which "path.$" takes an element: that is
 * found by its position in the stored array. Errors: INVALID_QUERY. */
tansu_status join_check_projection(const query *q, tansu_error *error);

#endif
