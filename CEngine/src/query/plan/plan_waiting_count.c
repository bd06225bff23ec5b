/*
 * query/plan/plan_waiting_count.c -- counts by an index that lacks the end of the log.
 *
 * After a kill, an index gets the changes since the checkpoint when it is first used. Most of that
 * work is sorting and inserting entries. A count of which the entries in some ranges are all that
 * is asked for needs none of it: the entries of the checkpoint are counted in the tree, which takes
 * two descents a range, and those that changed documents lost and got are compared with the ranges.
 */
#include "query/plan/plan.h"
#include "store/index_tail/index_tail.h"

#include <string.h>

/* What is counted in. */
typedef struct waiting_count {
    planner *p;
    const conjunction *c;
    uint32_t number;
    access_path *access;
} waiting_count;

/* compare -- orders two strings by memcmp, the shorter first. */
static int compare(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size) {
    int order = memcmp(a, b, a_size < b_size ? a_size : b_size);
    return order != 0 ? order : (a_size > b_size) - (a_size < b_size);
}

/* stored_count -- for a tail_counting. Without `exact` and `distinct`, entries are not matches. */
static tansu_status stored_count(void *context, bool *usable, uint64_t *count, tansu_error *error) {
    waiting_count *w = context;
    access_path *a = w->access;
    access_path_begin(w->p->collection, w->number, a);
    tansu_status status = access_path_bind(w->p, w->c, a);
    *usable = status == TANSU_OK && a->complete && a->exact && a->distinct && !a->multikey &&
              a->bound_paths != 0 && !a->ids;
    if (*usable)
        status = access_path_measure(w->p->rctx, a, true, w->p->deadline, error);
    *count = a->keys;
    return status;
}

/* is_inside -- for a tail_counting. Ranges ascend: only the first one that ends after the entry may
 * have it. */
static bool is_inside(const void *context, const uint8_t *entry, uint32_t size) {
    const access_path *a = ((const waiting_count *)context)->access;
    uint32_t low = 0, high = a->range_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const key_range *range = &a->ranges[middle];
        if (range->high && compare(range->high, range->high_size, entry, size) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < a->range_count &&
           (a->ranges[low].low_size == 0 ||
            compare(a->ranges[low].low, a->ranges[low].low_size, entry, size) <= 0);
}

access_path *plan_waiting_count(planner *p, const conjunction *c, uint32_t number) {
    if (!index_waits(p->collection, number) || access_path_is_wildcard(p->collection, number) ||
        !access_path_concerns(p, number))
        return NULL;
    arena_mark before = arena_get_mark(p->memory.arena);
    access_path *a = arena_alloc(p->memory.arena, sizeof *a);
    waiting_count w = {.p = p, .c = c, .number = number, .access = a};
    tail_counting counting = {.stored = stored_count, .inside = is_inside, .context = &w};
    if (!a || !index_tail_count(p->collection, number, &counting, &a->keys)) {
        arena_release(p->memory.arena, before); /* the memory is for planning with the index */
        return NULL;
    }
    a->counted = true;
    return a;
}
