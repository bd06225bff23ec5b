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

/* watch_check -- see interrupt.h. */
tansu_status watch_check(const watch *w, tansu_error *error) {
    if (interrupt_asked(w->interrupt))
        return error_set(error, TANSU_E_CANCELLED, "", "The query was cancelled.");
    if (w->milliseconds != 0 && clock_now() >= w->deadline)
        return error_set(error, TANSU_E_TIMEOUT, "hints.$maxTimeMS",
                         "The query took longer than its limit of %llu milliseconds.",
                         (unsigned long long)w->milliseconds);
    return TANSU_OK;
}
