/*
 * store/readers/reader_slots.c -- references to snapshots in slots of their threads.
 */
#include "store/readers/reader_slots.h"

#include <pthread.h>
#include <stddef.h>

/* Set in a slot until its reader has seen that the snapshot is still visible. Only that reader
 * changes such a slot. */
#define CLAIMED ((uintptr_t)1)

/* Slots that a thread tries. */
#define PROBES 4u

_Static_assert(READER_SLOTS == 64, "one bit of `used` for each slot");

/* home -- where a thread begins: a hash of its address. */
static unsigned home(void) {
    uint64_t self = (uint64_t)(uintptr_t)pthread_self();
    return (unsigned)((self >> 4) * 0x9E3779B97F4A7C15u >> 58);
}

/* mark_used -- the writer looks at the slot from now on. */
static void mark_used(reader_slots *s, unsigned at) {
    uint64_t bit = (uint64_t)1 << at;
    if ((__atomic_load_n(&s->used, __ATOMIC_SEQ_CST) & bit) == 0)
        __atomic_fetch_or(&s->used, bit, __ATOMIC_SEQ_CST);
}

struct snapshot *reader_slots_acquire(reader_slots *s, struct snapshot *const *visible,
                                      bool *passed) {
    unsigned first = home();
    *passed = false;
    for (unsigned i = 0; i < PROBES; i++) {
        unsigned at = (first + i) % READER_SLOTS;
        uintptr_t *held = &s->slots[at].held, none = 0;
        if (__atomic_load_n(held, __ATOMIC_RELAXED) != 0)
            continue;
        mark_used(s, at);
        struct snapshot *v = __atomic_load_n(visible, __ATOMIC_SEQ_CST);
        if (!__atomic_compare_exchange_n(held, &none, (uintptr_t)v | CLAIMED, false,
                                         __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
            continue;
        if (__atomic_load_n(visible, __ATOMIC_SEQ_CST) == v) {
            __atomic_store_n(held, (uintptr_t)v, __ATOMIC_RELEASE);
            return v;
        }
        __atomic_store_n(held, 0, __ATOMIC_SEQ_CST);
        *passed = true;
    }
    return NULL;
}

/* release -- ends the reference in one slot; false when it has none to that snapshot. */
static bool release(reader_slots *s, unsigned at, const struct snapshot *v) {
    uintptr_t *held = &s->slots[at].held, expected = (uintptr_t)v;
    return __atomic_load_n(held, __ATOMIC_RELAXED) == expected &&
           __atomic_compare_exchange_n(held, &expected, 0, false, __ATOMIC_SEQ_CST,
                                       __ATOMIC_RELAXED);
}

bool reader_slots_release(reader_slots *s, const struct snapshot *v) {
    unsigned first = home();
    for (unsigned i = 0; i < PROBES; i++)
        if (release(s, (first + i) % READER_SLOTS, v))
            return true;
    return false;
}

bool reader_slots_release_any(reader_slots *s, const struct snapshot *v) {
    for (unsigned at = 0; at < READER_SLOTS; at++)
        if (release(s, at, v))
            return true;
    return false;
}

bool reader_slots_hold(const reader_slots *s, const struct snapshot *v) {
    uint64_t used = __atomic_load_n(&s->used, __ATOMIC_SEQ_CST);
    for (; used != 0; used &= used - 1) {
        unsigned at = (unsigned)__builtin_ctzll(used);
        if ((__atomic_load_n(&s->slots[at].held, __ATOMIC_SEQ_CST) & ~CLAIMED) == (uintptr_t)v)
            return true;
    }
    return false;
}
