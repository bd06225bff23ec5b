/*
 * check/repair/repair.c -- salvaging a corrupt database: the order of the phases, and the folder
 * that the new database is built in.
 *
 *  1. repair_find_segments: list the segment files and decide which belong to the database.
 *  2. repair_find_frames: read every segment and find its runs of intact frames. A frame belongs to
 *     the commit that its checksum vouches for, wherever it lies, so a misdirected write costs only
 *     the bytes that it overwrote.
 *  3. repair_build_history: of all runs, take the longest consistent history of commits.
 *  4. repair_replay: apply its records in the order of commits. Records that no checksum protects
 *     are used where their commit is missing.
 *  5. repair_index_files_compare: learn from the index files which documents there were.
 *  6. repair_build_catalog, repair_rebuild: create the collections of the new database, save each
 *     document's newest version, build the indexes.
 *
 * The damaged database is read only. The new one gets its name when it is complete.
 */
#include "check/repair/repair.h"

#include "check/repair/repair_catalog.h"
#include "check/repair/repair_frames.h"
#include "check/repair/repair_history.h"
#include "check/repair/repair_index_files.h"
#include "check/repair/repair_problems.h"
#include "check/repair/repair_rebuild.h"
#include "check/repair/repair_replay.h"
#include "check/repair/repair_report.h"
#include "check/repair/repair_segments.h"
#include "util/error.h"
#include "util/lock_holder.h"
#include "util/staging/staging.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

/* ---- Folders ---- */

/* lock_source -- keeps others from opening the database meanwhile. Without a LOCK file nobody has
 * it open. */
static tansu_status lock_source(const repair *r, int *fd, tansu_error *error) {
    char *path = fs_join(r->from, "LOCK");
    if (path == NULL)
        return error_memory(error);
    tansu_status status = TANSU_OK;
    *fd = r->calls->open(r->calls, path, O_RDONLY, 0);
    if (*fd < 0 && errno != ENOENT && errno != ENOTDIR)
        status = error_errno(error, path, "open", errno);
    else if (*fd >= 0 && r->calls->lock(*fd, true) != 0)
        status = errno == EWOULDBLOCK ? lock_held_error(*fd, "The database", path, error)
                                      : error_errno(error, path, "lock", errno);
    free(path);
    return status;
}

/* ---- The new database ---- */

/* open_new -- the database that is filled. */
static tansu_status open_new(repair *r, const char *folder, tansu_error *error) {
    tansu_options options = *r->settings;
    options.path = folder;
    options.store = TANSU_STORE_PERSISTENT;
    options.durability = TANSU_DURABILITY_PROCESS; /* closing syncs everything */
    return database_open(&options, r->calls, r->filters, &r->db, error);
}

/* salvage -- reads the log into r->locations and r->collections, with the help of a copy of the
 * index files in `folder`. */
static tansu_status salvage(repair *r, const char *folder, tansu_error *error) {
    repair_index_files_open(r, folder);
    tansu_status status = repair_find_frames(r, error);
    if (status == TANSU_OK)
        status = repair_build_history(r, error);
    if (status == TANSU_OK)
        status = repair_replay(r, error);
    if (status == TANSU_OK)
        repair_add_log_problems(r);
    if (status == TANSU_OK)
        status = repair_index_files_compare(r, error);
    tansu_status closed = repair_index_files_close(r, folder, status == TANSU_OK ? error : NULL);
    if (status == TANSU_OK)
        status = closed;
    return status == TANSU_OK ? repair_build_catalog(r, error) : status;
}

/* rebuild -- fills the new database in `folder` and closes it. */
static tansu_status rebuild(repair *r, const char *folder, tansu_error *error) {
    tansu_status status = open_new(r, folder, error);
    if (status == TANSU_OK)
        status = repair_rebuild(r, error);
    if (r->db == NULL)
        return status;
    tansu_status closed = database_close(r->db, status == TANSU_OK ? error : NULL);
    return status == TANSU_OK ? closed : status;
}

/* note_nothing -- for listings that only ask whether there is a folder. */
static bool note_nothing(void *context, const char *name) {
    (void)context;
    (void)name;
    return false;
}

/* check_outside -- staging_check_outside() for the folder of a database, which
 * repair_find_segments() finds out. */
static tansu_status check_outside(const repair *r, const char *to, tansu_error *error) {
    return r->calls->list(r->calls, r->log_folder, note_nothing, NULL) == 0
               ? staging_check_outside(to, r->from, error)
               : TANSU_OK;
}

/* run -- all phases. The report is written before the database is published: nothing can fail after
 * that. */
static tansu_status run(repair *r, const char *to, staging *staged, tansu_buffer *report,
                        tansu_error *error) {
    tansu_status status = check_outside(r, to, error);
    if (status == TANSU_OK)
        status = staging_begin(staged, r->calls, to, true, error);
    if (status == TANSU_OK)
        status = repair_find_segments(r, error);
    if (status == TANSU_OK)
        status = repair_progress(r, 0, error);
    if (status == TANSU_OK)
        status = salvage(r, staged->path, error);
    if (status == TANSU_OK) {
        staging_unlock(staged); /* the database locks the same LOCK */
        status = rebuild(r, staged->path, error);
    }
    if (status == TANSU_OK)
        status = repair_progress(r, r->total, error);
    if (status == TANSU_OK)
        status = repair_report(r, report, error);
    return status == TANSU_OK ? staging_publish(staged, error) : status;
}

tansu_status database_repair(const char *from, const char *to, const fs *calls,
                             const index_filter_calls *filters, const tansu_options *settings,
                             tansu_progress progress, void *context, tansu_buffer *report,
                             tansu_error *error) {
    char *parent = fs_parent(to);
    repair r = {.calls = calls,
                .filters = filters,
                .settings = settings,
                .from = from,
                .temporary = parent,
                .progress = progress,
                .context = context,
                .log_folder = fs_join(from, "log")};
    tansu_buffer made = TANSU_BUFFER_INIT;
    staging staged = {.calls = calls, .fd = -1};
    int lock = -1;
    tansu_status status = TANSU_OK;
    if (parent == NULL || r.log_folder == NULL)
        status = error_memory(error);
    if (status == TANSU_OK)
        status = lock_source(&r, &lock, error);
    if (status == TANSU_OK)
        status = run(&r, to, &staged, &made, error);
    if (lock >= 0)
        calls->unlock(lock);
    if (status == TANSU_OK && report != NULL) {
        tansu_buffer_free(report);
        *report = made;
    } else {
        tansu_buffer_free(&made);
    }
    repair_free(&r);
    free(parent);
    staging_end(&staged);
    return status;
}
