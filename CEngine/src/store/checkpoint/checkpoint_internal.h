/*
 * store/checkpoint/checkpoint_internal.h -- what the files of the checkpoint share.
 */
#ifndef TANSU_STORE_CHECKPOINT_CHECKPOINT_INTERNAL_H
#define TANSU_STORE_CHECKPOINT_CHECKPOINT_INTERNAL_H

#include "store/snapshot.h"

#define INDEX_FOLDER "index"
#define BLOCK_STORE_NAME INDEX_FOLDER "/blocks.tch"

/* The format of the META record that is written, and the oldest that is read: a block store with
 * any other is rebuilt from the log. Since 2, index entries have type tags; since 3, blocks and
 * chunks have a stored form of their own (index/tree/tree_stored.h, index/locations_stored.h), next
 * to which those of 2 can be read. */
#define META_FORMAT 3
#define META_FORMAT_OLDEST 2

/* meta_write -- writes a snapshot's changed blocks and chunks and the META record, within the block
 * store's transaction. */
tansu_status meta_write(database *db, const snapshot *v, uint32_t next_collection,
                        uint32_t next_index, tansu_error *error);

/* meta_read -- the snapshot that a META record describes. Errors: CORRUPT, MEMORY, IO. */
tansu_status meta_read(database *db, const uint8_t *meta, size_t size, snapshot **result,
                       tansu_error *error);

#endif
