/*
 * store/checkpoint/stored_catalog.h -- the collections in the block store: records of up to 64
 * collections with adjacent numbers, of which a checkpoint writes those that changed.
 *
 * A writer marks the record of each collection that it changes with its epoch. A checkpoint writes
 * what has a greater one than the snapshot of the checkpoint before. The META record has a bit for
 * each record that there is.
 */
#ifndef TANSU_STORE_CHECKPOINT_STORED_CATALOG_H
#define TANSU_STORE_CHECKPOINT_STORED_CATALOG_H

#include "bson/writer.h"
#include "store/snapshot.h"

#define STORED_CATALOG_COLLECTIONS 64u /* in one record */

/* stored_catalog_reserve -- has space for the marks of collections up to that number; false when
 * memory is exhausted. The writer only. */
bool stored_catalog_reserve(database *db, uint32_t collection);

/* stored_catalog_mark -- a collection, for which space was reserved, was changed in that epoch. The
 * writer only; cannot fail. */
void stored_catalog_mark(database *db, uint32_t collection, uint64_t epoch);

/* stored_catalog_changed -- the numbers of the records that the checkpoint of a snapshot has to
 * write; the caller frees the list. Errors: MEMORY. */
tansu_status stored_catalog_changed(database *db, uint32_t **records, uint32_t *count,
                                    tansu_error *error);

/* stored_catalog_set -- whether there is such a record now. For the checkpoint, which calls
 * stored_catalog_append() afterwards. */
void stored_catalog_set(database *db, uint32_t record, bool there);

/* stored_catalog_append -- appends what META says of the records. */
void stored_catalog_append(database *db, writer *meta);

/* stored_catalog_read -- reads that. Errors: CORRUPT, MEMORY. */
tansu_status stored_catalog_read(database *db, const uint8_t *meta, size_t size,
                                 tansu_error *error);

/* stored_catalog_forget -- there are no records any more. */
void stored_catalog_forget(database *db);

void stored_catalog_free(database *db);

/* Called for what is stored of a collection; `record` is UINT32_MAX if META itself has it. */
typedef tansu_status (*stored_collection_visitor)(void *context, uint32_t record,
                                                  const doc_value *part, tansu_error *error);

/* stored_catalog_each -- shows what is stored of all collections; continues after a record that
 * cannot be read or is invalid, and returns CORRUPT at the end. `meta` was checked (meta_check()).
 * Errors: CORRUPT, MEMORY, and the visitor's. */
tansu_status stored_catalog_each(block_store *bs, const uint8_t *meta, size_t size,
                                 stored_collection_visitor visit, void *context,
                                 tansu_error *error);

/* stored_catalog_next -- the number of the first record from that one on that META lists;
 * UINT32_MAX: there is none. */
uint32_t stored_catalog_next(const uint8_t *meta, size_t size, uint32_t from);

/* meta_check -- whether it is a valid META record or record of collections. They have none of the
 * limits of documents that are stored. */
bool meta_check(const uint8_t *doc, size_t size);

#endif
