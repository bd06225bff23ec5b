/*
 * query/util/deadline.c -- timeout and cancellation of a call.
 */
#include "query/util/deadline.h"
#include "util/clock.h"
#include "util/error.h"

deadline deadline_begin(const interrupt *i, uint64_t milliseconds) {
    clock_time end = milliseconds == 0 ? 0 : clock_in(milliseconds);
    return (deadline){.interrupt = i, .milliseconds = milliseconds, .end = end};
}

uint64_t deadline_spent(const deadline *d) {
    if (d->milliseconds == 0 || d->end == CLOCK_NEVER)
        return 0;
    return clock_now() + d->milliseconds * 1000000u - d->end;
}

void deadline_shorten(deadline *d, uint64_t nanoseconds) {
    if (d->end != CLOCK_NEVER)
        d->end -= nanoseconds < d->end ? nanoseconds : d->end;
}

tansu_status deadline_status(const deadline *d) {
    if (interrupt_asked(d->interrupt))
        return TANSU_E_CANCELLED;
    return d->milliseconds != 0 && clock_now() >= d->end ? TANSU_E_TIMEOUT : TANSU_OK;
}

tansu_status deadline_error(const deadline *d, tansu_status status, tansu_error *error) {
    if (status == TANSU_E_CANCELLED)
        return error_set(error, status, "", "Query was cancelled");
    return error_set(error, status, "hints.$maxTimeMS",
                     "Query exceeded its time limit of %llu milliseconds; raise \"$maxTimeMS\" or "
                     "narrow the query",
                     (unsigned long long)d->milliseconds);
}

tansu_status deadline_check(const deadline *d, tansu_error *error) {
    tansu_status status = deadline_status(d);
    return status == TANSU_OK ? TANSU_OK : deadline_error(d, status, error);
}
