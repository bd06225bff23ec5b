/*
 * store/files_stamp.h -- whether another process changed the files of a database while this one
 * opened it to read.
 *
 * A stamp is all that says which commit the index files hold: the MANIFEST, and of the block store
 * the head and the journals. A writer writes a journal before it changes anything in the block
 * store that its last commit uses, and commits a checkpoint before it removes segments that the one
 * before needs. So, while the stamp is the same, what was read one after the other are the files of
 * one point in time, as a crash of the writer would have left them (docs/readers.md).
 */
#ifndef TANSU_STORE_FILES_STAMP_H
#define TANSU_STORE_FILES_STAMP_H

#include "store/database.h"

/* files_stamp_take -- takes db->stamp, before anything else is read. Errors: IO, MEMORY. */
tansu_status files_stamp_take(database *db, tansu_error *error);

/* files_stamp_check -- BUSY when the files have another stamp by now. Errors: BUSY, IO, MEMORY. */
tansu_status files_stamp_check(const database *db, tansu_error *error);

#endif
