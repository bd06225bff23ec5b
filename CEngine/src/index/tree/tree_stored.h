/*
 * index/tree/tree_stored.h -- the stored form of a block: what a checkpoint writes and a load
 * reads. Private to index/tree.
 *
 *   form and level | tail | count | prefix | heap | prefix's bytes | strings | children
 *
 * Each string is written as what distinguishes it from the one before. All but the first two bytes
 * are varints (util/bytes.h) and bytes; there is no padding, no gap and no head.
 *
 *   form and level  STORED_DELTAS + the block's level
 *   tail            how many bytes at the end of each string, 0 to 5, are those of a rid suffix
 *                   (index/tree/rid_suffix.h) and written as a number; the rest is its value. With
 *                   less than five the prefix has the suffix's first bytes
 *   count           strings
 *   prefix          size of what all of them begin with; values are without it
 *   heap            bytes that the strings take in a page's heap
 *   strings         see below
 *   children        of an inner block, count + 1 times: the difference between its number and that
 *                   of the child before, folded, and how many entries are below it
 *
 * A string begins with a code. From 0x80 on, its value is that of the string before, and bits 0 to
 * 6 are the difference of the record ids less one, below STORED_NEAR; or STORED_NEAR - 1 + n, when
 * n bytes follow, 1 to 5, that are this difference; or STORED_OTHER_TAG, when the rid suffix
 * follows, as five bytes. Numbers of bytes are little-endian.
 *
 * Below 0x80, its value is that of the string before with some bytes replaced. Bits 3 and 4 are how
 * many bytes at the beginning are kept, and bits 0 to 2 how many are inserted after them; 3 or 7
 * says that as much less than the number follows, as a varint, in this order. As many bytes as are
 * inserted are left out, unless bit 5 is set: then their number follows. Then come the inserted
 * bytes. When the string has a tail, bit 6 says that its rid suffix follows: the folded difference
 * of the record ids, shifted left by one; if bit 0 is set, the type tag is another one, and follows
 * as a byte. Without bit 6 the record id is the next one. The type tag is otherwise that of the
 * string before. Before the first string are an empty value and the rid suffix 0.
 *
 * Blocks that META format 2 (store/checkpoint) has are pages as they are in memory, without their
 * gap (index/tree/tree_page.h); the first byte is the level. An inner block's is followed by 8
 * bytes for each child's number, and then 8 for each one's number of entries. They can be read.
 */
#ifndef TANSU_INDEX_TREE_TREE_STORED_H
#define TANSU_INDEX_TREE_TREE_STORED_H

#include "index/tree/tree_block.h"

#define STORED_DELTAS 0x80     /* in the first byte */
#define STORED_SAME_VALUE 0x80 /* in a string's code */
#define STORED_RID 0x40
#define STORED_OTHER_SIZE 0x20
#define STORED_KEPT_LONG 3 /* from here on sizes follow as a varint */
#define STORED_INSERTED_LONG 7
#define STORED_NEAR 120
#define STORED_OTHER_TAG (STORED_NEAR + RID_SUFFIX_SIZE)

/* stored_encode -- appends the stored form of a content, whose children are all stored; false when
 * memory is exhausted. */
bool stored_encode(tansu_buffer *record, const tree_content *content);

/* stored_decode -- a content from a record, of a block of that level (-1: any). Errors: MEMORY;
 * CORRUPT, with what is wrong in *fault and no other error. */
tansu_status stored_decode(tree_store *store, const uint8_t *record, size_t size, int level,
                           tree_content **content, const char **fault, tansu_error *error);

/* stored_drop -- frees a content that stored_decode() made and no handle has got. */
void stored_drop(tree_store *store, tree_content *content);

#endif
