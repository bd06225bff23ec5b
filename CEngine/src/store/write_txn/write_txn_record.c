/*
 * store/write_txn/write_txn_record.c -- what every change in a transaction needs: its record in the
 * frame, the private state of a collection, and a step to be rolled back.
 */
#include "store/write_txn/write_txn_internal.h"

#include "store/checkpoint/stored_catalog.h"
#include "store/collection.h"
#include "store/database_internal.h"
#include "store/folder_check.h"
#include "store/index_tail/index_tail.h"
#include "util/array.h"
#include "util/error.h"

#include <stdlib.h>

/* ---- Records ---- */

/* gives_back -- whether a record is of a change that frees space, sooner or later. */
static bool gives_back(enum record_type type) {
    return type == RECORD_DELETE || type == RECORD_COLLECTION_DROP || type == RECORD_INDEX_DROP ||
           type == RECORD_COMPACTION;
}

tansu_status write_txn_record(write_txn *wtxn, enum record_type type, uint8_t flags,
                              uint32_t collection, uint64_t rid, uint64_t previous,
                              const void *bytes, size_t size, uint64_t *at, tansu_error *error) {
    /* Before the first byte, which would go into the files of another database. */
    tansu_status status = TANSU_OK;
    if (!wtxn->replay && wtxn->records == 0)
        status = folder_check_often(wtxn->db, error);
    *at = 0;
    if (status != TANSU_OK)
        return status;
    wtxn->changed = true;
    if (wtxn->replay)
        return TANSU_OK;
    record_header header = {
        .type = (uint8_t)type, .flags = flags, .where = record_where(collection, rid)};
    uint32_t front = record_front(&header);
    uint64_t total = front + align8(size);
    uint8_t *room;
    wtxn->db->log->urgent = gives_back(type);
    status = log_append(wtxn->db->log, total, at, &room, error);
    wtxn->db->log->urgent = false;
    if (status != TANSU_OK) {
        wtxn->changed = wtxn->records != 0;
        /* In a folder that was removed no segment can be created. */
        tansu_status moved = folder_check(wtxn->db, error);
        return moved == TANSU_OK ? status : moved;
    }
    header.size = (uint32_t)total;
    record_header_put(room, &header, wtxn->sequence, previous);
    memcpy(room + front, bytes, size);
    memset(room + front + size, 0, total - front - size);
    wtxn->frame_size = *at + total;
    if (type == RECORD_PUT || type == RECORD_DELETE)
        wtxn->frame_documents += total;
    if (type == RECORD_COLLECTION_DROP) /* with the creation, about: what a compaction leaves out */
        wtxn->frame_documents += 2 * total;
    wtxn->records++;
    return TANSU_OK;
}

/* ---- The private snapshot ---- */

read_context write_txn_read_context(write_txn *wtxn) {
    return (read_context){.log = wtxn->db->log,
                          .pins = &wtxn->pins,
                          .trees = wtxn->db->trees,
                          .sequence = wtxn->replay ? UINT64_MAX : wtxn->base->sequence,
                          .pending = wtxn->replay ? NULL : &wtxn->pending,
                          .calls = wtxn->db->calls,
                          .folder = wtxn->db->folder,
                          .sort_memory = wtxn->db->sort_memory_bytes,
                          .group_memory = wtxn->db->group_memory_bytes};
}

catalog_writer write_txn_catalog(write_txn *wtxn, catalog_order order) {
    return (catalog_writer){.order = order, .epoch = wtxn->epoch, .retired = &wtxn->retired};
}

collection_state *write_txn_collection_by_id(write_txn *wtxn, uint32_t id) {
    return (collection_state *)snapshot_collection_by_id(wtxn->next, id);
}

tansu_status write_txn_collection(write_txn *wtxn, const char *name, uint32_t extra,
                                  collection_state **state, tansu_error *error) {
    const catalog_writer writer = write_txn_catalog(wtxn, order_of_states);
    void **place;
    *state = NULL;
    if (!catalog_own(&wtxn->next->states, &writer, name, &place))
        return error_memory(error);
    if (place == NULL)
        return TANSU_OK;
    collection_state *old = *place;
    if (old->epoch == wtxn->epoch && extra == 0) {
        *state = old;
        return TANSU_OK;
    }
    tansu_status status = indexes_current(old, error);
    if (status != TANSU_OK)
        return status;
    bool shared = old->epoch != wtxn->epoch;
    if (shared && !retire_reserve(&wtxn->retired, 1))
        return error_memory(error);
    collection_state *copy = collection_copy(old, extra, wtxn->epoch);
    if (copy == NULL)
        return error_memory(error);
    if (shared)
        retire_add_born(&wtxn->retired, retire_memory, NULL, old, old->epoch);
    else
        free(old);
    stored_catalog_mark(wtxn->db, copy->id, wtxn->epoch);
    *place = copy;
    *state = copy;
    return TANSU_OK;
}

void write_txn_discard_state(void *context, void *object) {
    write_txn *wtxn = context;
    collection_state *state = object;
    if (state->epoch != wtxn->epoch)
        return;
    tree_discard(&wtxn->writer, &state->ids);
    for (uint32_t k = 0; k < state->index_count; k++)
        tree_discard(&wtxn->writer, &state->indexes[k].entries);
    free(state);
}

/* ---- Steps ---- */

uint64_t write_txn_memory(const write_txn *wtxn) {
    return wtxn->writer.bytes + wtxn->batched_bytes + pending_memory(&wtxn->pending) +
           wtxn->step_capacity * sizeof *wtxn->steps +
           (wtxn->retired.capacity + wtxn->made.capacity) * sizeof(retire_item);
}

bool write_txn_step_reserve(write_txn *wtxn) {
    return !wtxn->keep_steps ||
           ARRAY_RESERVE(wtxn->steps, wtxn->step_count, wtxn->step_capacity, 1);
}

void write_txn_step_add(write_txn *wtxn, write_txn_step step) {
    if (wtxn->keep_steps)
        wtxn->steps[wtxn->step_count++] = step;
}

tansu_status write_txn_put_document(write_txn *wtxn, enum record_type type, uint32_t collection,
                                    writer *payload, size_t start, tansu_error *error) {
    uint64_t at;
    tansu_status status = writer_finish(payload, start)
                              ? write_txn_record(wtxn, type, 0, collection, 0, 0,
                                                 payload->out->data, payload->out->size, &at, error)
                              : error_memory(error);
    tansu_buffer_free(payload->out);
    return status;
}
