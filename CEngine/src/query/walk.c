/*
 * query/walk.c -- see walk.h.
 */
#include "query/walk.h"
#include "base/fold.h"
#include "index/definition.h"

#define FIRST_ROOM 16
#define LAST_ROOM 1024

/* walk_init -- at the first range, or backward at the last. */
void walk_init(walk *w, const view *v, const collection_state *collection, const access *a,
               bool backward, uint32_t group_paths) {
    *w = (walk){.view = v,
                .collection = collection,
                .access = a,
                .backward = backward,
                /* Forward through all of an index's paths the entries lie as they must come. */
                .group_paths = !backward && group_paths == a->path_count ? 0 : group_paths,
                .range = backward && a->range_count != 0 ? a->range_count - 1 : 0,
                .room = FIRST_ROOM};
    tree_cursor_init(&w->cursor, v->trees, a->entries);
}

/* walk_free -- fine on a zeroed one. */
void walk_free(walk *w) {
    docno_list_free(&w->batch);
    tansu_buffer_free(&w->edge);
    tansu_buffer_free(&w->key);
    tansu_buffer_free(&w->folded);
    tansu_buffer_free(&w->group);
    tansu_buffer_free(&w->group_end);
}

/* is_over -- whether no range is left. */
static bool is_over(const walk *w) {
    return w->range >= w->access->range_count;
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
    const key_range *range = &w->access->ranges[w->range];
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
    status = tree_cursor_docnos(&w->cursor, range->high, range->high_size, w->batch.items, w->room,
                                &count, error);
    w->batch.count = count;
    w->keys_examined += count;
    if (count < w->room)
        next_range(w);
    w->room = w->room < LAST_ROOM ? w->room * 2 : LAST_ROOM;
    return status;
}

/* ---- Groups ---- */

/* seek_entry -- puts the cursor on the first entry (backward: the last) of what is left of the
 * present range; on_entry false when nothing is left. The entry's key is then in w->key. */
static tansu_status seek_entry(walk *w, tansu_error *error) {
    const key_range *range = &w->access->ranges[w->range];
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

/* document_key -- the beginning of the entries of all documents that are equal to one in the
 * group's paths, made from the document: where one path's key ends can't be seen in an entry. */
static tansu_status document_key(walk *w, uint64_t docno, tansu_error *error) {
    doc_ref ref;
    uint32_t size;
    tansu_status status = view_find(w->view, w->collection, docno, &ref, error);
    if (status == TANSU_DONE)
        return error_set(error, TANSU_E_CORRUPT, w->access->name,
                         "The index has an entry of a document that does not exist.");
    if (status != TANSU_OK)
        return status;
    const uint8_t *doc = view_document(w->view, ref, &size);
    w->group.size = 0;
    for (uint32_t i = 0; i < w->group_paths; i++) {
        doc_value value;
        (void)path_get(&w->access->paths[i], doc, size, &value);
        if (w->access->fold && !fold_value(&w->folded, &value, &value))
            return error_memory(error);
        if (!value_key(&w->group, &value, w->access->descending[i]))
            return error_memory(error);
    }
    return TANSU_OK;
}

/* set_group -- the group of the entry that the cursor is on. */
static tansu_status set_group(walk *w, tansu_error *error) {
    tansu_status status = TANSU_OK;
    if (w->group_paths < w->access->path_count)
        status = document_key(w, tree_cursor_docno(&w->cursor), error);
    else if (!buffer_set(&w->group, w->key.data, w->key.size - INDEX_DOCNO_SIZE))
        status = error_memory(error);
    if (status != TANSU_OK)
        return status;
    if (!buffer_set(&w->group_end, w->group.data, w->group.size))
        return error_memory(error);
    w->group_ends = key_successor(&w->group_end);
    return TANSU_OK;
}

/* gather_range -- the docnos of the part of the present range that lies in the group. Sets *beyond
 * when the range goes on behind the group (backward: begins before it). */
static tansu_status gather_range(walk *w, bool *beyond, tansu_error *error) {
    const key_range *range = &w->access->ranges[w->range];
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
    return docno_list_add_range(&w->batch, w->view, w->access, &part, error);
}

/* reaches_group -- whether the present range has a part in the group. */
static bool reaches_group(const walk *w) {
    const key_range *range = &w->access->ranges[w->range];
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

/* single_entry -- the quick way when the entry before the present one is in the same range and not
 * in its group, so that the group is this one entry: one step back instead of two seeks. Else
 * *single is false and the cursor's place is no longer of use. */
static tansu_status single_entry(walk *w, uint64_t docno, bool *single, tansu_error *error) {
    const key_range *range = &w->access->ranges[w->range];
    bool valid;
    *single = false;
    w->on_entry = false;
    tansu_status status = tree_cursor_previous(&w->cursor, &valid, error);
    if (status != TANSU_OK || !valid)
        return status;
    if (!tree_cursor_key(&w->cursor, &w->key) || !docno_list_reserve(&w->batch, 1))
        return error_memory(error);
    if (bounds_compare(w->key.data, w->key.size, range->low, range->low_size) < 0 ||
        (w->key.size >= w->group.size && memcmp(w->key.data, w->group.data, w->group.size) == 0))
        return TANSU_OK;
    *single = true;
    w->on_entry = true;
    w->batch.items[w->batch.count++] = docno;
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
        w->next = w->batch.count = 0;
        tansu_status status = w->group_paths == 0 ? fill_batch(w, error) : fill_group(w, error);
        if (status != TANSU_OK)
            return status;
    }
    *docno = w->batch.items[w->next++];
    return TANSU_OK;
}
