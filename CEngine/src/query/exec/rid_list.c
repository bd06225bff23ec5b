/*
 * query/exec/rid_list.c -- reads record ids from index ranges; sorts and intersects them.
 */
#include "query/exec/rid_list.h"
#include "query/exec/run.h"
#include "util/array.h"
#include <stdlib.h>

#define RADIX_BITS 11
#define RADIX_SIZE (1u << RADIX_BITS)
#define BATCH 4096 /* entries read between two checks of the deadline */
#define FEW 96     /* up to here insertion sort is faster than clearing the radix counters */

void rid_list_free(rid_list *list) {
    free(list->items);
    buffer_free(&list->entries);
    *list = (rid_list){.items = NULL};
}

bool rid_list_clear(rid_list *list) {
    list->count = 0;
    list->entries.size = 0;
    return !list->keep_entries || buffer_append_byte(&list->entries, 0);
}

bool rid_list_reserve(rid_list *list, size_t more) {
    return ARRAY_RESERVE(list->items, list->count, list->capacity, more);
}

/* add_unique -- the entry, if any, of a complete key in a unique index: one descent, no cursor. */
static tansu_status add_unique(rid_list *list, const read_context *rctx, const access_path *a,
                               const key_range *range, tansu_error *error) {
    bool found;
    uint64_t rid;
    tansu_status status =
        tree_find_prefix(rctx->trees, a->entries, range->low, range->low_size, &found, &rid, error);
    if (status != TANSU_OK || !found)
        return status;
    if (!rid_list_reserve(list, 1))
        return error_memory(error);
    list->items[list->count++] = rid;
    return TANSU_OK;
}

/* add_batch -- appends up to `limit` entries from the cursor on; *done: the range is at its end. */
static tansu_status add_batch(rid_list *list, tree_cursor *cursor, const key_range *range,
                              size_t limit, bool *done, tansu_error *error) {
    uint64_t *items = list->items + list->count;
    size_t count;
    tansu_status status;
    if (list->keep_entries && list->entries.size < MAX_ENTRY_BYTES) {
        status = tree_cursor_entries(cursor, range->high, range->high_size, items, limit,
                                     &list->entries, MAX_ENTRY_BYTES, &count, done, error);
    } else {
        status =
            tree_cursor_rids(cursor, range->high, range->high_size, items, limit, &count, error);
        *done = count < limit;
        for (size_t i = 0; list->keep_entries && i < count; i++)
            items[i] <<= TREE_POSITION_BITS;
    }
    if (status == TANSU_OK)
        list->count += count;
    return status;
}

/* exceeds_limit -- sorting copies the items. */
static bool exceeds_limit(const rid_list *list) {
    return list->limit != 0 &&
           list->capacity * 2 * sizeof *list->items + list->entries.capacity > list->limit;
}

tansu_status rid_list_add_range(rid_list *list, const query_run *run, const access_path *a,
                                const key_range *range, tansu_error *error) {
    const read_context *rctx = &run->rctx;
    if (a->unique && a->all_points && !list->keep_entries)
        return add_unique(list, rctx, a, range, error);
    tree_cursor cursor;
    bool valid;
    tree_cursor_init(&cursor, rctx->trees, a->entries);
    tansu_status status = tree_cursor_seek(&cursor, range->low, range->low_size, &valid, error);
    for (size_t limit = 32; status == TANSU_OK && valid;) {
        if (!rid_list_reserve(list, limit)) {
            status = error_memory(error);
            break;
        }
        limit = list->capacity - list->count < BATCH ? list->capacity - list->count : BATCH;
        bool done;
        status = add_batch(list, &cursor, range, limit, &done, error);
        list->full = exceeds_limit(list);
        valid = !done && !list->full;
        if (status == TANSU_OK && valid && run->cancellable)
            status = run_check(run, error);
    }
    tree_cursor_end(&cursor);
    return status;
}

/* add_few -- appends the record ids that planning came upon. */
static tansu_status add_few(rid_list *list, const access_path *a, tansu_error *error) {
    if (!rid_list_reserve(list, a->few_count))
        return error_memory(error);
    if (a->few_count != 0)
        memcpy(list->items + list->count, a->few, a->few_count * sizeof *a->few);
    list->count += a->few_count;
    return TANSU_OK;
}

tansu_status rid_list_add_access(rid_list *list, const query_run *run, const access_path *a,
                                 tansu_error *error) {
    if (a->few && !list->keep_entries)
        return add_few(list, a, error);
    tansu_status status = TANSU_OK;
    for (uint32_t i = 0; status == TANSU_OK && !list->full && i < a->range_count; i++)
        status = rid_list_add_range(list, run, a, &a->ranges[i], error);
    if (status == TANSU_OK && !list->full && a->ids)
        status = rid_list_add_access(list, run, a->ids, error);
    return status;
}

/* insertion_sort -- for few items. */
static void insertion_sort(uint64_t *items, size_t count) {
    for (size_t i = 1; i < count; i++) {
        uint64_t item = items[i];
        size_t at = i;
        for (; at > 0 && items[at - 1] > item; at--)
            items[at] = items[at - 1];
        items[at] = item;
    }
}

/* radix_sort -- least significant digit first; `most` is the greatest item. False when memory is
 * exhausted. */
static bool radix_sort(rid_list *list, uint64_t most) {
    uint32_t first = list->keep_entries ? TREE_POSITION_BITS : 0;
    uint64_t *from = list->items;
    uint64_t *to = malloc(list->count * sizeof *to);
    if (!to)
        return false;
    for (uint32_t shift = first; shift < 64 && most >> shift != 0; shift += RADIX_BITS) {
        size_t offsets[RADIX_SIZE] = {0};
        for (size_t i = 0; i < list->count; i++)
            offsets[from[i] >> shift & (RADIX_SIZE - 1)]++;
        size_t sum = 0;
        for (uint32_t d = 0; d < RADIX_SIZE; d++) {
            size_t here = offsets[d];
            offsets[d] = sum;
            sum += here;
        }
        for (size_t i = 0; i < list->count; i++)
            to[offsets[from[i] >> shift & (RADIX_SIZE - 1)]++] = from[i];
        uint64_t *other = from;
        from = to;
        to = other;
    }
    if (from != list->items) {
        memcpy(to, from, list->count * sizeof *to);
        to = from;
    }
    free(to);
    return true;
}

/* One pass finds out whether the list is already sorted. */
bool rid_list_sort(rid_list *list) {
    uint64_t *items = list->items;
    uint64_t most = 0, before = 0;
    bool ascending = true;
    for (size_t i = 0; i < list->count; i++) {
        uint64_t rid = rid_list_at(list, i);
        ascending = ascending && (i == 0 || rid > before);
        before = rid;
        if (items[i] > most)
            most = items[i];
    }
    if (ascending)
        return true;
    if (list->count <= FEW)
        insertion_sort(items, list->count);
    else if (!radix_sort(list, most))
        return false;
    size_t kept = 1;
    for (size_t i = 1; i < list->count; i++) {
        if (rid_list_at(list, i) != rid_list_at(list, kept - 1))
            items[kept++] = items[i];
    }
    list->count = kept;
    return true;
}

void rid_list_intersect(rid_list *list, const rid_list *other) {
    size_t kept = 0;
    for (size_t i = 0, k = 0; i < list->count && k < other->count;) {
        uint64_t a = list->items[i], b = other->items[k];
        if (a == b)
            list->items[kept++] = a;
        i += a <= b;
        k += b <= a;
    }
    list->count = kept;
}
