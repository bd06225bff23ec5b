/*
 * index/locations_stored.h -- the stored form of a chunk of the location table: what a checkpoint
 * writes and a load reads.
 *
 *   shift | count | words
 *
 *   shift  one byte: the bits at the end that are 0 in the differences of all locations
 *   count  how many locations follow; those after them are 0
 *   words  for each of them 0 when it is 0; otherwise one more than its difference from the last
 *          one that is not 0, shifted right by `shift` and folded
 *
 * Numbers are varints (util/bytes.h). Documents that were inserted after each other lie after each
 * other, so most differences are small. A chunk that this form would make no smaller is stored as
 * it is, 8 bytes for each location.
 */
#ifndef TANSU_INDEX_LOCATIONS_STORED_H
#define TANSU_INDEX_LOCATIONS_STORED_H

#include "index/locations.h"

/* locations_encode -- the stored form of a chunk, at most LOCATIONS_CHUNK * 8 bytes, which `record`
 * has space for; how many. */
size_t locations_encode(uint8_t *record, const uint64_t words[LOCATIONS_CHUNK]);

/* locations_decode -- the locations of a stored chunk; false: it is invalid, and `words` may be
 * anything. */
bool locations_decode(uint64_t words[LOCATIONS_CHUNK], const uint8_t *record, size_t size);

#endif
