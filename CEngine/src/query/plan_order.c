/*
 * query/plan_order.c -- whether an index gives the order that $orderby asks for.
 *
 * Paths that the ranges hold to one value order nothing. The others must be the index's next paths, read
 * forward or backward. Where leading paths are held to a few values each, as $in does, every
 * combination of those is a stream that has the order of the paths behind them; the streams are
 * merged.
 *
 * An index that met an array has several entries for a document and can't serve. Strings must be
 * ordered in the form that the index has them in. That a sparse or partial index has every match was
 * proven before; so it leaves out of the order what is not in the answer.
 */
#include "query/collation.h"
#include "query/plan.h"

/* Streams that are merged at most: each has a cursor and a batch of entries. */
#define MAX_STREAMS 1000

/* is_held -- whether the ranges hold the path of that number to one value. */
static bool is_held(const access *a, uint32_t number) {
    return number < a->bound_paths && a->bounds[number].count == 1 &&
           a->bounds[number].items[0].point;
}

/* is_fixed -- likewise the path itself. */
static bool is_fixed(const access *a, const path *path) {
    for (uint32_t i = 0; i < a->bound_paths; i++) {
        if (is_held(a, i) && path_equal(&a->paths[i], path))
            return true;
    }
    return false;
}

/* skip_held -- the next path from `at` on that is not held. */
static uint32_t skip_held(const access *a, uint32_t at) {
    while (is_held(a, at))
        at++;
    return at;
}

/* gives_behind -- whether the paths from `at` on give the order. */
static bool gives_behind(const planner *p, const access *a, uint32_t at, index_order *order) {
    bool decided = false;
    order->backward = false;
    for (uint32_t i = 0; i < p->order_count; i++) {
        const order_path *by = &p->q->hints.order[i];
        if (is_fixed(a, by->path))
            continue;
        at = skip_held(a, at);
        if (at == a->path_count || !path_equal(&a->paths[at], by->path))
            return false;
        bool against = a->descending[at] != by->descending;
        if (decided && against != order->backward)
            return false;
        order->backward = against;
        decided = true;
        at++;
    }
    order->group_paths = decided ? skip_held(a, at) : 0;
    return true;
}

/* plan_order -- see plan.h. The fewer paths the streams hold, the fewer streams there are. */
bool plan_order(const planner *p, const access *a, index_order *order) {
    const collation *by_form = p->q->collation;
    bool folded = by_form != NULL && by_form->fold && !by_form->numeric;
    if (p->order_count == 0 || a->multikey || (a->fold ? !folded : by_form != NULL))
        return false;
    if (a->range_count ==
        0) /* there is nothing to be ordered, and nothing that a stream could hold */
        return false;
    order->streams = 1;
    for (uint32_t held = 0;; held++) {
        order->held_paths = held;
        if (gives_behind(p, a, held, order))
            return true;
        if (held == a->bound_paths)
            return false;
        const interval_list *values = &a->bounds[held];
        for (uint32_t i = 0; i < values->count; i++) {
            if (!values->items[i].point)
                return false;
        }
        order->streams *= values->count;
        if (order->streams == 0 || order->streams > MAX_STREAMS)
            return false;
    }
}
