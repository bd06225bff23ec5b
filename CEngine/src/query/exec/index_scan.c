/*
 * query/exec/index_scan.c -- index scans in key order, forward or backward.
 */

#include "bson/key_decode.h"
#include "index/definition.h"
#include "query/exec/run.h"

#include <stdlib.h>

#define FIRST_BATCH 16
#define LAST_BATCH 1024
/* Bytes of the entries that a batch keeps. */
#define BATCH_BYTES ((size_t)64 * 1024)

void index_scan_init(index_scan *scan, const query_run *run, const index_scan_options *o) {
    /* Forward by all paths of the index, the entries are already in the order of the results. */
    bool in_order = !o->backward && o->group_paths == o->access->path_count;
    *scan = (index_scan){.run = run,
                         .access = o->access,
                         .ranges = o->ranges,
                         .range_count = o->range_count,
                         .backward = o->backward,
                         .group_paths = in_order ? 0 : o->group_paths,
                         .range = o->backward && o->range_count != 0 ? o->range_count - 1 : 0,
                         .batch = {.keep_entries = o->keep_entries},
                         .batch_size = FIRST_BATCH};
    tree_cursor_init(&scan->cursor, run->rctx.trees, o->access->entries);
}

void index_scan_free(index_scan *scan) {
    tree_cursor_end(&scan->cursor);
    rid_list_free(&scan->batch);
    tansu_buffer_free(&scan->resume);
    tansu_buffer_free(&scan->key);
    tansu_buffer_free(&scan->group);
    tansu_buffer_free(&scan->group_end);
}

/* is_over -- whether no range is left. */
static bool is_over(const index_scan *scan) {
    return scan->range >= scan->range_count;
}

/* next_range -- moves to the next range. Backward, after the first one, the number wraps around,
 * which is_over() detects. */
static void next_range(index_scan *scan) {
    scan->range += scan->backward ? UINT32_MAX : 1;
    scan->resume_set = false;
    scan->on_entry = false;
}

/* fill_batch -- reads a batch of entries in their order. */
static tansu_status fill_batch(index_scan *scan, tansu_error *error) {
    const key_range *range = &scan->ranges[scan->range];
    tansu_status status = TANSU_OK;
    size_t count = 0;
    if (!scan->on_entry)
        status =
            tree_cursor_seek(&scan->cursor, range->low, range->low_size, &scan->on_entry, error);
    if (status != TANSU_OK || !scan->on_entry) {
        next_range(scan);
        return status;
    }
    if (!rid_list_reserve(&scan->batch, scan->batch_size))
        return error_memory(error);
    bool done;
    if (scan->batch.keep_entries) {
        status = tree_cursor_entries(&scan->cursor, range->high, range->high_size,
                                     scan->batch.items, scan->batch_size, &scan->batch.entries,
                                     BATCH_BYTES, &count, &done, error);
    } else {
        status = tree_cursor_rids(&scan->cursor, range->high, range->high_size, scan->batch.items,
                                  scan->batch_size, &count, error);
        done = count < scan->batch_size;
    }
    scan->batch.count = count;
    scan->keys_examined += count;
    if (done)
        next_range(scan);
    scan->batch_size = scan->batch_size < LAST_BATCH ? scan->batch_size * 2 : LAST_BATCH;
    return status;
}

/* ---- Groups ---- */

/* seek_entry -- positions the cursor on the first entry (backward: the last) of the rest of the
 * current range and copies its key to scan->key; on_entry is false when the rest is empty. */
static tansu_status seek_entry(index_scan *scan, tansu_error *error) {
    const key_range *range = &scan->ranges[scan->range];
    const uint8_t *high = range->high;
    size_t high_size = range->high_size;
    bool valid = scan->on_entry;
    tansu_status status = TANSU_OK;
    if (!valid && !scan->backward) {
        const uint8_t *low = scan->resume_set ? scan->resume.data : range->low;
        size_t low_size = scan->resume_set ? scan->resume.size : range->low_size;
        status = tree_cursor_seek(&scan->cursor, low, low_size, &valid, error);
    } else if (!valid) {
        if (scan->resume_set) {
            high = scan->resume.data;
            high_size = scan->resume.size;
        }
        if (high)
            status = tree_cursor_seek_before(&scan->cursor, high, high_size, &valid, error);
        else if (scan->access->entries->count != 0)
            status = tree_cursor_seek_rank(&scan->cursor, scan->access->entries->count - 1, &valid,
                                           error);
    }
    scan->on_entry = false;
    if (status != TANSU_OK || !valid)
        return status;
    if (!tree_cursor_key(&scan->cursor, &scan->key))
        return error_memory(error);
    if (scan->backward)
        scan->on_entry =
            bounds_compare(scan->key.data, scan->key.size, range->low, range->low_size) >= 0;
    else
        scan->on_entry =
            !high || bounds_compare(scan->key.data, scan->key.size, high, high_size) < 0;
    return TANSU_OK;
}

/* set_group -- sets the group to that of the current entry. */
static tansu_status set_group(index_scan *scan, tansu_error *error) {
    size_t size = scan->access->key_prefix;
    for (uint32_t i = 0; i < scan->group_paths; i++) {
        size_t one = value_key_size(scan->key.data + size, scan->key.size - size,
                                    scan->access->descending[i]);
        if (one == 0)
            return error_set(error, TANSU_E_CORRUPT, scan->access->name,
                             "Index \"%.120s\" has an invalid entry; drop the index and create it "
                             "again",
                             scan->access->name);
        size += one;
    }
    if (!buffer_set(&scan->group, scan->key.data, size) ||
        !buffer_set(&scan->group_end, scan->key.data, size))
        return error_memory(error);
    scan->group_ends = key_successor(&scan->group_end);
    return TANSU_OK;
}

/* collect_range -- collects the record ids of the group in the current range. Sets *beyond when the
 * range continues after the group (backward: begins before it). */
static tansu_status collect_range(index_scan *scan, bool *beyond, tansu_error *error) {
    const key_range *range = &scan->ranges[scan->range];
    key_range part = *range;
    if (bounds_compare(part.low, part.low_size, scan->group.data, scan->group.size) < 0) {
        part.low = scan->group.data;
        part.low_size = scan->group.size;
    }
    bool cut = scan->group_ends &&
               (!part.high || bounds_compare(part.high, part.high_size, scan->group_end.data,
                                             scan->group_end.size) > 0);
    if (cut) {
        part.high = scan->group_end.data;
        part.high_size = scan->group_end.size;
    }
    *beyond = scan->backward ? part.low == scan->group.data : cut;
    return rid_list_add_range(&scan->batch, scan->run, scan->access, &part, error);
}

/* reaches_group -- whether the current range overlaps the group. */
static bool reaches_group(const index_scan *scan) {
    const key_range *range = &scan->ranges[scan->range];
    if (scan->backward)
        return !range->high || bounds_compare(range->high, range->high_size, scan->group.data,
                                              scan->group.size) > 0;
    return !scan->group_ends || bounds_compare(range->low, range->low_size, scan->group_end.data,
                                               scan->group_end.size) < 0;
}

/* collect_group -- collects all record ids of the group, which may be spread over several ranges.
 * The scan is then after it. */
static tansu_status collect_group(index_scan *scan, tansu_error *error) {
    bool beyond = false;
    while (!is_over(scan) && !beyond && reaches_group(scan)) {
        tansu_status status = collect_range(scan, &beyond, error);
        if (status != TANSU_OK)
            return status;
        if (!beyond)
            next_range(scan);
    }
    if (beyond) {
        const tansu_buffer *end = scan->backward ? &scan->group : &scan->group_end;
        if (!buffer_set(&scan->resume, end->data, end->size))
            return error_memory(error);
        scan->resume_set = true;
        scan->on_entry = false;
    }
    scan->keys_examined += scan->batch.count;
    return rid_list_sort(&scan->batch) ? TANSU_OK : error_memory(error);
}

/* add_current -- appends the current entry, whose key is in scan->key. */
static bool add_current(index_scan *scan, uint64_t rid) {
    rid_list *list = &scan->batch;
    uint64_t item = list->keep_entries ? rid << TREE_POSITION_BITS | list->entries.size : rid;
    uint8_t size[4];
    store_u32(size, (uint32_t)scan->key.size);
    if (!rid_list_reserve(list, 1) ||
        (list->keep_entries && !buffer_append(&list->entries, size, 4)) ||
        (list->keep_entries && !buffer_append(&list->entries, scan->key.data, scan->key.size)))
        return false;
    list->items[list->count++] = item;
    return true;
}

/* single_entry -- a fast path for groups of one entry, when the entry before it is in the same
 * range: one step back instead of two seeks. Otherwise *single is false, and the position of the
 * cursor is unusable. */
static tansu_status single_entry(index_scan *scan, uint64_t rid, bool *single, tansu_error *error) {
    const key_range *range = &scan->ranges[scan->range];
    bool valid;
    *single = false;
    scan->on_entry = false;
    if (!add_current(scan, rid))
        return error_memory(error);
    tansu_status status = tree_cursor_previous(&scan->cursor, &valid, error);
    if (status != TANSU_OK)
        return status;
    if (valid && !tree_cursor_key(&scan->cursor, &scan->key))
        return error_memory(error);
    if (!valid || bounds_compare(scan->key.data, scan->key.size, range->low, range->low_size) < 0 ||
        (scan->key.size >= scan->group.size &&
         memcmp(scan->key.data, scan->group.data, scan->group.size) == 0))
        return rid_list_clear(&scan->batch) ? TANSU_OK : error_memory(error);
    *single = true;
    scan->on_entry = true;
    scan->keys_examined++;
    return TANSU_OK;
}

/* fill_group -- reads the next group. */
static tansu_status fill_group(index_scan *scan, tansu_error *error) {
    tansu_status status = seek_entry(scan, error);
    if (status != TANSU_OK)
        return status;
    if (!scan->on_entry) {
        next_range(scan);
        return TANSU_OK;
    }
    status = set_group(scan, error);
    bool single = false;
    if (status == TANSU_OK && scan->backward && scan->group_paths == scan->access->path_count)
        status = single_entry(scan, tree_cursor_rid(&scan->cursor), &single, error);
    return status == TANSU_OK && !single ? collect_group(scan, error) : status;
}

tansu_status index_scan_next(index_scan *scan, uint64_t *rid, tansu_error *error) {
    while (scan->next == scan->batch.count) {
        if (is_over(scan))
            return TANSU_DONE;
        scan->next = 0;
        if (!rid_list_clear(&scan->batch))
            return error_memory(error);
        tansu_status status =
            scan->group_paths == 0 ? fill_batch(scan, error) : fill_group(scan, error);
        if (status != TANSU_OK)
            return status;
    }
    *rid = rid_list_at(&scan->batch, scan->next++);
    return TANSU_OK;
}

/* ---- A k-way merge of index scans ---- */

/*
 * A heap orders the streams by their next documents: by key, and equal keys by record id.
 */

/* fixed_size -- the size of the keys of the first paths in a range; 0 when these are not valid
 * keys. */
static size_t fixed_size(const access_path *a, const key_range *range, uint32_t paths) {
    size_t size = a->key_prefix;
    for (uint32_t i = 0; i < paths; i++) {
        size_t one = value_key_size(range->low + size, range->low_size - size, a->descending[i]);
        if (one == 0)
            return 0;
        size += one;
    }
    return size;
}

tansu_status merge_scan_init(merge_scan *m, const query_run *run, const index_scan_options *options,
                             uint32_t streams, uint32_t fixed_paths, tansu_error *error) {
    uint32_t each = options->range_count / streams;
    *m = (merge_scan){.backward = options->backward};
    m->streams = calloc(streams, sizeof *m->streams);
    m->heap = calloc(streams, sizeof *m->heap);
    if (!m->streams || !m->heap)
        return error_memory(error);
    for (uint32_t i = 0; i < streams; i++) {
        merge_stream *stream = &m->streams[i];
        index_scan_options part = *options;
        part.ranges = options->ranges + (size_t)i * each;
        part.range_count = each;
        part.keep_entries = true; /* to compare their keys */
        index_scan_init(&stream->index_scan, run, &part);
        m->stream_count++;
        stream->fixed = fixed_size(options->access, part.ranges, fixed_paths);
        if (stream->fixed == 0)
            return error_set(error, TANSU_E_CORRUPT, options->access->name,
                             "Range of index \"%.120s\" does not begin with valid keys; drop the "
                             "index and create it again",
                             options->access->name);
    }
    return TANSU_OK;
}

void merge_scan_free(merge_scan *m) {
    for (uint32_t i = 0; i < m->stream_count; i++)
        index_scan_free(&m->streams[i].index_scan);
    free(m->streams);
    free(m->heap);
    *m = (merge_scan){.streams = NULL};
}

/* before -- whether the next document of one stream comes before that of another. */
static bool before(const merge_scan *m, const merge_stream *a, const merge_stream *b) {
    entry_bytes x = index_scan_key(&a->index_scan), y = index_scan_key(&b->index_scan);
    int order =
        bounds_compare(x.data + a->fixed, x.size - a->fixed, y.data + b->fixed, y.size - b->fixed);
    if (order == 0)
        return a->rid < b->rid;
    return m->backward ? order > 0 : order < 0;
}

/* sift_down -- restores the heap below a position. */
static void sift_down(merge_scan *m, uint32_t at) {
    merge_stream *moved = m->heap[at];
    for (uint32_t child; (child = 2 * at + 1) < m->count; at = child) {
        if (child + 1 < m->count && before(m, m->heap[child + 1], m->heap[child]))
            child++;
        if (!before(m, m->heap[child], moved))
            break;
        m->heap[at] = m->heap[child];
    }
    m->heap[at] = moved;
}

/* advance -- moves a stream to its next document; *over: it has none. */
static tansu_status advance(merge_scan *m, merge_stream *stream, bool *over, tansu_error *error) {
    uint64_t examined = stream->index_scan.keys_examined;
    tansu_status status = index_scan_next(&stream->index_scan, &stream->rid, error);
    m->keys_examined += stream->index_scan.keys_examined - examined;
    *over = status == TANSU_DONE;
    return *over ? TANSU_OK : status;
}

/* start -- reads the first document of each stream. */
static tansu_status start(merge_scan *m, tansu_error *error) {
    for (uint32_t i = 0; i < m->stream_count; i++) {
        bool over;
        tansu_status status = advance(m, &m->streams[i], &over, error);
        if (status == TANSU_OK && m->streams[i].index_scan.run->cancellable)
            status = run_check(m->streams[i].index_scan.run, error);
        if (status != TANSU_OK)
            return status;
        if (!over)
            m->heap[m->count++] = &m->streams[i];
    }
    for (uint32_t at = m->count / 2; at-- > 0;)
        sift_down(m, at);
    m->started = true;
    return TANSU_OK;
}

/* Advances the stream of the previous document only now, so that its entry stayed valid. */
tansu_status merge_scan_next(merge_scan *m, uint64_t *rid, tansu_error *error) {
    tansu_status status = TANSU_OK;
    if (!m->started) {
        status = start(m, error);
    } else if (m->count != 0) {
        bool over;
        status = advance(m, m->heap[0], &over, error);
        if (status == TANSU_OK && over)
            m->heap[0] = m->heap[--m->count];
        if (status == TANSU_OK && m->count != 0)
            sift_down(m, 0);
    }
    if (status != TANSU_OK)
        return status;
    if (m->count == 0)
        return TANSU_DONE;
    *rid = m->heap[0]->rid;
    return TANSU_OK;
}
