/*
 * index/block_store/block_store_shrink.c -- rewriting the block store's file without its free
 * extents, and with as many buckets as its records need.
 */
#include "index/block_store/block_store_internal.h"
#include "util/buffer.h"
#include "util/bytes.h"
#include "util/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Free space that is not worth the work. */
#define WASTE_LEAST ((uint64_t)1024 * 1024)

/* Records of one transaction of the new file. */
#define COPY_STEP 65536u

bool block_store_wasteful(const block_store *bs) {
    uint64_t unused = 0;
    for (size_t i = 0; i < bs->free.count; i++)
        unused += bs->free.items[i].size;
    return !bs->read_only && unused > WASTE_LEAST && unused > (bs->size - bs->first) / 4;
}

/* A copy that is being made. */
typedef struct copying {
    block_store *from, *to;
    const block_store_caller *caller;
    tansu_buffer value;
    unsigned count;
} copying;

/* copy_record -- a block_store_visitor. */
static tansu_status copy_record(void *context, const block_store_node *node, tansu_error *error) {
    copying *c = context;
    tansu_status status = c->caller == NULL ? TANSU_OK : c->caller->ask(c->caller->context, error);
    if (status == TANSU_OK)
        status = block_store_value(c->from, node, &c->value, error);
    if (status == TANSU_OK)
        status = block_store_put(c->to, (enum block_store_kind)node->key[0],
                                 load_u64(node->key + 1), c->value.data, c->value.size, error);
    if (status == TANSU_OK && ++c->count % COPY_STEP == 0) {
        status = block_store_commit(c->to, error);
        if (status == TANSU_OK)
            status = block_store_begin(c->to, error);
    }
    return status;
}

/* copy_all -- into a new file, which is closed and on the disk afterwards. */
static tansu_status copy_all(block_store *bs, const char *path, const block_store_caller *caller,
                             tansu_error *error) {
    copying c = {.from = bs, .caller = caller, .value = TANSU_BUFFER_INIT};
    tansu_status status =
        block_store_create(bs->calls, path, block_store_buckets_for(bs->records), &c.to, error);
    if (status != TANSU_OK)
        return status;
    status = block_store_begin(c.to, error);
    if (status == TANSU_OK)
        status = block_store_visit(bs, copy_record, &c, error);
    if (status == TANSU_OK)
        status = block_store_commit(c.to, error);
    if (status == TANSU_OK && c.to->records != bs->records)
        status = block_store_damaged(bs, 0, error);
    tansu_buffer_free(&c.value);
    if (status != TANSU_OK)
        block_store_abort(c.to);
    else
        c.to->passing = false; /* so that it is closed as it should be, and synced */
    tansu_status closed = block_store_close(c.to, status == TANSU_OK ? error : NULL);
    return status == TANSU_OK ? closed : status;
}

/* swap -- has the handle continue with another one's file; that one then has the old file. */
static void swap(block_store *bs, block_store *other) {
    pthread_rwlock_wrlock(&bs->gate);
    block_store old = *bs;
    bs->fd = other->fd;
    bs->bucket_count = other->bucket_count;
    bs->buckets = other->buckets;
    bs->first = other->first;
    bs->size = other->size;
    bs->records = other->records;
    pthread_rwlock_unlock(&bs->gate);
    memcpy(bs->head, other->head, sizeof bs->head);
    bs->free = other->free;
    bs->session = other->session;
    bs->in_session = other->in_session;
    bs->rewrite_words = false;
    bs->commit = 0;
    other->fd = old.fd;
    other->buckets = old.buckets;
    other->free = old.free;
}

tansu_status block_store_rewrite(block_store *bs, const block_store_caller *caller,
                                 tansu_error *error) {
    tansu_status status = block_store_apply_pending(bs, error);
    size_t size = strlen(bs->path) + sizeof ".new";
    char *path = status == TANSU_OK ? malloc(size) : NULL;
    if (path == NULL)
        return status == TANSU_OK ? error_memory(error) : status;
    memcpy(path, bs->path, size - sizeof ".new");
    memcpy(path + size - sizeof ".new", ".new", sizeof ".new");
    block_store *other = NULL;
    status = copy_all(bs, path, caller, error);
    if (status == TANSU_OK)
        status = block_store_open(bs->calls, path, bs->passing ? BLOCK_STORE_TEMPORARY : 0, &other,
                                  error);
    /* A file in session is known to be whole after power loss. */
    if (status == TANSU_OK && bs->in_session)
        status = session_mark(other, error);
    if (status == TANSU_OK && bs->calls->rename(bs->calls, path, bs->path) != 0)
        status = error_errno(error, bs->path, "replace", errno);
    if (status != TANSU_OK) {
        (void)block_store_close(other, NULL);
        (void)block_store_delete(bs->calls, path, NULL); /* the next try removes it */
        free(path);
        return status;
    }
    free(path);
    swap(bs, other);
    other->passing = true; /* the old file is not there any more: nothing is left to write */
    (void)block_store_close(other, NULL);
    /* Until the new name is on the disk, the old file may reappear after power loss, and needs its
     * journals. */
    bool durable = bs->passing || fs_sync_parent(bs->calls, bs->path, NULL) == TANSU_OK;
    journal_end(bs, durable);
    return TANSU_OK;
}

tansu_status block_store_shrink(block_store *bs, const block_store_caller *caller,
                                tansu_error *error) {
    if (bs->read_only)
        return error_set(error, TANSU_E_READ_ONLY, bs->path, "The index file is open read-only");
    return block_store_rewrite(bs, caller, error);
}
