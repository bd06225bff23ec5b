/*
 * catalog/backup_part.c -- a file or folder that gets its name when it is whole.
 */
#include "catalog/backup_part.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define PART_SUFFIX ".tansu-part"
#define LOCK_NAME "LOCK"

/* remove_name -- deletes what is in the part's folder but its LOCK. */
static bool remove_name(void *context, const char *name) {
    const backup_part *part = context;
    char *path = strcmp(name, LOCK_NAME) == 0 ? NULL : fs_join(part->path, name);
    if (path != NULL)
        fs_remove_all(part->calls, path);
    free(path);
    return true;
}

/* check_free -- EXISTS when there is something at the place that the part is for. */
static tansu_status check_free(const backup_part *part, tansu_error *error) {
    int fd = part->calls->open(part->to, O_RDONLY | O_NONBLOCK, 0);
    if (fd < 0 && errno == ENOENT)
        return TANSU_OK;
    if (fd < 0 && errno != ESPIPE && errno != ELOOP) /* these are of things that can't be opened */
        return error_errno(error, part->to, "look for what is at the path", errno);
    if (fd >= 0)
        part->calls->close(fd);
    return error_set(error, TANSU_E_EXISTS, part->to,
                     "there is something at this path already: choose another path, or remove it");
}

/* open_held -- opens and locks the file that says whose the part is; *made then. */
static tansu_status open_held(backup_part *part, const char *path, tansu_error *error) {
    const fs *calls = part->calls;
    part->fd = calls->open(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0644);
    if (part->fd < 0)
        return error_errno(error, path, "open", errno);
    if (calls->lock(part->fd, true) != 0) {
        int number = errno;
        part_unlock(part);
        if (number == EWOULDBLOCK)
            return error_set(error, TANSU_E_BUSY, part->to,
                             "another backup to this path, or restore of it, is under way");
        calls->unlink(path);
        return error_errno(error, path, "lock", number);
    }
    part->made = true;
    /* Whoever held the part until now may have finished it. */
    return check_free(part, error);
}

/* begin_file -- the part's file, empty. */
static tansu_status begin_file(backup_part *part, tansu_error *error) {
    tansu_status status = open_held(part, part->path, error);
    if (status == TANSU_E_IO && !part->made) { /* perhaps a folder that an earlier task left */
        fs_remove_all(part->calls, part->path);
        status = open_held(part, part->path, error);
    }
    if (status == TANSU_OK && part->calls->truncate(part->fd, 0) != 0)
        status = error_errno(error, part->path, "empty", errno);
    return status;
}

/* make_held -- the folder, if need be, and its LOCK. */
static tansu_status make_held(backup_part *part, const char *lock, tansu_error *error) {
    if (part->calls->mkdir(part->path, 0755) != 0 && errno != EEXIST)
        return error_errno(error, part->path, "make the folder", errno);
    tansu_status status = open_held(part, lock, error);
    if (status != TANSU_OK && status != TANSU_E_BUSY && !part->made)
        part->calls->rmdir(part->path); /* if there is nothing in it */
    return status;
}

/* begin_folder -- the part's folder, with nothing but its LOCK. */
static tansu_status begin_folder(backup_part *part, tansu_error *error) {
    char *lock = fs_join(part->path, LOCK_NAME);
    if (lock == NULL)
        return error_memory(error);
    tansu_status status = make_held(part, lock, error);
    if (status == TANSU_E_IO && !part->made) { /* perhaps a file that an earlier task left */
        fs_remove_all(part->calls, part->path);
        status = make_held(part, lock, error);
    }
    free(lock);
    if (status != TANSU_OK)
        return status;
    part->calls->list(part->path, remove_name, part);
    return TANSU_OK;
}

tansu_status part_begin(backup_part *part, const fs *calls, const char *to, bool folder,
                        tansu_error *error) {
    *part = (backup_part){.calls = calls, .folder = folder, .fd = -1};
    size_t size = strlen(to);
    while (size > 1 && to[size - 1] == '/')
        size--;
    if (size == 0)
        return error_set(error, TANSU_E_MISUSE, "to", "the path is empty: name a file or folder");
    part->to = malloc(size + 1);
    part->path = malloc(size + sizeof PART_SUFFIX);
    if (part->to == NULL || part->path == NULL)
        return error_memory(error);
    memcpy(part->to, to, size);
    part->to[size] = 0;
    memcpy(part->path, part->to, size);
    memcpy(part->path + size, PART_SUFFIX, sizeof PART_SUFFIX);
    tansu_status status = check_free(part, error);
    if (status == TANSU_OK)
        status = folder ? begin_folder(part, error) : begin_file(part, error);
    return status;
}

void part_unlock(backup_part *part) {
    if (part->fd >= 0)
        part->calls->unlock(part->fd);
    part->fd = -1;
}

tansu_status part_finish(backup_part *part, tansu_error *error) {
    tansu_status status = check_free(part, error);
    if (status != TANSU_OK)
        return status;
    if (part->calls->rename(part->path, part->to) != 0)
        return error_errno(error, part->to, "rename", errno);
    part->made = false;
    status = fs_sync_parent(part->calls, part->to, error);
    if (status != TANSU_OK)
        fs_remove_all(part->calls, part->to);
    return status;
}

void part_end(backup_part *part) {
    if (part->made)
        fs_remove_all(part->calls, part->path);
    part_unlock(part);
    free(part->to);
    free(part->path);
}
