/*
 * store/folder_check.h -- whether a database is still where it was opened.
 */
#ifndef TANSU_STORE_FOLDER_CHECK_H
#define TANSU_STORE_FOLDER_CHECK_H

#include "store/database.h"

/* folder_check -- whether the folder of the database is still at its path, and, of a handle that
 * writes, the files in it its own. All its files are opened from the folder's descriptor (fs_anchor
 * in util/fs.h), so that a handle never touches another database at its path. What it writes to a
 * folder that was moved or removed would be missed, though: so writing fails from then on. When the
 * MANIFEST or the segment that is written to was removed or replaced, that stays so until the
 * database is closed. Errors: MOVED; IO, MEMORY (of reading a MANIFEST that has changed). */
tansu_status folder_check(database *db, tansu_error *error);

/* folder_check_often -- the same, for calls that take less time than the system calls of a
 * check: once in a tick of the system's clock, a few milliseconds. */
tansu_status folder_check_often(database *db, tansu_error *error);

#endif
