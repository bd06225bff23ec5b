/*
 * query/interrupt.c -- see interrupt.h.
 */
#include "query/interrupt.h"
#include "base/clock.h"
#include "base/error.h"

/* watch_begin -- see interrupt.h. */
watch watch_begin(const interrupt *i, uint64_t milliseconds) {
    clock_time end = milliseconds == 0 ? 0 : clock_in(milliseconds);
    return (watch){.interrupt = i, .milliseconds = milliseconds, .deadline = end};
}

/* watch_spent -- see interrupt.h. */
uint64_t watch_spent(const watch *w) {
    if (w->milliseconds == 0 || w->deadline == CLOCK_NEVER)
        return 0;
    return clock_now() + w->milliseconds * 1000000u - w->deadline;
}

/* watch_shorten -- see interrupt.h. */
void watch_shorten(watch *w, uint64_t nanoseconds) {
    if (w->deadline != CLOCK_NEVER)
        w->deadline -= nanoseconds < w->deadline ? nanoseconds : w->deadline;
}

/* watch_asks -- see interrupt.h. */
tansu_status watch_asks(const watch *w) {
    if (interrupt_asked(w->interrupt))
        return TANSU_E_CANCELLED;
    return w->milliseconds != 0 && clock_now() >= w->deadline ? TANSU_E_TIMEOUT : TANSU_OK;
}

/* watch_error -- see interrupt.h. */
tansu_status watch_error(const watch *w, tansu_status status, tansu_error *error) {
    if (status == TANSU_E_CANCELLED)
        return error_set(error, status, "", "The query was cancelled.");
    return error_set(error, status, "hints.$maxTimeMS",
                     "The query took longer than its limit of %llu milliseconds.",
                     (unsigned long long)w->milliseconds);
}

/* watch_check -- see interrupt.h. */
tansu_status watch_check(const watch *w, tansu_error *error) {
    tansu_status status = watch_asks(w);
    return status == TANSU_OK ? TANSU_OK : watch_error(w, status, error);
}
