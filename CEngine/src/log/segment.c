/*
 * log/segment.c -- one segment: file, mapping, room.
 *
 * A segment's whole address space is mapped at once, and the file grows under it in steps, so that
 * records never move. Only bytes that the file system has given room to are ever touched: a full
 * disk is an error of segment_grow(), never a SIGBUS.
 */
#include "log/segment.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

/* Steps in which a file grows: small databases stay small, large ones call rarely. */
#define GROW_LEAST (256u * 1024u)
#define GROW_MOST (4u * 1024u * 1024u)

/* Pages are brought in by this many bytes: little enough that a sync, which writes them all, hardly
 * notices. */
#define POPULATE_STEP (256u * 1024u)

/* Pages of the largest size in use, so that mappings end on a page everywhere. */
#define MAP_UNIT (64u * 1024u)

char *segment_path(const log *l, uint32_t number) {
    char name[32];
    snprintf(name, sizeof name, "%08u.seg", number);
    return fs_join(l->folder, name);
}

/* header_crc -- the CRC of a header with its crc field taken as zero. */
static uint32_t header_crc(const segment_header *header) {
    segment_header copy = *header;
    copy.crc = 0;
    return (uint32_t)crc32(0, (const Bytef *)&copy, sizeof copy);
}

/* list_append -- puts a segment last in the log's list and in the readers' table. */
static tansu_status list_append(log *l, segment *s, tansu_error *error) {
    uint32_t top = s->number >> LOG_TABLE_BITS;
    if (top >= LOG_TABLE_SIZE)
        return error_set(error, TANSU_E_TOO_LARGE, NULL, "the log has reached its last segment");
    uint8_t **table = l->tables[top];
    if (table == NULL) {
        table = calloc(LOG_TABLE_SIZE, sizeof *table);
        if (table == NULL)
            return error_memory(error);
        __atomic_store_n(&l->tables[top], table, __ATOMIC_RELEASE);
    }
    pthread_mutex_lock(&l->mutex); /* a sync may be reading the list */
    if (l->segment_count == l->segment_room) {
        uint32_t room = l->segment_room == 0 ? 16 : l->segment_room * 2;
        segment **list = realloc(l->segments, room * sizeof *list);
        if (list == NULL) {
            pthread_mutex_unlock(&l->mutex);
            return error_memory(error);
        }
        l->segments = list;
        l->segment_room = room;
    }
    if (l->segment_count == 0)
        l->first_segment = s->number;
    l->segments[l->segment_count++] = s;
    pthread_mutex_unlock(&l->mutex);
    __atomic_store_n(&table[s->number & (LOG_TABLE_SIZE - 1)], s->base, __ATOMIC_RELEASE);
    return TANSU_OK;
}

void segment_close(log *l, segment *s) {
    if (s == NULL)
        return;
    if (s->base != NULL)
        l->calls->unmap(s->base, s->mapped);
    if (s->fd >= 0)
        l->calls->close(s->fd);
    free(s);
}

segment *segment_get(const log *l, uint32_t number) {
    uint32_t i = number - l->first_segment;
    return i < l->segment_count ? l->segments[i] : NULL;
}

tansu_status segment_grow(log *l, segment *s, uint64_t end, tansu_error *error) {
    if (end <= s->allocated)
        return TANSU_OK;
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
    if (s->fd >= 0 && l->calls->allocate(s->fd, s->allocated, size - s->allocated) != 0) {
        /* Near the end of the disk the step may not fit where the need does. */
        int number = errno;
        if (size == end || l->calls->allocate(s->fd, s->allocated, end - s->allocated) != 0) {
            char name[32];
            snprintf(name, sizeof name, "log/%08u.seg", s->number);
            return error_errno(error, name, "grow", number);
        }
        size = end;
    }
    __atomic_store_n(&s->allocated, size, __ATOMIC_RELAXED); /* log_measure() looks */
    return TANSU_OK;
}

void segment_populate(const log *l, segment *s, uint64_t end) {
    if (end <= s->populated)
        return;
    uint64_t written = s->populated > s->used ? s->populated : s->used;
    uint64_t from = written / MAP_UNIT * MAP_UNIT;
    uint64_t fresh = (written + MAP_UNIT - 1) / MAP_UNIT * MAP_UNIT;
    uint64_t to = (end + POPULATE_STEP - 1) / MAP_UNIT * MAP_UNIT;
    if (to > s->allocated)
        to = s->allocated; /* never a page that the file does not have */
    if (to > from)
        l->calls->populate(s->fd, s->base, from, fresh, to);
    s->populated = to > end ? to : end;
}

tansu_status segment_create(log *l, uint64_t base_sequence, uint64_t size, uint64_t room,
                            segment **result, tansu_error *error) {
    segment *s = calloc(1, sizeof *s);
    if (s == NULL)
        return error_memory(error);
    s->fd = -1;
    s->number = l->segment_count == 0 ? 1 : segment_head(l)->number + 1;
    s->mapped = l->segment_size;
    if (s->mapped < room + SEGMENT_HEADER_SIZE)
        s->mapped = room + SEGMENT_HEADER_SIZE;
    s->mapped = (s->mapped + MAP_UNIT - 1) / MAP_UNIT * MAP_UNIT;
    tansu_status status = TANSU_OK;
    char *path = NULL;
    if (l->folder != NULL) {
        path = segment_path(l, s->number);
        if (path == NULL) {
            status = error_memory(error);
            goto fail;
        }
        s->fd = l->calls->open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
        if (s->fd < 0) {
            status = error_errno(error, path, "open", errno);
            goto fail;
        }
        status = segment_grow(l, s, SEGMENT_HEADER_SIZE + size, error);
        if (status != TANSU_OK)
            goto fail_file;
    } else {
        s->allocated = s->mapped;
    }
    s->base = l->calls->map(s->fd, s->mapped, true);
    if (s->base == NULL) {
        status = error_errno(error, path, "map", errno);
        goto fail_file;
    }
    segment_header header = {.format = LOG_FORMAT, .number = s->number, .base = base_sequence};
    memcpy(header.magic, SEGMENT_MAGIC, sizeof header.magic);
    memcpy(header.uuid, l->uuid, sizeof header.uuid);
    header.crc = header_crc(&header);
    memcpy(s->base, &header, sizeof header);
    s->used = SEGMENT_HEADER_SIZE;
    if (l->folder != NULL && l->calls->sync_folder(l->folder) != 0) {
        status = error_errno(error, l->folder, "sync", errno);
        goto fail_file;
    }
    status = list_append(l, s, error);
    if (status != TANSU_OK)
        goto fail_file;
    free(path);
    *result = s;
    return TANSU_OK;

fail_file:
    if (path != NULL)
        l->calls->unlink(path);
fail:
    free(path);
    segment_close(l, s);
    return status;
}

tansu_status segment_open(log *l, uint32_t number, tansu_error *error) {
    char *path = segment_path(l, number);
    segment *s = calloc(1, sizeof *s);
    tansu_status status = TANSU_OK;
    segment_header header;
    if (path == NULL || s == NULL) {
        status = error_memory(error);
        goto fail;
    }
    s->number = number;
    s->fd = l->calls->open(path, l->read_only ? O_RDONLY : O_RDWR, 0);
    if (s->fd < 0 || l->calls->size(s->fd, &s->allocated) != 0) {
        status = error_errno(error, path, "open", errno);
        goto fail;
    }
    if (s->allocated < SEGMENT_HEADER_SIZE) {
        status =
            error_at(error, TANSU_E_CORRUPT, path, 0, "the segment is shorter than its header");
        goto fail;
    }
    if (l->calls->read(s->fd, &header, sizeof header, 0) != (ssize_t)sizeof header) {
        status = error_errno(error, path, "read", errno);
        goto fail;
    }
    if (memcmp(header.magic, SEGMENT_MAGIC, sizeof header.magic) != 0 ||
        header.crc != header_crc(&header) || header.number != number ||
        memcmp(header.uuid, l->uuid, sizeof header.uuid) != 0) {
        status = error_at(error, TANSU_E_CORRUPT, path, 0,
                          "the segment's header does not check out, or is another database's");
        goto fail;
    }
    if (header.format > LOG_FORMAT) {
        status =
            error_set(error, TANSU_E_VERSION, path,
                      "the log is of format %u and this library reads up to %u: use a newer one",
                      header.format, LOG_FORMAT);
        goto fail;
    }
    s->mapped = l->read_only || s->allocated > l->segment_size ? s->allocated : l->segment_size;
    s->mapped = (s->mapped + MAP_UNIT - 1) / MAP_UNIT * MAP_UNIT;
    s->base = l->calls->map(s->fd, s->mapped, !l->read_only);
    if (s->base == NULL) {
        status = error_errno(error, path, "map", errno);
        goto fail;
    }
    s->used = s->allocated;
    status = list_append(l, s, error);
    if (status != TANSU_OK)
        goto fail;
    free(path);
    return TANSU_OK;

fail:
    free(path);
    segment_close(l, s);
    return status;
}

tansu_status segment_remove_last(log *l, tansu_error *error) {
    segment *s = segment_head(l);
    char *path = NULL;
    if (l->folder != NULL) {
        path = segment_path(l, s->number);
        if (path == NULL)
            return error_memory(error);
        if (l->calls->unlink(path) != 0) {
            tansu_status status = error_errno(error, path, "remove", errno);
            free(path);
            return status;
        }
        free(path);
    }
    l->tables[s->number >> LOG_TABLE_BITS][s->number & (LOG_TABLE_SIZE - 1)] = NULL;
    l->segment_count--;
    segment_close(l, s);
    return TANSU_OK;
}
