/*
 * query/parse/implied_tests.h -- what a condition on elements says of the document's paths, for the
 * planner.
 */
#ifndef TANSU_QUERY_PARSE_IMPLIED_TESTS_H
#define TANSU_QUERY_PARSE_IMPLIED_TESTS_H

#include "query/parse/parsed_query.h"

/*
 * implied_tests_add -- sets *planned to a tree that selects the same documents as q->root: next to
 * each $elemMatch and $allMatch are tests that every document passes which satisfies it. Where
 * {"lines": {"$elemMatch": {"product": 7, "count": {"$gt": 2}}}} holds, so do {"lines.product": 7}
 * and {"lines.count": {"$gt": 2}}, which have index bounds. The matcher needs none of them.
 *
 * It is q->root itself where there is nothing to add. Errors: MEMORY.
 */
tansu_status implied_tests_add(query *q, node **planned, tansu_error *error);

#endif
