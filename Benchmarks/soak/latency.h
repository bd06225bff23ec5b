/*
 * latency.h -- how long calls took, as a histogram that many threads add to: exact to 3 %, of a fixed size.
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

struct latency_figures {
    uint64_t calls;
    double p50, p99, p999, most; /* microseconds */
};

/* latency_add -- one call; any thread. */
void latency_add(struct latency *l, uint64_t nanoseconds);

/* latency_take -- the figures of what was added since the last time, which is forgotten. What it forgets is added
 * to `total` (may be NULL). */
struct latency_figures latency_take(struct latency *l, struct latency *total);

#endif
