/*
 * query/walk.h -- docnos streamed from an index in key order, forward or backward. Part query; may
 * call index and catalog.
 *
 * Documents that are equal in the order asked for come in docno order, whatever the direction and
 * whatever further paths the index has: they make a group, which is gathered and sorted.
 */
#ifndef TANSU_QUERY_WALK_H
#define TANSU_QUERY_WALK_H

#include "query/docnos.h"

typedef struct walk {
    const query_run *run; /* whose view is read, and which may be stopped */
    const access *access;
    const key_range *ranges; /* of the access: all, or some that follow one another */
    uint32_t range_count;
    bool backward;
    uint32_t group_paths; /* 0: entries as they come */

    uint32_t range;    /* number of the present range; range_count: the walk is over */
    tansu_buffer edge; /* where the rest of the present range begins (backward: ends) */
    bool edge_set;     /* false: all of the present range is left */
    tree_cursor cursor;
    bool on_entry; /* the cursor is on the next entry of the present range */

    docno_list batch;
    size_t next;
    size_t room; /* entries to ask for next time: grows, so that a small limit reads little */
    tansu_buffer key;
    tansu_buffer group;     /* what the entries of the group begin with */
    tansu_buffer group_end; /* the first key behind the group */
    bool group_ends;
    uint64_t keys_examined;
} walk;

/* What is read of an index, and how. */
typedef struct walk_order {
    const access *access;
    const key_range *ranges;
    uint32_t range_count;
    uint32_t group_paths; /* leading paths that make the order; 0: none do */
    bool backward;
    bool keeps; /* the entries are wanted beside the docnos */
} walk_order;

/* walk_init -- before the first entry. The run outlives the walk. */
void walk_init(walk *w, const query_run *run, const walk_order *order);
void walk_free(walk *w);

/* walk_next -- the next docno. TANSU_DONE at the end. Errors: MEMORY, IO, CORRUPT, and those of
 * run_check(). */
tansu_status walk_next(walk *w, uint64_t *docno, tansu_error *error);

/* walk_entry -- the entry that the last docno came from, if entries are kept. */
static inline entry_bytes walk_entry(const walk *w) {
    return docno_list_entry(&w->batch, w->next - 1);
}

/* walk_key -- the keys of the paths that make the order, of the last docno; entries are kept. */
static inline entry_bytes walk_key(const walk *w) {
    if (w->group_paths != 0)
        return (entry_bytes){w->group.data, w->group.size};
    entry_bytes entry = walk_entry(w);
    return (entry_bytes){entry.data, entry.size - INDEX_TAIL_SIZE};
}

#endif
