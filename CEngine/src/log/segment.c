/*
 * log/segment.c -- one segment: file, mapping, room.
 *
 * The head's whole address space is mapped at once, and the file grows under it in steps, so that
 * records never move. Only bytes that the file system has given room to are ever touched: a full
 * disk is an error of segment_grow(), never a SIGBUS. Of every other segment what is there is mapped, for
 * reading, and its file is closed: the mapping needs none.
 */
#include "log/segment.h"

#include "base/error.h"
#include "log/reserve.h"
#include "log/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

/* Steps in which a file grows: small databases stay small, large ones call rarely. */
#define GROW_LEAST (256u * 1024u)
#define GROW_MOST (4u * 1024u * 1024u)

/* What the last bytes of a disk are taken by. */
#define LEAST_STEP 4096u

/* Pages are brought in by this many bytes: little enough that a sync, which writes them all, hardly
 * notices. */
#define POPULATE_STEP (256u * 1024u)

/* Pages of the largest size in use, so that mappings end on a page everywhere. */
#define MAP_UNIT (64u * 1024u)

uint64_t segment_map_size(uint64_t size) {
    return (size + MAP_UNIT - 1) / MAP_UNIT * MAP_UNIT;
}

char *segment_path(const log *l, uint32_t number) {
    return segment_file(l->folder, number);
}

/* header_crc -- the CRC of a header with its crc field taken as zero. */
static uint32_t header_crc(const segment_header *header) {
    segment_header copy = *header;
    copy.crc = 0;
    return (uint32_t)crc32(0, (const Bytef *)&copy, sizeof copy);
}

char *segment_unfinished_path(const log *l, uint32_t number) {
    char name[32];
    snprintf(name, sizeof name, "%08u" SEGMENT_NEW, number);
    return fs_join(l->folder, name);
}

segment_header segment_header_fill(const log *l, uint32_t number, uint64_t first, uint64_t last,
                                   uint64_t end) {
    segment_header header = {.format = last == 0 ? LOG_FORMAT : LOG_FORMAT_COMPACTED,
                             .number = number,
                             .base = first,
                             .last = last,
                             .end = end};
    memcpy(header.magic, SEGMENT_MAGIC, sizeof header.magic);
    memcpy(header.uuid, l->uuid, sizeof header.uuid);
    header.crc = header_crc(&header);
    return header;
}

/* ---- Lists ---- */

bool list_reserve(segment_list *list, uint32_t more) {
    if (list->count + more <= list->room)
        return true;
    uint32_t room = list->room * 2 < 16 ? 16 : list->room * 2;
    if (room < list->count + more)
        room = list->count + more;
    segment **items = realloc(list->items, room * sizeof *items);
    if (items == NULL)
        return false;
    list->items = items;
    list->room = room;
    return true;
}

void list_insert(segment_list *list, segment *s) {
    uint32_t at = list->count;
    while (at > 0 &&
           (list->items[at - 1]->first > s->first ||
            (list->items[at - 1]->first == s->first && list->items[at - 1]->number > s->number)))
        at--;
    memmove(list->items + at + 1, list->items + at, (list->count - at) * sizeof *list->items);
    list->items[at] = s;
    list->count++;
}

void list_remove(segment_list *list, uint32_t index) {
    list->count--;
    memmove(list->items + index, list->items + index + 1,
            (list->count - index) * sizeof *list->items);
}

void list_close(log *l, segment_list *list) {
    for (uint32_t i = 0; i < list->count; i++)
        segment_close(l, list->items[i]);
    free(list->items);
    *list = (segment_list){0};
}

uint32_t segment_index(const log *l, uint32_t number) {
    for (uint32_t i = l->force.count; i > 0; i--)
        if (l->force.items[i - 1]->number == number)
            return i - 1;
    return UINT32_MAX;
}

segment *segment_get(const log *l, uint32_t number) {
    uint32_t i = segment_index(l, number);
    return i == UINT32_MAX ? NULL : l->force.items[i];
}

/* ---- The readers' table ---- */

tansu_status segment_table(log *l, uint32_t number, tansu_error *error) {
    uint32_t top = number >> LOG_TABLE_BITS;
    if (top >= LOG_TABLE_SIZE)
        return error_set(error, TANSU_E_TOO_LARGE, NULL, "the log has reached its last segment");
    if (__atomic_load_n(&l->tables[top], __ATOMIC_ACQUIRE) != NULL)
        return TANSU_OK;
    uint8_t **table = calloc(LOG_TABLE_SIZE, sizeof *table), **none = NULL;
    if (table == NULL)
        return error_memory(error);
    /* The writer and a compaction may both need it. */
    if (!__atomic_compare_exchange_n(&l->tables[top], &none, table, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE))
        free(table);
    return TANSU_OK;
}

void segment_publish(log *l, segment *s) {
    uint8_t **table = __atomic_load_n(&l->tables[s->number >> LOG_TABLE_BITS], __ATOMIC_ACQUIRE);
    __atomic_store_n(&table[s->number & (LOG_TABLE_SIZE - 1)], s->base, __ATOMIC_RELEASE);
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
    return TANSU_OK;
}

/* segment_unmap -- takes the memory away. */
static void segment_unmap(log *l, segment *s) {
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
    s->fd = l->calls->open(path, l->read_only ? O_RDONLY : O_RDWR, 0);
    int number = errno;
    free(path);
    errno = number;
    return s->fd;
}

void segment_rest(log *l, segment *s) {
    if (s->fd >= 0)
        l->calls->close(s->fd);
    s->fd = -1;
}

tansu_status segment_ready(log *l, segment *s, tansu_error *error) {
    if (l->folder == NULL || l->read_only || s->last != 0)
        return TANSU_OK;
    char name[32];
    segment_name(s->number, name);
    if (segment_descriptor(l, s) < 0)
        return error_errno(error, name, "open", errno);
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

tansu_status segment_take(log *l, segment *s, int fd, tansu_error *error) {
    segment old = *s;
    s->fd = fd;
    tansu_status status = segment_map(l, s, s == segment_head(l), error);
    if (status != TANSU_OK) {
        s->fd = old.fd;
        return status;
    }
    s->allocated = s->used;
    s->populated = 0;
    segment_publish(l, s);
    segment_unmap(l, &old);
    segment_rest(l, &old);
    return TANSU_OK;
}

void segment_close(log *l, segment *s) {
    if (s == NULL)
        return;
    uint32_t top = s->number >> LOG_TABLE_BITS; /* a file's name may have any number */
    uint8_t **table = top < LOG_TABLE_SIZE ? l->tables[top] : NULL;
    if (table != NULL && s->base != NULL && table[s->number & (LOG_TABLE_SIZE - 1)] == s->base)
        __atomic_store_n(&table[s->number & (LOG_TABLE_SIZE - 1)], NULL, __ATOMIC_RELEASE);
    segment_unmap(l, s);
    segment_rest(l, s);
    free(s);
}

tansu_status segment_unlink(log *l, uint32_t number, tansu_error *error) {
    char *path = segment_path(l, number);
    if (path == NULL)
        return error_memory(error);
    tansu_status status = TANSU_OK;
    if (l->calls->unlink(path) != 0 && errno != ENOENT)
        status = error_errno(error, path, "remove", errno);
    free(path);
    return status;
}

/* ---- Room ---- */

bool segment_whole(const log *l, const segment *s) {
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

/* allocate_step -- has the file grow to *size, or where the disk ends before that, to `end` (*size tells); errno or 0.
 * What gives no room back leaves the reserve alone, and fills it up first when it was spent. */
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
    if (!segment_whole(l, s))
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
    __atomic_store_n(&s->allocated, size, __ATOMIC_RELAXED); /* log_measure() looks */
    return TANSU_OK;
}

tansu_status segment_populate(log *l, segment *s, uint64_t end, tansu_error *error) {
    if (end <= s->populated)
        return TANSU_OK;
    if (!segment_whole(l, s))
        return cut_off(l, s, error);
    uint64_t written = s->populated > s->used ? s->populated : s->used;
    uint64_t from = written / MAP_UNIT * MAP_UNIT;
    uint64_t fresh = (written + MAP_UNIT - 1) / MAP_UNIT * MAP_UNIT;
    uint64_t to = (end + POPULATE_STEP - 1) / MAP_UNIT * MAP_UNIT;
    if (to > s->allocated)
        to = s->allocated; /* never a page that the file does not have */
    if (to > from)
        l->calls->populate(s->fd, s->base, from, fresh, to);
    s->populated = to > end ? to : end;
    return TANSU_OK;
}

/* append_head -- puts a new segment last. */
static tansu_status append_head(log *l, segment *s, tansu_error *error) {
    tansu_status status = segment_table(l, s->number, error);
    if (status != TANSU_OK)
        return status;
    segment_publish(l, s);
    pthread_mutex_lock(&l->mutex); /* a sync or a compaction may be reading the list */
    bool room = list_reserve(&l->force, 1);
    if (room)
        l->force.items[l->force.count++] = s;
    pthread_mutex_unlock(&l->mutex);
    return room ? TANSU_OK : error_memory(error);
}

uint32_t segment_next_number(log *l) {
    pthread_mutex_lock(&l->mutex);
    uint32_t number = ++l->last_number;
    pthread_mutex_unlock(&l->mutex);
    return number;
}

void segment_give_back(log *l, uint32_t number) {
    pthread_mutex_lock(&l->mutex);
    if (l->last_number == number)
        l->last_number--;
    pthread_mutex_unlock(&l->mutex);
}

tansu_status segment_create(log *l, uint64_t first, uint64_t size, uint64_t room, segment **result,
                            tansu_error *error) {
    segment *s = calloc(1, sizeof *s);
    if (s == NULL)
        return error_memory(error);
    s->fd = -1;
    s->first = first;
    s->number = segment_next_number(l);
    s->mapped = l->segment_size;
    if (s->mapped < room + SEGMENT_HEADER_SIZE)
        s->mapped = room + SEGMENT_HEADER_SIZE;
    s->mapped = segment_map_size(s->mapped);
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
    status = segment_map(l, s, true, error);
    if (status != TANSU_OK)
        goto fail_file;
    segment_header header = segment_header_fill(l, s->number, first, 0, 0);
    memcpy(s->base, &header, sizeof header);
    s->used = SEGMENT_HEADER_SIZE;
    if (l->folder != NULL && l->calls->sync_folder(l->folder) != 0) {
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
        l->calls->unlink(path);
fail:
    free(path);
    segment_give_back(l, s->number);
    segment_close(l, s);
    return status;
}

/* header_sound -- whether a header is this segment's, its fields making sense together. */
static bool header_sound(const log *l, const segment_header *header, uint32_t number,
                         uint64_t size) {
    if (memcmp(header->magic, SEGMENT_MAGIC, sizeof header->magic) != 0 ||
        header->crc != header_crc(header) || header->number != number || header->base == 0 ||
        memcmp(header->uuid, l->uuid, sizeof header->uuid) != 0)
        return false;
    /* Of a newer format nothing more is known. */
    if (header->format > LOG_FORMAT_COMPACTED)
        return true;
    if (header->format != LOG_FORMAT_COMPACTED)
        return header->last == 0 && header->end == 0;
    return header->last >= header->base && header->end >= SEGMENT_HEADER_SIZE &&
           header->end % 8 == 0 && header->end <= size;
}

bool segment_header_whole(const log *l, uint32_t number) {
    segment_header header;
    char *path = segment_path(l, number);
    int fd = path == NULL ? -1 : l->calls->open(path, O_RDONLY, 0);
    ssize_t got = fd < 0 ? -1 : l->calls->read(fd, &header, sizeof header, 0);
    if (fd >= 0)
        l->calls->close(fd);
    free(path);
    /* What could not be read is for the caller to meet again. */
    return got < 0 || (got == (ssize_t)sizeof header && header.crc == header_crc(&header));
}

tansu_status segment_open(log *l, uint32_t number, segment **result, tansu_error *error) {
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
        status =
            error_at(error, TANSU_E_CORRUPT, path, 0, "the segment is shorter than its header");
        goto fail;
    }
    if (l->calls->read(s->fd, &header, sizeof header, 0) != (ssize_t)sizeof header) {
        status = error_errno(error, path, "read", errno);
        goto fail;
    }
    if (!header_sound(l, &header, number, s->allocated)) {
        status = error_at(error, TANSU_E_CORRUPT, path, 0,
                          "the segment's header does not check out, or is another database's");
        goto fail;
    }
    if (header.format > LOG_FORMAT_COMPACTED) {
        status =
            error_set(error, TANSU_E_VERSION, path,
                      "the log is of format %u and this library reads up to %u: use a newer one",
                      header.format, LOG_FORMAT_COMPACTED);
        goto fail;
    }
    s->first = header.base;
    s->last = header.last;
    s->mapped = segment_map_size(s->allocated);
    status = segment_map(l, s, false, error);
    if (status != TANSU_OK)
        goto fail;
    segment_rest(l, s);
    s->used = s->last != 0 ? header.end : s->allocated;
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
    l->force.count--;
    segment_give_back(l, s->number);
    segment_close(l, s);
    return TANSU_OK;
}
