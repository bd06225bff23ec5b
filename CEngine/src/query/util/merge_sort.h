/*
 * query/util/merge_sort.h -- an in-memory sort that can be cancelled.
 */
#ifndef TANSU_QUERY_UTIL_MERGE_SORT_H
#define TANSU_QUERY_UTIL_MERGE_SORT_H

#include "query/util/deadline.h"
#include <stddef.h>

#define SORT_STEP 4096 /* items sorted, or merged, between two checks of the deadline */

/*
 * merge_sort -- sorts `count` items of `size` bytes as qsort() does, checking the deadline. After
 * TIMEOUT and CANCELLED the items are in no order, but complete. Temporarily allocates as much
 * memory as the items take. Errors: MEMORY, TIMEOUT, CANCELLED.
 */
tansu_status merge_sort(void *items, size_t count, size_t size,
                        int (*compare)(const void *, const void *), const deadline *deadline,
                        tansu_error *error);

#endif
