/*
 * query/interrupt.c -- stopping a run: its time is over ($maxTimeMS), or somebody cancelled it.
 */
#include "query/run.h"
#include <time.h>

/* nanoseconds_now -- of a clock that only goes forward. */
static uint64_t nanoseconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* run_watch -- see run.h. */
void run_watch(query_run *run) {
    uint64_t most = run->q->hints.max_milliseconds;
    if (most != 0)
        run->deadline = nanoseconds_now() + most * 1000000u;
    run->watched = most != 0 || run->view.interrupt;
}

/* run_check -- see run.h. */
tansu_status run_check(const query_run *run, tansu_error *error) {
    if (interrupt_asked(run->view.interrupt))
        return error_set(error, TANSU_E_CANCELLED, "", "The query was cancelled.");
    if (run->deadline != 0 && nanoseconds_now() >= run->deadline)
        return error_set(error, TANSU_E_TIMEOUT, "hints.$maxTimeMS",
                         "The query took longer than its limit of %llu milliseconds.",
                         (unsigned long long)run->q->hints.max_milliseconds);
    return TANSU_OK;
}
