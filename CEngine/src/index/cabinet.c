/*
 * index/cabinet.c -- transactions of the block store (see cabinet.h, and cabinet_parts.h for the steps).
 */
#include "index/cabinet.h"
#include "base/bytes.h"
#include "base/error.h"
#include "index/cabinet_parts.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

/* Records that lie in a row are written together, up to about so many bytes. */
#define BUFFER_ROOM ((size_t)256 * 1024)

/* Steps along the right edge of a tree; more would be a circle. */
#define STEPS_MOST 65536

/* So many records a bucket, and the file gets more buckets. */
#define CROWDED 2

/* ---- Beginning and ending ---- */

/* grow -- writes a file anew whose buckets are crowded. Failing makes look-ups slower, and nothing else. */
static void grow(cabinet *cab) {
    uint64_t crowded = cab->bucket_count * CROWDED;
    if (cab->records <= crowded || cab->records < cab->grow_at ||
        cabinet_buckets_for(cab->records) <= cab->bucket_count)
        return;
    cab->grow_at = cab->records * 2;
    (void)cabinet_rewrite(cab, NULL);
}

tansu_status cabinet_begin(cabinet *cab, tansu_error *error) {
    if (cab->read_only)
        return error_set(error, TANSU_E_READ_ONLY, cab->path, "The index file is open read-only.");
    if (cab->in_transaction)
        return error_set(error, TANSU_E_MISUSE, cab->path,
                         "A checkpoint is being written already.");
    tansu_status status = cabinet_settle(cab, error);
    if (status == TANSU_OK)
        grow(cab);
    if (status == TANSU_OK)
        status = session_begin(cab, error);
    if (status != TANSU_OK)
        return status;
    cab->buffer = malloc(BUFFER_ROOM);
    if (cab->buffer == NULL || !space_begin(&cab->space, &cab->free, cab->size)) {
        free(cab->buffer);
        cab->buffer = NULL;
        return error_memory(error);
    }
    cab->buffer_room = BUFFER_ROOM;
    cab->buffer_used = 0;
    cab->buffer_at = 0;
    cab->records_then = cab->records;
    cab->failed = false;
    cab->in_transaction = true;
    return TANSU_OK;
}

/* transaction_ends -- forgets what belongs to it alone. */
static void transaction_ends(cabinet *cab) {
    cab->in_transaction = false;
    words_free(&cab->words);
    space_free(&cab->space);
    extents_free(&cab->freed);
    free(cab->buffer);
    cab->buffer = NULL;
    cab->buffer_used = 0;
}

void cabinet_abort(cabinet *cab) {
    if (cab->in_transaction)
        transaction_ends(cab);
}

/* ---- Changing ---- */

/* writable -- whether a call may change anything. */
static tansu_status writable(const cabinet *cab, tansu_error *error) {
    if (!cab->in_transaction)
        return error_set(error, TANSU_E_MISUSE, cab->path, "No checkpoint is being written.");
    if (cab->failed)
        return error_set(error, TANSU_E_MISUSE, cab->path,
                         "The checkpoint failed; give it up and write another one.");
    return TANSU_OK;
}

/* flush -- writes the records in the buffer. */
static tansu_status flush(cabinet *cab, tansu_error *error) {
    if (cab->buffer_used != 0 &&
        fs_write_all(cab->calls, cab->fd, cab->buffer, cab->buffer_used, cab->buffer_at) != 0)
        return error_errno(error, cab->path, "write", errno);
    cab->buffer_used = 0;
    return TANSU_OK;
}

/* make_room -- room in the buffer for a record that is to lie at `offset`. */
static tansu_status make_room(cabinet *cab, uint64_t offset, uint64_t size, tansu_error *error) {
    if (cab->buffer_used == 0 || offset != cab->buffer_at + cab->buffer_used ||
        size > cab->buffer_room - cab->buffer_used) {
        tansu_status status = flush(cab, error);
        if (status != TANSU_OK)
            return status;
        cab->buffer_at = offset;
    }
    if (size <= cab->buffer_room)
        return TANSU_OK;
    uint8_t *larger = realloc(cab->buffer, size);
    if (larger == NULL)
        return error_memory(error);
    cab->buffer = larger;
    cab->buffer_room = size;
    return TANSU_OK;
}

/* put -- what cabinet_put() does once it may. */
static tansu_status put(cabinet *cab, const uint8_t key[CABINET_KEY], const void *record,
                        size_t size, tansu_error *error) {
    cabinet_path path;
    tansu_status status = cabinet_locate(cab, key, &path, error);
    if (status != TANSU_OK)
        return status;
    if (path.found && !extents_add(&cab->freed, path.node.offset, path.node.size))
        return error_memory(error);
    uint8_t hash;
    uint32_t body, value_size = (uint32_t)size + CABINET_CRC;
    cabinet_hash(cab->bucket_count, key, &hash);
    uint64_t left = path.found ? path.node.left : 0, right = path.found ? path.node.right : 0;
    uint64_t whole = cabinet_form(cab, NULL, key, hash, left, right, value_size, &body);
    uint64_t offset = space_take(&cab->space, whole);
    if (!words_set(&cab->words, path.word, offset))
        return error_memory(error);
    status = make_room(cab, offset, whole, error);
    if (status != TANSU_OK)
        return status;
    uint8_t *bytes = cab->buffer + cab->buffer_used;
    cabinet_form(cab, bytes, key, hash, left, right, value_size, &body);
    uint8_t *value = bytes + body + CABINET_KEY;
    if (size > 0)
        memcpy(value, record, size);
    store_u32(value + size, cabinet_checksum(key, record, size));
    memset(value + value_size, 0, whole - body - CABINET_KEY - value_size);
    cab->buffer_used += whole;
    cab->records_then += !path.found;
    return TANSU_OK;
}

tansu_status cabinet_put(cabinet *cab, enum cabinet_kind kind, uint64_t number, const void *record,
                         size_t size, tansu_error *error) {
    tansu_status status = writable(cab, error);
    if (status != TANSU_OK)
        return status;
    if (size > INT_MAX / 4)
        status = error_set(error, TANSU_E_TOO_LARGE, cab->path, "An index block is too large.");
    uint8_t key[CABINET_KEY];
    cabinet_make_key(key, kind, number);
    if (status == TANSU_OK)
        status = put(cab, key, record, size, error);
    cab->failed = status != TANSU_OK;
    return status;
}

/* joined -- the children of a node that goes, as one tree. */
static tansu_status joined(cabinet *cab, const cabinet_node *node, uint64_t *child,
                           tansu_error *error) {
    *child = node->left != 0 ? node->left : node->right;
    if (node->left == 0 || node->right == 0)
        return TANSU_OK;
    cabinet_node last = {.right = node->left};
    for (int step = 0; last.right != 0; step++) {
        if (step == STEPS_MOST)
            return cabinet_damaged(cab, last.offset, error);
        tansu_status status = cabinet_node_at(cab, last.right, &last, error);
        if (status != TANSU_OK)
            return status;
    }
    return words_set(&cab->words, last.offset + CABINET_RIGHT, node->right) ? TANSU_OK
                                                                            : error_memory(error);
}

tansu_status cabinet_remove(cabinet *cab, enum cabinet_kind kind, uint64_t number,
                            tansu_error *error) {
    tansu_status status = writable(cab, error);
    if (status != TANSU_OK)
        return status;
    uint8_t key[CABINET_KEY];
    cabinet_path path;
    uint64_t child = 0;
    cabinet_make_key(key, kind, number);
    status = cabinet_locate(cab, key, &path, error);
    if (status == TANSU_OK && !path.found)
        return TANSU_OK;
    if (status == TANSU_OK)
        status = joined(cab, &path.node, &child, error);
    if (status == TANSU_OK && (!words_set(&cab->words, path.word, child) ||
                               !extents_add(&cab->freed, path.node.offset, path.node.size)))
        status = error_memory(error);
    cab->failed = status != TANSU_OK;
    cab->records_then -= status == TANSU_OK;
    return status;
}

/* ---- Committing ---- */

/* publish -- lets readers see the commit: nothing of it can fail. */
static void publish(cabinet *cab, uint64_t size) {
    pthread_rwlock_wrlock(&cab->gate);
    uint64_t buckets_end = CABINET_HEAD + 8 * cab->bucket_count;
    for (size_t i = 0; i < cab->words.room; i++) {
        uint64_t offset = cab->words.pairs[2 * i];
        if (offset != 0 && offset < buckets_end)
            cab->buckets[(offset - CABINET_HEAD) / 8] = cab->words.pairs[2 * i + 1];
    }
    cab->pending = cab->words; /* what was pending before was written when this one began */
    cab->words = (cabinet_words){NULL, 0, 0};
    cab->size = size;
    cab->records = cab->records_then;
    pthread_rwlock_unlock(&cab->gate);
    cab->commit++;
}

/* commit -- what cabinet_commit() does once it may. */
static tansu_status commit(cabinet *cab, tansu_error *error) {
    tansu_status status = flush(cab, error);
    if (status != TANSU_OK)
        return status;
    if (!cab->passing && cab->calls->sync(cab->fd, NULL, 0) != 0) {
        /* The system may have dropped anything that was written since the sync before. */
        cab->written_unsure = true;
        return error_errno(error, cab->path, "sync", errno);
    }
    if (!space_rest(&cab->space, &cab->freed))
        return error_memory(error);
    uint64_t size = extents_settle(&cab->freed, cab->space.end);
    status = journal_write(cab, &cab->words, &cab->freed, cab->commit + 1, cab->records_then, size,
                           error);
    if (status != TANSU_OK)
        return status;
    publish(cab, size);
    extents_free(&cab->free);
    cab->free = cab->freed;
    cab->freed = (cabinet_extents){NULL, 0, 0};
    (void)journal_apply(cab, NULL); /* the commit counts: the next transaction tries again */
    return TANSU_OK;
}

tansu_status cabinet_commit(cabinet *cab, tansu_error *error) {
    tansu_status status = writable(cab, error);
    if (status == TANSU_OK)
        status = commit(cab, error);
    if (cab->in_transaction)
        transaction_ends(cab);
    return status;
}
