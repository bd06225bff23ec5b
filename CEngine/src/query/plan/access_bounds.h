/*
 * query/plan/access_bounds.h -- steps of making the key ranges of an access path, for ordinary
 * indexes (access_path.c) and wildcard indexes (wildcard_access.c).
 */
#ifndef TANSU_QUERY_PLAN_ACCESS_BOUNDS_H
#define TANSU_QUERY_PLAN_ACCESS_BOUNDS_H

#include "query/plan/plan.h"

/* access_bounds -- the bounds of one path of an index; *found is false when no clause has any.
 * Clauses for which they are exact are marked in `used`. Errors: TIMEOUT, CANCELLED, MEMORY. */
tansu_status access_bounds(planner *p, const conjunction *c, const access_path *a, uint32_t which,
                           bool *used, interval_list *result, bool *found);

/* access_extend -- appends the intervals of the next path to each range, all of which are points so
 * far. Errors: MEMORY. */
tansu_status access_extend(planner *p, access_path *a, const interval_list *list);

/* access_prefix_range -- sets the upper bound to the first key that does not begin with `low`.
 * Errors: MEMORY. */
tansu_status access_prefix_range(planner *p, key_range *range);

/* access_all_points -- whether all intervals are points. */
bool access_all_points(const interval_list *list);

/* access_collated -- whether an index has strings collated as the test compares them. */
bool access_collated(const access_path *a, const test *t);

/* access_complete -- whether the index has an entry for every match, if it is sparse or partial. */
bool access_complete(planner *p, const conjunction *c, const access_path *a);

/* access_implied -- whether all documents in the index pass a test, so that it is redundant. */
bool access_implied(planner *p, const access_path *a, const test *t);

/* access_wildcard_has -- whether bounds on a path have keys of scalars only, neither null nor
 * missing among them, so that a wildcard index has all of these. */
bool access_wildcard_has(const interval_list *list);

#endif
