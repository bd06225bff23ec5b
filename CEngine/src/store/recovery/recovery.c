/*
 * store/recovery/recovery.c -- the order of recovery: checkpoint, log, checks.
 */
#include "store/recovery/recovery.h"

#include "store/checkpoint/checkpoint.h"
#include "store/database_internal.h"
#include "store/files_stamp.h"
#include "util/error.h"

#include <stdio.h>

tansu_status recovery_start_empty(database *db, tansu_error *error) {
    snapshot *v = snapshot_new();
    if (v == NULL)
        return error_memory(error);
    db->oldest = db->visible = db->head = v;
    return TANSU_OK;
}

/* check_expected_end -- the log holds what the index files, which were rebuilt, had seen in it; now
 * all of that is synced, for the MANIFEST says so since checkpoint_discard(). */
static tansu_status check_expected_end(database *db, tansu_error *error) {
    uint64_t seen = db->log->expected_end;
    if (db->head->sequence < seen)
        return error_at(error, TANSU_E_CORRUPT, "log", 0,
                        "The log ends with commit %llu and had contained commit %llu; restore a "
                        "backup or salvage what is readable with \"tansu repair\"",
                        (unsigned long long)db->head->sequence, (unsigned long long)seen);
    if (db->read_only || seen <= db->manifest.end_sequence)
        return TANSU_OK;
    tansu_status status = log_sync(db->log, db->head->sequence, error);
    if (status == TANSU_OK)
        db->manifest.end_sequence = seen;
    return status;
}

tansu_status recovery_run(database *db, const tansu_options *options, tansu_error *error) {
    snapshot *stored = NULL;
    tansu_status status = checkpoint_load(db, &stored, error);
    bool reached = true;
    if (status == TANSU_OK && stored != NULL)
        db->oldest = db->visible = db->head = stored;
    /* All is read now or mapped, and nothing of it used: an index that is newer than the segments
     * would lead to ones that are not there. */
    if (status == TANSU_OK && db->concurrent)
        status = files_stamp_check(db, error);
    if (status == TANSU_OK && stored != NULL) {
        db->index_was_open = db->manifest.index_open;
        status = log_activate_segments(db->log, db->checkpoint_segments,
                                       db->checkpoint_segment_count, error);
        if (status == TANSU_OK)
            status = recovery_replay(db, options->progress, options->progress_context, false,
                                     &reached, error);
        else if (status == TANSU_E_CORRUPT)
            return status;
        if (status == TANSU_OK && reached) {
            log_drop_inactive(db->log);
            return TANSU_OK;
        }
        /* An index that is ahead of the log, or holds blocks that are invalid, is rebuilt;
         * damage to the log itself shows once more then. */
        snapshot_free_all(db);
        snprintf(db->rebuilt, sizeof db->rebuilt, "they did not match the log");
        if (status == TANSU_OK || status == TANSU_E_CORRUPT || status == TANSU_E_NOT_FOUND)
            status = checkpoint_discard(db, error);
    }
    if (status == TANSU_OK)
        status = log_activate_segments(db->log, NULL, 0, error);
    if (status == TANSU_OK)
        status = recovery_start_empty(db, error);
    if (status == TANSU_OK)
        status = recovery_replay(db, options->progress, options->progress_context, true, &reached,
                                 error);
    if (status == TANSU_OK)
        status = check_expected_end(db, error);
    if (status == TANSU_OK && db->head->sequence == 0)
        db->rebuilt[0] = 0; /* there was nothing to make */
    if (status == TANSU_OK)
        log_drop_inactive(db->log);
    return status;
}
