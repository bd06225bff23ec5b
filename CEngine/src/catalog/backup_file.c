/*
 * catalog/backup_file.c -- a backup in one compressed file.
 */
#include "base/bytes.h"
#include "base/error.h"
#include "catalog/backup.h"
#include "catalog/backup_format.h"
#include "log/copy.h"

#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

/* Three quarters of what the best level gains, at twice the default's speed. */
#define LEVEL 3
#define OUT_SIZE (256u * 1024u)
#define GZIP_WINDOW (15 + 16) /* zlib's way of asking for a gzip wrapper */
#define SYSTEM_UNKNOWN 255

_Static_assert(BACKUP_ITEM_MOST >= LOG_COPY_STEP, "a step of the log is one item");

uint32_t backup_item_crc(uint32_t seed, backup_item item, const void *bytes) {
    item.crc = 0;
    uint32_t crc = (uint32_t)crc32_z(seed, (const Bytef *)&item, sizeof item);
    return (uint32_t)crc32_z(crc, bytes, item.size);
}

uint32_t backup_header_crc(backup_header header) {
    header.crc = 0;
    return (uint32_t)crc32_z(0, (const Bytef *)&header, sizeof header);
}

size_t backup_seal(uint64_t size, uint32_t crc, uint8_t seal[BACKUP_SEAL_ROOM]) {
    uint8_t extra[16] = {'T', 'B', 12, 0}; /* a gzip extra field: two letters, its size, 12 bytes */
    store_u64(extra + 4, size);
    store_u32(extra + 12, crc);
    gz_header head = {.extra = extra, .extra_len = sizeof extra, .os = SYSTEM_UNKNOWN};
    z_stream z = {0};
    if (deflateInit2(&z, LEVEL, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return 0;
    z.next_out = seal;
    z.avail_out = BACKUP_SEAL_ROOM;
    bool done = deflateSetHeader(&z, &head) == Z_OK && deflate(&z, Z_FINISH) == Z_STREAM_END;
    size_t length = BACKUP_SEAL_ROOM - z.avail_out;
    deflateEnd(&z);
    return done ? length : 0;
}

/* The file being written. */
typedef struct file_target {
    const backup_part *part;
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

/* write_out -- bytes to the file. */
static tansu_status write_out(file_target *t, const uint8_t *bytes, size_t size,
                              tansu_error *error) {
    t->crc = (uint32_t)crc32_z(t->crc, bytes, size);
    if (fs_write_all(t->part->calls, t->part->fd, bytes, size, t->offset) != 0)
        return error_errno(error, t->part->path, "write", errno);
    t->offset += size;
    return TANSU_OK;
}

/* compress_bytes -- puts bytes into the member; `finish` ends it. */
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

/* put_item -- one item of the container. */
static tansu_status put_item(file_target *t, enum backup_kind kind, const void *bytes, size_t size,
                             tansu_error *error) {
    backup_item item = {.kind = kind, .size = (uint32_t)size, .number = t->items++};
    item.crc = backup_item_crc(t->seed, item, bytes);
    tansu_status status = compress_bytes(t, &item, sizeof item, false, error);
    return status == TANSU_OK ? compress_bytes(t, bytes, size, false, error) : status;
}

static tansu_status file_begin(void *context, const log_extent *segment, tansu_error *error) {
    file_target *t = context;
    uint64_t wide = segment->number;
    t->segments++;
    t->segment_bytes = 0;
    return put_item(t, BACKUP_SEGMENT, &wide, sizeof wide, error);
}

static tansu_status file_bytes(void *context, const uint8_t *bytes, size_t size,
                               tansu_error *error) {
    file_target *t = context;
    t->segment_bytes += size;
    t->all_bytes += size;
    tansu_status status = put_item(t, BACKUP_BYTES, bytes, size, error);
    return status == TANSU_OK ? task_advance(t->progress, size, error) : status;
}

static tansu_status file_end(void *context, tansu_error *error) {
    file_target *t = context;
    return put_item(t, BACKUP_SEGMENT_END, &t->segment_bytes, sizeof t->segment_bytes, error);
}

/* write_container -- the first member. */
static tansu_status write_container(file_target *t, database *db, const version *v,
                                    const manifest *m, tansu_error *error) {
    backup_header header = {.format = BACKUP_FORMAT, .sequence = m->end_sequence};
    memcpy(header.magic, BACKUP_MAGIC, sizeof header.magic);
    memcpy(header.uuid, m->uuid, sizeof header.uuid);
    header.crc = backup_header_crc(header);
    tansu_status status = compress_bytes(t, &header, sizeof header, false, error);
    log_copy_target target = {t, file_begin, file_bytes, file_end};
    if (status == TANSU_OK)
        status = log_copy(db->log, v->sequence, v->position, &target, error);
    uint64_t totals[2] = {t->segments, t->all_bytes};
    if (status == TANSU_OK)
        status = put_item(t, BACKUP_END, totals, sizeof totals, error);
    return status == TANSU_OK ? compress_bytes(t, NULL, 0, true, error) : status;
}

/* write_seal -- the second member. */
static tansu_status write_seal(file_target *t, tansu_error *error) {
    uint8_t seal[BACKUP_SEAL_ROOM];
    size_t size = backup_seal(t->offset, t->crc, seal);
    return size == 0 ? error_memory(error) : write_out(t, seal, size, error);
}

tansu_status backup_file_write(const backup_part *part, database *db, const version *v,
                               const manifest *m, task *progress, uint64_t *bytes,
                               tansu_error *error) {
    file_target t = {.part = part, .progress = progress};
    t.seed = (uint32_t)crc32_z(0, m->uuid, sizeof m->uuid);
    gz_header head = {.os = SYSTEM_UNKNOWN};
    if (deflateInit2(&t.z, LEVEL, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) != Z_OK)
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
    if (status == TANSU_OK && part->calls->sync(part->fd, NULL, 0) != 0)
        status = error_errno(error, part->path, "sync", errno);
    *bytes = t.offset;
    return status;
}
