/*
 * query/plan/plan.c -- the candidate plans: a table scan, a scan of each index that is selective or
 * provides the order, a union of indexes for an $or, an intersection of two indexes, a search of an
 * index of words (text_access.c); and the choice of the cheapest.
 */
#include "query/plan/plan.h"

#include "index/type_tag.h"
#include "query/match/collation.h"
#include "query/parse/projection.h"
#include "query/plan/text_access.h"
#include "store/index_backlog/index_backlog.h"

#include <math.h>
#include <string.h>

/* Rough nanoseconds on the machine of docs/architecture.md; only their ratios matter. */
#define COST_SCAN_DOCUMENT 70.0
#define COST_SCAN_REMOVED 3.0 /* a record id whose document was removed */
#define COST_FETCH 110.0      /* in record id order, nearly sequential in the log */
#define COST_FETCH_FAR 180.0  /* in key order */
#define COST_SEEK 300.0
#define COST_WILDCARD 20.0 /* longer keys: an index on the path itself is preferred */
#define COST_KEY 4.0
#define COST_SORT_RID 12.0
#define COST_GROUP 700.0   /* two seeks for each group of equal values */
#define COST_SORT_KEY 90.0 /* making and inserting one sort key */
#define COST_STREAM 400.0  /* of a merge: a cursor and the first entries */
#define COST_MERGE 12.0    /* for each doubling of the streams */
#define COST_PROJECT 30.0  /* projecting a document, and for each of its bytes: */
#define COST_PROJECT_BYTE 0.15
#define COST_COVER 45.0 /* projecting an entry */
#define COST_KEEP 70.0  /* copying an entry, and reading it in record id order */

#define USUAL_SIZE 200.0 /* bytes of a document, where none was sampled */

/* ---- Costs ---- */

double plan_examined(const planner *p, double total, bool sorted_later) {
    if (sorted_later || p->limit == UINT64_MAX)
        return total;
    double matches = p->matches == 0 ? 1 : (double)p->matches;
    double needed = (double)p->limit * (total / matches);
    return needed < total ? needed : total;
}

/* sort_cost -- sorting in memory: all matches, or the first few in a heap. */
static double sort_cost(const planner *p) {
    double matches = (double)p->matches;
    double kept = p->limit < p->matches ? (double)p->limit : matches;
    return matches * COST_SORT_KEY + matches * 4 * log2(kept + 2);
}

/* project_cost -- projecting that many documents or entries. */
static double project_cost(const planner *p, const plan *c, double results) {
    if (p->purpose != PLAN_PROJECTED)
        return 0;
    double bytes = p->document_size != 0 ? (double)p->document_size : USUAL_SIZE;
    return results * (c->covered ? COST_COVER : COST_PROJECT + COST_PROJECT_BYTE * bytes);
}

/* streamed_cost -- reading an index in the order of $orderby, up to the limit. */
static double streamed_cost(const plan *c, double rows, bool fetched) {
    bool grouped =
        c->group_paths != 0 && (c->backward || c->group_paths < c->accesses[0]->path_count);
    double key = grouped ? COST_GROUP : COST_KEY;
    if (c->streams > 1)
        key += COST_MERGE * log2((double)c->streams);
    return c->streams * (c->streams > 1 ? COST_STREAM : 0.0) +
           rows * (key + (fetched ? COST_FETCH_FAR : 0));
}

/* scan_cost -- reading the collection from its beginning. A queue consists of few documents behind
 * many that were removed. */
static double scan_cost(const planner *p, bool sorted_later) {
    const collection_state *c = p->collection;
    uint64_t passed = c->count + locations_in_gaps(c->locations);
    uint64_t removed = c->next_rid > passed ? c->next_rid - passed : 0;
    return COST_SCAN_DOCUMENT * plan_examined(p, (double)c->count, sorted_later) +
           COST_SCAN_REMOVED * (double)removed;
}

/* cost_of -- the cost of a candidate, given p->matches. */
static double cost_of(const planner *p, const plan *c) {
    bool sorted_later = c->sort == PLAN_SORT_MEMORY;
    bool fetched = (plan_returns_documents(p->purpose) && !c->covered) || !c->exact || sorted_later;
    double cost = sorted_later ? sort_cost(p) : 0;
    double keys = (double)c->keys; /* of an intersection: estimated common record ids */
    if (c->kind == PLAN_NONE)
        return 0;
    cost += project_cost(p, c, plan_examined(p, (double)p->matches, false));
    if (c->kind == PLAN_SCAN) {
        bool counted = p->purpose == PLAN_COUNT && c->exact;
        return counted ? 0 : cost + scan_cost(p, sorted_later);
    }
    for (uint32_t i = 0; i < c->access_count; i++) {
        const access_path *a = c->accesses[i];
        cost += COST_SEEK * (a->range_count + (a->ids ? a->ids->range_count : 0));
        cost += a->wildcard ? COST_WILDCARD : 0;
    }
    if (p->purpose == PLAN_COUNT && c->exact && c->kind == PLAN_INDEX && c->accesses[0]->distinct)
        return cost;
    double rows = plan_examined(p, keys, sorted_later);
    if (c->streamed)
        return cost + streamed_cost(c, rows, fetched);
    double entries = 0;
    for (uint32_t i = 0; i < c->access_count; i++)
        entries += (double)c->accesses[i]->keys;
    cost += entries * (COST_KEY + COST_SORT_RID + (c->covered ? COST_KEEP : 0));
    return cost + (fetched ? rows * COST_FETCH : 0);
}

/* ---- Candidates ---- */

/* At the head of the list. */
plan *plan_add(planner *p, enum plan_kind kind) {
    plan *c = arena_alloc(p->memory.arena, sizeof *c);
    if (!c)
        return NULL;
    c->kind = kind;
    c->sort = p->order_count != 0 ? PLAN_SORT_MEMORY : PLAN_SORT_NONE;
    c->next = p->candidates;
    p->candidates = c;
    return c;
}

/* add_index -- a candidate that reads one index. */
static tansu_status add_index(planner *p, access_path *a, plan **result) {
    plan *c = plan_add(p, PLAN_INDEX);
    access_path **list = arena_alloc(p->memory.arena, sizeof *list);
    if (!c || !list)
        return error_memory(p->error);
    *list = a;
    c->accesses = list;
    c->access_count = 1;
    c->exact = a->exact;
    c->keys = a->keys;
    c->streams = 1;
    *result = c;
    return TANSU_OK;
}

/* bad_index -- the error for an index that $index names and that may lack matches. */
static tansu_status bad_index(const planner *p, const access_path *a) {
    return error_set(
        p->error, TANSU_E_INVALID_QUERY, "hints.$index",
        "Index \"%.120s\" is sparse or partial and may lack documents that the query selects; add "
        "the condition of the index to the query, or remove the hint",
        a->name);
}

/* add_ordered -- a candidate that reads one index in the order of $orderby. */
static tansu_status add_ordered(planner *p, access_path *a, const index_order *order,
                                const bool *covered) {
    plan *c;
    tansu_status status = add_index(p, a, &c);
    if (status != TANSU_OK)
        return status;
    c->sort = PLAN_SORT_INDEX;
    c->streamed = true;
    c->backward = order->backward;
    c->group_paths = order->group_paths;
    c->streams = order->streams;
    c->fixed_paths = order->fixed_paths;
    c->covered = covered;
    return TANSU_OK;
}

/* consider_access -- adds the candidates that read an access path. */
static tansu_status consider_access(planner *p, access_path *a, bool named) {
    const bool *covered = NULL;
    tansu_status status = plan_covering(p, a, &covered);
    if (status != TANSU_OK)
        return status;
    index_order order = {0};
    bool ordered = plan_order(p, a, &order), sorted = p->order_count == 0;
    bool selective = a->bound_paths != 0 || a->subset;
    if (!selective && !ordered && !named && !(covered && sorted))
        return TANSU_OK;
    status = p->purpose == PLAN_COUNT
                 ? access_path_measure(p->rctx, a, false, p->deadline, p->error)
                 : access_path_measure_few(p, a);
    if (status != TANSU_OK)
        return status;
    if (a->keys < p->matches)
        p->matches = a->keys;
    if (ordered && order.group_paths != 0)
        status = add_ordered(p, a, &order, covered);
    if (status != TANSU_OK || (!selective && !named && !(covered && sorted)))
        return status;
    if (selective && p->selective_count <= TANSU_MAX_INDEXES)
        p->selective[p->selective_count++] = a;
    plan *candidate;
    status = add_index(p, a, &candidate);
    if (status != TANSU_OK)
        return status;
    candidate->streamed = a->in_order;
    if (ordered && order.group_paths == 0)
        candidate->sort = PLAN_SORT_NONE;
    if (candidate->sort == PLAN_SORT_NONE)
        candidate->covered = covered;
    return TANSU_OK;
}

/* consider_wildcard -- adds the candidates that use a wildcard index. */
static tansu_status consider_wildcard(planner *p, const conjunction *c, uint32_t number,
                                      bool named) {
    wildcard_uses uses;
    tansu_status status = access_path_wildcard(p, c, number, &uses);
    for (uint32_t i = 0; status == TANSU_OK && i < uses.count; i++)
        status = consider_access(p, uses.list[i], named);
    if (status != TANSU_OK || uses.count != 0 || !named)
        return status;
    return error_set(p->error, TANSU_E_INVALID_QUERY, "hints.$index",
                     "Index \"%.120s\" is a wildcard index and may lack documents that the query "
                     "selects; add a condition on a value that it has, or remove the hint",
                     access_path_name(p->collection, number));
}

/* consider_index -- adds the candidates that use one index. */
static tansu_status consider_index(planner *p, const conjunction *c, uint32_t number, bool named) {
    if (access_path_is_text(p->collection, number))
        return named ? text_access_named(p, number) : TANSU_OK;
    if (!named && !access_path_concerns(p, number))
        return TANSU_OK;
    tansu_status waited = index_current(p->collection, number, p->error);
    if (waited != TANSU_OK)
        return waited;
    if (access_path_is_wildcard(p->collection, number))
        return consider_wildcard(p, c, number, named);
    access_path *a = arena_alloc(p->memory.arena, sizeof *a);
    if (!a)
        return error_memory(p->error);
    access_path_begin(p->collection, number, a);
    tansu_status status = access_path_bind(p, c, a);
    if (status == TANSU_OK && !a->complete)
        return named ? bad_index(p, a) : TANSU_OK;
    return status == TANSU_OK ? consider_access(p, a, named) : status;
}

/* keep_better -- sets *best to an access path, if that is complete and more selective. */
static tansu_status keep_better(planner *p, access_path *a, access_path **best) {
    if (!a->complete || (a->bound_paths == 0 && !a->subset))
        return TANSU_OK;
    tansu_status status = access_path_measure(p->rctx, a, false, p->deadline, p->error);
    if (status == TANSU_OK && (!*best || a->keys < (*best)->keys))
        *best = a;
    return status;
}

/* best_access -- the most selective access path for a branch, or NULL. */
static tansu_status best_access(planner *p, const node *branch, access_path **result) {
    tansu_status stopped = plan_step(p, 16);
    if (stopped != TANSU_OK)
        return stopped;
    conjunction clauses; /* as in plan_choose() */
    const conjunction *c = &clauses;
    *result = NULL;
    conjunction_of(branch, &clauses);
    for (uint32_t i = 0; i < access_path_count(p->collection); i++) {
        if (access_path_is_text(p->collection, i) ||
            (index_waits(p->collection, i) && !access_path_concerns(p, i)))
            continue;
        tansu_status status = index_current(p->collection, i, p->error);
        if (status != TANSU_OK)
            return status;
        wildcard_uses uses = {.count = 1};
        if (access_path_is_wildcard(p->collection, i)) {
            status = access_path_wildcard(p, c, i, &uses);
        } else {
            access_path *a = uses.list[0] = arena_alloc(p->memory.arena, sizeof *a);
            if (!a)
                return error_memory(p->error);
            access_path_begin(p->collection, i, a);
            status = access_path_bind(p, c, a);
        }
        for (uint32_t k = 0; status == TANSU_OK && k < uses.count; k++)
            status = keep_better(p, uses.list[k], result);
        if (status != TANSU_OK)
            return status;
    }
    return TANSU_OK;
}

#define MAX_BRANCHES 1000

/* consider_union -- adds a candidate with an access path for each branch of an OR. `whole`: the OR
 * is the whole selector. */
static tansu_status consider_union(planner *p, const node *disjunction, bool whole) {
    uint32_t count = 0;
    for (const node *branch = disjunction->first; branch; branch = branch->next)
        count++;
    if (count > MAX_BRANCHES)
        return TANSU_OK;
    access_path **list = arena_alloc(p->memory.arena, count * sizeof *list);
    if (!list)
        return error_memory(p->error);
    bool exact = whole;
    uint64_t keys = 0;
    count = 0;
    for (const node *branch = disjunction->first; branch; branch = branch->next) {
        tansu_status status = best_access(p, branch, &list[count]);
        if (status != TANSU_OK || !list[count])
            return status;
        exact = exact && list[count]->exact;
        keys += list[count++]->keys;
    }
    plan *c = plan_add(p, PLAN_UNION);
    if (!c)
        return error_memory(p->error);
    c->accesses = list;
    c->access_count = count;
    c->exact = exact;
    c->keys = keys;
    if (keys < p->matches)
        p->matches = keys;
    return TANSU_OK;
}

/* The state of planning, to return to when a candidate needs too much memory. */
typedef struct attempt {
    arena_mark memory;
    plan *candidates;
    uint32_t selective_count;
    uint64_t matches;
} attempt;

/* attempt_begin -- saves the state. */
static attempt attempt_begin(const planner *p) {
    return (attempt){arena_get_mark(p->memory.arena), p->candidates, p->selective_count,
                     p->matches};
}

/* attempt_end -- restores the state after MEMORY by PLAN_MEMORY: the candidate is left out. The
 * table scan always remains. */
static tansu_status attempt_end(planner *p, const attempt *before, tansu_status status) {
    if (status != TANSU_E_MEMORY || !p->memory.arena->full)
        return status;
    arena_release(p->memory.arena, before->memory);
    p->candidates = before->candidates;
    p->selective_count = before->selective_count;
    p->matches = before->matches;
    p->skipped++;
    return TANSU_OK;
}

/* try_union -- considers a union, unless it needs too much memory. */
static tansu_status try_union(planner *p, const node *disjunction, bool whole) {
    attempt before = attempt_begin(p);
    return attempt_end(p, &before, consider_union(p, disjunction, whole));
}

/* consider_unions -- considers each OR that every match must satisfy, unless it is a clause. */
static tansu_status consider_unions(planner *p, const conjunction *c) {
    const node *root = p->q->planned;
    if (root->kind == NODE_OR)
        return conjunction_has(c, root) ? TANSU_OK : try_union(p, root, true);
    tansu_status status = TANSU_OK;
    for (const node *n = root->kind == NODE_AND ? root->first : NULL; status == TANSU_OK && n;
         n = n->next) {
        if (n->kind == NODE_OR && !conjunction_has(c, n))
            status = try_union(p, n, false);
    }
    return status;
}

/* ---- Intersections ---- */

/* The most selective indexes, of which pairs are considered. */
#define MAX_PAIRED 8

/* adds_to -- whether an access path is exact for a clause for which the other is not. */
static bool adds_to(const conjunction *c, const access_path *a, const access_path *other) {
    for (uint32_t i = 0; i < c->count + c->disjunction_count; i++) {
        if (a->used[i] && !other->used[i])
            return true;
    }
    return false;
}

/* add_intersection -- adds the candidate that intersects the record ids of two indexes. A document
 * that satisfies the clauses of both has an entry in the ranges of each, and a clause for which one
 * of them is exact is exact in the intersection. So arrays make no difference. */
static tansu_status add_intersection(planner *p, const conjunction *c, access_path *a,
                                     access_path *b, uint64_t common) {
    plan *candidate = plan_add(p, PLAN_INTERSECTION);
    access_path **list = arena_alloc(p->memory.arena, 2 * sizeof *list);
    if (!candidate || !list)
        return error_memory(p->error);
    list[0] = a;
    list[1] = b;
    candidate->accesses = list;
    candidate->access_count = 2;
    candidate->keys = common;
    candidate->exact = c->whole;
    for (uint32_t i = 0; i < c->count + c->disjunction_count; i++)
        candidate->exact = candidate->exact && (a->used[i] || b->used[i]);
    if (common < p->matches)
        p->matches = common;
    return TANSU_OK;
}

/* sort_selective -- sorts them by the number of entries. */
static void sort_selective(planner *p) {
    for (uint32_t i = 1; i < p->selective_count; i++) {
        access_path *moved = p->selective[i];
        uint32_t at = i;
        for (; at > 0 && p->selective[at - 1]->keys > moved->keys; at--)
            p->selective[at] = p->selective[at - 1];
        p->selective[at] = moved;
    }
}

/* consider_intersection -- considers the pair with the fewest common documents, assuming that their
 * conditions are independent. */
static tansu_status consider_intersection(planner *p, const conjunction *c) {
    double documents = (double)p->collection->count, least = documents;
    access_path *first = NULL, *second = NULL;
    sort_selective(p);
    for (uint32_t i = 0; i < p->selective_count && i < MAX_PAIRED; i++) {
        for (uint32_t k = i + 1; k < p->selective_count && k < MAX_PAIRED; k++) {
            access_path *a = p->selective[i], *b = p->selective[k];
            double common = documents == 0 ? 0 : (double)a->keys * (double)b->keys / documents;
            if (common < least && adds_to(c, a, b) && adds_to(c, b, a)) {
                least = common;
                first = a;
                second = b;
            }
        }
    }
    return first ? add_intersection(p, c, first, second, (uint64_t)ceil(least)) : TANSU_OK;
}

/* consider_named -- considers only the index that $index names. */
static tansu_status consider_named(planner *p, const conjunction *c) {
    const char *name = p->q->hints.index_name;
    for (uint32_t i = 0; i < access_path_count(p->collection); i++) {
        if (strcmp(access_path_name(p->collection, i), name) != 0)
            continue;
        tansu_status status = consider_index(p, c, i, true);
        if (status != TANSU_E_MEMORY || !p->memory.arena->full)
            return status;
        return error_set(
            p->error, TANSU_E_TOO_LARGE, "hints.$index",
            "Query needs more than %zu MiB of memory to plan with index \"%.120s\"; use fewer "
            "operands, or remove the hint",
            PLAN_MEMORY / (1024 * 1024), name);
    }
    return error_set(p->error, TANSU_E_INVALID_QUERY, "hints.$index",
                     "Index \"%.120s\" does not exist in the collection; list its indexes", name);
}

/* consider_waiting_count -- has an index that is not current answer a count. *done: there is a
 * plan, whose entries are counted. */
static tansu_status consider_waiting_count(planner *p, const conjunction *c, bool *done) {
    for (uint32_t i = 0; i < access_path_count(p->collection); i++) {
        access_path *a = plan_waiting_count(p, c, i);
        plan *found;
        if (!a)
            continue;
        *done = true;
        return add_index(p, a, &found);
    }
    return TANSU_OK;
}

/* consider_all -- considers a table scan and every index that helps. */
static tansu_status consider_all(planner *p, const conjunction *c) {
    tansu_status status = TANSU_OK;
    plan *scan = plan_add(p, PLAN_SCAN);
    if (!scan)
        return error_memory(p->error);
    scan->exact = p->q->planned->kind == NODE_TRUE;
    if (p->q->hints.index_choice == INDEX_NONE)
        return TANSU_OK;
    for (uint32_t i = 0; status == TANSU_OK && i < access_path_count(p->collection); i++) {
        attempt before = attempt_begin(p);
        status = attempt_end(p, &before, consider_index(p, c, i, false));
    }
    if (status == TANSU_OK)
        status = consider_unions(p, c);
    return status == TANSU_OK ? consider_intersection(p, c) : status;
}

/* consider -- makes the candidates. */
static tansu_status consider(planner *p) {
    const hints *h = &p->q->hints;
    p->order_count = p->purpose == PLAN_COUNT ? 0 : h->order_count;
    p->limit = h->max > UINT64_MAX - h->skip ? UINT64_MAX : h->max + h->skip;
    p->matches = p->collection ? p->collection->count : 0;
    if (p->text)
        p->matches = text_access_matches(p);
    tansu_status status = TANSU_OK;
    bool named = h->index_choice == INDEX_NAMED && p->collection;
    if (!p->collection || (p->q->planned->kind == NODE_FALSE && !named)) {
        if (!plan_add(p, PLAN_NONE))
            return error_memory(p->error);
        p->candidates->sort = PLAN_SORT_NONE;
        p->candidates->exact = true;
    } else {
        /* No plan keeps it. In the arena its 2 KiB would be cleared, and need a chunk that malloc
         * searches for. */
        conjunction c;
        conjunction_of(p->q->planned, &c);
        bool done = false;
        if (p->purpose == PLAN_COUNT && p->collection->backlog && h->index_choice == INDEX_ANY &&
            !h->explain && !p->text)
            status = consider_waiting_count(p, &c, &done);
        if (status == TANSU_OK && !done)
            status = named ? consider_named(p, &c) : consider_all(p, &c);
        if (status == TANSU_OK && p->text)
            status = text_access_consider(p);
    }
    return status;
}

tansu_status plan_choose(planner *p) {
    access_path *selective[TANSU_MAX_INDEXES + 1]; /* as the conjunction, not in the arena */
    p->selective = selective;
    tansu_status status = consider(p);
    p->selective = NULL;
    if (status != TANSU_OK)
        return status;
    for (plan *c = p->candidates; c; c = c->next) {
        c->cost = cost_of(p, c) + (p->text ? text_access_cost(p, c) : 0);
        if (!p->chosen || c->cost < p->chosen->cost)
            p->chosen = c;
    }
    return TANSU_OK;
}

/* ---- Whether an index provides the order of $orderby ---- */

/*
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

/* ---- Whether an index covers a projection ---- */

/* probe -- looks at one entry in the middle of the ranges: *restorable, whether the values can be
 * restored from it. If not, that holds for most entries, and keeping them would be in vain. Also
 * notes the size of its document, since covering saves more with larger ones. */
static tansu_status probe(planner *p, const access_path *a, bool *restorable) {
    const key_range *range = &a->ranges[a->range_count / 2];
    tree_cursor cursor;
    tansu_buffer key = TANSU_BUFFER_INIT;
    doc_ref ref;
    bool valid;
    *restorable = true;
    tree_cursor_init(&cursor, p->rctx->trees, a->entries);
    tansu_status status = tree_cursor_seek(&cursor, range->low, range->low_size, &valid, p->error);
    if (status != TANSU_OK || !valid)
        return status;
    uint64_t rid = tree_cursor_rid(&cursor);
    bool copied = tree_cursor_key(&cursor, &key);
    tree_cursor_end(&cursor);
    if (!copied)
        return error_memory(p->error);
    *restorable = suffix_type_tag(key.data + key.size - RID_SUFFIX_SIZE) != 0;
    tansu_buffer_free(&key);
    status = read_find(p->rctx, p->collection, rid, &ref, p->error);
    if (status == TANSU_OK)
        (void)read_document(p->rctx, ref, &p->document_size);
    return status == TANSU_DONE ? TANSU_OK : status;
}

tansu_status plan_covering(planner *p, const access_path *a, const bool **result) {
    *result = NULL;
    /* The entries of wildcard indexes have no type tags. */
    if (p->purpose != PLAN_PROJECTED || !a->exact || a->range_count == 0 || a->wildcard)
        return TANSU_OK;
    bool *covered = arena_alloc(p->memory.arena, a->path_count * sizeof *covered);
    bool restorable;
    if (!covered)
        return error_memory(p->error);
    if (!projection_covered(p->q->hints.fields, a->paths, a->path_count, covered))
        return TANSU_OK;
    tansu_status status = probe(p, a, &restorable);
    if (status == TANSU_OK && restorable)
        *result = covered;
    return status;
}

/* ---- Counts by an index that lacks the end of the log ---- */

/*
 * After a kill, an index gets the changes since the checkpoint when it is first used. Most of that
 * work is sorting and inserting entries. A count of which the entries in some ranges are all that
 * is asked for needs none of it: the entries of the checkpoint are counted in the tree, which takes
 * two descents a range, and those that changed documents lost and got are compared with the ranges.
 */

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

/* stored_count -- for a backlog_counting. Without `exact` and `distinct`, entries are not matches. */
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

/* is_inside -- for a backlog_counting. Ranges ascend: only the first one that ends after the entry
 * may have it. */
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
        access_path_is_text(p->collection, number) || !access_path_concerns(p, number))
        return NULL;
    arena_mark before = arena_get_mark(p->memory.arena);
    access_path *a = arena_alloc(p->memory.arena, sizeof *a);
    waiting_count w = {.p = p, .c = c, .number = number, .access = a};
    backlog_counting counting = {.stored = stored_count, .inside = is_inside, .context = &w};
    if (!a || !index_backlog_count(p->collection, number, &counting, &a->keys)) {
        arena_release(p->memory.arena, before); /* the memory is for planning with the index */
        return NULL;
    }
    a->counted = true;
    return a;
}
