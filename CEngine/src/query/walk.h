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
    const view *view;
    const collection_state *collection;
    const access *access;
    bool backward;
    uint32_t group_paths; /* 0: entries as they come */

    uint32_t range;    /* number of the present range; range_count: the walk is over */
    tansu_buffer edge; /* where the rest of the present range begins (backward: ends) */
    bool edge_set;     /* false: all of the present range is left */
    bool edge_open;    /* backward: there is no upper end */
    tree_cursor cursor;
    bool on_entry; /* the cursor is on the next entry of the present range */

    docno_list batch;
    size_t next;
    size_t room; /* entries to ask for next time: grows, so that a small limit reads little */
    tansu_buffer key;
    tansu_buffer folded;
    tansu_buffer group;     /* what the entries of the group begin with */
    tansu_buffer group_end; /* the first key behind the group */
    bool group_ends;
    uint64_t keys_examined;
} walk;

void walk_init(walk *w, const view *v, const collection_state *collection, const access *a,
               bool backward, uint32_t group_paths);
void walk_free(walk *w);

/* walk_next -- the next docno. TANSU_DONE at the end. Errors: MEMORY, IO, CORRUPT. */
tansu_status walk_next(walk *w, uint64_t *docno, tansu_error *error);

#endif
