/*
 * support/random/random.h -- pseudo-random numbers that a seed repeats exactly. The program's seed
 * is the clock's, or the environment's TANSU_SEED; check_finish() prints it after a failure.
 */
#ifndef SUPPORT_RANDOM_H
#define SUPPORT_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

/* One source; used by one thread at a time. */
typedef struct random_source {
    uint64_t state;
} random_source;

/* random_seed -- the seed of this run. */
uint64_t random_seed(void);

/* random_seed_was_used -- whether anything asked for the seed. */
bool random_seed_was_used(void);

/* random_rounds -- the repetitions of a random test: the number in the environment variable `name`,
 * or else TANSU_EFFORT per cent (100 unless set) of `usual`; at least 1. */
uint64_t random_rounds(const char *name, uint64_t usual);

/* random_step -- the step through a list of which everything is tried, such as calls that fail: 1, or
 * where TANSU_EFFORT is less than 100, a random one that is 100 / TANSU_EFFORT in the mean. */
unsigned random_step(random_source *source);

/* random_start -- a source of its own for each stream (a test, a thread) of this run. */
random_source random_start(uint64_t stream);

/* random_from -- a source from a fixed seed, for data that is to be the same in every run. */
random_source random_from(uint64_t seed);

/* random_next -- 64 random bits (splitmix64). */
static inline uint64_t random_next(random_source *source) {
    uint64_t z = source->state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* random_below -- 0 to n - 1; 0 when n is 0. */
static inline uint64_t random_below(random_source *source, uint64_t n) {
    return n == 0 ? 0 : random_next(source) % n;
}

/* random_between -- least to most, both included. */
static inline int64_t random_between(random_source *source, int64_t least, int64_t most) {
    return (int64_t)((uint64_t)least + random_below(source, (uint64_t)most - (uint64_t)least + 1));
}

/* random_chance -- true in this many of a hundred cases. */
static inline bool random_chance(random_source *source, unsigned percent) {
    return random_below(source, 100) < percent;
}

#endif
