/*
 * query/interrupt.h -- what stops a long call: its time is over ($maxTimeMS), or somebody cancelled
 * it. Part query; may call base.
 */
#ifndef TANSU_QUERY_INTERRUPT_H
#define TANSU_QUERY_INTERRUPT_H

#include "base/interrupt.h"
#include "tansu.h"
#include <stdint.h>

/* Zeroed, nothing stops the call. */
typedef struct watch {
    const interrupt *interrupt; /* asked from another thread; NULL: none */
    uint64_t milliseconds;      /* that the call may take; 0: no bound */
    uint64_t deadline;          /* by base/clock.h */
} watch;

/* watch_begin -- starts the clock. */
watch watch_begin(const interrupt *i, uint64_t milliseconds);

/* watch_spent -- nanoseconds since then; 0 when the time does not matter. watch_shorten -- takes some away
 * from what is left. */
uint64_t watch_spent(const watch *w);
void watch_shorten(watch *w, uint64_t nanoseconds);

/* watch_wanted -- whether anything may stop the call. */
static inline bool watch_wanted(const watch *w) {
    return w->interrupt != NULL || w->milliseconds != 0;
}

/* watch_check -- errors: TIMEOUT, CANCELLED. */
tansu_status watch_check(const watch *w, tansu_error *error);

/* watch_asks -- the same without an error. watch_error -- that error, for a status that was noted
 * before. */
tansu_status watch_asks(const watch *w);
tansu_status watch_error(const watch *w, tansu_status status, tansu_error *error);

#endif
