/*
 * backup/convert.c -- encrypting the files of a database that was plain, and the reverse.
 *
 * A folder backup beside the database, in the other form, is exchanged with it in one step; then the
 * old folder is removed. Killed before the exchange the old database is there, and after it the new
 * one; the next call removes what is left of the other.
 */
#include "backup/convert.h"

#include "store/database_internal.h"
#include "store/manifest.h"
#include "store/open/database_folder.h"
#include "store/open/open.h"
#include "store/readers/reader_registry.h"
#include "util/error.h"
#include "util/staging/staging.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Added to the database's path: where the other folder is, and where it is until it is complete. */
#define OTHER ".tansu-converted"
#define PART OTHER STAGING_SUFFIX

/* The paths of the two. */
typedef struct other_paths {
    char *whole, *part;
} other_paths;

/* open_with -- opens the database for writing with a key. */
static tansu_status open_with(const char *path, const user_key *key, const fs *calls,
                              const query_hooks *hooks, database **db, tansu_error *error) {
    tansu_options options;
    options_set_defaults(&options);
    options.path = path;
    options.must_exist = 1;
    options.key = key->bytes;
    options.key_size = key->size;
    options.key_kind = key->kind;
    return database_open(&options, calls, hooks, db, error);
}

/* is_other -- a fs_name_visitor that ends at the first name. */
static bool is_other(void *context, const char *name) {
    (void)name;
    *(bool *)context = true;
    return false;
}

/* check_set_aside -- what recovery has set aside would go with the old folder. */
static tansu_status check_set_aside(const database *db, tansu_error *error) {
    bool any = false;
    char *folder = fs_join(db->files.folder, SET_ASIDE_FOLDER);
    if (folder == NULL)
        return error_memory(error);
    (void)db->files.calls->list(db->files.calls, folder, is_other, &any);
    tansu_status status =
        any ? error_set(error, TANSU_E_INVALID_STATE, folder,
                        "The folder \"%s\" has files that recovery has put there, which may hold "
                        "commits; move or remove them first",
                        folder)
            : TANSU_OK;
    free(folder);
    return status;
}

/* ---- What else there is ---- */

#define DIGITS "[0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9]"
#define BLOCKS "index/blocks.tch"

/* All names that a database has in its folder, and in those in it. */
static const char *const own_names[] = {"MANIFEST",
                                        "MANIFEST.new",
                                        "KEY",
                                        "KEY.new",
                                        "LOCK",
                                        "log",
                                        "log/TAIL",
                                        "log/reserve",
                                        "log/" DIGITS ".seg",
                                        "index",
                                        SET_ASIDE_FOLDER,
                                        "log/" DIGITS ".seg.new",
                                        READERS_FOLDER,
                                        TEMPORARY_MARK,
                                        BLOCKS,
                                        BLOCKS ".wal",
                                        BLOCKS ".redo.[01]",
                                        BLOCKS ".new",
                                        BLOCKS ".new.wal",
                                        BLOCKS ".new.redo.[01]"};

/* A name that is none of those, in a folder, or in the one within it whose name is in front. */
typedef struct foreign_name {
    const char *within;
    char name[300]; /* empty: there is none */
} foreign_name;

/* note_foreign -- a fs_name_visitor that ends at such a name. */
static bool note_foreign(void *context, const char *name) {
    foreign_name *f = context;
    snprintf(f->name, sizeof f->name, "%s%s%s", f->within, f->within[0] == 0 ? "" : "/", name);
    for (size_t i = 0; i < sizeof own_names / sizeof *own_names; i++)
        if (fnmatch(own_names[i], f->name, FNM_PATHNAME) == 0)
            f->name[0] = 0;
    return f->name[0] == 0;
}

/* find_foreign -- looks for such a name; *f has none if there is none, or the folder is not there.
 * Errors: MEMORY. */
static tansu_status find_foreign(const fs *calls, const char *folder, foreign_name *f,
                                 tansu_error *error) {
    static const char *const folders[] = {"", "log", "index", READERS_FOLDER};
    *f = (foreign_name){.within = ""};
    for (size_t i = 0; f->name[0] == 0 && i < sizeof folders / sizeof *folders; i++) {
        char *path = i == 0 ? strdup(folder) : fs_join(folder, folders[i]);
        if (path == NULL)
            return error_memory(error);
        f->within = folders[i];
        (void)calls->list(calls, path, note_foreign, f);
        free(path);
    }
    return TANSU_OK;
}

/* note_reader -- a reader_visitor: the process of one. */
static void note_reader(void *context, const reader_report *report) {
    *(uint64_t *)context = report->process;
}

/* check_readers -- nobody reads the old files, which would go on for as long as they are open, and be on
 * the disk. Errors: LOCKED. */
static tansu_status check_readers(const database *db, tansu_error *error) {
    uint64_t process = 0;
    readers_list(db->files.calls, db->files.folder, note_reader, &process);
    return process == 0 ? TANSU_OK
                        : error_set(error, TANSU_E_LOCKED, db->files.folder,
                                    "Process %llu has the database open to read; close it there",
                                    (unsigned long long)process);
}

/* check_foreign -- what is not the database's would go with the old folder. Errors: INVALID_STATE,
 * MEMORY. */
static tansu_status check_foreign(const database *db, tansu_error *error) {
    foreign_name f;
    tansu_status status = find_foreign(db->files.calls, db->files.folder, &f, error);
    if (status != TANSU_OK || f.name[0] == 0)
        return status;
    return error_set(error, TANSU_E_INVALID_STATE, db->files.folder,
                     "The folder has \"%s\", which is not the database's and would be removed with "
                     "the old files; move it away",
                     f.name);
}

/* check_other -- whether what is at the other folder's path, if anything, is of an interrupted call:
 * this database in one of its forms, or a copy without a MANIFEST. */
static tansu_status check_other(const char *path, const char *other, const fs *calls,
                                tansu_error *error) {
    struct stat state;
    manifest there, own;
    if (lstat(other, &state) != 0)
        return TANSU_OK;
    tansu_status status =
        S_ISDIR(state.st_mode) ? manifest_read(calls, other, &there, NULL) : TANSU_E_EXISTS;
    foreign_name f = {.name = ""};
    bool foreign = status != TANSU_E_NOT_FOUND;
    if (status == TANSU_OK)
        foreign = manifest_read(calls, path, &own, NULL) != TANSU_OK ||
                  memcmp(there.uuid, own.uuid, sizeof own.uuid) != 0;
    if (!foreign && (status = find_foreign(calls, other, &f, error)) != TANSU_OK)
        return status;
    foreign = foreign || f.name[0] != 0;
    if (!foreign)
        return TANSU_OK;
    return error_set(error, TANSU_E_EXISTS, other,
                     "There is something at \"%s\", where the other form is made; move it away",
                     other);
}

/* keep_mode -- gives the new folder the permissions of the old one. */
static tansu_status keep_mode(const char *path, const char *other, tansu_error *error) {
    struct stat state;
    return stat(path, &state) == 0 && chmod(other, state.st_mode & 07777) == 0
               ? TANSU_OK
               : error_errno(error, other, "set the permissions of", errno);
}

/* exchange -- the two folders, in one step. */
static tansu_status exchange(const fs *calls, const char *path, const char *other,
                             tansu_error *error) {
    if (fs_exchange(path, other) == 0)
        return fs_sync_parent(calls, path, error);
    if (errno == EINVAL || errno == ENOSYS || errno == ENOTSUP)
        return error_set(
            error, TANSU_E_UNSUPPORTED, path,
            "The file system cannot exchange two folders in one step; make a backup in "
            "the other form, and put it in place while nobody has the database open");
    return error_errno(error, path, "exchange", errno);
}

/* convert -- makes the other folder of an open database, and exchanges them. */
static tansu_status convert(database *db, const char *path, const char *other, const user_key *to,
                            const fs *calls, task *progress, tansu_error *error) {
    backup_result result;
    tansu_status status = check_set_aside(db, error);
    if (status == TANSU_OK)
        status = check_readers(db, error);
    if (status == TANSU_OK)
        status = check_foreign(db, error);
    if (status != TANSU_OK)
        return status;
    fs_remove_all(calls, other); /* of a call that was interrupted */
    status = database_backup(db, other, TANSU_BACKUP_FOLDER, to, progress, &result, error);
    if (status == TANSU_OK)
        status = keep_mode(path, other, error);
    if (status == TANSU_OK)
        status = check_readers(db, error); /* meanwhile */
    return status == TANSU_OK ? exchange(calls, path, other, error) : status;
}

/* is_done -- whether the database has the other form already. */
static bool is_done(const char *path, const user_key *to, const fs *calls,
                    const query_hooks *hooks) {
    database *db = NULL;
    if (open_with(path, to, calls, hooks, &db, NULL) != TANSU_OK)
        return false;
    database_close(db, NULL);
    return true;
}

/* other_free -- the paths. */
static void other_free(other_paths *others) {
    free(others->whole);
    free(others->part);
}

/* other_init -- the paths beside a folder. Call other_free() in any case. Errors: MEMORY. */
static tansu_status other_init(other_paths *others, const char *path, tansu_error *error) {
    size_t size = strlen(path) + sizeof PART;
    *others = (other_paths){malloc(size), malloc(size)};
    if (others->whole == NULL || others->part == NULL)
        return error_memory(error);
    snprintf(others->whole, size, "%s" OTHER, path);
    snprintf(others->part, size, "%s" PART, path);
    return TANSU_OK;
}

/* convert_at -- database_convert() with the path that the system resolves the user's to. */
static tansu_status convert_at(const char *path, const other_paths *others, const user_key *from,
                               const user_key *to, const fs *calls, const query_hooks *hooks,
                               task *progress, tansu_error *error) {
    database *db = NULL;
    tansu_status status = open_with(path, from, calls, hooks, &db, error);
    if (status == TANSU_OK) {
        status = convert(db, path, others->whole, to, calls, progress, error);
        db->discard = status == TANSU_OK; /* its folder is the other one now */
        database_close(db, NULL);
    } else if ((status == TANSU_E_ENCRYPTED || status == TANSU_E_INVALID_ARGUMENT) &&
               (fs_is_folder(calls, others->whole) || fs_is_folder(calls, others->part)) &&
               is_done(path, to, calls, hooks)) {
        status = TANSU_OK; /* a process was killed before the next line, or during the reverse */
    } else {
        return status;
    }
    fs_remove_all(calls, others->whole);
    fs_remove_all(calls, others->part);
    return status == TANSU_OK ? fs_sync_parent(calls, path, error) : status;
}

tansu_status database_convert(const char *path, const user_key *from, const user_key *to,
                              const fs *calls, const query_hooks *hooks, task *progress,
                              tansu_error *error) {
    char *real = realpath(path, NULL);
    if (real == NULL)
        return errno == ENOENT ? error_set(error, TANSU_E_NOT_FOUND, path,
                                           "There is no database at \"%s\"", path)
                               : error_errno(error, path, "find", errno);
    other_paths others;
    tansu_status status = other_init(&others, real, error);
    if (status == TANSU_OK)
        status = check_other(real, others.whole, calls, error);
    if (status == TANSU_OK)
        status = check_other(real, others.part, calls, error);
    if (status == TANSU_OK)
        status = convert_at(real, &others, from, to, calls, hooks, progress, error);
    other_free(&others);
    free(real);
    return status;
}

/* clear -- removes a folder beside a database if an interrupted call left it. */
static void clear(const char *path, const char *other, const fs *calls) {
    struct stat state;
    if (lstat(other, &state) == 0 && check_other(path, other, calls, NULL) == TANSU_OK)
        fs_remove_all(calls, other);
}

void database_convert_clear(const char *path, const fs *calls) {
    char *real = realpath(path, NULL);
    if (real == NULL)
        return;
    other_paths others;
    if (other_init(&others, real, NULL) == TANSU_OK) {
        clear(real, others.whole, calls);
        clear(real, others.part, calls);
    }
    other_free(&others);
    free(real);
}
