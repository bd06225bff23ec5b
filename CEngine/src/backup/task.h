/*
 * backup/task.h -- the progress and the result of a backup, a restore, a clone or a dump.
 */
#ifndef TANSU_BACKUP_TASK_H
#define TANSU_BACKUP_TASK_H

#include "tansu.h"

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

#endif
