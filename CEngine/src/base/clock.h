/*
 * base/clock.h -- time that only goes forward, and waiting by it. Part base.
 *
 * Every wait and every duration in the engine is measured by this clock: the wall clock jumps when
 * somebody sets it, and is asked only where a date is meant (base/oid.c, `$currentDate`).
 */
#ifndef TANSU_BASE_CLOCK_H
#define TANSU_BASE_CLOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* A moment, in nanoseconds since some start that means nothing. */
typedef uint64_t clock_time;

/* Later than any moment that comes. */
#define CLOCK_NEVER UINT64_MAX

/* clock_now -- this moment. */
clock_time clock_now(void);

/* clock_after -- the moment so many nanoseconds after another; CLOCK_NEVER when that is too far. */
static inline clock_time clock_after(clock_time from, uint64_t nanoseconds) {
    return nanoseconds >= CLOCK_NEVER - from ? CLOCK_NEVER : from + nanoseconds;
}

/* clock_in -- the moment so many milliseconds from now. */
static inline clock_time clock_in(uint64_t milliseconds) {
    if (milliseconds > CLOCK_NEVER / 1000000u)
        return CLOCK_NEVER;
    return clock_after(clock_now(), milliseconds * 1000000u);
}

/* clock_condition_init -- a condition that clock_wait() can wait for; 0, or an error number. */
int clock_condition_init(pthread_cond_t *condition);

/* clock_wait -- waits like pthread_cond_wait(), but not beyond a moment. True when that has come. */
bool clock_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, clock_time until);

#endif
