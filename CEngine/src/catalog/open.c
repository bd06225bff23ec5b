/*
 * catalog/open.c -- opening and closing a database.
 */
#include "base/buffer.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/size_limit.h"
#include "catalog/change.h"
#include "catalog/collection.h"
#include "catalog/compact.h"
#include "catalog/manifest.h"
#include "catalog/memory.h"
#include "log/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* What opening took out of the log and may hold commits. */
#define ASIDE_FOLDER "set-aside"
#define SEGMENT_LEAST ((uint64_t)1024 * 1024)
#define SEGMENT_MOST ((uint64_t)1024 * 1024 * 1024)

/* database_new -- the struct with its mutexes, settings taken over. */
static tansu_status database_new(const tansu_options *options, const fs *calls, database **result,
                                 tansu_error *error) {
    database *db = calloc(1, sizeof *db);
    if (db == NULL)
        return error_memory(error);
    db->calls = calls;
    db->store = options->store;
    db->read_only = options->read_only != 0;
    db->durability = options->durability == TANSU_DURABILITY_DEFAULT ? TANSU_DURABILITY_FULL
                                                                     : options->durability;
    db->interval_ms = options->interval_ms;
    db->busy_timeout_ms = options->busy_timeout_ms;
    db->checkpoint_bytes = options->checkpoint_bytes;
    db->index_cache_bytes = options->index_cache_bytes;
    db->compaction_percent = options->compaction_percent;
    db->compaction_share = options->compaction_share;
    db->lock_fd = db->folder_fd = -1;
    db->next_collection = db->next_index = 1;
    /* None of these fails on the systems that we know; all report what little can go wrong. */
    if (pthread_mutex_init(&db->version_mutex, NULL) != 0 ||
        pthread_mutex_init(&db->state_mutex, NULL) != 0 ||
        pthread_mutex_init(&db->checkpoint_mutex, NULL) != 0 ||
        pthread_mutex_init(&db->evict_mutex, NULL) != 0 ||
        pthread_mutex_init(&db->feed_mutex, NULL) != 0 ||
        clock_condition_init(&db->feed_changed) != 0 ||
        clock_condition_init(&db->state_changed) != 0 ||
        clock_condition_init(&db->worker_wanted) != 0 ||
        clock_condition_init(&db->compactor_wanted) != 0 ||
        (db->written = usage_new()) == NULL) {
        free(db);
        return error_memory(error);
    }
    *result = db;
    return TANSU_OK;
}

/* check_options -- refuses settings that make no sense. */
static tansu_status check_options(const tansu_options *o, tansu_error *error) {
    const char *wrong = NULL;
    if (o->struct_size < sizeof(tansu_options))
        wrong = "the options were not filled in by tansu_options_init()";
    else if ((unsigned)o->store > TANSU_STORE_MEMORY)
        wrong = "options.store is not a tansu_store";
    else if ((unsigned)o->durability > TANSU_DURABILITY_INTERVAL)
        wrong = "options.durability is not a tansu_durability";
    else if (o->store == TANSU_STORE_PERSISTENT && (o->path == NULL || o->path[0] == 0))
        wrong = "options.path is empty: name the database's folder, or ask for a memory store";
    else if (o->read_only && o->store != TANSU_STORE_PERSISTENT)
        wrong = "only a persistent store can be opened read-only";
    else if (o->segment_size < SEGMENT_LEAST || o->segment_size > SEGMENT_MOST)
        wrong = "options.segment_size must be from 1 MiB to 1 GiB";
    else if (o->durability == TANSU_DURABILITY_INTERVAL && o->interval_ms == 0)
        wrong = "options.interval_ms must be at least 1";
    else if ((unsigned)o->read_mode > TANSU_READ_UNGUARDED)
        wrong = "options.read_mode is not a tansu_read_mode";
    else if (o->compaction_percent > 100)
        wrong = "options.compaction_percent must be from 0 to 100";
    else if (o->compaction_share == 0 || o->compaction_share > 100)
        wrong = "options.compaction_share must be from 1 to 100";
    return wrong == NULL ? TANSU_OK : error_set(error, TANSU_E_MISUSE, "options", "%s", wrong);
}

/* What the folder of a database-to-be holds. */
typedef struct folder_content {
    bool manifest;
    bool foreign; /* something that is not of a database */
    bool log;
} folder_content;

/* note_content -- sees one name of the folder. */
static bool note_content(void *context, const char *name) {
    folder_content *content = context;
    if (strcmp(name, "MANIFEST") == 0)
        content->manifest = true;
    else if (strcmp(name, "log") == 0)
        content->log = true;
    else if (strcmp(name, "LOCK") != 0 && strcmp(name, "index") != 0 &&
             strcmp(name, "MANIFEST.new") != 0 && strcmp(name, ASIDE_FOLDER) != 0)
        content->foreign = true;
    return true;
}

/* note_any -- sees that a folder is not empty. */
static bool note_any(void *context, const char *name) {
    (void)name;
    *(bool *)context = true;
    return false;
}

/* make_folder -- a folder that may be there already. */
static tansu_status make_folder(database *db, const char *name, tansu_error *error) {
    char *path = name == NULL ? strdup(db->folder) : fs_join(db->folder, name);
    if (path == NULL)
        return error_memory(error);
    tansu_status status = TANSU_OK;
    if (db->calls->mkdir(path, 0755) != 0 && errno != EEXIST)
        status = error_errno(error, path, "make the folder", errno);
    free(path);
    return status;
}

/* open_lock -- the LOCK file's descriptor, or -1. On a read-only file system the database becomes a
 * read-only one. */
static int open_lock(database *db, const char *path) {
    if (!db->read_only) {
        int fd = db->calls->open(path, O_RDWR | O_CREAT, 0644);
        if (fd >= 0 || errno != EROFS)
            return fd;
        db->read_only = true;
    }
    int fd = db->calls->open(path, O_RDONLY, 0);
    if (fd >= 0 || errno != ENOENT)
        return fd;
    return db->calls->open(path, O_RDWR | O_CREAT, 0644); /* a copy that was made without it */
}

/* lock_error -- what a lock that could not be had means. */
static tansu_status lock_error(const char *path, int number, tansu_error *error) {
    return number == EWOULDBLOCK
               ? error_set(error, TANSU_E_LOCKED, path,
                           "the database is open already, in this process or another: close it "
                           "there first")
               : error_errno(error, path, "lock", number);
}

/* lock_folder -- holds the folder itself as well, for the LOCK file may be deleted while it is held, and a new
 * one is nobody's. File systems that can't lock folders have the file alone. */
static tansu_status lock_folder(database *db, tansu_error *error) {
    static const int unable[] = {EBADF,  EINVAL, EISDIR,  EACCES,
                                 ENOLCK, ENOSYS, ENOTSUP, EOPNOTSUPP};
    db->folder_fd = db->calls->open(db->folder, O_RDONLY | O_DIRECTORY, 0);
    if (db->folder_fd >= 0 && db->calls->lock(db->folder_fd, !db->read_only) == 0)
        return TANSU_OK;
    int number = errno;
    for (size_t i = 0; i < sizeof unable / sizeof unable[0]; i++)
        if (number == unable[i])
            return TANSU_OK;
    return lock_error(db->folder, number, error);
}

/* take_lock -- holds the LOCK file and the folder until closing. */
static tansu_status take_lock(database *db, tansu_error *error) {
    char *path = fs_join(db->folder, "LOCK");
    if (path == NULL)
        return error_memory(error);
    tansu_status status = TANSU_OK;
    db->lock_fd = open_lock(db, path);
    if (db->lock_fd < 0 && errno == EROFS)
        status = TANSU_OK; /* nobody can write there */
    else if (db->lock_fd < 0)
        status = error_errno(error, path, "open", errno);
    else if (db->calls->lock(db->lock_fd, !db->read_only) != 0)
        status = lock_error(path, errno, error);
    if (status == TANSU_OK)
        status = lock_folder(db, error);
    free(path);
    return status;
}

/* create_files -- what an empty database consists of; the MANIFEST last, for it makes the others count. */
static tansu_status create_files(database *db, tansu_error *error) {
    tansu_status status = make_folder(db, "log", error);
    if (status == TANSU_OK)
        status = make_folder(db, "index", error);
    if (status == TANSU_OK)
        status = manifest_new(&db->manifest, error);
    if (status == TANSU_OK && db->calls->sync_folder(db->folder) != 0)
        status = error_errno(error, db->folder, "sync", errno);
    if (status == TANSU_OK)
        status = manifest_write(db->calls, db->folder, &db->manifest, error);
    /* A folder whose own name is lost takes every commit in it along. */
    if (status == TANSU_OK)
        status = fs_sync_parent(db->calls, db->folder, error);
    return status;
}

/* enter_folder -- makes or checks the folder, takes the lock and reads the MANIFEST. */
static tansu_status enter_folder(database *db, bool must_exist, tansu_error *error) {
    folder_content content = {0};
    tansu_status status = TANSU_OK;
    bool create = !must_exist && !db->read_only;
    if (db->calls->list(db->folder, note_content, &content) != 0) {
        if (errno == ENOTDIR)
            return error_set(error, TANSU_E_EXISTS, db->folder,
                             "the path is a file, and a database is a folder: choose another path");
        if (errno != ENOENT)
            return error_errno(error, db->folder, "list", errno);
        if (create)
            status = make_folder(db, NULL, error);
    }
    if (status != TANSU_OK)
        return status;
    if (!content.manifest && content.foreign)
        return error_set(error, TANSU_E_EXISTS, db->folder,
                         "the folder holds other things than a database: choose another path");
    if (!content.manifest && content.log) {
        char *path = fs_join(db->folder, "log");
        bool used = false;
        if (path == NULL)
            return error_memory(error);
        int listed = db->calls->list(path, note_any, &used);
        free(path);
        if (listed == 0 && used)
            return error_set(error, TANSU_E_CORRUPT, db->folder,
                             "the folder has a log but no MANIFEST: restore a backup or salvage "
                             "what is readable");
    }
    if (!content.manifest && !create)
        return error_set(error, TANSU_E_NOT_FOUND, db->folder, "there is no database at this path");
    status = take_lock(db, error);
    if (status != TANSU_OK)
        return status;
    /* Another process may have made the database between the look and the lock. */
    status = manifest_read(db->calls, db->folder, &db->manifest, error);
    if (status == TANSU_E_NOT_FOUND && db->read_only)
        return error_set(error, TANSU_E_READ_ONLY, db->folder,
                         "there is no database at this path, and none can be made on a read-only "
                         "file system");
    if (status == TANSU_E_NOT_FOUND)
        status = create_files(db, error);
    return status;
}

/* temporary_folder -- a new folder in the path given or the system's place. */
static tansu_status temporary_folder(database *db, const char *where, tansu_error *error) {
    if (where == NULL || where[0] == 0)
        where = getenv("TMPDIR");
    if (where == NULL || where[0] == 0)
        where = "/tmp";
    db->folder = fs_join(where, "tansu-XXXXXX");
    if (db->folder == NULL)
        return error_memory(error);
    if (mkdtemp(db->folder) == NULL) {
        tansu_status status = error_errno(error, db->folder, "make the folder", errno);
        free(db->folder);
        db->folder = NULL;
        return status;
    }
    return TANSU_OK;
}

/* start_empty -- the version before any commit. */
static tansu_status start_empty(database *db, tansu_error *error) {
    version *v = version_new(0);
    if (v == NULL)
        return error_memory(error);
    db->oldest = db->visible = db->head = v;
    return TANSU_OK;
}

/* check_witnessed -- the log holds what the index files, which were made anew, had seen in it; now all of that
 * is forced to the disk, for the MANIFEST says so since checkpoint_discard(). */
static tansu_status check_witnessed(database *db, tansu_error *error) {
    uint64_t seen = db->log->witnessed;
    if (db->head->sequence < seen)
        return error_at(error, TANSU_E_CORRUPT, "log", 0,
                        "the log ends with commit %llu and had gone on to commit %llu: restore a "
                        "backup or salvage what is readable",
                        (unsigned long long)db->head->sequence, (unsigned long long)seen);
    if (db->read_only || seen <= db->manifest.end_sequence)
        return TANSU_OK;
    tansu_status status = log_sync(db->log, db->head->sequence, error);
    if (status == TANSU_OK)
        db->manifest.end_sequence = seen;
    return status;
}

/* recover -- the newest version out of the cabinet and the log's tail. */
static tansu_status recover(database *db, const tansu_options *options, tansu_error *error) {
    version *stored = NULL;
    tansu_status status = checkpoint_load(db, &stored, error);
    bool reached = true;
    if (status == TANSU_OK && stored != NULL) {
        db->oldest = db->visible = db->head = stored;
        status = log_arrange(db->log, db->named, db->named_count, error);
        if (status == TANSU_OK)
            status = change_replay(db, options->progress, options->progress_context, false,
                                   &reached, error);
        else if (status == TANSU_E_CORRUPT)
            return status;
        if (status == TANSU_OK && reached) {
            log_drop_aside(db->log);
            return TANSU_OK;
        }
        /* An index that is ahead of the log, or holds blocks that do not check out, is made again;
         * damage to the log itself shows once more then. */
        database_versions_free(db);
        snprintf(db->rebuilt, sizeof db->rebuilt, "they did not fit the log");
        if (status == TANSU_OK || status == TANSU_E_CORRUPT || status == TANSU_E_NOT_FOUND)
            status = checkpoint_discard(db, error);
    }
    if (status == TANSU_OK)
        status = log_arrange(db->log, NULL, 0, error);
    if (status == TANSU_OK)
        status = start_empty(db, error);
    if (status == TANSU_OK)
        status =
            change_replay(db, options->progress, options->progress_context, true, &reached, error);
    if (status == TANSU_OK)
        status = check_witnessed(db, error);
    if (status == TANSU_OK && db->head->sequence == 0)
        db->rebuilt[0] = 0; /* there was nothing to make */
    if (status == TANSU_OK)
        log_drop_aside(db->log);
    return status;
}

/* open_database -- database_open(); `error` may be filled in by what turned out to be no error. */
static tansu_status open_database(const tansu_options *options, const fs *calls,
                                  const index_filter_calls *filters, database **result,
                                  tansu_error *error) {
    tansu_status status = check_options(options, error);
    if (status != TANSU_OK)
        return status;
    database *db = NULL;
    status = database_new(options, calls, &db, error);
    if (status != TANSU_OK)
        return status;
    db->filters = filters;
    char *log_folder = NULL, *aside = NULL;
    switch (options->store) {
    case TANSU_STORE_MEMORY: status = manifest_new(&db->manifest, error); break;
    case TANSU_STORE_TEMPORARY: status = temporary_folder(db, options->path, error); break;
    default:
        db->folder = strdup(options->path);
        if (db->folder == NULL)
            status = error_memory(error);
    }
    if (status == TANSU_OK && db->folder != NULL) {
        status = enter_folder(db, options->must_exist != 0, error);
        if (status == TANSU_OK && ((log_folder = fs_join(db->folder, "log")) == NULL ||
                                   (aside = fs_join(db->folder, ASIDE_FOLDER)) == NULL))
            status = error_memory(error);
    }
    if (status == TANSU_OK) {
        log_options log_settings = {.calls = calls,
                                    .folder = log_folder,
                                    .aside = aside,
                                    .read_only = db->read_only,
                                    .sparse = db->manifest.compacted,
                                    .unguarded = options->read_mode == TANSU_READ_UNGUARDED,
                                    .segment_size = options->segment_size};
        memcpy(log_settings.uuid, db->manifest.uuid, sizeof log_settings.uuid);
        status = log_open(&log_settings, &db->log, error);
    }
    free(log_folder);
    free(aside);
    if (status == TANSU_OK)
        status = tree_store_new(&db->trees, error);
    if (status == TANSU_OK)
        memory_init(db);
    if (status == TANSU_OK)
        status =
            db->store == TANSU_STORE_MEMORY ? start_empty(db, error) : recover(db, options, error);
    if (status != TANSU_OK) {
        db->abandoned = true;
        database_close(db, NULL);
        return status;
    }
    /* A backup that an earlier version wrote, of a database in which a compaction had been cancelled. All of it is
     * there, whether that can be written down now or at a later opening. */
    if (!db->read_only && !db->manifest.compacted && log_gapped(db->log))
        (void)compact_mark(db, NULL);
    db->feed_floor = log_thinned(db->log);
    *result = db;
    return TANSU_OK;
}

tansu_status database_open(const tansu_options *options, const fs *calls,
                           const index_filter_calls *filters, database **result,
                           tansu_error *error) {
    tansu_error own;
    limit_guard guard;
    limit_enter(&guard);
    tansu_status status = open_database(options, calls, filters, result, &own);
    limit_leave(&guard);
    if (status != TANSU_OK && error != NULL)
        *error = own;
    return status;
}

tansu_status database_close(database *db, tansu_error *error) {
    tansu_status status = TANSU_OK;
    limit_guard guard;
    limit_enter(&guard);
    compactor_halt(db);
    worker_stop(db);
    compactor_join(db);
    bool writable = !db->abandoned && !db->read_only && db->store == TANSU_STORE_PERSISTENT;
    if (writable) {
        /* Every step is tried; the first error is the one that is told. */
        status = log_sync(db->log, db->head->sequence, error);
        bool synced = status == TANSU_OK;
        if (synced) {
            database_show(db, db->head->sequence);
            if (!checkpoint_doubted(db))
                status = checkpoint_write(db, error);
            if (status == TANSU_E_CORRUPT && checkpoint_doubted(db)) /* it found that out itself */
                status = TANSU_OK;
        }
        if (status == TANSU_OK)
            status = checkpoint_settle(db, error);
        if (status == TANSU_OK)
            log_forget_marks(db->log);
    }
    cabinet_close(db->cab, NULL);
    db->cab = NULL;
    if (db->oldest != NULL)
        database_versions_free(db);
    change_discard(db->spare);
    if (db->trees != NULL)
        tree_store_free(db->trees);
    tansu_error later;
    tansu_status closed = log_close(db->log, &later);
    if (status == TANSU_OK && closed != TANSU_OK && !db->abandoned && error != NULL)
        *error = later;
    if (status == TANSU_OK)
        status = closed;
    if (db->store == TANSU_STORE_TEMPORARY && db->folder != NULL)
        fs_remove_all(db->calls, db->folder);
    if (db->folder_fd >= 0)
        db->calls->unlock(db->folder_fd);
    if (db->lock_fd >= 0)
        db->calls->unlock(db->lock_fd);
    free(db->dropped);
    free(db->named);
    usage_free(db->written);
    pthread_cond_destroy(&db->compactor_wanted);
    pthread_cond_destroy(&db->worker_wanted);
    pthread_cond_destroy(&db->state_changed);
    pthread_cond_destroy(&db->feed_changed);
    pthread_mutex_destroy(&db->feed_mutex);
    pthread_mutex_destroy(&db->evict_mutex);
    pthread_mutex_destroy(&db->checkpoint_mutex);
    pthread_mutex_destroy(&db->state_mutex);
    pthread_mutex_destroy(&db->version_mutex);
    free(db->folder);
    free(db);
    limit_leave(&guard);
    return status;
}
