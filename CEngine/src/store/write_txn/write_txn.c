/*
 * store/write_txn/write_txn.c -- beginning, committing, aborting and rolling back to savepoints.
 */
#include "store/background/background.h"
#include "store/checkpoint/stored_catalog.h"
#include "store/collection.h"
#include "store/database_internal.h"
#include "store/declared_indexes.h"
#include "store/files.h"
#include "store/index_backlog/index_backlog.h"
#include "store/write_lock.h"
#include "store/write_txn/write_txn_internal.h"
#include "util/array.h"
#include "util/error.h"

#include <stddef.h>
#include <stdlib.h>

/* What a change may have gathered and still be kept for the next. */
#define STEPS_KEPT 1024u
#define SCRATCH_KEPT (64u * 1024u)

/* write_txn_take -- the struct of an earlier change with the memory that it gathered, or a new
 * one. */
static write_txn *write_txn_take(database *db) {
    write_txn *wtxn = db->writer.spare;
    db->writer.spare = NULL;
    return wtxn != NULL ? wtxn : calloc(1, sizeof *wtxn);
}

/* write_txn_discard -- frees the struct and its memory; fine on NULL. */
void write_txn_discard(write_txn *wtxn) {
    if (wtxn == NULL)
        return;
    pending_free(&wtxn->pending);
    free(wtxn->steps);
    free(wtxn->dropped);
    index_entries_free(&wtxn->old_entries);
    for (uint32_t i = 0; i < wtxn->set_count; i++) {
        index_entries_free(&wtxn->sets[i].new_entries);
    }
    free(wtxn->sets);
    tansu_buffer_free(&wtxn->key);
    tansu_buffer_free(&wtxn->scratch);
    tansu_buffer_free(&wtxn->stamped);
    tansu_buffer_free(&wtxn->noted);
    tansu_buffer_free(&wtxn->warnings);
    write_txn_batches_free(wtxn);
    free(wtxn);
}

/* write_txn_give_back -- keeps the struct for the next change, with its memory unless that is
 * large. */
static void write_txn_give_back(write_txn *wtxn) {
    database *db = wtxn->db;
    write_txn_batches_free(wtxn);
    pending_clear(&wtxn->pending);
    /* Trees that replay made are changed once more when their backlog is applied, and what that
     * replaces is freed at once (store/index_backlog/index_backlog.c). */
    if (wtxn->replay)
        wtxn->writer = (tree_writer){.store = NULL};
    memset(wtxn, 0, offsetof(write_txn, pending));
    tansu_buffer_free(&wtxn->warnings);
    wtxn->warning_count = 0;
    if (wtxn->step_capacity > STEPS_KEPT || wtxn->scratch.capacity > SCRATCH_KEPT ||
        wtxn->stamped.capacity > SCRATCH_KEPT)
        write_txn_discard(wtxn);
    else
        db->writer.spare = wtxn;
}

tansu_status write_txn_begin(database *db, write_txn **result, tansu_error *error) {
    write_txn *wtxn = write_txn_take(db);
    if (wtxn == NULL)
        return error_memory(error);
    wtxn->db = db;
    wtxn->base = db->snapshots.head; /* which only this transaction's own commit can release */
    wtxn->epoch = ++db->writer.next_epoch;
    wtxn->next = snapshot_take(db, wtxn->base, wtxn->epoch);
    if (wtxn->next == NULL) {
        write_txn_give_back(wtxn);
        return error_memory(error);
    }
    wtxn->retired = wtxn->next->retired;
    wtxn->next->retired = (retire_list){0};
    wtxn->sequence = wtxn->base->sequence + 1;
    wtxn->faults = log_faults(db->log);
    tree_writer_begin(&wtxn->writer, db->trees, wtxn->epoch, &wtxn->retired);
    wtxn->next_collection = db->writer.next_collection;
    wtxn->next_index = db->writer.next_index;
    *result = wtxn;
    return TANSU_OK;
}

/* write_txn_end -- keeps the struct for the next transaction, and releases the write lock. */
static void write_txn_end(write_txn *wtxn) {
    database *db = wtxn->db;
    bool replay = wtxn->replay;
    write_txn_give_back(wtxn);
    if (!replay)
        write_lock_release(db);
}

void write_txn_abort(write_txn *wtxn) {
    log_pins_release(&wtxn->pins);
    if (wtxn->drops_declared)
        declared_indexes_restore_suspended(&wtxn->db->declared);
    if (!wtxn->replay)
        log_abort(wtxn->db->log);
    for (size_t i = 0; i < wtxn->dropped_count; i++)
        tree_discard(&wtxn->writer, &wtxn->dropped[i]);
    snapshot_discard(wtxn->next, wtxn->epoch, write_txn_discard_state, wtxn);
    retire_forget(&wtxn->retired);
    retire_run(&wtxn->made);
    write_txn_end(wtxn);
}

/* How many slots of the table ahead the records are asked for: the table is not in the order of the
 * frame, and a loop that waits for each record's header takes several times as long. */
#define PREFETCH_AHEAD 8u

/* A sum for one segment of one collection. Documents of a transaction are mostly of one collection
 * and their new records of one segment: with a sum the segment is not searched for each. */
typedef struct live_sum {
    segment_usage *live;
    uint32_t segment;
    int64_t bytes;
    int64_t before; /* of the segments before */
} live_sum;

static void live_sum_end(const live_sum *sum) {
    if (sum->live != NULL)
        segment_usage_add(sum->live, sum->segment, sum->bytes);
}

static void live_sum_add(live_sum *sum, segment_usage *live, uint32_t segment, int64_t bytes) {
    if (sum->live != live || sum->segment != segment) {
        live_sum_end(sum);
        *sum = (live_sum){.live = live, .segment = segment, .before = sum->before + sum->bytes};
    }
    sum->bytes += bytes;
}

/* relocate -- makes one document's new location known. `sums`: of what it leaves, and of what it
 * takes. */
static void relocate(const log *l, log_pins *pins, collection_state *state, uint64_t rid,
                     log_location to, live_sum sums[2]) {
    segment_usage *live = locations_live(state->locations);
    const aligned_u64 *word = locations_word(state->locations, rid); /* it was prepared */
    log_location from = word == NULL ? 0 : locations_load(word);
    uint64_t room;
    if (from != 0 && (from & LOCATION_DELETED) == 0)
        live_sum_add(&sums[0], live, (uint32_t)(from >> 32),
                     -(int64_t)log_record(l, pins, from, &room)->size);
    if ((to & LOCATION_DELETED) == 0)
        live_sum_add(&sums[1], live, (uint32_t)(to >> 32), log_record(l, pins, to, &room)->size);
    locations_set(state->locations, rid, to);
}

/* prefetch_moved -- asks for what relocate() will read of the slots ahead that are in a collection:
 * first for the word of the location, then for the records that it and the slot lead to. */
static inline void prefetch_moved(const log *l, const collection_state *state, log_location frame,
                                  const pending_slot *slot, uint64_t slots_left) {
    const pending_slot *ahead = slot + PREFETCH_AHEAD, *far = ahead + PREFETCH_AHEAD;
    if (slots_left > 2 * PREFETCH_AHEAD && where_collection(far->where) == state->id)
        __builtin_prefetch(locations_word(state->locations, where_rid(far->where)));
    if (slots_left <= PREFETCH_AHEAD || ahead->at == 0)
        return;
    if ((ahead->at & LOCATION_DELETED) == 0)
        log_prefetch(l, frame + ahead->at, 1, UINT64_MAX);
    const aligned_u64 *word = where_collection(ahead->where) == state->id
                                  ? locations_word(state->locations, where_rid(ahead->where))
                                  : NULL;
    log_location from = word == NULL ? 0 : locations_load(word);
    if (from != 0)
        log_prefetch(l, from, 1, UINT64_MAX);
}

/* relocate_run -- the same for the inserted documents, which follow each other. */
static void relocate_run(write_txn *wtxn, log_location frame, live_sum sums[2]) {
    const pending *p = &wtxn->pending;
    collection_state *state =
        p->run_count == 0 ? NULL : write_txn_collection_by_id(wtxn, where_collection(p->run_first));
    uint64_t rid = where_rid(p->run_first);
    for (size_t i = 0; state != NULL && i < p->run_count; i++)
        if (p->run[i] != 0)
            relocate(wtxn->db->log, &wtxn->pins, state, rid + i, frame + p->run[i], sums);
}

/* relocate_moved -- makes the changed documents' new locations known. Returns by how many bytes
 * there are more of live documents. */
static int64_t relocate_moved(write_txn *wtxn, log_location frame) {
    const log *l = wtxn->db->log;
    collection_state *state = NULL;
    live_sum sums[2] = {{0}};
    if (wtxn->frame_documents != 0)
        segment_usage_add(wtxn->db->written, (uint32_t)(frame >> 32),
                          (int64_t)wtxn->frame_documents);
    relocate_run(wtxn, frame, sums);
    uint64_t slots = wtxn->pending.mask + 1, left = wtxn->pending.count;
    for (uint64_t i = 0; left != 0; i++) {
        const pending_slot *slot = &wtxn->pending.slots[i];
        if (state != NULL)
            prefetch_moved(l, state, frame, slot, slots - i);
        if (slot->where == 0)
            continue;
        left--;
        if (slot->at == 0) /* rolled back */
            continue;
        uint32_t collection = where_collection(slot->where);
        if (state == NULL || state->id != collection)
            state = write_txn_collection_by_id(wtxn, collection);
        if (state == NULL) /* dropped by the same transaction */
            continue;
        relocate(l, &wtxn->pins, state, where_rid(slot->where), frame + slot->at, sums);
    }
    live_sum_end(&sums[0]);
    live_sum_end(&sums[1]);
    return sums[0].before + sums[0].bytes + sums[1].before + sums[1].bytes;
}

/* finish_trees -- before the transaction can be published: makes what waits in its indexes, and has
 * the trees of dropped ones be freed with the snapshots that have them. */
static tansu_status finish_trees(write_txn *wtxn, tansu_error *error) {
    tansu_status status = write_txn_usable(wtxn, error);
    if (status == TANSU_OK)
        status = write_txn_flush(wtxn, error);
    for (size_t i = 0; status == TANSU_OK && i < wtxn->dropped_count; i++)
        status = tree_retire_all(wtxn->db->trees, &wtxn->dropped[i], &wtxn->retired, error);
    return status;
}

/* publish -- makes the private snapshot the newest one, which readers get at once if it is visible,
 * and ends the transaction. */
static void publish(write_txn *wtxn, uint64_t number, bool visible) {
    database *db = wtxn->db;
    wtxn->next->sequence = number;
    __atomic_store_n(&db->writer.next_collection, wtxn->next_collection, __ATOMIC_RELAXED);
    __atomic_store_n(&db->writer.next_index, wtxn->next_index, __ATOMIC_RELAXED);
    retire_forget(&wtxn->made);
    tree_published(&wtxn->retired);
    log_pins_release(&wtxn->pins); /* publishing may free segments */
    snapshot_publish(db, wtxn->next, &wtxn->retired, visible);
    write_txn_end(wtxn);
}

tansu_status write_txn_publish_replayed(write_txn *wtxn, tansu_error *error) {
    tansu_status status = finish_trees(wtxn, error);
    if (status == TANSU_OK && wtxn->changed)
        publish(wtxn, wtxn->next->sequence, true);
    else
        write_txn_abort(wtxn);
    return status;
}

tansu_status write_txn_commit(write_txn *wtxn, tansu_durability durability, uint64_t *sequence,
                              tansu_error *error) {
    database *db = wtxn->db;
    if (sequence != NULL)
        *sequence = 0;
    tansu_status status = finish_trees(wtxn, error);
    /* The index entries of documents that could not be read are not known. */
    if (!wtxn->ignores_read_faults)
        status = log_check(db->log, wtxn->faults, status, error);
    if (status == TANSU_OK && !wtxn->changed && wtxn->drops_declared)
        declared_indexes_forget_suspended(&db->declared);
    if (status != TANSU_OK || !wtxn->changed) {
        write_txn_abort(wtxn);
        return status;
    }
    const uint64_t number = wtxn->sequence, bytes = wtxn->frame_size, records = wtxn->records;
    log_location frame = 0;
    bool wait = durability == TANSU_DURABILITY_FULL && db->options.store != TANSU_STORE_MEMORY;
    status = wait ? folder_check(db, error) : folder_check_often(db, error);
    if (status == TANSU_OK)
        status = log_commit(db->log, number, &frame, error);
    if (status != TANSU_OK) {
        write_txn_abort(wtxn);
        return status;
    }
    int64_t removed = (int64_t)wtxn->dropped_bytes - relocate_moved(wtxn, frame);
    wtxn->next->position = log_position(db->log);
    log_retire(db->log, &wtxn->retired);
    /* A segment, by the one that the frame is in. */
    bool expiring = wtxn->next->expiring > wtxn->base->expiring;
    bool sealed = wtxn->next->position >> 32 != wtxn->base->position >> 32;
    if (wtxn->drops_declared)
        declared_indexes_forget_suspended(&db->declared);
    publish(wtxn, number, !wait);
    worker_note_commit(db, bytes, records, durability == TANSU_DURABILITY_INTERVAL);
    if (removed > 0 || sealed)
        compactor_note_commit(db, removed > 0 ? (uint64_t)removed : 0, sealed);
    if (expiring)
        expirer_request(db);
    if (sequence != NULL)
        *sequence = number;
    if (!wait)
        return TANSU_OK;
    status = log_sync(db->log, number, error);
    if (status == TANSU_OK)
        snapshot_make_visible(db, number);
    return status;
}

tansu_status write_txn_usable(const write_txn *wtxn, tansu_error *error) {
    if (!wtxn->broken)
        return TANSU_OK;
    return error_set(error, TANSU_E_INVALID_STATE, NULL,
                     "An earlier call of this transaction failed; roll it back and begin again");
}

/* ---- Savepoints ---- */

write_txn_mark write_txn_save_mark(const write_txn *wtxn) {
    return (write_txn_mark){.steps = wtxn->step_count,
                            .frame_size = wtxn->frame_size,
                            .frame_documents = wtxn->frame_documents,
                            .records = wtxn->records,
                            .changed = wtxn->changed};
}

/* step_back -- takes one step back in the private snapshot. */
static tansu_status step_back(write_txn *wtxn, const write_txn_step *step) {
    collection_state *state = write_txn_collection_by_id(wtxn, step->collection);
    if (state == NULL)
        return TANSU_E_INVALID_ARGUMENT;
    read_context v = write_txn_read_context(wtxn);
    uint32_t size = 0, old_size = 0;
    const uint8_t *doc = step->new_ref == 0 ? NULL : read_document(&v, step->new_ref, &size);
    const uint8_t *old = step->old_ref == 0 ? NULL : read_document(&v, step->old_ref, &old_size);
    tansu_status status;
    switch (step->kind) {
    case STEP_PUT:
        if (old != NULL) {
            status = write_txn_apply_put(wtxn, state, old, old_size, step->rid, doc, size, NULL);
        } else {
            status = write_txn_apply_delete(wtxn, state, step->rid, doc, size, NULL);
            state->count--;
        }
        break;
    case STEP_DELETE:
        status = write_txn_apply_put(wtxn, state, old, old_size, step->rid, NULL, 0, NULL);
        state->count++;
        break;
    default: return write_txn_remove_collection(wtxn, state->name, NULL);
    }
    pending_set(&wtxn->pending, record_where(step->collection, step->rid), step->before);
    return status;
}

void write_txn_forget_steps(write_txn *wtxn, write_txn_mark mark) {
    wtxn->step_count = mark.steps;
}

void write_txn_roll_back(write_txn *wtxn, write_txn_mark mark) {
    bool back = wtxn->step_count > mark.steps;
    while (!wtxn->broken && wtxn->step_count > mark.steps) {
        if (step_back(wtxn, &wtxn->steps[wtxn->step_count - 1]) != TANSU_OK)
            wtxn->broken = true;
        wtxn->step_count--;
    }
    /* What is taken back may wait, and its documents count as not changed from here on. */
    if (wtxn->broken || (back && write_txn_flush(wtxn, NULL) != TANSU_OK))
        return;
    log_shrink(wtxn->db->log, mark.frame_size, mark.records);
    wtxn->frame_size = mark.frame_size;
    wtxn->frame_documents = mark.frame_documents;
    wtxn->records = mark.records;
    wtxn->changed = mark.changed;
}

/* ---- Write txn record ---- */

/*
 * What every change in a transaction needs: its record in the
 * frame, the private state of a collection, and a step to be rolled back.
 */

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
    uint8_t *room = NULL;
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
    bool document = type == RECORD_PUT || type == RECORD_DELETE;
    wtxn->frame_documents += document ? total : write_txn_dead(type, total);
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
                          .calls = wtxn->db->files.calls,
                          .folder = wtxn->db->files.folder,
                          .keys = wtxn->db->keys,
                          .sort_memory = wtxn->db->options.sort_memory_bytes,
                          .group_memory = wtxn->db->options.group_memory_bytes};
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

/* ---- Index entries that wait to be inserted or removed together ---- */

/*
 * A large transaction changes entries of an index in the order of its documents, each in another
 * leaf: at every one the processor waits for a leaf that is in no cache, and recovery reads it from
 * the block store. So what documents add and remove waits here, up to BATCH_BYTES, and is done
 * in the order of the index: neighbours are in the same leaf. Nobody sees that. It is done before
 * anything reads the index or changes the list of indexes, before a document is changed a second
 * time, and before the commit (write_txn_flush()); unique indexes and that of `_id`, which each
 * save reads, do not wait.
 */

/* Entries wait in transactions that have that many records already: smaller ones gain nothing. The
 * tests pass with 1 as well, where those of every transaction wait. */
#ifndef BATCH_FROM
#define BATCH_FROM 256u
#endif
/* They take at most so much memory, in all indexes of the collection together. */
#define BATCH_BYTES ((size_t)4 * 1024 * 1024)

/* batches_for -- room for the entries of a collection's indexes, of which no other collection's
 * wait. */
static tansu_status batches_for(write_txn *wtxn, const collection_state *state,
                                tansu_error *error) {
    tansu_status status = TANSU_OK;
    if (wtxn->batched != state->id)
        status = write_txn_flush(wtxn, error);
    if (status != TANSU_OK || wtxn->batch_count >= state->index_count)
        return status;
    index_batch *batches = realloc(wtxn->batches, state->index_count * sizeof *batches);
    if (batches == NULL)
        return error_memory(error);
    memset(batches + wtxn->batch_count, 0,
           (state->index_count - wtxn->batch_count) * sizeof *batches);
    wtxn->batches = batches;
    wtxn->batch_count = state->index_count;
    return TANSU_OK;
}

bool write_txn_batches(const write_txn *wtxn, const index_definition *definition, bool existing) {
    if (definition->text)
        return true; /* its entries are merged together */
    if (wtxn->replay)
        return !definition->unique && !existing; /* the next commit may change the same document */
    return !definition->unique && wtxn->records >= BATCH_FROM;
}

tansu_status write_txn_batch(write_txn *wtxn, collection_state *state, uint32_t i,
                             const uint8_t *entry, uint32_t size, bool removes,
                             tansu_error *error) {
    tansu_status status = batches_for(wtxn, state, error);
    if (status != TANSU_OK)
        return status;
    wtxn->batched = state->id;
    size_t before = index_batch_memory(&wtxn->batches[i]);
    if (!index_batch_add(&wtxn->batches[i], entry, size, removes))
        return error_memory(error);
    wtxn->batched_bytes += index_batch_memory(&wtxn->batches[i]) - before;
    return wtxn->batched_bytes < BATCH_BYTES ? TANSU_OK : write_txn_flush(wtxn, error);
}

tansu_status write_txn_flush(write_txn *wtxn, tansu_error *error) {
    if (wtxn->batched == 0)
        return TANSU_OK;
    collection_state *state = write_txn_collection_by_id(wtxn, wtxn->batched);
    tansu_status status = TANSU_OK;
    wtxn->batched = 0;
    wtxn->batched_bytes = 0;
    for (uint32_t i = 0; i < wtxn->batch_count; i++) {
        index_batch *batch = &wtxn->batches[i];
        if (status == TANSU_OK && batch->count != 0 && state != NULL && i < state->index_count)
            status = index_batch_apply(batch, state->indexes[i].definition, &wtxn->writer,
                                       &state->indexes[i].entries, error);
        batch->count = batch->bytes.size = 0;
    }
    wtxn->broken = wtxn->broken || status != TANSU_OK;
    return status;
}

void write_txn_batches_free(write_txn *wtxn) {
    for (uint32_t i = 0; i < wtxn->batch_count; i++)
        index_batch_free(&wtxn->batches[i]);
    free(wtxn->batches);
    wtxn->batches = NULL;
    wtxn->batch_count = 0;
    wtxn->batched = 0;
    wtxn->batched_bytes = 0;
}
