/*
 * util/fork.h -- whether this process is a fork of the one that took a stamp. Reading it costs one
 * load, where getpid() costs a system call.
 */
#ifndef TANSU_UTIL_FORK_H
#define TANSU_UTIL_FORK_H

#include "tansu.h"
#include <stdbool.h>

/* A generation of forks: each child of fork(2) has another one than its parent. */
typedef uint32_t fork_stamp;

/* fork_stamp_now -- of this process. The first call makes sure that forks are counted from here on.
 * Errors: NO_MEMORY. */
tansu_status fork_stamp_now(fork_stamp *stamp, tansu_error *error);

/* fork_generation -- of this process; changed in the child of a fork only. */
extern fork_stamp fork_generation;

/* fork_happened -- whether this process was forked after the stamp was taken. vfork(2) is not
 * counted: its child may not call anything but exec. Inline, because every step of a cursor asks.
 */
static inline bool fork_happened(fork_stamp stamp) {
    return __atomic_load_n(&fork_generation, __ATOMIC_RELAXED) != stamp;
}

#endif
