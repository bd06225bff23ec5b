/*
 * catalog/collection.h -- making, copying and freeing versions and collection states. Part catalog.
 */
#ifndef TANSU_CATALOG_COLLECTION_H
#define TANSU_CATALOG_COLLECTION_H

#include "catalog/version.h"

/* collection_new -- an empty state with its own places. Errors: MEMORY. */
tansu_status collection_new(uint32_t id, const char *name, bool local, cabinet *cab, uint64_t epoch,
                            collection_state **result, tansu_error *error);

/* collection_copy -- a copy with room for `extra` more indexes, marked with the epoch; NULL when
 * memory is exhausted. */
collection_state *collection_copy(const collection_state *state, uint32_t extra, uint64_t epoch);

/* collection_release -- frees the state with the blocks, places and definitions that it refers to: at
 * closing, when nobody can see them. */
void collection_release(tree_store *trees, collection_state *state);

/* version_new -- a version with room for `room` collections; NULL when memory is exhausted. */
version *version_new(uint32_t room);

/* version_free -- frees the struct and its array; the collections' states belong to retire lists. */
void version_free(version *v);

/* version_slot -- where the name is, or would be inserted; *found tells which. */
uint32_t version_slot(const version *v, const char *name, bool *found);

/* name_check -- whether a collection or index name is allowed: 1 to TANSU_MAX_NAME bytes of UTF-8
 * without control characters, not beginning with `$`. Errors: INVALID_NAME. */
tansu_status name_check(const char *name, const char *what, tansu_error *error);

#endif
