/*
 * query/pipeline/group_index.h -- groups of all documents that a query selects from its indexes, where
 * these are exact, instead of from the documents:
 *
 *   a constant group key, $sum of 1      as tansu_count(), which needs no documents where an index
 *                                        is exact
 *   a constant group key, $min and $max  the first and the last document in the order of the field,
 *                                        when an index provides that order
 *   a field as group key, $sum of 1      a scan of an index on that field alone, which reads one
 *                                        document for each value; likewise without accumulators
 *
 * The index must have its strings collated as the pipeline asks, and must not be multikey: then each
 * document has one value, and the rules for arrays do not matter. The values themselves are read
 * from documents, because 1 and 1.0 have the same key.
 */
#ifndef TANSU_QUERY_PIPELINE_GROUP_INDEX_H
#define TANSU_QUERY_PIPELINE_GROUP_INDEX_H

#include "query/pipeline/grouping.h"

/* group_from_index -- makes all groups; *done is false when an index does not serve, or when it has
 * so many values that reading the documents is faster. Errors: those of a query's run. */
tansu_status group_from_index(stage *s, grouping *g, query_source *from, bool *done);

/* count_from_index -- counts the documents of the query. Errors: as above. */
tansu_status count_from_index(stage *s, query_source *from, uint64_t *count);

#endif
