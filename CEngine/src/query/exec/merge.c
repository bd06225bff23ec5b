/*
 * query/exec/merge.c -- a k-way merge of index scans. A heap orders the streams by their next
 * documents: by key, and equal keys by record id.
 */
#include "query/exec/merge.h"
#include "bson/key_decode.h"
#include "query/exec/run.h"
#include <stdlib.h>

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
