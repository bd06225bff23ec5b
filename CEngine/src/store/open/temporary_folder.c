/*
 * store/open/temporary_folder.c -- folders of temporary databases, and their removal at the end of
 * the process.
 */
#include "store/open/temporary_folder.h"

#include "util/error.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
