/*
 * index/locations.h -- location tables: for each record id of a collection the location in the log
 * of the document's newest version; and how many bytes of which segments the locations lead to.
 *
 * One table a collection, shared by all snapshots: an array of 8-byte words in chunks that are
 * loaded from the block store on first use. The writer stores with release, readers load with
 * acquire; a reader that finds a location newer than its snapshot follows the record's `previous`
 * link (log/format.h) back to the version that it may see.
 */
#ifndef TANSU_INDEX_LOCATIONS_H
#define TANSU_INDEX_LOCATIONS_H

#include "index/block_store/block_store.h"
#include "index/tree/tree.h"
#include "tansu.h"
#include "util/aligned_u64.h"

#include <stdbool.h>

/* ---- Bytes by segment ---- */

/*
 * Bytes of live or written records by segment of the log.
 *
 * The numbers are a heuristic for compaction and for statistics: when memory is exhausted, or after
 * a crash, they may be slightly wrong, and only the choice of what to compact depends on them. Any
 * thread reads them; one at a time changes them, which is who holds the write lock, or opens the
 * database.
 */

typedef struct segment_usage segment_usage;

/* segment_usage_new -- NULL when memory is exhausted. */
segment_usage *segment_usage_new(void);
void segment_usage_free(segment_usage *u);

/* segment_usage_add -- that many bytes more (or less) in a segment; never below zero. */
void segment_usage_add(segment_usage *u, uint32_t segment, int64_t bytes);

/* segment_usage_get -- 0 for a segment that was never named. */
uint64_t segment_usage_get(segment_usage *u, uint32_t segment);

/* segment_usage_dead -- of what was written to a segment, what is not alive any more. */
uint64_t segment_usage_dead(segment_usage *written, segment_usage *live, uint32_t segment);

/* segment_usage_sum -- of all segments. */
uint64_t segment_usage_sum(segment_usage *u);

/* segment_usage_forget -- takes a segment out. */
void segment_usage_forget(segment_usage *u, uint32_t segment);

/* segment_usage_add_all -- adds what another one has in each segment. */
void segment_usage_add_all(segment_usage *u, segment_usage *from);

/* segment_usage_encode -- appends everything as bytes: for each segment two varints, how much
 * greater its number is than the one before, and its bytes. False when memory is exhausted. */
bool segment_usage_encode(segment_usage *u, tansu_buffer *bytes);

/* segment_usage_decode -- reads what segment_usage_encode() wrote; false when it is invalid, or
 * memory is exhausted. */
bool segment_usage_decode(segment_usage *u, const uint8_t *bytes, size_t size);

/* ---- Location tables ---- */

typedef struct locations locations;

/* Locations in one chunk: 8 KiB of them in memory, and less in the block store
 * (index/locations.h). */
#define LOCATIONS_CHUNK 1024

/* locations_new -- `collection` is its number, `bs` may be NULL (memory store), `count` says how
 * many record ids (0 … count - 1) the block store's chunks cover: chunks below are loaded when
 * asked for (one that the block store does not have is all zero), chunks above start zeroed. */
tansu_status locations_new(uint32_t collection, block_store *bs, uint64_t count, locations **result,
                           tansu_error *error);
void locations_free(locations *p);

/* locations_count -- has what a small collection takes count among the bytes of a tree store in
 * memory until the locations are freed: `more` bytes, these, and the words of the first chunk. */
void locations_count(locations *p, tree_store *trees, size_t more);

/* locations_gaps_read -- after locations_new(): the block store has every chunk that the count
 * covers but those that locations_gaps_write() listed; any other missing chunk is corruption.
 * Errors: CORRUPT (invalid gaps), MEMORY. */
tansu_status locations_gaps_read(locations *p, const uint8_t *gaps, size_t size,
                                 tansu_error *error);

/* locations_in_gaps -- how many record ids are in the gaps that were read, which scans skip. */
uint64_t locations_in_gaps(const locations *p);

/* locations_get -- the location of a record id, 0 when it was never stored (or is out of range).
 * Any thread. Errors: IO, CORRUPT, MEMORY (loading a chunk). */
tansu_status locations_get(locations *p, uint64_t rid, uint64_t *location, tansu_error *error);

/* locations_word -- for prefetching: where a record id's word is if it is in memory, otherwise
 * NULL. */
const aligned_u64 *locations_word(locations *p, uint64_t rid);

/* locations_words -- for scans: the words of the record ids from `rid` on, up to *end (not
 * included); NULL when none of these was ever stored. Words are read with locations_load(). */
tansu_status locations_words(locations *p, uint64_t rid, const aligned_u64 **words, uint64_t *end,
                             tansu_error *error);
static inline uint64_t locations_load(const aligned_u64 *word) {
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/* locations_prepare -- ensures that locations_set() of that record id can't fail. The writer
 * only. */
tansu_status locations_prepare(locations *p, uint64_t rid, tansu_error *error);

/* locations_set -- stores a location that was prepared. The writer only; cannot fail. */
void locations_set(locations *p, uint64_t rid, uint64_t location);

/* locations_relocate -- stores `to` if the word is `from`: the record was moved. False when it is
 * not, or the chunk is not in memory. The writer only; cannot fail. */
bool locations_relocate(locations *p, uint64_t rid, uint64_t from, uint64_t to);

/* locations_live -- bytes of the collection's newest records by segment. Any thread. */
segment_usage *locations_live(const locations *p);

/* locations_gaps_write -- before locations_checkpoint(): the chunks of the record ids 0 … count - 1
 * that it will not write to the block store, because they are empty: their record ids were assigned
 * and rolled back, or their documents were removed and compacted. Runs concurrently with the
 * writer. Errors: MEMORY. */
tansu_status locations_gaps_write(locations *p, uint64_t count, tansu_buffer *gaps,
                                  tansu_error *error);

/* locations_next_chunk -- the first chunk from that number on, below `end`, that is not known to be
 * empty; `end` when there is none. */
uint64_t locations_next_chunk(locations *p, uint64_t number, uint64_t end);

/* locations_checkpoint -- writes the chunks that changed since the last one, within the caller's
 * block store transaction. Runs concurrently with the writer. locations_checkpoint_failed: it was
 * rolled back, and those chunks count as changed again. */
tansu_status locations_checkpoint(locations *p, uint64_t *written, tansu_error *error);
void locations_checkpoint_failed(locations *p);

/* locations_remove_stored -- removes all chunks of a dropped collection from the block store,
 * within a block store transaction. `count`: record ids that were ever assigned. */
tansu_status locations_remove_stored(block_store *bs, uint32_t collection, uint64_t count,
                                     tansu_error *error);

/* ---- Locations stored ---- */

/*
 * The stored form of a chunk of the location table: what a checkpoint
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

/* locations_encode -- the stored form of a chunk, at most LOCATIONS_CHUNK * 8 bytes, which `record`
 * has space for; how many. */
size_t locations_encode(uint8_t *record, const uint64_t words[LOCATIONS_CHUNK]);

/* locations_decode -- the locations of a stored chunk; false: it is invalid, and `words` may be
 * anything. */
bool locations_decode(uint64_t words[LOCATIONS_CHUNK], const uint8_t *record, size_t size);

#endif
