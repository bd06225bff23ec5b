/*
 * store/checkpoint/checkpoint.h -- checkpoints: writing a snapshot's indexes and locations to the
 * block store, and loading them at opening.
 *
 * The block store's META record names the snapshot that its blocks make up: the commit's sequence
 * number, its end in the log, and the catalog with the root block of every index. Everything of one
 * checkpoint, META included, is one transaction of the block store.
 */
#ifndef TANSU_STORE_CHECKPOINT_CHECKPOINT_H
#define TANSU_STORE_CHECKPOINT_CHECKPOINT_H

#include "index/block_store/block_store.h"
#include "store/snapshot.h"

/* checkpoint_write -- brings the block store up to the visible snapshot. Errors: IO, FULL, MEMORY,
 * CORRUPT, READ_ONLY, SYNC_FAILED. */
tansu_status checkpoint_write(database *db, tansu_error *error);

/* checkpoint_write_locked -- the same with the mutex of the checkpoints held. */
tansu_status checkpoint_write_locked(database *db, tansu_error *error);

/* checkpoint_wasteful -- whether much of the block store's file is free. checkpoint_shrink --
 * rewrites it then, or always; the caller, which may be NULL, is asked meanwhile whether to go on.
 * Errors: as above, and the caller's. */
bool checkpoint_wasteful(database *db);
tansu_status checkpoint_shrink(database *db, bool always, const block_store_caller *caller,
                               tansu_error *error);

/* checkpoint_load -- opens the block store and creates the snapshot that it holds. *v is NULL when
 * there is none that can be used: the block store has been replaced by an empty one, everything
 * must be replayed, and db->rebuilt says why. */
tansu_status checkpoint_load(database *db, snapshot **v, tansu_error *error);

/* checkpoint_discard -- closes the block store and, unless the database is read-only, creates an
 * empty one instead. */
tansu_status checkpoint_discard(database *db, tansu_error *error);

/* checkpoint_note_end -- records in the MANIFEST of an encrypted database, which is authenticated, how
 * far the log is on the disk, unless it says so; `noted`: what it is known to say. The marks in TAIL are
 * not authenticated, and may be removed after a crash. The checkpoint mutex is held, or the database is
 * being opened. Errors: those of manifest_replace(). */
tansu_status checkpoint_note_end(database *db, uint64_t noted, tansu_error *error);

/* checkpoint_close -- at a clean end: closes the block store, syncs it, and records in the MANIFEST
 * that it and the log are whole. */
tansu_status checkpoint_close(database *db, tansu_error *error);

#endif
