/*
 * backup/restore.c -- restoring a database: copy the segments, validate them, open the result as a
 * database, verify it, and publish it.
 */
#include "backup/backup.h"
#include "backup/backup_internal.h"
#include "backup/envelope.h"
#include "bson/document.h"
#include "check/verify/verify.h"
#include "log/compressed/codec.h"
#include "log/compressed/compressed_segment.h"
#include "log/scan.h"
#include "log/segment_reader.h"
#include "store/manifest.h"
#include "store/open/open.h"
#include "store/snapshot.h"
#include "util/bytes.h"
#include "util/checksum/checksum.h"
#include "util/error.h"
#include "util/staging/staging.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* count_documents -- the result, from the newest snapshot. */
static void count_documents(database *db, backup_result *result) {
    snapshot *v = snapshot_acquire(db);
    result->sequence = v->sequence;
    result->documents += snapshot_documents(v);
    snapshot_release(db, v);
}

/* as_corruption -- an error that opening reports of an invalid log is corruption of the backup. */
static tansu_status as_corruption(tansu_status status, tansu_error *error) {
    switch (status) {
    case TANSU_OK:
    case TANSU_E_MEMORY:
    case TANSU_E_IO:
    case TANSU_E_FULL:
    case TANSU_E_READ_ONLY:
    case TANSU_E_LOCKED:
    case TANSU_E_VERSION:
    case TANSU_E_UNSUPPORTED:
    case TANSU_E_CORRUPT: return status;
    default: break;
    }
    if (error != NULL) {
        char message[sizeof error->message];
        memcpy(message, error->message, sizeof message);
        error_set(error, TANSU_E_CORRUPT, error->context, "The backup is corrupt: %s", message);
    }
    return TANSU_E_CORRUPT;
}

/* What a restore is doing. */
typedef struct restoring {
    staging staged;
    restore_source from;
    manifest manifest; /* of the restored database */
    copy_keys keys;
} restoring;

/* open_staged -- opens the restored database, which replays its log and rebuilds the indexes,
 * verifies it and closes it. */
static tansu_status open_staged(const restoring *r, const query_hooks *hooks, backup_result *result,
                                tansu_error *error) {
    const manifest *m = &r->manifest;
    tansu_options options;
    options_set_defaults(&options);
    options.path = r->staged.path;
    options.must_exist = 1;
    if (m->encrypted) {
        options.key = r->from.key->bytes;
        options.key_size = r->from.key->size;
        options.key_kind = r->from.key->kind;
    }
    database *db = NULL;
    tansu_status status = database_open(&options, r->staged.calls, hooks, &db, error);
    if (status != TANSU_OK)
        return as_corruption(status, error);
    count_documents(db, result);
    /* A folder that was opened and not closed may have later commits than its MANIFEST knows. */
    if (m->end_sequence != result->sequence && r->from.fd >= 0)
        status =
            error_set(error, TANSU_E_CORRUPT, NULL,
                      "The backup is of commit %llu and its log ends with commit %llu",
                      (unsigned long long)m->end_sequence, (unsigned long long)result->sequence);
    if (status == TANSU_OK)
        status = database_verify(db, NULL, NULL, NULL, error);
    tansu_status closed = database_close(db, status == TANSU_OK ? error : NULL);
    return status == TANSU_OK ? closed : status;
}

/* fill -- copies and validates the segments; writes the MANIFEST last. */
static tansu_status fill(restoring *r, tansu_error *error) {
    const staging *staged = &r->staged;
    manifest *m = &r->manifest;
    char *log_folder = fs_join(staged->path, "log");
    tansu_status status = TANSU_OK;
    if (log_folder == NULL)
        status = error_memory(error);
    else if (staged->calls->mkdir(staged->calls, log_folder, 0755) != 0)
        status = error_errno(error, log_folder, "create the folder", errno);
    if (status == TANSU_OK)
        status = r->from.fd < 0 ? restore_folder(staged, &r->from, m, &r->keys, error)
                                : restore_file(staged, &r->from, m, &r->keys, error);
    if (status == TANSU_OK)
        status = restore_check(staged, m, r->keys.keys, error);
    if (status == TANSU_OK && staged->calls->sync_folder(staged->calls, log_folder) != 0)
        status = error_errno(error, log_folder, "sync", errno);
    free(log_folder);
    return status == TANSU_OK ? copy_files_write(staged, m, &r->keys, error) : status;
}

/* check_outside -- staging_check_outside() for the folder of a database, which restore_folder()
 * finds out. */
static tansu_status check_outside(const fs *calls, const char *from, const char *to,
                                  tansu_error *error) {
    char *path = fs_join(from, "MANIFEST");
    if (path == NULL)
        return error_memory(error);
    int fd = calls->open(calls, path, O_RDONLY, 0);
    free(path);
    if (fd < 0)
        return TANSU_OK;
    calls->close(fd);
    return staging_check_outside(to, from, error);
}

/* open_backup -- the file, or -1: it is a folder. */
static tansu_status open_backup(const char *from, const fs *calls, int *fd, tansu_error *error) {
    bool folder = fs_is_folder(calls, from);
    *fd = -1;
    if (folder)
        return TANSU_OK;
    if (errno != ENOTDIR && errno != ENOENT) /* it may be one */
        return error_errno(error, from, "open", errno);
    *fd = calls->open(calls, from, O_RDONLY | O_NONBLOCK, 0);
    if (*fd >= 0)
        return TANSU_OK;
    return errno == ENOENT || errno == ENOTDIR
               ? error_set(error, TANSU_E_NOT_FOUND, from, "There is no backup at this path")
               : error_errno(error, from, "open", errno);
}

tansu_status database_restore(const char *from, const char *to, const user_key *key,
                              const fs *calls, const query_hooks *hooks, task *progress,
                              backup_result *result, tansu_error *error) {
    *result = (backup_result){0};
    const user_key given = user_key_given(*key);
    restoring r = {.staged = {.calls = calls, .fd = -1},
                   .from = {.from = from, .key = &given, .progress = progress}};
    tansu_status status = open_backup(from, calls, &r.from.fd, error);
    if (status != TANSU_OK)
        return status;
    if (r.from.fd < 0)
        status = check_outside(calls, from, to, error);
    if (status == TANSU_OK)
        status = staging_begin(&r.staged, calls, to, true, error);
    if (status == TANSU_OK)
        status = fill(&r, error);
    copy_keys_free(&r.keys);
    if (r.from.fd >= 0)
        calls->close(r.from.fd);
    if (status == TANSU_OK) {
        staging_unlock(&r.staged); /* the database locks the same LOCK */
        status = open_staged(&r, hooks, result, error);
    }
    if (status == TANSU_OK)
        status = staging_publish(&r.staged, error);
    staging_end(&r.staged);
    return status;
}

/* ---- Keys ---- */

tansu_status restore_key_missing(const restore_source *from, tansu_error *error) {
    return error_set(error, TANSU_E_ENCRYPTED, from->from,
                     "The backup is encrypted; restore it with its key");
}

tansu_status restore_check_plain(const restore_source *from, tansu_error *error) {
    if (from->key->bytes == NULL || from->key->assumed)
        return TANSU_OK;
    return error_set(error, TANSU_E_INVALID_ARGUMENT, from->from,
                     "A key was given and the backup is not encrypted; if that is what you expect, "
                     "restore it without a key");
}

/* ---- Reading a backup in one file ---- */

#define IN_SIZE (256u * 1024u)

/* The file being read. */
typedef struct source {
    const fs *calls;
    int fd;
    const char *path;
    task *progress;
    envelope_reader envelope; /* of an encrypted one */
    bool sealed;
    uint64_t file_at; /* bytes of the file read so far */
    z_stream z;
    uint8_t *in;
    uint64_t read_to; /* the same, decrypted */
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

/* read_some -- up to `capacity` bytes of the file; *got 0: it has no more. */
static tansu_status read_some(source *s, uint8_t *bytes, size_t capacity, size_t *got,
                              tansu_error *error) {
    ssize_t n = s->calls->read(s->fd, bytes, capacity, (off_t)s->file_at);
    if (n < 0)
        return error_errno(error, s->path, "read", errno);
    *got = (size_t)n;
    s->file_at += *got;
    return n == 0 ? TANSU_OK : task_advance(s->progress, *got, error);
}

/* read_stream -- an envelope_source. */
static tansu_status read_stream(void *context, uint8_t *bytes, size_t capacity, size_t *got,
                                tansu_error *error) {
    tansu_status status = TANSU_OK;
    size_t part = 1;
    for (*got = 0; status == TANSU_OK && part != 0 && *got < capacity; *got += part) {
        part = 0;
        status = read_some(context, bytes + *got, capacity - *got, &part, error);
    }
    return status;
}

/* refill -- reads more of the file when all was decompressed. */
static tansu_status refill(source *s, tansu_error *error) {
    if (s->z.avail_in != 0)
        return TANSU_OK;
    const uint8_t *bytes = s->in;
    size_t got = 0;
    tansu_status status = s->sealed ? envelope_next(&s->envelope, &bytes, &got, error)
                                    : read_some(s, s->in, IN_SIZE, &got, error);
    s->z.next_in = (Bytef *)(uintptr_t)bytes;
    s->z.avail_in = (uInt)got;
    s->read_to += got;
    return status;
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
        memcmp(s->z.next_in, BACKUP_GZIP_HEAD, BACKUP_GZIP_HEAD_SIZE) != 0)
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
    if (s->sealed && memcmp(header.uuid, s->envelope.uuid, sizeof header.uuid) != 0)
        return bad(s, "its keys are those of another database", error);
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
    backup_segment segment;
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
        status = backup_segment_begin(&c->segment, load_u64(bytes), error);
        c->inside = true;
        c->segments++;
    } else if (item->kind == BACKUP_BYTES && c->inside) {
        status = backup_segment_bytes(&c->segment, bytes, item->size, error);
        c->bytes += item->size;
    } else if (item->kind == BACKUP_SEGMENT_END && c->inside && item->size == 8 &&
               load_u64(bytes) == c->segment.taken) {
        status = backup_segment_end(&c->segment, error);
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
    for (got = 0; got < size + 1;) {
        status = refill(s, error);
        if (status != TANSU_OK)
            return status;
        size_t part = s->z.avail_in < size + 1 - got ? s->z.avail_in : size + 1 - got;
        if (part == 0)
            break;
        memcpy(found + got, s->z.next_in, part);
        s->z.next_in += part;
        s->z.avail_in -= (uInt)part;
        got += part;
    }
    return got == size && memcmp(found, seal, size) == 0
               ? TANSU_OK
               : bad(s, "its checksum at the end does not match", error);
}

/* read_container -- header, items and seal; `keys`: what the segments are sealed with. */
static tansu_status read_container(source *s, const staging *staged, manifest *m, keyring *keys,
                                   uint8_t *bytes, tansu_error *error) {
    container c = {.segment = {.staged = staged, .keys = keys, .fd = -1}};
    tansu_status status = read_header(s, m, error);
    while (status == TANSU_OK && !c.ended) {
        backup_item item;
        status = read_item(s, &item, bytes, error);
        if (status == TANSU_OK)
            status = take_item(s, &c, &item, bytes, error);
    }
    backup_segment_drop(&c.segment);
    return status == TANSU_OK ? read_rest(s, error) : status;
}

/* unlock -- opens the envelope of an encrypted backup. */
static tansu_status unlock(source *s, const restore_source *from, tansu_error *error) {
    uint8_t magic[ENVELOPE_MAGIC_SIZE];
    size_t got = 0;
    ssize_t n = s->calls->read(s->fd, magic, sizeof magic, 0);
    if (n < 0)
        return error_errno(error, s->path, "read", errno);
    got = (size_t)n;
    s->sealed = got == sizeof magic && memcmp(magic, ENVELOPE_MAGIC, sizeof magic) == 0;
    if (s->sealed)
        return from->key->bytes == NULL ? restore_key_missing(from, error)
                                        : envelope_open(&s->envelope, ENVELOPE_BACKUP, "backup",
                                                        s->path, from->key, read_stream, s, error);
    return got == sizeof magic && memcmp(magic, BACKUP_GZIP_HEAD, sizeof magic) == 0
               ? restore_check_plain(from, error)
               : TANSU_OK; /* it is none */
}

tansu_status restore_file(const staging *staged, const restore_source *from, manifest *m,
                          copy_keys *keys, tansu_error *error) {
    source s = {
        .calls = staged->calls, .fd = from->fd, .path = from->from, .progress = from->progress};
    if (staged->calls->size(s.fd, &s.progress->total) != 0)
        return error_errno(error, s.path, "stat", errno);
    if (inflateInit2(&s.z, BACKUP_GZIP_WINDOW) != Z_OK)
        return error_memory(error);
    s.in = malloc(IN_SIZE);
    uint8_t *bytes = malloc(BACKUP_ITEM_MOST);
    tansu_status status =
        s.in == NULL || bytes == NULL ? error_memory(error) : unlock(&s, from, error);
    if (status == TANSU_OK && s.sealed)
        status = copy_keys_renew(keys, s.envelope.uuid, &s.envelope.text, from->key, error);
    if (status == TANSU_OK)
        status = read_container(&s, staged, m, keys->keys, bytes, error);
    m->encrypted = s.sealed;
    envelope_reader_free(&s.envelope);
    inflateEnd(&s.z);
    if (bytes != NULL)
        crypt_wipe(bytes, BACKUP_ITEM_MOST);
    free(bytes);
    free(s.in);
    return status;
}

/* ---- Validating every frame and document of restored segments ---- */

/*
 * Replay trusts the records of a frame with a valid checksum, because this library wrote them. A
 * backup is untrusted input, so each document is validated like one that an application saves.
 */

typedef struct checking {
    const staging *staged;
    const char *folder;
    uint32_t seed;
    keyring *keys; /* of an encrypted database; otherwise NULL */
    tansu_status status;
    tansu_error *error;
    bool compacted; /* some segment */
} checking;

/* check_frame -- the records of a frame with a valid checksum. */
static tansu_status check_frame(const frame_header *frame, const char *name, uint64_t offset,
                                tansu_error *error) {
    for (uint64_t at = FRAME_HEADER_SIZE; at < frame->size;) {
        const record_header *record = (const record_header *)((const uint8_t *)frame + at);
        const char *wrong = scan_record(record, frame->size - at, frame->sequence);
        if (wrong != NULL)
            return error_at(error, TANSU_E_CORRUPT, name, (int64_t)(offset + at),
                            "The backup is corrupt: a record %s (\"log/%s\", offset %llu)", wrong,
                            name, (unsigned long long)(offset + at));
        at += record->size;
    }
    return TANSU_OK;
}

/* check_mapped -- the frames of a segment. Replay decides where they end. */
static tansu_status check_mapped(checking *c, const uint8_t *bytes, uint64_t size, const char *name,
                                 tansu_error *error) {
    tansu_status status = TANSU_OK;
    uint64_t at = SEGMENT_HEADER_SIZE;
    const frame_header *frame;
    const segment_header *header = (const segment_header *)(const void *)bytes;
    c->compacted = c->compacted || (header->kind & ~SEGMENT_SEALED) != SEGMENT_WRITTEN;
    while (status == TANSU_OK && (frame = scan_frame(c->seed, bytes, size, at)) != NULL) {
        status = check_frame(frame, name, at, error);
        at += frame->size;
    }
    return status;
}

/* corrupt -- the error for a compressed segment. */
static tansu_status corrupt(const char *name, uint64_t offset, tansu_error *error) {
    return error_at(error, TANSU_E_CORRUPT, name, (int64_t)offset,
                    "The backup is corrupt: a block of a compressed segment is invalid "
                    "(\"log/%s\", offset %llu)",
                    name, (unsigned long long)offset);
}

/* check_compressed -- the same for a compressed segment. */
static tansu_status check_compressed(checking *c, const uint8_t *bytes, uint64_t size,
                                     const char *name, tansu_error *error) {
    uint64_t end = ((const segment_header *)(const void *)bytes)->end;
    uint64_t at = COMPRESSED_BLOCKS, next = SEGMENT_HEADER_SIZE;
    if (end < next || end > UINT32_MAX)
        return corrupt(name, 0, error);
    uint8_t *image = malloc((size_t)end);
    if (image == NULL)
        return error_memory(error);
    tansu_status status = TANSU_OK;
    memcpy(image, bytes, SEGMENT_HEADER_SIZE);
    while (status == TANSU_OK && next < end) {
        const block_header *h = block_valid(c->seed, bytes, size, at);
        if (h != NULL && !codec_available((enum codec)h->codec))
            status = codec_missing("The backup", (enum codec)h->codec, error);
        else if (h == NULL || h->offset != next || h->size == 0 || h->size > end - next ||
                 !codec_decompress((enum codec)h->codec, bytes + at + BLOCK_HEADER_SIZE, h->stored,
                                   image + next, h->size))
            status = corrupt(name, at, error);
        if (status != TANSU_OK)
            break;
        next += h->size;
        at += align8(BLOCK_HEADER_SIZE + (uint64_t)h->stored);
    }
    if (status == TANSU_OK)
        status = check_mapped(c, image, end, name, error);
    free(image);
    return status;
}

/* sealed_end -- the end of the image that the blocks of a sealed segment make up. */
static uint64_t sealed_end(const uint8_t *bytes, uint64_t size) {
    uint64_t end = SEGMENT_HEADER_SIZE;
    sealed_header h;
    for (uint64_t at = SEALED_BLOCKS;
         sealed_header_at(bytes, size, at, &h) && h.codec != SEALED_TABLE && h.offset == end &&
         h.size != 0 && h.size <= UINT32_MAX - end;
         at += sealed_size(h.stored))
        end += h.size;
    return end;
}

/* check_sealed -- the same for a sealed segment, up to the first block that is not valid; opening
 * finds out whether that is the end. */
static tansu_status check_sealed(checking *c, const uint8_t *bytes, uint64_t size, const char *name,
                                 tansu_error *error) {
    uint64_t end = sealed_end(bytes, size), next = SEGMENT_HEADER_SIZE, at = SEALED_BLOCKS;
    uint32_t number = 0;
    sealed_header h;
    uint8_t *image = malloc((size_t)end);
    if (image == NULL)
        return error_memory(error);
    tansu_status status = TANSU_OK;
    memcpy(image, bytes, SEGMENT_HEADER_SIZE);
    segment_number(name, ".seg", &number);
    while (status == TANSU_OK && next < end && sealed_header_at(bytes, size, at, &h)) {
        status = sealed_block_open(c->keys, number, &h, bytes + at, image + next);
        if (status == TANSU_OK)
            next += h.size;
        at += sealed_size(h.stored);
    }
    if (status == TANSU_E_MEMORY)
        status = error_memory(error);
    else if (status == TANSU_OK || status == TANSU_E_CORRUPT)
        status = check_mapped(c, image, next, name, error);
    crypt_wipe(image, (size_t)end);
    free(image);
    return status;
}

/* check_segment -- one segment file. */
static tansu_status check_segment(checking *c, const char *name, tansu_error *error) {
    const fs *calls = c->staged->calls;
    char *path = fs_join(c->folder, name);
    if (path == NULL)
        return error_memory(error);
    tansu_status status = TANSU_OK;
    uint64_t size = 0;
    uint8_t *bytes = NULL;
    int fd = calls->open(calls, path, O_RDONLY, 0);
    if (fd < 0 || calls->size(fd, &size) != 0)
        status = error_errno(error, path, "open", errno);
    if (status == TANSU_OK && size >= SEGMENT_HEADER_SIZE) {
        bytes = calls->map(fd, size, false);
        if (bytes == NULL)
            status = error_errno(error, path, "map", errno);
        else if (c->keys != NULL)
            status = check_sealed(c, bytes, size, name, error);
        else if (segment_kind_of((const segment_header *)(const void *)bytes) == SEGMENT_COMPRESSED)
            status = check_compressed(c, bytes, size, name, error);
        else
            status = check_mapped(c, bytes, size, name, error);
    }
    if (bytes != NULL)
        calls->unmap(bytes, (size_t)size);
    if (fd >= 0)
        calls->close(fd);
    free(path);
    return status;
}

/* check_name -- validates one segment file. */
static bool check_name(void *context, const char *name) {
    checking *c = context;
    c->status = check_segment(c, name, c->error);
    return c->status == TANSU_OK;
}

tansu_status restore_check(const staging *staged, manifest *m, keyring *keys, tansu_error *error) {
    char *folder = fs_join(staged->path, "log");
    if (folder == NULL)
        return error_memory(error);
    checking c = {.staged = staged, .folder = folder, .keys = keys, .error = error};
    c.seed = checksum(0, m->uuid, sizeof m->uuid);
    if (staged->calls->list(staged->calls, folder, check_name, &c) != 0 && c.status == TANSU_OK)
        c.status = error_errno(error, folder, "list", errno);
    m->compacted = m->compacted || c.compacted;
    free(folder);
    return c.status;
}
