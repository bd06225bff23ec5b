/*
 * catalog/backup.h -- copies of a database as of one commit, made while it is in use
 * (docs/backup-format.md). Part catalog.
 */
#ifndef TANSU_CATALOG_BACKUP_H
#define TANSU_CATALOG_BACKUP_H

#include "catalog/backup_part.h"
#include "catalog/database.h"

/* What a task is to tell on its way, in bytes. */
typedef struct task {
    tansu_task_progress progress; /* may be NULL */
    void *context;
    uint64_t done;
    uint64_t total;
} task;

/* task_advance -- tells that so much more is done. Errors: CANCELLED. */
tansu_status task_advance(task *t, uint64_t more, tansu_error *error);

typedef struct backup_result {
    uint64_t sequence;
    uint64_t documents;
    uint64_t bytes; /* of the folder's files or the file */
} backup_result;

/* database_backup -- tansu_backup(). The caller counts as a handle. */
tansu_status database_backup(database *db, const char *to, tansu_backup_form form, task *progress,
                             backup_result *result, tansu_error *error);

/* ---- Within the part: one function a form, which writes the log as of the MANIFEST's `end`. ---- */

/* backup_folder_write -- log and MANIFEST in the part's folder (catalog/backup_folder.c). */
tansu_status backup_folder_write(const backup_part *part, database *db, const version *v,
                                 const manifest *m, task *progress, uint64_t *bytes,
                                 tansu_error *error);

/* backup_file_write -- everything in the part's file (catalog/backup_file.c). */
tansu_status backup_file_write(const backup_part *part, database *db, const version *v,
                               const manifest *m, task *progress, uint64_t *bytes,
                               tansu_error *error);

#endif
