/*
 * util/clock.c -- a monotonic clock, and waiting by it.
 */
#include "util/clock.h"

#include <time.h>

/* A longer wait than this is split into several: not every system accepts any timeout. */
#define WAIT_MOST ((uint64_t)24 * 3600 * 1000000000u)

/* read_clock -- fails for an unknown clock only. */
static clock_time read_clock(clockid_t clock) {
    struct timespec now = {0};
    (void)clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

clock_time clock_now(void) {
    return read_clock(CLOCK_MONOTONIC);
}

clock_time clock_tick(void) {
#ifdef __APPLE__
    return read_clock(CLOCK_MONOTONIC_RAW_APPROX);
#elif defined(CLOCK_MONOTONIC_COARSE)
    return read_clock(CLOCK_MONOTONIC_COARSE);
#else
    return read_clock(CLOCK_MONOTONIC);
#endif
}

int64_t clock_date(void) {
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0)
        return (int64_t)time(NULL) * 1000;
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* timespec_of -- nanoseconds as a timespec. */
static struct timespec timespec_of(uint64_t nanoseconds) {
    return (struct timespec){.tv_sec = (time_t)(nanoseconds / 1000000000u),
                             .tv_nsec = (long)(nanoseconds % 1000000000u)};
}

void clock_sleep(uint64_t nanoseconds) {
    struct timespec span = timespec_of(nanoseconds < WAIT_MOST ? nanoseconds : WAIT_MOST);
    (void)nanosleep(&span, NULL);
}

#ifdef __APPLE__

int clock_condition_init(pthread_cond_t *condition) {
    return pthread_cond_init(condition, NULL);
}

bool clock_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, clock_time until) {
    /* Darwin's conditions know no other clock than the wall's, but take a time from now on. */
    clock_time now = clock_now();
    if (now >= until)
        return true;
    uint64_t left = until - now < WAIT_MOST ? until - now : WAIT_MOST;
    struct timespec span = timespec_of(left);
    (void)pthread_cond_timedwait_relative_np(condition, mutex, &span);
    return clock_now() >= until;
}

#else

int clock_condition_init(pthread_cond_t *condition) {
    pthread_condattr_t attributes;
    int number = pthread_condattr_init(&attributes);
    if (number != 0)
        return number;
    number = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    if (number == 0)
        number = pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
    return number;
}

bool clock_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, clock_time until) {
    clock_time now = clock_now();
    if (now >= until)
        return true;
    struct timespec limit = timespec_of(until - now < WAIT_MOST ? until : now + WAIT_MOST);
    (void)pthread_cond_timedwait(condition, mutex, &limit);
    return clock_now() >= until;
}

#endif
