/*
 * catalog/repair.c -- salvaging a damaged database: the folders and the course.
 */
#include "catalog/repair.h"

#include "base/error.h"
#include "catalog/repair_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

/* Names that are tried for the folder in which the new database is made. */
#define FOLDERS_TRIED 100

tansu_status repair_tell(repair *r, uint64_t work, tansu_error *error) {
    r->done += work;
    if (r->done > r->total)
        r->done = r->total;
    if (r->progress != NULL && !r->progress(r->context, r->done, r->total))
        return error_set(error, TANSU_E_CANCELLED, r->from,
                         "The repair was cancelled; nothing of it is left.");
    return TANSU_OK;
}

/* ---- Folders ---- */

/* A folder whose content is being deleted. */
typedef struct removal {
    const fs *calls;
    const char *folder;
} removal;

/* remove_name -- deletes one file, or a folder with what is in it. */
static bool remove_name(void *context, const char *name) {
    const removal *r = context;
    char *path = fs_join(r->folder, name);
    if (path != NULL && r->calls->unlink(path) != 0) {
        removal inner = {r->calls, path};
        r->calls->list(path, remove_name, &inner);
        r->calls->rmdir(path);
    }
    free(path);
    return true;
}

/* remove_folder -- deletes what was made of the new database. */
static void remove_folder(const fs *calls, const char *folder) {
    removal r = {calls, folder};
    calls->list(folder, remove_name, &r);
    calls->rmdir(folder);
}

/* parent_of -- the folder that a path is in, in new memory. */
static char *parent_of(const char *path) {
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        return strdup(".");
    return slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
}

/* note_nothing -- for listings that only ask whether there is a folder. */
static bool note_nothing(void *context, const char *name) {
    (void)context;
    (void)name;
    return false;
}

/* check_absent -- nothing is at the target yet. Errors: EXISTS, IO, MEMORY. */
static tansu_status check_absent(const fs *calls, const char *to, tansu_error *error) {
    if (calls->list(to, note_nothing, NULL) != 0) {
        if (errno == ENOENT)
            return TANSU_OK;
        if (errno == ENOMEM)
            return error_memory(error);
        if (errno != ENOTDIR)
            return error_errno(error, to, "look at", errno);
    }
    return error_set(error, TANSU_E_EXISTS, to,
                     "there is something at '%s' already: choose a path where nothing is", to);
}

/* make_folder -- a folder beside `to` that gets its name in the end; its path in new memory. */
static tansu_status make_folder(const fs *calls, const char *to, char **folder,
                                tansu_error *error) {
    size_t size = strlen(to) + 32;
    char *path = malloc(size);
    if (path == NULL)
        return error_memory(error);
    for (int i = 0; i < FOLDERS_TRIED; i++) {
        snprintf(path, size, "%s.repair-%d", to, i);
        if (calls->mkdir(path, 0755) == 0) {
            *folder = path;
            return TANSU_OK;
        }
        if (errno != EEXIST)
            break;
    }
    tansu_status status = error_errno(error, path, "make the folder", errno);
    free(path);
    return status;
}

/* lock_source -- keeps others from opening the damaged database. Without a LOCK file nobody has it. */
static tansu_status lock_source(const repair *r, int *fd, tansu_error *error) {
    char *path = fs_join(r->from, "LOCK");
    if (path == NULL)
        return error_memory(error);
    tansu_status status = TANSU_OK;
    *fd = r->calls->open(path, O_RDONLY, 0);
    if (*fd < 0 && errno != ENOENT && errno != ENOTDIR)
        status = error_errno(error, path, "open", errno);
    else if (*fd >= 0 && r->calls->lock(*fd, true) != 0)
        status = errno == EWOULDBLOCK
                     ? error_set(error, TANSU_E_LOCKED, path,
                                 "the database is open, in this process or another: close it first")
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
    options.durability = TANSU_DURABILITY_PROCESS; /* closing forces it to the disk */
    return database_open(&options, r->calls, r->filters, &r->db, error);
}

/* give_name -- the finished database gets its place. */
static tansu_status give_name(const repair *r, const char *folder, const char *to,
                              tansu_error *error) {
    char *parent = parent_of(to);
    if (parent == NULL)
        return error_memory(error);
    tansu_status status = check_absent(r->calls, to, error);
    if (status == TANSU_OK && r->calls->rename(folder, to) != 0) {
        status = error_errno(error, to, "rename the new database to", errno);
    } else if (status == TANSU_OK && r->calls->sync_folder(parent) != 0) {
        status = error_errno(error, parent, "sync", errno);
        remove_folder(r->calls, to);
    }
    free(parent);
    return status;
}

/* make_new -- everything from the survey of the source to the new database in its place. */
static tansu_status make_new(repair *r, const char *to, tansu_error *error) {
    char *folder = NULL;
    tansu_status status = repair_survey(r, error);
    if (status == TANSU_OK)
        status = repair_tell(r, 0, error);
    if (status == TANSU_OK)
        status = make_folder(r->calls, to, &folder, error);
    if (status != TANSU_OK)
        return status;
    repair_witness_open(r, folder);
    status = repair_frames(r, error);
    if (status == TANSU_OK)
        status = repair_history(r, error);
    if (status == TANSU_OK)
        status = repair_scan(r, error);
    if (status == TANSU_OK)
        repair_tell_damage(r);
    if (status == TANSU_OK)
        status = repair_witness_ask(r, error);
    tansu_status closed = repair_witness_close(r, folder, status == TANSU_OK ? error : NULL);
    if (status == TANSU_OK)
        status = closed;
    if (status == TANSU_OK)
        status = repair_catalog(r, error);
    if (status == TANSU_OK)
        status = open_new(r, folder, error);
    if (status == TANSU_OK)
        status = repair_write(r, error);
    if (r->db != NULL) {
        closed = database_close(r->db, status == TANSU_OK ? error : NULL);
        if (status == TANSU_OK)
            status = closed;
    }
    if (status == TANSU_OK)
        status = repair_tell(r, r->total, error);
    if (status == TANSU_OK)
        status = give_name(r, folder, to, error);
    if (status != TANSU_OK)
        remove_folder(r->calls, folder);
    free(folder);
    return status;
}

/* repair_free -- all that was gathered. */
static void repair_free(repair *r) {
    for (size_t i = 0; i < r->record_count; i++)
        tansu_buffer_free(&r->records[i].payload);
    for (size_t i = 0; i < r->collection_count; i++)
        free(r->collections[i].indexes);
    for (size_t i = 0; i < r->segment_count; i++)
        free(r->segments[i].file);
    free(r->records);
    free(r->collections);
    free(r->segments);
    free(r->runs);
    free(r->holes);
    free(r->loose);
    free(r->pieces);
    free(r->lost);
    free(r->losses);
    bson_destroy(&r->doubts.list);
    free(r->log_folder);
    pending_free(&r->places);
    findings_free(&r->problems);
}

tansu_status database_repair(const char *from, const char *to, const fs *calls,
                             const index_filter_calls *filters, const tansu_options *settings,
                             tansu_task_progress progress, void *context, tansu_buffer *report,
                             tansu_error *error) {
    size_t length = strlen(to);
    while (length > 1 && to[length - 1] == '/')
        length--;
    char *target = strndup(to, length);
    repair r = {.calls = calls,
                .filters = filters,
                .settings = settings,
                .from = from,
                .progress = progress,
                .context = context,
                .log_folder = fs_join(from, "log")};
    findings_init(&r.problems);
    bson_init(&r.doubts.list);
    int lock = -1;
    tansu_status status = TANSU_OK;
    if (target == NULL || r.log_folder == NULL)
        status = error_memory(error);
    else
        status = check_absent(calls, target, error);
    if (status == TANSU_OK)
        status = lock_source(&r, &lock, error);
    if (status == TANSU_OK)
        status = make_new(&r, target, error);
    if (status == TANSU_OK)
        status = repair_report(&r, report, error);
    if (lock >= 0)
        calls->unlock(lock);
    repair_free(&r);
    free(target);
    return status;
}
