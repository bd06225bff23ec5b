/*
 * backup/task.c -- the progress of a task.
 */
#include "backup/task.h"

#include "util/error.h"

tansu_status task_advance(task *t, uint64_t more, tansu_error *error) {
    t->done += more;
    if (t->done > t->total)
        t->total = t->done;
    if (t->progress == NULL || t->progress(t->context, t->done, t->total) != 0)
        return TANSU_OK;
    return error_set(error, TANSU_E_CANCELLED, NULL,
                     "The task was cancelled; no file of it is left");
}
