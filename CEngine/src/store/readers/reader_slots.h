/*
 * store/readers/reader_slots.h -- references to the visible snapshot that readers take without a
 * lock.
 *
 * A reference that is a count in the snapshot is written by every reader at every read: its cache
 * line, and that of the mutex around it, move from processor to processor, and two readers are
 * slower than one. So a reader writes the snapshot's address into a slot, which is a cache line
 * that other threads hardly write. A slot is chosen by the thread; when it is taken, by a
 * transaction for example, the next are tried, and then the caller counts its reference after all.
 *
 * A snapshot must not be freed while a slot names it. The reader claims a slot and then checks that
 * the snapshot is still the visible one; the writer makes another one visible and then looks
 * through the slots. All four are sequentially consistent: so either the writer sees the slot, or
 * the reader sees the new snapshot, takes its claim back and begins again.
 *
 * References to a snapshot are alike: who releases one may do so in another slot than it was taken
 * in, as when a cursor moves to another thread.
 */
#ifndef TANSU_STORE_READERS_READER_SLOTS_H
#define TANSU_STORE_READERS_READER_SLOTS_H

#include "util/aligned_u64.h"

#include <stdbool.h>
#include <stdint.h>

#define READER_SLOTS 64

/* Two cache lines: processors fetch them in pairs. */
#define READER_SLOT_BYTES 128

struct snapshot;

typedef struct reader_slot {
    uintptr_t held; /* the snapshot's address, maybe CLAIMED; 0: none */
    char apart[READER_SLOT_BYTES - sizeof(uintptr_t)];
} reader_slot;

/* Zero-initialised, no reader has a reference. */
typedef struct reader_slots {
    char apart[READER_SLOT_BYTES];
    reader_slot slots[READER_SLOTS];
    aligned_u64 used; /* a bit for each slot that a reader ever claimed: no other is looked at */
} reader_slots;

/* reader_slots_acquire -- the snapshot that `visible` points to, in a slot; NULL when no slot was
 * free. *passed: a claim was taken back, so that snapshots which are over may have been kept for
 * it. */
struct snapshot *reader_slots_acquire(reader_slots *s, struct snapshot *const *visible,
                                      bool *passed);

/* reader_slots_release -- ends a reference to the snapshot in one of the thread's slots; false when
 * there is none. reader_slots_release_any -- in any slot. */
bool reader_slots_release(reader_slots *s, const struct snapshot *v);
bool reader_slots_release_any(reader_slots *s, const struct snapshot *v);

/* reader_slots_hold -- whether a slot names the snapshot. Not for the visible one: a reader may be
 * about to. */
bool reader_slots_hold(const reader_slots *s, const struct snapshot *v);

#endif
