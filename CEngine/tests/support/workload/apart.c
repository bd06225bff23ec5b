/*
 * support/workload/apart.c -- a function in a process of its own.
 */
#include "support/workload/apart.h"

#include "support/check.h"

#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define APART_SECONDS 60
#define APART_MEMORY ((uint64_t)1 << 30)

bool apart(void (*function)(const char *folder), const char *folder) {
    struct rusage used;
    int state = 0;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        alarm(APART_SECONDS);
        function(folder);
        _exit(0);
    }
    REQUIRE(pid > 0 && wait4(pid, &state, 0, &used) == pid);
#ifdef __APPLE__
    uint64_t memory = (uint64_t)used.ru_maxrss;
#else
    uint64_t memory = (uint64_t)used.ru_maxrss * 1024;
#endif
    if (WIFSIGNALED(state))
        check_note("it ended by signal %d (14: it took more than %d seconds)", WTERMSIG(state),
                   APART_SECONDS);
    else if (WEXITSTATUS(state) != 0)
        check_note("it ended with %d", WEXITSTATUS(state));
    if (memory > APART_MEMORY)
        check_note("it used %llu MiB", (unsigned long long)(memory >> 20));
    return WIFEXITED(state) && WEXITSTATUS(state) == 0 && memory <= APART_MEMORY;
}
