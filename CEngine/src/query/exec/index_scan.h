/*
 * query/exec/index_scan.h -- index scans in key order, forward or backward.
 *
 * Documents that are equal in $orderby come in record id order, whatever the direction and whatever
 * further paths the index has: they form a group, whose record ids are collected and sorted.
 */
#ifndef TANSU_QUERY_EXEC_INDEX_SCAN_H
#define TANSU_QUERY_EXEC_INDEX_SCAN_H

#include "query/exec/rid_list.h"

typedef struct index_scan {
    const query_run *run; /* for the read context and the deadline */
    const access_path *access;
    const key_range *ranges; /* of the access path: all, or some adjacent ones */
    uint32_t range_count;
    bool backward;
    uint32_t group_paths; /* 0: entries in their order, without groups */

    uint32_t range;      /* number of the current range; range_count: the scan is at its end */
    tansu_buffer resume; /* where the rest of the current range begins (backward: ends) */
    bool resume_set;     /* false: all of the current range is left */
    tree_cursor cursor;
    bool on_entry; /* the cursor is on the next entry of the current range */

    rid_list batch;
    size_t next;
    size_t batch_size; /* of the next batch: grows, so that a small limit reads little */
    tansu_buffer key;
    tansu_buffer group;     /* the common prefix of the entries of the group */
    tansu_buffer group_end; /* the first key after the group */
    bool group_ends;
    uint64_t keys_examined;
} index_scan;

/* What to read of an index, and how. */
typedef struct index_scan_options {
    const access_path *access;
    const key_range *ranges;
    uint32_t range_count;
    uint32_t group_paths; /* leading paths that determine the order; 0: none */
    bool backward;
    bool keep_entries; /* besides the record ids */
} index_scan_options;

/* index_scan_init -- positions the scan before the first entry. The run outlives the scan. */
void index_scan_init(index_scan *scan, const query_run *run, const index_scan_options *options);

/* index_scan_free -- a zero-initialised scan is allowed. */
void index_scan_free(index_scan *scan);

/* index_scan_next -- the next record id. TANSU_DONE at the end. Errors: MEMORY, IO, CORRUPT, and
 * those of run_check(). */
tansu_status index_scan_next(index_scan *scan, uint64_t *rid, tansu_error *error);

/* index_scan_entry -- the entry of the last record id, if entries are kept. */
static inline entry_bytes index_scan_entry(const index_scan *scan) {
    return rid_list_entry(&scan->batch, scan->next - 1);
}

/* index_scan_key -- the keys of the paths that determine the order, of the last record id; entries
 * are kept. */
static inline entry_bytes index_scan_key(const index_scan *scan) {
    if (scan->group_paths != 0)
        return (entry_bytes){scan->group.data, scan->group.size};
    entry_bytes entry = index_scan_entry(scan);
    return (entry_bytes){entry.data, entry.size - RID_SUFFIX_SIZE};
}

/* ---- A k-way merge of several scans of one index ---- */

/*
 * Each scan fixes the leading paths to one value, and the merge is in the order of the paths that follow: {a: {$in: […]}} in the order of b, from an index on a and b.
 */

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
