/*
 * index/tree/rid_suffix.h -- the last five bytes of every index entry: the record id, and in the
 * low bits the entry's type tag (index/type_tag.h).
 *
 * The record id precedes the type tag, so that entries of equal values are in insertion order. That
 * a collection can assign 2^35 record ids in its life is no practical limit: the locations of that
 * many take 256 GiB.
 */
#ifndef TANSU_INDEX_TREE_RID_SUFFIX_H
#define TANSU_INDEX_TREE_RID_SUFFIX_H

#include <stdint.h>

#define RID_SUFFIX_SIZE 5
#define TYPE_TAG_BITS 5
#define TYPE_TAG_MASK ((1u << TYPE_TAG_BITS) - 1)
#define MAX_RID (((uint64_t)1 << 35) - 1)
/* No document has this one. */
#define NO_RID UINT64_MAX

/* suffix_rid -- of an entry's last five bytes. */
static inline uint64_t suffix_rid(const uint8_t *suffix) {
    uint64_t number = (uint64_t)suffix[0] << 32 | (uint64_t)suffix[1] << 24 |
                      (uint64_t)suffix[2] << 16 | (uint64_t)suffix[3] << 8 | suffix[4];
    return number >> TYPE_TAG_BITS;
}

/* suffix_type_tag -- likewise. */
static inline uint32_t suffix_type_tag(const uint8_t *suffix) {
    return suffix[4] & TYPE_TAG_MASK;
}

/* suffix_put -- writes the five bytes. */
static inline void suffix_put(uint8_t *suffix, uint64_t rid, uint32_t tag) {
    uint64_t number = rid << TYPE_TAG_BITS | tag;
    suffix[0] = (uint8_t)(number >> 32);
    suffix[1] = (uint8_t)(number >> 24);
    suffix[2] = (uint8_t)(number >> 16);
    suffix[3] = (uint8_t)(number >> 8);
    suffix[4] = (uint8_t)number;
}

#endif
