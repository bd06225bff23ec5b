/*
 * util/file_size_limit.c -- the process' limit on the size of files as an error instead of a
 * signal.
 */
#include "util/file_size_limit.h"

#include <errno.h>
#include <pthread.h>
#include <sys/resource.h>
#include <time.h>

/* limited -- whether there is a limit; *most: which. */
static bool limited(uint64_t *most) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return false;
    *most = (uint64_t)limit.rlim_cur;
    return true;
}

bool limit_forbids(uint64_t end) {
    uint64_t most;
    if (!limited(&most) || end <= most)
        return false;
    errno = EFBIG;
    return true;
}

/* pending -- whether the signal waits for this thread or the process. */
static bool pending(void) {
    sigset_t waiting;
    return sigpending(&waiting) == 0 && sigismember(&waiting, SIGXFSZ) == 1;
}

void limit_enter(limit_guard *guard) {
    uint64_t most;
    sigset_t set;
    int number = errno;
    sigemptyset(&set);
    sigaddset(&set, SIGXFSZ);
    /* One that waits already is the program's, and so is a thread that has blocked it. */
    guard->guarding =
        limited(&most) && !pending() && pthread_sigmask(SIG_BLOCK, &set, &guard->before) == 0;
    errno = number;
}

void limit_leave(const limit_guard *guard) {
    if (!guard->guarding)
        return;
    int number = errno;
#ifdef __linux__
    static const struct timespec none;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGXFSZ);
    while (pending() && sigtimedwait(&set, NULL, &none) < 0 && errno == EINTR)
        continue;
#endif
    pthread_sigmask(SIG_SETMASK, &guard->before, NULL);
    errno = number;
}

void limit_leave_out(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
}
