/*
 * store/folder_check.c -- looking whether the folder of a database was moved.
 */
#include "store/folder_check.h"

#include "store/database_internal.h"
#include "util/clock.h"
#include "util/error.h"

tansu_status folder_check(const database *db, tansu_error *error) {
    const char *lost = fs_lost_anchor(db->calls);
    if (lost == NULL)
        return TANSU_OK;
    return error_set(
        error, TANSU_E_MOVED, lost,
        "The folder \"%s\" was moved, removed or replaced while the database was open; "
        "close the database and open it where it is now",
        lost);
}

tansu_status folder_check_often(database *db, tansu_error *error) {
    if (db->files.anchors[0].path == NULL)
        return TANSU_OK;
    uint64_t tick = clock_tick();
    if (__atomic_load_n(&db->folder_checked, __ATOMIC_RELAXED) == tick)
        return TANSU_OK;
    tansu_status status = folder_check(db, error);
    if (status == TANSU_OK)
        __atomic_store_n(&db->folder_checked, tick, __ATOMIC_RELAXED);
    return status;
}
