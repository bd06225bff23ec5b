/*
 * util/lock_holder.c -- which process holds the lock of a file, for messages.
 *
 * Nothing is written for it: Linux lists all locks with their files, and Darwin the processes that
 * have a file open.
 */
#include "util/lock_holder.h"

#include "util/error.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* printable -- keeps a program from writing what it likes into our messages. */
static void printable(char *text) {
    text[strcspn(text, "\n")] = 0;
    for (; *text != 0; text++)
        if (*text < 0x20 || *text > 0x7E || *text == '"')
            *text = '?';
}

#ifdef __APPLE__
#include <TargetConditionals.h>
#endif

/* Only macOS lets a program ask for others. */
#if defined(__APPLE__) && TARGET_OS_OSX

#include <fcntl.h>
#include <libproc.h>
#include <sys/param.h>

/* Processes that are looked at. */
#define PIDS 64

bool lock_holder_find(int fd, lock_holder *holder) {
    char path[MAXPATHLEN];
    pid_t pids[PIDS];
    *holder = (lock_holder){0};
    if (fcntl(fd, F_GETPATH, path) != 0)
        return false;
    int size = proc_listpidspath(PROC_ALL_PIDS, 0, path, PROC_LISTPIDSPATH_EXCLUDE_EVTONLY, pids,
                                 (int)sizeof pids);
    if (size <= 0)
        return false;
    /* We have it open ourselves, to ask for the lock. */
    for (size_t i = 0; i < (size_t)size / sizeof pids[0]; i++)
        if (holder->pid == 0 || holder->pid == getpid())
            holder->pid = pids[i];
    if (holder->pid != 0 &&
        proc_name(holder->pid, holder->name, (uint32_t)sizeof holder->name - 1) <= 0)
        holder->name[0] = 0;
    printable(holder->name);
    return holder->pid != 0;
}

#elif defined(__linux__)

#include <inttypes.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

/* read_name -- the name of the holder's program; false when there is no such process here. */
static bool read_name(lock_holder *holder) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/comm", (long)holder->pid);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    if (fgets(holder->name, sizeof holder->name, file) == NULL)
        holder->name[0] = 0;
    fclose(file);
    printable(holder->name);
    return true;
}

bool lock_holder_find(int fd, lock_holder *holder) {
    struct stat status;
    *holder = (lock_holder){0};
    FILE *file = fstat(fd, &status) == 0 ? fopen("/proc/locks", "re") : NULL;
    if (file == NULL)
        return false;
    char line[256];
    bool found = false;
    while (!found && fgets(line, sizeof line, file) != NULL) {
        /* "1: FLOCK  ADVISORY  WRITE 123 fe:00:4567 0 EOF"; one that waits has "->" first. */
        long pid;
        unsigned major_number, minor_number;
        uint64_t inode;
        if (sscanf(line, "%*d: FLOCK %*s %*s %ld %x:%x:%" SCNu64, &pid, &major_number,
                   &minor_number, &inode) != 4 ||
            pid <= 0 || inode != (uint64_t)status.st_ino || major_number != major(status.st_dev) ||
            minor_number != minor(status.st_dev))
            continue;
        holder->pid = (pid_t)pid;
        found = read_name(holder);
    }
    fclose(file);
    if (!found)
        *holder = (lock_holder){0};
    return found;
}

#else

bool lock_holder_find(int fd, lock_holder *holder) {
    (void)fd;
    *holder = (lock_holder){0};
    printable(holder->name);
    return false;
}

#endif

tansu_status lock_held_error(int fd, const char *what, const char *path, tansu_error *error) {
    lock_holder holder;
    if (!lock_holder_find(fd, &holder))
        return error_set(error, TANSU_E_LOCKED, path,
                         "%s is already open in this process or another; close it there first",
                         what);
    if (holder.pid == getpid())
        return error_set(error, TANSU_E_LOCKED, path,
                         "%s is already open in this process; close it there first", what);
    return error_set(error, TANSU_E_LOCKED, path,
                     "%s is open in process %ld (\"%s\"); close it there first", what,
                     (long)holder.pid, holder.name);
}
