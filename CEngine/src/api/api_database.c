/*
 * api/api_database.c -- opening, closing, syncing and checkpoints.
 */
#include "api/handles.h"
#include "api/session.h"
#include "compact/compact.h"
#include "feed/feed.h"
#include "query/plan/partial_filter.h"
#include "store/background/background.h"
#include "store/checkpoint/checkpoint.h"
#include "store/files.h"
#include "store/handle.h"
#include "store/open/instances.h"
#include "store/open/open.h"
#include "store/write_lock.h"
#include "util/buffer.h"
#include "util/error.h"

void tansu_options_init(tansu_options *options) {
    if (options != NULL)
        options_set_defaults(options);
}

tansu_status tansu_open(const tansu_options *options, tansu_db **db, tansu_error *error) {
    if (options == NULL || db == NULL)
        return null_argument(db == NULL ? "db" : "options", error);
    *db = NULL;
    tansu_options whole;
    tansu_status status = options_complete(options, &whole, error);
    if (status == TANSU_OK)
        status = handle_open(&whole, &fs_system, &query_filters, db, error);
    if (status == TANSU_OK)
        compact_enable(db_inner(*db));
    return status;
}

tansu_status tansu_open_path(const char *path, tansu_db **db, tansu_error *error) {
    tansu_options options;
    tansu_options_init(&options);
    options.path = path;
    options.store = path == NULL ? TANSU_STORE_MEMORY : TANSU_STORE_PERSISTENT;
    return tansu_open(&options, db, error);
}

tansu_status tansu_shutdown(tansu_db *db, tansu_error *error) {
    if (db == NULL || handle_inherited(db_inner(db)))
        return TANSU_OK;
    database *d = db_inner(db);
    pthread_mutex_lock(&d->mutex);
    uint64_t handles = d->instances.all == NULL ? d->handles.count : instances_handles(d);
    if (handles == 0)
        __atomic_store_n(&d->handles.closing, true, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&d->mutex);
    if (handles != 0)
        return error_set(error, TANSU_E_BUSY, d->files.folder,
                         "%llu transactions, cursors or feeds are open; end them first",
                         (unsigned long long)handles);
    if (d->instances.all == NULL)
        return database_close(d, error);
    instances_close(d);
    return TANSU_OK;
}

void tansu_close(tansu_db *db) {
    if (db == NULL || handle_inherited(db_inner(db)))
        return;
    database *d = db_inner(db);
    pthread_mutex_lock(&d->mutex);
    d->handles.count++; /* so that the last handle of others does not free the database meanwhile */
    __atomic_store_n(&d->handles.closing, true, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&d->mutex);
    session_end_all(db);
    commit_wait_wake(d);
    if (d->instances.all != NULL)
        instances_close(d);
    handle_release(d);
}

tansu_status tansu_refresh(tansu_db *db, int *changed, uint64_t *sequence, tansu_error *error) {
    if (db == NULL)
        return null_argument("db", error);
    bool newer = false;
    tansu_status status = instances_refresh(db_inner(db), &newer, sequence, error);
    if (changed != NULL)
        *changed = newer;
    return status;
}

tansu_status tansu_sync(tansu_db *db, tansu_error *error) {
    if (db == NULL)
        return null_argument("db", error);
    database *d = db_inner(db);
    tansu_status status = handle_check_process(d, error);
    if (status != TANSU_OK || d->options.read_only)
        return status;
    status = folder_check(d, error);
    if (status != TANSU_OK)
        return status;
    snapshot *v = snapshot_acquire_head(d);
    uint64_t sequence = v->sequence;
    snapshot_release(d, v);
    if (log_failed(d->log))
        return error_set(error, TANSU_E_SYNC_FAILED, d->files.folder,
                         "An earlier sync failed; close the database and open it again");
    status = log_sync(d->log, sequence, error);
    /* Those who made these commits may not have got as far. */
    if (status == TANSU_OK)
        snapshot_make_visible(d, sequence);
    return status;
}

tansu_status tansu_checkpoint(tansu_db *db, tansu_error *error) {
    if (db == NULL)
        return null_argument("db", error);
    tansu_status status = handle_check_process(db_inner(db), error);
    if (status == TANSU_OK)
        status = checkpoint_write(db_inner(db), error);
    if (status == TANSU_OK)
        compactor_request(db_inner(db));
    return status;
}
