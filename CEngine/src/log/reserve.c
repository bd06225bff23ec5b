/*
 * log/reserve.c -- a file of reserved disk space for a full disk.
 */
#include "log/reserve.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

/* Next to the segments. */
#define RESERVE_NAME "reserve"

#define RESERVE_LEAST (64u * 1024u)
#define RESERVE_MOST (4u * 1024u * 1024u)

/* A quarter of a small log, up to this, which a checkpoint can do with; a sixteenth of a large
 * one. */
#define RESERVE_SMALL (2u * 1024u * 1024u)

/* wanted -- the size that the log asks for. */
static uint64_t wanted(log *l) {
    uint64_t size = log_measure(l).bytes, want = size / 4;
    if (want > RESERVE_SMALL)
        want = size / 16 < RESERVE_SMALL ? RESERVE_SMALL : size / 16;
    return want < RESERVE_LEAST ? RESERVE_LEAST : want > RESERVE_MOST ? RESERVE_MOST : want;
}

/* reserve_open -- the file's descriptor, or -1. */
static int reserve_open(log *l) {
    char *path = fs_join(l->folder, RESERVE_NAME);
    if (path == NULL)
        return -1;
    int fd = l->calls->open(l->calls, path, O_RDWR | O_CREAT, FS_MODE);
    int number = errno;
    free(path);
    errno = number;
    return fd;
}

/* is_full -- whether that is what a call on a full disk says. */
static bool is_full(int number) {
    return number == ENOSPC || number == EDQUOT;
}

/* cut_back -- takes off what a log that has become smaller does not ask for any more. The mutex is
 * held. */
static void cut_back(log *l, uint64_t want) {
    int fd = reserve_open(l);
    if (fd >= 0 && l->calls->truncate(fd, want) == 0)
        l->reserve = want;
    if (fd >= 0)
        l->calls->close(fd);
}

/* fill_up -- creates the file that large, or as large as can be had; errno or 0. The mutex is
 * held. */
static int fill_up(log *l, uint64_t want) {
    uint64_t size = 0;
    int number = 0;
    int fd = reserve_open(l);
    if (fd < 0)
        return errno;
    if (l->calls->size(fd, &size) != 0) {
        number = errno;
    } else if (size < want && l->calls->allocate(fd, size, want - size) == 0) {
        size = want;
    } else if (size < want) {
        number = errno;
        (void)l->calls->truncate(fd, size); /* some systems keep what they had found */
        /* Less is better than nothing, unless it leaves to others what was spent. */
        if (size < RESERVE_LEAST && !l->reserve_spent &&
            l->calls->allocate(fd, size, RESERVE_LEAST - size) == 0)
            size = RESERVE_LEAST;
    }
    l->reserve = size;
    l->calls->close(fd);
    return number;
}

int reserve_keep(log *l) {
    if (l->folder == NULL || l->read_only)
        return 0;
    uint64_t want = wanted(l);
    pthread_mutex_lock(&l->reserve_mutex);
    int number = l->reserve < want ? fill_up(l, want) : 0;
    if (l->reserve / 2 > want)
        cut_back(l, want);
    l->reserve_spent = l->reserve_spent && l->reserve < want;
    if ((l->reserve >= RESERVE_LEAST && !l->reserve_spent) || !is_full(number))
        number = 0;
    pthread_mutex_unlock(&l->reserve_mutex);
    return number;
}

void reserve_cut_back(log *l) {
    uint64_t want = wanted(l);
    pthread_mutex_lock(&l->reserve_mutex);
    if (l->reserve > want)
        cut_back(l, want);
    pthread_mutex_unlock(&l->reserve_mutex);
}

bool reserve_is_spent(log *l) {
    pthread_mutex_lock(&l->reserve_mutex);
    bool spent = l->reserve_spent;
    pthread_mutex_unlock(&l->reserve_mutex);
    return spent;
}

uint64_t reserve_spend(log *l, bool all) {
    if (l->folder == NULL || l->read_only)
        return 0;
    uint64_t keep = all || wanted(l) < RESERVE_SMALL ? 0 : RESERVE_CHECKPOINT, size = 0;
    pthread_mutex_lock(&l->reserve_mutex);
    int fd = reserve_open(l);
    bool spent = fd >= 0 && l->calls->size(fd, &size) == 0 && size > keep &&
                 l->calls->truncate(fd, keep) == 0;
    if (fd >= 0)
        l->calls->close(fd);
    if (spent) {
        l->reserve = keep;
        l->reserve_spent = true;
    }
    pthread_mutex_unlock(&l->reserve_mutex);
    return spent ? size - keep : 0;
}

void reserve_find(log *l) {
    char *path = l->folder == NULL ? NULL : fs_join(l->folder, RESERVE_NAME);
    int fd = path == NULL ? -1 : l->calls->open(l->calls, path, O_RDONLY, 0);
    free(path);
    if (fd < 0)
        return;
    uint64_t size = 0;
    if (l->calls->size(fd, &size) == 0) {
        l->reserve = size;
        l->reserve_spent = size == 0;
    }
    l->calls->close(fd);
}
