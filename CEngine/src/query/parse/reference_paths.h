/*
 * query/parse/reference_paths.h -- conditions on what the references of a collection lead to.
 *
 * Where "author" is a reference to "authors", {"author.name": "Lem"} is a condition on the authors:
 * it is replaced by {"author": {"$in": {"$from": "authors", "$query": {"name": "Lem"}}}}.
 */
#ifndef TANSU_QUERY_PARSE_REFERENCE_PATHS_H
#define TANSU_QUERY_PARSE_REFERENCE_PATHS_H

#include "query/parse/query_compile.h"
#include "store/references/reference_list.h"

/*
 * reference_paths_expand -- writes the selector, which has been compiled, with a subquery for each
 * condition on a path that goes on after a reference; nothing when there is none. Only the first
 * reference of a path is followed: the next belongs to the collection of the subquery.
 *
 * A condition that holds where there are no values ($ne, {"$exists": false}, null) holds unless one
 * of the documents that are referred to violates it, as it would if they were embedded.
 *
 * Errors: MEMORY, TOO_LARGE.
 */
tansu_status reference_paths_expand(const doc_value *selector, const reference_list *references,
                                    tansu_buffer *out, tansu_error *error);

#endif
