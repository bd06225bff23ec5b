/*
 * latency.h -- a histogram of how long calls take, which many threads add to: exact to 3 %, of a
 * fixed size.
 */
#ifndef LATENCY_H
#define LATENCY_H

#include <stdatomic.h>
#include <stdint.h>

#define LATENCY_STEPS 32u /* of each power of two */
#define LATENCY_BUCKETS (60u * LATENCY_STEPS)

struct latency {
    _Atomic uint32_t buckets[LATENCY_BUCKETS];
    _Atomic uint64_t most; /* nanoseconds */
};

struct latency_summary {
    uint64_t calls;
    double p50, p99, p999, most; /* microseconds */
};

/* latency_add -- one call; any thread. */
void latency_add(struct latency *l, uint64_t nanoseconds);

/* latency_take -- the summary of the calls since the last time, which are then removed from `l` and
 * added to `total` (may be NULL). */
struct latency_summary latency_take(struct latency *l, struct latency *total);

#endif
