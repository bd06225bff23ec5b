/*
 * index/places.h -- docno → place: where in the log the newest version of each document of a
 * collection lies. Part index; may call base and index/cabinet.h.
 *
 * One object a collection, shared by all versions: an array of 8-byte words in chunks that are
 * loaded from the cabinet on first use. The one writer stores with release, readers load with
 * acquire; a reader that meets a place newer than its snapshot follows the record's `prev` link
 * (log/record.h) back to the version it may see.
 */
#ifndef TANSU_INDEX_PLACES_H
#define TANSU_INDEX_PLACES_H

#include "index/cabinet.h"
#include "index/usage.h"

typedef struct places places;

/* Places in one chunk: 8 KiB of them, which is what a checkpoint writes at the least. */
#define PLACES_CHUNK 1024

/* places_new -- `collection` is its number, `cab` may be NULL (memory store), `count` tells how many
 * docnos (0 … count - 1) the cabinet's chunks cover: chunks below are loaded when asked for (one that
 * the cabinet does not have is all zero), chunks above start zeroed. */
tansu_status places_new(uint32_t collection, cabinet *cab, uint64_t count, places **result,
                        tansu_error *error);
void places_free(places *p);

/* places_gaps_take -- after places_new(): the cabinet has every chunk that the count covers but those that
 * places_gaps_give() told when it was written; any other that is missing is damage. Errors: CORRUPT (they make
 * no sense), MEMORY. */
tansu_status places_gaps_take(places *p, const uint8_t *gaps, size_t size, tansu_error *error);

/* places_get -- the place of a docno, 0 when it was never stored (or is out of range). Any thread.
 * Errors: IO, CORRUPT, MEMORY (loading a chunk). */
tansu_status places_get(places *p, uint64_t docno, uint64_t *place, tansu_error *error);

/* places_word -- for prefetching: where a docno's word is if it is in memory, otherwise NULL. */
const uint64_t *places_word(places *p, uint64_t docno);

/* places_chunk -- for scans: the words of the chunk with that number, NULL when none of its docnos was
 * ever stored. Words are read with places_load(). */
tansu_status places_chunk(places *p, uint64_t chunk, const uint64_t **words, tansu_error *error);
static inline uint64_t places_load(const uint64_t *word) {
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/* places_prepare -- makes sure that places_set() of that docno can't fail. The writer only. */
tansu_status places_prepare(places *p, uint64_t docno, tansu_error *error);

/* places_set -- stores a place that was prepared. The writer only; cannot fail. */
void places_set(places *p, uint64_t docno, uint64_t place);

/* places_swing -- stores `to` if the word is `from`: the record was moved. False when it is not, or the
 * chunk is not in memory. The writer only; cannot fail. */
bool places_swing(places *p, uint64_t docno, uint64_t from, uint64_t to);

/* places_live -- bytes of the collection's newest records by segment. Any thread. */
usage *places_live(const places *p);

/* places_gaps_give -- before places_checkpoint(): the chunks of the docnos 0 … count - 1 that it will not
 * leave in the cabinet, for nobody has them: their numbers were given out and taken back, or compaction
 * forgot what they held. Runs beside the writer. Errors: MEMORY. */
tansu_status places_gaps_give(places *p, uint64_t count, tansu_buffer *gaps, tansu_error *error);

/* places_next_chunk -- the first chunk from that number on, and below `end`, that is not known to be one
 * that nobody has; `end` when there is none. */
uint64_t places_next_chunk(places *p, uint64_t number, uint64_t end);

/* places_checkpoint -- writes the chunks that changed since the last one, within the caller's cabinet
 * transaction. Runs beside the writer. places_checkpoint_failed: it was rolled back, and those
 * chunks count as changed again. */
tansu_status places_checkpoint(places *p, uint64_t *written, tansu_error *error);
void places_checkpoint_failed(places *p);

/* places_remove_stored -- removes all of its chunks from the cabinet, within a cabinet transaction (a
 * dropped collection). `count`: docnos that were ever given out. */
tansu_status places_remove_stored(cabinet *cab, uint32_t collection, uint64_t count,
                                  tansu_error *error);

/* places_memory -- bytes held. */
uint64_t places_memory(const places *p);

#endif
