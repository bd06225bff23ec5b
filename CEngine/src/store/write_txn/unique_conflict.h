/*
 * store/write_txn/unique_conflict.h -- the error for a value that a unique index already holds.
 */
#ifndef TANSU_STORE_WRITE_TXN_UNIQUE_CONFLICT_H
#define TANSU_STORE_WRITE_TXN_UNIQUE_CONFLICT_H

#include "index/index_build.h"
#include "store/read_context.h"

/* unique_conflict_error -- NOT_UNIQUE: the context names the index, the message collection and
 * value, taken from the document that has it. `doc` NULL: the message has no value. */
tansu_status unique_conflict_error(const char *collection, const index_definition *definition,
                                   const uint8_t *doc, size_t doc_size, const uint8_t *entry,
                                   size_t size, tansu_error *error);

/* unique_conflict_of_build -- the same for what index_build() found, in its read context. */
tansu_status unique_conflict_of_build(const read_context *rctx, const collection_state *collection,
                                      const index_definition *definition,
                                      const index_conflict *conflict, tansu_error *error);

#endif
