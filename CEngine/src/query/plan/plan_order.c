/*
 * query/plan/plan_order.c -- whether an index provides the order of $orderby.
 *
 * Paths that the ranges fix to one value do not affect the order. The others must be the next paths
 * of the index, read forward or backward. Where the ranges fix leading paths to a few values each,
 * as $in does, each combination of these is a stream in the order of the paths that follow; a k-way
 * merge combines the streams.
 *
 * In a unique index no two documents are equal at all paths: what $orderby has after these does not
 * matter, unless streams are merged, which may be equal at the paths that follow the fixed ones.
 *
 * A multikey index has several entries for a document and provides no order. $orderby must collate
 * strings as the index does. A sparse or partial index leaves out only documents that are not
 * matches: that it is complete was proven before.
 */
#include "query/match/collation.h"
#include "query/plan/plan.h"

/* Limit of streams to merge: each has a cursor and a batch of entries. */
#define MAX_STREAMS 1000

/* is_point -- whether the ranges fix the path with that number to one value. */
static bool is_point(const access_path *a, uint32_t number) {
    return number < a->bound_paths && a->bounds[number].count == 1 &&
           a->bounds[number].items[0].point;
}

/* is_fixed -- whether they fix a path to one value. */
static bool is_fixed(const access_path *a, const path *path) {
    for (uint32_t i = 0; i < a->bound_paths; i++) {
        if (is_point(a, i) && path_equal(&a->paths[i], path))
            return true;
    }
    return false;
}

/* skip_fixed -- the number of the next path from `at` on that is not fixed. */
static uint32_t skip_fixed(const access_path *a, uint32_t at) {
    while (is_point(a, at))
        at++;
    return at;
}

/* orders_from -- whether the paths from `at` on provide the order. */
static bool orders_from(const planner *p, const access_path *a, uint32_t at, index_order *order) {
    bool decided = false;
    order->backward = false;
    for (uint32_t i = 0; i < p->order_count; i++) {
        const order_path *by = &p->q->hints.order[i];
        if (is_fixed(a, by->path))
            continue;
        at = skip_fixed(a, at);
        if (at == a->path_count && a->unique && order->streams == 1)
            break; /* no two documents are equal so far */
        if (at == a->path_count || !path_equal(&a->paths[at], by->path))
            return false;
        bool against = a->descending[at] != by->descending;
        if (decided && against != order->backward)
            return false;
        order->backward = against;
        decided = true;
        at++;
    }
    order->group_paths = decided ? skip_fixed(a, at) : 0;
    return true;
}

/* Tries few fixed paths first: fewer of them make fewer streams. */
bool plan_order(const planner *p, const access_path *a, index_order *order) {
    const collation *collation = p->q->collation;
    bool folded = collation != NULL && collation->fold && !collation->numeric;
    if (p->order_count == 0 || a->multikey || (a->fold ? !folded : collation != NULL))
        return false;
    if (a->range_count == 0) /* there are no entries, and no values for a stream */
        return false;
    order->streams = 1;
    for (uint32_t fixed = 0;; fixed++) {
        order->fixed_paths = fixed;
        if (orders_from(p, a, fixed, order))
            return true;
        if (fixed == a->bound_paths)
            return false;
        const interval_list *values = &a->bounds[fixed];
        for (uint32_t i = 0; i < values->count; i++) {
            if (!values->items[i].point)
                return false;
        }
        order->streams *= values->count;
        if (order->streams == 0 || order->streams > MAX_STREAMS)
            return false;
    }
}
