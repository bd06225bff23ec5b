/*
 * store/open/database_folder.c -- the folder of a database: creating, checking and locking it.
 */
#include "store/open/database_folder.h"

#include "store/database_internal.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/lock_holder.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Nanoseconds between two attempts to take a lock that another process holds. */
#define LOCK_PAUSE_LEAST ((uint64_t)1000000)
#define LOCK_PAUSE_MOST ((uint64_t)64000000)

/* What the folder of a database-to-be holds. */
typedef struct folder_content {
    bool manifest;
    bool foreign; /* something that is not of a database */
    bool log;
    bool key;
} folder_content;

/* note_content -- sees one name of the folder. */
static bool note_content(void *context, const char *name) {
    folder_content *content = context;
    if (strcmp(name, "MANIFEST") == 0)
        content->manifest = true;
    else if (strcmp(name, "log") == 0)
        content->log = true;
    else if (strcmp(name, "KEY") == 0)
        content->key = true;
    else if (strcmp(name, "LOCK") != 0 && strcmp(name, "index") != 0 &&
             strcmp(name, "MANIFEST.new") != 0 && strcmp(name, "KEY.new") != 0 &&
             strcmp(name, SET_ASIDE_FOLDER) != 0 && strcmp(name, TEMPORARY_MARK) != 0)
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
    char *path = name == NULL ? strdup(db->files.folder) : fs_join(db->files.folder, name);
    if (path == NULL)
        return error_memory(error);
    tansu_status status = TANSU_OK;
    if (db->files.calls->mkdir(db->files.calls, path, 0755) != 0 && errno != EEXIST)
        status = error_errno(error, path, "create the folder", errno);
    free(path);
    return status;
}

/* open_lock -- the LOCK file's descriptor, or -1. On a read-only file system the database becomes a
 * read-only one. */
static int open_lock(database *db, const char *path) {
    if (!db->options.read_only) {
        int fd = db->files.calls->open(db->files.calls, path, O_RDWR, 0); /* its permissions stay */
        if (fd < 0 && errno == ENOENT)
            fd = db->files.calls->open(db->files.calls, path, O_RDWR | O_CREAT, FS_MODE);
        if (fd >= 0 || errno != EROFS)
            return fd;
        db->options.read_only = true;
    }
    int fd = db->files.calls->open(db->files.calls, path, O_RDONLY, 0);
    if (fd >= 0 || errno != ENOENT)
        return fd;
    return db->files.calls->open(db->files.calls, path, O_RDWR | O_CREAT,
                                 FS_MODE); /* a copy that was made without it */
}

/* lock_error -- what a lock that could not be had means. */
static tansu_status lock_error(const char *path, int fd, int number, tansu_error *error) {
    return number == EWOULDBLOCK ? lock_held_error(fd, "The database", path, error)
                                 : error_errno(error, path, "lock", number);
}

/* unable -- whether a file system can't open or lock folders. */
static bool unable(int number) {
    static const int numbers[] = {EBADF,  EINVAL, EISDIR,  EACCES,
                                  ENOLCK, ENOSYS, ENOTSUP, EOPNOTSUPP};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (number == numbers[i])
            return true;
    return false;
}

tansu_status folder_anchor(database *db, tansu_error *error) {
    if (db->files.anchored.anchors[0].path != NULL)
        return TANSU_OK;
    db->files.folder_fd =
        db->files.calls->open(db->files.calls, db->files.folder, O_RDONLY | O_DIRECTORY, 0);
    if (db->files.folder_fd < 0)
        return unable(errno) ? TANSU_OK : error_errno(error, db->files.folder, "open", errno);
    db->files.owns_anchors = true;
    tansu_status status =
        fs_anchor_folder(&db->files.anchored, db->files.folder, db->files.folder_fd, error);
    fs_keep_mode(&db->files.anchored, "MANIFEST");
    return status;
}

tansu_status folder_anchor_parts(database *db, tansu_error *error) {
    static const char *const parts[] = {"log", "index"};
    tansu_status status = TANSU_OK;
    for (size_t i = 0; db->files.owns_anchors && status == TANSU_OK && i < 2; i++) {
        char *path = fs_join(db->files.folder, parts[i]);
        if (path == NULL)
            return error_memory(error);
        int fd = db->files.calls->open(db->files.calls, path, O_RDONLY | O_DIRECTORY, 0);
        status = fs_anchor_folder(&db->files.anchored, path, fd, error);
        if (status != TANSU_OK && fd >= 0)
            db->files.calls->close(fd);
        free(path);
    }
    return status;
}

void folder_leave(database *db) {
    for (size_t i = FS_ANCHORS; db->files.owns_anchors && i-- > 0;) {
        fs_anchor *a = &db->files.anchored.anchors[i];
        if (a->path != NULL && a->fd != db->files.folder_fd)
            db->files.calls->close(a->fd);
        free(a->path);
        *a = (fs_anchor){0};
    }
    db->files.owns_anchors = false;
    if (db->files.folder_fd >= 0)
        db->files.calls->unlock(db->files.folder_fd);
    if (db->files.lock_fd >= 0)
        db->files.calls->unlock(db->files.lock_fd);
    db->files.folder_fd = db->files.lock_fd = -1;
}

/* lock_folder -- locks the folder itself as well, for the LOCK file may be deleted while it is
 * held, and a new one is not locked. File systems that can't lock folders have the file alone. */
static tansu_status lock_folder(database *db, tansu_error *error) {
    if (db->files.folder_fd < 0 ||
        db->files.calls->lock(db->files.folder_fd, !db->options.read_only) == 0 || unable(errno))
        return TANSU_OK;
    return lock_error(db->files.folder, db->files.folder_fd, errno, error);
}

/* take_lock -- holds the LOCK file and the folder until closing. */
static tansu_status take_lock(database *db, tansu_error *error) {
    tansu_status status = folder_anchor(db, error);
    if (db->options.concurrent || status != TANSU_OK)
        return status;
    char *path = fs_join(db->files.folder, "LOCK");
    if (path == NULL)
        return error_memory(error);
    db->files.lock_fd = open_lock(db, path);
    if (db->files.lock_fd < 0 && errno == EROFS)
        status = TANSU_OK; /* nobody can write there */
    else if (db->files.lock_fd < 0)
        status = error_errno(error, path, "open", errno);
    else if (db->files.calls->lock(db->files.lock_fd, !db->options.read_only) != 0)
        status = lock_error(path, db->files.lock_fd, errno, error);
    if (status == TANSU_OK)
        status = lock_folder(db, error);
    free(path);
    return status;
}

tansu_status folder_new_keys(database *db, const user_key *key, tansu_error *error) {
    if (key->bytes == NULL)
        return TANSU_OK;
    manifest *m = &db->manifest.known;
    tansu_status status = key_file_new_keys(m->uuid, &db->keys, error);
    if (status == TANSU_OK && db->options.store == TANSU_STORE_PERSISTENT)
        status = key_file_write(db->files.calls, db->files.folder, m->uuid, db->keys, key, error);
    m->encrypted = status == TANSU_OK;
    return status;
}

/* read_keys -- the keys of an encrypted database, with which its MANIFEST is authenticated. */
static tansu_status read_keys(database *db, const user_key *key, tansu_error *error) {
    const manifest *m = &db->manifest.known;
    bool given = key->bytes != NULL && !key->assumed;
    if (!m->encrypted && (given || db->keys != NULL))
        return error_set(error, TANSU_E_INVALID_ARGUMENT, db->files.folder,
                         "A key was given and the database is not encrypted; if that is what you "
                         "expect, open it without a key");
    if (!m->encrypted)
        return TANSU_OK;
    if (key->bytes == NULL && db->keys == NULL)
        return error_set(error, TANSU_E_ENCRYPTED, db->files.folder,
                         "The database is encrypted; open it with its key");
    bool shared = db->keys != NULL;
    if (!shared) {
        tansu_status status =
            key_file_read(db->files.calls, db->files.folder, m->uuid, key, &db->keys, error);
        if (status != TANSU_OK)
            return status;
    }
    return manifest_authenticate(m, db->files.folder, db->keys, shared, error);
}

/* create_files -- what an empty database consists of; the MANIFEST last, for it makes the others
 * count. */
static tansu_status create_files(database *db, const user_key *key, tansu_error *error) {
    tansu_status status = make_folder(db, "log", error);
    if (status == TANSU_OK)
        status = make_folder(db, "index", error);
    if (status == TANSU_OK)
        status = manifest_new(&db->manifest.known, error);
    /* Before KEY, which is not there without the folders (check_remains()). */
    if (status == TANSU_OK && db->files.calls->sync_folder(db->files.calls, db->files.folder) != 0)
        status = error_errno(error, db->files.folder, "sync", errno);
    if (status == TANSU_OK)
        status = folder_new_keys(db, key, error);
    if (status == TANSU_OK)
        status = manifest_seal(&db->manifest.known, db->keys, error);
    if (status == TANSU_OK)
        status = manifest_write(db->files.calls, db->files.folder, &db->manifest.known, error);
    /* A folder whose own name is lost takes every commit in it along. */
    if (status == TANSU_OK)
        status = fs_sync_parent(db->files.calls, db->files.folder, error);
    return status;
}

/* check_remains -- whether a folder without a MANIFEST has no more than a creation that was interrupted
 * leaves: it makes the folders, which stay empty, and then KEY. */
static tansu_status check_remains(const database *db, const folder_content *content,
                                  tansu_error *error) {
    static const char *const folders[] = {"log", "index"};
    bool used = content->key && !content->log;
    for (int i = 0; !used && i < (content->key ? 2 : 1); i++) {
        char *path = fs_join(db->files.folder, folders[i]);
        if (path == NULL)
            return error_memory(error);
        if (db->files.calls->list(db->files.calls, path, note_any, &used) != 0)
            used = content->key; /* not even there */
        free(path);
    }
    return !used ? TANSU_OK
                 : error_set(error, TANSU_E_CORRUPT, db->files.folder,
                             "The folder has a %s but no file \"MANIFEST\"; restore a backup or "
                             "salvage what is readable with \"tansu repair\"",
                             content->log ? "log" : "file \"KEY\"");
}

/* enter -- folder_enter() without waiting. */
static tansu_status enter(database *db, bool must_exist, const user_key *key, tansu_error *error) {
    folder_content content = {0};
    tansu_status status = TANSU_OK;
    bool create = !must_exist && !db->options.read_only;
    if (db->files.calls->list(db->files.calls, db->files.folder, note_content, &content) != 0) {
        if (errno == ENOTDIR)
            return error_set(error, TANSU_E_EXISTS, db->files.folder,
                             "The path is a file, and a database is a folder; choose another path");
        if (errno != ENOENT)
            return error_errno(error, db->files.folder, "list", errno);
        if (create)
            status = make_folder(db, NULL, error);
    }
    if (status != TANSU_OK)
        return status;
    if (!content.manifest && content.foreign)
        return error_set(error, TANSU_E_EXISTS, db->files.folder,
                         "The folder contains other files than a database; choose another path");
    if (!content.manifest && (content.log || content.key)) {
        status = check_remains(db, &content, error);
        if (status != TANSU_OK)
            return status;
    }
    if (!content.manifest && !create)
        return error_set(error, TANSU_E_NOT_FOUND, db->files.folder,
                         "There is no database at this path; check the path, or open without "
                         "\"must_exist\" to create one");
    status = take_lock(db, error);
    if (status != TANSU_OK)
        return status;
    /* Another process may have created the database before the lock was taken. */
    status = manifest_read(db->files.calls, db->files.folder, &db->manifest.known, error);
    if (status == TANSU_E_NOT_FOUND && db->options.read_only)
        return error_set(error, TANSU_E_READ_ONLY, db->files.folder,
                         "There is no database at this path, and the file system is read-only; "
                         "choose another path");
    if (status == TANSU_E_NOT_FOUND)
        status = create_files(db, key, error);
    else if (status == TANSU_OK)
        status = read_keys(db, key, error);
    if (status == TANSU_OK && !db->options.read_only) {
        manifest_is_own(db);
        status = make_folder(db, "index", error); /* it may have been deleted */
    }
    return status == TANSU_OK ? folder_anchor_parts(db, error) : status;
}

tansu_status folder_enter(database *db, bool must_exist, uint32_t lock_timeout_ms,
                          const user_key *key, tansu_error *error) {
    clock_time until = clock_in(lock_timeout_ms);
    for (uint64_t pause = LOCK_PAUSE_LEAST;; pause = pause < LOCK_PAUSE_MOST ? pause * 2 : pause) {
        tansu_status status = enter(db, must_exist, key, error);
        clock_time now = clock_now();
        if (status != TANSU_E_LOCKED || now >= until)
            return status;
        folder_leave(db);
        clock_sleep(pause < until - now ? pause : until - now);
    }
}

tansu_status folder_set(database *db, const char *path, tansu_error *error) {
    if (path[0] == '/') {
        db->files.folder = strdup(path);
    } else {
        char *working = getcwd(NULL, 0);
        if (working == NULL)
            return error_errno(error, path, "find the working folder of", errno);
        db->files.folder = fs_join(working, path);
        free(working);
    }
    if (db->files.folder == NULL)
        return error_memory(error);
    for (size_t size = strlen(db->files.folder); size > 1 && db->files.folder[size - 1] == '/';
         size--)
        db->files.folder[size - 1] = 0;
    return TANSU_OK;
}

/* ---- Folders of temporary databases, and their removal at the end of the process ---- */

#define NAME "tansu-temporary-"

/* How many folders of ended processes one call removes. */
#define REMOVED_AT_ONCE 64u

/* ---- Folders of this process ---- */

/* A folder to be removed at exit. */
typedef struct entry {
    char *folder;
    pid_t owner; /* not a child that was forked, and inherited the list */
    struct entry *next;
} entry;

/* Process-wide, as exit handlers are. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static entry *entries;
static bool has_exit_handler;

/* remove_at_exit -- an exit handler. It does not wait: another thread may have been in the list
 * when the process was forked. */
static void remove_at_exit(void) {
    if (pthread_mutex_trylock(&mutex) != 0)
        return;
    for (entry *e = entries; e != NULL; e = e->next)
        if (e->owner == getpid())
            fs_remove_all(&fs_system, e->folder);
    pthread_mutex_unlock(&mutex);
}

/* remember -- lists a folder for the exit handler; without memory it stays until the next start. */
static void remember(const char *folder) {
    entry *e = malloc(sizeof *e);
    char *copy = strdup(folder);
    if (e == NULL || copy == NULL) {
        free(e);
        free(copy);
        return;
    }
    *e = (entry){.folder = copy, .owner = getpid()};
    pthread_mutex_lock(&mutex);
    e->next = entries;
    entries = e;
    if (!has_exit_handler)
        has_exit_handler = atexit(remove_at_exit) == 0;
    pthread_mutex_unlock(&mutex);
}

/* forget -- takes a folder off the list. */
static void forget(const char *folder) {
    pthread_mutex_lock(&mutex);
    for (entry **at = &entries; *at != NULL; at = &(*at)->next)
        if (strcmp((*at)->folder, folder) == 0) {
            entry *e = *at;
            *at = e->next;
            free(e->folder);
            free(e);
            break;
        }
    pthread_mutex_unlock(&mutex);
}

/* ---- Folders of ended processes ---- */

typedef struct leftovers {
    char *names[REMOVED_AT_ONCE];
    size_t count;
} leftovers;

/* note_leftover -- sees one name beside the new folder. */
static bool note_leftover(void *context, const char *name) {
    leftovers *found = context;
    if (strncmp(name, NAME, strlen(NAME)) == 0 &&
        (found->names[found->count] = strdup(name)) != NULL)
        found->count++;
    return found->count < REMOVED_AT_ONCE;
}

/* has_file -- whether a folder has a regular file of that name. */
static bool has_file(const char *folder, const char *name) {
    struct stat file;
    char *path = fs_join(folder, name);
    bool found = path != NULL && lstat(path, &file) == 0 && S_ISREG(file.st_mode);
    free(path);
    return found;
}

/* remove_if_unused -- removes the folder of a database of ours that no process has open. Whoever
 * makes one writes its MANIFEST under the lock, which is held until the folder is removed. */
static void remove_if_unused(const fs *calls, const char *folder) {
    struct stat own;
    if (lstat(folder, &own) != 0 || !S_ISDIR(own.st_mode) || own.st_uid != geteuid() ||
        !has_file(folder, TEMPORARY_MARK) || !has_file(folder, "MANIFEST"))
        return;
    char *path = fs_join(folder, "LOCK");
    int fd = path == NULL ? -1 : calls->open(calls, path, O_RDWR, 0);
    free(path);
    if (fd < 0)
        return;
    if (calls->lock(fd, true) == 0) {
        fs_remove_all(calls, folder);
        calls->unlock(fd);
    } else
        calls->close(fd);
}

/* remove_leftovers -- removes the folders of databases whose processes ended without closing. */
static void remove_leftovers(const fs *calls, const char *where) {
    leftovers found = {.count = 0};
    calls->list(calls, where, note_leftover, &found);
    for (size_t i = 0; i < found.count; i++) {
        char *folder = fs_join(where, found.names[i]);
        if (folder != NULL)
            remove_if_unused(calls, folder);
        free(folder);
        free(found.names[i]);
    }
}

/* ---- The interface ---- */

/* mark -- makes the file that says what the folder is. */
static tansu_status mark(const fs *calls, const char *folder, tansu_error *error) {
    char *path = fs_join(folder, TEMPORARY_MARK);
    if (path == NULL)
        return error_memory(error);
    tansu_status status = TANSU_OK;
    int fd = calls->open(calls, path, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (fd < 0)
        status = error_errno(error, path, "create", errno);
    else
        calls->close(fd);
    free(path);
    return status;
}

tansu_status temporary_folder_new(const fs *calls, const char *where, char **folder,
                                  tansu_error *error) {
    if (where == NULL || where[0] == 0)
        where = getenv("TMPDIR");
    if (where == NULL || where[0] == 0)
        where = "/tmp";
    remove_leftovers(calls, where);
    char *made = fs_join(where, NAME "XXXXXX");
    if (made == NULL)
        return error_memory(error);
    tansu_status status = TANSU_OK;
    if (mkdtemp(made) == NULL) {
        status = error_errno(error, made, "create the folder", errno);
    } else if ((status = mark(calls, made, error)) == TANSU_OK) {
        remember(made);
        *folder = made;
        return TANSU_OK;
    } else
        fs_remove_all(calls, made);
    free(made);
    return status;
}

void temporary_folder_remove(const fs *calls, const char *folder) {
    fs_remove_all(calls, folder);
    forget(folder);
}
