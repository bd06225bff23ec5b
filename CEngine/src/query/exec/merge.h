/*
 * query/exec/merge.h -- a k-way merge of several scans of one index. Each scan fixes the
 * leading paths to one value, and the merge is in the order of the paths that follow: {a: {$in:
 * […]}} in the order of b, from an index on a and b.
 */
#ifndef TANSU_QUERY_EXEC_MERGE_H
#define TANSU_QUERY_EXEC_MERGE_H

#include "query/exec/index_scan.h"

typedef struct merge_stream {
    index_scan index_scan;
    size_t fixed; /* size of the keys that the stream fixes */
    uint64_t rid; /* of its next document */
} merge_stream;

/* Zero-initialised, it is empty. */
typedef struct merge_scan {
    merge_stream *streams;
    merge_stream **heap; /* the stream with the next document is first */
    uint32_t stream_count;
    uint32_t count; /* streams in the heap */
    bool backward;
    bool started;
    uint64_t keys_examined;
} merge_scan;

/* merge_scan_init -- divides the ranges equally among the streams, each of which fixes the first
 * `fixed_paths` paths. Errors: MEMORY, CORRUPT. */
tansu_status merge_scan_init(merge_scan *m, const query_run *run, const index_scan_options *options,
                             uint32_t streams, uint32_t fixed_paths, tansu_error *error);

/* merge_scan_free -- a zero-initialised merge is allowed. */
void merge_scan_free(merge_scan *m);

/* merge_scan_next -- as index_scan_next(). */
tansu_status merge_scan_next(merge_scan *m, uint64_t *rid, tansu_error *error);

/* merge_scan_entry -- as index_scan_entry(). */
static inline entry_bytes merge_scan_entry(const merge_scan *m) {
    return index_scan_entry(&m->heap[0]->index_scan);
}

#endif
