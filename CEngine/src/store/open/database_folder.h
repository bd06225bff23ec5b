/*
 * store/open/database_folder.h -- the folder of a database: creating, checking and locking it.
 */
#ifndef TANSU_STORE_OPEN_DATABASE_FOLDER_H
#define TANSU_STORE_OPEN_DATABASE_FOLDER_H

#include "store/database.h"

/* The folder of files that opening took out of the log because they may hold commits. */
#define SET_ASIDE_FOLDER "set-aside"

/* folder_set -- sets db->folder to the absolute form of a path: the program may change its working
 * folder. */
tansu_status folder_set(database *db, const char *path, tansu_error *error);

/* folder_create_temporary -- sets db->folder to a new folder in `where`; NULL: in the system's
 * folder for temporary files. */
tansu_status folder_create_temporary(database *db, const char *where, tansu_error *error);

/* folder_enter -- creates or checks the folder, takes the lock, for which it waits that many
 * milliseconds, and reads the MANIFEST. Errors: EXISTS, NOT_FOUND, LOCKED, READ_ONLY, CORRUPT,
 * VERSION, IO, FULL, MEMORY. */
tansu_status folder_enter(database *db, bool must_exist, uint32_t lock_timeout_ms,
                          tansu_error *error);

#endif
