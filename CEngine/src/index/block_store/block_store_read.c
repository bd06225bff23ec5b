/*
 * index/block_store/block_store_read.c -- finding and reading records of the block store's file.
 *
 * Every value from the file is checked against the file's size before it is used, and the descent
 * of a bucket's tree is bounded: a damaged file is CORRUPT, never an endless loop.
 */
#include "index/block_store/block_store_internal.h"
#include "util/array.h"
#include "util/buffer.h"
#include "util/bytes.h"
#include "util/error.h"

#include <errno.h>
#include <stdlib.h>

/* Steps down a tree that no file needs: earlier ones had 8191 buckets whatever they held. */
#define STEPS_MOST 65536

/* How much of a record is read at once; most are no longer. */
#define GUESS_BLOCK 2048u
#define GUESS_OTHER 16384u

/* How many records a visit reads together. */
#define VISIT_BATCH 16384u

void block_store_mark_damaged(block_store *bs) {
    atomic_store_explicit(&bs->damaged, true, memory_order_relaxed);
}

bool block_store_is_damaged(const block_store *bs) {
    return atomic_load_explicit(&bs->damaged, memory_order_relaxed);
}

tansu_status block_store_damaged(block_store *bs, uint64_t offset, tansu_error *error) {
    block_store_mark_damaged(bs);
    return error_at(
        error, TANSU_E_CORRUPT, bs->path, (int64_t)offset,
        "The index file is corrupt; close the database and open it again to have it rebuilt");
}

/* read_some -- up to that many bytes, fewer only at the file's end; -1 with errno. */
static ssize_t read_some(const block_store *bs, uint64_t offset, uint8_t *bytes, size_t size) {
    size_t done = 0;
    while (done < size) {
        errno = 0;
        ssize_t got = bs->calls->read(bs->fd, bytes + done, size - done, (off_t)(offset + done));
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        done += (size_t)got;
    }
    return (ssize_t)done;
}

tansu_status block_store_read_at(block_store *bs, uint64_t offset, void *bytes, size_t size,
                                 tansu_error *error) {
    ssize_t got = read_some(bs, offset, bytes, size);
    if (got < 0)
        return error_errno(error, bs->path, "read", errno == 0 ? EIO : errno);
    return (size_t)got == size ? TANSU_OK : block_store_damaged(bs, offset, error);
}

/* place_right -- whether a record may begin there. */
static bool place_right(const block_store *bs, uint64_t offset, uint64_t end) {
    return offset >= bs->first && offset % BLOCK_STORE_ALIGN == 0 && offset < end &&
           end - offset >= BLOCK_STORE_MIN_RECORD;
}

/* child_of -- a node's word, as the commits left it that are not in the file yet. */
static uint64_t child_of(const block_store *bs, const block_store_node *node, bool left) {
    const uint64_t *word =
        words_find(&bs->pending, node->offset + (left ? BLOCK_STORE_LEFT : BLOCK_STORE_RIGHT));
    return word != NULL ? *word : left ? node->left : node->right;
}

/* ---- Readers ---- */

/* take_value -- moves a node's value to the buffer's beginning, reading what of it is not there
 * yet. */
static tansu_status take_value(block_store *bs, const block_store_node *node, tansu_buffer *record,
                               size_t have, tansu_error *error) {
    size_t start = node->body + BLOCK_STORE_KEY, end = start + node->value_size;
    if (have < end) {
        record->size = have;
        if (!buffer_reserve(record, end - have))
            return error_memory(error);
        tansu_status status =
            block_store_read_at(bs, node->offset + have, record->data + have, end - have, error);
        if (status != TANSU_OK)
            return status;
    }
    memmove(record->data, record->data + start, node->value_size);
    record->size = node->value_size;
    return TANSU_OK;
}

/* find -- a record's value with its checksum; the gate is held. */
static tansu_status find(block_store *bs, const uint8_t key[BLOCK_STORE_KEY], tansu_buffer *record,
                         tansu_error *error) {
    uint8_t hash;
    uint64_t offset = bs->buckets[block_store_hash(bs->bucket_count, key, &hash)];
    size_t guess = key[0] == BLOCK_STORE_BLOCK ? GUESS_BLOCK : GUESS_OTHER;
    for (int step = 0; offset != 0; step++) {
        if (step == STEPS_MOST || !place_right(bs, offset, bs->size))
            return block_store_damaged(bs, offset, error);
        size_t want = bs->size - offset < guess ? (size_t)(bs->size - offset) : guess;
        record->size = 0;
        if (!buffer_reserve(record, want))
            return error_memory(error);
        ssize_t got = read_some(bs, offset, record->data, want);
        if (got < 0)
            return error_errno(error, bs->path, "read", errno == 0 ? EIO : errno);
        block_store_node node;
        if ((size_t)got < want || !block_store_parse(offset, record->data, bs->size, &node))
            return block_store_damaged(bs, offset, error);
        int order = block_store_order(key, hash, &node);
        if (order == 0)
            return take_value(bs, &node, record, want, error);
        offset = child_of(bs, &node, order < 0);
    }
    return TANSU_E_NOT_FOUND;
}

/* bad_value -- the error for a value that is invalid; marks the file as damaged. */
static tansu_status bad_value(block_store *bs, const uint8_t key[BLOCK_STORE_KEY],
                              tansu_error *error) {
    block_store_mark_damaged(bs);
    return error_set(error, TANSU_E_CORRUPT, bs->path,
                     "Record %c%llu of the index file is corrupt; close the database and open it "
                     "again to have the file rebuilt",
                     (int)key[0], (unsigned long long)load_u64(key + 1));
}

/* check_value -- takes the checksum off a value. */
static tansu_status check_value(block_store *bs, const uint8_t key[BLOCK_STORE_KEY],
                                tansu_buffer *record, tansu_error *error) {
    size_t size = record->size - BLOCK_STORE_CRC;
    record->size = size;
    return load_u32(record->data + size) == block_store_checksum(key, record->data, size)
               ? TANSU_OK
               : bad_value(bs, key, error);
}

tansu_status block_store_open_value(block_store *bs, const uint8_t key[BLOCK_STORE_KEY],
                                    tansu_buffer *record, tansu_error *error) {
    seal_mark mark;
    uint8_t tag[CRYPT_TAG_SIZE];
    if (record->size < SEAL_OVERHEAD)
        return bad_value(bs, key, error);
    size_t size = record->size - SEAL_OVERHEAD;
    memcpy(&mark, record->data, sizeof mark);
    memcpy(tag, record->data + sizeof mark, sizeof tag);
    memmove(record->data, record->data + SEAL_OVERHEAD, size);
    record->size = size;
    tansu_status status = unseal(bs->keys, SEAL_BLOCK_STORE, &mark, key, BLOCK_STORE_KEY,
                                 record->data, size, tag, record->data);
    return status == TANSU_OK         ? TANSU_OK
           : status == TANSU_E_MEMORY ? error_memory(error)
                                      : bad_value(bs, key, error);
}

tansu_status block_store_get(block_store *bs, enum block_store_kind kind, uint64_t number,
                             tansu_buffer *record, tansu_error *error) {
    uint8_t key[BLOCK_STORE_KEY];
    block_store_fill_key(key, kind, number);
    pthread_rwlock_rdlock(&bs->gate);
    tansu_status status = find(bs, key, record, error);
    pthread_rwlock_unlock(&bs->gate);
    if (status == TANSU_OK)
        status = check_value(bs, key, record, error);
    if (status == TANSU_OK && bs->keys != NULL)
        status = block_store_open_value(bs, key, record, error);
    if (status != TANSU_OK)
        tansu_buffer_free(record);
    if (status == TANSU_E_NOT_FOUND)
        error_set(error, status, bs->path, "The index file has no record %c%llu", (int)kind,
                  (unsigned long long)number);
    return status;
}

/* ---- The writer, who needs no gate ---- */

tansu_status block_store_node_at(block_store *bs, uint64_t offset, block_store_node *node,
                                 tansu_error *error) {
    uint8_t usual[BLOCK_STORE_MIN_RECORD];
    const uint8_t *bytes = usual;
    uint64_t end = bs->in_transaction ? bs->space.end : bs->size;
    if (!place_right(bs, offset, end))
        return block_store_damaged(bs, offset, error);
    if (bs->in_transaction && offset >= bs->buffer_at && offset - bs->buffer_at < bs->buffer_used) {
        bytes = bs->buffer + (offset - bs->buffer_at);
    } else {
        tansu_status status = block_store_read_at(bs, offset, usual, sizeof usual, error);
        if (status != TANSU_OK)
            return status;
    }
    if (!block_store_parse(offset, bytes, end, node))
        return block_store_damaged(bs, offset, error);
    node->left = child_of(bs, node, true);
    node->right = child_of(bs, node, false);
    if (bs->in_transaction) {
        const uint64_t *left = words_find(&bs->words, offset + BLOCK_STORE_LEFT);
        const uint64_t *right = words_find(&bs->words, offset + BLOCK_STORE_RIGHT);
        node->left = left != NULL ? *left : node->left;
        node->right = right != NULL ? *right : node->right;
    }
    return TANSU_OK;
}

tansu_status block_store_locate(block_store *bs, const uint8_t key[BLOCK_STORE_KEY],
                                block_store_path *path, tansu_error *error) {
    uint8_t hash;
    uint64_t bucket = block_store_hash(bs->bucket_count, key, &hash);
    path->word = BLOCK_STORE_HEAD + 8 * bucket;
    path->found = false;
    const uint64_t *changed = words_find(&bs->words, path->word);
    uint64_t offset = changed != NULL ? *changed : bs->buckets[bucket];
    for (int step = 0; offset != 0; step++) {
        if (step == STEPS_MOST)
            return block_store_damaged(bs, offset, error);
        tansu_status status = block_store_node_at(bs, offset, &path->node, error);
        if (status != TANSU_OK)
            return status;
        int order = block_store_order(key, hash, &path->node);
        if (order == 0) {
            path->found = true;
            return TANSU_OK;
        }
        path->word = offset + (order < 0 ? BLOCK_STORE_LEFT : BLOCK_STORE_RIGHT);
        offset = order < 0 ? path->node.left : path->node.right;
    }
    return TANSU_OK;
}

/* ---- All records ---- */

/* A location in a bucket's tree that was not examined yet, and the nodes that its own lies between
 * in the tree's order; NO_NODE: none. */
#define NO_NODE SIZE_MAX
typedef struct waiting {
    uint64_t offset;
    size_t after, before;
} waiting;

typedef struct visit {
    block_store *bs;
    block_store_visitor visitor;
    void *context;
    waiting *waiting;
    size_t waiting_count, waiting_capacity;
    block_store_node *nodes;
    size_t count, capacity;
    uint64_t seen;
} visit;

/* wait_for -- notes a location to examine. */
static bool wait_for(visit *w, uint64_t offset, size_t after, size_t before) {
    if (offset == 0)
        return true;
    if (!ARRAY_RESERVE(w->waiting, w->waiting_count, w->waiting_capacity, 1))
        return false;
    w->waiting[w->waiting_count++] = (waiting){offset, after, before};
    return true;
}

/* in_order -- whether a node lies where a search finds it: then it has no second place. */
static bool in_order(const visit *w, const block_store_node *node, const waiting *place) {
    return (place->after == NO_NODE ||
            block_store_order(node->key, node->hash, &w->nodes[place->after]) > 0) &&
           (place->before == NO_NODE ||
            block_store_order(node->key, node->hash, &w->nodes[place->before]) < 0);
}

/* gather -- the nodes of one bucket. One out of order, or more than the head knows of, would be a
 * circle. */
static tansu_status gather(visit *w, uint64_t bucket, tansu_error *error) {
    if (!wait_for(w, w->bs->buckets[bucket], NO_NODE, NO_NODE))
        return error_memory(error);
    while (w->waiting_count > 0) {
        waiting place = w->waiting[--w->waiting_count];
        if (!ARRAY_RESERVE(w->nodes, w->count, w->capacity, 1))
            return error_memory(error);
        block_store_node *node = &w->nodes[w->count];
        tansu_status status = block_store_node_at(w->bs, place.offset, node, error);
        if (status != TANSU_OK)
            return status;
        uint8_t hash;
        if (w->seen++ == w->bs->records ||
            block_store_hash(w->bs->bucket_count, node->key, &hash) != bucket ||
            hash != node->hash || !in_order(w, node, &place))
            return block_store_damaged(w->bs, place.offset, error);
        if (!wait_for(w, node->left, place.after, w->count) ||
            !wait_for(w, node->right, w->count, place.before))
            return error_memory(error);
        w->count++;
    }
    return TANSU_OK;
}

/* by_place -- for qsort(). */
static int by_place(const void *a, const void *b) {
    const block_store_node *x = a, *y = b;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

tansu_status block_store_visit(block_store *bs, block_store_visitor visitor, void *context,
                               tansu_error *error) {
    visit w = {.bs = bs};
    tansu_status status = TANSU_OK;
    for (uint64_t bucket = 0; status == TANSU_OK && bucket < bs->bucket_count; bucket++) {
        status = gather(&w, bucket, error);
        if (status != TANSU_OK || (w.count < VISIT_BATCH && bucket + 1 < bs->bucket_count))
            continue;
        if (w.count > 1)
            qsort(w.nodes, w.count, sizeof *w.nodes, by_place);
        for (size_t i = 0; status == TANSU_OK && i < w.count; i++)
            status = visitor(context, &w.nodes[i], error);
        w.count = 0;
    }
    free(w.waiting);
    free(w.nodes);
    return status;
}

/* Numbers that are collected. */
typedef struct collecting {
    enum block_store_kind kind;
    block_numbers *numbers;
} collecting;

/* collect_number -- a block_store_visitor. */
static tansu_status collect_number(void *context, const block_store_node *node,
                                   tansu_error *error) {
    const collecting *c = context;
    block_numbers *numbers = c->numbers;
    if (node->key[0] != (uint8_t)c->kind)
        return TANSU_OK;
    if (!ARRAY_RESERVE(numbers->list, numbers->count, numbers->capacity, 1))
        return error_memory(error);
    numbers->list[numbers->count++] = load_u64(node->key + 1);
    return TANSU_OK;
}

uint64_t block_store_records(block_store *bs) {
    pthread_rwlock_rdlock(&bs->gate);
    uint64_t records = bs->records;
    pthread_rwlock_unlock(&bs->gate);
    return records;
}

tansu_status block_store_numbers(block_store *bs, enum block_store_kind kind,
                                 block_numbers *numbers, tansu_error *error) {
    collecting c = {.kind = kind, .numbers = numbers};
    return block_store_visit(bs, collect_number, &c, error);
}

tansu_status block_store_stored_value(block_store *bs, const block_store_node *node,
                                      tansu_buffer *value, tansu_error *error) {
    value->size = 0;
    if (!buffer_reserve(value, node->value_size))
        return error_memory(error);
    tansu_status status = block_store_read_at(bs, node->offset + node->body + BLOCK_STORE_KEY,
                                              value->data, node->value_size, error);
    value->size = node->value_size;
    return status == TANSU_OK ? check_value(bs, node->key, value, error) : status;
}
