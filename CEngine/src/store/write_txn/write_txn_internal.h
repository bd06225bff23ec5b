/*
 * store/write_txn/write_txn_internal.h -- what the files of the write transaction and of recovery
 * share.
 */
#ifndef TANSU_STORE_WRITE_TXN_WRITE_TXN_INTERNAL_H
#define TANSU_STORE_WRITE_TXN_WRITE_TXN_INTERNAL_H

#include "bson/writer.h"
#include "index/index_build.h"
#include "store/read_context.h"
#include "store/write_txn/write_txn.h"

/* write_txn_catalog -- how it changes a tree of its catalog. */
catalog_writer write_txn_catalog(write_txn *wtxn, catalog_order order);

/* write_txn_discard_state -- a retire_free over a state of the private snapshot of the transaction:
 * frees it with its blocks if it is the transaction's own. */
void write_txn_discard_state(void *wtxn, void *state);

/* write_txn_collection -- the private state of a collection, NULL when there is none (*status OK)
 * or memory is exhausted. `extra`: capacity for more indexes. */
tansu_status write_txn_collection(write_txn *wtxn, const char *name, uint32_t extra,
                                  collection_state **state, tansu_error *error);
collection_state *write_txn_collection_by_id(write_txn *wtxn, uint32_t id);

/* write_txn_record -- appends a record: header, payload of `size` bytes from `bytes`. *at: where it
 * is, for pending. */
tansu_status write_txn_record(write_txn *wtxn, enum record_type type, uint8_t flags,
                              uint32_t collection, uint64_t rid, uint64_t previous,
                              const void *bytes, size_t size, uint64_t *at, tansu_error *error);

/* write_txn_dead -- how much of the log a record of the catalog has compaction take for dead: a
 * collection that is dropped was created with a record as large, about; indexes and options are few
 * that stay, and count until the first compaction only. */
static inline uint64_t write_txn_dead(uint8_t type, uint64_t size) {
    if (type == RECORD_COLLECTION_DROP)
        return 2 * size;
    return type == RECORD_INDEX_CREATE || type == RECORD_INDEX_DROP ||
                   type == RECORD_COLLECTION_OPTIONS
               ? size
               : 0;
}

/* write_txn_put_document -- the same with the document that begins at `start` of the payload's
 * buffer, which is freed. */
tansu_status write_txn_put_document(write_txn *wtxn, enum record_type type, uint32_t collection,
                                    writer *payload, size_t start, tansu_error *error);

/* write_txn_step_add -- notes a step; the capacity was reserved with write_txn_step_reserve(). */
bool write_txn_step_reserve(write_txn *wtxn);
void write_txn_step_add(write_txn *wtxn, write_txn_step step);

/* write_txn_memory -- what it keeps in memory until its end, once one more document is changed:
 * index blocks that it made, index entries that wait, and its tables of documents, of savepoints'
 * steps and of replaced blocks. */
uint64_t write_txn_memory(const write_txn *wtxn);

/* write_txn_apply_put / write_txn_apply_delete -- the index work of a put or delete. */
tansu_status write_txn_apply_put(write_txn *wtxn, collection_state *state, const uint8_t *doc,
                                 size_t size, uint64_t rid, const uint8_t *old, uint32_t old_size,
                                 tansu_error *error);
tansu_status write_txn_apply_delete(write_txn *wtxn, collection_state *state, uint64_t rid,
                                    const uint8_t *old, uint32_t old_size, tansu_error *error);

/* write_txn_batches -- whether changes of an index wait; `existing`: those of a document that was
 * there before. write_txn_batch -- has one of them wait in the collection's index `i`, and makes
 * all when they are many. write_txn_batches_free -- forgets what waits. Errors: MEMORY, IO. */
bool write_txn_batches(const write_txn *wtxn, const index_definition *definition, bool existing);
tansu_status write_txn_batch(write_txn *wtxn, collection_state *state, uint32_t i,
                             const uint8_t *entry, uint32_t size, bool removes, tansu_error *error);
void write_txn_batches_free(write_txn *wtxn);

/* write_txn_set_codec, write_txn_set_option -- set an option in the private snapshot; an object is
 * owned whatever the result. write_txn_move_references -- has the references to a collection that
 * was renamed follow it, with records of their own. */
tansu_status write_txn_set_codec(write_txn *wtxn, const char *name, enum codec codec,
                                 tansu_error *error);
tansu_status write_txn_set_option(write_txn *wtxn, const char *name, enum option_number number,
                                  void *option, tansu_error *error);
tansu_status write_txn_move_references(write_txn *wtxn, const char *name, const char *to,
                                       tansu_error *error);

/* write_txn_add_collection / write_txn_remove_collection -- puts a state into the private snapshot,
 * or takes it out. */
tansu_status write_txn_add_collection(write_txn *wtxn, uint32_t id, const char *name, bool local,
                                      tansu_error *error);
tansu_status write_txn_remove_collection(write_txn *wtxn, const char *name, tansu_error *error);
tansu_status write_txn_move_collection(write_txn *wtxn, const char *name, const char *to,
                                       tansu_error *error);
tansu_status write_txn_add_index(write_txn *wtxn, const char *collection,
                                 index_definition *definition, const index_build_control *control,
                                 tansu_error *error);
tansu_status write_txn_remove_index(write_txn *wtxn, const char *collection, const char *name,
                                    tansu_error *error);

/* ---- Conflicts in unique indexes ---- */

/*
 * The error for a value that a unique index already holds.
 */

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
