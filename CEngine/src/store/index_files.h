/*
 * store/index_files.h -- index files that were found to be damaged. They are only read until the
 * database is closed, and the next opening for writing rebuilds them from the log.
 */
#ifndef TANSU_STORE_INDEX_FILES_H
#define TANSU_STORE_INDEX_FILES_H

#include "store/database.h"

/* index_files_mark_damaged -- from now on the index files are not written any more, and the next
 * opening for writing rebuilds them. */
void index_files_mark_damaged(database *db);

/* index_files_damaged -- whether the index files were found to be damaged. */
bool index_files_damaged(const database *db);

/* index_files_note_damage -- index_files_mark_damaged() if something invalid was read from them.
 * Does not wait: a checkpoint that is running detects the damage by itself. */
void index_files_note_damage(database *db);

/* index_files_check -- the error for what must not be done with damaged ones: CORRUPT. */
tansu_status index_files_check(const database *db, tansu_error *error);

#endif
