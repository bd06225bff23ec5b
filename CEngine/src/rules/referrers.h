/*
 * rules/referrers.h -- finding the documents that refer to given documents.
 */
#ifndef TANSU_RULES_REFERRERS_H
#define TANSU_RULES_REFERRERS_H

#include "query/util/deadline.h"
#include "store/read_context.h"
#include "store/references/reference_list.h"

/* referrers_find -- the record ids of the documents of a collection that have one of `ids`, a BSON
 * array, at the path of a reference; by an index where there is one. The caller frees *rids.
 * Errors: those of a query. */
tansu_status referrers_find(const reference *r, const collection_state *holder,
                            const read_context *rctx, const tansu_buffer *ids, uint64_t **rids,
                            size_t *count, tansu_error *error);

#endif
