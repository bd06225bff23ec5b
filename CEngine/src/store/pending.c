/*
 * store/pending.c -- the tables of a write transaction's changed documents.
 */
#include "store/pending.h"

#include "util/array.h"

#include <stdlib.h>

#define SLOTS_LEAST 16u
#define SLOTS_KEPT 4096u
#define RUN_KEPT 4096u

/* Neighbouring record ids share cache lines: this many are side by side. */
#define RUN_BITS 4

/* How far a slot that is taken sends the search: a run and one. Record ids come in runs, and where
 * two runs have the same slots, the second then lies, shifted by one, on the next run's. With a
 * step of one each of its keys would pass all sixteen of the other's. The step is odd, so that a
 * search visits every slot. */
#define STEP ((1u << RUN_BITS) + 1)

/* slot_of -- the slot that holds the key, or the free one where it belongs. Record ids are dense,
 * so the hash mixes the bits that distinguish them (the finalizer of MurmurHash3, by Austin
 * Appleby). */
static pending_slot *slot_of(const pending *p, uint64_t where) {
    uint64_t h = where >> RUN_BITS;
    h ^= h >> 33;
    h *= 0xff51afd7ed558ccdull;
    h ^= h >> 33;
    uint64_t i = (h << RUN_BITS | (where & ((1u << RUN_BITS) - 1))) & p->mask;
    while (p->slots[i].where != 0 && p->slots[i].where != where)
        i = (i + STEP) & p->mask;
    return &p->slots[i];
}

/* run_of -- where the run has the document; NULL when it is not in it. */
static inline uint64_t *run_of(const pending *p, uint64_t where) {
    uint64_t i = where - p->run_first;
    return i < p->run_count ? &p->run[i] : NULL;
}

/* run_takes -- whether the run begins, or continues, with the document. */
static inline bool run_takes(const pending *p, uint64_t where) {
    return p->run_count == 0 || where == p->run_first + p->run_count;
}

uint64_t pending_find(const pending *p, uint64_t where) {
    const uint64_t *at = run_of(p, where);
    if (at != NULL)
        return *at;
    return p->count == 0 ? 0 : slot_of(p, where)->at;
}

/* has_space -- whether pending_reserve() needs no larger table. */
static bool has_space(const pending *p) {
    return p->slots != NULL && (p->count + 1) * 2 <= p->mask + 1;
}

uint64_t pending_memory(const pending *p) {
    uint64_t slots = p->slots == NULL ? 0 : p->mask + 1;
    uint64_t run = p->run_capacity;
    if (!has_space(p))
        slots *= 3;
    if (p->run_count == p->run_capacity)
        run *= 3;
    return slots * sizeof *p->slots + run * sizeof *p->run;
}

bool pending_reserve(pending *p) {
    if (has_space(p))
        return true;
    uint64_t size = p->slots == NULL ? SLOTS_LEAST : (p->mask + 1) * 2;
    pending larger = {.slots = calloc(size, sizeof *p->slots), .mask = size - 1};
    if (larger.slots == NULL)
        return false;
    for (uint64_t i = 0; p->slots != NULL && i <= p->mask; i++)
        if (p->slots[i].where != 0)
            pending_set(&larger, p->slots[i].where, p->slots[i].at);
    free(p->slots);
    p->slots = larger.slots;
    p->mask = larger.mask;
    return true;
}

bool pending_reserve_new(pending *p, uint64_t where) {
    return run_takes(p, where) ? ARRAY_RESERVE(p->run, p->run_count, p->run_capacity, 1)
                               : pending_reserve(p);
}

void pending_set(pending *p, uint64_t where, uint64_t at) {
    uint64_t *in_run = run_of(p, where);
    if (in_run != NULL) {
        *in_run = at;
        return;
    }
    pending_slot *slot = slot_of(p, where);
    if (slot->where == 0) {
        slot->where = where;
        p->count++;
    }
    slot->at = at;
}

void pending_add(pending *p, uint64_t where, uint64_t at) {
    if (!run_takes(p, where)) {
        pending_set(p, where, at);
        return;
    }
    if (p->run_count == 0)
        p->run_first = where;
    p->run[p->run_count++] = at;
}

/* A table is emptied, and was searched for what it holds, from end to end: one that was large for
 * its transaction is not kept for others that may be as small. */
void pending_clear(pending *p) {
    uint64_t slots = p->slots == NULL ? 0 : p->mask + 1;
    if (slots > SLOTS_KEPT || (slots > SLOTS_LEAST && p->count * 16 < slots)) {
        free(p->slots);
        p->slots = NULL;
        p->mask = 0;
    } else if (p->count != 0) {
        memset(p->slots, 0, (p->mask + 1) * sizeof *p->slots);
    }
    p->count = p->run_count = 0;
    if (p->run_capacity > RUN_KEPT) {
        free(p->run);
        p->run = NULL;
        p->run_capacity = 0;
    }
}

void pending_free(pending *p) {
    free(p->slots);
    free(p->run);
    *p = (pending){0};
}
