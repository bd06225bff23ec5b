/*
 * index/block_store/block_store.c -- transactions of the block store.
 */
#include "index/block_store/block_store.h"

#include "crypt/crypt.h"
#include "index/block_store/block_store_internal.h"
#include "util/buffer.h"
#include "util/bytes.h"
#include "util/error.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Records that lie in a row are written together, up to about that many bytes. */
#define WRITE_BUFFER ((size_t)256 * 1024)

/* Steps along the right edge of a tree; more would be a circle. */
#define STEPS_MOST 65536

/* That many records a bucket, and the file gets more buckets. */
#define CROWDED 2

/* ---- Beginning and ending ---- */

/* grow -- rewrites a file whose buckets are crowded. A failure makes look-ups slower and has no
 * other effect. */
static void grow(block_store *bs) {
    uint64_t crowded = bs->bucket_count * CROWDED;
    if (bs->records <= crowded || bs->records < bs->grow_at ||
        block_store_buckets_for(bs->records) <= bs->bucket_count)
        return;
    bs->grow_at = bs->records * 2;
    (void)block_store_rewrite(bs, NULL, NULL);
}

tansu_status block_store_begin(block_store *bs, tansu_error *error) {
    if (bs->read_only)
        return error_set(error, TANSU_E_READ_ONLY, bs->path, "The index file is open read-only");
    if (bs->in_transaction)
        return error_set(error, TANSU_E_INVALID_STATE, bs->path,
                         "A checkpoint is being written already");
    tansu_status status = block_store_apply_pending(bs, error);
    if (status == TANSU_OK)
        grow(bs);
    if (status == TANSU_OK)
        status = session_begin(bs, error);
    if (status != TANSU_OK)
        return status;
    bs->buffer = malloc(WRITE_BUFFER);
    if (bs->buffer == NULL || !space_begin(&bs->space, &bs->free, bs->size)) {
        free(bs->buffer);
        bs->buffer = NULL;
        return error_memory(error);
    }
    bs->buffer_capacity = WRITE_BUFFER;
    bs->buffer_used = 0;
    bs->buffer_at = 0;
    bs->records_then = bs->records;
    bs->failed = false;
    bs->in_transaction = true;
    return TANSU_OK;
}

/* transaction_ends -- forgets what belongs to it alone. */
static void transaction_ends(block_store *bs) {
    bs->in_transaction = false;
    words_free(&bs->words);
    space_free(&bs->space);
    extents_free(&bs->freed);
    free(bs->buffer);
    bs->buffer = NULL;
    bs->buffer_used = 0;
}

void block_store_abort(block_store *bs) {
    if (bs->in_transaction)
        transaction_ends(bs);
}

/* ---- Changing ---- */

/* writable -- whether a call may change anything. */
static tansu_status writable(const block_store *bs, tansu_error *error) {
    if (!bs->in_transaction)
        return error_set(error, TANSU_E_INVALID_STATE, bs->path, "No checkpoint is being written");
    if (bs->failed)
        return error_set(error, TANSU_E_INVALID_STATE, bs->path,
                         "The checkpoint failed; abort it and write another one");
    return TANSU_OK;
}

/* flush -- writes the records in the buffer. */
static tansu_status flush(block_store *bs, tansu_error *error) {
    if (bs->buffer_used != 0 &&
        fs_write_all(bs->calls, bs->fd, bs->buffer, bs->buffer_used, bs->buffer_at) != 0)
        return error_errno(error, bs->path, "write", errno);
    bs->buffer_used = 0;
    return TANSU_OK;
}

/* make_capacity -- space in the buffer for a record that is to lie at `offset`. */
static tansu_status make_capacity(block_store *bs, uint64_t offset, uint64_t size,
                                  tansu_error *error) {
    if (bs->buffer_used == 0 || offset != bs->buffer_at + bs->buffer_used ||
        size > bs->buffer_capacity - bs->buffer_used) {
        tansu_status status = flush(bs, error);
        if (status != TANSU_OK)
            return status;
        bs->buffer_at = offset;
    }
    if (size <= bs->buffer_capacity)
        return TANSU_OK;
    uint8_t *larger = realloc(bs->buffer, size);
    if (larger == NULL)
        return error_memory(error);
    bs->buffer = larger;
    bs->buffer_capacity = size;
    return TANSU_OK;
}

/* fill_value -- a value as it is stored: in an encrypted file, mark, tag and ciphertext. */
static tansu_status fill_value(block_store *bs, const uint8_t key[BLOCK_STORE_KEY],
                               const void *record, size_t size, uint8_t *value,
                               tansu_error *error) {
    if (bs->keys == NULL) {
        if (size > 0)
            memcpy(value, record, size);
        return TANSU_OK;
    }
    tansu_status status = sealer_renew(bs->keys, SEAL_BLOCK_STORE, &bs->sealer, error);
    if (status != TANSU_OK)
        return status;
    seal_mark mark = sealer_next(bs->sealer);
    memcpy(value, &mark, sizeof mark);
    return seal(bs->sealer, &mark, key, BLOCK_STORE_KEY, record, size, value + SEAL_OVERHEAD,
                value + sizeof mark)
               ? TANSU_OK
               : error_memory(error);
}

/* put -- what block_store_put() does once it may. */
static tansu_status put(block_store *bs, const uint8_t key[BLOCK_STORE_KEY], const void *record,
                        size_t size, tansu_error *error) {
    block_store_path path;
    tansu_status status = block_store_locate(bs, key, &path, error);
    if (status != TANSU_OK)
        return status;
    if (path.found && !extents_add(&bs->freed, path.node.offset, path.node.size))
        return error_memory(error);
    uint8_t hash;
    uint32_t body, stored = (uint32_t)size + (bs->keys != NULL ? SEAL_OVERHEAD : 0);
    uint32_t value_size = stored + BLOCK_STORE_CRC;
    block_store_hash(bs->bucket_count, key, &hash);
    uint64_t left = path.found ? path.node.left : 0, right = path.found ? path.node.right : 0;
    uint64_t whole = block_store_fill_record(NULL, key, hash, left, right, value_size, &body);
    uint64_t offset = space_allocate(&bs->space, whole);
    if (!words_set(&bs->words, path.word, offset))
        return error_memory(error);
    status = make_capacity(bs, offset, whole, error);
    if (status != TANSU_OK)
        return status;
    uint8_t *bytes = bs->buffer + bs->buffer_used;
    block_store_fill_record(bytes, key, hash, left, right, value_size, &body);
    uint8_t *value = bytes + body + BLOCK_STORE_KEY;
    status = fill_value(bs, key, record, size, value, error);
    if (status != TANSU_OK)
        return status;
    store_u32(value + stored, block_store_checksum(key, value, stored));
    memset(value + value_size, 0, whole - body - BLOCK_STORE_KEY - value_size);
    bs->buffer_used += whole;
    bs->records_then += !path.found;
    return TANSU_OK;
}

tansu_status block_store_put(block_store *bs, enum block_store_kind kind, uint64_t number,
                             const void *record, size_t size, tansu_error *error) {
    tansu_status status = writable(bs, error);
    if (status != TANSU_OK)
        return status;
    if (size > INT_MAX / 4)
        status = error_set(error, TANSU_E_TOO_LARGE, bs->path, "An index block is too large");
    uint8_t key[BLOCK_STORE_KEY];
    block_store_fill_key(key, kind, number);
    if (status == TANSU_OK)
        status = put(bs, key, record, size, error);
    bs->failed = status != TANSU_OK;
    return status;
}

/* joined -- the children of a node that goes, as one tree. */
static tansu_status joined(block_store *bs, const block_store_node *node, uint64_t *child,
                           tansu_error *error) {
    *child = node->left != 0 ? node->left : node->right;
    if (node->left == 0 || node->right == 0)
        return TANSU_OK;
    block_store_node last = {.right = node->left};
    for (int step = 0; last.right != 0; step++) {
        if (step == STEPS_MOST)
            return block_store_damaged(bs, last.offset, error);
        tansu_status status = block_store_node_at(bs, last.right, &last, error);
        if (status != TANSU_OK)
            return status;
    }
    return words_set(&bs->words, last.offset + BLOCK_STORE_RIGHT, node->right)
               ? TANSU_OK
               : error_memory(error);
}

tansu_status block_store_remove(block_store *bs, enum block_store_kind kind, uint64_t number,
                                tansu_error *error) {
    tansu_status status = writable(bs, error);
    if (status != TANSU_OK)
        return status;
    uint8_t key[BLOCK_STORE_KEY];
    block_store_path path;
    uint64_t child = 0;
    block_store_fill_key(key, kind, number);
    status = block_store_locate(bs, key, &path, error);
    if (status == TANSU_OK && !path.found)
        return TANSU_OK;
    if (status == TANSU_OK)
        status = joined(bs, &path.node, &child, error);
    if (status == TANSU_OK && (!words_set(&bs->words, path.word, child) ||
                               !extents_add(&bs->freed, path.node.offset, path.node.size)))
        status = error_memory(error);
    bs->failed = status != TANSU_OK;
    bs->records_then -= status == TANSU_OK;
    return status;
}

/* ---- Committing ---- */

/* publish -- lets readers see the commit: nothing of it can fail. */
static void publish(block_store *bs, uint64_t size) {
    pthread_rwlock_wrlock(&bs->gate);
    uint64_t buckets_end = BLOCK_STORE_HEAD + 8 * bs->bucket_count;
    for (size_t i = 0; i < bs->words.capacity; i++) {
        uint64_t offset = bs->words.pairs[2 * i];
        if (offset != 0 && offset < buckets_end)
            bs->buckets[(offset - BLOCK_STORE_HEAD) / 8] = bs->words.pairs[2 * i + 1];
    }
    bs->pending = bs->words; /* what was pending before was written when this one began */
    bs->words = (block_store_words){NULL, 0, 0};
    bs->size = size;
    bs->records = bs->records_then;
    pthread_rwlock_unlock(&bs->gate);
    bs->commit++;
}

/* commit -- what block_store_commit() does once it may. */
static tansu_status commit(block_store *bs, tansu_error *error) {
    tansu_status status = flush(bs, error);
    if (status != TANSU_OK)
        return status;
    if (!bs->passing && bs->calls->sync(bs->fd, NULL, 0) != 0) {
        /* The system may have dropped anything that was written since the sync before. */
        bs->rewrite_words = true;
        return error_errno(error, bs->path, "sync", errno);
    }
    if (!space_remaining(&bs->space, &bs->freed))
        return error_memory(error);
    uint64_t size = extents_merge(&bs->freed, bs->space.end);
    status =
        journal_write(bs, &bs->words, &bs->freed, bs->commit + 1, bs->records_then, size, error);
    if (status != TANSU_OK)
        return status;
    publish(bs, size);
    extents_free(&bs->free);
    bs->free = bs->freed;
    bs->freed = (block_store_extents){NULL, 0, 0};
    (void)journal_apply(bs, NULL); /* the commit counts: the next transaction tries again */
    return TANSU_OK;
}

tansu_status block_store_commit(block_store *bs, tansu_error *error) {
    tansu_status status = writable(bs, error);
    if (status == TANSU_OK)
        status = commit(bs, error);
    if (bs->in_transaction)
        transaction_ends(bs);
    return status;
}

/* ---- Beginning and ending a session, in which the file is written ---- */

tansu_status session_mark(block_store *bs, tansu_error *error) {
    bs->commit = 0;
    tansu_status status = crypt_random(&bs->session, sizeof bs->session, error);
    if (status != TANSU_OK)
        return status;
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

/* ---- Block store shrink ---- */

/*
 * Rewriting the block store's file without its free
 * extents, and with as many buckets as its records need.
 */

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
    tansu_buffer value, sealed;
    unsigned count;
} copying;

/* seal_anew -- an encrypted value, with the data key that seals now. */
static tansu_status seal_anew(copying *c, const uint8_t key[BLOCK_STORE_KEY], tansu_error *error) {
    tansu_status status = block_store_open_value(c->from, key, &c->value, error);
    c->sealed.size = 0;
    if (status == TANSU_OK && !buffer_reserve(&c->sealed, SEAL_OVERHEAD + c->value.size))
        status = error_memory(error);
    if (status == TANSU_OK)
        status = fill_value(c->from, key, c->value.data, c->value.size, c->sealed.data, error);
    if (status != TANSU_OK)
        return status;
    c->sealed.size = SEAL_OVERHEAD + c->value.size;
    tansu_buffer plain = c->value;
    c->value = c->sealed;
    c->sealed = plain;
    return TANSU_OK;
}

/* is_old -- whether a stored value is encrypted with a data key that seals no more. */
static bool is_old(const block_store *bs, const tansu_buffer *stored) {
    return bs->keys != NULL && stored->size >= SEAL_OVERHEAD &&
           load_u32(stored->data) != keyring_current(bs->keys);
}

/* copy_record -- a block_store_visitor. The value is copied as it is stored: what is encrypted stays
 * so, for `to` has no keys. */
static tansu_status copy_record(void *context, const block_store_node *node, tansu_error *error) {
    copying *c = context;
    tansu_status status = c->caller == NULL ? TANSU_OK : c->caller->ask(c->caller->context, error);
    if (status == TANSU_OK)
        status = block_store_stored_value(c->from, node, &c->value, error);
    if (status == TANSU_OK && is_old(c->from, &c->value))
        status = seal_anew(c, node->key, error);
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
    copying c = {
        .from = bs, .caller = caller, .value = TANSU_BUFFER_INIT, .sealed = TANSU_BUFFER_INIT};
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
    tansu_buffer_free(&c.sealed);
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
        status = block_store_open(bs->calls, path, bs->passing ? BLOCK_STORE_TEMPORARY : 0, NULL,
                                  &other, error);
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
