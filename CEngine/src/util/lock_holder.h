/*
 * util/lock_holder.h -- which process holds the lock of a file, for messages.
 */
#ifndef TANSU_UTIL_LOCK_HOLDER_H
#define TANSU_UTIL_LOCK_HOLDER_H

#include "tansu.h"

#include <stdbool.h>
#include <sys/types.h>

typedef struct lock_holder {
    pid_t pid;
    char name[32]; /* of its program, in printable ASCII; empty when the system does not say */
} lock_holder;

/* lock_holder_find -- a process that holds the lock (flock) of the file that `fd` has open. False
 * when the system names none: it is of another container or computer, or has ended by now. */
bool lock_holder_find(int fd, lock_holder *holder);

/* lock_held_error -- LOCKED: the lock of the file that `fd` has open is held. `what` is what it
 * guards, at the beginning of a sentence; `path` where that is. */
tansu_status lock_held_error(int fd, const char *what, const char *path, tansu_error *error);

#endif
