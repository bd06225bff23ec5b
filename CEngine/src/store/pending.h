/*
 * store/pending.h -- which documents a write transaction has changed, and where in its unfinished
 * frame their newest records are: a hash table from (collection, record id).
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
} pending;

/* pending_find -- the slot's value, 0 when the document was not changed. */
uint64_t pending_find(const pending *p, uint64_t where);

/* pending_has_space -- whether pending_reserve() needs no larger table. */
bool pending_has_space(const pending *p);

/* pending_reserve -- reserves capacity for one more; false when memory is exhausted. */
bool pending_reserve(pending *p);

/* pending_set -- after pending_reserve(); cannot fail. `at` 0: as committed. */
void pending_set(pending *p, uint64_t where, uint64_t at);

/* pending_clear -- empties it, keeping a table of moderate size for the next transaction. */
void pending_clear(pending *p);
void pending_free(pending *p);

#endif
