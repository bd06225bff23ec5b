/*
 * index/cabinet_shrink.c -- writing the block store's file anew: without its free places, and with as many
 * buckets as its records want.
 */
#include "base/buffer.h"
#include "base/bytes.h"
#include "base/error.h"
#include "index/cabinet_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Free room that is not worth the work. */
#define WASTE_LEAST ((uint64_t)1024 * 1024)

/* Records of one transaction of the new file. */
#define COPY_STEP 65536u

/* add_size -- a cabinet_visitor. */
static tansu_status add_size(void *context, const cabinet_node *node, tansu_error *error) {
    (void)error;
    *(uint64_t *)context += node->size;
    return TANSU_OK;
}

bool cabinet_wasteful(cabinet *cab) {
    uint64_t used = 0, all = cab->size - cab->first;
    if (cab->read_only || all <= WASTE_LEAST ||
        cabinet_walk(cab, add_size, &used, NULL) != TANSU_OK)
        return false;
    return all > used + WASTE_LEAST && all - used > all / 4;
}

/* A copy that is being made. */
typedef struct copying {
    cabinet *from, *to;
    tansu_buffer value;
    unsigned count;
} copying;

/* copy_record -- a cabinet_visitor. */
static tansu_status copy_record(void *context, const cabinet_node *node, tansu_error *error) {
    copying *c = context;
    tansu_status status = cabinet_value(c->from, node, &c->value, error);
    if (status == TANSU_OK)
        status = cabinet_put(c->to, (enum cabinet_kind)node->key[0], load_u64(node->key + 1),
                             c->value.data, c->value.size, error);
    if (status == TANSU_OK && ++c->count % COPY_STEP == 0) {
        status = cabinet_commit(c->to, error);
        if (status == TANSU_OK)
            status = cabinet_begin(c->to, error);
    }
    return status;
}

/* copy_all -- into a new file, which is closed and on the disk afterwards. */
static tansu_status copy_all(cabinet *cab, const char *path, tansu_error *error) {
    copying c = {.from = cab, .value = TANSU_BUFFER_INIT};
    tansu_status status =
        cabinet_make(cab->calls, path, cabinet_buckets_for(cab->records), &c.to, error);
    if (status != TANSU_OK)
        return status;
    status = cabinet_begin(c.to, error);
    if (status == TANSU_OK)
        status = cabinet_walk(cab, copy_record, &c, error);
    if (status == TANSU_OK)
        status = cabinet_commit(c.to, error);
    if (status == TANSU_OK && c.to->records != cab->records)
        status = cabinet_damaged(cab, 0, error);
    tansu_buffer_free(&c.value);
    if (status != TANSU_OK)
        cabinet_abort(c.to);
    else
        c.to->passing = false; /* so that it is closed as it should be, and forced to the disk */
    tansu_status closed = cabinet_close(c.to, status == TANSU_OK ? error : NULL);
    return status == TANSU_OK ? closed : status;
}

/* swap -- has the handle go on with another one's file; that one then has the old file. */
static void swap(cabinet *cab, cabinet *other) {
    pthread_rwlock_wrlock(&cab->gate);
    cabinet old = *cab;
    cab->fd = other->fd;
    cab->big_endian = other->big_endian;
    cab->bucket_count = other->bucket_count;
    cab->buckets = other->buckets;
    cab->first = other->first;
    cab->size = other->size;
    cab->records = other->records;
    pthread_rwlock_unlock(&cab->gate);
    memcpy(cab->head, other->head, sizeof cab->head);
    cab->free = other->free;
    cab->session = other->session;
    cab->in_session = other->in_session;
    cab->written_unsure = false;
    cab->commit = 0;
    other->fd = old.fd;
    other->buckets = old.buckets;
    other->free = old.free;
}

tansu_status cabinet_rewrite(cabinet *cab, tansu_error *error) {
    tansu_status status = cabinet_settle(cab, error);
    size_t room = strlen(cab->path) + sizeof ".new";
    char *path = status == TANSU_OK ? malloc(room) : NULL;
    if (path == NULL)
        return status == TANSU_OK ? error_memory(error) : status;
    memcpy(path, cab->path, room - sizeof ".new");
    memcpy(path + room - sizeof ".new", ".new", sizeof ".new");
    cabinet *other = NULL;
    status = copy_all(cab, path, error);
    if (status == TANSU_OK)
        status = cabinet_open(cab->calls, path, cab->passing ? CABINET_PASSING : 0, &other, error);
    /* A file in session is known to be whole after power loss. */
    if (status == TANSU_OK && cab->in_session)
        status = session_mark(other, error);
    if (status == TANSU_OK && cab->calls->rename(path, cab->path) != 0)
        status = error_errno(error, cab->path, "replace", errno);
    if (status != TANSU_OK) {
        (void)cabinet_close(other, NULL);
        (void)cabinet_delete(cab->calls, path, NULL); /* the next try removes it */
        free(path);
        return status;
    }
    free(path);
    swap(cab, other);
    other->passing = true; /* the old file is not there any more: nothing is left to write */
    (void)cabinet_close(other, NULL);
    /* As long as the new name is not on the disk, the old file may come back, and needs its journals. */
    bool durable = cab->passing || fs_sync_parent(cab->calls, cab->path, NULL) == TANSU_OK;
    journal_end(cab, durable);
    return TANSU_OK;
}

tansu_status cabinet_shrink(cabinet *cab, tansu_error *error) {
    if (cab->read_only)
        return error_set(error, TANSU_E_READ_ONLY, cab->path, "The index file is open read-only.");
    return cabinet_rewrite(cab, error);
}
