/*
 * store/checkpoint/checkpoint_internal.h -- what the files of the checkpoint share.
 */
#ifndef TANSU_STORE_CHECKPOINT_CHECKPOINT_INTERNAL_H
#define TANSU_STORE_CHECKPOINT_CHECKPOINT_INTERNAL_H

#include "bson/writer.h"
#include "store/snapshot.h"

#define BLOCK_STORE_NAME "index/blocks.tch"

/* The format of the block store's records; it also changes with the rules by which index entries
 * are made. A block store of another format is rebuilt from the log. */
#define META_FORMAT 1

/* The subtype of a binary that segment_usage_encode() made. */
#define META_USAGE 0x80

/* meta_write -- writes a snapshot's changed blocks and chunks and the META record, within the block
 * store's transaction. */
tansu_status meta_write(database *db, const snapshot *v, uint32_t next_collection,
                        uint32_t next_index, tansu_error *error);

/* The trees of a META record. */
typedef struct stored_trees {
    struct {
        uint64_t block, entries;
    } * list;
    size_t count, capacity;
    uint64_t entries;       /* of all of them */
    uint64_t other_records; /* at most so many records of the block store are no blocks */
} stored_trees;

/* meta_trees -- adds the trees of the collections that a META record names. The caller frees the
 * list. Errors: CORRUPT, MEMORY. */
tansu_status meta_trees(block_store *bs, const uint8_t *meta, size_t size, stored_trees *trees);

/* checkpoint_free_unreachable -- has the next checkpoint remove the stored blocks that no stored
 * tree has, and says whether there are any. For the first checkpoint after opening, whose mutex is
 * held: the blocks are those that opening found. What cannot be found out stays. */
bool checkpoint_free_unreachable(database *db);

/* meta_read -- the snapshot that a META record describes. Errors: CORRUPT, MEMORY, IO. */
tansu_status meta_read(database *db, const uint8_t *meta, size_t size, snapshot **result,
                       tansu_error *error);

/* ---- Log state ---- */

/*
 * What the META record says of the log at the time of its
 * checkpoint, so that damage to segments that opening does not read is detected.
 *
 * Opening reads the log from the checkpoint on. An older segment that was truncated is detected by
 * its size. And locations are written concurrently with the writer, so that some may belong to
 * commits after the checkpoint's: those commits must be in the log as well, for a process that
 * crashes leaves all that it wrote.
 */

/* log_state_append -- adds {"witnessed": commit, "extents": [{"segment", "end"}, …]} to a META
 * record; called after all locations were written. */
void log_state_append(database *db, const snapshot *v, writer *meta);

/* log_state_matches -- whether the log's segments are those of the META record; also sets the
 * commit that replay must reach. */
bool log_state_matches(database *db, const uint8_t *meta, size_t size);

#endif
