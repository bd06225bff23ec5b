/*
 * log/follow/follow.c -- the log in a process that reads while another one appends.
 *
 * A segment's addresses are mapped beyond the end of its file, and the file grows under them as it
 * does in the writer, so that records do not move when there are more of them.
 */
#include "log/follow/follow.h"

#include "log/scan.h"
#include "log/sealed_segment.h"
#include "util/array.h"
#include "util/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

/* ---- The marks ---- */

/* watch -- maps the file of marks if it is there by now. */
static const tail_file *watch(log *l) {
    char *path = l->watched != NULL ? NULL : fs_join(l->folder, TAIL_NAME);
    int fd = path == NULL ? -1 : l->calls->open(l->calls, path, O_RDONLY, 0);
    uint64_t size = 0;
    free(path);
    if (fd >= 0 && l->calls->size(fd, &size) == 0 && size >= TAIL_FILE_SIZE) {
        tail_file *file = l->calls->map(fd, TAIL_FILE_SIZE, false);
        /* A page that can't be read is replaced by zeros, which say nothing. */
        if (file != NULL && !guard_add(file, TAIL_FILE_SIZE, 0, &l->tail_tally)) {
            l->calls->unmap(file, TAIL_FILE_SIZE);
            file = NULL;
        }
        __atomic_store_n(&l->watched, file, __ATOMIC_RELEASE);
    }
    if (fd >= 0)
        l->calls->close(fd);
    return l->watched;
}

void log_follow_begin(log *l) {
    (void)watch(l);
}

bool log_follow_look(log *l, log_seen *seen, uint64_t *to) {
    const tail_file *tail = watch(l);
    *to = 0;
    *seen = l->seen;
    if (tail == NULL)
        return true;
    /* The sessions first and the resets last: a writer that begins sets the resets before its marks
     * and the sessions after them. */
    seen->sessions = __atomic_load_n(&tail->sessions, __ATOMIC_ACQUIRE);
    seen->written = __atomic_load_n(&tail->written, __ATOMIC_ACQUIRE);
    seen->resets = __atomic_load_n(&tail->resets, __ATOMIC_ACQUIRE);
    *to = tail_number(tail->crc, offsetof(tail_file, written), seen->written);
    return seen->resets == l->seen.resets;
}

bool log_follow_intact(const log *l) {
    const tail_file *tail = l->watched;
    __atomic_thread_fence(__ATOMIC_ACQUIRE); /* what was read was read before */
    return tail == NULL || __atomic_load_n(&tail->resets, __ATOMIC_RELAXED) == l->seen.resets;
}

void log_follow_seen(log *l, const log_seen *seen) {
    __atomic_store_n(&l->seen.sessions, seen->sessions, __ATOMIC_RELAXED);
    __atomic_store_n(&l->seen.written, seen->written, __ATOMIC_RELAXED);
}

/* ---- Segments ---- */

/* outgrow -- maps a segment at a larger size; the old mapping stays for those that use it. */
static tansu_status outgrow(log *l, segment *s, uint64_t size, tansu_error *error) {
    segment *old = malloc(sizeof *old);
    if (old == NULL || !list_reserve(&l->outgrown, 1)) {
        free(old);
        return error_memory(error);
    }
    *old = *s;
    old->fd = -1;
    old->allocated = 0; /* the file is that of the larger mapping */
    s->mapped = segment_map_size(size);
    tansu_status status = segment_map(l, s, false, error);
    if (status != TANSU_OK) {
        s->mapped = old->mapped;
        free(old);
        return status;
    }
    segment_publish(l, s);
    l->outgrown.items[l->outgrown.count++] = old;
    return TANSU_OK;
}

/* take_size -- takes over the size that the head's file has by now: it grows, and a clean end trims
 * it. A file that is not there any more has been compacted, and is not read further. */
static tansu_status take_size(log *l, segment *s, tansu_error *error) {
    segment *disk = segment_disk(s);
    uint64_t size = disk->used;
    if (segment_descriptor(l, disk) < 0) {
        if (errno != ENOENT)
            return error_errno(error, l->folder, "open", errno);
    } else if (l->calls->size(disk->fd, &size) != 0) {
        return error_errno(error, l->folder, "read", errno);
    }
    if (s->sealed != NULL)
        return sealed_follow(l, s, size, error);
    pthread_mutex_lock(&l->mutex);
    tansu_status status = size <= s->mapped ? TANSU_OK : outgrow(l, s, size, error);
    if (status == TANSU_OK)
        __atomic_store_n(&s->allocated, size, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&l->mutex);
    return status;
}

/* next_in_head -- the next frame if it is in the head; otherwise NULL. The size is asked for before
 * anything is read, and again if the file has grown since. *sized: it was asked for. */
static tansu_status next_in_head(log *l, segment *s, bool *sized, const frame_header **frame,
                                 tansu_error *error) {
    *frame = NULL;
    if (s == NULL || s->last != 0 || s->compressed != NULL)
        return TANSU_OK;
    for (int i = 0; i < 2; i++) {
        tansu_status status = *sized && i == 0 ? TANSU_OK : take_size(l, s, error);
        if (status != TANSU_OK)
            return status;
        *sized = true;
        *frame = frame_at(l, s, s->used);
        if (*frame != NULL && (*frame)->sequence == l->appended + 1)
            return TANSU_OK;
        *frame = NULL;
    }
    return TANSU_OK;
}

/* The search for the segment that begins with a commit. */
typedef struct next_segment {
    log *l;
    uint64_t first;
    segment *found;
    tansu_status status;
    tansu_error *error;
} next_segment;

/* examine_name -- one name of the log's folder. Files that cannot be opened are not the one: they
 * are being written, or were removed meanwhile. */
static bool examine_name(void *context, const char *name) {
    next_segment *n = context;
    const segment *head = segment_head(n->l);
    uint32_t number;
    segment *s;
    if (!segment_number(name, ".seg", &number) || number <= (head == NULL ? 0 : head->number) ||
        log_has_segment(n->l, number))
        return true;
    tansu_status status = segment_open(n->l, number, true, &s, n->error);
    if (status == TANSU_E_MEMORY)
        n->status = status;
    if (status != TANSU_OK)
        return status != TANSU_E_MEMORY;
    if (s->last == 0 && s->first == n->first) {
        n->found = s;
        return false;
    }
    segment_close(n->l, s);
    return true;
}

/* append_next -- maps the segment that begins with the next commit; *found: it is there. */
static tansu_status append_next(log *l, bool *found, tansu_error *error) {
    next_segment n = {.l = l, .first = l->appended + 1, .status = TANSU_OK, .error = error};
    *found = false;
    if (l->calls->list(l->calls, l->folder, examine_name, &n) != 0 && n.found == NULL &&
        n.status == TANSU_OK)
        return error_errno(error, l->folder, "list", errno);
    if (n.status != TANSU_OK || n.found == NULL)
        return n.status;
    segment *head = segment_head(l);
    if (head != NULL)
        segment_seal(l, head);
    pthread_mutex_lock(&l->mutex);
    bool reserved = list_reserve(&l->active, 1);
    if (reserved) {
        if (head != NULL)
            segment_close_file(l, segment_disk(head));
        n.found->used = SEGMENT_HEADER_SIZE;
        list_insert(&l->active, n.found);
        if (n.found->number > l->last_number)
            l->last_number = n.found->number;
    }
    pthread_mutex_unlock(&l->mutex);
    if (!reserved) {
        segment_close(l, n.found);
        return error_memory(error);
    }
    *found = true;
    return TANSU_OK;
}

tansu_status log_follow_compacted(log *l, uint32_t number, tansu_error *error) {
    for (uint32_t i = 0; i < l->inactive.count; i++)
        if (l->inactive.items[i]->number == number)
            return TANSU_OK;
    segment *s;
    if (!list_reserve(&l->inactive, 1))
        return error_memory(error);
    tansu_status status = segment_open(l, number, false, &s, error);
    if (status != TANSU_OK)
        return status;
    list_insert(&l->inactive, s);
    pthread_mutex_lock(&l->mutex);
    if (number > l->last_number)
        l->last_number = number;
    pthread_mutex_unlock(&l->mutex);
    return TANSU_OK;
}

/* ---- Frames ---- */

/* show -- passes a frame to the visitor and advances past it. */
static tansu_status show(log *l, const frame_header *frame, log_visitor visitor, void *context,
                         tansu_error *error) {
    segment *s = segment_head(l);
    uint32_t number = s->number;
    if (!frame_records_valid(frame))
        return frame_damaged_error(number, s->used, frame->sequence, error);
    log_location location = (uint64_t)number << 32 | s->used;
    tansu_status status = visitor(context, frame, location + FRAME_HEADER_SIZE, error);
    if (status != TANSU_OK)
        return status;
    s->used += frame->size;
    __atomic_store_n(&l->appended, frame->sequence, __ATOMIC_RELEASE);
    return TANSU_OK;
}

tansu_status log_follow(log *l, uint64_t to, log_visitor visitor, void *context, bool *reached,
                        tansu_error *error) {
    uint64_t faults = log_faults(l);
    tansu_status status = TANSU_OK;
    bool found = true, sized = false;
    while (status == TANSU_OK && found && l->appended < to) {
        const frame_header *frame;
        status = next_in_head(l, segment_head(l), &sized, &frame, error);
        if (status == TANSU_OK && frame != NULL)
            status = show(l, frame, visitor, context, error);
        else if (status == TANSU_OK)
            status = append_next(l, &found, error);
    }
    *reached = found && log_follow_intact(l);
    l->obsolete_count = 0; /* the files are the writer's */
    return log_check(l, faults, status, error);
}

/* ---- What snapshots still use ---- */

/* retire_segment -- a retire_free for a mapping. */
static void retire_segment(void *context, void *object) {
    log *l = context;
    const segment *s = object;
    __atomic_sub_fetch(&l->retired, s->allocated, __ATOMIC_RELAXED);
    segment_close(context, object);
}

/* list_bytes -- bytes of the files of mappings. */
static uint64_t list_bytes(const segment_list *list) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < list->count; i++)
        bytes += list->items[i]->allocated;
    return bytes;
}

tansu_status log_follow_retire(log *l, retire_list *retired, tansu_error *error) {
    if (!retire_reserve(retired, (size_t)l->superseded.count + l->outgrown.count))
        return error_memory(error);
    __atomic_add_fetch(&l->retired, list_bytes(&l->superseded), __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < l->superseded.count; i++)
        retire_add(retired, retire_segment, l, l->superseded.items[i]);
    for (uint32_t i = 0; i < l->outgrown.count; i++)
        retire_add(retired, retire_segment, l, l->outgrown.items[i]);
    l->retiring[0] = l->superseded.count;
    l->retiring[1] = l->outgrown.count;
    l->superseded.count = l->outgrown.count = 0;
    return TANSU_OK;
}

void log_follow_keep(log *l) {
    l->superseded.count = l->retiring[0];
    l->outgrown.count = l->retiring[1];
    __atomic_sub_fetch(&l->retired, list_bytes(&l->superseded), __ATOMIC_RELAXED);
}

/* ---- What is kept on the disk ---- */

log_removals log_follow_removals(const log *l) {
    const tail_file *tail = l->tail;
    if (tail == NULL)
        tail = __atomic_load_n(&l->watched, __ATOMIC_ACQUIRE);
    if (tail == NULL)
        return (log_removals){0};
    return (log_removals){.bytes = __atomic_load_n(&tail->removed, __ATOMIC_ACQUIRE),
                          .sessions = __atomic_load_n(&tail->sessions, __ATOMIC_RELAXED),
                          .limit = __atomic_load_n(&tail->max_pinned, __ATOMIC_RELAXED),
                          .grows_to = __atomic_load_n(&tail->segment_size, __ATOMIC_RELAXED)};
}

/* is_removed -- whether the file of a segment has no name any more. */
static bool is_removed(const log *l, uint32_t number) {
    char *path = segment_path(l, number);
    int fd = path == NULL ? -1 : l->calls->open(l->calls, path, O_RDONLY, 0);
    bool removed = path != NULL && fd < 0 && errno == ENOENT;
    if (fd >= 0)
        l->calls->close(fd);
    free(path);
    return removed;
}

/* size_now -- of a segment's file, which may have grown since it was mapped. */
static uint64_t size_now(const log *l, const segment *s) {
    uint64_t known = __atomic_load_n(&s->allocated, __ATOMIC_RELAXED), now;
    return s->fd >= 0 && l->calls->size(s->fd, &now) == 0 && now > known ? now : known;
}

/* add_bytes -- the bytes of the files of a list, and of those among them that are not there any
 * more, unless `removed` is NULL. */
static void add_bytes(const log *l, const segment_list *list, uint64_t *mapped, uint64_t *removed) {
    for (uint32_t i = 0; i < list->count; i++) {
        const segment *s = segment_disk(list->items[i]);
        *mapped += __atomic_load_n(&s->allocated, __ATOMIC_RELAXED);
        if (removed != NULL && is_removed(l, s->number))
            *removed += size_now(l, s);
    }
}

/* may_grow -- how many bytes the last segment's file may get in addition. */
static uint64_t may_grow(const log *l) {
    segment *head = segment_head(l);
    uint64_t most = log_follow_removals(l).grows_to;
    if (most == 0)
        most = l->segment_size;
    uint64_t known =
        head == NULL ? 0 : __atomic_load_n(&segment_disk(head)->allocated, __ATOMIC_RELAXED);
    return head != NULL && head->last == 0 && known < most ? most - known : 0;
}

void log_follow_measure(log *l, uint64_t *mapped, uint64_t *removed) {
    *mapped = __atomic_load_n(&l->retired, __ATOMIC_RELAXED);
    if (removed != NULL)
        *removed = *mapped;
    add_bytes(l, &l->active, mapped, removed);
    add_bytes(l, &l->inactive, mapped, removed);
    add_bytes(l, &l->superseded, mapped, removed);
    *mapped += may_grow(l);
}
