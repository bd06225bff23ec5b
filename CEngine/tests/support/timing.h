/*
 * support/timing.h -- the monotonic clock, and sleeping.
 */
#ifndef SUPPORT_TIMING_H
#define SUPPORT_TIMING_H

/* timing_now -- seconds since some time in the past. Any thread. */
double timing_now(void);

/* timing_sleep -- sleeps for a number of milliseconds. */
void timing_sleep(long milliseconds);

#endif
