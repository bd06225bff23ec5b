/*
 * log/tail.c -- the file TAIL.
 */
#include "log/tail.h"

#include "log/scan.h"
#include "log/sealed_segment.h"
#include "util/checksum/checksum.h"
#include "util/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

uint32_t tail_crc(const tail_file *file) {
    return checksum(0, file->uuid, sizeof file->uuid + sizeof file->cache);
}

/* same_cache -- whether the page cache that marks were made in (`made_in`) is still there. `cache`
 * becomes fs_cache_id() of now. */
static bool same_cache(const char made_in[64], const char *folder, char cache[64]) {
    fs_cache_id(folder, cache);
    return made_in[0] != 0 && memcmp(made_in, cache, 64) == 0;
}

bool tail_is_stale(log *l, uint64_t last) {
    uint64_t marked = l->found.written > l->synced ? l->found.written : l->synced;
    return l->found.valid && last > marked + 1 && same_cache(l->found.cache, l->folder, l->cache);
}

/* take_marks -- what a file that is valid says. */
static void take_marks(log *l, const tail_file *file) {
    log_marks *m = &l->found;
    m->written = tail_number(file->crc, offsetof(tail_file, written), file->written);
    m->synced = tail_number(file->crc, offsetof(tail_file, synced), file->synced);
    uint64_t state = tail_number(file->crc, offsetof(tail_file, state), file->state);
    m->valid = true;
    memcpy(m->cache, file->cache, sizeof m->cache);
    m->settled = state == TAIL_IDLE;
    m->failed = state == TAIL_FAILED;
    /* After a clean end it plays no part whose page cache it was, and asking takes time. After a
     * sync that failed the system may drop from memory what it could not write; one that was in
     * progress may have failed. */
    m->page_cache_holds =
        m->written != 0 && m->settled && same_cache(file->cache, l->folder, l->cache);
}

/* load -- reads the file; *sound: it is there, valid, and of the database with `uuid`, or of any if
 * that is NULL. Errors: IO, MEMORY. */
static tansu_status load(const fs *calls, const char *folder, const uint8_t uuid[16],
                         tail_file *file, bool *sound, tansu_error *error) {
    *sound = false;
    char *path = fs_join(folder, TAIL_NAME);
    if (path == NULL)
        return error_memory(error);
    tansu_status status = TANSU_OK;
    memset(file, 0, sizeof *file);
    int fd = calls->open(calls, path, O_RDONLY, 0);
    ssize_t got = 0;
    if (fd >= 0)
        got = calls->read(fd, file, sizeof *file, 0);
    if ((fd < 0 && errno != ENOENT) || got < 0)
        status = error_errno(error, path, fd < 0 ? "open" : "read", errno);
    if (fd >= 0)
        calls->close(fd);
    free(path);
    *sound = status == TANSU_OK && got == (ssize_t)sizeof *file &&
             memcmp(file->magic, TAIL_MAGIC, sizeof file->magic) == 0 &&
             file->format == TAIL_FORMAT &&
             (uuid == NULL || memcmp(file->uuid, uuid, sizeof file->uuid) == 0) &&
             file->crc == tail_crc(file);
    return status;
}

tansu_status tail_read(log *l, tansu_error *error) {
    tail_file file;
    bool sound;
    l->found = (log_marks){0};
    tansu_status status = load(l->calls, l->folder, l->uuid, &file, &sound, error);
    if (sound)
        take_marks(l, &file);
    /* No mark is all ones: a reader looks at the first refresh. */
    l->seen = (log_seen){.written = UINT64_MAX, .resets = sound ? file.resets : 0};
    l->found.lost = !sound || (l->found.written != 0 && !l->found.page_cache_holds);
    return status;
}

uint64_t log_marked_end(const fs *calls, const char *folder, const uint8_t uuid[16]) {
    tail_file file;
    bool sound;
    char cache[64];
    if (load(calls, folder, uuid, &file, &sound, NULL) != TANSU_OK || !sound)
        return 0;
    uint64_t synced = tail_number(file.crc, offsetof(tail_file, synced), file.synced);
    uint64_t written = tail_number(file.crc, offsetof(tail_file, written), file.written);
    uint64_t state = tail_number(file.crc, offsetof(tail_file, state), file.state);
    bool holds = same_cache(file.cache, folder, cache) && state != TAIL_FAILED;
    return holds && written > synced ? written : synced;
}

bool log_marked_uuid(const fs *calls, const char *folder, uint8_t uuid[16]) {
    tail_file file;
    bool sound;
    if (load(calls, folder, NULL, &file, &sound, NULL) != TANSU_OK || !sound)
        return false;
    memcpy(uuid, file.uuid, sizeof file.uuid);
    return true;
}

/* store -- sets a mark. */
static void store(log *l, aligned_u64 *mark, uint64_t number) {
    size_t field = (size_t)((const uint8_t *)mark - (const uint8_t *)l->tail);
    __atomic_store_n(mark, tail_mark(l->tail_crc, field, number), __ATOMIC_RELEASE);
}

void tail_synced(log *l, uint64_t sequence) {
    if (l->tail != NULL)
        store(l, &l->tail->synced, sequence);
}

void tail_state_is(log *l, enum tail_state state) {
    if (l->tail != NULL)
        store(l, &l->tail->state, state);
}

void tail_sync(log *l) {
    void *mapped = l->tail;
    if (mapped == NULL)
        return;
    pthread_mutex_unlock(&l->mutex);
    char *path = fs_join(l->folder, TAIL_NAME);
    int fd = path == NULL ? -1 : l->calls->open(l->calls, path, O_RDWR, 0);
    if (fd >= 0) {
        (void)l->calls->sync(fd, mapped, TAIL_FILE_SIZE); /* opening copes with stale marks */
        l->calls->close(fd);
    }
    free(path);
    pthread_mutex_lock(&l->mutex);
}

/* write_marks -- makes the file this writer's. After a crash within, it says nothing. */
static void write_marks(log *l) {
    tail_file *file = l->tail;
    tail_file fresh = {.format = TAIL_FORMAT};
    memcpy(fresh.magic, TAIL_MAGIC, sizeof fresh.magic);
    memcpy(fresh.uuid, l->uuid, sizeof fresh.uuid);
    memcpy(fresh.cache, l->cache, sizeof fresh.cache);
    fresh.crc = tail_crc(&fresh);
    if (memcmp(file, &fresh, offsetof(tail_file, written)) != 0) {
        aligned_u64 *marks[] = {&file->state, &file->written, &file->synced};
        for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
            __atomic_store_n(marks[i], 0, __ATOMIC_RELEASE);
        memcpy(file, &fresh, offsetof(tail_file, written));
    }
    l->tail_crc = fresh.crc;
    /* The sessions last: a reader that has seen a cleared mark with the number of this session
     * would take the one of its clean end for the same. */
    __atomic_store_n(&file->resets, file->resets + l->end_rewritten, __ATOMIC_RELEASE);
    __atomic_store_n(&file->max_pinned, l->max_pinned, __ATOMIC_RELAXED);
    __atomic_store_n(&file->segment_size, l->segment_size, __ATOMIC_RELAXED);
    tail_synced(l, l->synced);
    tail_written(l, l->appended);
    tail_state_is(l, TAIL_IDLE);
    __atomic_store_n(&file->sessions, file->sessions + 1, __ATOMIC_RELEASE);
    /* Who sees a byte that is appended from now on sees the resets (log_follow_intact()). */
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* disk_full -- whether a call failed because the disk is full. */
static bool disk_full(int number) {
    return number == ENOSPC || number == EDQUOT || number == EFBIG;
}

/* open_file -- the file with disk space for all its bytes, or -1. */
static int open_file(const log *l, const char *path) {
    int fd = l->calls->open(l->calls, path, O_RDWR | O_CREAT, FS_MODE);
    if (fd >= 0 && l->calls->allocate(fd, 0, TAIL_FILE_SIZE) == 0)
        return fd;
    int number = errno;
    if (fd >= 0)
        l->calls->close(fd);
    errno = number;
    return -1;
}

tansu_status tail_begin(log *l, tansu_error *error) {
    if (l->tail_begun || l->folder == NULL || l->read_only)
        return TANSU_OK;
    char *path = fs_join(l->folder, TAIL_NAME);
    if (path == NULL)
        return error_memory(error);
    if (l->cache[0] == 0)
        fs_cache_id(l->folder, l->cache);
    tansu_status status = TANSU_OK;
    int fd = open_file(l, path);
    tail_file *file = fd < 0 ? NULL : l->calls->map(fd, TAIL_FILE_SIZE, true);
    int number = errno;
    /* A mark that can't be stored is only unknown: the page is replaced by one that nobody
     * reads. */
    if (file != NULL && l->guarded)
        (void)guard_add(file, TAIL_FILE_SIZE, 0, &l->tail_tally);
    pthread_mutex_lock(&l->mutex);
    l->tail = file;
    if (file != NULL)
        write_marks(l);
    pthread_mutex_unlock(&l->mutex);
    if (file == NULL &&
        (fd >= 0 || !disk_full(number))) /* without marks less is known of the log */
        status = error_errno(error, path, fd >= 0 ? "map" : "open", number);
    l->tail_begun = status == TANSU_OK;
    if (fd >= 0)
        l->calls->close(fd);
    free(path);
    return status;
}

void tail_mark_unknown(log *l) {
    static const uint64_t unknown;
    if (l->folder == NULL || l->read_only)
        return;
    if (l->tail != NULL) {
        __atomic_store_n(&l->tail->state, unknown, __ATOMIC_RELEASE);
        return;
    }
    char *path = fs_join(l->folder, TAIL_NAME);
    int fd = path == NULL ? -1 : l->calls->open(l->calls, path, O_RDWR, 0);
    if (fd >=
        0) { /* should it fail, the state is as it was, and an opening that fails is tried again */
        (void)fs_write_all(l->calls, fd, &unknown, sizeof unknown, offsetof(tail_file, state));
        l->calls->close(fd);
    }
    free(path);
}

/* unmap -- the file, as a writer or a reader has it; fine on NULL. */
static void unmap(const log *l, tail_file *file) {
    if (file == NULL)
        return;
    guard_remove(file);
    l->calls->unmap(file, TAIL_FILE_SIZE);
}

void tail_end(log *l) {
    unmap(l, l->tail);
    unmap(l, l->watched);
    l->tail = l->watched = NULL;
}

void log_clear_marks(log *l) {
    if (l->tail == NULL)
        return;
    store(l, &l->tail->written, 0);
    store(l, &l->tail->synced, 0);
}

/* ---- Making the end of the log durable at opening ---- */

#define STEP ((size_t)256 * 1024)

/* file_end -- up to where a segment's file has what is to be on the disk. */
static uint64_t file_end(segment *s) {
    bool all = s->compressed != NULL || (s->sealed != NULL && !sealed_in_place(s));
    return all ? segment_disk(s)->allocated : segment_disk(s)->used;
}

/* rewrite -- writes the bytes from an offset on to where they are, which makes their pages dirty
 * again. */
static tansu_status rewrite(log *l, segment *s, uint64_t offset, uint8_t *step,
                            tansu_error *error) {
    char name[32];
    int number = 0;
    const segment *disk = segment_disk(s);
    uint64_t end = file_end(s);
    for (uint64_t at = offset; number == 0 && at < end; at += STEP) {
        size_t size = end - at < STEP ? (size_t)(end - at) : STEP;
        memcpy(step, disk->base + at, size); /* a page is never written from itself */
        if (fs_write_all(l->calls, disk->fd, step, size, at) != 0)
            number = errno;
    }
    if (number == 0 && l->calls->sync(disk->fd, disk->base, disk->mapped) != 0)
        number = errno == 0 ? EIO : errno;
    segment_name(s->number, name);
    return number == 0 ? TANSU_OK : error_errno(error, name, "sync", number);
}

/* copy_bytes -- copies a segment into another file, by calls that report read errors. */
static int copy_bytes(const log *l, segment *s, int fd, uint8_t *step) {
    uint64_t end = file_end(s);
    for (uint64_t at = 0; at < end;) {
        size_t size = end - at < STEP ? (size_t)(end - at) : STEP;
        errno = 0;
        ssize_t got = l->calls->read(segment_disk(s)->fd, step, size, (off_t)at);
        if (got <= 0 || fs_write_all(l->calls, fd, step, (size_t)got, at) != 0)
            return errno == 0 ? EIO : errno;
        at += (uint64_t)got;
    }
    return l->calls->sync(fd, NULL, 0) == 0 ? 0 : errno == 0 ? EIO : errno;
}

/* renew -- writes the segment to a new file, which takes the old one's name when it is on the
 * disk. */
static tansu_status renew(log *l, segment *s, uint8_t *step, tansu_error *error) {
    char *fresh = segment_unfinished_path(l, s->number), *path = segment_path(l, s->number);
    tansu_status status = TANSU_OK;
    int fd = -1, number;
    if (fresh == NULL || path == NULL)
        status = error_memory(error);
    else if ((fd = l->calls->open(l->calls, fresh, O_RDWR | O_CREAT | O_TRUNC, FS_MODE)) < 0)
        status = error_errno(error, fresh, "open", errno);
    else if ((number = copy_bytes(l, s, fd, step)) != 0)
        status = error_errno(error, fresh, "copy a segment to", number);
    else if (l->calls->rename(l->calls, fresh, path) != 0)
        status = error_errno(error, path, "rename", errno);
    if (status != TANSU_OK && fd >= 0)
        l->calls->unlink(l->calls, fresh);
    if (status == TANSU_OK) {
        status = segment_replace_file(l, s, fd, file_end(s), error);
        fd = status == TANSU_OK ? -1 : fd;
        if (status == TANSU_OK && l->calls->sync_folder(l->calls, l->folder) != 0)
            status = error_errno(error, l->folder, "sync", errno);
    }
    if (fd >= 0)
        l->calls->close(fd);
    free(fresh);
    free(path);
    return status;
}

/* flush_segment -- the bytes of one segment from an offset on. If one way fails, the other may
 * succeed: on a permanently bad block, or on a disk without space for a new file. */
static tansu_status flush_segment(log *l, segment *s, uint64_t offset, uint8_t *step,
                                  tansu_error *error) {
    bool into_new_file = l->found.failed;
    if (segment_descriptor(l, segment_disk(s)) < 0)
        return error_errno(error, l->folder, "open", errno);
    tansu_status status =
        into_new_file ? renew(l, s, step, error) : rewrite(l, s, offset, step, error);
    if (status != TANSU_OK && status != TANSU_E_MEMORY)
        status = into_new_file ? rewrite(l, s, offset, step, error) : renew(l, s, step, error);
    if (s != segment_head(l))
        segment_close_file(l, segment_disk(s));
    return status;
}

/* offset_after -- where the frames up to commit `sure` end, when that of commit `due` lies at
 * `offset`. */
static uint64_t offset_after(const segment *s, uint64_t offset, uint64_t due, uint64_t synced) {
    while (due <= synced && offset < s->used) {
        offset += ((const frame_header *)(s->base + offset))->size;
        due++;
    }
    return offset;
}

tansu_status tail_flush(log *l, uint64_t synced, uint32_t number, uint64_t offset, uint64_t due,
                        tansu_error *error) {
    uint32_t first = l->active.count - 1, scanned = segment_index(l, number);
    while (first > 0 && l->active.items[first]->first > synced + 1)
        first--;
    uint8_t *step = malloc(STEP);
    if (step == NULL)
        return error_memory(error);
    tansu_status status = TANSU_OK;
    for (uint32_t i = first; status == TANSU_OK && i < l->active.count; i++) {
        segment *s = l->active.items[i];
        uint64_t from = 0; /* with the header */
        if (s->last != 0)
            continue; /* compacted ones have their names when they are on the disk */
        /* Of what lies before the location where the scan began the frames are not known, and of an
         * encrypted one their place in the file. */
        if (sealed_log(l))
            from = 0;
        else if (i == first && i == scanned && synced + 1 >= due)
            from = offset_after(s, offset, due, synced);
        else if (i == first && scanned != UINT32_MAX && i > scanned)
            from = offset_after(s, SEGMENT_HEADER_SIZE, s->first, synced);
        status = flush_segment(l, s, from == SEGMENT_HEADER_SIZE ? 0 : from, step, error);
    }
    if (status == TANSU_OK &&
        l->calls->sync_folder(l->calls, l->folder) != 0) /* the names of segments */
        status = error_errno(error, l->folder, "sync", errno);
    free(step);
    return status;
}
