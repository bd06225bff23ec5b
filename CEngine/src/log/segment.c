/*
 * log/segment.c -- one segment: its file and its mapping.
 *
 * The head's whole address range is mapped at once, and the file grows under it in steps, so that
 * records never move. Only bytes with allocated disk space are touched: a full disk is an error of
 * segment_grow(), never a SIGBUS. Other segments are mapped read-only at their size, and their
 * files are closed: the mapping needs no descriptor.
 */
#include "log/segment.h"

#include "log/reserve.h"
#include "log/sealed_segment.h"
#include "util/array.h"
#include "util/checksum/checksum.h"
#include "util/error.h"
#include "util/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

uint64_t segment_map_size(uint64_t size) {
    return (size + SEGMENT_MAP_UNIT - 1) / SEGMENT_MAP_UNIT * SEGMENT_MAP_UNIT;
}

char *segment_path(const log *l, uint32_t number) {
    return segment_file(l->folder, number);
}

/* header_crc -- the CRC of a header with its crc field taken as zero. */
static uint32_t header_crc(const segment_header *header) {
    segment_header copy = *header;
    copy.crc = 0;
    return checksum(0, &copy, sizeof copy);
}

char *segment_unfinished_path(const log *l, uint32_t number) {
    char name[32];
    snprintf(name, sizeof name, "%08u" SEGMENT_NEW, number);
    return fs_join(l->folder, name);
}

segment_header segment_header_fill(const log *l, uint32_t number, uint64_t first, uint64_t last,
                                   uint64_t end, uint16_t kind) {
    segment_header header = {.format = LOG_FORMAT,
                             .kind = sealed_log(l) ? kind | SEGMENT_SEALED : kind,
                             .number = number,
                             .base = first,
                             .last = last,
                             .end = end};
    memcpy(header.magic, SEGMENT_MAGIC, sizeof header.magic);
    memcpy(header.uuid, l->uuid, sizeof header.uuid);
    header.crc = header_crc(&header);
    return header;
}

/* ---- The active segments ---- */

uint32_t segment_index(const log *l, uint32_t number) {
    for (uint32_t i = l->active.count; i > 0; i--)
        if (l->active.items[i - 1]->number == number)
            return i - 1;
    return UINT32_MAX;
}

segment *segment_get(const log *l, uint32_t number) {
    uint32_t i = segment_index(l, number);
    return i == UINT32_MAX ? NULL : l->active.items[i];
}

/* ---- The readers' table ---- */

tansu_status segment_table(log *l, uint32_t number, tansu_error *error) {
    uint32_t top = number >> LOG_TABLE_BITS;
    if (top >= LOG_TABLE_SIZE)
        return error_set(error, TANSU_E_TOO_LARGE, NULL,
                         "The log has used up its segment numbers; clone the database");
    if (__atomic_load_n(&l->tables[top], __ATOMIC_ACQUIRE) != NULL)
        return TANSU_OK;
    segment_entry *table = calloc(LOG_TABLE_SIZE, sizeof *table), *none = NULL;
    if (table == NULL)
        return error_memory(error);
    /* The writer and a compaction may both need it. */
    if (!__atomic_compare_exchange_n(&l->tables[top], &none, table, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE))
        free(table);
    return TANSU_OK;
}

/* memory_of -- what the readers' table has of a segment. */
static uint8_t *memory_of(const segment *s) {
    return s->compressed == NULL ? s->base : (uint8_t *)s->compressed + 1;
}

void segment_publish(log *l, segment *s) {
    segment_entry *table =
        __atomic_load_n(&l->tables[s->number >> LOG_TABLE_BITS], __ATOMIC_ACQUIRE);
    segment_entry *entry = &table[s->number & (LOG_TABLE_SIZE - 1)];
    __atomic_store_n(&entry->first, s->first, __ATOMIC_RELAXED);
    __atomic_store_n(&entry->memory, memory_of(s), __ATOMIC_RELEASE);
    __atomic_store_n(&entry->size, s->compressed == NULL ? s->mapped : UINT64_MAX,
                     __ATOMIC_RELEASE);
}

/* ---- Memory and descriptors ---- */

tansu_status segment_map(log *l, segment *s, bool writable, tansu_error *error) {
    char name[32];
    segment_name(s->number, name);
    uint8_t *base = l->calls->map(s->fd, s->mapped, writable);
    if (base == NULL)
        return error_errno(error, name, "map", errno);
    if (l->guarded && s->fd >= 0 && !guard_add(base, s->mapped, s->number, &l->tally)) {
        l->calls->unmap(base, s->mapped);
        return error_memory(error);
    }
    s->base = base;
    s->writable = writable;
    return TANSU_OK;
}

void segment_unmap(log *l, segment *s) {
    if (s->base == NULL)
        return;
    if (l->guarded)
        guard_remove(s->base);
    l->calls->unmap(s->base, s->mapped);
    s->base = NULL;
}

int segment_descriptor(log *l, segment *s) {
    if (s->fd >= 0)
        return s->fd;
    char *path = segment_path(l, s->number);
    if (path == NULL) {
        errno = ENOMEM;
        return -1;
    }
    s->fd = l->calls->open(l->calls, path, l->read_only ? O_RDONLY : O_RDWR, 0);
    int number = errno;
    free(path);
    errno = number;
    return s->fd;
}

void segment_close_file(log *l, segment *s) {
    if (s->fd >= 0)
        l->calls->close(s->fd);
    s->fd = -1;
}

tansu_status segment_open_for_writing(log *l, segment *s, tansu_error *error) {
    if (l->folder == NULL || l->read_only || s->last != 0 || s->compressed != NULL)
        return TANSU_OK;
    char name[32];
    segment_name(s->number, name);
    segment *disk = segment_disk(s);
    if (segment_descriptor(l, disk) < 0)
        return error_errno(error, name, "open", errno);
    if (s->sealed != NULL) {
        s->allocated = s->mapped;
        s->writable = true;
    }
    if (disk->writable)
        return TANSU_OK;
    if (s->sealed != NULL) {
        segment_unmap(l, disk);
        return segment_map(l, disk, true, error);
    }
    segment old = *s;
    uint64_t most = s->allocated < l->segment_size ? l->segment_size : s->allocated;
    s->mapped = segment_map_size(most);
    tansu_status status = segment_map(l, s, true, error);
    if (status != TANSU_OK) {
        s->mapped = old.mapped;
        return status;
    }
    segment_publish(l, s);
    segment_unmap(l, &old);
    return TANSU_OK;
}

tansu_status segment_replace_file(log *l, segment *s, int fd, uint64_t size, tansu_error *error) {
    segment *disk = segment_disk(s), old = *disk;
    disk->fd = fd;
    bool writable = s == segment_head(l) && s->compressed == NULL;
    tansu_status status = segment_map(l, disk, writable, error);
    if (status != TANSU_OK) {
        disk->fd = old.fd;
        return status;
    }
    disk->allocated = size;
    disk->populated = 0;
    if (s->compressed != NULL)
        s->compressed->file = disk->base;
    if (s->sealed == NULL)
        segment_publish(l, s);
    segment_unmap(l, &old);
    segment_close_file(l, &old);
    return TANSU_OK;
}

void segment_close(log *l, segment *s) {
    if (s == NULL)
        return;
    uint32_t top = s->number >> LOG_TABLE_BITS; /* a file's name may have any number */
    segment_entry *table = top < LOG_TABLE_SIZE ? l->tables[top] : NULL;
    segment_entry *entry = table == NULL ? NULL : &table[s->number & (LOG_TABLE_SIZE - 1)];
    if (entry != NULL && s->base != NULL && entry->memory == memory_of(s)) {
        __atomic_store_n(&entry->size, 0, __ATOMIC_RELEASE);
        __atomic_store_n(&entry->memory, NULL, __ATOMIC_RELEASE);
    }
    compressed_free(s->compressed);
    sealed_free(l, s->sealed);
    segment_unmap(l, s);
    segment_close_file(l, s);
    free(s);
}

uint64_t segment_file_size(const log *l, uint32_t number) {
    uint64_t size = 0;
    char *path = segment_path(l, number);
    int fd = path == NULL ? -1 : l->calls->open(l->calls, path, O_RDONLY, 0);
    if (fd >= 0 && l->calls->size(fd, &size) != 0)
        size = 0;
    if (fd >= 0)
        l->calls->close(fd);
    free(path);
    return size;
}

tansu_status segment_unlink(log *l, uint32_t number, tansu_error *error) {
    char *path = segment_path(l, number);
    if (path == NULL)
        return error_memory(error);
    tansu_status status = TANSU_OK;
    if (l->calls->unlink(l->calls, path) != 0 && errno != ENOENT)
        status = error_errno(error, path, "remove", errno);
    free(path);
    return status;
}

/* ---- Creating, opening and removing ---- */

/* append_head -- puts a new segment last. */
static tansu_status append_head(log *l, segment *s, tansu_error *error) {
    tansu_status status = segment_table(l, s->number, error);
    if (status != TANSU_OK)
        return status;
    segment_publish(l, s);
    pthread_mutex_lock(&l->mutex); /* a sync or a compaction may be reading the list */
    bool reserved = ARRAY_RESERVE(l->active.items, l->active.count, l->active.capacity, 1);
    if (reserved)
        l->active.items[l->active.count++] = s;
    pthread_mutex_unlock(&l->mutex);
    return reserved ? TANSU_OK : error_memory(error);
}

uint32_t segment_next_number(log *l) {
    pthread_mutex_lock(&l->mutex);
    uint32_t number = ++l->last_number;
    pthread_mutex_unlock(&l->mutex);
    return number;
}

void segment_return_number(log *l, uint32_t number) {
    pthread_mutex_lock(&l->mutex);
    if (l->last_number == number)
        l->last_number--;
    pthread_mutex_unlock(&l->mutex);
}

tansu_status segment_create(log *l, uint64_t first, uint64_t size, uint64_t capacity,
                            segment **result, tansu_error *error) {
    segment *s = calloc(1, sizeof *s);
    if (s == NULL)
        return error_memory(error);
    s->fd = -1;
    s->first = first;
    s->number = segment_next_number(l);
    s->mapped = l->segment_size;
    if (s->mapped < capacity + SEGMENT_HEADER_SIZE)
        s->mapped = capacity + SEGMENT_HEADER_SIZE;
    s->mapped = segment_map_size(s->mapped);
    tansu_status status = TANSU_OK;
    char *path = NULL;
    if (l->folder != NULL) {
        path = segment_path(l, s->number);
        if (path == NULL) {
            status = error_memory(error);
            goto fail;
        }
        s->fd = l->calls->open(l->calls, path, O_RDWR | O_CREAT | O_TRUNC, FS_MODE);
        if (s->fd < 0) {
            status = error_errno(error, path, "open", errno);
            goto fail;
        }
    }
    segment_header header = segment_header_fill(l, s->number, first, 0, 0, SEGMENT_WRITTEN);
    if (sealed_log(l)) {
        status = sealed_new(l, s, &header, 0, true, error);
        if (status == TANSU_OK)
            status = sealed_reserve(l, s, size, error);
    } else {
        if (l->folder != NULL)
            status = segment_grow(l, s, SEGMENT_HEADER_SIZE + size, error);
        if (status == TANSU_OK)
            status = segment_map(l, s, true, error);
    }
    if (status != TANSU_OK)
        goto fail_file;
    if (s->sealed != NULL || l->folder == NULL)
        s->allocated = s->mapped;
    s->writable = true;
    memcpy(segment_disk(s)->base, &header, sizeof header);
    s->used = SEGMENT_HEADER_SIZE;
    if (l->folder != NULL && l->calls->sync_folder(l->calls, l->folder) != 0) {
        status = error_errno(error, l->folder, "sync", errno);
        goto fail_file;
    }
    status = append_head(l, s, error);
    if (status != TANSU_OK)
        goto fail_file;
    free(path);
    *result = s;
    return TANSU_OK;

fail_file:
    if (path != NULL)
        l->calls->unlink(l->calls, path);
fail:
    free(path);
    segment_return_number(l, s->number);
    segment_close(l, s);
    return status;
}

/* header_valid -- whether a header is this segment's and its fields are consistent. */
static bool header_valid(const log *l, const segment_header *header, uint32_t number,
                         uint64_t size) {
    if (memcmp(header->magic, SEGMENT_MAGIC, sizeof header->magic) != 0 ||
        header->crc != header_crc(header) || header->number != number || header->base == 0 ||
        memcmp(header->uuid, l->uuid, sizeof header->uuid) != 0 || header->base > COMMIT_MOST ||
        header->last > COMMIT_MOST)
        return false;
    if (header->format != LOG_FORMAT)
        return true; /* nothing more is known of it */
    bool sealed = (header->kind & SEGMENT_SEALED) != 0;
    if (sealed != sealed_log(l))
        return false;
    if ((header->kind & (uint16_t)~SEGMENT_SEALED) == SEGMENT_WRITTEN)
        return header->last == 0 && header->end == 0;
    if (segment_kind_of(header) == SEGMENT_COMPRESSED && !sealed)
        size = UINT32_MAX;
    else if (segment_kind_of(header) != SEGMENT_COMPACTED)
        return false;
    return header->last >= header->base && header->end >= SEGMENT_HEADER_SIZE &&
           header->end % 8 == 0 && header->end <= (sealed ? UINT32_MAX : size);
}

bool segment_header_valid(const log *l, uint32_t number) {
    segment_header header;
    char *path = segment_path(l, number);
    int fd = path == NULL ? -1 : l->calls->open(l->calls, path, O_RDONLY, 0);
    ssize_t got = fd < 0 ? -1 : l->calls->read(fd, &header, sizeof header, 0);
    if (fd >= 0)
        l->calls->close(fd);
    free(path);
    /* What could not be read fails again in the caller. */
    return got < 0 || (got == (ssize_t)sizeof header && header.crc == header_crc(&header));
}

/* segment_no_table -- the error for a compacted segment without its table. */
static tansu_status segment_no_table(const segment *s, tansu_error *error) {
    char name[32];
    segment_name(s->number, name);
    return error_at(error, TANSU_E_CORRUPT, name, 0,
                    "The table of the encrypted segment \"%s\" is corrupt or missing; restore a "
                    "backup or salvage what is readable with \"tansu repair\"",
                    name);
}

compressed_segment *segment_blocks(log *l, const segment *s) {
    compressed_segment *blocks = calloc(1, sizeof *blocks);
    if (blocks == NULL)
        return NULL;
    *blocks = (compressed_segment){.calls = l->calls,
                                   .cache = &l->blocks,
                                   .number = s->number,
                                   .crc_seed = l->crc_seed,
                                   .keys = sealed_log(l) ? l->keys : NULL,
                                   .file = s->base};
    segment_name(s->number, blocks->name);
    return blocks;
}

tansu_status segment_open_blocks(log *l, segment *s, const segment_header *header,
                                 tansu_error *error) {
    bool there = true;
    if (sealed_log(l)) {
        tansu_status status = sealed_open(l, s, header, &there, error);
        return status != TANSU_OK || there ? status : segment_no_table(s, error);
    }
    s->compressed = segment_blocks(l, s);
    if (s->compressed == NULL)
        return error_memory(error);
    s->compressed->end = header->end;
    s->compressed->codec = CODEC_LZ4;
    return compressed_open(s->compressed, s->fd, s->allocated, error);
}

segment_header segment_header_plain(const segment_header *header) {
    segment_header plain = *header;
    uint16_t kind =
        segment_kind_of(header) == SEGMENT_WRITTEN ? SEGMENT_WRITTEN : SEGMENT_COMPACTED;
    plain.kind = kind | (header->kind & SEGMENT_REDUCED);
    plain.crc = header_crc(&plain);
    return plain;
}

segment_header segment_image_header(const compressed_segment *s) {
    segment_header header;
    memcpy(&header, s->file, sizeof header);
    return segment_header_plain(&header);
}

/* open_plain -- maps the file of a segment that is being opened. */
static tansu_status open_plain(log *l, segment *s, const segment_header *header, bool continues,
                               tansu_error *error) {
    /* One that another process writes grows (log/follow/follow.h). */
    bool writable = continues && !l->read_only && s->last == 0;
    bool grows = (writable || l->concurrent) && s->last == 0 && s->allocated < l->segment_size;
    s->mapped = segment_map_size(grows ? l->segment_size : s->allocated);
    s->used = s->last != 0 ? header->end : s->allocated;
    tansu_status status = segment_map(l, s, writable, error);
    return status == TANSU_OK && segment_kind_of(header) == SEGMENT_COMPRESSED
               ? segment_open_blocks(l, s, header, error)
               : status;
}

/* open_sealed -- the same in an encrypted database. One whose end is not known is read into memory as
 * far as it is valid. */
static tansu_status open_sealed(log *l, segment *s, const segment_header *header, bool continues,
                                tansu_error *error) {
    uint64_t size = s->allocated;
    bool there = false;
    tansu_status status = TANSU_OK;
    if (s->last != 0 || !l->concurrent || !continues) {
        s->mapped = segment_map_size(size);
        status = segment_map(l, s, false, error);
        if (status == TANSU_OK)
            status = sealed_open(l, s, header, &there, error);
        if (status == TANSU_OK && s->last != 0 && (!there || s->used != header->end))
            status = segment_no_table(s, error);
        if (status != TANSU_OK || there)
            return status;
        segment_unmap(l, s);
    }
    s->mapped = segment_map_size(size > l->segment_size ? size : l->segment_size);
    status = sealed_new(l, s, header, size, continues && !l->read_only, error);
    if (status == TANSU_OK)
        status = sealed_load(l, s, error);
    if (status == TANSU_OK && !l->concurrent)
        status = sealed_load_later(l, s, error);
    s->used = s->allocated;
    return status;
}

tansu_status segment_open(log *l, uint32_t number, bool continues, segment **result,
                          tansu_error *error) {
    char *path = segment_path(l, number);
    segment *s = calloc(1, sizeof *s);
    tansu_status status = TANSU_OK;
    segment_header header;
    if (path == NULL || s == NULL) {
        status = error_memory(error);
        goto fail;
    }
    s->number = number;
    s->fd = -1;
    if (segment_descriptor(l, s) < 0 || l->calls->size(s->fd, &s->allocated) != 0) {
        status = error_errno(error, path, "open", errno);
        goto fail;
    }
    if (s->allocated < SEGMENT_HEADER_SIZE) {
        status = error_at(error, TANSU_E_CORRUPT, path, 0,
                          "The segment \"%s\" is shorter than its header; restore a backup or "
                          "salvage what is readable with \"tansu repair\"",
                          path);
        goto fail;
    }
    if (l->calls->read(s->fd, &header, sizeof header, 0) != (ssize_t)sizeof header) {
        status = error_errno(error, path, "read", errno);
        goto fail;
    }
    if (!header_valid(l, &header, number, s->allocated)) {
        status =
            error_at(error, TANSU_E_CORRUPT, path, 0,
                     "The header of the segment \"%s\" is corrupt or belongs to another database; "
                     "restore a backup or salvage what is readable with \"tansu repair\"",
                     path);
        goto fail;
    }
    if (header.format != LOG_FORMAT) {
        status = error_set(error, TANSU_E_VERSION, path,
                           "The log has format %u and this library reads format %u; dump it with "
                           "the version of the library that wrote it and load the dump",
                           header.format, LOG_FORMAT);
        goto fail;
    }
    s->first = header.base;
    s->last = header.last;
    s->reduced = (header.kind & SEGMENT_REDUCED) != 0;
    status = sealed_log(l) ? open_sealed(l, s, &header, continues, error)
                           : open_plain(l, s, &header, continues, error);
    if (status != TANSU_OK)
        goto fail;
    /* The file of one that another process writes stays open, to tell its size when it has no name
     * any more. */
    if (!l->concurrent || s->last != 0)
        segment_close_file(l, segment_disk(s));
    status = segment_table(l, number, error);
    if (status != TANSU_OK)
        goto fail;
    segment_publish(l, s);
    free(path);
    *result = s;
    return TANSU_OK;

fail:
    free(path);
    segment_close(l, s);
    return status;
}

tansu_status segment_remove_last(log *l, tansu_error *error) {
    segment *s = segment_head(l);
    if (l->folder != NULL) {
        tansu_status status = segment_unlink(l, s->number, error);
        if (status != TANSU_OK)
            return status;
    }
    l->active.count--;
    segment_return_number(l, s->number);
    segment_close(l, s);
    return TANSU_OK;
}

/* Less space after the last commit of a sealed segment is not worth a call. */
#define TRIM_LEAST ((uint64_t)1024 * 1024)

/* trim -- gives back the disk space after the last commit. */
static void trim(log *l, segment *s) {
    if (s->used + TRIM_LEAST > s->allocated)
        return;
    pthread_mutex_lock(&l->mutex);
    /* A round of syncing uses the descriptor, and compares the sizes. */
    segment_wait_unsynced(l);
    bool open = s->fd >= 0;
    if (segment_descriptor(l, s) >= 0 && l->calls->truncate(s->fd, s->used) == 0)
        __atomic_store_n(&s->allocated, s->used, __ATOMIC_RELAXED);
    if (!open)
        segment_close_file(l, s);
    pthread_mutex_unlock(&l->mutex);
}

void segment_seal(log *l, segment *s) {
    if (l->folder == NULL || s->last != 0 || s->compressed != NULL)
        return;
    if (s->sealed == NULL && !l->read_only)
        trim(l, s);
    if (s->sealed != NULL && !l->read_only)
        sealed_end(l, s);
    if (s->sealed != NULL)
        sealed_to_blocks(l, s);
}

/* ---- Allocating disk space to a segment's file, and populating its pages ---- */

/* Steps in which a file grows: small databases stay small, large ones call rarely. */
#define GROW_LEAST (256u * 1024u)
#define GROW_MOST (4u * 1024u * 1024u)

/* What the last bytes of a disk are taken by. */
#define LEAST_STEP 4096u

/* Pages are brought in by this many bytes: little enough that a sync, which writes them all, hardly
 * notices. */
#define POPULATE_STEP (256u * 1024u)

/* With fewer unsynced commits than this, commits are synced one by one, or by some threads at a
 * time. */
#define FEW_UNSYNCED 256u

bool segment_not_cut(const log *l, const segment *s) {
    uint64_t least = __atomic_load_n(&s->allocated, __ATOMIC_RELAXED), size;
    /* A size that can't be had says nothing. */
    return s->fd < 0 || l->calls->size(s->fd, &size) != 0 || size >= least;
}

/* cut_off -- the error for a file that has become shorter: what was written there is lost. */
static tansu_status cut_off(log *l, const segment *s, tansu_error *error) {
    char name[32];
    segment_name(s->number, name);
    log_fail(l, EIO);
    return error_errno(error, name, "find the end of", EIO);
}

/* allocate_step -- grows the file to *size, or to `end` when the disk is nearly full (*size is then
 * less); errno or 0. A write that frees no space leaves the reserve alone, and refills it first
 * when it was spent. */
static int allocate_step(log *l, const segment *s, uint64_t end, uint64_t *size) {
    int number = l->urgent ? 0 : reserve_keep(l);
    if (number != 0)
        return number;
    /* Of what the reserve has left no more is taken than is needed. */
    bool spent = l->urgent && reserve_is_spent(l);
    if (!spent && l->calls->allocate(s->fd, s->allocated, *size - s->allocated) == 0)
        return 0;
    number = errno;
    /* Near the end of the disk the step may not fit where the need does. */
    uint64_t least = (end + LEAST_STEP - 1) / LEAST_STEP * LEAST_STEP;
    *size = least < s->mapped ? least : s->mapped;
    if (l->calls->allocate(s->fd, s->allocated, *size - s->allocated) == 0)
        return 0;
    if (!l->urgent || reserve_spend(l, false) == 0)
        return spent ? errno : number;
    return l->calls->allocate(s->fd, s->allocated, *size - s->allocated) == 0 ? 0 : errno;
}

tansu_status segment_grow(log *l, segment *s, uint64_t end, tansu_error *error) {
    if (end <= s->allocated)
        return TANSU_OK;
    if (!segment_not_cut(l, s))
        return cut_off(l, s, error);
    uint64_t step = s->allocated / 2;
    if (step < GROW_LEAST)
        step = GROW_LEAST;
    if (step > GROW_MOST)
        step = GROW_MOST;
    uint64_t size = s->allocated + step;
    if (size < end)
        size = end;
    if (size > s->mapped)
        size = s->mapped;
    int number = s->fd < 0 ? 0 : allocate_step(l, s, end, &size);
    if (number != 0) {
        char name[32];
        segment_name(s->number, name);
        return error_errno(error, name, "grow", number);
    }
    __atomic_store_n(&s->allocated, size, __ATOMIC_RELAXED); /* read by log_measure() */
    return TANSU_OK;
}

/* populate_piece -- how many bytes to populate by one call. Pages that are made together become one
 * piece of the page cache (a folio), which the kernel writes as a whole although one byte of it was
 * changed. So a large frame gets large pieces, which are made quickly, and small commits that are
 * synced each on its own get pages. */
static uint64_t populate_piece(const log *l, uint64_t frame_size) {
    uint64_t unsynced = l->appended - __atomic_load_n(&l->synced, __ATOMIC_ACQUIRE);
    if (unsynced >= FEW_UNSYNCED || frame_size > SEGMENT_MAP_UNIT)
        return POPULATE_STEP;
    long page = sysconf(_SC_PAGESIZE);
    return page > 0 && SEGMENT_MAP_UNIT % (uint64_t)page == 0 ? (uint64_t)page : SEGMENT_MAP_UNIT;
}

tansu_status segment_populate(log *l, segment *s, uint64_t end, tansu_error *error) {
    if (end <= s->populated)
        return TANSU_OK;
    if (!segment_not_cut(l, s))
        return cut_off(l, s, error);
    uint64_t written = s->populated > s->used ? s->populated : s->used;
    uint64_t from = written / SEGMENT_MAP_UNIT * SEGMENT_MAP_UNIT;
    uint64_t to = (end + POPULATE_STEP - 1) / SEGMENT_MAP_UNIT * SEGMENT_MAP_UNIT;
    if (to > s->allocated)
        to = s->allocated; /* never a page that the file does not have */
    uint64_t piece = populate_piece(l, end - s->used);
    from += (written - from) / piece * piece; /* pieces before are there already */
    for (uint64_t at = from; at < to; at += piece) {
        uint64_t next = to - at < piece ? to : at + piece;
        l->calls->populate(s->fd, s->base, at, at > written ? at : written, next);
    }
    s->populated = to > end ? to : end;
    return TANSU_OK;
}

/* ---- The names of segment files ---- */

void segment_name(uint32_t number, char name[32]) {
    snprintf(name, 32, "log/%08u.seg", number);
}

char *segment_file(const char *folder, uint32_t number) {
    char name[32];
    snprintf(name, sizeof name, "%08u.seg", number);
    return fs_join(folder, name);
}

bool segment_number(const char *name, const char *ending, uint32_t *number) {
    *number = 0;
    for (int i = 0; i < 8; i++) {
        if (name[i] < '0' || name[i] > '9')
            return false;
        *number = *number * 10 + (uint32_t)(name[i] - '0');
    }
    return strcmp(name + 8, ending) == 0;
}
