/*
 * backup/backup.h -- copies of a database as of one snapshot, made while it is in use.
 */
#ifndef TANSU_BACKUP_BACKUP_H
#define TANSU_BACKUP_BACKUP_H

#include "store/database.h"
#include "store/key_file.h"
#include "tansu.h"

/* ---- The progress and the result of a backup, a restore, a clone or a dump ---- */

/* The progress of a task, in bytes. */
typedef struct task {
    tansu_progress progress; /* may be NULL */
    void *context;
    uint64_t done;
    uint64_t total;
} task;

/* task_advance -- counts `more` bytes as done and calls the progress function. Errors: CANCELLED.
 * */
tansu_status task_advance(task *t, uint64_t more, tansu_error *error);

typedef struct backup_result {
    uint64_t sequence; /* of the last commit */
    uint64_t documents;
    uint64_t bytes; /* of the folder's files, or the file */
} backup_result;

/* database_backup -- tansu_backup(); the caller has acquired a handle. `key`: NULL: the backup is
 * encrypted as the database is, if it is; without bytes: it is not; otherwise it is encrypted with
 * that key. */
tansu_status database_backup(database *db, const char *to, tansu_backup_form form,
                             const user_key *key, task *progress, backup_result *result,
                             tansu_error *error);

/* ---- Restoring a database from a backup ---- */

/* database_restore -- tansu_restore(). A backup is untrusted input: every size, number and checksum
 * is validated before it is used, and nothing outside `to` is written. `key`: without bytes: none was
 * given. `calls` and `hooks` as in database_open(). */
tansu_status database_restore(const char *from, const char *to, const user_key *key,
                              const fs *calls, const query_hooks *hooks, task *progress,
                              backup_result *result, tansu_error *error);

#endif
