/*
 * query/util/deadline.h -- timeout ($maxTimeMS) and cancellation of a call.
 */
#ifndef TANSU_QUERY_UTIL_DEADLINE_H
#define TANSU_QUERY_UTIL_DEADLINE_H

#include "tansu.h"
#include "util/interrupt.h"
#include <stdint.h>

/* Zero-initialised, there is neither a timeout nor a cancellation. */
typedef struct deadline {
    const interrupt *interrupt; /* set by another thread to cancel; NULL: none */
    uint64_t milliseconds;      /* the timeout; 0: none */
    uint64_t end;               /* by util/clock.h */
} deadline;

/* deadline_begin -- starts the clock. */
deadline deadline_begin(const interrupt *i, uint64_t milliseconds);

/* deadline_spent -- nanoseconds since deadline_begin(); 0 without a timeout. */
uint64_t deadline_spent(const deadline *d);

/* deadline_shorten -- subtracts time from what is left. */
void deadline_shorten(deadline *d, uint64_t nanoseconds);

/* deadline_active -- whether anything can end the call. */
static inline bool deadline_active(const deadline *d) {
    return d->interrupt != NULL || d->milliseconds != 0;
}

/* deadline_check -- errors: TIMEOUT, CANCELLED. */
tansu_status deadline_check(const deadline *d, tansu_error *error);

/* deadline_status -- the same without an error message. */
tansu_status deadline_status(const deadline *d);

/* deadline_error -- sets the error for a status that deadline_status() returned. */
tansu_status deadline_error(const deadline *d, tansu_status status, tansu_error *error);

#endif
