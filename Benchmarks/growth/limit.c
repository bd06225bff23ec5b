/*
 * limit.c -- a control group of Linux that bounds the memory of a process.
 */
#include "growth.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where control groups are mounted, and the names of their files: version 1, then version 2. */
static const struct {
    const char *root, *limit;
} versions[] = {{"/sys/fs/cgroup/memory", "memory.limit_in_bytes"},
                {"/sys/fs/cgroup", "memory.max"}};

static void group_path(char path[256], const char *root, int process) {
    snprintf(path, 256, "%s/tansu-growth-%d", root, process);
}

static bool write_number(const char *folder, const char *name, uint64_t number) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    if (file == NULL)
        return false;
    bool written = fprintf(file, "%llu", (unsigned long long)number) > 0;
    return fclose(file) == 0 && written;
}

bool limit_enter(uint64_t bytes, const char **why) {
    for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++) {
        char path[256];
        group_path(path, versions[i].root, (int)getpid());
        if (mkdir(path, 0700) != 0)
            continue;
        if (write_number(path, versions[i].limit, bytes) &&
            write_number(path, "cgroup.procs", (uint64_t)getpid()))
            return true;
        rmdir(path);
    }
    *why = "this system has no control group of memory that this process may create";
    return false;
}

void limit_leave(int process) {
    for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++) {
        char path[256];
        group_path(path, versions[i].root, process);
        rmdir(path);
    }
}

void drop_pages(const char *folder) {
    DIR *names = opendir(folder);
    if (names == NULL)
        return;
    for (struct dirent *entry; (entry = readdir(names)) != NULL;) {
        char path[1024];
        struct stat info;
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
            drop_pages(path);
            continue;
        }
#ifdef POSIX_FADV_DONTNEED
        int fd = open(path, O_RDONLY);
        if (fd < 0)
            continue;
        fsync(fd);
        posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
        close(fd);
#endif
    }
    closedir(names);
}
