/*
 * store/folder_check.h -- whether a database is still where it was opened.
 */
#ifndef TANSU_STORE_FOLDER_CHECK_H
#define TANSU_STORE_FOLDER_CHECK_H

#include "store/database.h"

/* folder_check -- whether the folder of the database is still at its path. All its files are
 * opened from the folder's descriptor (fs_anchor in util/fs.h), so that a handle never touches
 * another database at its path. What it writes to a folder that was moved or removed would be
 * missed, though: so writing fails from then on. Errors: MOVED. */
tansu_status folder_check(const database *db, tansu_error *error);

/* folder_check_often -- the same, for calls that take less time than the system calls of a
 * check: once in a tick of the system's clock, a few milliseconds. */
tansu_status folder_check_often(database *db, tansu_error *error);

#endif
