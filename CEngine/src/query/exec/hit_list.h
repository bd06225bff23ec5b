/*
 * query/exec/hit_list.h -- the results of a query in a write transaction, which are found at once:
 * a list in memory or, when it exceeds the memory of a sort, in a temporary file.
 */
#ifndef TANSU_QUERY_EXEC_HIT_LIST_H
#define TANSU_QUERY_EXEC_HIT_LIST_H

#include "query/exec/external_sort.h"
#include "query/exec/sort.h"

/* Zero-initialised but for `spill`, it is empty. */
typedef struct hit_list {
    external_sort_options spill; /* of the temporary file; its memory is that of the list */
    hit *items;
    size_t count;
    size_t capacity;
    uint64_t next;
    external_sort *external; /* NULL: all are in `items` */
} hit_list;

void hit_list_free(hit_list *list);

/* hit_list_add -- appends one. Errors: MEMORY, TOO_LARGE, IO, FULL, TIMEOUT, CANCELLED. */
tansu_status hit_list_add(hit_list *list, const hit *h, tansu_error *error);

/* hit_list_finish -- after the last one. Errors: as above. */
tansu_status hit_list_finish(hit_list *list, tansu_error *error);

/* hit_list_next -- the next in the order in which they were added. TANSU_DONE at the end. Errors:
 * as above. */
tansu_status hit_list_next(hit_list *list, hit *h, tansu_error *error);

/* hit_list_spilled -- bytes written to temporary files. */
static inline uint64_t hit_list_spilled(const hit_list *list) {
    return list->external ? external_sort_spilled(list->external) : 0;
}

#endif
