/*
 * store/collection.h -- creating, copying and freeing collection states, of which a snapshot
 * consists.
 */
#ifndef TANSU_STORE_COLLECTION_H
#define TANSU_STORE_COLLECTION_H

#include "store/snapshot.h"

/* collection_new -- an empty state with its own locations. Errors: MEMORY. */
tansu_status collection_new(uint32_t id, const char *name, bool local, block_store *bs,
                            uint64_t epoch, collection_state **result, tansu_error *error);

/* collection_copy -- a copy with capacity for `extra` more indexes, marked with the epoch; NULL
 * when memory is exhausted. */
collection_state *collection_copy(const collection_state *state, uint32_t extra, uint64_t epoch);

/* collection_release -- frees the state with the blocks, locations and definitions that it refers
 * to: at closing, when no reader can see them. */
void collection_release(tree_store *trees, collection_state *state);

#endif
