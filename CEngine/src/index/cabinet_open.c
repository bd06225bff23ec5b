/*
 * index/cabinet_open.c -- opening and closing the block store's file.
 *
 * A file is closed (its head is Tokyo Cabinet's own, and so is everything in it) or in session: then its
 * head carries another type, which Tokyo Cabinet and earlier versions of the library refuse, and what
 * it holds is what the newest whole journal of that session says. Opening writes nothing; the first
 * transaction begins a session.
 */
#include "base/error.h"
#include "index/cabinet_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __APPLE__
#include <sys/random.h>
#endif

/* What Tokyo Cabinet writes where new files are made. */
#ifdef __APPLE__
#define NEW_BIG_ENDIAN false
#else
#define NEW_BIG_ENDIAN true
#endif

/* new_gate -- one that does not let readers keep the writer out; 0 or an errno. */
static int new_gate(pthread_rwlock_t *gate) {
    pthread_rwlockattr_t how;
    int number = pthread_rwlockattr_init(&how);
    if (number != 0)
        return number;
#ifdef __GLIBC__
    number = pthread_rwlockattr_setkind_np(&how, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
#endif
    if (number == 0)
        number = pthread_rwlock_init(gate, &how);
    pthread_rwlockattr_destroy(&how);
    return number;
}

/* handle_free -- the end of a handle; its descriptors are closed. */
static void handle_free(cabinet *cab) {
    journal_end(cab, false);
    if (cab->fd >= 0)
        cab->calls->unlock(cab->fd);
    words_free(&cab->pending);
    words_free(&cab->words);
    space_free(&cab->space);
    extents_free(&cab->free);
    extents_free(&cab->freed);
    pthread_rwlock_destroy(&cab->gate);
    free(cab->buckets);
    free(cab->buffer);
    free(cab->path);
    free(cab->journal_path[0]);
    free(cab->journal_path[1]);
    free(cab);
}

/* with_suffix -- a path with something behind it, in new memory. */
static char *with_suffix(const char *path, const char *suffix) {
    size_t size = strlen(path) + strlen(suffix) + 1;
    char *result = malloc(size);
    if (result != NULL)
        snprintf(result, size, "%s%s", path, suffix);
    return result;
}

/* handle_new -- without a file. */
static tansu_status handle_new(const fs *calls, const char *path, unsigned flags, cabinet **result,
                               tansu_error *error) {
    cabinet *cab = calloc(1, sizeof *cab);
    if (cab == NULL)
        return error_memory(error);
    int number = new_gate(&cab->gate);
    if (number != 0) {
        free(cab);
        return error_errno(error, path, "make a lock", number);
    }
    cab->calls = calls;
    cab->read_only = (flags & CABINET_READ_ONLY) != 0;
    cab->passing = (flags & CABINET_PASSING) != 0;
    cab->fd = cab->journal_fd[0] = cab->journal_fd[1] = -1;
    cab->path = with_suffix(path, "");
    cab->journal_path[0] = with_suffix(path, ".redo.0");
    cab->journal_path[1] = with_suffix(path, ".redo.1");
    if (cab->path == NULL || cab->journal_path[0] == NULL || cab->journal_path[1] == NULL) {
        handle_free(cab);
        return error_memory(error);
    }
    *result = cab;
    return TANSU_OK;
}

/* open_file -- the descriptor and its lock. */
static tansu_status open_file(cabinet *cab, bool create, tansu_error *error) {
    int flags = cab->read_only ? O_RDONLY : create ? O_RDWR | O_CREAT : O_RDWR;
    int fd = cab->calls->open(cab->path, flags, 0644);
    if (fd < 0)
        return errno == ENOENT ? error_set(error, TANSU_E_NOT_FOUND, cab->path,
                                           "The index file does not exist.")
                               : error_errno(error, cab->path, "open", errno);
    if (cab->calls->lock(fd, !cab->read_only) != 0) {
        tansu_status status =
            errno == EWOULDBLOCK
                ? error_set(error, TANSU_E_LOCKED, cab->path,
                            "The index file is open elsewhere; close it there first.")
                : error_errno(error, cab->path, "lock", errno);
        (void)cab->calls->close(fd); /* the first error is the one that is told */
        return status;
    }
    cab->fd = fd;
    return TANSU_OK;
}

/* new_buckets -- memory for them, empty. */
static tansu_status new_buckets(cabinet *cab, uint64_t count, tansu_error *error) {
    free(cab->buckets);
    cab->bucket_count = count;
    cab->buckets = calloc(count, sizeof *cab->buckets);
    return cab->buckets == NULL ? error_memory(error) : TANSU_OK;
}

/* make_file -- turns an empty file into one without records. */
static tansu_status make_file(cabinet *cab, uint64_t buckets, tansu_error *error) {
    tansu_status status = new_buckets(cab, buckets, error);
    if (status != TANSU_OK)
        return status;
    cab->big_endian = NEW_BIG_ENDIAN;
    cab->first = cab->size = cabinet_first(buckets);
    cabinet_head_make(cab);
    if (cab->calls->truncate(cab->fd, cab->size) != 0 ||
        fs_write_all(cab->calls, cab->fd, cab->head, CABINET_HEAD, 0) != 0)
        return error_errno(error, cab->path, "write", errno);
    return TANSU_OK;
}

/* bad_head -- the error for a file that is none of ours. */
static tansu_status bad_head(cabinet *cab, tansu_error *error) {
    return error_set(error, TANSU_E_CORRUPT, cab->path,
                     "The index file's head is damaged; delete the index folder of the closed "
                     "database and it is made anew.");
}

/* load_head -- the head, held against the file's size. */
static tansu_status load_head(cabinet *cab, cabinet_head *head, tansu_error *error) {
    uint64_t size = 0;
    if (cab->calls->size(cab->fd, &size) != 0)
        return error_errno(error, cab->path, "examine", errno);
    if (size < CABINET_HEAD)
        return bad_head(cab, error);
    tansu_status status = cabinet_read_at(cab, 0, cab->head, CABINET_HEAD, error);
    if (status != TANSU_OK)
        return status;
    if (!cabinet_head_read(cab->head, size, head))
        return bad_head(cab, error);
    cab->big_endian = head->big_endian;
    cab->first = head->first;
    cab->size = head->size;
    cab->records = head->records;
    cab->session = head->session;
    cab->commit = head->commit;
    cab->in_session = head->in_session;
    return TANSU_OK;
}

/* load_buckets -- into memory. */
static tansu_status load_buckets(cabinet *cab, uint64_t count, tansu_error *error) {
    tansu_status status = new_buckets(cab, count, error);
    if (status == TANSU_OK)
        status = cabinet_read_at(cab, CABINET_HEAD, cab->buckets, count * 8, error);
    for (uint64_t i = 0; status == TANSU_OK && i < count; i++)
        cab->buckets[i] = cabinet_word(cab, (const uint8_t *)&cab->buckets[i]) * CABINET_ALIGN;
    return status;
}

/* load_pool -- the free extents of a file as it was closed. */
static tansu_status load_pool(cabinet *cab, tansu_error *error) {
    uint64_t begin = CABINET_HEAD + 8 * cab->bucket_count;
    size_t size = (size_t)(cab->first - begin);
    uint8_t *bytes = malloc(size);
    if (bytes == NULL)
        return error_memory(error);
    tansu_status status = cabinet_read_at(cab, begin, bytes, size, error);
    if (status == TANSU_OK && !cabinet_pool_read(cab, bytes, size, &cab->free))
        status = error_memory(error);
    free(bytes);
    return status;
}

/* load -- everything that is kept in memory, of a file that is not empty. */
static tansu_status load(cabinet *cab, bool lost, tansu_error *error) {
    cabinet_head head;
    tansu_status status = load_head(cab, &head, error);
    if (status == TANSU_OK && lost && !head.in_session)
        return error_set(error, TANSU_E_CORRUPT, cab->path,
                         "the machine stopped while they were written");
    if (status == TANSU_OK && head.unclean && !head.in_session) {
        status = recover_rollback(cab, error);
        if (status == TANSU_OK)
            status = load_head(cab, &head, error);
        else if (status == TANSU_DONE)
            status = TANSU_OK;
    }
    if (status == TANSU_OK)
        status = load_buckets(cab, head.buckets, error);
    if (status == TANSU_OK && head.in_session)
        status = journal_recover(cab, error);
    /* The pool is as it was closed before the session's first commit, and of no use after it, nor when an
     * earlier version of the library was killed. */
    if (status == TANSU_OK && !cab->read_only && cab->commit == 0 &&
        (head.in_session || !head.unclean))
        status = load_pool(cab, error);
    return status;
}

tansu_status cabinet_open(const fs *calls, const char *path, unsigned flags, cabinet **result,
                          tansu_error *error) {
    cabinet *cab;
    uint64_t size = 0;
    tansu_status status = handle_new(calls, path, flags, &cab, error);
    if (status != TANSU_OK)
        return status;
    status = open_file(cab, (flags & CABINET_CREATE) != 0, error);
    if (status == TANSU_OK && calls->size(cab->fd, &size) != 0)
        status = error_errno(error, path, "examine", errno);
    if (status == TANSU_OK)
        status = size == 0 && !cab->read_only ? make_file(cab, cabinet_buckets_for(0), error)
                                              : load(cab, (flags & CABINET_LOST) != 0, error);
    if (status != TANSU_OK) {
        handle_free(cab);
        return status;
    }
    *result = cab;
    return TANSU_OK;
}

tansu_status cabinet_make(const fs *calls, const char *path, uint64_t buckets, cabinet **result,
                          tansu_error *error) {
    cabinet *cab;
    tansu_status status = cabinet_delete(calls, path, error);
    if (status == TANSU_OK)
        status = handle_new(calls, path, CABINET_PASSING, &cab, error);
    if (status != TANSU_OK)
        return status;
    status = open_file(cab, true, error);
    if (status == TANSU_OK)
        status = make_file(cab, buckets, error);
    if (status != TANSU_OK) {
        handle_free(cab);
        return status;
    }
    *result = cab;
    return TANSU_OK;
}

tansu_status cabinet_delete(const fs *calls, const char *path, tansu_error *error) {
    /* .wal is Tokyo Cabinet's own, .new what a shrinking that was ended left. The file itself goes last: what
     * is left of the others means nothing without it. */
    static const char *const suffixes[] = {".wal", ".new", ".redo.0", ".redo.1", ""};
    tansu_status status = TANSU_OK;
    for (size_t i = 0; status == TANSU_OK && i < sizeof suffixes / sizeof *suffixes; i++) {
        char *file = with_suffix(path, suffixes[i]);
        if (file == NULL)
            return error_memory(error);
        if (calls->unlink(file) != 0 && errno != ENOENT)
            status = error_errno(error, file, "remove", errno);
        free(file);
    }
    return status;
}

/* ---- Sessions ---- */

tansu_status session_mark(cabinet *cab, tansu_error *error) {
    cab->commit = 0;
    if (getentropy(&cab->session, sizeof cab->session) != 0)
        return error_errno(error, cab->path, "draw a number for", errno);
    if (cabinet_head_session(cab) != 0)
        return error_errno(error, cab->path, "write", errno);
    if (!cab->passing && cab->calls->sync(cab->fd, NULL, 0) != 0)
        return error_errno(error, cab->path, "sync", errno);
    cab->in_session = true;
    return TANSU_OK;
}

tansu_status session_begin(cabinet *cab, tansu_error *error) {
    bool opened = cab->journal_fd[0] >= 0 && cab->journal_fd[1] >= 0;
    tansu_status status = cab->in_session ? TANSU_OK : session_mark(cab, error);
    if (status != TANSU_OK || opened || cab->passing)
        return status;
    status = journal_open(cab, error);
    /* Its own name may be new, too. */
    if (status == TANSU_OK)
        status = fs_sync_parent(cab->calls, cab->path, error);
    if (status != TANSU_OK)
        journal_end(cab, false); /* so that the next try comes here again */
    return status;
}

tansu_status cabinet_settle(cabinet *cab, tansu_error *error) {
    tansu_status status = cab->given_up ? journal_cleanse(cab, error) : TANSU_OK;
    if (status != TANSU_OK)
        return status;
    if (cab->written_unsure && cab->commit != 0 && !cab->passing) {
        status = journal_again(cab, error);
        if (status == TANSU_OK)
            cab->written_unsure = false; /* `pending` has it now */
    } else if (cab->written_unsure) {
        cab->in_session = cab->written_unsure = false; /* its mark may be what was not written */
    }
    if (status == TANSU_OK && cab->unsafe_journal)
        status = journal_open(cab, error);
    if (status == TANSU_OK && (cab->pending.count != 0 || cab->unsafe_journal))
        status = journal_apply(cab, error);
    return status;
}

/* mark_free -- makes the file a row of records and free places. -1 with errno. */
static int mark_free(cabinet *cab) {
    uint8_t mark[5];
    for (size_t i = 0; i < cab->free.count; i++) {
        cabinet_extent e = cab->free.items[i];
        for (uint64_t done = 0, size; done < e.size; done += size) {
            size = e.size - done < CABINET_FREE_MOST ? e.size - done : CABINET_FREE_MOST;
            cabinet_free_mark(cab, mark, size);
            if (fs_write_all(cab->calls, cab->fd, mark, sizeof mark, e.offset + done) != 0)
                return -1;
        }
    }
    return 0;
}

/* save_pool -- what is free, for the next opening. */
static tansu_status save_pool(cabinet *cab, tansu_error *error) {
    uint64_t begin = CABINET_HEAD + 8 * cab->bucket_count;
    size_t size = (size_t)(cab->first - begin);
    uint8_t *bytes = calloc(1, size);
    if (bytes == NULL)
        return error_memory(error);
    cabinet_pool_make(&cab->free, bytes, size);
    tansu_status status = TANSU_OK;
    /* Without a commit nothing else tells what is free: should this be cut short, the pool must still be
     * what it was. */
    bool changed = cab->commit != 0 || cab->passing;
    if (mark_free(cab) != 0 ||
        (changed && fs_write_all(cab->calls, cab->fd, bytes, size, begin) != 0))
        status = error_errno(error, cab->path, "write", errno);
    else if (cab->calls->truncate(cab->fd, cab->size) != 0)
        status = error_errno(error, cab->path, "cut", errno);
    free(bytes);
    return status;
}

/* session_end -- leaves a closed file. Everything else is on the disk before its head says so. */
static tansu_status session_end(cabinet *cab, tansu_error *error) {
    tansu_status status = cabinet_settle(cab, error);
    if (status != TANSU_OK || !cab->in_session)
        return status;
    status = save_pool(cab, error);
    if (status == TANSU_OK && cabinet_head_facts(cab) != 0)
        status = error_errno(error, cab->path, "write", errno);
    if (status == TANSU_OK && cab->calls->sync(cab->fd, NULL, 0) != 0)
        status = error_errno(error, cab->path, "sync", errno);
    if (status != TANSU_OK)
        return status;
    if (cabinet_head_closed(cab) != 0)
        return error_errno(error, cab->path, "write", errno);
    if (cab->calls->sync(cab->fd, NULL, 0) != 0)
        return error_errno(error, cab->path, "sync", errno);
    cab->in_session = false;
    journal_end(cab, true);
    return TANSU_OK;
}

tansu_status cabinet_close(cabinet *cab, tansu_error *error) {
    if (cab == NULL)
        return TANSU_OK;
    cabinet_abort(cab);
    tansu_status status = TANSU_OK;
    if (!cab->read_only && !cab->passing && !cabinet_doubted(cab) &&
        (cab->in_session || cab->pending.count != 0))
        status = session_end(cab, error);
    handle_free(cab);
    return status;
}

void cabinet_doubt(cabinet *cab) {
    atomic_store_explicit(&cab->doubted, true, memory_order_relaxed);
}

bool cabinet_doubted(const cabinet *cab) {
    return atomic_load_explicit(&cab->doubted, memory_order_relaxed);
}

uint64_t cabinet_size(cabinet *cab) {
    pthread_rwlock_rdlock(&cab->gate);
    uint64_t size = cab->size;
    pthread_rwlock_unlock(&cab->gate);
    return size;
}
