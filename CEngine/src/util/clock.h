/*
 * util/clock.h -- a monotonic clock, and waiting by it.
 *
 * Every wait and every duration in the engine is measured by this clock: the wall clock jumps when
 * somebody sets it, and is read only where a date is meant (bson/object_id.c, `$currentDate`,
 * timestamps of documents).
 */
#ifndef TANSU_UTIL_CLOCK_H
#define TANSU_UTIL_CLOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* A time, in nanoseconds since an arbitrary start. */
typedef uint64_t clock_time;

/* Later than any time. */
#define CLOCK_NEVER UINT64_MAX

/* clock_now -- the current time. */
clock_time clock_now(void);

/* clock_tick -- the time of the system's last tick: a few milliseconds old at most, and read in a
 * fraction of the time. */
clock_time clock_tick(void);

/* clock_date -- the wall clock: milliseconds since 1970. */
int64_t clock_date(void);

/* clock_after -- the time that many nanoseconds after another; CLOCK_NEVER when that is too far. */
static inline clock_time clock_after(clock_time from, uint64_t nanoseconds) {
    return nanoseconds >= CLOCK_NEVER - from ? CLOCK_NEVER : from + nanoseconds;
}

/* clock_in -- the time that many milliseconds from now. */
static inline clock_time clock_in(uint64_t milliseconds) {
    if (milliseconds > CLOCK_NEVER / 1000000u)
        return CLOCK_NEVER;
    return clock_after(clock_now(), milliseconds * 1000000u);
}

/* clock_condition_init -- a condition that clock_wait() can wait for; 0, or an error number. */
int clock_condition_init(pthread_cond_t *condition);

/* clock_wait -- waits like pthread_cond_wait(), but not beyond a time. True when that time has
 * come. */
bool clock_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, clock_time until);

/* clock_sleep -- waits that many nanoseconds, or less when a signal arrives. */
void clock_sleep(uint64_t nanoseconds);

#endif
