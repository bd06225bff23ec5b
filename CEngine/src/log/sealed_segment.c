/*
 * log/sealed_segment.c -- the two forms of the segments of an encrypted database.
 */
#include "log/sealed_segment.h"

#include "log/scan.h"
#include "util/array.h"
#include "util/buffer.h"
#include "util/error.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

/* file_room -- addresses for the file of an image of that size: a segment of the usual size, which
 * ends when either is full; or all that the blocks of one large frame take. */
static uint64_t file_room(const log *l, uint64_t image) {
    if (image <= segment_map_size(l->segment_size))
        return image;
    return segment_map_size(SEALED_BLOCKS + sealed_most(image));
}

/* map_image -- memory for the image, which core dumps leave out where the system can. */
static tansu_status map_image(const log *l, segment *s, tansu_error *error) {
    char name[32];
    segment_name(s->number, name);
    s->base = l->calls->map(-1, s->mapped, true);
    if (s->base == NULL)
        return error_errno(error, name, "map", errno);
#ifdef MADV_DONTDUMP
    (void)madvise(s->base, s->mapped, MADV_DONTDUMP);
#endif
    return TANSU_OK;
}

tansu_status sealed_new(log *l, segment *s, const segment_header *header, uint64_t file_size,
                        bool writable, tansu_error *error) {
    sealed_file *file = calloc(1, sizeof *file);
    if (file == NULL)
        return error_memory(error);
    file->disk = (segment){.number = s->number,
                           .first = s->first,
                           .fd = s->fd,
                           .mapped = file_room(l, s->mapped),
                           .allocated = file_size,
                           .used = SEALED_BLOCKS};
    if (file->disk.mapped < file_size)
        file->disk.mapped = segment_map_size(file_size);
    tansu_status status = segment_map(l, &file->disk, writable, error);
    if (status == TANSU_OK)
        status = map_image(l, s, error);
    if (status != TANSU_OK) {
        file->disk.fd = -1; /* still the segment's */
        sealed_free(l, file);
        return status;
    }
    s->fd = -1;
    s->sealed = file;
    segment_header plain = segment_header_plain(header);
    memcpy(s->base, &plain, sizeof plain);
    file->loaded = s->used = s->allocated = SEGMENT_HEADER_SIZE;
    s->writable = false; /* its end is not known */
    return TANSU_OK;
}

void sealed_free(log *l, sealed_file *file) {
    if (file == NULL)
        return;
    sealer_free(file->sealer);
    free(file->entries);
    segment_unmap(l, &file->disk);
    segment_close_file(l, &file->disk);
    free(file);
}

/* ---- Reading the blocks of a file ---- */

/* fits_group -- whether the next `size` bytes of the image belong to the last group. */
static bool fits_group(const sealed_file *file, uint64_t from, uint64_t size) {
    return file->count != 0 && !file->group_ends &&
           from + size - file->entries[file->count - 1].offset <= SEALED_BYTES;
}

/* begin_group -- the next block begins one; the capacity is reserved. */
static void begin_group(sealed_file *file, uint64_t from) {
    file->entries[file->count++] =
        (block_entry){.offset = (uint32_t)from, .position = (uint32_t)(file->disk.used / 8)};
    file->group_ends = false;
}

/* take_block -- the block of a header is the next one; the capacity is reserved. */
static void take_block(sealed_file *file, const sealed_header *header) {
    if (!fits_group(file, file->loaded, header->size))
        begin_group(file, file->loaded);
    file->disk.used += sealed_size(header->stored);
    file->loaded += header->size;
}

/* skip_blocks -- goes on at an offset of the image, which lies at `position`, if the bytes of the file
 * up to there can be the blocks of the part of the image up to there, stored as they are: then they
 * become a group. false: they cannot, so that what lies there is in another place than where it was
 * written. The capacity is reserved. */
static bool skip_blocks(sealed_file *file, uint64_t offset, uint64_t position) {
    uint64_t size = offset - file->loaded, stored = position - file->disk.used;
    if (size == 0 && stored == 0)
        return true;
    if (stored <= size || (stored - size) % SEALED_HEADER_SIZE != 0 ||
        !block_plausible(file->loaded, size, stored))
        return false;
    begin_group(file, file->loaded);
    file->group_ends = true;
    file->loaded = offset;
    file->disk.used = position;
    return true;
}

/* header_of -- the header of the block at a position of the file if it may be one of the image from
 * `least` on. */
static bool header_of(const segment *s, uint64_t position, uint64_t least, sealed_header *header) {
    const segment *disk = &s->sealed->disk;
    return sealed_header_at(disk->base, disk->allocated, position, header) &&
           header->codec != SEALED_TABLE && header->offset >= least && header->size != 0 &&
           header->size % 8 == 0 && header->offset % 8 == 0 && header->offset <= s->mapped &&
           header->size <= s->mapped - header->offset;
}

tansu_status sealed_load(log *l, segment *s, tansu_error *error) {
    sealed_file *file = s->sealed;
    sealed_header header;
    while (header_of(s, file->disk.used, file->loaded, &header) && header.offset == file->loaded) {
        if (!ARRAY_RESERVE(file->entries, file->count, file->capacity, 1))
            return error_memory(error);
        tansu_status status = sealed_block_open(
            l->keys, s->number, &header, file->disk.base + file->disk.used, s->base + file->loaded);
        if (status == TANSU_E_MEMORY)
            return error_memory(error);
        if (status != TANSU_OK)
            break; /* the image has zeros there */
        take_block(file, &header);
    }
    if (s->allocated < file->loaded)
        __atomic_store_n(&s->allocated, file->loaded, __ATOMIC_RELAXED);
    return TANSU_OK;
}

tansu_status sealed_load_later(log *l, segment *s, tansu_error *error) {
    sealed_file *file = s->sealed;
    const segment *disk = &file->disk;
    uint64_t at = disk->used, end = disk->allocated - disk->allocated % 8, least = file->loaded;
    while ((at = scan_zeros(disk->base, end, at)) + SEALED_HEADER_SIZE <= end) {
        sealed_header header;
        uint64_t step = 8;
        if (header_of(s, at, least, &header)) {
            if (!ARRAY_RESERVE(file->entries, file->count, file->capacity, 2))
                return error_memory(error);
            tansu_status status = sealed_block_open(l->keys, s->number, &header, disk->base + at,
                                                    s->base + header.offset);
            if (status == TANSU_E_MEMORY)
                return error_memory(error);
            if (status == TANSU_OK) {
                step = sealed_size(header.stored);
                if (header.offset >= file->loaded && skip_blocks(file, header.offset, at))
                    take_block(file, &header);
                if (s->allocated < (uint64_t)header.offset + header.size)
                    s->allocated = (uint64_t)header.offset + header.size;
            }
        }
        at += step;
    }
    return TANSU_OK;
}

tansu_status sealed_open(log *l, segment *s, const segment_header *header, bool *there,
                         tansu_error *error) {
    compressed_segment *blocks = segment_blocks(l, s);
    if (blocks == NULL)
        return error_memory(error);
    tansu_status status = compressed_open_sealed(blocks, s->fd, s->allocated, header, there, error);
    if (status != TANSU_OK || !*there) {
        compressed_free(blocks);
        return status;
    }
    s->compressed = blocks;
    s->used = blocks->end;
    return TANSU_OK;
}

/* ---- Writing ---- */

bool sealed_fits(const segment *s, uint64_t size) {
    return s->sealed->disk.used + sealed_most(size) <= s->sealed->disk.mapped;
}

tansu_status sealed_reserve(log *l, segment *s, uint64_t size, tansu_error *error) {
    sealed_file *file = s->sealed;
    uint64_t end = file->disk.used + sealed_most(size);
    if (!ARRAY_RESERVE(file->entries, file->count, file->capacity,
                       (uint32_t)(size / (SEALED_BYTES / 2) + 4)))
        return error_memory(error);
    tansu_status status = sealer_renew(l->keys, SEAL_LOG, &file->sealer, error);
    if (status == TANSU_OK)
        status = segment_grow(l, &file->disk, end, error);
    return status == TANSU_OK ? segment_populate(l, &file->disk, end, error) : status;
}

/* put_block -- seals a part of the image into the next block. */
static bool put_block(segment *s, uint64_t from, uint64_t to) {
    sealed_file *file = s->sealed;
    uint32_t size = (uint32_t)(to - from);
    if (!sealed_block_put(file->sealer, s->number, CODEC_NONE, (uint32_t)from, size, s->base + from,
                          size, file->disk.base + file->disk.used))
        return false;
    file->disk.used += sealed_size(size);
    file->loaded = to;
    return true;
}

/* put_large -- a frame that does not fit the group: a block for each group that it is in, cut between
 * records. */
static bool put_large(segment *s, uint64_t from, uint64_t end) {
    uint64_t cut = from, at = from + FRAME_HEADER_SIZE;
    for (;; at += record_step((const record_header *)(const void *)(s->base + at))) {
        if (at > end)
            at = end;
        if (!fits_group(s->sealed, from, at - from)) {
            /* What is before the last record goes to the group that it fits. */
            if (cut > from && !put_block(s, from, cut))
                return false;
            from = cut;
            begin_group(s->sealed, from);
        }
        cut = at;
        if (at == end)
            return put_block(s, from, end);
    }
}

bool sealed_append(log *l, segment *s, uint64_t size) {
    sealed_file *file = s->sealed;
    uint64_t from = s->used, begun = file->disk.used;
    bool put = fits_group(file, from, size) ? put_block(s, from, from + size)
                                            : put_large(s, from, from + size);
    return put && !log_unreadable(l, file->disk.base + begun, file->disk.used - begun);
}

bool sealed_position(const segment *s, uint64_t offset, uint64_t *position) {
    const sealed_file *file = s->sealed;
    *position = file->disk.used;
    if (offset >= file->loaded)
        return offset == file->loaded;
    uint32_t group = 0;
    while (group + 1 < file->count && file->entries[group + 1].offset <= offset)
        group++;
    uint64_t at = (uint64_t)file->entries[group].position * 8, begins = file->entries[group].offset;
    sealed_header header;
    while (begins < offset && header_of(s, at, begins, &header) && header.offset == begins) {
        at += sealed_size(header.stored);
        begins += header.size;
    }
    *position = at;
    return begins == offset;
}

void sealed_cut(segment *s, uint64_t offset, uint64_t position) {
    sealed_file *file = s->sealed;
    while (file->count > 0 && file->entries[file->count - 1].offset >= offset) {
        file->count--;
        file->group_ends = true; /* the last one may be of blocks that are not valid */
    }
    if (s->allocated > offset)
        memset(s->base + offset, 0, s->allocated - offset);
    s->allocated = s->used = offset;
    file->disk.used = position;
    file->loaded = offset;
}

void sealed_end(log *l, segment *s) {
    sealed_file *file = s->sealed;
    segment *disk = &file->disk;
    tansu_buffer table = TANSU_BUFFER_INIT;
    sealed_table content = {.end = (uint32_t)s->used, .count = file->count};
    memcpy(content.header, disk->base, sizeof content.header);
    if (!sealed_in_place(s) || sealer_renew(l->keys, SEAL_LOG, &file->sealer, NULL) != TANSU_OK ||
        segment_descriptor(l, disk) < 0)
        return;
    pthread_mutex_lock(&l->mutex);
    segment_wait_unsynced(l); /* which compares the sizes */
    uint64_t end = disk->used;
    /* One without a commit has nothing to find, and is rewritten by no change of the data key. */
    if (file->count != 0 &&
        sealed_table_put(file->sealer, s->number, &content, file->entries, end, &table) &&
        fs_write_all(l->calls, disk->fd, table.data, table.size, end) == 0)
        end += table.size;
    if (l->calls->truncate(disk->fd, end) == 0) /* also after a part of the table */
        __atomic_store_n(&disk->allocated, end, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&l->mutex);
    buffer_free(&table);
}

/* ---- From one form to the other ---- */

/* outgrown -- keeps the memory that a segment has had for snapshots that use it; the capacity is
 * reserved. */
static void outgrown(log *l, segment *old, const segment *was) {
    *old = *was;
    old->fd = -1;
    old->sealed = NULL;
    old->allocated = 0; /* the file is that of the other form */
    l->outgrown.items[l->outgrown.count++] = old;
}

void sealed_to_blocks(log *l, segment *s) {
    sealed_file *file = s->sealed;
    if (!sealed_in_place(s))
        return;
    compressed_segment *blocks = segment_blocks(l, s);
    segment *old = malloc(sizeof *old);
    bool ready = blocks != NULL && old != NULL && list_reserve(&l->outgrown, 1) &&
                 ARRAY_RESERVE(file->entries, file->count, file->capacity, 1);
    if (ready) {
        blocks->file = file->disk.base;
        blocks->end = file->loaded;
        block_entry *entries = file->entries;
        file->entries = NULL;
        ready =
            compressed_take_table(blocks, entries, file->count, file->disk.used, NULL) == TANSU_OK;
        if (!ready) { /* which has freed nothing */
            file->entries = blocks->table;
            blocks->table = NULL;
        }
    }
    if (!ready) {
        compressed_free(blocks);
        free(old);
        return;
    }
    pthread_mutex_lock(&l->mutex);
    segment_wait_unsynced(l);
    outgrown(l, old, s);
    s->base = file->disk.base;
    s->mapped = file->disk.mapped;
    s->fd = file->disk.fd;
    s->writable = file->disk.writable;
    __atomic_store_n(&s->allocated, file->disk.allocated, __ATOMIC_RELAXED);
    s->used = file->loaded;
    s->compressed = blocks;
    s->sealed = NULL;
    segment_publish(l, s);
    pthread_mutex_unlock(&l->mutex);
    file->disk.base = NULL;
    file->disk.fd = -1;
    sealed_free(l, file);
}

/* drop_image -- frees what new_image() made. */
static void drop_image(log *l, segment *fresh, segment *old) {
    if (fresh->sealed != NULL)
        segment_unmap(l, fresh);
    sealed_free(l, fresh->sealed);
    free(old);
}

/* new_image -- a segment that is read by blocks with its image in memory, as far as its blocks are
 * valid; and memory for what it was. */
static tansu_status new_image(log *l, segment *s, bool writable, segment *fresh, segment **old,
                              tansu_error *error) {
    segment_header header;
    *fresh = *s;
    *old = malloc(sizeof **old);
    memcpy(&header, s->base, sizeof header);
    fresh->compressed = NULL;
    fresh->fd = -1;
    fresh->mapped = segment_map_size(l->segment_size > s->used ? l->segment_size : s->used);
    tansu_status status = TANSU_OK;
    if (*old == NULL || !list_reserve(&l->outgrown, 1))
        status = error_memory(error);
    else if (segment_descriptor(l, fresh) < 0)
        status = error_errno(error, l->folder, "open", errno);
    else
        status = sealed_new(l, fresh, &header, s->allocated, writable, error);
    if (status == TANSU_OK)
        status = sealed_load(l, fresh, error);
    if (status != TANSU_OK)
        drop_image(l, fresh, *old);
    return status;
}

/* take_image -- the segment is what new_image() made from now on; the mutex is held. */
static void take_image(log *l, segment *s, const segment *fresh, segment *old) {
    if (s->fd >= 0)
        segment_close_file(l, s);
    outgrown(l, old, s);
    *s = *fresh;
    segment_publish(l, s);
}

/* load_rest -- as much of an image as the table says, of which blocks are not valid. */
static tansu_status load_rest(log *l, segment *fresh, const compressed_segment *blocks,
                              tansu_error *error) {
    sealed_file *file = fresh->sealed;
    tansu_status status = sealed_load_later(l, fresh, error);
    if (status != TANSU_OK)
        return status;
    if (!ARRAY_RESERVE(file->entries, file->count, file->capacity, 1))
        return error_memory(error);
    /* Who reads while another process writes may find more than at the opening. */
    return file->loaded >= blocks->end || skip_blocks(file, blocks->end, blocks->size)
               ? TANSU_OK
               : compressed_corrupt(blocks, 0, error);
}

tansu_status sealed_to_image(log *l, segment *s, tansu_error *error) {
    segment fresh, *old;
    uint64_t end = s->used;
    tansu_status status = new_image(l, s, !l->read_only, &fresh, &old, error);
    if (status != TANSU_OK)
        return status;
    if (fresh.sealed->loaded < end)
        status = load_rest(l, &fresh, s->compressed, error);
    pthread_mutex_lock(&l->mutex);
    segment_wait_unsynced(l);
    if (status == TANSU_OK && !l->read_only) { /* the table is written over */
        segment *disk = &fresh.sealed->disk;
        if (l->calls->truncate(disk->fd, disk->used) != 0)
            status = error_errno(error, l->folder, "trim", errno);
        disk->allocated = disk->used;
    }
    fresh.used = end;
    if (!l->read_only)
        fresh.allocated = fresh.mapped;
    fresh.writable = !l->read_only;
    if (status == TANSU_OK)
        take_image(l, s, &fresh, old);
    pthread_mutex_unlock(&l->mutex);
    if (status != TANSU_OK)
        drop_image(l, &fresh, old);
    return status;
}

tansu_status sealed_to_damaged_image(log *l, segment *s, tansu_error *error) {
    segment fresh, *old;
    tansu_status status = new_image(l, s, false, &fresh, &old, error);
    if (status != TANSU_OK)
        return status;
    status = sealed_load_later(l, &fresh, error);
    if (status != TANSU_OK) {
        drop_image(l, &fresh, old);
        return status;
    }
    fresh.used = fresh.allocated;
    if (!l->concurrent)
        segment_close_file(l, segment_disk(&fresh));
    pthread_mutex_lock(&l->mutex);
    segment_wait_unsynced(l);
    take_image(l, s, &fresh, old);
    pthread_mutex_unlock(&l->mutex);
    return TANSU_OK;
}

/* ---- In a process that reads while another one writes ---- */

/* enlarge -- more memory for the image, of which the old one stays for those that use it. */
static tansu_status enlarge(log *l, segment *s, uint64_t size, tansu_error *error) {
    segment *old = malloc(sizeof *old), fresh = *s;
    if (old == NULL || !list_reserve(&l->outgrown, 1)) {
        free(old);
        return error_memory(error);
    }
    fresh.mapped = segment_map_size(size);
    tansu_status status = map_image(l, &fresh, error);
    if (status != TANSU_OK) {
        free(old);
        return status;
    }
    memcpy(fresh.base, s->base, s->sealed->loaded);
    outgrown(l, old, s);
    s->base = fresh.base;
    s->mapped = fresh.mapped;
    segment_publish(l, s);
    return TANSU_OK;
}

tansu_status sealed_follow(log *l, segment *s, uint64_t size, tansu_error *error) {
    segment *disk = segment_disk(s);
    tansu_status status = TANSU_OK;
    pthread_mutex_lock(&l->mutex);
    if (size > disk->mapped) { /* which is read only here */
        segment_unmap(l, disk);
        disk->mapped = segment_map_size(size);
        status = segment_map(l, disk, false, error);
    }
    if (status == TANSU_OK && size > s->mapped)
        status = enlarge(l, s, size, error);
    if (status == TANSU_OK)
        __atomic_store_n(&disk->allocated, size, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&l->mutex);
    return status == TANSU_OK ? sealed_load(l, s, error) : status;
}
