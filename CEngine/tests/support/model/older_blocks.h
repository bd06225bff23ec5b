/*
 * support/model/older_blocks.h -- stored blocks and chunks as releases with META format 2 wrote
 * them.
 */
#ifndef SUPPORT_OLDER_BLOCKS_H
#define SUPPORT_OLDER_BLOCKS_H

#include "index/tree/tree_stored.h"

/* older_block -- the record of a content. */
void older_block(tansu_buffer *record, const tree_content *content);

/* older_meta -- makes a META, and the record of the collections with the numbers below 64, the META
 * of an earlier format, which has the collections itself. */
void older_meta(block_store *bs, tansu_buffer *meta, int32_t format);

/* older_block_store -- rewrites all blocks and chunks of a closed block store as such records; how
 * many. The META stays as it is. */
size_t older_block_store(const char *path);

#endif
