/*
 * store/files.c -- taking and comparing stamps.
 */
#include "store/files.h"

#include "store/database_internal.h"
#include "util/checksum/checksum.h"
#include "util/clock.h"
#include "util/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define STEP ((size_t)64 * 1024)

/* What a file contributes: its size, or that it is missing, and a checksum of its first bytes. */
typedef struct part {
    const char *name;
    uint64_t most; /* bytes that are read */
} part;

/* The journals as a whole: one that is being written says nothing before it is complete. The head
 * first and last: it changes with every commit, one way, while journals are also removed and begun
 * again. */
static const part parts[] = {
    {"MANIFEST", UINT64_MAX},
    {"index/blocks.tch", 256},
    {"index/blocks.tch.redo.0", UINT64_MAX},
    {"index/blocks.tch.redo.1", UINT64_MAX},
    {"index/blocks.tch", 256},
    {"MANIFEST", UINT64_MAX},
};

/* sum -- the checksum and number of the bytes that a file has up to `most`; -1 with errno. */
static int sum(const fs *calls, int fd, uint64_t most, uint8_t *buffer, uint64_t result[2]) {
    uint64_t done = 0;
    uint32_t crc = 0;
    while (done < most) {
        size_t want = most - done < STEP ? (size_t)(most - done) : STEP;
        ssize_t got = calls->read(fd, buffer, want, (off_t)done);
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        crc = checksum(crc, buffer, (size_t)got);
        done += (uint64_t)got;
    }
    result[0] = done;
    result[1] = crc;
    return 0;
}

/* not_a_file -- whether there is no file, or something else: what that means is decided by whoever
 * needs the file. */
static bool not_a_file(int number) {
    return number == ENOENT || number == ENOTDIR || number == ESPIPE || number == EISDIR;
}

/* take_part -- one file's part of a stamp. */
static tansu_status take_part(const database *db, const part *p, uint8_t *buffer,
                              uint64_t result[2], tansu_error *error) {
    char *path = fs_join(db->files.folder, p->name);
    if (path == NULL)
        return error_memory(error);
    tansu_status status = TANSU_OK;
    int fd = db->files.calls->open(db->files.calls, path, O_RDONLY, 0);
    if (fd < 0 || sum(db->files.calls, fd, p->most, buffer, result) != 0) {
        result[0] = UINT64_MAX;
        result[1] = (uint64_t)errno;
        if (!not_a_file(errno))
            status = error_errno(error, path, fd < 0 ? "open" : "read", errno);
    }
    if (fd >= 0)
        db->files.calls->close(fd);
    free(path);
    return status;
}

/* take -- the stamp of now. */
static tansu_status take(const database *db, files_stamp *stamp, tansu_error *error) {
    _Static_assert(sizeof stamp->parts / sizeof stamp->parts[0] == sizeof parts / sizeof parts[0],
                   "a part for each file");
    uint8_t *buffer = malloc(STEP);
    tansu_status status = buffer == NULL ? error_memory(error) : TANSU_OK;
    for (size_t i = 0; status == TANSU_OK && i < sizeof parts / sizeof parts[0]; i++)
        status = take_part(db, &parts[i], buffer, stamp->parts[i], error);
    free(buffer);
    return status;
}

tansu_status files_stamp_take(database *db, tansu_error *error) {
    return take(db, &db->files.stamp, error);
}

tansu_status files_stamp_check(const database *db, tansu_error *error) {
    files_stamp now;
    tansu_status status = take(db, &now, error);
    if (status == TANSU_OK && memcmp(&now, &db->files.stamp, sizeof now) != 0)
        status = error_set(error, TANSU_E_BUSY, db->files.folder,
                           "The process that writes the database changed its index files again and "
                           "again while it was opened; try again");
    return status;
}

/* ---- Index files that were found to be damaged ---- */

/*
 * Nothing writes to them any more: a checkpoint would make the damage permanent, and a compaction
 * would drop the records that damaged location tables do not refer to.
 */

/* mark -- records it in the MANIFEST, so that it is known after a crash as well. Should that fail,
 * closing tries again, and otherwise the damage is detected again. */
static void mark(database *db) {
    manifest m = db->manifest.known;
    if (m.index_damaged || db->options.read_only || db->options.store != TANSU_STORE_PERSISTENT)
        return;
    m.index_open = m.index_damaged = true;
    m.boot[0] = 0;
    (void)manifest_replace(db, &m, NULL);
}

void index_files_mark_damaged(database *db) {
    __atomic_store_n(&db->files.index_damaged, true, __ATOMIC_RELAXED);
    pthread_mutex_lock(&db->checkpoints.mutex);
    mark(db);
    pthread_mutex_unlock(&db->checkpoints.mutex);
}

bool index_files_damaged(const database *db) {
    return __atomic_load_n(&db->files.index_damaged, __ATOMIC_RELAXED) ||
           (db->bs != NULL && block_store_is_damaged(db->bs));
}

void index_files_note_damage(database *db) {
    if (db->bs == NULL || !block_store_is_damaged(db->bs) ||
        __atomic_load_n(&db->files.index_damaged, __ATOMIC_RELAXED) ||
        pthread_mutex_trylock(&db->checkpoints.mutex) != 0)
        return;
    __atomic_store_n(&db->files.index_damaged, true, __ATOMIC_RELAXED);
    mark(db);
    pthread_mutex_unlock(&db->checkpoints.mutex);
}

tansu_status index_files_check(const database *db, tansu_error *error) {
    return index_files_damaged(db)
               ? error_set(error, TANSU_E_CORRUPT, db->files.folder,
                           "The index files are corrupt and nothing more is written to them; close "
                           "the database and open it again to have them rebuilt")
               : TANSU_OK;
}

/* ---- Looking whether the folder of a database was moved ---- */

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
    const char *folder = fs_lost_anchor(db->files.calls);
    if (folder != NULL)
        return error_set(
            error, TANSU_E_MOVED, folder,
            "The folder \"%s\" was moved, removed or replaced while the database was open; "
            "close the database and open it where it is now",
            folder);
    bool lost = false;
    if (db->options.read_only || db->files.anchored.anchors[0].path == NULL || db->log == NULL)
        return TANSU_OK;
    tansu_status status = files_lost(db, &lost, error);
    return !lost ? status
                 : error_set(error, TANSU_E_MOVED, db->files.folder,
                             "The files in the folder \"%s\" were removed or replaced while the "
                             "database was open; close the database and open it again",
                             db->files.folder);
}

tansu_status folder_check_often(database *db, tansu_error *error) {
    if (db->files.anchored.anchors[0].path == NULL)
        return TANSU_OK;
    if (db->log != NULL && log_abandoned(db->log))
        return folder_check(db, error);
    uint64_t tick = clock_tick();
    if (__atomic_load_n(&db->files.checked, __ATOMIC_RELAXED) == tick)
        return TANSU_OK;
    tansu_status status = folder_check(db, error);
    if (status == TANSU_OK)
        __atomic_store_n(&db->files.checked, tick, __ATOMIC_RELAXED);
    return status;
}
