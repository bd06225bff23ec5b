/*
 * backup/backup.c -- a backup as of one snapshot.
 */
#include "backup/backup.h"

#include "backup/backup_internal.h"
#include "backup/envelope.h"
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
#include <string.h>
#include <zlib.h>

/* ---- What a copy is encrypted with ---- */

/* take_own -- the database's keys, and its file KEY as it is now; with `derived` other data keys, which
 * the same user's key opens. The database's are not replaced meanwhile, unless another process writes
 * it. */
static tansu_status take_own(const database *db, bool derived, copy_keys *k, tansu_error *error) {
    const uint32_t current = keyring_current(db->keys);
    tansu_buffer own = TANSU_BUFFER_INIT;
    k->owned = derived;
    if (!derived) {
        k->keys = db->keys;
        return key_text_current(db->files.calls, db->files.folder, current, &k->text, error);
    }
    tansu_status status = key_text_current(db->files.calls, db->files.folder, current, &own, error);
    if (status == TANSU_OK)
        status = key_text_copy(&own, db->keys, &k->text, &k->keys, error);
    tansu_buffer_free(&own);
    return status;
}

tansu_status copy_keys_new(copy_keys *k, const uint8_t uuid[16], const user_key *key,
                           tansu_error *error) {
    k->owned = true;
    tansu_status status = key_file_new_keys(uuid, &k->keys, error);
    return status == TANSU_OK ? key_text_make(uuid, k->keys, true, key, &k->text, error) : status;
}

tansu_status copy_keys_renew(copy_keys *k, const uint8_t uuid[16], const tansu_buffer *text,
                             const user_key *key, tansu_error *error) {
    user_key same = *key;
    same.iterations = key_text_iterations(text);
    return copy_keys_new(k, uuid, &same, error);
}

/* take_keys -- what the backup is encrypted with; `key` as in database_backup(). A folder may be opened
 * and written to, so that it has data keys of its own in any case. */
static tansu_status take_keys(database *db, tansu_backup_form form, const user_key *key,
                              copy_keys *k, tansu_error *error) {
    bool persistent = db->options.store == TANSU_STORE_PERSISTENT;
    if (key == NULL ? db->keys == NULL : key->bytes == NULL)
        return TANSU_OK;
    if (key == NULL && persistent)
        return take_own(db, form == TANSU_BACKUP_FOLDER, k, error);
    user_key given = key == NULL ? user_key_given((user_key){.bytes = NULL}) : *key;
    if (given.bytes == NULL)
        return error_set(error, TANSU_E_INVALID_STATE, "key",
                         "The store is encrypted with a key that is written nowhere; give a key "
                         "for the backup, or make one that is not encrypted");
    return copy_keys_new(k, db->manifest.known.uuid, &given, error);
}

void copy_keys_free(copy_keys *k) {
    if (k->owned)
        keyring_free(k->keys);
    tansu_buffer_free(&k->text);
    *k = (copy_keys){.keys = NULL};
}

tansu_status copy_files_write(const staging *staged, const manifest *m, const copy_keys *keys,
                              tansu_error *error) {
    manifest sealed = *m;
    tansu_status status = TANSU_OK;
    if (keys->keys != NULL)
        status = key_text_write(staged->calls, staged->path, &keys->text, error);
    if (status == TANSU_OK)
        status = manifest_seal(&sealed, keys->keys, error);
    return status == TANSU_OK ? manifest_write(staged->calls, staged->path, &sealed, error)
                              : status;
}

/* ---- A backup ---- */

/* manifest_at -- the MANIFEST of a copy of the database as of a snapshot. */
static manifest manifest_at(database *db, const snapshot *v, bool encrypted) {
    pthread_mutex_lock(&db->checkpoints.mutex);
    manifest m = db->manifest.known;
    pthread_mutex_unlock(&db->checkpoints.mutex);
    m.index_open = false; /* the copy has no index files: opening it rebuilds them from the log */
    m.boot[0] = 0;
    m.end_sequence = v->sequence;
    m.encrypted = encrypted;
    return m;
}

/* write_snapshot -- writes the staged file or folder and publishes it. */
static tansu_status write_snapshot(const backup_source *source, staging *staged,
                                   backup_result *result, tansu_error *error) {
    tansu_status status = staged->folder
                              ? backup_folder_write(staged, source, &result->bytes, error)
                              : backup_file_write(staged, source, &result->bytes, error);
    return status == TANSU_OK ? staging_publish(staged, error) : status;
}

tansu_status database_backup(database *db, const char *to, tansu_backup_form form,
                             const user_key *key, task *progress, backup_result *result,
                             tansu_error *error) {
    *result = (backup_result){0};
    tansu_status status = staging_check_outside(to, db->files.folder, error);
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
    staging staged = {.calls = db->files.calls, .fd = -1};
    copy_keys keys = {.keys = NULL};
    status = take_keys(db, form, key, &keys, error);
    if (status == TANSU_OK)
        status = staging_begin(&staged, db->files.calls, to, form == TANSU_BACKUP_FOLDER, error);
    if (status == TANSU_OK) {
        backup_source source = {.db = db,
                                .snapshot = v,
                                .manifest = manifest_at(db, v, keys.keys != NULL),
                                .keys = &keys,
                                .progress = progress};
        status = write_snapshot(&source, &staged, result, error);
    }
    staging_end(&staged);
    copy_keys_free(&keys);
    snapshot_release(db, v);
    maintenance_end(db);
    return status;
}

/* ---- A backup in one file ---- */

#define OUT_SIZE (256u * 1024u)

_Static_assert(BACKUP_ITEM_MOST >= LOG_COPY_STEP, "a step of the log is one item");

/* The file being written. */
typedef struct file_target {
    const staging *staged;
    task *progress;
    envelope_writer envelope; /* with keys: all goes through it */
    bool sealed;
    uint64_t written; /* to the file */
    z_stream z;
    uint8_t *out;
    uint64_t offset;
    uint32_t crc; /* of all bytes so far, before they are encrypted */
    uint32_t seed;
    uint64_t items;
    uint64_t segments;
    uint64_t segment_bytes;
    uint64_t all_bytes;
} file_target;

/* append -- appends bytes to the file; an envelope_sink. */
static tansu_status append(void *context, const uint8_t *bytes, size_t size, tansu_error *error) {
    file_target *t = context;
    if (fs_write_all(t->staged->calls, t->staged->fd, bytes, size, t->written) != 0)
        return error_errno(error, t->staged->path, "write", errno);
    t->written += size;
    return TANSU_OK;
}

/* write_out -- appends bytes, encrypted where that is wanted. */
static tansu_status write_out(file_target *t, const uint8_t *bytes, size_t size,
                              tansu_error *error) {
    t->crc = checksum(t->crc, bytes, size);
    t->offset += size;
    return t->sealed ? envelope_write(&t->envelope, bytes, size, error)
                     : append(t, bytes, size, error);
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
static tansu_status write_container(file_target *t, const backup_source *source,
                                    tansu_error *error) {
    const manifest *m = &source->manifest;
    const snapshot *v = source->snapshot;
    backup_header header = {.format = BACKUP_FORMAT, .sequence = m->end_sequence};
    memcpy(header.magic, BACKUP_MAGIC, sizeof header.magic);
    memcpy(header.uuid, m->uuid, sizeof header.uuid);
    header.crc = backup_header_crc(header);
    tansu_status status = compress_bytes(t, &header, sizeof header, false, error);
    log_copy_target target = {t, file_segment_begin, file_segment_bytes, file_segment_end};
    if (status == TANSU_OK)
        status = log_copy(source->db->log, v->sequence, v->position, &target, error);
    uint64_t totals[2] = {t->segments, t->all_bytes};
    if (status == TANSU_OK)
        status = put_item(t, BACKUP_END, totals, sizeof totals, error);
    return status == TANSU_OK ? compress_bytes(t, NULL, 0, true, error) : status;
}

/* write_members -- both gzip members. */
static tansu_status write_members(file_target *t, const backup_source *source, tansu_error *error) {
    gz_header head = {.os = BACKUP_GZIP_SYSTEM};
    if (deflateInit2(&t->z, BACKUP_LEVEL, Z_DEFLATED, BACKUP_GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) !=
        Z_OK)
        return error_memory(error);
    t->out = malloc(OUT_SIZE);
    t->z.next_out = t->out;
    t->z.avail_out = OUT_SIZE;
    tansu_status status = t->out == NULL || deflateSetHeader(&t->z, &head) != Z_OK
                              ? error_memory(error)
                              : write_container(t, source, error);
    deflateEnd(&t->z);
    free(t->out);
    uint8_t seal[BACKUP_SEAL_CAPACITY];
    size_t size = status == TANSU_OK ? backup_seal(t->offset, t->crc, seal) : 0;
    if (status == TANSU_OK)
        status = size == 0 ? error_memory(error) : write_out(t, seal, size, error);
    return status;
}

tansu_status backup_file_write(const staging *staged, const backup_source *source, uint64_t *bytes,
                               tansu_error *error) {
    const copy_keys *keys = source->keys;
    file_target t = {.staged = staged, .progress = source->progress, .sealed = keys->keys != NULL};
    t.seed = checksum(0, source->manifest.uuid, sizeof source->manifest.uuid);
    tansu_status status = TANSU_OK;
    if (t.sealed)
        status = envelope_begin(&t.envelope, ENVELOPE_BACKUP, keys->keys, &keys->text, append, &t,
                                error);
    if (status == TANSU_OK)
        status = write_members(&t, source, error);
    if (status == TANSU_OK && t.sealed)
        status = envelope_finish(&t.envelope, error);
    envelope_writer_free(&t.envelope);
    if (status == TANSU_OK && staged->calls->sync(staged->fd, NULL, 0) != 0)
        status = error_errno(error, staged->path, "sync", errno);
    *bytes = t.written;
    return status;
}

/* ---- A backup that is a database folder ---- */

/* The folder being written. */
typedef struct folder_target {
    backup_segment segment;
    uint64_t bytes;
    task *progress;
} folder_target;

static tansu_status folder_segment_begin(void *context, const log_extent *segment,
                                         tansu_error *error) {
    folder_target *t = context;
    return backup_segment_begin(&t->segment, segment->number, error);
}

static tansu_status folder_segment_bytes(void *context, const uint8_t *bytes, size_t size,
                                         tansu_error *error) {
    folder_target *t = context;
    tansu_status status = backup_segment_bytes(&t->segment, bytes, size, error);
    return status == TANSU_OK ? task_advance(t->progress, size, error) : status;
}

static tansu_status folder_segment_end(void *context, tansu_error *error) {
    folder_target *t = context;
    tansu_status status = backup_segment_end(&t->segment, error);
    t->bytes += t->segment.offset;
    return status;
}

tansu_status backup_folder_write(const staging *staged, const backup_source *source,
                                 uint64_t *bytes, tansu_error *error) {
    const fs *calls = staged->calls;
    const snapshot *v = source->snapshot;
    tansu_status status = TANSU_OK;
    char *log_folder = fs_join(staged->path, "log");
    folder_target t = {.segment = {.staged = staged, .keys = source->keys->keys, .fd = -1},
                       .progress = source->progress};
    log_copy_target target = {&t, folder_segment_begin, folder_segment_bytes, folder_segment_end};
    if (log_folder == NULL)
        status = error_memory(error);
    else if (calls->mkdir(calls, log_folder, 0755) != 0)
        status = error_errno(error, log_folder, "create the folder", errno);
    if (status == TANSU_OK)
        status = log_copy(source->db->log, v->sequence, v->position, &target, error);
    backup_segment_drop(&t.segment);
    if (status == TANSU_OK && calls->sync_folder(calls, log_folder) != 0)
        status = error_errno(error, log_folder, "sync", errno);
    if (status == TANSU_OK) /* which syncs the folder, too */
        status = copy_files_write(staged, &source->manifest, source->keys, error);
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
