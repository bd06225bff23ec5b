/*
 * query/plan/wildcard_access.c -- access paths of wildcard indexes (index/definition.h).
 *
 * For one path of a query a wildcard index is an index on that path, with two differences. It has
 * scalars only, so the bounds must not include null and missing, documents and arrays. And whether
 * a document may have several values at the path is known of the path itself: an entry says where
 * arrays are.
 *
 * A position in a path, such as the 0 in "a.0.b", may be a key, an element of an array, which
 * leaves no trace in the paths of entries, or an element that is itself an array. The ranges are
 * those of all these, and the positions become part of the residual filter.
 *
 * "**" reads the paths that exist from the index, with two seeks each, and has ranges in all of
 * them. A second tree by value would cost each write as much as the first; a list of paths, a
 * count for each path, kept up to date. Nor has the index the scalar `_id`s: those are ranges of
 * the index on `_id`. "**.name" reads the same paths, and has ranges in those that end in the name.
 */
#include "query/match/collation.h"
#include "query/plan/plan.h"

#include <stdlib.h>

#define MAX_POSITIONS 3 /* of a path: 3 ways for each */

/* is_id -- the key whose scalars, at the top of a document, the index has only where strings are
 * folded. */
static bool is_id(const path_part *key) {
    return key->size == 3 && memcmp(key->name, "_id", 3) == 0;
}

/* ---- Ranges ---- */

/* new_access -- an access path for one path, without ranges. NULL when memory is exhausted. */
static access_path *new_access(planner *p, const conjunction *c, uint32_t number,
                               const path *path) {
    static const bool ascending = false;
    access_path *a = arena_alloc(p->memory.arena, sizeof *a);
    if (!a)
        return NULL;
    access_path_begin(p->collection, number, a);
    a->paths = path;
    a->descending = &ascending;
    a->path_count = 1;
    a->wildcard = true;
    a->used = arena_alloc(p->memory.arena, (size_t)c->count + c->disjunction_count + 1);
    return a->used ? a : NULL;
}

/* add_range -- adds the range of all entries that begin with the scratch bytes. */
static tansu_status add_range(planner *p, key_range *range) {
    const tansu_buffer *bytes = &p->memory.scratch;
    range->low_size = bytes->size;
    range->low = arena_copy(p->memory.arena, bytes->data, bytes->size);
    return range->low ? access_prefix_range(p, range) : error_memory(p->error);
}

/* finish -- what the plan needs to know from the ranges. */
static void finish(planner *p, const conjunction *c, access_path *a, bool points) {
    uint32_t clauses = c->count + c->disjunction_count;
    a->complete = access_complete(p, c, a);
    a->exact = c->whole && a->complete;
    for (uint32_t i = 0; i < clauses; i++) {
        /* The index on `_id` has documents that the partial filter does not select. */
        if (i < c->count && !a->ids)
            a->used[i] = a->used[i] || access_implied(p, a, c->tests[i]);
        a->exact = a->exact && a->used[i];
    }
    a->all_points = points;
    a->in_order = points && a->range_count <= 1 && !a->ids;
    a->distinct = !a->multikey || a->in_order;
}

/* ---- One path ---- */

/* has_arrays -- whether some document has an array at the path or on the way. The scratch bytes are
 * those of the path. */
static tansu_status has_arrays(planner *p, const access_path *a, const path *path, bool *arrays) {
    tansu_buffer *bytes = &p->memory.scratch;
    uint64_t rid;
    *arrays = false;
    bytes->size = 0;
    for (uint32_t i = 0; i < path->count && !*arrays; i++) {
        if (!wildcard_put_key(bytes, path->parts[i].name, path->parts[i].size) ||
            !buffer_append_byte(bytes, WILDCARD_ARRAY))
            return error_memory(p->error);
        tansu_status status = tree_find_prefix(p->rctx->trees, a->entries, bytes->data, bytes->size,
                                               arrays, &rid, p->error);
        if (status != TANSU_OK)
            return status;
        bytes->size--;
    }
    return TANSU_OK;
}

/* compare_ranges -- by lower bound, for qsort(). */
static int compare_ranges(const void *a, const void *b) {
    const key_range *x = a, *y = b;
    return bounds_compare(x->low, x->low_size, y->low, y->low_size);
}

/* put_way -- puts the bytes of a path into the scratch buffer, its positions in one of the ways
 * that `way` numbers: as keys, as elements, or as elements that are arrays. */
static bool put_way(planner *p, const path *path, uint32_t way) {
    tansu_buffer *bytes = &p->memory.scratch;
    bytes->size = 0;
    for (uint32_t i = 0; i < path->count; i++) {
        const path_part *part = &path->parts[i];
        uint32_t choice = 0;
        if (i > 0 && part->index >= 0) {
            choice = way % 3;
            way /= 3;
        }
        if ((choice == 0 && !wildcard_put_key(bytes, part->name, part->size)) ||
            (choice == 2 && !wildcard_put_element(bytes)))
            return false;
    }
    return true;
}

/* path_ranges -- sets a range for each way in which entries can be at the path; none when the index
 * lacks some of them. */
static tansu_status path_ranges(planner *p, access_path *a) {
    const wildcard_scope *scope = &a->definition->scope;
    tansu_buffer *bytes = &p->memory.scratch;
    uint32_t ways = 1, positions = 0, kept = 0;
    a->range_count = 0;
    for (uint32_t i = 1; i < a->paths->count; i++)
        positions += a->paths->parts[i].index >= 0;
    if (positions > MAX_POSITIONS)
        return TANSU_OK;
    for (uint32_t i = 0; i < positions; i++)
        ways *= 3;
    a->multikey = a->multikey || positions != 0;
    a->ranges = arena_alloc(p->memory.arena, ways * sizeof *a->ranges);
    if (!a->ranges)
        return error_memory(p->error);
    for (uint32_t way = 0; way < ways; way++) {
        if (!put_way(p, a->paths, way))
            return error_memory(p->error);
        if (!wildcard_has(scope, bytes->data, bytes->size, false))
            return TANSU_OK;
        if (!buffer_append_byte(bytes, WILDCARD_VALUE))
            return error_memory(p->error);
        a->key_prefix = (uint32_t)bytes->size;
        tansu_status status = add_range(p, &a->ranges[way]);
        if (status != TANSU_OK)
            return status;
    }
    qsort(a->ranges, ways, sizeof *a->ranges, compare_ranges);
    for (uint32_t i = 0; i < ways; i++) {
        if (kept == 0 || compare_ranges(&a->ranges[kept - 1], &a->ranges[i]) != 0)
            a->ranges[kept++] = a->ranges[i];
    }
    a->range_count = kept;
    return TANSU_OK;
}

/* mark_existing -- a document with a value at the path passes $exists. */
static bool mark_existing(const conjunction *c, access_path *a, bool mark) {
    bool found = false;
    for (uint32_t i = 0; i < c->count; i++) {
        const test *t = c->tests[i];
        if (t->op == TEST_EXISTS && !t->negated && t->wild == WILD_NONE && t->path &&
            path_equal(t->path, a->paths)) {
            found = true;
            a->used[i] = a->used[i] || mark;
        }
    }
    return found;
}

/* bind_existing -- the ranges for $exists: all entries at the path and below it. */
static tansu_status bind_existing(planner *p, const conjunction *c, access_path *a) {
    static const uint8_t true_byte = 1;
    static const doc_value true_value = {&true_byte, 1, DOC_BOOL};
    tansu_buffer *bytes = &p->memory.scratch;
    bytes->size = 0;
    if (!wildcard_put_path(bytes, a->paths))
        return error_memory(p->error);
    if (path_has_positions(a->paths) ||
        !wildcard_has(&a->definition->scope, bytes->data, bytes->size, true) ||
        !mark_existing(c, a, true))
        return TANSU_OK;
    interval *all = arena_alloc(p->memory.arena, sizeof *all);
    a->ranges = arena_alloc(p->memory.arena, sizeof *a->ranges);
    if (!all || !a->ranges)
        return error_memory(p->error);
    bound exists = {"$exists", &true_value};
    *all = (interval){.low = (const uint8_t *)"", .lower = exists, .upper = exists};
    a->bounds[0] = (interval_list){all, 1};
    a->range_count = a->bound_paths = 1;
    a->multikey = true;
    tansu_status status = add_range(p, a->ranges);
    if (status == TANSU_OK)
        finish(p, c, a, false);
    return status;
}

/* bind_path -- the ranges for the clauses on one path. */
static tansu_status bind_path(planner *p, const conjunction *c, access_path *a) {
    bool found = false;
    interval_list list;
    tansu_status status = TANSU_OK;
    if (a->multikey)
        status = has_arrays(p, a, a->paths, &a->multikey);
    if (status == TANSU_OK)
        status = path_ranges(p, a);
    if (status != TANSU_OK)
        return status;
    bool exactly = a->range_count == 1;
    if (a->range_count != 0)
        status = access_bounds(p, c, a, 0, a->used, &list, &found);
    if (status != TANSU_OK)
        return status;
    if (!found || !access_wildcard_has(&list) ||
        (uint64_t)a->range_count * list.count > MAX_RANGES) {
        memset(a->used, 0, (size_t)c->count + c->disjunction_count);
        return bind_existing(p, c, a);
    }
    if (exactly)
        (void)mark_existing(c, a, true);
    else
        memset(a->used, 0, (size_t)c->count + c->disjunction_count);
    a->bounds[0] = list;
    a->bound_paths = 1;
    status = access_extend(p, a, &list);
    if (status == TANSU_OK)
        finish(p, c, a, exactly && access_all_points(&list));
    return status;
}

/* ---- All paths ---- */

/* A list of ranges that grows. */
typedef struct range_list {
    key_range *items;
    uint32_t count;
    uint32_t capacity;
} range_list;

/* add_path -- adds the range of the values at a path, whose bytes are in the scratch buffer. */
static tansu_status add_path(planner *p, range_list *list) {
    if (list->count == list->capacity) {
        uint32_t capacity = list->capacity == 0 ? 32 : 2 * list->capacity;
        key_range *more = arena_alloc(p->memory.arena, capacity * sizeof *more);
        if (!more)
            return error_memory(p->error);
        if (list->count != 0)
            memcpy(more, list->items, list->count * sizeof *more);
        list->items = more;
        list->capacity = capacity;
    }
    return add_range(p, &list->items[list->count++]);
}

/* invalid -- the error for an entry without a path. */
static tansu_status invalid(planner *p, const access_path *a) {
    return error_set(p->error, TANSU_E_CORRUPT, a->name,
                     "Index \"%.120s\" has an invalid entry; drop the index and create it again",
                     a->name);
}

/* ends_in -- whether the bytes of a path end in a key; all do when it is NULL. */
static bool ends_in(const uint8_t *bytes, size_t size, const path_part *name) {
    if (!name)
        return true;
    size_t last = (size_t)name->size + 1;
    if (size < last || memcmp(bytes + size - last, name->name, name->size) != 0)
        return false;
    return size == last || (size > last + 1 && bytes[size - last - 1] == WILDCARD_KEY &&
                            bytes[size - last - 2] == 0);
}

/* all_paths -- the ranges of all paths that have values and end in `name`, if it is not NULL; *over
 * when more than `limit` have values. */
static tansu_status all_paths(planner *p, const access_path *a, const path_part *name,
                              uint64_t limit, range_list *list, bool *over) {
    uint64_t count = 0;
    tansu_buffer *bytes = &p->memory.scratch, key = TANSU_BUFFER_INIT;
    tree_cursor cursor;
    bool valid;
    *over = false;
    tree_cursor_init(&cursor, p->rctx->trees, a->entries);
    bytes->size = 0;
    tansu_status status = tree_cursor_seek(&cursor, (const uint8_t *)"", 0, &valid, p->error);
    while (status == TANSU_OK && valid && !*over) {
        size_t size = 0;
        if (!tree_cursor_key(&cursor, &key))
            status = error_memory(p->error);
        else if ((size = wildcard_path_size(key.data, key.size)) == 0)
            status = invalid(p, a);
        else if (!buffer_set(bytes, key.data, size + 1))
            status = error_memory(p->error);
        /* After the arrays at a path come its values, and then what is below it. */
        bool values = status == TANSU_OK && key.data[size] == WILDCARD_VALUE;
        if (values) {
            *over = count++ >= limit;
            if (!*over && ends_in(key.data, size, name))
                status = add_path(p, list);
        }
        if (status == TANSU_OK)
            status = plan_step(p, 16);
        if (status == TANSU_OK && !*over) {
            if (!buffer_set(bytes, key.data, size + 1))
                status = error_memory(p->error);
            else
                bytes->data[size]++;
        }
        if (status == TANSU_OK && !*over)
            status = tree_cursor_seek(&cursor, bytes->data, bytes->size, &valid, p->error);
    }
    tree_cursor_end(&cursor);
    tansu_buffer_free(&key);
    return status;
}

/* bind_ids -- the ranges of the index on `_id` for the same bounds. */
static tansu_status bind_ids(planner *p, access_path *a, const interval_list *list) {
    key_range *all = arena_alloc(p->memory.arena, sizeof *all);
    a->ids = arena_alloc(p->memory.arena, sizeof *a->ids);
    if (!all || !a->ids)
        return error_memory(p->error);
    all->low = (const uint8_t *)"";
    access_path_begin(p->collection, 0, a->ids);
    a->ids->ranges = all;
    a->ids->range_count = 1;
    a->ids->all_points = access_all_points(list);
    return access_extend(p, a->ids, list);
}

/* bind_anywhere -- the ranges for a test of "**" or "**.name". More paths than the documents are
 * worth are not read. */
static tansu_status bind_anywhere(planner *p, const conjunction *c, uint32_t clause,
                                  access_path *a) {
    const test *t = c->tests[clause];
    const path_part *name = t->wild == WILD_NAMED ? &t->path->parts[1] : NULL;
    test *one = arena_alloc(p->memory.arena, sizeof *one);
    interval_list list;
    range_list ranges = {.count = 0};
    bool usable, exact = false, over;
    if (!one)
        return error_memory(p->error);
    *one = *t;
    one->wild = WILD_NONE;
    a->multikey = true;
    if (t->op == TEST_EXISTS || t->op == TEST_ELEMENT || t->op == TEST_ALL_ELEMENTS || t->negated ||
        !access_collated(a, t) || !wildcard_has_all(&a->definition->scope))
        return TANSU_OK;
    if (!bounds_of_test(&p->memory, one, false, &list, &usable, &exact))
        return error_memory(p->error);
    if (!usable || !bounds_are_scalar(&list))
        return TANSU_OK;
    uint64_t limit = p->collection->count / 8 + 16;
    if (limit * list.count > MAX_RANGES)
        limit = MAX_RANGES / list.count;
    tansu_status status = all_paths(p, a, name, limit, &ranges, &over);
    if (status != TANSU_OK || over)
        return status;
    a->ranges = ranges.items;
    a->range_count = ranges.count;
    a->bounds[0] = list;
    a->bound_paths = 1;
    a->used[clause] = exact;
    status = access_extend(p, a, &list);
    /* Folded entries are not comparable with those of the index on `_id`: they include it. */
    if (status == TANSU_OK && !a->fold && (!name || is_id(name)))
        status = bind_ids(p, a, &list);
    if (status == TANSU_OK)
        finish(p, c, a, false);
    return status;
}

/* ---- All that the clauses test ---- */

/* is_listed -- whether there is an access path for a path already. */
static bool is_listed(const wildcard_uses *uses, const path *path) {
    for (uint32_t i = 0; i < uses->count; i++) {
        if (uses->list[i]->paths == path || path_equal(uses->list[i]->paths, path))
            return true;
    }
    return false;
}

tansu_status access_path_wildcard(planner *p, const conjunction *c, uint32_t number,
                                  wildcard_uses *uses) {
    uses->count = 0;
    for (uint32_t i = 0; i < c->count + c->disjunction_count; i++) {
        const test *t = i < c->count ? c->tests[i] : c->disjunctions[i - c->count]->first->test;
        bool anywhere = t->wild == WILD_ANYWHERE || t->wild == WILD_NAMED;
        if (uses->count == MAX_WILDCARD_USES)
            break;
        if (!t->path || (t->wild != WILD_NONE && !anywhere) || (anywhere && i >= c->count) ||
            (!anywhere &&
             ((t->path->count == 1 && is_id(t->path->parts)) || is_listed(uses, t->path))))
            continue;
        tansu_status status = plan_step(p, 16);
        access_path *a = status == TANSU_OK ? new_access(p, c, number, t->path) : NULL;
        if (status == TANSU_OK && !a)
            status = error_memory(p->error);
        if (status == TANSU_OK)
            status = anywhere ? bind_anywhere(p, c, i, a) : bind_path(p, c, a);
        if (status != TANSU_OK)
            return status;
        if (a->complete)
            uses->list[uses->count++] = a;
    }
    return TANSU_OK;
}
