/*
 * catalog/change.c -- beginning, committing, aborting and taking back.
 */
#include "catalog/change.h"

#include "base/error.h"
#include "catalog/collection.h"

#include <stdlib.h>

/* What a change may have gathered and still be kept for the next. */
#define STEPS_KEPT 1024u
#define SCRATCH_KEPT (64u * 1024u)

/* change_take -- the struct of an earlier change with the memory that it gathered, or a new one. */
static change *change_take(database *db) {
    change *c = db->spare;
    db->spare = NULL;
    return c != NULL ? c : calloc(1, sizeof *c);
}

/* change_discard -- frees the struct and its memory; fine on NULL. */
void change_discard(change *c) {
    if (c == NULL)
        return;
    pending_free(&c->pending);
    free(c->steps);
    free(c->dropped);
    index_entries_free(&c->old_entries);
    for (uint32_t i = 0; i < c->entry_sets; i++)
        index_entries_free(&c->new_entries[i]);
    free(c->new_entries);
    tansu_buffer_free(&c->key);
    tansu_buffer_free(&c->scratch);
    free(c);
}

/* change_give_back -- keeps the struct for the next change, with its memory unless that is large. */
static void change_give_back(change *c) {
    database *db = c->db;
    change kept = {.pending = c->pending,
                   .steps = c->steps,
                   .step_room = c->step_room,
                   .dropped = c->dropped,
                   .dropped_room = c->dropped_room,
                   .old_entries = c->old_entries,
                   .new_entries = c->new_entries,
                   .entry_sets = c->entry_sets,
                   .key = c->key,
                   .scratch = c->scratch};
    pending_clear(&kept.pending);
    *c = kept;
    if (kept.step_room > STEPS_KEPT || kept.scratch.capacity > SCRATCH_KEPT)
        change_discard(c);
    else
        db->spare = c;
}

tansu_status change_begin(database *db, change **result, tansu_error *error) {
    change *c = change_take(db);
    if (c == NULL)
        return error_memory(error);
    c->db = db;
    c->base = db->head; /* which nothing but this change's own commit can let go */
    c->next = version_new(c->base->count);
    if (c->next == NULL) {
        change_give_back(c);
        return error_memory(error);
    }
    c->next->count = c->base->count;
    memcpy(c->next->collections, c->base->collections,
           c->base->count * sizeof *c->base->collections);
    c->sequence = c->base->sequence + 1;
    c->next->epoch = c->epoch = ++db->next_epoch;
    c->faults = log_faults(db->log);
    c->writer = (tree_writer){.store = db->trees, .epoch = c->epoch, .retired = &c->retired};
    c->next_collection = db->next_collection;
    c->next_index = db->next_index;
    *result = c;
    return TANSU_OK;
}

/* change_end -- keeps the struct, and gives the turn on. */
static void change_end(change *c) {
    database *db = c->db;
    bool replay = c->replay;
    change_give_back(c);
    if (!replay)
        database_end_writing(db);
}

void change_abort(change *c) {
    if (!c->replay)
        log_abort(c->db->log);
    for (uint32_t i = 0; i < c->next->count; i++) {
        collection_state *state = c->next->collections[i];
        if (state->epoch != c->epoch)
            continue;
        tree_discard(&c->writer, &state->ids);
        for (uint32_t k = 0; k < state->index_count; k++)
            tree_discard(&c->writer, &state->indexes[k].entries);
        free(state);
    }
    for (size_t i = 0; i < c->dropped_count; i++)
        tree_discard(&c->writer, &c->dropped[i]);
    version_free(c->next);
    retire_forget(&c->retired);
    retire_run(&c->made);
    change_end(c);
}

/* count_written -- adds the frame's documents and deletions to what its segment holds. */
static void count_written(change *c, log_place frame) {
    const uint8_t *bytes = (const uint8_t *)log_record(c->db->log, frame);
    uint64_t size = 0;
    for (uint64_t at = FRAME_HEADER_SIZE; at < c->frame_size;) {
        const record_header *record = (const record_header *)(bytes + at);
        if (record->type == RECORD_PUT || record->type == RECORD_DELETE)
            size += record->size;
        at += record_step(record);
    }
    if (size != 0)
        usage_add(c->db->written, (uint32_t)(frame >> 32), (int64_t)size);
}

void change_count_live(database *db, collection_state *state, log_place from, log_place to) {
    usage *live = places_live(state->places);
    if (from != 0 && (from & PLACE_DELETED) == 0)
        usage_add(live, (uint32_t)(from >> 32), -(int64_t)log_record(db->log, from)->size);
    if ((to & PLACE_DELETED) == 0)
        usage_add(live, (uint32_t)(to >> 32), log_record(db->log, to)->size);
}

/* store_places -- makes the changed documents' new places known. */
static void store_places(change *c, log_place frame) {
    collection_state *state = NULL;
    count_written(c, frame);
    for (uint64_t i = 0; c->pending.count != 0 && i <= c->pending.mask; i++) {
        const pending_slot *slot = &c->pending.slots[i];
        if (slot->where == 0 || slot->at == 0)
            continue;
        uint32_t collection = (uint32_t)(slot->where >> 40);
        if (state == NULL || state->id != collection)
            state = change_collection_by_id(c, collection);
        if (state == NULL) /* dropped by the same transaction */
            continue;
        uint64_t docno = slot->where & (((uint64_t)1 << 40) - 1);
        const uint64_t *word = places_word(state->places, docno); /* it was prepared */
        change_count_live(c->db, state, word == NULL ? 0 : places_load(word), frame + slot->at);
        places_set(state->places, docno, frame + slot->at);
    }
}

tansu_status change_commit(change *c, tansu_durability durability, uint64_t *sequence,
                           tansu_error *error) {
    database *db = c->db;
    if (sequence != NULL)
        *sequence = 0;
    tansu_status status = change_usable(c, error);
    for (size_t i = 0; status == TANSU_OK && i < c->dropped_count; i++)
        status = tree_retire_all(db->trees, &c->dropped[i], &c->retired, error);
    /* The index entries of documents that could not be read are not known. */
    if (!c->replay && !c->unread)
        status = log_check(db->log, c->faults, status, error);
    if (status != TANSU_OK || !c->changed) {
        change_abort(c);
        return status;
    }
    uint64_t number = c->replay ? c->next->sequence : c->sequence;
    uint64_t bytes = c->frame_size;
    log_place frame = 0;
    if (!c->replay)
        status = log_commit(db->log, number, &frame, error);
    if (status != TANSU_OK) {
        change_abort(c);
        return status;
    }
    if (!c->replay)
        store_places(c, frame);
    version *v = c->next;
    v->sequence = number;
    if (!c->replay)
        v->position = log_position(db->log);
    __atomic_store_n(&db->next_collection, c->next_collection, __ATOMIC_RELAXED);
    __atomic_store_n(&db->next_index, c->next_index, __ATOMIC_RELAXED);
    bool wait = durability == TANSU_DURABILITY_FULL && db->store != TANSU_STORE_MEMORY;
    retire_forget(&c->made);
    bool replay = c->replay;
    tree_published(&c->retired);
    database_publish(db, v, &c->retired, !wait);
    change_end(c);
    if (replay)
        return TANSU_OK;
    worker_note_commit(db, bytes, durability == TANSU_DURABILITY_INTERVAL);
    if (sequence != NULL)
        *sequence = number;
    if (!wait)
        return TANSU_OK;
    status = log_sync(db->log, number, error);
    if (status == TANSU_OK)
        database_show(db, number);
    return status;
}

view change_view(const change *c) {
    return (view){.log = c->db->log,
                  .trees = c->db->trees,
                  .sequence = c->replay ? UINT64_MAX : c->base->sequence,
                  .pending = c->replay ? NULL : &c->pending,
                  .calls = c->db->calls,
                  .folder = c->db->folder};
}

tansu_status change_usable(const change *c, tansu_error *error) {
    if (!c->broken)
        return TANSU_OK;
    return error_set(
        error, TANSU_E_MISUSE, NULL,
        "an earlier call of this transaction failed half-way: abort it and begin again");
}

/* ---- Records ---- */

/* gives_back -- whether a record is of a change that makes room, sooner or later. */
static bool gives_back(enum record_type type) {
    return type == RECORD_DELETE || type == RECORD_COLLECTION_DROP || type == RECORD_INDEX_DROP ||
           type == RECORD_COMPACTION;
}

tansu_status change_record(change *c, enum record_type type, uint8_t flags, uint32_t collection,
                           uint64_t docno, uint64_t previous, const void *bytes, size_t size,
                           uint64_t *at, tansu_error *error) {
    c->changed = true;
    *at = 0;
    if (c->replay)
        return TANSU_OK;
    uint64_t total = RECORD_HEADER_SIZE + align8(size);
    uint8_t *room;
    c->db->log->urgent = gives_back(type);
    tansu_status status = log_append(c->db->log, total, at, &room, error);
    c->db->log->urgent = false;
    if (status != TANSU_OK) {
        c->changed = c->records != 0;
        return status;
    }
    record_header header = {.size = (uint32_t)total,
                            .type = (uint8_t)type,
                            .flags = flags,
                            .where = record_where(collection, docno),
                            .sequence = c->sequence,
                            .previous = previous};
    memcpy(room, &header, sizeof header);
    memcpy(room + RECORD_HEADER_SIZE, bytes, size);
    memset(room + RECORD_HEADER_SIZE + size, 0, total - RECORD_HEADER_SIZE - size);
    c->frame_size = *at + total;
    c->records++;
    return TANSU_OK;
}

/* ---- The private version ---- */

collection_state *change_collection_by_id(change *c, uint32_t id) {
    for (uint32_t i = 0; i < c->next->count; i++)
        if (c->next->collections[i]->id == id)
            return c->next->collections[i];
    return NULL;
}

tansu_status change_collection(change *c, const char *name, uint32_t extra,
                               collection_state **state, tansu_error *error) {
    bool found;
    uint32_t slot = version_slot(c->next, name, &found);
    *state = NULL;
    if (!found)
        return TANSU_OK;
    collection_state *old = c->next->collections[slot];
    if (old->epoch == c->epoch && extra == 0) {
        *state = old;
        return TANSU_OK;
    }
    bool shared = old->epoch != c->epoch;
    if (shared && !retire_reserve(&c->retired, 1))
        return error_memory(error);
    collection_state *copy = collection_copy(old, extra, c->epoch);
    if (copy == NULL)
        return error_memory(error);
    if (shared)
        retire_add_born(&c->retired, retire_memory, NULL, old, old->epoch);
    else
        free(old);
    c->next->collections[slot] = copy;
    *state = copy;
    return TANSU_OK;
}

/* ---- Savepoints ---- */

bool change_step_reserve(change *c) {
    if (!c->keep_steps || c->step_count < c->step_room)
        return true;
    size_t room = c->step_room == 0 ? 16 : c->step_room * 2;
    change_step *steps = realloc(c->steps, room * sizeof *steps);
    if (steps == NULL)
        return false;
    c->steps = steps;
    c->step_room = room;
    return true;
}

void change_step_add(change *c, change_step step) {
    if (c->keep_steps)
        c->steps[c->step_count++] = step;
}

change_mark change_save_mark(const change *c) {
    return (change_mark){.steps = c->step_count,
                         .frame_size = c->frame_size,
                         .records = c->records,
                         .changed = c->changed};
}

/* step_back -- takes one step back in the private version. */
static tansu_status step_back(change *c, const change_step *step) {
    collection_state *state = change_collection_by_id(c, step->collection);
    if (state == NULL)
        return TANSU_E_MISUSE;
    view v = change_view(c);
    uint32_t size = 0, old_size = 0;
    const uint8_t *doc = step->new_ref == 0 ? NULL : view_document(&v, step->new_ref, &size);
    const uint8_t *old = step->old_ref == 0 ? NULL : view_document(&v, step->old_ref, &old_size);
    tansu_status status;
    switch (step->kind) {
    case STEP_PUT:
        if (old != NULL) {
            status = change_apply_put(c, state, old, old_size, step->docno, doc, size, NULL);
        } else {
            status = change_apply_delete(c, state, step->docno, doc, size, NULL);
            state->count--;
        }
        break;
    case STEP_DELETE:
        status = change_apply_put(c, state, old, old_size, step->docno, NULL, 0, NULL);
        state->count++;
        break;
    default: {
        char name[TANSU_MAX_NAME + 1];
        memcpy(name, state->name, sizeof name);
        return change_remove_collection(c, name, NULL);
    }
    }
    pending_set(&c->pending, record_where(step->collection, step->docno), step->before);
    return status;
}

void change_forget_steps(change *c, change_mark mark) {
    c->step_count = mark.steps;
}

void change_roll_back(change *c, change_mark mark) {
    while (!c->broken && c->step_count > mark.steps) {
        if (step_back(c, &c->steps[c->step_count - 1]) != TANSU_OK)
            c->broken = true;
        c->step_count--;
    }
    if (c->broken)
        return;
    log_shrink(c->db->log, mark.frame_size, mark.records);
    c->frame_size = mark.frame_size;
    c->records = mark.records;
    c->changed = mark.changed;
}
