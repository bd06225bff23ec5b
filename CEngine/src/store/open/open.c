/*
 * store/open/open.c -- opening and closing a database.
 */
#include "store/open/open.h"

#include "log/follow/follow.h"
#include "log/scan.h"
#include "store/background/background.h"
#include "store/checkpoint/checkpoint.h"
#include "store/checkpoint/stored_catalog.h"
#include "store/database_internal.h"
#include "store/declared_indexes.h"
#include "store/files.h"
#include "store/index_backlog/index_backlog.h"
#include "store/memory.h"
#include "store/open/database_folder.h"
#include "store/open/instances.h"
#include "store/recovery/recovery.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/file_size_limit.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* memory_limit -- a number of bytes, or what no process reaches where that has more than the
 * system's bits. */
static size_t memory_limit(uint64_t bytes) {
    return bytes < SIZE_MAX / 4 ? (size_t)bytes : SIZE_MAX / 4;
}

tansu_status database_new(const tansu_options *options, const fs *calls, database **result,
                          tansu_error *error) {
    database *db = calloc(1, sizeof *db);
    if (db == NULL)
        return error_memory(error);
    tansu_status status = fork_stamp_now(&db->opened_in, error);
    if (status != TANSU_OK) {
        free(db);
        return status;
    }
    db->files.anchored = *calls;
    db->files.calls = &db->files.anchored;
    db->close = database_close;
    db->root = db->instances.current = db;
    db->options.store = options->store;
    db->options.concurrent = options->allow_writer != 0;
    db->options.read_only = options->read_only != 0 || db->options.concurrent;
    db->options.follow = options->follow != 0;
    db->options.durability = options->durability == TANSU_DURABILITY_DEFAULT ? TANSU_DURABILITY_FULL
                                                                             : options->durability;
    db->options.interval_ms = options->interval_ms;
    db->options.busy_timeout_ms = options->busy_timeout_ms;
    db->options.checkpoint_bytes = options->checkpoint_bytes;
    db->options.index_cache_bytes = options->index_cache_bytes;
    db->options.sort_memory_bytes = memory_limit(options->sort_memory_bytes);
    db->options.group_memory_bytes = memory_limit(options->group_memory_bytes);
    db->options.transaction_memory_bytes = options->transaction_memory_bytes;
    db->options.max_pinned_bytes = db->options.concurrent ? 0 : options->max_pinned_bytes;
    db->options.compaction_percent = options->compaction_percent;
    db->options.compaction_share = options->compaction_share;
    db->files.lock_fd = db->files.folder_fd = -1;
    db->writer.next_collection = db->writer.next_index = 1;
    /* None of these fails on the systems that we know; all report what little can go wrong. */
    if (pthread_mutex_init(&db->snapshots.mutex, NULL) != 0 ||
        pthread_mutex_init(&db->mutex, NULL) != 0 ||
        pthread_mutex_init(&db->checkpoints.mutex, NULL) != 0 ||
        pthread_mutex_init(&db->manifest.mutex, NULL) != 0 ||
        pthread_mutex_init(&db->eviction.mutex, NULL) != 0 ||
        pthread_mutex_init(&db->commits.mutex, NULL) != 0 ||
        pthread_mutex_init(&db->feeds.mutex, NULL) != 0 ||
        pthread_mutex_init(&db->declared.mutex, NULL) != 0 ||
        clock_condition_init(&db->commits.visible) != 0 ||
        clock_condition_init(&db->changed) != 0 || clock_condition_init(&db->worker.wanted) != 0 ||
        clock_condition_init(&db->compactor.wanted) != 0 ||
        clock_condition_init(&db->expirer.wanted) != 0 ||
        (db->written = segment_usage_new()) == NULL) {
        free(db);
        return error_memory(error);
    }
    *result = db;
    return TANSU_OK;
}

user_key options_key(const tansu_options *options) {
    user_key key = {.bytes = options->key,
                    .size = options->key_size,
                    .kind = options->key_kind,
                    .iterations = options->key_iterations};
    return options->store == TANSU_STORE_MEMORY ? key : user_key_given(key);
}

/* open_database -- database_open(); `error` may be filled in by what turned out to be no error.
 * `shared`: the keys of an instance's root, NULL until they were read; it is NULL for others. */
static tansu_status open_database(const tansu_options *options, const fs *calls,
                                  const query_hooks *hooks, keyring **shared, database **result,
                                  tansu_error *error) {
    tansu_status status = options_check(options, error);
    if (status != TANSU_OK)
        return status;
    database *db = NULL;
    status = database_new(options, calls, &db, error);
    if (status != TANSU_OK)
        return status;
    db->hooks = hooks;
    db->keys_shared = shared != NULL;
    db->keys = shared != NULL ? *shared : NULL;
    const user_key key = options_key(options);
    char *log_folder = NULL, *set_aside = NULL;
    switch (options->store) {
    case TANSU_STORE_MEMORY:
        status = manifest_new(&db->manifest.known, error);
        if (status == TANSU_OK)
            status = folder_new_keys(db, &key, error);
        break;
    case TANSU_STORE_TEMPORARY:
        status = temporary_folder_new(calls, options->path, &db->files.folder, error);
        break;
    default: status = folder_set(db, options->path, error);
    }
    if (status == TANSU_OK && db->options.concurrent)
        status = files_stamp_take(db, error);
    if (status == TANSU_OK && db->files.folder != NULL) {
        status = folder_enter(db, options->must_exist != 0, options->lock_timeout_ms, &key, error);
        if (shared != NULL)
            *shared = db->keys;
        if (status == TANSU_OK &&
            ((log_folder = fs_join(db->files.folder, "log")) == NULL ||
             (set_aside = fs_join(db->files.folder, SET_ASIDE_FOLDER)) == NULL))
            status = error_memory(error);
    }
    if (status == TANSU_OK) {
        log_options log_settings = {.calls = db->files.calls,
                                    .folder = log_folder,
                                    .set_aside_folder = set_aside,
                                    .read_only = db->options.read_only,
                                    .concurrent = db->options.concurrent,
                                    .sparse = db->manifest.known.compacted,
                                    .unguarded = options->read_mode == TANSU_READ_UNGUARDED,
                                    .segment_size = options->segment_size,
                                    .block_cache_bytes = options->block_cache_bytes,
                                    .max_pinned_bytes = options->max_pinned_bytes,
                                    .keys = db->keys};
        memcpy(log_settings.uuid, db->manifest.known.uuid, sizeof log_settings.uuid);
        status = log_open(&log_settings, &db->log, error);
        if (status == TANSU_OK && db->options.concurrent)
            log_follow_begin(db->log);
    }
    free(log_folder);
    free(set_aside);
    if (status == TANSU_OK)
        status = tree_store_new(&db->trees, error);
    if (status == TANSU_OK)
        memory_init(db);
    if (status == TANSU_OK)
        status = db->options.store == TANSU_STORE_MEMORY ? recovery_start_empty(db, error)
                                                         : recovery_run(db, options, error);
    if (db->options.concurrent && db->log != NULL && !log_follow_intact(db->log))
        status = error_set(error, TANSU_E_BUSY, db->files.folder,
                           "The process that writes the database wrote the end of its log again "
                           "while it was opened; try again");
    if (status != TANSU_OK) {
        /* What is wrong may be that the files were not those of one point in time. They are
         * compared once: they may be as before again a moment later. */
        tansu_error changed;
        if (db->options.concurrent && db->files.folder != NULL &&
            files_stamp_check(db, &changed) == TANSU_E_BUSY) {
            status = TANSU_E_BUSY;
            if (error != NULL)
                *error = changed;
        }
        db->discard = true;
        database_close(db, NULL);
        return status;
    }
    db->feeds.floor = log_compacted_to(db->log);
    *result = db;
    return TANSU_OK;
}

/* How long, at least, an opening while another process writes is tried, and how often when the
 * files stay the same: what is missing then is missing. */
#define CONCURRENT_MS 10000u
#define CONCURRENT_UNCHANGED 8

/* Nanoseconds between two attempts. */
#define CONCURRENT_PAUSE_LEAST ((uint64_t)1000000)
#define CONCURRENT_PAUSE_MOST ((uint64_t)32000000)

/* open_concurrent -- open_database() while another process writes: as often as what was read were
 * not the files of one point in time. */
tansu_status open_concurrent(const tansu_options *options, const fs *calls,
                             const query_hooks *hooks, keyring **keys, database **result,
                             tansu_error *error) {
    clock_time until = clock_in((uint64_t)CONCURRENT_MS + options->lock_timeout_ms);
    int unchanged = 0;
    for (uint64_t pause = CONCURRENT_PAUSE_LEAST;;
         pause = pause < CONCURRENT_PAUSE_MOST ? pause * 2 : pause) {
        tansu_status status = open_database(options, calls, hooks, keys, result, error);
        if (status != TANSU_E_BUSY && status != TANSU_E_CORRUPT && status != TANSU_E_IO)
            return status;
        if ((status != TANSU_E_BUSY && ++unchanged == CONCURRENT_UNCHANGED) || clock_now() >= until)
            return status;
        clock_sleep(pause);
    }
}

tansu_status database_open(const tansu_options *options, const fs *calls, const query_hooks *hooks,
                           database **result, tansu_error *error) {
    tansu_error own;
    limit_guard guard;
    fs plain = *calls; /* those of a database are anchored to its folder */
    memset(plain.anchors, 0, sizeof plain.anchors);
    limit_enter(&guard);
    tansu_status status = options->allow_writer
                              ? instances_open(options, &plain, hooks, result, &own)
                              : open_database(options, &plain, hooks, NULL, result, &own);
    limit_leave(&guard);
    if (status != TANSU_OK && error != NULL)
        *error = own;
    return status;
}

tansu_status database_close(database *db, tansu_error *error) {
    if (db->instances.all != NULL) {
        instances_end(db);
        return TANSU_OK;
    }
    tansu_status status = TANSU_OK;
    limit_guard guard;
    limit_enter(&guard);
    expirer_stop(db);
    if (!db->discard && !db->options.read_only && db->options.store == TANSU_STORE_PERSISTENT)
        compactor_finish(db);
    compactor_stop(db);
    worker_stop(db);
    compactor_join(db);
    tansu_error lost;
    tansu_status moved = db->discard || db->options.read_only ? TANSU_OK : folder_check(db, &lost);
    if (moved != TANSU_OK)
        db->discard = true;
    bool writable =
        !db->discard && !db->options.read_only && db->options.store == TANSU_STORE_PERSISTENT;
    if (writable) {
        /* Every step is tried; the first error is the one that is reported. */
        status = log_sync(db->log, db->snapshots.head->sequence, error);
        bool synced = status == TANSU_OK;
        if (synced) {
            snapshot_make_visible(db, db->snapshots.head->sequence);
            if (!index_files_damaged(db))
                status = checkpoint_write(db, error);
            if (status == TANSU_E_CORRUPT && index_files_damaged(db)) /* it found that out itself */
                status = TANSU_OK;
        }
        bool marked = db->bs != NULL; /* the MANIFEST will say how far the log goes */
        if (status == TANSU_OK)
            status = checkpoint_close(db, error);
        if (status == TANSU_OK && marked)
            log_clear_marks(db->log);
    }
    if (moved != TANSU_OK && log_abandoned(db->log))
        block_store_abandon(db->bs);
    else
        block_store_close(db->bs, NULL);
    db->bs = NULL;
    if (db->snapshots.oldest != NULL)
        snapshot_free_all(db);
    index_backlogs_free(db);
    write_txn_discard(db->writer.spare);
    free(db->writer.shapes);
    if (db->trees != NULL)
        tree_store_free(db->trees);
    tansu_error later;
    tansu_status closed = log_close(db->log, &later);
    if (status == TANSU_OK && closed != TANSU_OK && !db->discard && error != NULL)
        *error = later;
    if (status == TANSU_OK)
        status = closed;
    if (db->options.store == TANSU_STORE_TEMPORARY && db->files.folder != NULL && moved == TANSU_OK)
        temporary_folder_remove(db->files.calls, db->files.folder);
    folder_leave(db);
    if (moved != TANSU_OK) {
        status = moved;
        if (error != NULL)
            *error = lost;
    }
    free(db->dropped.items);
    stored_catalog_free(db);
    free(db->checkpoints.segments);
    segment_usage_free(db->written);
    pthread_cond_destroy(&db->expirer.wanted);
    pthread_cond_destroy(&db->compactor.wanted);
    pthread_cond_destroy(&db->worker.wanted);
    pthread_cond_destroy(&db->changed);
    pthread_cond_destroy(&db->commits.visible);
    declared_indexes_free(&db->declared);
    pthread_mutex_destroy(&db->declared.mutex);
    pthread_mutex_destroy(&db->feeds.mutex);
    pthread_mutex_destroy(&db->commits.mutex);
    pthread_mutex_destroy(&db->eviction.mutex);
    pthread_mutex_destroy(&db->manifest.mutex);
    pthread_mutex_destroy(&db->checkpoints.mutex);
    pthread_mutex_destroy(&db->mutex);
    pthread_mutex_destroy(&db->snapshots.mutex);
    free(db->files.folder);
    if (!db->keys_shared)
        keyring_free(db->keys);
    if (db->handle != NULL)
        db->free_handle(db->handle);
    free(db);
    limit_leave(&guard);
    return status;
}

/* ---- The options of a database: their defaults and their limits ---- */

/* The options of the first version of the library ended before this field. */
#define OPTIONS_LEAST offsetof(tansu_options, compaction_percent)

#define SEGMENT_LEAST ((uint64_t)1024 * 1024)
#define SEGMENT_MOST ((uint64_t)1024 * 1024 * 1024)
#define QUERY_MEMORY_MOST ((uint64_t)1 << 40)

void options_set_defaults(tansu_options *options) {
    *options = (tansu_options){.struct_size = sizeof *options,
                               .store = TANSU_STORE_PERSISTENT,
                               .durability = TANSU_DURABILITY_FULL,
                               .interval_ms = 100,
                               .busy_timeout_ms = 60000,
                               .segment_size = (uint64_t)64 << 20,
                               .checkpoint_bytes = (uint64_t)64 << 20,
                               .index_cache_bytes = (uint64_t)64 << 20,
                               .sort_memory_bytes = (uint64_t)100 << 20,
                               .group_memory_bytes = (uint64_t)256 << 20,
                               .compaction_percent = 50,
                               .compaction_share = 25,
                               .block_cache_bytes = (uint64_t)32 << 20};
}

tansu_status options_complete(const tansu_options *given, tansu_options *whole,
                              tansu_error *error) {
    options_set_defaults(whole);
    if (given->struct_size < OPTIONS_LEAST)
        return error_set(error, TANSU_E_INVALID_ARGUMENT, "options",
                         "The options were not initialized; call tansu_options_init() first");
    if (given->struct_size > sizeof *whole)
        return error_set(error, TANSU_E_INVALID_ARGUMENT, "options",
                         "The options are of a newer header than this library; update the library");
    memcpy(whole, given, given->struct_size);
    whole->struct_size = sizeof *whole;
    return TANSU_OK;
}

tansu_status options_check(const tansu_options *o, tansu_error *error) {
    const char *wrong = NULL;
    if ((unsigned)o->store > TANSU_STORE_MEMORY)
        wrong = "The option \"store\" is invalid; use a value of tansu_store";
    else if ((unsigned)o->durability > TANSU_DURABILITY_INTERVAL)
        wrong = "The option \"durability\" is invalid; use a value of tansu_durability";
    else if (o->store == TANSU_STORE_PERSISTENT && (o->path == NULL || o->path[0] == 0))
        wrong =
            "The option \"path\" is empty; name the database's folder, or choose a memory store";
    else if (o->follow && !o->allow_writer)
        wrong = "The option \"follow\" is for databases that are opened with \"allow_writer\"";
    else if ((o->read_only || o->allow_writer) && o->store != TANSU_STORE_PERSISTENT)
        wrong = "Only a persistent store can be opened read-only";
    else if (o->segment_size < SEGMENT_LEAST || o->segment_size > SEGMENT_MOST)
        wrong = "The option \"segment_size\" must be from 1 MiB to 1 GiB";
    else if (o->durability == TANSU_DURABILITY_INTERVAL && o->interval_ms == 0)
        wrong = "The option \"interval_ms\" must be at least 1";
    else if ((unsigned)o->read_mode > TANSU_READ_UNGUARDED)
        wrong = "The option \"read_mode\" is invalid; use a value of tansu_read_mode";
    else if (o->compaction_percent > 100)
        wrong = "The option \"compaction_percent\" must be from 0 to 100";
    else if (o->compaction_share == 0 || o->compaction_share > 100)
        wrong = "The option \"compaction_share\" must be from 1 to 100";
    else if (o->sort_memory_bytes < TANSU_MIN_QUERY_MEMORY ||
             o->sort_memory_bytes > QUERY_MEMORY_MOST)
        wrong = "The option \"sort_memory_bytes\" must be from 64 KiB to 1 TiB";
    else if (o->group_memory_bytes < TANSU_MIN_QUERY_MEMORY ||
             o->group_memory_bytes > QUERY_MEMORY_MOST)
        wrong = "The option \"group_memory_bytes\" must be from 64 KiB to 1 TiB";
    else if (o->key_iterations != 0 && o->key == NULL)
        wrong = "The option \"key_iterations\" is for a passphrase; give one as \"key\"";
    if (wrong != NULL)
        return error_set(error, TANSU_E_INVALID_ARGUMENT, "options", "%s", wrong);
    const user_key key = options_key(o);
    return user_key_check(&key, error);
}
