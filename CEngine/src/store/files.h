/*
 * store/files.h -- whether another process changed the files of a database while this one
 * opened it to read.
 *
 * A stamp is all that says which commit the index files hold: the MANIFEST, and of the block store
 * the head and the journals. A writer writes a journal before it changes anything in the block
 * store that its last commit uses, and commits a checkpoint before it removes segments that the one
 * before needs. So, while the stamp is the same, what was read one after the other are the files of
 * one point in time, as a crash of the writer would have left them (docs/readers.md).
 */
#ifndef TANSU_STORE_FILES_H
#define TANSU_STORE_FILES_H

#include "store/database.h"
#include "util/aligned_u64.h"

typedef struct files_stamp {
    uint64_t parts[6][2];
} files_stamp;

/* The folder of a database, and how its files are opened. */
typedef struct database_files {
    fs anchored;       /* to the folder, and to those of the log and the index in it */
    const fs *calls;   /* the same */
    bool owns_anchors; /* and frees their paths: instances use their root's */
    char *folder;      /* NULL in a memory store */
    int lock_fd;
    int folder_fd; /* locked as well, except with `concurrent`; -1 where folders can't be opened */
    aligned_u64 checked; /* the tick of the clock of the last check that found the folder; atomic */
    files_stamp stamp;   /* of what a reader that is `concurrent` opened */
    bool index_damaged;  /* the index files are not trusted any more; atomic */
} database_files;

/* files_stamp_take -- takes db->files.stamp, before anything else is read. Errors: IO, MEMORY. */
tansu_status files_stamp_take(database *db, tansu_error *error);

/* files_stamp_check -- BUSY when the files have another stamp by now. Errors: BUSY, IO, MEMORY. */
tansu_status files_stamp_check(const database *db, tansu_error *error);

/* ---- Index files that were found to be damaged ---- */

/*
 * They are only read until the database is closed, and the next opening for writing rebuilds them
 * from the log.
 */

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

/* ---- Whether a database is still where it was opened ---- */

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
