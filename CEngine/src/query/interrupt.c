/*
 * query/interrupt.c -- see interrupt.h.
 */
#include "query/interrupt.h"
#include "base/error.h"
#include <time.h>

/* nanoseconds_now -- of a clock that only goes forward. */
static uint64_t nanoseconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* watch_begin -- see interrupt.h. */
watch watch_begin(const interrupt *i, uint64_t milliseconds) {
    uint64_t end = milliseconds == 0 ? 0 : nanoseconds_now() + milliseconds * 1000000u;
    return (watch){.interrupt = i, .milliseconds = milliseconds, .deadline = end};
}

/* watch_check -- see interrupt.h. */
tansu_status watch_check(const watch *w, tansu_error *error) {
    if (interrupt_asked(w->interrupt))
        return error_set(error, TANSU_E_CANCELLED, "", "The query was cancelled.");
    if (w->milliseconds != 0 && nanoseconds_now() >= w->deadline)
        return error_set(error, TANSU_E_TIMEOUT, "hints.$maxTimeMS",
                         "The query took longer than its limit of %llu milliseconds.",
                         (unsigned long long)w->milliseconds);
    return TANSU_OK;
}
