/*
 * query/merge.h -- several streams of one index as one, in the order of paths behind those that each
 * stream holds to a value of its own: {a: {$in: […]}} in the order of b, from an index over a and b. Part
 * query; may call index and catalog.
 */
#ifndef TANSU_QUERY_MERGE_H
#define TANSU_QUERY_MERGE_H

#include "query/walk.h"

typedef struct merge_stream {
    walk walk;
    size_t held;    /* size of the keys that the stream holds */
    uint64_t docno; /* of its first document that is not taken yet */
} merge_stream;

/* Zeroed, it is empty. */
typedef struct merge {
    merge_stream *streams;
    merge_stream **heap; /* the one that comes next is first */
    uint32_t stream_count;
    uint32_t count; /* streams in the heap */
    bool backward;
    bool started;
    uint64_t keys_examined;
} merge;

/* merge_init -- over the ranges of an order's access, as many for each stream, which holds its first
 * `held_paths` paths. Errors: MEMORY, CORRUPT. */
tansu_status merge_init(merge *m, const query_run *run, const walk_order *order, uint32_t streams,
                        uint32_t held_paths, tansu_error *error);
void merge_free(merge *m);

/* merge_next -- as walk_next(). */
tansu_status merge_next(merge *m, uint64_t *docno, tansu_error *error);

/* merge_entry -- as walk_entry(). */
static inline entry_bytes merge_entry(const merge *m) {
    return walk_entry(&m->heap[0]->walk);
}

#endif
