/*
 * store/open/temporary_folder.h -- the folder of a temporary database. It is removed when that is
 * closed or its process ends; after a crash, by the next one that is made beside it.
 */
#ifndef TANSU_STORE_OPEN_TEMPORARY_FOLDER_H
#define TANSU_STORE_OPEN_TEMPORARY_FOLDER_H

#include "util/fs.h"

/* The file that says that a folder is of a temporary database. */
#define TEMPORARY_MARK "TEMPORARY"

/* temporary_folder_new -- makes a folder in `where` (NULL or "": in TMPDIR or /tmp), and removes
 * those of databases whose processes ended without closing them. Errors: IO, FULL, MEMORY. */
tansu_status temporary_folder_new(const fs *calls, const char *where, char **folder,
                                  tansu_error *error);

/* temporary_folder_remove -- removes a folder. */
void temporary_folder_remove(const fs *calls, const char *folder);

#endif
