/*
 * support/calls/backup_calls.h -- backups and restores as text, and what they must not leave
 * in the file system.
 */
#ifndef SUPPORT_BACKUP_CALLS_H
#define SUPPORT_BACKUP_CALLS_H

#include "tansu.h"

#include <stdbool.h>

/* Both forms: the folder, then the file. */
extern const tansu_backup_form backup_forms[2];

/* path_in -- "folder/name", in memory that lasts. */
const char *path_in(const char *folder, const char *name);

/* part_of -- where a task works before it gives its result the name. */
const char *part_of(const char *to);

/* nothing_at -- neither the result nor anything of the way there. */
bool nothing_at(const char *to);

/* remove_at -- a file or folder, if there is one. */
void remove_at(const char *path);

/* backup / restore -- without progress or report; call_error says what failed. */
tansu_status backup(tansu_db *db, const char *to, tansu_backup_form form);
tansu_status backup_plain(tansu_db *db, const char *to, tansu_backup_form form);
tansu_status restore(const char *from, const char *to);

/* refused -- whether a backup does not restore because it is damaged, and nothing is left:
 * checked. */
bool refused(const char *from, const char *to);

#endif
