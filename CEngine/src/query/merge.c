/*
 * query/merge.c -- see merge.h. A heap has the streams by their next documents: by key, equal ones by
 * docno.
 */
#include "query/merge.h"
#include "base/value_unkey.h"
#include "query/run.h"
#include <stdlib.h>

/* held_size -- how much of its ranges' beginning a stream holds; 0: that makes no sense. */
static size_t held_size(const access *a, const key_range *range, uint32_t paths) {
    size_t size = 0;
    for (uint32_t i = 0; i < paths; i++) {
        size_t one = value_key_size(range->low + size, range->low_size - size, a->descending[i]);
        if (one == 0)
            return 0;
        size += one;
    }
    return size;
}

/* merge_init -- see merge.h. */
tansu_status merge_init(merge *m, const query_run *run, const walk_order *order, uint32_t streams,
                        uint32_t held_paths, tansu_error *error) {
    uint32_t each = order->range_count / streams;
    *m = (merge){.backward = order->backward};
    m->streams = calloc(streams, sizeof *m->streams);
    m->heap = calloc(streams, sizeof *m->heap);
    if (!m->streams || !m->heap)
        return error_memory(error);
    for (uint32_t i = 0; i < streams; i++) {
        merge_stream *stream = &m->streams[i];
        walk_order part = *order;
        part.ranges = order->ranges + (size_t)i * each;
        part.range_count = each;
        part.keeps = true; /* the keys are compared */
        walk_init(&stream->walk, run, &part);
        m->stream_count++;
        stream->held = held_size(order->access, part.ranges, held_paths);
        if (stream->held == 0)
            return error_set(error, TANSU_E_CORRUPT, order->access->name,
                             "A range of the index does not begin with keys.");
    }
    return TANSU_OK;
}

/* merge_free -- fine on a zeroed one. */
void merge_free(merge *m) {
    for (uint32_t i = 0; i < m->stream_count; i++)
        walk_free(&m->streams[i].walk);
    free(m->streams);
    free(m->heap);
    *m = (merge){.streams = NULL};
}

/* before -- whether the next document of one stream comes before that of another. */
static bool before(const merge *m, const merge_stream *a, const merge_stream *b) {
    entry_bytes x = walk_key(&a->walk), y = walk_key(&b->walk);
    int order =
        bounds_compare(x.data + a->held, x.size - a->held, y.data + b->held, y.size - b->held);
    if (order == 0)
        return a->docno < b->docno;
    return m->backward ? order > 0 : order < 0;
}

/* sink -- moves the stream at a place of the heap down to where it belongs. */
static void sink(merge *m, uint32_t at) {
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

/* advance -- a stream's next document; *over: it has none. */
static tansu_status advance(merge *m, merge_stream *stream, bool *over, tansu_error *error) {
    uint64_t examined = stream->walk.keys_examined;
    tansu_status status = walk_next(&stream->walk, &stream->docno, error);
    m->keys_examined += stream->walk.keys_examined - examined;
    *over = status == TANSU_DONE;
    return *over ? TANSU_OK : status;
}

/* start -- the first document of each stream. */
static tansu_status start(merge *m, tansu_error *error) {
    for (uint32_t i = 0; i < m->stream_count; i++) {
        bool over;
        tansu_status status = advance(m, &m->streams[i], &over, error);
        if (status == TANSU_OK && m->streams[i].walk.run->watched)
            status = run_check(m->streams[i].walk.run, error);
        if (status != TANSU_OK)
            return status;
        if (!over)
            m->heap[m->count++] = &m->streams[i];
    }
    for (uint32_t at = m->count / 2; at-- > 0;)
        sink(m, at);
    m->started = true;
    return TANSU_OK;
}

/* merge_next -- see merge.h. The stream of the document before goes on only now, so that its entry
 * could be looked at. */
tansu_status merge_next(merge *m, uint64_t *docno, tansu_error *error) {
    tansu_status status = TANSU_OK;
    if (!m->started) {
        status = start(m, error);
    } else if (m->count != 0) {
        bool over;
        status = advance(m, m->heap[0], &over, error);
        if (status == TANSU_OK && over)
            m->heap[0] = m->heap[--m->count];
        if (status == TANSU_OK && m->count != 0)
            sink(m, 0);
    }
    if (status != TANSU_OK)
        return status;
    if (m->count == 0)
        return TANSU_DONE;
    *docno = m->heap[0]->docno;
    return TANSU_OK;
}
