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

/* watch_wanted -- whether anything may stop the call. */
static inline bool watch_wanted(const watch *w) {
    return w->interrupt != NULL || w->milliseconds != 0;
}

/* watch_check -- errors: TIMEOUT, CANCELLED. */
tansu_status watch_check(const watch *w, tansu_error *error);

#endif
