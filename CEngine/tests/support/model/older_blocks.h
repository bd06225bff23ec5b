/*
 * support/model/older_blocks.h -- stored blocks and chunks as releases with META format 2 wrote
 * them.
 */
#ifndef SUPPORT_OLDER_BLOCKS_H
#define SUPPORT_OLDER_BLOCKS_H

#include "index/tree/tree_stored.h"

/* older_block -- the record of a content. */
void older_block(tansu_buffer *record, const tree_content *content);

/* older_block_store -- rewrites all blocks and chunks of a closed block store as such records; how
 * many. The META stays as it is. */
size_t older_block_store(const char *path);

#endif
