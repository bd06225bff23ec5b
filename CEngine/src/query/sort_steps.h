/*
 * query/sort_steps.h -- sorting very many things in a call that may be stopped. Part query; may call
 * base.
 */
#ifndef TANSU_QUERY_SORT_STEPS_H
#define TANSU_QUERY_SORT_STEPS_H

#include "query/interrupt.h"
#include <stddef.h>

/* So many items are sorted, or merged, between two looks at the watch. */
#define SORT_STEP 4096

/*
 * sort_steps -- sorts `count` items of `size` bytes as qsort() does, and ends soon when the watch says
 * so; the items are then in no order, each still there once. Needs as much memory again for the time
 * that it takes. Errors: MEMORY, TIMEOUT, CANCELLED.
 */
tansu_status sort_steps(void *items, size_t count, size_t size,
                        int (*compare)(const void *, const void *), const watch *w,
                        tansu_error *error);

#endif
