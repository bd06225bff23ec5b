/*
 * store/folder_check.c -- looking whether the folder of a database was moved.
 */
#include "store/folder_check.h"

#include "store/database_internal.h"
#include "util/clock.h"
#include "util/error.h"

/* files_lost -- whether the files in the folder are not this handle's any more. */
static tansu_status files_lost(database *db, bool *lost, tansu_error *error) {
    *lost = log_abandoned(db->log);
    tansu_status status = *lost ? TANSU_OK : manifest_moved(db, lost, error);
    if (status == TANSU_OK && !*lost)
        *lost = log_head_removed(db->log);
    if (*lost)
        log_abandon(db->log);
    return status;
}

tansu_status folder_check(database *db, tansu_error *error) {
    const char *folder = fs_lost_anchor(db->calls);
    if (folder != NULL)
        return error_set(
            error, TANSU_E_MOVED, folder,
            "The folder \"%s\" was moved, removed or replaced while the database was open; "
            "close the database and open it where it is now",
            folder);
    bool lost = false;
    if (db->read_only || db->files.anchors[0].path == NULL || db->log == NULL)
        return TANSU_OK;
    tansu_status status = files_lost(db, &lost, error);
    return !lost ? status
                 : error_set(error, TANSU_E_MOVED, db->folder,
                             "The files in the folder \"%s\" were removed or replaced while the "
                             "database was open; close the database and open it again",
                             db->folder);
}

tansu_status folder_check_often(database *db, tansu_error *error) {
    if (db->files.anchors[0].path == NULL)
        return TANSU_OK;
    if (db->log != NULL && log_abandoned(db->log))
        return folder_check(db, error);
    uint64_t tick = clock_tick();
    if (__atomic_load_n(&db->folder_checked, __ATOMIC_RELAXED) == tick)
        return TANSU_OK;
    tansu_status status = folder_check(db, error);
    if (status == TANSU_OK)
        __atomic_store_n(&db->folder_checked, tick, __ATOMIC_RELAXED);
    return status;
}
