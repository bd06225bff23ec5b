/*
 * store/pending.h -- which documents a write transaction has changed, and where in its unfinished
 * frame their newest records are: a hash table from (collection, record id), and an array for the
 * documents that it has inserted into one collection, because their record ids follow each other.
 */
#ifndef TANSU_STORE_PENDING_H
#define TANSU_STORE_PENDING_H

#include "log/log.h"

typedef struct pending_slot {
    uint64_t where; /* record_where(); 0 marks a free slot (collection numbers begin at 1) */
    /* offset in the frame (replay: a location), with LOCATION_DELETED; 0: as committed */
    uint64_t at;
} pending_slot;

typedef struct pending {
    pending_slot *slots;
    uint64_t mask; /* number of slots - 1 */
    uint64_t count;
    /* Of inserted documents: what `at` is for those from `run_first` on. They are in no slot. */
    uint64_t *run;
    uint64_t run_first; /* record_where() */
    size_t run_count;
    size_t run_capacity;
} pending;

/* pending_empty -- whether no document was changed. */
static inline bool pending_empty(const pending *p) {
    return p->count == 0 && p->run_count == 0;
}

/* pending_find -- the slot's value, 0 when the document was not changed. */
uint64_t pending_find(const pending *p, uint64_t where);

/* pending_memory -- the bytes of its tables once a document more is changed: a table that has to
 * grow stands next to the one that it replaces. */
uint64_t pending_memory(const pending *p);

/* pending_reserve -- reserves capacity for one more; false when memory is exhausted. */
bool pending_reserve(pending *p);

/* pending_set -- after pending_reserve(); cannot fail. `at` 0: as committed. */
void pending_set(pending *p, uint64_t where, uint64_t at);

/* pending_reserve_new, pending_add -- the same for a document that the transaction inserts. */
bool pending_reserve_new(pending *p, uint64_t where);
void pending_add(pending *p, uint64_t where, uint64_t at);

/* pending_clear -- empties it, keeping tables of moderate size for the next transaction. */
void pending_clear(pending *p);
void pending_free(pending *p);

#endif
