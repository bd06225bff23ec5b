/*
 * util/staging/staging.c -- a file or folder that is renamed when it is complete.
 */
#include "util/staging/staging.h"

#include "util/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LOCK_NAME "LOCK"

tansu_status staging_check_outside(const char *to, const char *folder, tansu_error *error) {
    struct stat own, above;
    if (folder == NULL || stat(folder, &own) != 0)
        return TANSU_OK;
    char *parent = fs_parent(to);
    if (parent == NULL)
        return error_memory(error);
    /* Without symbolic links, so that a folder above is one that the name has. What is not there is
     * an error of the next call. */
    char *real = realpath(parent, NULL);
    free(parent);
    bool inside = false;
    for (size_t end = real == NULL ? 0 : strlen(real); end > 0 && !inside;) {
        real[end] = 0;
        inside =
            stat(real, &above) == 0 && above.st_dev == own.st_dev && above.st_ino == own.st_ino;
        while (end > 0 && real[--end] != '/')
            ;
    }
    free(real);
    return inside ? error_set(error, TANSU_E_INVALID_ARGUMENT, to,
                              "The path lies in the folder of the database; choose a path outside "
                              "of it")
                  : TANSU_OK;
}

/* remove_name -- removes a file of the staged folder, but not its LOCK. */
static bool remove_name(void *context, const char *name) {
    const staging *staged = context;
    char *path = strcmp(name, LOCK_NAME) == 0 ? NULL : fs_join(staged->path, name);
    if (path != NULL)
        fs_remove_all(staged->calls, path);
    free(path);
    return true;
}

/* check_absent -- EXISTS when there is something at the target. */
static tansu_status check_absent(const staging *staged, tansu_error *error) {
    int fd = staged->calls->open(staged->calls, staged->to, O_RDONLY | O_NONBLOCK, 0);
    struct stat link;
    int number = fd < 0 ? errno : 0;
    bool nothing = number == ENOENT;
    if (nothing && lstat(staged->to, &link) != 0)
        return TANSU_OK;
    /* A symbolic link to nothing is there, and so are files that can't be opened. */
    if (fd < 0 && !nothing && number != ESPIPE && number != ELOOP)
        return error_errno(error, staged->to, "look at", number);
    if (fd >= 0)
        staged->calls->close(fd);
    return error_set(error, TANSU_E_EXISTS, staged->to,
                     "There is something at this path already; choose another path, or remove it");
}

/* open_locked -- opens and locks the file that shows that the target is in use; sets `made`. */
static tansu_status open_locked(staging *staged, const char *path, tansu_error *error) {
    const fs *calls = staged->calls;
    staged->fd = calls->open(calls, path, O_RDWR | O_CREAT | O_NOFOLLOW, FS_MODE);
    if (staged->fd < 0)
        return error_errno(error, path, "open", errno);
    if (calls->lock(staged->fd, true) != 0) {
        int number = errno;
        staging_unlock(staged);
        if (number == EWOULDBLOCK)
            return error_set(
                error, TANSU_E_BUSY, staged->to,
                "Another task writes to this path; wait for its end, or choose another");
        calls->unlink(calls, path);
        return error_errno(error, path, "lock", number);
    }
    staged->made = true;
    /* The task that had the lock until now may have published it. */
    return check_absent(staged, error);
}

/* begin_file -- creates the file, or empties it. */
static tansu_status begin_file(staging *staged, tansu_error *error) {
    tansu_status status = open_locked(staged, staged->path, error);
    if (status == TANSU_E_IO && !staged->made) { /* perhaps a folder that an earlier task left */
        fs_remove_all(staged->calls, staged->path);
        status = open_locked(staged, staged->path, error);
    }
    if (status == TANSU_OK && staged->calls->truncate(staged->fd, 0) != 0)
        status = error_errno(error, staged->path, "empty", errno);
    return status;
}

/* make_locked -- creates the folder, if need be, and its LOCK. */
static tansu_status make_locked(staging *staged, const char *lock, tansu_error *error) {
    if (staged->calls->mkdir(staged->calls, staged->path, 0755) != 0 && errno != EEXIST)
        return error_errno(error, staged->path, "create the folder", errno);
    tansu_status status = open_locked(staged, lock, error);
    if (status != TANSU_OK && status != TANSU_E_BUSY && !staged->made)
        staged->calls->rmdir(staged->calls, staged->path); /* if there is nothing in it */
    return status;
}

/* begin_folder -- creates the folder, or empties it but for its LOCK. */
static tansu_status begin_folder(staging *staged, tansu_error *error) {
    char *lock = fs_join(staged->path, LOCK_NAME);
    if (lock == NULL)
        return error_memory(error);
    tansu_status status = make_locked(staged, lock, error);
    if (status == TANSU_E_IO && !staged->made) { /* perhaps a file that an earlier task left */
        fs_remove_all(staged->calls, staged->path);
        status = make_locked(staged, lock, error);
    }
    free(lock);
    if (status != TANSU_OK)
        return status;
    staged->calls->list(staged->calls, staged->path, remove_name, staged);
    return TANSU_OK;
}

tansu_status staging_begin(staging *staged, const fs *calls, const char *to, bool folder,
                           tansu_error *error) {
    *staged = (staging){.calls = calls, .folder = folder, .fd = -1};
    size_t size = strlen(to);
    while (size > 1 && to[size - 1] == '/')
        size--;
    if (size == 0)
        return error_set(error, TANSU_E_INVALID_ARGUMENT, "to",
                         "The path is empty; name a file or folder");
    staged->to = malloc(size + 1);
    staged->path = malloc(size + sizeof STAGING_SUFFIX);
    if (staged->to == NULL || staged->path == NULL)
        return error_memory(error);
    memcpy(staged->to, to, size);
    staged->to[size] = 0;
    memcpy(staged->path, staged->to, size);
    memcpy(staged->path + size, STAGING_SUFFIX, sizeof STAGING_SUFFIX);
    tansu_status status = check_absent(staged, error);
    if (status == TANSU_OK)
        status = folder ? begin_folder(staged, error) : begin_file(staged, error);
    return status;
}

void staging_unlock(staging *staged) {
    if (staged->fd >= 0)
        staged->calls->unlock(staged->fd);
    staged->fd = -1;
}

tansu_status staging_publish(staging *staged, tansu_error *error) {
    tansu_status status = check_absent(staged, error);
    if (status != TANSU_OK)
        return status;
    if (staged->calls->rename(staged->calls, staged->path, staged->to) != 0)
        return error_errno(error, staged->to, "rename", errno);
    staged->made = false;
    status = fs_sync_parent(staged->calls, staged->to, error);
    if (status != TANSU_OK)
        fs_remove_all(staged->calls, staged->to);
    return status;
}

void staging_end(staging *staged) {
    if (staged->made)
        fs_remove_all(staged->calls, staged->path);
    staging_unlock(staged);
    free(staged->to);
    free(staged->path);
}
