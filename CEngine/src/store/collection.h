/*
 * store/collection.h -- creating, copying and freeing collection states, of which a snapshot
 * consists.
 */
#ifndef TANSU_STORE_COLLECTION_H
#define TANSU_STORE_COLLECTION_H

#include "bson/writer.h"
#include "store/snapshot.h"
#include "tansu.h"

/* index_waits -- whether an index of a collection (0: `_id`; n: indexes[n - 1]) is not current
 * (store/index_backlog/index_backlog.h). */
static inline bool index_waits(const collection_state *state, uint32_t number) {
    return __builtin_expect(state->backlog != NULL, 0) &&
           !atomic_load_explicit(&state->current[number], memory_order_acquire);
}

/* collection_write_options -- appends compression and the other options, as far as they are set: as
 * records of the catalog and reports have them. */
void collection_write_options(const collection_state *state, writer *w);

/* collection_count -- has what a state takes beside its trees count as memory of blocks. */
void collection_count(const collection_state *state, tree_store *trees);

/* collection_name_new -- NULL when memory is exhausted. */
collection_name *collection_name_new(uint32_t id, const char *text, size_t length);

/* collection_set_name -- the state does not own it. */
static inline void collection_set_name(collection_state *state, collection_name *named) {
    state->named = named;
    state->name = named->text;
}

/* collection_new -- an empty state with its own name and locations. Errors: MEMORY. */
tansu_status collection_new(uint32_t id, const char *name, bool local, block_store *bs,
                            uint64_t epoch, collection_state **result, tansu_error *error);

/* collection_copy -- a copy with capacity for `extra` more indexes, marked with the epoch; NULL
 * when memory is exhausted. All indexes are current (indexes_current()). */
collection_state *collection_copy(const collection_state *state, uint32_t extra, uint64_t epoch);

/* collection_words -- the number of the index of words among the collection's indexes, from 1 on; 0:
 * there is none. */
uint32_t collection_words(const collection_state *state);

/* collection_release -- a retire_free over a state with the name, blocks, locations and definitions
 * that it refers to: at closing, when no reader can see them. */
void collection_release(void *trees, void *state);

/* ---- Which names collections and indexes may have ---- */

/* name_check -- whether a collection's or index's name is allowed: 1 to TANSU_MAX_NAME bytes of
 * UTF-8 without control characters, not beginning with `$`. `what` is "collection" or "index".
 * Errors: INVALID_NAME. */
tansu_status name_check(const char *name, const char *what, tansu_error *error);

#endif
