/*
 * util/file_size_limit.h -- the process' limit on the size of files (RLIMIT_FSIZE), which the
 * system enforces with a signal that ends the program: within the engine it is an error instead.
 *
 * The program's own handler and the process' settings are never changed.
 */
#ifndef TANSU_UTIL_FILE_SIZE_LIMIT_H
#define TANSU_UTIL_FILE_SIZE_LIMIT_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* limit_forbids -- whether the limit forbids that a file has bytes up to `end`, with errno set
 * (EFBIG). */
bool limit_forbids(uint64_t end);

/* For calls into a library that writes files by itself: the signal is held back from this thread
 * and taken away again, so that the library's call fails with EFBIG. (macOS sends it to the
 * process: there only limit_forbids() helps.) */
typedef struct limit_guard {
    bool guarding;
    sigset_t before;
} limit_guard;

/* limit_enter / limit_leave -- begin and end that. errno stays as it is. */
void limit_enter(limit_guard *guard);
void limit_leave(const limit_guard *guard);

/* limit_leave_out -- the same for the rest of a thread of the engine's own. */
void limit_leave_out(void);

#endif
