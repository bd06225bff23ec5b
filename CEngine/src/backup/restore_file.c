/*
 * backup/restore_file.c -- reading a backup in one compressed file.
 */
#include "backup/restore_file.h"

#include "backup/backup_format.h"
#include "backup/restore_segment.h"
#include "util/bytes.h"
#include "util/checksum/checksum.h"
#include "util/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define IN_SIZE (256u * 1024u)

/* The file being read. */
typedef struct source {
    const fs *calls;
    int fd;
    const char *path;
    task *progress;
    z_stream z;
    uint8_t *in;
    uint64_t read_to; /* bytes of the file read so far */
    uint32_t crc;     /* of the bytes that were decompressed */
    bool ended;       /* the first member has ended */
    uint32_t seed;
    uint64_t items;
} source;

/* consumed -- how far into the file the decompressor is. */
static uint64_t consumed(const source *s) {
    return s->read_to - s->z.avail_in;
}

/* bad -- the error for a corrupt backup. */
static tansu_status bad(const source *s, const char *what, tansu_error *error) {
    return error_at(error, TANSU_E_CORRUPT, s->path, (int64_t)consumed(s),
                    "The backup is corrupt or cut off at about byte %llu: %s",
                    (unsigned long long)consumed(s), what);
}

/* refill -- reads more of the file when all was decompressed. */
static tansu_status refill(source *s, tansu_error *error) {
    if (s->z.avail_in != 0)
        return TANSU_OK;
    ssize_t n = s->calls->read(s->fd, s->in, IN_SIZE, (off_t)s->read_to);
    if (n < 0)
        return error_errno(error, s->path, "read", errno);
    s->z.next_in = s->in;
    s->z.avail_in = (uInt)n;
    s->read_to += (uint64_t)n;
    return n == 0 ? TANSU_OK : task_advance(s->progress, (uint64_t)n, error);
}

/* pull -- decompresses up to `capacity` bytes; *got is less only when the member has ended. */
static tansu_status pull(source *s, void *bytes, size_t capacity, size_t *got, tansu_error *error) {
    s->z.next_out = bytes;
    s->z.avail_out = (uInt)capacity;
    tansu_status status = TANSU_OK;
    while (status == TANSU_OK && s->z.avail_out != 0 && !s->ended) {
        status = refill(s, error);
        if (status != TANSU_OK)
            return status;
        if (s->z.avail_in == 0)
            return bad(s, "the file ends too early", error);
        const Bytef *before = s->z.next_in;
        int result = inflate(&s->z, Z_NO_FLUSH);
        s->crc = checksum(s->crc, before, (size_t)(s->z.next_in - before));
        if (result == Z_STREAM_END)
            s->ended = true;
        else if (result == Z_MEM_ERROR)
            status = error_memory(error);
        else if (result != Z_OK)
            status = bad(s, "the compressed bytes are invalid", error);
    }
    *got = capacity - s->z.avail_out;
    return status;
}

/* pull_all -- exactly `size` bytes. */
static tansu_status pull_all(source *s, void *bytes, size_t size, tansu_error *error) {
    size_t got = 0;
    tansu_status status = pull(s, bytes, size, &got, error);
    return status == TANSU_OK && got < size ? bad(s, "its end is missing", error) : status;
}

/* read_header -- the identity of the database. */
static tansu_status read_header(source *s, manifest *m, tansu_error *error) {
    backup_header header;
    static const uint8_t zero[sizeof header.zero];
    tansu_status status = refill(s, error);
    if (status != TANSU_OK)
        return status;
    if (s->z.avail_in < BACKUP_GZIP_HEAD_SIZE ||
        memcmp(s->in, BACKUP_GZIP_HEAD, BACKUP_GZIP_HEAD_SIZE) != 0)
        return bad(s, "it does not begin like a backup", error);
    status = pull_all(s, &header, sizeof header, error);
    if (status != TANSU_OK)
        return status;
    if (memcmp(header.magic, BACKUP_MAGIC, sizeof header.magic) != 0 ||
        header.crc != backup_header_crc(header))
        return bad(s, "the checksum of its header does not match", error);
    if (header.format != BACKUP_FORMAT)
        return error_set(error, TANSU_E_VERSION, s->path,
                         "The backup has format %u and this library reads format %u; restore it "
                         "with the version of the library that wrote it and dump that database",
                         header.format, BACKUP_FORMAT);
    if (memcmp(header.zero, zero, sizeof zero) != 0)
        return bad(s, "its header is invalid", error);
    memcpy(m->uuid, header.uuid, sizeof m->uuid);
    m->end_sequence = header.sequence;
    s->seed = checksum(0, m->uuid, sizeof m->uuid);
    return TANSU_OK;
}

/* read_item -- reads and validates the next item; its bytes go to `bytes`, which has a capacity of
 * BACKUP_ITEM_MOST. */
static tansu_status read_item(source *s, backup_item *item, uint8_t *bytes, tansu_error *error) {
    tansu_status status = pull_all(s, item, sizeof *item, error);
    if (status != TANSU_OK)
        return status;
    if (item->size > BACKUP_ITEM_MOST || item->number != s->items || item->zero != 0)
        return bad(s, "an item is invalid", error);
    s->items++;
    status = pull_all(s, bytes, item->size, error);
    if (status == TANSU_OK && item->crc != backup_item_crc(s->seed, *item, bytes))
        status = bad(s, "the checksum of an item does not match", error);
    return status;
}

/* What has been read of the container. */
typedef struct container {
    restore_segment segment;
    uint64_t segments;
    uint64_t bytes;
    bool inside; /* a segment */
    bool ended;
} container;

/* take_item -- applies an item. */
static tansu_status take_item(source *s, container *c, const backup_item *item,
                              const uint8_t *bytes, tansu_error *error) {
    tansu_status status = TANSU_OK;
    if (item->kind == BACKUP_SEGMENT && !c->inside && item->size == 8) {
        status = restore_segment_begin(&c->segment, load_u64(bytes), error);
        c->inside = true;
        c->segments++;
    } else if (item->kind == BACKUP_BYTES && c->inside) {
        status = restore_segment_bytes(&c->segment, bytes, item->size, error);
        c->bytes += item->size;
    } else if (item->kind == BACKUP_SEGMENT_END && c->inside && item->size == 8 &&
               load_u64(bytes) == c->segment.offset) {
        status = restore_segment_end(&c->segment, error);
        c->inside = false;
    } else if (item->kind == BACKUP_END && !c->inside && item->size == 16 &&
               load_u64(bytes) == c->segments && load_u64(bytes + 8) == c->bytes) {
        c->ended = true;
    } else {
        status = bad(s, "an item is out of order", error);
    }
    return status;
}

/* read_rest -- the seal, and nothing after it. */
static tansu_status read_rest(source *s, tansu_error *error) {
    uint8_t seal[BACKUP_SEAL_CAPACITY], byte;
    size_t got = 0;
    tansu_status status = pull(s, &byte, 1, &got, error);
    if (status != TANSU_OK)
        return status;
    if (got != 0 || !s->ended)
        return bad(s, "there are bytes after its last item", error);
    uint64_t at = consumed(s);
    size_t size = backup_seal(at, s->crc, seal);
    if (size == 0)
        return error_memory(error);
    uint8_t found[BACKUP_SEAL_CAPACITY + 1];
    size_t count = 0;
    while (count < size + 1) {
        ssize_t n = s->calls->read(s->fd, found + count, size + 1 - count, (off_t)(at + count));
        if (n < 0)
            return error_errno(error, s->path, "read", errno);
        if (n == 0)
            break;
        count += (size_t)n;
    }
    return count == size && memcmp(found, seal, size) == 0
               ? TANSU_OK
               : bad(s, "its checksum at the end does not match", error);
}

/* read_container -- header, items and seal. */
static tansu_status read_container(source *s, const staging *staged, manifest *m, uint8_t *bytes,
                                   tansu_error *error) {
    container c = {.segment = {.staged = staged, .fd = -1}};
    tansu_status status = read_header(s, m, error);
    while (status == TANSU_OK && !c.ended) {
        backup_item item;
        status = read_item(s, &item, bytes, error);
        if (status == TANSU_OK)
            status = take_item(s, &c, &item, bytes, error);
    }
    restore_segment_drop(&c.segment);
    return status == TANSU_OK ? read_rest(s, error) : status;
}

tansu_status restore_file(const staging *staged, int fd, const char *from, task *progress,
                          manifest *m, tansu_error *error) {
    source s = {.calls = staged->calls, .fd = fd, .path = from, .progress = progress};
    if (staged->calls->size(fd, &progress->total) != 0)
        return error_errno(error, from, "stat", errno);
    if (inflateInit2(&s.z, BACKUP_GZIP_WINDOW) != Z_OK)
        return error_memory(error);
    s.in = malloc(IN_SIZE);
    uint8_t *bytes = malloc(BACKUP_ITEM_MOST);
    tansu_status status = s.in == NULL || bytes == NULL
                              ? error_memory(error)
                              : read_container(&s, staged, m, bytes, error);
    inflateEnd(&s.z);
    free(bytes);
    free(s.in);
    return status;
}
