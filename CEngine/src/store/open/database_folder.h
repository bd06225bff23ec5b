/*
 * store/open/database_folder.h -- the folder of a database: creating, checking and locking it.
 */
#ifndef TANSU_STORE_OPEN_DATABASE_FOLDER_H
#define TANSU_STORE_OPEN_DATABASE_FOLDER_H

#include "store/database.h"
#include "store/key_file.h"
#include "util/fs.h"

/* The folder of files that opening took out of the log because they may hold commits. */
#define SET_ASIDE_FOLDER "set-aside"

/* folder_set -- sets db->folder to the absolute form of a path, without slashes at its end: the
 * program may change its working folder. */
tansu_status folder_set(database *db, const char *path, tansu_error *error);

/* folder_enter -- creates or checks the folder, takes the lock, for which it waits that many
 * milliseconds, and reads the MANIFEST and, unless db->keys are there, the keys of an encrypted
 * database. Errors: EXISTS, NOT_FOUND, LOCKED, READ_ONLY, CORRUPT, ENCRYPTED, WRONG_KEY,
 * INVALID_ARGUMENT (a key, and the database is not encrypted), VERSION, IO, FULL, MEMORY. */
tansu_status folder_enter(database *db, bool must_exist, uint32_t lock_timeout_ms,
                          const user_key *key, tansu_error *error);

/* folder_new_keys -- a data key for a new database, if it is to be encrypted. The file KEY is
 * written for a persistent one only: nobody opens another one again. Errors: IO, FULL, READ_ONLY,
 * MEMORY. */
tansu_status folder_new_keys(database *db, const user_key *key, tansu_error *error);

/* folder_anchor -- opens the folder and anchors db->files to it, unless they are. Nothing happens
 * where folders can't be opened. New files get the permissions of the MANIFEST from then on.
 * folder_anchor_parts -- the same for those of the log and the index
 * in it, as far as they are there. Errors: IO, MEMORY. */
tansu_status folder_anchor(database *db, tansu_error *error);
tansu_status folder_anchor_parts(database *db, tansu_error *error);

/* folder_leave -- gives back what folder_enter() and folder_anchor() took. */
void folder_leave(database *db);

/* ---- The folder of a temporary database ---- */

/*
 * It is removed when that is closed or its process ends; after a crash, by the next one that is made beside it.
 */

/* The file that says that a folder is of a temporary database. */
#define TEMPORARY_MARK "TEMPORARY"

/* temporary_folder_new -- makes a folder in `where` (NULL or "": in TMPDIR or /tmp), and removes
 * those of databases whose processes ended without closing them. Errors: IO, FULL, MEMORY. */
tansu_status temporary_folder_new(const fs *calls, const char *where, char **folder,
                                  tansu_error *error);

/* temporary_folder_remove -- removes a folder. */
void temporary_folder_remove(const fs *calls, const char *folder);

#endif
