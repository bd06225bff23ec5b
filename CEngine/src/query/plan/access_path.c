/*
 * query/plan/access_path.c -- which key ranges of an index contain every match of a conjunction.
 *
 * Arrays need care. A document has an index entry for each combination of the values of its paths
 * (index/definition.h), so it may have several values at a path, and any of them satisfies a test
 * (rule 4). Two tests of one path may be satisfied by two different values, so that no single entry
 * is in both ranges: {a: {$gt: 5, $lt: 3}} selects {a: [1, 9]}. Such tests must not be intersected:
 * one of them determines the range, the others become the residual filter. Tests of different paths
 * are not affected. The entries are the whole cross product, so if one value of `a` is in the range
 * of `a` and one value of `b` in the range of `b`, the entry of these two exists. So bounds on
 * several paths of a compound index are exact for arrays as well.
 */
#include "query/match/collation.h"
#include "query/plan/partial_filter.h"
#include "query/plan/plan.h"

#define SAMPLED_RANGES 64

/* is_disjunction -- whether a node is an OR of tests of one path. */
static bool is_disjunction(const node *n) {
    if (n->kind != NODE_OR)
        return false;
    const test *first = n->first->kind == NODE_TEST ? n->first->test : NULL;
    for (const node *child = n->first; child; child = child->next) {
        if (child->kind != NODE_TEST || !first->path || !child->test->path ||
            !path_equal(child->test->path, first->path))
            return false;
    }
    return true;
}

/* The node itself, or its children if it is an AND. Anything else makes `whole` false. */
void conjunction_of(const node *n, conjunction *c) {
    c->count = 0;
    c->disjunction_count = 0;
    c->branch = n;
    c->whole = true;
    const node *child = n->kind == NODE_AND ? n->first : n;
    for (; child; child = n->kind == NODE_AND ? child->next : NULL) {
        if (child->kind == NODE_TEST && c->count < MAX_CONJUNCTION)
            c->tests[c->count++] = child->test;
        else if (c->disjunction_count < MAX_DISJUNCTIONS && is_disjunction(child))
            c->disjunctions[c->disjunction_count++] = child;
        else if (child->kind != NODE_TRUE)
            c->whole = false;
    }
}

bool conjunction_has(const conjunction *c, const node *disjunction) {
    for (uint32_t i = 0; i < c->disjunction_count; i++) {
        if (c->disjunctions[i] == disjunction)
            return true;
    }
    return false;
}

uint32_t access_path_count(const collection_state *collection) {
    return 1 + collection->index_count;
}

static const path_part id_part = {"_id", 3, -1};
static const path id_path = {(path_part *)&id_part, 1, (char *)"_id"};

const char *access_path_name(const collection_state *collection, uint32_t number) {
    return number == 0 ? "_id" : collection->indexes[number - 1].definition->name;
}

const path *access_path_first(const collection_state *collection, uint32_t number) {
    return number == 0 ? &id_path : collection->indexes[number - 1].definition->paths;
}

/* same_field -- whether two paths begin with the same field. */
static bool same_field(const path *a, const path *b) {
    return a->parts[0].size == b->parts[0].size &&
           memcmp(a->parts[0].name, b->parts[0].name, a->parts[0].size) == 0;
}

/* tests_field -- whether a test in a selector is on the field that a path begins with. */
static bool tests_field(const node *n, const path *path) {
    if (n->kind == NODE_TEST)
        return n->test->path == NULL || n->test->wild != WILD_NONE ||
               same_field(n->test->path, path);
    for (const node *child = n->first; child; child = child->next) {
        if (tests_field(child, path))
            return true;
    }
    return false;
}

bool access_path_concerns(const planner *p, uint32_t number) {
    const path *paths = access_path_first(p->collection, number);
    const index_definition *d = number == 0 ? NULL : p->collection->indexes[number - 1].definition;
    if (d && d->wildcard)
        return p->q->planned->kind != NODE_TRUE && p->q->planned->kind != NODE_FALSE;
    /* Without a condition a covering index may be read instead of the documents. */
    if ((p->purpose == PLAN_PROJECTED && p->q->planned->kind == NODE_TRUE) ||
        (d && (d->sparse || d->filter)))
        return true;
    for (uint32_t i = 0; i < (d ? d->path_count : 1); i++) {
        if (tests_field(p->q->planned, &paths[i]))
            return true;
        for (uint32_t k = 0; k < p->order_count; k++) {
            if (same_field(p->q->hints.order[k].path, &paths[i]))
                return true;
        }
    }
    return false;
}

void access_path_begin(const collection_state *collection, uint32_t number, access_path *a) {
    static const bool ascending = false;
    if (number == 0) {
        /* An `_id` is never an array, so its index has one entry for each document. */
        *a = (access_path){.name = "_id",
                           .entries = &collection->ids,
                           .paths = &id_path,
                           .descending = &ascending,
                           .path_count = 1,
                           .unique = true,
                           .complete = true};
        return;
    }
    const collection_index *index = &collection->indexes[number - 1];
    const index_definition *definition = index->definition;
    *a = (access_path){.name = definition->name,
                       .entries = &index->entries,
                       .paths = definition->paths,
                       .descending = definition->descending,
                       .path_count = definition->path_count,
                       .definition = definition,
                       .multikey = index->multikey,
                       .unique = definition->unique,
                       .fold = definition->fold,
                       .subset = definition->sparse || definition->filter != NULL};
}

/* ---- Sparse and partial indexes ---- */

/* finds_value -- whether every match has a value at a path of the index, so that a sparse index has
 * it. */
static bool finds_value(planner *p, const conjunction *c, const access_path *a) {
    for (uint32_t i = 0; i < c->count; i++) {
        for (uint32_t k = 0; k < a->path_count; k++) {
            const test *t = c->tests[i];
            if (t->path && path_equal(t->path, &a->paths[k]) && test_finds_value(&p->memory, t))
                return true;
        }
    }
    return false;
}

/* access_complete -- whether the index has an entry for every match. */
bool access_complete(planner *p, const conjunction *c, const access_path *a) {
    const index_definition *d = a->definition;
    if (!d || !a->subset)
        return true;
    if (d->filter) {
        const node *filter = filter_node(d->filter);
        if (!node_implies(&p->memory, c->branch, filter) &&
            !node_implies(&p->memory, p->q->planned, filter))
            return false;
    }
    return !d->sparse || finds_value(p, c, a);
}

/* access_implied -- whether all documents in the index pass a test, so that it is redundant: the
 * partial filter implies it, or it is $exists on the only path of a sparse index. */
bool access_implied(planner *p, const access_path *a, const test *t) {
    const index_definition *d = a->definition;
    if (!d || !t->path)
        return false;
    node n = {.kind = NODE_TEST, .test = (test *)t};
    if (d->filter && node_implies(&p->memory, filter_node(d->filter), &n))
        return true;
    return d->sparse && d->path_count == 1 && t->op == TEST_EXISTS && !t->negated &&
           t->wild == WILD_NONE && path_equal(t->path, &a->paths[0]);
}

/* ---- Bounds ---- */

/* is_collated -- whether a collation makes a difference for a test. */
static bool is_collated(const test *t) {
    switch (t->op) {
    case TEST_EXISTS: return false;
    case TEST_IN:
        for (uint32_t i = 0; i < t->operand_count; i++) {
            if (collation_applies(&t->operands[i]))
                return true;
        }
        return false;
    case TEST_EQ:
    case TEST_GT:
    case TEST_GTE:
    case TEST_LT:
    case TEST_LTE:
    case TEST_BETWEEN: return collation_applies(&t->operand);
    default: return true;
    }
}

/* access_collated -- whether the index has strings collated as the test compares them. */
bool access_collated(const access_path *a, const test *t) {
    bool by_bytes = t->collation == NULL;
    bool folded = t->collation != NULL && t->collation->fold && !t->collation->numeric;
    return (a->fold ? folded : by_bytes) || !is_collated(t);
}

bool access_wildcard_has(const interval_list *list) {
    return bounds_are_scalar(list) && !bounds_include_missing(list);
}

/* test_bounds -- bounds_of_test() for an index. A unique one does not have every missing value at a
 * position (index_entries_make()). */
static bool test_bounds(planner *p, const access_path *a, const test *t, interval_list *list,
                        bool *usable, bool *exact) {
    *usable = false;
    if (access_collated(a, t) && !bounds_of_test(&p->memory, t, !a->multikey, list, usable, exact))
        return false;
    if (*usable && a->unique && a->multikey && path_has_positions(t->path) &&
        bounds_include_missing(list))
        *usable = false;
    /* Of several values each clause is used by itself; of one, all together. */
    if (*usable && a->wildcard && a->multikey && !access_wildcard_has(list))
        *usable = false;
    return true;
}

/* disjunction_bounds -- the keys of all tests of an OR. A document passes it with any value that
 * passes any of them. */
static bool disjunction_bounds(planner *p, const access_path *a, const node *disjunction,
                               interval_list *list, bool *usable, bool *exact) {
    interval *all = NULL;
    size_t count = 0, capacity = 0;
    *exact = true;
    for (const node *child = disjunction->first; child; child = child->next) {
        interval_list one;
        bool exactly = false;
        if (!test_bounds(p, a, child->test, &one, usable, &exactly))
            return false;
        if (!*usable)
            return true;
        *exact = *exact && exactly;
        if (count + one.count > MAX_RANGES) {
            *usable = false;
            return true;
        }
        if (count + one.count > capacity) {
            capacity = 2 * (count + one.count);
            interval *more = arena_alloc(p->memory.arena, capacity * sizeof *more);
            if (!more)
                return false;
            if (count != 0)
                memcpy(more, all, count * sizeof *more);
            all = more;
        }
        if (one.count != 0)
            memcpy(all + count, one.items, one.count * sizeof *all);
        count += one.count;
    }
    return bounds_unite(&p->memory, all, count, list);
}

/* clause_bounds -- the bounds of a clause on the path with that number; *usable false if it is on
 * another path. */
static bool clause_bounds(planner *p, const conjunction *c, uint32_t clause, const access_path *a,
                          uint32_t which, interval_list *list, bool *usable, bool *exact) {
    *usable = false;
    const node *disjunction = clause < c->count ? NULL : c->disjunctions[clause - c->count];
    const test *t = disjunction ? disjunction->first->test : c->tests[clause];
    if (!t->path || !path_equal(t->path, &a->paths[which]))
        return true;
    return disjunction ? disjunction_bounds(p, a, disjunction, list, usable, exact)
                       : test_bounds(p, a, t, list, usable, exact);
}

/* selectivity -- ranks the clauses on a path with arrays, of which only one can be used, by how
 * narrow their ranges usually are. */
static int selectivity(const conjunction *c, uint32_t clause) {
    if (clause >= c->count)
        return 2;
    switch (c->tests[clause]->op) {
    case TEST_EQ: return 4;
    case TEST_IN: return 3;
    case TEST_BEGIN:
    case TEST_BETWEEN: return 1;
    default: return 0;
    }
}

/* access_bounds -- of several values only one clause can be used, and the most selective is. */
tansu_status access_bounds(planner *p, const conjunction *c, const access_path *a, uint32_t which,
                           bool *used, interval_list *result, bool *found) {
    uint32_t best = 0;
    bool best_exact = false;
    *found = false;
    for (uint32_t i = 0; i < c->count + c->disjunction_count; i++) {
        interval_list list;
        bool usable, exact = false;
        if (a->multikey && *found && selectivity(c, i) <= selectivity(c, best))
            continue;
        tansu_status status = plan_step(p, i < c->count ? 1 + c->tests[i]->operand_count / 16 : 64);
        if (status != TANSU_OK)
            return status;
        if (!clause_bounds(p, c, i, a, which, &list, &usable, &exact))
            return error_memory(p->error);
        if (!usable)
            continue;
        if (*found && !a->multikey) {
            if (!bounds_intersect(&p->memory, result, &list, result))
                return error_memory(p->error);
        } else {
            *result = list;
        }
        best = i;
        best_exact = exact;
        *found = true;
        if (!a->multikey && exact)
            used[i] = true;
    }
    if (a->multikey && *found && best_exact)
        used[best] = true;
    return TANSU_OK;
}

/* concatenate -- two byte strings, in the arena. */
static const uint8_t *concatenate(planner *p, const uint8_t *a, size_t a_size, const uint8_t *b,
                                  size_t b_size) {
    uint8_t *both = arena_alloc(p->memory.arena, a_size + b_size + 1);
    if (!both)
        return NULL;
    if (a_size != 0)
        memcpy(both, a, a_size);
    if (b_size != 0)
        memcpy(both + a_size, b, b_size);
    return both;
}

/* access_prefix_range -- sets the upper bound to the first key that does not begin with `low`. */
tansu_status access_prefix_range(planner *p, key_range *range) {
    tansu_buffer *scratch = &p->memory.scratch;
    range->high = NULL;
    range->high_size = 0;
    if (!buffer_set(scratch, range->low, range->low_size))
        return error_memory(p->error);
    if (!key_successor(scratch))
        return TANSU_OK;
    range->high_size = scratch->size;
    range->high = arena_copy(p->memory.arena, scratch->data, scratch->size);
    return range->high ? TANSU_OK : error_memory(p->error);
}

/* access_extend -- a range that is not a point can't be followed by another path. */
tansu_status access_extend(planner *p, access_path *a, const interval_list *list) {
    size_t count = (size_t)a->range_count * list->count;
    key_range *ranges = arena_alloc(p->memory.arena, (count == 0 ? 1 : count) * sizeof *ranges);
    if (!ranges)
        return error_memory(p->error);
    for (uint32_t r = 0, n = 0; r < a->range_count; r++) {
        const key_range *before = &a->ranges[r];
        for (uint32_t i = 0; i < list->count; i++, n++) {
            const interval *next = &list->items[i];
            key_range *range = &ranges[n];
            if (before->low_size == 0) {
                *range = (key_range){next->low, next->high, next->low_size, next->high_size};
                continue;
            }
            range->low_size = before->low_size + next->low_size;
            range->low = concatenate(p, before->low, before->low_size, next->low, next->low_size);
            if (!range->low)
                return error_memory(p->error);
            if (next->point) {
                tansu_status status = access_prefix_range(p, range);
                if (status != TANSU_OK)
                    return status;
            } else if (next->high) {
                range->high_size = before->low_size + next->high_size;
                range->high =
                    concatenate(p, before->low, before->low_size, next->high, next->high_size);
                if (!range->high)
                    return error_memory(p->error);
            } else {
                range->high = before->high; /* the end of the point */
                range->high_size = before->high_size;
            }
        }
    }
    a->ranges = ranges;
    a->range_count = (uint32_t)count;
    return TANSU_OK;
}

/* access_all_points -- whether all intervals are points. */
bool access_all_points(const interval_list *list) {
    for (uint32_t i = 0; i < list->count; i++) {
        if (!list->items[i].point)
            return false;
    }
    return true;
}

/* set_properties -- derives what the plan needs to know from the ranges. */
static void set_properties(planner *p, access_path *a, const conjunction *c, bool points) {
    for (uint32_t i = 0; i < c->count; i++)
        a->used[i] = a->used[i] || access_implied(p, a, c->tests[i]);
    a->complete = access_complete(p, c, a);
    a->exact = c->whole && a->complete;
    for (uint32_t i = 0; i < c->count + c->disjunction_count; i++)
        a->exact = a->exact && a->used[i];
    a->all_points = points && a->bound_paths == a->path_count;
    bool one = a->range_count <= 1;
    a->in_order = one && a->all_points;
    a->distinct = !a->multikey || a->in_order;
}

tansu_status access_path_bind(planner *p, const conjunction *c, access_path *a) {
    key_range *all = arena_alloc(p->memory.arena, sizeof *all);
    uint32_t clauses = c->count + c->disjunction_count;
    a->used = arena_alloc(p->memory.arena, (size_t)clauses + 1);
    if (!all || !a->used)
        return error_memory(p->error);
    all->low = (const uint8_t *)"";
    a->ranges = all;
    a->range_count = 1;
    bool points = true;
    for (uint32_t i = 0; i < a->path_count && points; i++) {
        interval_list list, inverted;
        bool found, kept[MAX_CLAUSES];
        memcpy(kept, a->used, clauses);
        tansu_status status = access_bounds(p, c, a, i, kept, &list, &found);
        if (status != TANSU_OK)
            return status;
        if (!found || (uint64_t)a->range_count * list.count > MAX_RANGES)
            break;
        memcpy(a->used, kept, clauses);
        a->bounds[i] = list;
        if (a->descending[i]) {
            if (!bounds_invert(&p->memory, &list, &inverted))
                return error_memory(p->error);
            list = inverted;
        }
        status = access_extend(p, a, &list);
        if (status != TANSU_OK)
            return status;
        a->bound_paths++;
        points = access_all_points(&list);
    }
    set_properties(p, a, c, points);
    return TANSU_OK;
}

/* measure_range -- counts the entries in one range. */
static tansu_status measure_range(const read_context *rctx, const access_path *a,
                                  const key_range *range, uint64_t *count, tansu_error *error) {
    uint64_t first = 0, last = a->entries->count;
    tansu_status status = TANSU_OK;
    if (range->low_size != 0 && range->high) {
        const tree_range keys = {range->low, range->low_size, range->high, range->high_size};
        return tree_count(rctx->trees, a->entries, &keys, count, error);
    }
    if (range->low_size != 0)
        status = tree_rank(rctx->trees, a->entries, range->low, range->low_size, &first, error);
    if (status == TANSU_OK && range->high)
        status = tree_rank(rctx->trees, a->entries, range->high, range->high_size, &last, error);
    if (status == TANSU_OK)
        *count = last > first ? last - first : 0;
    return status;
}

/* More are rarely in one leaf, and then a second descent is a small part of reading them. */
#define FEW_RIDS 32

tansu_status access_path_measure_few(planner *p, access_path *a) {
    const key_range *range = a->ranges;
    if (a->range_count != 1 || range->low_size == 0 || !range->high || a->ids ||
        (a->unique && a->all_points))
        return access_path_measure(p->rctx, a, false, p->deadline, p->error);
    uint64_t rids[FEW_RIDS];
    tree_few few = {.rids = rids, .capacity = FEW_RIDS};
    const tree_range keys = {range->low, range->low_size, range->high, range->high_size};
    tansu_status status =
        tree_count_few(p->rctx->trees, a->entries, &keys, &a->keys, &few, p->error);
    a->counted = status == TANSU_OK;
    if (status != TANSU_OK || !few.complete)
        return status;
    a->few_count = few.count;
    a->few = arena_copy(p->memory.arena, rids, few.count * sizeof *rids);
    /* While planning goes on, for the documents will probably be read. */
    read_prefetch_locations(p->collection, rids, few.count);
    return a->few ? TANSU_OK : error_memory(p->error);
}

/* A sample is spread evenly over the ranges. */
tansu_status access_path_measure(const read_context *rctx, access_path *a, bool exactly,
                                 const deadline *deadline, tansu_error *error) {
    uint32_t step = exactly ? 1 : a->range_count / SAMPLED_RANGES + 1;
    uint64_t total = 0, measured = 0;
    a->estimated = step > 1;
    if (!exactly && a->unique && a->all_points) {
        a->keys = a->range_count;
        a->estimated = true;
        return TANSU_OK;
    }
    for (uint32_t i = 0; i < a->range_count; i += step, measured++) {
        uint64_t count;
        tansu_status status =
            deadline && measured % SAMPLED_RANGES == 0 ? deadline_check(deadline, error) : TANSU_OK;
        if (status == TANSU_OK)
            status = measure_range(rctx, a, &a->ranges[i], &count, error);
        if (status != TANSU_OK)
            return status;
        total += count;
    }
    a->keys = measured == 0 ? 0 : total * a->range_count / measured;
    a->counted = !a->estimated && !a->ids;
    if (!a->ids)
        return TANSU_OK;
    tansu_status status = access_path_measure(rctx, a->ids, exactly, deadline, error);
    a->keys += a->ids->keys;
    return status;
}
