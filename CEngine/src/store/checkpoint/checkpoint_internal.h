/*
 * store/checkpoint/checkpoint_internal.h -- what the files of the checkpoint share.
 */
#ifndef TANSU_STORE_CHECKPOINT_CHECKPOINT_INTERNAL_H
#define TANSU_STORE_CHECKPOINT_CHECKPOINT_INTERNAL_H

#include "store/snapshot.h"

#define INDEX_FOLDER "index"
#define BLOCK_STORE_NAME INDEX_FOLDER "/blocks.tch"

/* The format of the META record. A block store with another one is rebuilt from the log. Since 2,
 * index entries have type tags. */
#define META_FORMAT 2

/* meta_write -- writes a snapshot's changed blocks and chunks and the META record, within the block
 * store's transaction. */
tansu_status meta_write(database *db, const snapshot *v, uint32_t next_collection,
                        uint32_t next_index, tansu_error *error);

/* meta_read -- the snapshot that a META record describes. Errors: CORRUPT, MEMORY, IO. */
tansu_status meta_read(database *db, const uint8_t *meta, size_t size, snapshot **result,
                       tansu_error *error);

#endif
