/*
 * backup/backup.c -- a backup as of one snapshot.
 */
#include "backup/backup.h"

#include "backup/backup_internal.h"
#include "log/scan.h"
#include "log/segment_reader.h"
#include "store/database_internal.h"
#include "store/handle.h"
#include "store/manifest.h"
#include "util/bytes.h"
#include "util/checksum/checksum.h"
#include "util/error.h"
#include "util/staging/staging.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <zlib.h>

/* manifest_at -- the MANIFEST of a copy of the database as of a snapshot. */
static manifest manifest_at(database *db, const snapshot *v) {
    pthread_mutex_lock(&db->checkpoints.mutex);
    manifest m = db->manifest.known;
    pthread_mutex_unlock(&db->checkpoints.mutex);
    m.index_open = false; /* the copy has no index files: opening it rebuilds them from the log */
    m.boot[0] = 0;
    m.end_sequence = v->sequence;
    return m;
}

/* write_snapshot -- writes the staged file or folder and publishes it. */
static tansu_status write_snapshot(database *db, const snapshot *v, staging *staged, task *progress,
                                   backup_result *result, tansu_error *error) {
    manifest m = manifest_at(db, v);
    tansu_status status =
        staged->folder ? backup_folder_write(staged, db, v, &m, progress, &result->bytes, error)
                       : backup_file_write(staged, db, v, &m, progress, &result->bytes, error);
    return status == TANSU_OK ? staging_publish(staged, error) : status;
}

tansu_status database_backup(database *db, const char *to, tansu_backup_form form, task *progress,
                             backup_result *result, tansu_error *error) {
    *result = (backup_result){0};
    tansu_status status = staging_check_outside(to, db->files.folder, error);
    if (status == TANSU_OK && db->keys != NULL)
        status = error_set(error, TANSU_E_UNSUPPORTED, db->files.folder,
                           "Backups of encrypted databases are not supported; clone it into an "
                           "encrypted database");
    if (status != TANSU_OK)
        return status;
    /* No segment is removed until maintenance_end(). */
    status = maintenance_begin(db, error);
    if (status != TANSU_OK)
        return status;
    snapshot *v = snapshot_acquire(db);
    result->sequence = v->sequence;
    result->documents += snapshot_documents(v);
    log_statistics log = log_measure(db->log);
    progress->total =
        log.bytes - log.compressed + log.images; /* what is copied is not compressed */
    staging staged;
    status = staging_begin(&staged, db->files.calls, to, form == TANSU_BACKUP_FOLDER, error);
    if (status == TANSU_OK)
        status = write_snapshot(db, v, &staged, progress, result, error);
    staging_end(&staged);
    snapshot_release(db, v);
    maintenance_end(db);
    return status;
}

/* ---- A backup in one compressed file ---- */

#define OUT_SIZE (256u * 1024u)

_Static_assert(BACKUP_ITEM_MOST >= LOG_COPY_STEP, "a step of the log is one item");

/* The file being written. */
typedef struct file_target {
    const staging *staged;
    task *progress;
    z_stream z;
    uint8_t *out;
    uint64_t offset;
    uint32_t crc; /* of all bytes of the file so far */
    uint32_t seed;
    uint64_t items;
    uint64_t segments;
    uint64_t segment_bytes;
    uint64_t all_bytes;
} file_target;

/* write_out -- appends bytes to the file. */
static tansu_status write_out(file_target *t, const uint8_t *bytes, size_t size,
                              tansu_error *error) {
    t->crc = checksum(t->crc, bytes, size);
    if (fs_write_all(t->staged->calls, t->staged->fd, bytes, size, t->offset) != 0)
        return error_errno(error, t->staged->path, "write", errno);
    t->offset += size;
    return TANSU_OK;
}

/* compress_bytes -- compresses bytes into the first member; `finish` ends it. */
static tansu_status compress_bytes(file_target *t, const void *bytes, size_t size, bool finish,
                                   tansu_error *error) {
    t->z.next_in = (Bytef *)(uintptr_t)bytes; /* zlib's type is older than const */
    t->z.avail_in = (uInt)size;
    tansu_status status = TANSU_OK;
    int result = Z_OK;
    while (status == TANSU_OK && (finish ? result != Z_STREAM_END : t->z.avail_in != 0)) {
        result = deflate(&t->z, finish ? Z_FINISH : Z_NO_FLUSH);
        if (t->z.avail_out != 0 && result != Z_STREAM_END)
            continue;
        status = write_out(t, t->out, OUT_SIZE - t->z.avail_out, error);
        t->z.next_out = t->out;
        t->z.avail_out = OUT_SIZE;
    }
    return status;
}

/* put_item -- appends an item to the container. */
static tansu_status put_item(file_target *t, enum backup_kind kind, const void *bytes, size_t size,
                             tansu_error *error) {
    backup_item item = {.kind = kind, .size = (uint32_t)size, .number = t->items++};
    item.crc = backup_item_crc(t->seed, item, bytes);
    tansu_status status = compress_bytes(t, &item, sizeof item, false, error);
    return status == TANSU_OK ? compress_bytes(t, bytes, size, false, error) : status;
}

static tansu_status file_segment_begin(void *context, const log_extent *segment,
                                       tansu_error *error) {
    file_target *t = context;
    uint64_t wide = segment->number;
    t->segments++;
    t->segment_bytes = 0;
    return put_item(t, BACKUP_SEGMENT, &wide, sizeof wide, error);
}

static tansu_status file_segment_bytes(void *context, const uint8_t *bytes, size_t size,
                                       tansu_error *error) {
    file_target *t = context;
    t->segment_bytes += size;
    t->all_bytes += size;
    tansu_status status = put_item(t, BACKUP_BYTES, bytes, size, error);
    return status == TANSU_OK ? task_advance(t->progress, size, error) : status;
}

static tansu_status file_segment_end(void *context, tansu_error *error) {
    file_target *t = context;
    return put_item(t, BACKUP_SEGMENT_END, &t->segment_bytes, sizeof t->segment_bytes, error);
}

/* write_container -- the first gzip member. */
static tansu_status write_container(file_target *t, database *db, const snapshot *v,
                                    const manifest *m, tansu_error *error) {
    backup_header header = {.format = BACKUP_FORMAT, .sequence = m->end_sequence};
    memcpy(header.magic, BACKUP_MAGIC, sizeof header.magic);
    memcpy(header.uuid, m->uuid, sizeof header.uuid);
    header.crc = backup_header_crc(header);
    tansu_status status = compress_bytes(t, &header, sizeof header, false, error);
    log_copy_target target = {t, file_segment_begin, file_segment_bytes, file_segment_end};
    if (status == TANSU_OK)
        status = log_copy(db->log, v->sequence, v->position, &target, error);
    uint64_t totals[2] = {t->segments, t->all_bytes};
    if (status == TANSU_OK)
        status = put_item(t, BACKUP_END, totals, sizeof totals, error);
    return status == TANSU_OK ? compress_bytes(t, NULL, 0, true, error) : status;
}

/* write_seal -- the second gzip member. */
static tansu_status write_seal(file_target *t, tansu_error *error) {
    uint8_t seal[BACKUP_SEAL_CAPACITY];
    size_t size = backup_seal(t->offset, t->crc, seal);
    return size == 0 ? error_memory(error) : write_out(t, seal, size, error);
}

tansu_status backup_file_write(const staging *staged, database *db, const snapshot *v,
                               const manifest *m, task *progress, uint64_t *bytes,
                               tansu_error *error) {
    file_target t = {.staged = staged, .progress = progress};
    t.seed = checksum(0, m->uuid, sizeof m->uuid);
    gz_header head = {.os = BACKUP_GZIP_SYSTEM};
    if (deflateInit2(&t.z, BACKUP_LEVEL, Z_DEFLATED, BACKUP_GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) !=
        Z_OK)
        return error_memory(error);
    t.out = malloc(OUT_SIZE);
    t.z.next_out = t.out;
    t.z.avail_out = OUT_SIZE;
    tansu_status status = t.out == NULL || deflateSetHeader(&t.z, &head) != Z_OK
                              ? error_memory(error)
                              : write_container(&t, db, v, m, error);
    deflateEnd(&t.z);
    free(t.out);
    if (status == TANSU_OK)
        status = write_seal(&t, error);
    if (status == TANSU_OK && staged->calls->sync(staged->fd, NULL, 0) != 0)
        status = error_errno(error, staged->path, "sync", errno);
    *bytes = t.offset;
    return status;
}

/* ---- A backup that is a database folder ---- */

/* The folder being written. */
typedef struct folder_target {
    const fs *calls;
    const char *log_folder;
    char *path; /* of the segment being written */
    int fd;
    uint64_t offset;
    uint64_t bytes;
    task *progress;
} folder_target;

/* folder_segment_begin -- creates a segment file. */
static tansu_status folder_segment_begin(void *context, const log_extent *segment,
                                         tansu_error *error) {
    folder_target *t = context;
    t->path = segment_file(t->log_folder, segment->number);
    if (t->path == NULL)
        return error_memory(error);
    t->offset = 0;
    t->fd = t->calls->open(t->calls, t->path, O_RDWR | O_CREAT | O_EXCL, 0644);
    return t->fd < 0 ? error_errno(error, t->path, "create", errno) : TANSU_OK;
}

/* folder_segment_bytes -- appends to it. */
static tansu_status folder_segment_bytes(void *context, const uint8_t *bytes, size_t size,
                                         tansu_error *error) {
    folder_target *t = context;
    if (fs_write_all(t->calls, t->fd, bytes, size, t->offset) != 0)
        return error_errno(error, t->path, "write", errno);
    t->calls->start_writeback(t->fd, t->offset, size);
    t->offset += size;
    t->bytes += size;
    return task_advance(t->progress, size, error);
}

/* folder_segment_end -- syncs and closes it. */
static tansu_status folder_segment_end(void *context, tansu_error *error) {
    folder_target *t = context;
    int fd = t->fd;
    t->fd = -1;
    tansu_status status = TANSU_OK;
    if (t->calls->sync(fd, NULL, 0) != 0)
        status = error_errno(error, t->path, "sync", errno);
    if (t->calls->close(fd) != 0 && status == TANSU_OK)
        status = error_errno(error, t->path, "close", errno);
    free(t->path);
    t->path = NULL;
    return status;
}

tansu_status backup_folder_write(const staging *staged, database *db, const snapshot *v,
                                 const manifest *m, task *progress, uint64_t *bytes,
                                 tansu_error *error) {
    const fs *calls = staged->calls;
    tansu_status status = TANSU_OK;
    char *log_folder = fs_join(staged->path, "log");
    folder_target t = {.calls = calls, .log_folder = log_folder, .fd = -1, .progress = progress};
    log_copy_target target = {&t, folder_segment_begin, folder_segment_bytes, folder_segment_end};
    if (log_folder == NULL)
        status = error_memory(error);
    else if (calls->mkdir(calls, log_folder, 0755) != 0)
        status = error_errno(error, log_folder, "create the folder", errno);
    if (status == TANSU_OK)
        status = log_copy(db->log, v->sequence, v->position, &target, error);
    if (t.fd >= 0)
        calls->close(t.fd);
    free(t.path);
    if (status == TANSU_OK && calls->sync_folder(calls, log_folder) != 0)
        status = error_errno(error, log_folder, "sync", errno);
    if (status == TANSU_OK) /* last: it makes the folder a database; syncs the folder, too */
        status = manifest_write(calls, staged->path, m, error);
    free(log_folder);
    *bytes = t.bytes;
    return status;
}

/* ---- The progress of a task ---- */

tansu_status task_advance(task *t, uint64_t more, tansu_error *error) {
    t->done += more;
    if (t->done > t->total)
        t->total = t->done;
    if (t->progress == NULL || t->progress(t->context, t->done, t->total) != 0)
        return TANSU_OK;
    return error_set(error, TANSU_E_CANCELLED, NULL,
                     "The task was cancelled; no file of it is left");
}

/* ---- Checksums of a backup in one file ---- */

uint32_t backup_item_crc(uint32_t seed, backup_item item, const void *bytes) {
    item.crc = 0;
    uint32_t crc = checksum(seed, &item, sizeof item);
    return checksum(crc, bytes, item.size);
}

uint32_t backup_header_crc(backup_header header) {
    header.crc = 0;
    return checksum(0, &header, sizeof header);
}

size_t backup_seal(uint64_t size, uint32_t crc, uint8_t seal[BACKUP_SEAL_CAPACITY]) {
    uint8_t extra[16] = {'T', 'B', 12, 0}; /* a gzip extra field: two letters, its size, 12 bytes */
    store_u64(extra + 4, size);
    store_u32(extra + 12, crc);
    gz_header head = {.extra = extra, .extra_len = sizeof extra, .os = BACKUP_GZIP_SYSTEM};
    z_stream z = {0};
    if (deflateInit2(&z, BACKUP_LEVEL, Z_DEFLATED, BACKUP_GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) !=
        Z_OK)
        return 0;
    z.next_out = seal;
    z.avail_out = BACKUP_SEAL_CAPACITY;
    bool done = deflateSetHeader(&z, &head) == Z_OK && deflate(&z, Z_FINISH) == Z_STREAM_END;
    size_t length = BACKUP_SEAL_CAPACITY - z.avail_out;
    deflateEnd(&z);
    return done ? length : 0;
}
