/*
 * log/log.c -- opening, closing, and building frames at the head.
 */
#include "log/log.h"

#include "log/reserve.h"
#include "log/scan.h"
#include "log/sealed_segment.h"
#include "log/tail.h"
#include "util/array.h"
#include "util/checksum/checksum.h"
#include "util/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

/* What the listing of the log's folder found. */
typedef struct found_segments {
    log *l;
    uint32_t *numbers;
    size_t count;
    size_t capacity;
    bool no_memory;
} found_segments;

/* note_name -- takes the number of a segment file's name, and removes what a compaction that did
 * not end has left. */
static bool note_name(void *context, const char *name) {
    found_segments *found = context;
    uint32_t number;
    if (segment_number(name, SEGMENT_NEW, &number) && number != 0 && !found->l->read_only) {
        char *path = fs_join(found->l->folder, name);
        if (path != NULL)
            found->l->calls->unlink(found->l->calls,
                                    path); /* one that stays is tried again at the next opening */
        free(path);
    }
    if (!segment_number(name, ".seg", &number) || number == 0)
        return true;
    if (!ARRAY_RESERVE(found->numbers, found->count, found->capacity, 1)) {
        found->no_memory = true;
        return false;
    }
    found->numbers[found->count++] = number;
    return true;
}

static int compare_numbers(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* is_zero -- whether bytes are. */
static bool is_zero(const uint8_t *bytes, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (bytes[i] != 0)
            return false;
    return true;
}

/* header_is_zero -- whether a segment's header was never written, or not to its end: then no commit
 * follows it. A compacted segment has its name only when it is whole, and capacity for no more than
 * it holds. */
static bool header_is_zero(const log *l, uint32_t number) {
    char *path = segment_path(l, number);
    uint8_t bytes[SEGMENT_HEADER_SIZE + FRAME_HEADER_SIZE] = {0};
    int fd = path == NULL ? -1 : l->calls->open(l->calls, path, O_RDONLY, 0);
    ssize_t got = fd < 0 ? -1 : l->calls->read(fd, bytes, sizeof bytes, 0);
    if (fd >= 0)
        l->calls->close(fd);
    free(path);
    if (got < 0 || !is_zero(bytes + SEGMENT_HEADER_SIZE, FRAME_HEADER_SIZE))
        return false;
    return got == (ssize_t)sizeof bytes || is_zero(bytes, SEGMENT_HEADER_SIZE);
}

/* note_headerless -- puts a number on the list of segments without a whole header. */
static tansu_status note_headerless(log *l, uint32_t number, tansu_error *error) {
    if (!ARRAY_RESERVE(l->headerless, l->headerless_count, l->headerless_capacity, 1))
        return error_memory(error);
    l->headerless[l->headerless_count++] = number;
    return TANSU_OK;
}

/* open_one -- maps a segment and puts it in the list that it belongs in for now. */
static tansu_status open_one(log *l, uint32_t number, bool last, tansu_error *error) {
    if (!list_reserve(&l->active, 1) || !list_reserve(&l->inactive, 1))
        return error_memory(error);
    segment *s;
    tansu_status status = segment_open(l, number, last, &s, error);
    /* The newest segment that is written commit by commit may have been in progress when the
     * process ended, before its header was written. When power was lost, any that was not yet
     * synced may lack it, and those after may have theirs. Whether that can be, or it is damage, is
     * known when the log's end is. */
    if (status == TANSU_E_CORRUPT &&
        (l->found.lost ? !segment_header_valid(l, number)
                       : l->headerless_count == 0 && header_is_zero(l, number)))
        return note_headerless(l, number, error);
    if (status == TANSU_OK && s->last == 0 && l->headerless_count != 0 && !l->found.lost) {
        segment_close(l, s);
        /* which says what is wrong */
        return segment_open(l, l->headerless[0], false, &s, error);
    }
    if (status == TANSU_OK)
        list_insert(s->last != 0 ? &l->inactive : &l->active, s);
    return status;
}

/* open_segments -- maps every segment of the folder. */
static tansu_status open_segments(log *l, tansu_error *error) {
    found_segments found = {.l = l};
    tansu_status status = TANSU_OK;
    if (l->calls->list(l->calls, l->folder, note_name, &found) != 0 && !found.no_memory)
        status = error_errno(error, l->folder, "list", errno);
    else if (found.no_memory)
        status = error_memory(error);
    if (found.count > 1)
        qsort(found.numbers, found.count, sizeof *found.numbers, compare_numbers);
    for (size_t i = 0; status == TANSU_OK && i < found.count; i++) {
        status = open_one(l, found.numbers[i], i + 1 == found.count, error);
        l->last_number = found.numbers[i];
    }
    /* Only the last one grows. */
    for (uint32_t i = 0; i + 1 < l->active.count; i++)
        segment_close_file(l, segment_disk(l->active.items[i]));
    free(found.numbers);
    return status;
}

tansu_status log_open(const log_options *options, log **result, tansu_error *error) {
    log *l = calloc(1, sizeof *l);
    if (l == NULL)
        return error_memory(error);
    if (pthread_mutex_init(&l->mutex, NULL) != 0) {
        free(l);
        return error_memory(error);
    }
    if (!block_cache_init(&l->blocks)) {
        pthread_mutex_destroy(&l->mutex);
        free(l);
        return error_memory(error);
    }
    if (pthread_mutex_init(&l->reserve_mutex, NULL) != 0) {
        block_cache_free(&l->blocks);
        pthread_mutex_destroy(&l->mutex);
        free(l);
        return error_memory(error);
    }
    if (pthread_rwlock_init(&l->passing, NULL) != 0) {
        pthread_mutex_destroy(&l->reserve_mutex);
        block_cache_free(&l->blocks);
        pthread_mutex_destroy(&l->mutex);
        free(l);
        return error_memory(error);
    }
    if (pthread_mutex_init(&l->checked_mutex, NULL) != 0) {
        pthread_rwlock_destroy(&l->passing);
        pthread_mutex_destroy(&l->reserve_mutex);
        block_cache_free(&l->blocks);
        pthread_mutex_destroy(&l->mutex);
        free(l);
        return error_memory(error);
    }
    if (pthread_cond_init(&l->synced_changed, NULL) != 0) {
        pthread_mutex_destroy(&l->checked_mutex);
        pthread_rwlock_destroy(&l->passing);
        pthread_mutex_destroy(&l->reserve_mutex);
        block_cache_free(&l->blocks);
        pthread_mutex_destroy(&l->mutex);
        free(l);
        return error_memory(error);
    }
    l->calls = options->calls;
    l->read_only = options->read_only;
    l->concurrent = options->concurrent;
    /* The writer truncates its head segment when it is closed. */
    l->guarded = !options->unguarded || options->concurrent;
    l->sparse = options->sparse;
    l->segment_size = options->segment_size;
    l->blocks.limit = options->block_cache_bytes;
    l->max_pinned = options->max_pinned_bytes;
    l->keys = options->keys;
    l->blocks.secret = options->keys != NULL;
    memcpy(l->uuid, options->uuid, sizeof l->uuid);
    l->crc_seed = checksum(0, l->uuid, sizeof l->uuid);
    tansu_status status = TANSU_OK;
    if (options->folder != NULL) {
        l->folder = strdup(options->folder);
        l->set_aside_folder = options->set_aside_folder == NULL
                                  ? fs_join(options->folder, "set-aside")
                                  : strdup(options->set_aside_folder);
        status = l->folder == NULL || l->set_aside_folder == NULL ? error_memory(error)
                                                                  : tail_read(l, error);
        if (status == TANSU_OK)
            status = open_segments(l, error);
        if (status == TANSU_OK && !l->read_only)
            reserve_find(l);
    }
    if (status != TANSU_OK) {
        log_close(l, NULL);
        return status;
    }
    *result = l;
    return TANSU_OK;
}

tansu_status log_close(log *l, tansu_error *error) {
    tansu_status status = TANSU_OK;
    if (l == NULL)
        return status;
    segment *head = segment_head(l);
    bool writable = !l->read_only && !l->failed && !log_abandoned(l);
    if (writable && sealed_log(l)) {
        for (uint32_t i = 0; i < l->active.count; i++)
            if (l->active.items[i]->sealed != NULL && l->active.items[i]->writable)
                sealed_end(l, l->active.items[i]);
    } else if (writable && head != NULL && head->fd >= 0 && head->last == 0 &&
               head->used < head->allocated && head->used >= SEGMENT_HEADER_SIZE) {
        if (l->calls->truncate(head->fd, head->used) != 0)
            status = error_errno(error, l->folder, "trim", errno);
        else
            head->allocated = head->used;
    }
    if (writable && l->tail_begun && l->folder != NULL)
        reserve_cut_back(l);
    list_close(l, &l->active);
    list_close(l, &l->inactive);
    list_close(l, &l->superseded);
    list_close(l, &l->outgrown);
    free(l->obsolete);
    for (uint32_t i = 0; i < LOG_TABLE_SIZE; i++)
        free(l->tables[i]);
    tail_end(l);
    free(l->headerless);
    block_cache_free(&l->blocks);
    free(l->replaced.items);
    log_intact_end_shared(l);
    pthread_cond_destroy(&l->synced_changed);
    pthread_mutex_destroy(&l->checked_mutex);
    pthread_rwlock_destroy(&l->passing);
    pthread_mutex_destroy(&l->reserve_mutex);
    pthread_mutex_destroy(&l->mutex);
    free(l->folder);
    free(l->set_aside_folder);
    free(l);
    return status;
}

uint64_t log_last(const log *l) {
    return l->appended;
}

uint64_t log_position(const log *l) {
    const segment *head = segment_head(l);
    return head == NULL ? 0 : (uint64_t)head->number << 32 | head->used;
}

uint8_t *log_frame(const log *l) {
    const segment *head = segment_head(l);
    return head->base + head->used;
}

/* That many segments after the head keep their descriptors until they are synced. */
#define OPEN_MOST 8u

/* rest_older -- closes those of older ones; a sync opens them again. Their mappings keep the
 * kernel's notes of failed writes alive, so that a descriptor that is opened later reports them,
 * too. */
static void rest_older(log *l) {
    pthread_mutex_lock(&l->mutex);
    uint32_t i = l->active.count;
    i = l->syncing || i <= OPEN_MOST ? 0 : i - OPEN_MOST;
    while (i > 0 && segment_disk(l->active.items[i - 1])->fd >= 0)
        segment_close_file(l, segment_disk(l->active.items[--i]));
    pthread_mutex_unlock(&l->mutex);
}

/* move_frame -- continues the frame in a new segment, where its first `size` bytes fit. */
static tansu_status move_frame(log *l, uint64_t size, tansu_error *error) {
    segment *old = segment_head(l);
    segment *fresh;
    /* A frame that has outgrown a segment is likely to continue growing. */
    uint64_t room = size > l->segment_size / 2 ? size * 2 : size;
    uint64_t most = (uint64_t)TANSU_MAX_TRANSACTION_SIZE;
    if (room > most)
        room = most;
    tansu_status status = segment_create(l, l->appended + 1, size, room, &fresh, error);
    if (status == TANSU_OK && l->building) {
        memcpy(fresh->base + fresh->used, old->base + old->used, l->frame_size);
        memset(old->base + old->used, 0, l->frame_size);
        fresh->populated =
            fresh->used + l->frame_size; /* these pages are not for zeroing any more */
        l->frame_started = 0;
    }
    if (status == TANSU_OK && old != NULL)
        segment_seal(l, old);
    rest_older(l);
    return status;
}

/* A frame that grows beyond this starts to be written to the disk before the commit, by that many
 * bytes. */
#define WRITEBACK_STEP (2u * 1024 * 1024)

/* start_writeback -- lets the disk work on what a large frame holds while the rest is being
 * made. */
static void start_writeback(log *l, const segment *head) {
    if (head->fd >= 0)
        l->calls->start_writeback(head->fd, head->used + l->frame_started,
                                  l->frame_size - l->frame_started);
    l->frame_started = l->frame_size;
}

/* One of an encrypted database that was closed with less than that part of a segment is continued,
 * for which it is read into memory; so many short sessions do not make as many segments. */
#define CONTINUED_PART 8u

/* segment_ends -- whether the head takes no frame of that size: then it is continued in a new one. */
static bool segment_ends(const log *l, const segment *head, uint64_t size) {
    if (head == NULL || head->last != 0 || head->used + size > head->mapped)
        return true;
    if (head->compressed != NULL)
        return head->used + size > l->segment_size / CONTINUED_PART;
    return head->sealed != NULL && !sealed_fits(head, size);
}

/* reserve_space -- disk space for the frame in the head, and pages for its bytes. */
static tansu_status reserve_space(log *l, segment *head, uint64_t size, tansu_error *error) {
    if (head->sealed != NULL)
        return sealed_reserve(l, head, size, error);
    tansu_status status = segment_grow(l, head, head->used + size, error);
    if (status == TANSU_OK && l->building && l->frame_size >= l->frame_started + WRITEBACK_STEP)
        start_writeback(l, head);
    return status == TANSU_OK ? segment_populate(l, head, head->used + size, error) : status;
}

tansu_status log_append(log *l, uint64_t size, uint64_t *offset, uint8_t **bytes,
                        tansu_error *error) {
    uint64_t begin = l->building ? l->frame_size : FRAME_HEADER_SIZE;
    uint64_t end = begin + size;
    if (end > TANSU_MAX_TRANSACTION_SIZE)
        return error_set(error, TANSU_E_TOO_LARGE, NULL,
                         "The transaction is larger than %u bytes; split it",
                         TANSU_MAX_TRANSACTION_SIZE);
    if (l->appended >= COMMIT_MOST)
        return error_set(error, TANSU_E_TOO_LARGE, NULL,
                         "The log has used up its commit numbers; dump the database and load it "
                         "into a new one");
    segment *head = segment_head(l);
    tansu_status status = l->tail_begun ? TANSU_OK : tail_begin(l, error);
    if (status != TANSU_OK)
        return status;
    if (segment_ends(l, head, end)) {
        status = move_frame(l, end, error);
        head = segment_head(l);
    } else if (head->compressed != NULL) {
        status = sealed_to_image(l, head, error);
    }
    if (status == TANSU_OK)
        status = reserve_space(l, head, end, error);
    if (status != TANSU_OK)
        return status;
    l->building = true;
    l->frame_size = end;
    l->frame_records++;
    *offset = begin;
    *bytes = head->base + head->used + begin;
    return TANSU_OK;
}

void log_shrink(log *l, uint64_t size, uint32_t records) {
    if (!l->building)
        return;
    if (records == 0) {
        log_abort(l);
        return;
    }
    if (!log_abandoned(l))
        memset(log_frame(l) + size, 0, l->frame_size - size);
    l->frame_size = size;
    l->frame_records = records;
    if (l->frame_started > size)
        l->frame_started = size;
}

tansu_status log_commit(log *l, uint64_t sequence, log_location *location, tansu_error *error) {
    segment *head = segment_head(l);
    uint8_t *frame = head->base + head->used;
    frame_header header = {.magic = FRAME_MAGIC,
                           .size = (uint32_t)l->frame_size,
                           .count = l->frame_records,
                           .sequence = sequence,
                           .synced = __atomic_load_n(&l->synced, __ATOMIC_ACQUIRE)};
    memcpy(frame, &header, sizeof header);
    header.crc = checksum(l->crc_seed, frame + 8, l->frame_size - 8);
    store_u32(frame + 4, header.crc);
    if (log_unreadable(l, frame, l->frame_size) ||
        (head->sealed != NULL && !sealed_append(l, head, l->frame_size))) {
        log_fail(l, EIO);
        return log_read_error(l, error);
    }
    *location = (uint64_t)head->number << 32 | head->used;
    head->used += l->frame_size;
    /* Release: a sync that sees the number finds the frame, and its segment, in place. */
    __atomic_store_n(&l->appended, sequence, __ATOMIC_RELEASE);
    tail_written(l, sequence);
    l->building = false;
    l->frame_size = l->frame_started = 0;
    l->frame_records = 0;
    return TANSU_OK;
}

/* retire_outgrown -- a retire_free for the memory of a segment. */
static void retire_outgrown(void *context, void *object) {
    segment_close(context, object);
}

void log_retire(log *l, retire_list *retired) {
    if (l->outgrown.count == 0 || !retire_reserve(retired, l->outgrown.count))
        return;
    for (uint32_t i = 0; i < l->outgrown.count; i++)
        retire_add(retired, retire_outgrown, l, l->outgrown.items[i]);
    l->outgrown.count = 0;
}

void log_abort(log *l) {
    if (!l->building)
        return;
    /* Nothing after the head may look like a frame to a later recovery. */
    if (!log_abandoned(l))
        memset(log_frame(l), 0, l->frame_size);
    l->building = false;
    l->frame_size = l->frame_started = 0;
    l->frame_records = 0;
}

/* ---- The failed state of a log, the pages that could not be read, and its size ---- */

void log_fail(log *l, int number) {
    pthread_mutex_lock(&l->mutex);
    l->failed_errno = number;
    __atomic_store_n(&l->failed, true, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&l->mutex);
}

/* block_error -- the error for the newest block that could not be read. */
static tansu_status block_error(const log *l, tansu_error *error) {
    if (__atomic_load_n(&l->blocks.fault_status, __ATOMIC_RELAXED) == TANSU_E_MEMORY)
        return error_memory(error);
    uint64_t at = __atomic_load_n(&l->blocks.fault_at, __ATOMIC_RELAXED);
    char name[32];
    segment_name((uint32_t)(at >> 32), name);
    return error_at(error, TANSU_E_CORRUPT, name, (int64_t)(uint32_t)at,
                    "A block of the %s segment \"%s\" is corrupt at offset %u; restore a backup or "
                    "salvage what is readable with \"tansu repair\"",
                    sealed_log(l) ? "encrypted" : "compressed", name, (uint32_t)at);
}

tansu_status log_read_error(const log *l, tansu_error *error) {
    if (guard_faults(&l->tally) == 0 && __atomic_load_n(&l->blocks.faults, __ATOMIC_ACQUIRE) != 0)
        return block_error(l, error);
    uint64_t last = __atomic_load_n(&l->tally.last, __ATOMIC_RELAXED);
    char name[32];
    segment_name((uint32_t)(last >> 32), name);
    tansu_status status = error_at(
        error, TANSU_E_IO, name, (int64_t)(uint32_t)last,
        "The system could not read or write the page of \"%s\" at offset %u; check the disk, "
        "open the database again, and restore a backup or salvage what is readable if that fails",
        name, (uint32_t)last);
    if (error != NULL)
        error->sys_errno = EIO;
    return status;
}

bool log_failed(log *l) {
    return __atomic_load_n(&l->failed, __ATOMIC_ACQUIRE);
}

bool log_head_removed(log *l) {
    pthread_mutex_lock(&l->mutex);
    segment *head = segment_head(l);
    int fd = head == NULL ? -1 : segment_disk(head)->fd;
    bool removed = fd >= 0 && fs_unlinked(fd);
    pthread_mutex_unlock(&l->mutex);
    return removed;
}

void log_abandon(log *l) {
    __atomic_store_n(&l->abandoned, true, __ATOMIC_RELAXED);
}

bool log_cannot_be_written(log *l) {
    if (l->read_only || l->folder == NULL)
        return false;
    return log_failed(l) ||
           log_sync(l, __atomic_load_n(&l->appended, __ATOMIC_ACQUIRE), NULL) != TANSU_OK;
}

tansu_status log_dropped_error(uint32_t number, uint64_t offset, tansu_error *error) {
    char name[32];
    segment_name(number, name);
    return error_at(error, TANSU_E_IO, name, (int64_t)offset,
                    "The system could not write \"%s\" and has dropped what was at offset %llu; "
                    "check the disk, close the database and open it again",
                    name, (unsigned long long)offset);
}

/* size_of -- of an active segment; the mutex is held. */
static log_segment_size size_of(segment *s) {
    return (log_segment_size){
        .number = s->number,
        .bytes = __atomic_load_n(&segment_disk(s)->allocated, __ATOMIC_RELAXED),
        .compressed = segment_compressed(s) ? s->used : 0,
    };
}

log_statistics log_measure(log *l) {
    pthread_mutex_lock(&l->mutex);
    log_statistics total = {.segments = l->active.count};
    for (uint32_t i = 0; i < l->active.count; i++) {
        log_segment_size size = size_of(l->active.items[i]);
        total.bytes += size.bytes;
        total.compressed += size.compressed != 0 ? size.bytes : 0;
        total.images += size.compressed;
    }
    pthread_mutex_unlock(&l->mutex);
    return total;
}

log_segment_size *log_segment_sizes(log *l, uint32_t *count) {
    pthread_mutex_lock(&l->mutex);
    *count = l->active.count;
    log_segment_size *sizes = malloc((*count + 1) * sizeof *sizes);
    for (uint32_t i = 0; sizes != NULL && i < *count; i++)
        sizes[i] = size_of(l->active.items[i]);
    pthread_mutex_unlock(&l->mutex);
    return sizes;
}

uint64_t log_pinned(log *l, uint64_t sequence) {
    uint64_t bytes = sequence == UINT64_MAX ? __atomic_load_n(&l->retired, __ATOMIC_RELAXED) : 0;
    pthread_mutex_lock(&l->mutex);
    for (uint32_t i = 0; i < l->replaced.count; i++) {
        const segment *s = l->replaced.items[i];
        if (sequence == UINT64_MAX || (s->needed_from <= sequence && sequence < s->needed_before))
            bytes += s->allocated;
    }
    pthread_mutex_unlock(&l->mutex);
    return bytes;
}

/* ---- Group commit: one thread syncs for all that wait ---- */

#define ROUND_MOST 8

/* The files that one round has to sync: those with commits since the last round, or the first of
 * them. No memory is needed, for by now the commits can't be refused any more. */
typedef struct sync_round {
    segment *list[ROUND_MOST];
    uint32_t count;
    uint32_t last; /* the number of the segment that the next round begins with */
    uint64_t target;
} sync_round;

/* round_begin -- notes what to sync; the mutex is held. */
static void round_begin(log *l, sync_round *round) {
    uint32_t first = segment_index(l, l->sync_segment);
    if (first == UINT32_MAX)
        first = 0;
    round->target = __atomic_load_n(&l->appended, __ATOMIC_ACQUIRE);
    round->count = l->active.count - first;
    if (round->count > ROUND_MOST) {
        round->count = ROUND_MOST;
        round->target = l->active.items[first + ROUND_MOST]->first - 1;
    }
    for (uint32_t i = 0; i < round->count; i++)
        round->list[i] = l->active.items[first + i];
    round->last = round->count == 0 ? 0 : round->list[round->count - 1]->number;
}

/* round_run -- syncs the files; the errno of the first failure, or 0. The mutex is not held. */
static int round_run(log *l, const sync_round *round) {
    for (uint32_t i = 0; i < round->count; i++) {
        segment *s = segment_disk(round->list[i]);
        if (segment_descriptor(l, s) < 0 || l->calls->sync(s->fd, s->base, s->mapped) != 0)
            return errno == 0 ? EIO : errno;
        if (!segment_not_cut(l, s)) /* what was written after the end is nowhere */
            return EIO;
        if (i + 1 < round->count) /* the head stays written */
            segment_close_file(l, s);
    }
    return 0;
}

/* sync_error -- the error for commits whose sync has failed. Whatever the reason, it is not known
 * what was kept of them: so never a status that says that nothing was. */
static tansu_status sync_error(const log *l, tansu_error *error) {
    tansu_status status = error_errno(error, l->folder, "sync", l->failed_errno);
    if (status == TANSU_E_IO)
        return status;
    status = error_set(
        error, TANSU_E_SYNC_FAILED, l->folder,
        "The disk did not take what was committed, so it is not known whether the commit is "
        "kept; close the database and open it again");
    if (error != NULL)
        error->sys_errno = l->failed_errno;
    return status;
}

tansu_status log_sync(log *l, uint64_t sequence, tansu_error *error) {
    tansu_status status = TANSU_OK;
    pthread_mutex_lock(&l->mutex);
    while (status == TANSU_OK && l->synced < sequence) {
        if (l->failed) {
            status = sync_error(l, error);
        } else if (l->syncing) {
            pthread_cond_wait(&l->synced_changed, &l->mutex);
        } else if (l->folder == NULL) {
            __atomic_store_n(&l->synced, __atomic_load_n(&l->appended, __ATOMIC_ACQUIRE),
                             __ATOMIC_RELEASE);
        } else {
            sync_round round;
            round_begin(l, &round);
            l->syncing = true;
            /* after a crash during the sync it is not known whether it failed */
            tail_state_is(l, TAIL_SYNCING);
            pthread_mutex_unlock(&l->mutex);
            int number = round_run(l, &round);
            pthread_mutex_lock(&l->mutex);
            l->syncing = false;
            tail_state_is(l, number != 0 ? TAIL_FAILED : TAIL_IDLE);
            if (number != 0) {
                /* The kernel may have marked the lost pages clean: a second try that succeeds
                 * would prove nothing. */
                l->failed_errno = number;
                __atomic_store_n(&l->failed, true, __ATOMIC_RELEASE);
            } else {
                __atomic_store_n(&l->synced, round.target, __ATOMIC_RELEASE);
                tail_synced(l, round.target);
                l->sync_segment = round.last;
            }
            pthread_cond_broadcast(&l->synced_changed);
            if (number != 0)
                tail_sync(l);
        }
    }
    pthread_mutex_unlock(&l->mutex);
    return status;
}
