/*
 * index/block_store/block_store_session.c -- beginning and ending a session, in which the file is
 * written.
 */
#include "index/block_store/block_store_internal.h"
#include "util/error.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#ifdef __APPLE__
#include <sys/random.h>
#endif

tansu_status session_mark(block_store *bs, tansu_error *error) {
    bs->commit = 0;
    if (getentropy(&bs->session, sizeof bs->session) != 0)
        return error_errno(error, bs->path, "create a number for", errno);
    if (block_store_head_session(bs) != 0)
        return error_errno(error, bs->path, "write", errno);
    if (!bs->passing && bs->calls->sync(bs->fd, NULL, 0) != 0)
        return error_errno(error, bs->path, "sync", errno);
    bs->in_session = true;
    return TANSU_OK;
}

tansu_status session_begin(block_store *bs, tansu_error *error) {
    bool opened = bs->journal_fd[0] >= 0 && bs->journal_fd[1] >= 0;
    tansu_status status = bs->in_session ? TANSU_OK : session_mark(bs, error);
    if (status != TANSU_OK || opened || bs->passing)
        return status;
    status = journal_open(bs, error);
    /* Its own name may be new, too. */
    if (status == TANSU_OK)
        status = fs_sync_parent(bs->calls, bs->path, error);
    if (status != TANSU_OK)
        journal_end(bs, false); /* so that the next attempt repeats this */
    return status;
}

tansu_status block_store_apply_pending(block_store *bs, tansu_error *error) {
    tansu_status status = bs->commit_unknown ? journal_invalidate(bs, error) : TANSU_OK;
    if (status != TANSU_OK)
        return status;
    if (bs->rewrite_words && bs->commit != 0 && !bs->passing) {
        status = journal_reload(bs, error);
        if (status == TANSU_OK)
            bs->rewrite_words = false; /* `pending` has it now */
    } else if (bs->rewrite_words) {
        bs->in_session = bs->rewrite_words = false; /* its mark may be what was not written */
    }
    if (status == TANSU_OK && bs->unsafe_journal)
        status = journal_open(bs, error);
    if (status == TANSU_OK && (bs->pending.count != 0 || bs->unsafe_journal))
        status = journal_apply(bs, error);
    return status;
}

/* mark_free -- creates the file a row of records and free extents. -1 with errno. */
static int mark_free(block_store *bs) {
    uint8_t mark[5];
    for (size_t i = 0; i < bs->free.count; i++) {
        block_store_extent e = bs->free.items[i];
        for (uint64_t done = 0, size; done < e.size; done += size) {
            size = e.size - done < BLOCK_STORE_MAX_FREE ? e.size - done : BLOCK_STORE_MAX_FREE;
            block_store_fill_free(mark, size);
            if (fs_write_all(bs->calls, bs->fd, mark, sizeof mark, e.offset + done) != 0)
                return -1;
        }
    }
    return 0;
}

/* save_pool -- what is free, for the next opening. */
static tansu_status save_pool(block_store *bs, tansu_error *error) {
    uint64_t begin = BLOCK_STORE_HEAD + 8 * bs->bucket_count;
    size_t size = (size_t)(bs->first - begin);
    uint8_t *bytes = calloc(1, size);
    if (bytes == NULL)
        return error_memory(error);
    block_store_pool_write(&bs->free, bytes, size);
    tansu_status status = TANSU_OK;
    /* Without a commit nothing else says what is free: should this be cut short, the pool must
     * still be what it was. */
    bool changed = bs->commit != 0 || bs->passing;
    if (mark_free(bs) != 0 || (changed && fs_write_all(bs->calls, bs->fd, bytes, size, begin) != 0))
        status = error_errno(error, bs->path, "write", errno);
    else if (bs->calls->truncate(bs->fd, bs->size) != 0)
        status = error_errno(error, bs->path, "cut", errno);
    free(bytes);
    return status;
}

/* session_end -- everything else is on the disk before its head says so. */
tansu_status session_end(block_store *bs, tansu_error *error) {
    tansu_status status = block_store_apply_pending(bs, error);
    if (status != TANSU_OK || !bs->in_session)
        return status;
    status = save_pool(bs, error);
    if (status == TANSU_OK && block_store_head_sizes(bs) != 0)
        status = error_errno(error, bs->path, "write", errno);
    if (status == TANSU_OK && bs->calls->sync(bs->fd, NULL, 0) != 0)
        status = error_errno(error, bs->path, "sync", errno);
    if (status != TANSU_OK)
        return status;
    if (block_store_head_closed(bs) != 0)
        return error_errno(error, bs->path, "write", errno);
    if (bs->calls->sync(bs->fd, NULL, 0) != 0)
        return error_errno(error, bs->path, "sync", errno);
    bs->in_session = false;
    journal_end(bs, true);
    return TANSU_OK;
}
