/*
 * backup/backup_file.c -- a backup in one compressed file.
 */
#include "backup/backup_file.h"

#include "backup/backup_format.h"
#include "log/segment_copy.h"
#include "store/database_internal.h"
#include "util/checksum/checksum.h"
#include "util/error.h"

#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

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
