/*
 * catalog/backup_part.h -- a file or folder that is made beside the place it is for and gets its name
 * when it is whole: backups, and what they are restored to. Part catalog.
 *
 * It is called `to`.tansu-part meanwhile and is locked, so that two tasks for the same place can't
 * disturb each other, and what a killed process left is replaced by the next one.
 */
#ifndef TANSU_CATALOG_BACKUP_PART_H
#define TANSU_CATALOG_BACKUP_PART_H

#include "base/fs.h"

typedef struct backup_part {
    const fs *calls;
    char *to;    /* without slashes at its end */
    char *path;  /* until it is finished */
    bool folder; /* rather than a file */
    bool made;   /* there is something at `path` */
    int fd;      /* of the file, or of the folder's LOCK; -1: not held */
} backup_part;

/* part_begin -- makes an empty file or folder. Errors: EXISTS (something is at `to`), BUSY (another task
 * is at it), FULL, IO, READ_ONLY, MEMORY, MISUSE; part_end() is to be called in any case. */
tansu_status part_begin(backup_part *part, const fs *calls, const char *to, bool folder,
                        tansu_error *error);

/* part_unlock -- gives a folder's LOCK free, for a database that is to be opened there. */
void part_unlock(backup_part *part);

/* part_finish -- gives it its name and makes that last. What is in it was synced before. Errors: EXISTS,
 * IO, FULL: then nothing is there. */
tansu_status part_finish(backup_part *part, tansu_error *error);

/* part_end -- removes what was not finished, and frees. */
void part_end(backup_part *part);

#endif
