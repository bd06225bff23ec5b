/*
 * support/random/random_query.h -- random documents, queries, hints and indexes over the few paths
 * that they share, so that queries find something and indexes serve them; all such that
 * query_model.h knows their meaning.
 */
#ifndef SUPPORT_RANDOM_QUERY_H
#define SUPPORT_RANDOM_QUERY_H

#include "support/random/random.h"

#include <bson/bson.h>

/* random_case_document -- a document {_id: id, a, b, c, u}, fields of which may be missing. `u` is
 * mostly different in documents with different ids. `plain` leaves arrays out, so that indexes stay
 * of one entry a document. */
bson_t *random_case_document(random_source *r, int id, bool plain);

/* random_selector -- appends conditions on some paths and, up to a depth, logic. */
void random_selector(random_source *r, bson_t *doc, int depth);

/* random_hints -- order, window and collation; `folded`: mostly one without regard to letter
 * case. */
bson_t *random_hints(random_source *r, bool folded);

/* random_index -- keys and options of an index. */
void random_index(random_source *r, bson_t **keys, bson_t **options);

#endif
