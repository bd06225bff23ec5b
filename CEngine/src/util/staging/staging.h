/*
 * util/staging/staging.h -- a file or folder that is written under a temporary name and renamed
 * when it is complete: backups, dumps, and the databases that are restored, salvaged or cloned.
 *
 * The temporary name is the final one with STAGING_SUFFIX added. A lock keeps two tasks with the
 * same target apart; what a killed process left is replaced by the next task.
 */
#ifndef TANSU_UTIL_STAGING_STAGING_H
#define TANSU_UTIL_STAGING_STAGING_H

#include "util/fs.h"

#define STAGING_SUFFIX ".tansu-part"

typedef struct staging {
    const fs *calls;
    char *to;    /* without slashes at its end */
    char *path;  /* the temporary name */
    bool folder; /* rather than a file */
    bool made;   /* there is something at `path` */
    int fd;      /* of the file, or of the folder's LOCK; -1: not locked */
} staging;

/* staging_check_outside -- the error for a target in the folder of the database that is copied,
 * which it would become a part of: whatever the path is, relative or through symbolic links.
 * `folder`: NULL: it has none. Errors: INVALID_ARGUMENT, MEMORY. */
tansu_status staging_check_outside(const char *to, const char *folder, tansu_error *error);

/* staging_begin -- creates an empty file or folder. Errors: EXISTS (there is something at `to`),
 * BUSY (another task has the same target), FULL, IO, READ_ONLY, MEMORY, INVALID_ARGUMENT; call
 * staging_end() in any case. */
tansu_status staging_begin(staging *staged, const fs *calls, const char *to, bool folder,
                           tansu_error *error);

/* staging_unlock -- unlocks a folder's LOCK, so that a database can be opened there. */
void staging_unlock(staging *staged);

/* staging_publish -- renames it to `to` and syncs the folder around it. Its content is synced by
 * the caller before. Errors: EXISTS, IO, FULL; nothing is at `to` then. */
tansu_status staging_publish(staging *staged, tansu_error *error);

/* staging_end -- removes what was not published, and frees. */
void staging_end(staging *staged);

#endif
