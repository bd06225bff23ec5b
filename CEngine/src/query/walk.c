/*
 * query/walk.c -- see walk.h.
 */
#include "query/walk.h"
#include "base/value_unkey.h"
#include "index/definition.h"
#include "query/run.h"

#define FIRST_ROOM 16
#define LAST_ROOM 1024
/* Entries that are kept take about this much at a time. */
#define BATCH_BYTES ((size_t)64 * 1024)

/* walk_init -- at the first range, or backward at the last. */
void walk_init(walk *w, const query_run *run, const walk_order *o) {
    /* Forward through all of an index's paths the entries lie as they must come. */
    bool as_they_lie = !o->backward && o->group_paths == o->access->path_count;
    *w = (walk){.run = run,
                .access = o->access,
                .ranges = o->ranges,
                .range_count = o->range_count,
                .backward = o->backward,
                .group_paths = as_they_lie ? 0 : o->group_paths,
                .range = o->backward && o->range_count != 0 ? o->range_count - 1 : 0,
                .batch = {.keeps = o->keeps},
                .room = FIRST_ROOM};
    tree_cursor_init(&w->cursor, run->view.trees, o->access->entries);
}

/* walk_free -- fine on a zeroed one. */
void walk_free(walk *w) {
    tree_cursor_end(&w->cursor);
    docno_list_free(&w->batch);
    tansu_buffer_free(&w->edge);
    tansu_buffer_free(&w->key);
    tansu_buffer_free(&w->group);
    tansu_buffer_free(&w->group_end);
}

/* is_over -- whether no range is left. */
static bool is_over(const walk *w) {
    return w->range >= w->range_count;
}

/* next_range -- goes on to the next range; backward, past the first one, the number wraps round to
 * one that is_over() knows. */
static void next_range(walk *w) {
    w->range += w->backward ? UINT32_MAX : 1;
    w->edge_set = false;
    w->on_entry = false;
}

/* fill_batch -- entries as they come, a batch at a time. */
static tansu_status fill_batch(walk *w, tansu_error *error) {
    const key_range *range = &w->ranges[w->range];
    tansu_status status = TANSU_OK;
    size_t count = 0;
    if (!w->on_entry)
        status = tree_cursor_seek(&w->cursor, range->low, range->low_size, &w->on_entry, error);
    if (status != TANSU_OK || !w->on_entry) {
        next_range(w);
        return status;
    }
    if (!docno_list_reserve(&w->batch, w->room))
        return error_memory(error);
    bool done;
    if (w->batch.keeps) {
        status = tree_cursor_entries(&w->cursor, range->high, range->high_size, w->batch.items,
                                     w->room, &w->batch.kept, BATCH_BYTES, &count, &done, error);
    } else {
        status = tree_cursor_docnos(&w->cursor, range->high, range->high_size, w->batch.items,
                                    w->room, &count, error);
        done = count < w->room;
    }
    w->batch.count = count;
    w->keys_examined += count;
    if (done)
        next_range(w);
    w->room = w->room < LAST_ROOM ? w->room * 2 : LAST_ROOM;
    return status;
}

/* ---- Groups ---- */

/* seek_entry -- puts the cursor on the first entry (backward: the last) of what is left of the
 * present range; on_entry false when nothing is left. The entry's key is then in w->key. */
static tansu_status seek_entry(walk *w, tansu_error *error) {
    const key_range *range = &w->ranges[w->range];
    const uint8_t *high = range->high;
    size_t high_size = range->high_size;
    bool valid = w->on_entry;
    tansu_status status = TANSU_OK;
    if (!valid && !w->backward) {
        const uint8_t *low = w->edge_set ? w->edge.data : range->low;
        size_t low_size = w->edge_set ? w->edge.size : range->low_size;
        status = tree_cursor_seek(&w->cursor, low, low_size, &valid, error);
    } else if (!valid) {
        if (w->edge_set) {
            high = w->edge.data;
            high_size = w->edge.size;
        }
        if (high)
            status = tree_cursor_seek_before(&w->cursor, high, high_size, &valid, error);
        else if (w->access->entries->count != 0)
            status =
                tree_cursor_seek_rank(&w->cursor, w->access->entries->count - 1, &valid, error);
    }
    w->on_entry = false;
    if (status != TANSU_OK || !valid)
        return status;
    if (!tree_cursor_key(&w->cursor, &w->key))
        return error_memory(error);
    if (w->backward)
        w->on_entry = bounds_compare(w->key.data, w->key.size, range->low, range->low_size) >= 0;
    else
        w->on_entry = !high || bounds_compare(w->key.data, w->key.size, high, high_size) < 0;
    return TANSU_OK;
}

/* set_group -- the group of the entry that the cursor is on. */
static tansu_status set_group(walk *w, tansu_error *error) {
    size_t size = 0;
    for (uint32_t i = 0; i < w->group_paths; i++) {
        size_t one =
            value_key_size(w->key.data + size, w->key.size - size, w->access->descending[i]);
        if (one == 0)
            return error_set(
                error, TANSU_E_CORRUPT, w->access->name,
                "The index has an entry that is none: drop the index and make it anew.");
        size += one;
    }
    if (!buffer_set(&w->group, w->key.data, size) || !buffer_set(&w->group_end, w->key.data, size))
        return error_memory(error);
    w->group_ends = key_successor(&w->group_end);
    return TANSU_OK;
}

/* gather_range -- the docnos of the part of the present range that lies in the group. Sets *beyond
 * when the range goes on behind the group (backward: begins before it). */
static tansu_status gather_range(walk *w, bool *beyond, tansu_error *error) {
    const key_range *range = &w->ranges[w->range];
    key_range part = *range;
    if (bounds_compare(part.low, part.low_size, w->group.data, w->group.size) < 0) {
        part.low = w->group.data;
        part.low_size = w->group.size;
    }
    bool cut =
        w->group_ends && (!part.high || bounds_compare(part.high, part.high_size, w->group_end.data,
                                                       w->group_end.size) > 0);
    if (cut) {
        part.high = w->group_end.data;
        part.high_size = w->group_end.size;
    }
    *beyond = w->backward ? part.low == w->group.data : cut;
    return docno_list_add_range(&w->batch, w->run, w->access, &part, error);
}

/* reaches_group -- whether the present range has a part in the group. */
static bool reaches_group(const walk *w) {
    const key_range *range = &w->ranges[w->range];
    if (w->backward)
        return !range->high ||
               bounds_compare(range->high, range->high_size, w->group.data, w->group.size) > 0;
    return !w->group_ends ||
           bounds_compare(range->low, range->low_size, w->group_end.data, w->group_end.size) < 0;
}

/* gather_group -- all docnos of the group: it may be spread over several ranges. The walk then
 * stands behind it. */
static tansu_status gather_group(walk *w, tansu_error *error) {
    bool beyond = false;
    while (!is_over(w) && !beyond && reaches_group(w)) {
        tansu_status status = gather_range(w, &beyond, error);
        if (status != TANSU_OK)
            return status;
        if (!beyond)
            next_range(w);
    }
    if (beyond) {
        const tansu_buffer *edge = w->backward ? &w->group : &w->group_end;
        if (!buffer_set(&w->edge, edge->data, edge->size))
            return error_memory(error);
        w->edge_set = true;
        w->on_entry = false;
    }
    w->keys_examined += w->batch.count;
    return docno_list_sort(&w->batch) ? TANSU_OK : error_memory(error);
}

/* add_present -- appends the entry that the cursor is on, whose key is in w->key. */
static bool add_present(walk *w, uint64_t docno) {
    docno_list *list = &w->batch;
    uint64_t item = list->keeps ? docno << TREE_PLACE_BITS | list->kept.size : docno;
    uint8_t size[4];
    store_u32(size, (uint32_t)w->key.size);
    if (!docno_list_reserve(list, 1) || (list->keeps && !buffer_append(&list->kept, size, 4)) ||
        (list->keeps && !buffer_append(&list->kept, w->key.data, w->key.size)))
        return false;
    list->items[list->count++] = item;
    return true;
}

/* single_entry -- the quick way when the entry before the present one is in the same range and not
 * in its group, so that the group is this one entry: one step back instead of two seeks. Else
 * *single is false and the cursor's place is no longer of use. */
static tansu_status single_entry(walk *w, uint64_t docno, bool *single, tansu_error *error) {
    const key_range *range = &w->ranges[w->range];
    bool valid;
    *single = false;
    w->on_entry = false;
    if (!add_present(w, docno))
        return error_memory(error);
    tansu_status status = tree_cursor_previous(&w->cursor, &valid, error);
    if (status != TANSU_OK)
        return status;
    if (valid && !tree_cursor_key(&w->cursor, &w->key))
        return error_memory(error);
    if (!valid || bounds_compare(w->key.data, w->key.size, range->low, range->low_size) < 0 ||
        (w->key.size >= w->group.size && memcmp(w->key.data, w->group.data, w->group.size) == 0))
        return docno_list_clear(&w->batch) ? TANSU_OK : error_memory(error);
    *single = true;
    w->on_entry = true;
    w->keys_examined++;
    return TANSU_OK;
}

/* fill_group -- the next group. */
static tansu_status fill_group(walk *w, tansu_error *error) {
    tansu_status status = seek_entry(w, error);
    if (status != TANSU_OK)
        return status;
    if (!w->on_entry) {
        next_range(w);
        return TANSU_OK;
    }
    status = set_group(w, error);
    bool single = false;
    if (status == TANSU_OK && w->backward && w->group_paths == w->access->path_count)
        status = single_entry(w, tree_cursor_docno(&w->cursor), &single, error);
    return status == TANSU_OK && !single ? gather_group(w, error) : status;
}

/* walk_next -- see walk.h. */
tansu_status walk_next(walk *w, uint64_t *docno, tansu_error *error) {
    while (w->next == w->batch.count) {
        if (is_over(w))
            return TANSU_DONE;
        w->next = 0;
        if (!docno_list_clear(&w->batch))
            return error_memory(error);
        tansu_status status = w->group_paths == 0 ? fill_batch(w, error) : fill_group(w, error);
        if (status != TANSU_OK)
            return status;
    }
    *docno = docno_list_at(&w->batch, w->next++);
    return TANSU_OK;
}
