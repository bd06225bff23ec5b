/*
 * store/database.h -- an open database, and how it is opened and closed.
 *
 * The parts store/… are the storage engine's core: a single-writer, multi-version store with ACID
 * transactions. What it keeps:
 *
 *  - The log (log/log.h) holds every committed record and is the only file that must survive.
 *  - Copy-on-write B+ trees (index/tree/tree.h) hold the indexes, and location tables
 *    (index/locations.h) map record ids to records in the log.
 *  - A commit publishes a new snapshot (store/snapshot.h) of all collections. Readers acquire a
 *    snapshot and need no lock afterwards; memory that a commit replaced is reclaimed when no
 *    snapshot can reach it any more (epoch-based reclamation).
 *  - One write transaction at a time (store/write_lock.h, store/write_txn/write_txn.h) appends one
 *    frame to the log. Commits that wait for the disk share one sync (group commit).
 *  - Checkpoints (store/checkpoint/checkpoint.h) write changed index blocks to the block store.
 *    Recovery (store/recovery/recovery.h) loads the last one and replays the log after it.
 *
 * The folders, lowest first: store, store/index_backlog, store/checkpoint, store/background,
 * store/write_txn, store/recovery, store/open.
 */
#ifndef TANSU_STORE_DATABASE_H
#define TANSU_STORE_DATABASE_H

#include "index/definition.h"
#include "util/fs.h"

typedef struct database database;

/* database_open -- all of tansu_open(), over the given file calls. `hooks` are those of the query
 * part; with NULL, databases with partial indexes can't be opened. Errors: those of tansu_open(). */
tansu_status database_open(const tansu_options *options, const fs *calls, const query_hooks *hooks,
                           database **result, tansu_error *error);

/* database_close -- stops the background threads, writes a checkpoint, syncs and frees. No handles
 * may be open. */
tansu_status database_close(database *db, tansu_error *error);

#endif
