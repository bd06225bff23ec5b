/*
 * index/block_store/block_store_open.c -- opening and closing the block store's file.
 *
 * A file is either closed (its head and all its content are Tokyo Cabinet's format) or in session:
 * then its head carries another type, which Tokyo Cabinet
 * refuses, and its content is defined by the newest valid journal of that session. Opening writes
 * nothing; the first transaction begins a session.
 */
#include "index/block_store/block_store_internal.h"
#include "util/bytes.h"
#include "util/error.h"
#include "util/lock_holder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* new_gate -- a lock in which readers do not starve the writer; 0 or an errno. */
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
static void handle_free(block_store *bs) {
    journal_end(bs, false);
    sealer_free(bs->sealer);
    if (bs->fd >= 0)
        bs->calls->unlock(bs->fd);
    words_free(&bs->pending);
    words_free(&bs->words);
    space_free(&bs->space);
    extents_free(&bs->free);
    extents_free(&bs->freed);
    pthread_rwlock_destroy(&bs->gate);
    free(bs->buckets);
    free(bs->buffer);
    free(bs->path);
    free(bs->journal_path[0]);
    free(bs->journal_path[1]);
    free(bs);
}

/* with_suffix -- a path with something after it, in new memory. */
static char *with_suffix(const char *path, const char *suffix) {
    size_t size = strlen(path) + strlen(suffix) + 1;
    char *result = malloc(size);
    if (result != NULL)
        snprintf(result, size, "%s%s", path, suffix);
    return result;
}

/* handle_new -- without a file. */
static tansu_status handle_new(const fs *calls, const char *path, unsigned flags,
                               block_store **result, tansu_error *error) {
    block_store *bs = calloc(1, sizeof *bs);
    if (bs == NULL)
        return error_memory(error);
    int number = new_gate(&bs->gate);
    if (number != 0) {
        free(bs);
        return error_errno(error, path, "create a lock", number);
    }
    bs->calls = calls;
    bs->read_only = (flags & BLOCK_STORE_READ_ONLY) != 0;
    bs->passing = (flags & BLOCK_STORE_TEMPORARY) != 0;
    bs->fd = bs->journal_fd[0] = bs->journal_fd[1] = -1;
    bs->path = with_suffix(path, "");
    bs->journal_path[0] = with_suffix(path, ".redo.0");
    bs->journal_path[1] = with_suffix(path, ".redo.1");
    if (bs->path == NULL || bs->journal_path[0] == NULL || bs->journal_path[1] == NULL) {
        handle_free(bs);
        return error_memory(error);
    }
    *result = bs;
    return TANSU_OK;
}

/* open_file -- the descriptor and its lock. */
static tansu_status open_file(block_store *bs, unsigned how, tansu_error *error) {
    bool create = (how & BLOCK_STORE_CREATE) != 0, copy = (how & BLOCK_STORE_COPY) != 0;
    int flags = bs->read_only ? O_RDONLY : create ? O_RDWR | O_CREAT : O_RDWR;
    int fd = bs->calls->open(bs->calls, bs->path, flags, FS_MODE);
    if (fd < 0)
        return errno == ENOENT
                   ? error_set(error, TANSU_E_NOT_FOUND, bs->path, "The index file does not exist")
                   : error_errno(error, bs->path, "open", errno);
    if (!copy && bs->calls->lock(fd, !bs->read_only) != 0) {
        tansu_status status = errno == EWOULDBLOCK
                                  ? lock_held_error(fd, "The index file", bs->path, error)
                                  : error_errno(error, bs->path, "lock", errno);
        (void)bs->calls->close(fd); /* the first error is the one that is reported */
        return status;
    }
    bs->fd = fd;
    return copy ? block_store_take_copy(bs, error) : TANSU_OK;
}

/* new_buckets -- memory for them, empty. */
static tansu_status new_buckets(block_store *bs, uint64_t count, tansu_error *error) {
    free(bs->buckets);
    bs->bucket_count = count;
    bs->buckets = calloc(count, sizeof *bs->buckets);
    return bs->buckets == NULL ? error_memory(error) : TANSU_OK;
}

/* make_file -- turns an empty file into one without records. */
static tansu_status make_file(block_store *bs, uint64_t buckets, tansu_error *error) {
    tansu_status status = new_buckets(bs, buckets, error);
    if (status != TANSU_OK)
        return status;
    bs->first = bs->size = block_store_first(buckets);
    block_store_head_fill(bs);
    if (bs->calls->truncate(bs->fd, bs->size) != 0 ||
        fs_write_all(bs->calls, bs->fd, bs->head, BLOCK_STORE_HEAD, 0) != 0)
        return error_errno(error, bs->path, "write", errno);
    return TANSU_OK;
}

/* bad_head -- the error for a file that is none of ours. */
static tansu_status bad_head(block_store *bs, tansu_error *error) {
    return error_set(error, TANSU_E_CORRUPT, bs->path,
                     "The header of the index file is corrupt; delete the folder \"index\" of the "
                     "closed database to have it rebuilt");
}

/* load_head -- the head, checked against the file's size. */
static tansu_status load_head(block_store *bs, block_store_head *head, tansu_error *error) {
    uint64_t size = 0;
    if (bs->calls->size(bs->fd, &size) != 0)
        return error_errno(error, bs->path, "examine", errno);
    if (size < BLOCK_STORE_HEAD)
        return bad_head(bs, error);
    tansu_status status = block_store_read_at(bs, 0, bs->head, BLOCK_STORE_HEAD, error);
    if (status != TANSU_OK)
        return status;
    if (!block_store_head_read(bs->head, size, head))
        return bad_head(bs, error);
    bs->first = head->first;
    bs->size = head->size;
    bs->records = head->records;
    bs->session = head->session;
    bs->commit = head->commit;
    bs->in_session = head->in_session;
    return TANSU_OK;
}

/* load_buckets -- into memory. */
static tansu_status load_buckets(block_store *bs, uint64_t count, tansu_error *error) {
    tansu_status status = new_buckets(bs, count, error);
    if (status == TANSU_OK)
        status = block_store_read_at(bs, BLOCK_STORE_HEAD, bs->buckets, count * 8, error);
    for (uint64_t i = 0; status == TANSU_OK && i < count; i++)
        bs->buckets[i] = load_be64((const uint8_t *)&bs->buckets[i]) * BLOCK_STORE_ALIGN;
    return status;
}

/* load_pool -- the free extents of a file as it was closed. */
static tansu_status load_pool(block_store *bs, tansu_error *error) {
    uint64_t begin = BLOCK_STORE_HEAD + 8 * bs->bucket_count;
    size_t size = (size_t)(bs->first - begin);
    uint8_t *bytes = malloc(size);
    if (bytes == NULL)
        return error_memory(error);
    tansu_status status = block_store_read_at(bs, begin, bytes, size, error);
    if (status == TANSU_OK && !block_store_pool_read(bs, bytes, size, &bs->free))
        status = error_memory(error);
    free(bytes);
    return status;
}

/* load -- everything that is kept in memory, of a file that is not empty. */
static tansu_status load(block_store *bs, bool lost, tansu_error *error) {
    block_store_head head = {0};
    tansu_status status = load_head(bs, &head, error);
    if (status == TANSU_OK && lost && !head.in_session)
        return error_set(error, TANSU_E_CORRUPT, bs->path,
                         "The machine stopped while the index files were written");
    if (status == TANSU_OK)
        status = load_buckets(bs, head.buckets, error);
    if (status == TANSU_OK && head.in_session)
        status = journal_recover(bs, error);
    /* The pool is as of the last closing: it is stale after the session's first commit. */
    if (status == TANSU_OK && !bs->read_only && bs->commit == 0)
        status = load_pool(bs, error);
    return status;
}

tansu_status block_store_open(const fs *calls, const char *path, unsigned flags, keyring *keys,
                              block_store **result, tansu_error *error) {
    block_store *bs;
    uint64_t size = 0;
    tansu_status status = handle_new(calls, path, flags, &bs, error);
    if (status != TANSU_OK)
        return status;
    bs->keys = keys;
    status = open_file(bs, flags, error);
    if (status == TANSU_OK && calls->size(bs->fd, &size) != 0)
        status = error_errno(error, path, "examine", errno);
    if (status == TANSU_OK)
        status = size == 0 && !bs->read_only
                     ? make_file(bs, block_store_buckets_for(0), error)
                     : load(bs, (flags & BLOCK_STORE_POWER_LOST) != 0, error);
    if (status != TANSU_OK) {
        handle_free(bs);
        return status;
    }
    *result = bs;
    return TANSU_OK;
}

tansu_status block_store_create(const fs *calls, const char *path, uint64_t buckets,
                                block_store **result, tansu_error *error) {
    block_store *bs;
    tansu_status status = block_store_delete(calls, path, error);
    if (status == TANSU_OK)
        status = handle_new(calls, path, BLOCK_STORE_TEMPORARY, &bs, error);
    if (status != TANSU_OK)
        return status;
    status = open_file(bs, BLOCK_STORE_CREATE, error);
    if (status == TANSU_OK)
        status = make_file(bs, buckets, error);
    if (status != TANSU_OK) {
        handle_free(bs);
        return status;
    }
    *result = bs;
    return TANSU_OK;
}

tansu_status block_store_delete(const fs *calls, const char *path, tansu_error *error) {
    /* .wal is Tokyo Cabinet's own, .new what a shrinking that was ended left. The file itself goes
     * last: what is left of the others means nothing without it. */
    static const char *const suffixes[] = {".wal", ".new", ".redo.0", ".redo.1", ""};
    tansu_status status = TANSU_OK;
    for (size_t i = 0; status == TANSU_OK && i < sizeof suffixes / sizeof *suffixes; i++) {
        char *file = with_suffix(path, suffixes[i]);
        if (file == NULL)
            return error_memory(error);
        if (calls->unlink(calls, file) != 0 && errno != ENOENT)
            status = error_errno(error, file, "remove", errno);
        free(file);
    }
    return status;
}

tansu_status block_store_close(block_store *bs, tansu_error *error) {
    if (bs == NULL)
        return TANSU_OK;
    block_store_abort(bs);
    tansu_status status = TANSU_OK;
    if (!bs->read_only && !bs->passing && !block_store_is_damaged(bs) &&
        (bs->in_session || bs->pending.count != 0))
        status = session_end(bs, error);
    handle_free(bs);
    return status;
}

void block_store_abandon(block_store *bs) {
    if (bs != NULL)
        handle_free(bs);
}

uint64_t block_store_size(block_store *bs) {
    pthread_rwlock_rdlock(&bs->gate);
    uint64_t size = bs->size;
    pthread_rwlock_unlock(&bs->gate);
    return size;
}

/* ---- A private copy of a file that another process may be writing ---- */

/*
 * While the journals do not change, the writer changes only extents that the last commit does not
 * use, and words to what its journal says. So a copy, with the journal over it, is that commit,
 * however long copying took. Whoever opens the copy checks that they did not change
 * (store/files.h).
 */

#define COPY_STEP ((size_t)1024 * 1024)

/* copy_bytes -- all of the file, up to where it ends by then. */
static tansu_status copy_bytes(const block_store *bs, int to, uint8_t *buffer, tansu_error *error) {
    for (uint64_t offset = 0;;) {
        errno = 0;
        ssize_t got = bs->calls->read(bs->fd, buffer, COPY_STEP, (off_t)offset);
        if (got < 0)
            return error_errno(error, bs->path, "read", errno == 0 ? EIO : errno);
        if (got == 0)
            return TANSU_OK;
        if (fs_write_all(bs->calls, to, buffer, (size_t)got, offset) != 0)
            return error_errno(error, bs->path, "copy", errno);
        offset += (uint64_t)got;
    }
}

tansu_status block_store_take_copy(block_store *bs, tansu_error *error) {
    char *folder = strdup(bs->path);
    uint8_t *buffer = malloc(COPY_STEP);
    int fd = -1;
    tansu_status status = folder == NULL || buffer == NULL ? error_memory(error) : TANSU_OK;
    if (status == TANSU_OK) {
        char *slash = strrchr(folder, '/');
        if (slash != NULL)
            *slash = 0;
        status = fs_open_temporary(bs->calls, slash == NULL ? NULL : folder, &fd, error);
    }
    if (status == TANSU_OK)
        status = copy_bytes(bs, fd, buffer, error);
    free(buffer);
    free(folder);
    if (status != TANSU_OK) {
        if (fd >= 0)
            (void)bs->calls->close(fd);
        return status;
    }
    (void)bs->calls->close(bs->fd);
    bs->fd = fd;
    return TANSU_OK;
}
