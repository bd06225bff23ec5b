/*
 * util/fork.c -- counting forks by a handler that runs in each child.
 */
#include "util/fork.h"

#include "util/error.h"

#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int registered; /* what pthread_atfork() returned */
fork_stamp fork_generation;

/* count -- in the child. */
static void count(void) {
    __atomic_add_fetch(&fork_generation, 1, __ATOMIC_RELAXED);
}

static void watch(void) {
    registered = pthread_atfork(NULL, NULL, count);
}

tansu_status fork_stamp_now(fork_stamp *stamp, tansu_error *error) {
    pthread_once(&once, watch);
    *stamp = __atomic_load_n(&fork_generation, __ATOMIC_RELAXED);
    return registered == 0 ? TANSU_OK : error_memory(error);
}
