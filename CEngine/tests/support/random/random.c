/*
 * support/random/random.c -- the seed of a run.
 */
#include "support/random/random.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint64_t seed;
static bool used;

/* choose_seed -- the environment's seed, or one of this time. */
static void choose_seed(void) {
    const char *text = getenv("TANSU_SEED");
    used = true;
    if (text != NULL && *text != '\0') {
        seed = strtoull(text, NULL, 10);
        return;
    }
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    random_source mixed = {(uint64_t)now.tv_sec * 1000000007u + (uint64_t)now.tv_nsec +
                           ((uint64_t)getpid() << 32)};
    seed = random_next(&mixed) >> 16;
}

/* random_seed -- the seed of this run. */
uint64_t random_seed(void) {
    pthread_once(&once, choose_seed);
    return seed;
}

/* random_seed_was_used -- whether a failure may depend on the seed. */
bool random_seed_was_used(void) {
    return used;
}

/* random_rounds -- the repetitions of a random test. */
uint64_t random_rounds(const char *name, uint64_t usual) {
    const char *asked = getenv(name), *effort = getenv("TANSU_EFFORT");
    uint64_t rounds = asked != NULL    ? strtoull(asked, NULL, 10)
                      : effort != NULL ? usual * strtoull(effort, NULL, 10) / 100
                                       : usual;
    return rounds == 0 ? 1 : rounds;
}

/* random_step -- the step through a list of which everything is tried. */
unsigned random_step(random_source *source) {
    unsigned each = (unsigned)(100 / random_rounds("TANSU_EACH", 100));
    return each <= 1 ? 1 : 1 + (unsigned)random_below(source, 2 * each - 1);
}

/* random_start -- a source of its own for each stream. */
random_source random_start(uint64_t stream) {
    random_source mixed = {random_seed() ^ (stream * 0xD6E8FEB86659FD93u)};
    random_next(&mixed);
    return mixed;
}

/* random_from -- a source that is the same in every run. */
random_source random_from(uint64_t seed_given) {
    return (random_source){seed_given};
}
