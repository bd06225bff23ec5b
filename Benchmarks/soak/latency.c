#include "latency.h"

#include <string.h>

/* bucket_of -- small numbers one by one, then LATENCY_STEPS buckets for each power of two. */
static unsigned bucket_of(uint64_t n) {
    if (n < LATENCY_STEPS)
        return (unsigned)n;
    unsigned power = 63u - (unsigned)__builtin_clzll(n); /* at least 5 */
    return (power - 4) * LATENCY_STEPS + (unsigned)(n >> (power - 5)) % LATENCY_STEPS;
}

/* value_of -- the least number of a bucket. */
static double value_of(unsigned bucket) {
    if (bucket < LATENCY_STEPS)
        return bucket;
    unsigned power = bucket / LATENCY_STEPS + 4;
    return (double)((uint64_t)(LATENCY_STEPS + bucket % LATENCY_STEPS) << (power - 5));
}

void latency_add(struct latency *l, uint64_t nanoseconds) {
    unsigned bucket = bucket_of(nanoseconds);
    uint64_t most = atomic_load_explicit(&l->most, memory_order_relaxed);
    atomic_fetch_add_explicit(&l->buckets[bucket < LATENCY_BUCKETS ? bucket : LATENCY_BUCKETS - 1],
                              1, memory_order_relaxed);
    while (nanoseconds > most &&
           !atomic_compare_exchange_weak_explicit(&l->most, &most, nanoseconds,
                                                  memory_order_relaxed, memory_order_relaxed))
        continue;
}

/* at_rank -- the value that so many calls were not slower than. */
static double at_rank(const uint32_t *buckets, uint64_t rank) {
    uint64_t seen = 0;
    for (unsigned i = 0; i < LATENCY_BUCKETS; i++)
        if ((seen += buckets[i]) > rank)
            return value_of(i) / 1000.0;
    return 0;
}

struct latency_summary latency_take(struct latency *l, struct latency *total) {
    uint32_t buckets[LATENCY_BUCKETS];
    struct latency_summary f;
    memset(&f, 0, sizeof f);
    for (unsigned i = 0; i < LATENCY_BUCKETS; i++) {
        buckets[i] = atomic_exchange(&l->buckets[i], 0);
        f.calls += buckets[i];
        if (total != NULL)
            atomic_fetch_add(&total->buckets[i], buckets[i]);
    }
    uint64_t most = atomic_exchange(&l->most, 0);
    if (total != NULL && most > atomic_load(&total->most))
        atomic_store(&total->most, most);
    f.most = (double)most / 1000.0;
    if (f.calls > 0) {
        f.p50 = at_rank(buckets, f.calls / 2);
        f.p99 = at_rank(buckets, f.calls * 99 / 100);
        f.p999 = at_rank(buckets, f.calls * 999 / 1000);
    }
    return f;
}
