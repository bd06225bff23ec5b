/*
 * index/cabinet_read.c -- looking records up in the block store's file.
 *
 * Everything that comes from the file is held against its size before it is used, and the way down a
 * bucket's tree is bounded: a damaged file is CORRUPT, never a loop.
 */
#include "base/buffer.h"
#include "base/bytes.h"
#include "base/error.h"
#include "index/cabinet_parts.h"

#include <errno.h>
#include <stdlib.h>

/* Steps down a tree that no file needs: earlier ones had 8191 buckets whatever they held. */
#define STEPS_MOST 65536

/* How much of a record is read at once; most are no longer. */
#define GUESS_BLOCK 4096u
#define GUESS_OTHER 16384u

/* How many records a walk takes together. */
#define WALK_STEP 16384u

tansu_status cabinet_damaged(cabinet *cab, uint64_t offset, tansu_error *error) {
    cabinet_doubt(cab);
    return error_at(error, TANSU_E_CORRUPT, cab->path, (int64_t)offset,
                    "The index file is damaged; close the database and open it again, and the file "
                    "is made anew.");
}

/* read_some -- up to so many bytes, fewer only at the file's end; -1 with errno. */
static ssize_t read_some(const cabinet *cab, uint64_t offset, uint8_t *bytes, size_t size) {
    size_t done = 0;
    while (done < size) {
        errno = 0;
        ssize_t got = cab->calls->read(cab->fd, bytes + done, size - done, (off_t)(offset + done));
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        done += (size_t)got;
    }
    return (ssize_t)done;
}

tansu_status cabinet_read_at(cabinet *cab, uint64_t offset, void *bytes, size_t size,
                             tansu_error *error) {
    ssize_t got = read_some(cab, offset, bytes, size);
    if (got < 0)
        return error_errno(error, cab->path, "read", errno == 0 ? EIO : errno);
    return (size_t)got == size ? TANSU_OK : cabinet_damaged(cab, offset, error);
}

/* place_right -- whether a record may begin there. */
static bool place_right(const cabinet *cab, uint64_t offset, uint64_t end) {
    return offset >= cab->first && offset % CABINET_ALIGN == 0 && offset < end &&
           end - offset >= CABINET_LEAST;
}

/* child_of -- a node's word, as the commits left it that are not in the file yet. */
static uint64_t child_of(const cabinet *cab, const cabinet_node *node, bool left) {
    const uint64_t *word =
        words_find(&cab->pending, node->offset + (left ? CABINET_LEFT : CABINET_RIGHT));
    return word != NULL ? *word : left ? node->left : node->right;
}

/* ---- Readers ---- */

/* take_value -- moves a node's value to the buffer's beginning, reading what of it is not there yet. */
static tansu_status take_value(cabinet *cab, const cabinet_node *node, tansu_buffer *record,
                               size_t have, tansu_error *error) {
    size_t start = node->body + CABINET_KEY, end = start + node->value_size;
    if (have < end) {
        record->size = have;
        if (!buffer_reserve(record, end - have))
            return error_memory(error);
        tansu_status status =
            cabinet_read_at(cab, node->offset + have, record->data + have, end - have, error);
        if (status != TANSU_OK)
            return status;
    }
    memmove(record->data, record->data + start, node->value_size);
    record->size = node->value_size;
    return TANSU_OK;
}

/* find -- a record's value with its checksum; the gate is held. */
static tansu_status find(cabinet *cab, const uint8_t key[CABINET_KEY], tansu_buffer *record,
                         tansu_error *error) {
    uint8_t hash;
    uint64_t offset = cab->buckets[cabinet_hash(cab->bucket_count, key, &hash)];
    size_t guess = key[0] == CABINET_BLOCK ? GUESS_BLOCK : GUESS_OTHER;
    for (int step = 0; offset != 0; step++) {
        if (step == STEPS_MOST || !place_right(cab, offset, cab->size))
            return cabinet_damaged(cab, offset, error);
        size_t want = cab->size - offset < guess ? (size_t)(cab->size - offset) : guess;
        record->size = 0;
        if (!buffer_reserve(record, want))
            return error_memory(error);
        ssize_t got = read_some(cab, offset, record->data, want);
        if (got < 0)
            return error_errno(error, cab->path, "read", errno == 0 ? EIO : errno);
        cabinet_node node;
        if ((size_t)got < want || !cabinet_parse(cab, offset, record->data, cab->size, &node))
            return cabinet_damaged(cab, offset, error);
        int order = cabinet_order(key, hash, &node);
        if (order == 0)
            return take_value(cab, &node, record, want, error);
        offset = child_of(cab, &node, order < 0);
    }
    return TANSU_E_NOT_FOUND;
}

/* check_value -- takes the checksum off a value. */
static tansu_status check_value(cabinet *cab, const uint8_t key[CABINET_KEY], tansu_buffer *record,
                                tansu_error *error) {
    size_t size = record->size - CABINET_CRC;
    record->size = size;
    if (load_u32(record->data + size) == cabinet_checksum(key, record->data, size))
        return TANSU_OK;
    cabinet_doubt(cab);
    return error_set(error, TANSU_E_CORRUPT, cab->path,
                     "Record %c%llu of the index file is damaged; close the database and open it "
                     "again, and the file is made anew.",
                     (int)key[0], (unsigned long long)load_u64(key + 1));
}

tansu_status cabinet_get(cabinet *cab, enum cabinet_kind kind, uint64_t number,
                         tansu_buffer *record, tansu_error *error) {
    uint8_t key[CABINET_KEY];
    cabinet_make_key(key, kind, number);
    pthread_rwlock_rdlock(&cab->gate);
    tansu_status status = find(cab, key, record, error);
    pthread_rwlock_unlock(&cab->gate);
    if (status == TANSU_OK)
        status = check_value(cab, key, record, error);
    if (status != TANSU_OK)
        tansu_buffer_free(record);
    if (status == TANSU_E_NOT_FOUND)
        error_set(error, status, cab->path, "The index file has no record %c%llu.", (int)kind,
                  (unsigned long long)number);
    return status;
}

/* ---- The writer, who needs no gate ---- */

tansu_status cabinet_node_at(cabinet *cab, uint64_t offset, cabinet_node *node,
                             tansu_error *error) {
    uint8_t usual[CABINET_LEAST];
    const uint8_t *bytes = usual;
    uint64_t end = cab->in_transaction ? cab->space.end : cab->size;
    if (!place_right(cab, offset, end))
        return cabinet_damaged(cab, offset, error);
    if (cab->in_transaction && offset >= cab->buffer_at &&
        offset - cab->buffer_at < cab->buffer_used) {
        bytes = cab->buffer + (offset - cab->buffer_at);
    } else {
        tansu_status status = cabinet_read_at(cab, offset, usual, sizeof usual, error);
        if (status != TANSU_OK)
            return status;
    }
    if (!cabinet_parse(cab, offset, bytes, end, node))
        return cabinet_damaged(cab, offset, error);
    node->left = child_of(cab, node, true);
    node->right = child_of(cab, node, false);
    if (cab->in_transaction) {
        const uint64_t *left = words_find(&cab->words, offset + CABINET_LEFT);
        const uint64_t *right = words_find(&cab->words, offset + CABINET_RIGHT);
        node->left = left != NULL ? *left : node->left;
        node->right = right != NULL ? *right : node->right;
    }
    return TANSU_OK;
}

tansu_status cabinet_locate(cabinet *cab, const uint8_t key[CABINET_KEY], cabinet_path *path,
                            tansu_error *error) {
    uint8_t hash;
    uint64_t bucket = cabinet_hash(cab->bucket_count, key, &hash);
    path->word = CABINET_HEAD + 8 * bucket;
    path->found = false;
    const uint64_t *changed = words_find(&cab->words, path->word);
    uint64_t offset = changed != NULL ? *changed : cab->buckets[bucket];
    for (int step = 0; offset != 0; step++) {
        if (step == STEPS_MOST)
            return cabinet_damaged(cab, offset, error);
        tansu_status status = cabinet_node_at(cab, offset, &path->node, error);
        if (status != TANSU_OK)
            return status;
        int order = cabinet_order(key, hash, &path->node);
        if (order == 0) {
            path->found = true;
            return TANSU_OK;
        }
        path->word = offset + (order < 0 ? CABINET_LEFT : CABINET_RIGHT);
        offset = order < 0 ? path->node.left : path->node.right;
    }
    return TANSU_OK;
}

/* ---- All records ---- */

typedef struct walk {
    cabinet *cab;
    cabinet_visitor visitor;
    void *context;
    uint64_t *waiting; /* places in trees that were not looked at yet */
    size_t waiting_count, waiting_room;
    cabinet_node *nodes;
    size_t count, room;
    uint64_t seen;
} walk;

/* wait_for -- notes a place to look at. */
static bool wait_for(walk *w, uint64_t offset) {
    if (offset == 0)
        return true;
    if (w->waiting_count == w->waiting_room) {
        size_t room = w->waiting_room == 0 ? 64 : w->waiting_room * 2;
        uint64_t *waiting = realloc(w->waiting, room * sizeof *waiting);
        if (waiting == NULL)
            return false;
        w->waiting = waiting;
        w->waiting_room = room;
    }
    w->waiting[w->waiting_count++] = offset;
    return true;
}

/* gather -- the nodes of one bucket. More than the head knows of would be a circle. */
static tansu_status gather(walk *w, uint64_t bucket, tansu_error *error) {
    if (!wait_for(w, w->cab->buckets[bucket]))
        return error_memory(error);
    while (w->waiting_count > 0) {
        uint64_t offset = w->waiting[--w->waiting_count];
        if (w->count == w->room) {
            size_t room = w->room == 0 ? WALK_STEP : w->room * 2;
            cabinet_node *nodes = realloc(w->nodes, room * sizeof *nodes);
            if (nodes == NULL)
                return error_memory(error);
            w->nodes = nodes;
            w->room = room;
        }
        cabinet_node *node = &w->nodes[w->count];
        tansu_status status = cabinet_node_at(w->cab, offset, node, error);
        if (status != TANSU_OK)
            return status;
        uint8_t hash;
        if (w->seen++ == w->cab->records ||
            cabinet_hash(w->cab->bucket_count, node->key, &hash) != bucket || hash != node->hash)
            return cabinet_damaged(w->cab, offset, error);
        w->count++;
        if (!wait_for(w, node->left) || !wait_for(w, node->right))
            return error_memory(error);
    }
    return TANSU_OK;
}

/* by_place -- for qsort(). */
static int by_place(const void *a, const void *b) {
    const cabinet_node *x = a, *y = b;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

tansu_status cabinet_walk(cabinet *cab, cabinet_visitor visitor, void *context,
                          tansu_error *error) {
    walk w = {.cab = cab};
    tansu_status status = TANSU_OK;
    for (uint64_t bucket = 0; status == TANSU_OK && bucket < cab->bucket_count; bucket++) {
        status = gather(&w, bucket, error);
        if (status != TANSU_OK || (w.count < WALK_STEP && bucket + 1 < cab->bucket_count))
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

tansu_status cabinet_value(cabinet *cab, const cabinet_node *node, tansu_buffer *value,
                           tansu_error *error) {
    value->size = 0;
    if (!buffer_reserve(value, node->value_size))
        return error_memory(error);
    tansu_status status = cabinet_read_at(cab, node->offset + node->body + CABINET_KEY, value->data,
                                          node->value_size, error);
    value->size = node->value_size;
    return status == TANSU_OK ? check_value(cab, node->key, value, error) : status;
}
