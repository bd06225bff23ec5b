/*
 * store/write_txn/write_txn_document.c -- saving and removing documents in a transaction.
 */
#include "bson/json/json.h"
#include "bson/validate/shape.h"
#include "bson/value.h"
#include "bson/writer.h"
#include "index/type_tag.h"
#include "store/collection.h"
#include "store/database_internal.h"
#include "store/index_backlog/index_backlog.h"
#include "store/timestamps/timestamp_fields.h"
#include "store/tracking/change_tracking.h"
#include "store/validators/validator.h"
#include "store/write_txn/write_txn_internal.h"
#include "util/buffer.h"
#include "util/clock.h"
#include "util/error.h"

#include <stdlib.h>

tansu_status write_txn_find_id(tree_store *trees, const collection_state *collection,
                               const doc_value *id, tansu_buffer *key, bool *found, uint64_t *rid,
                               tansu_error *error) {
    key->size = 0;
    if (!value_key(key, id, false))
        return error_memory(error);
    tansu_status status = index_current(collection, 0, error);
    if (status != TANSU_OK)
        return status;
    return tree_find_prefix(trees, &collection->ids, key->data, key->size, found, rid, error);
}

/* entry_compare -- orders two entries by memcmp, the shorter first. */
static int entry_compare(const index_entries *a, uint32_t i, const index_entries *b, uint32_t k) {
    const struct index_entry *x = &a->list[i], *y = &b->list[k];
    uint32_t size = x->size < y->size ? x->size : y->size;
    int order = memcmp(a->bytes.data + x->offset, b->bytes.data + y->offset, size);
    return order != 0 ? order : x->size < y->size ? -1 : x->size > y->size;
}

/* check_unique -- whether the new entries of a unique index are free, or the document's own. */
static tansu_status check_unique(write_txn *wtxn, const collection_state *state, uint32_t i,
                                 const uint8_t *doc, size_t size, uint64_t rid,
                                 tansu_error *error) {
    const index_entries *entries = &wtxn->sets[i].new_entries;
    for (uint32_t k = 0; k < entries->count; k++) {
        bool found;
        uint64_t holder;
        tansu_status status =
            tree_find_prefix(wtxn->db->trees, &state->indexes[i].entries,
                             entries->bytes.data + entries->list[k].offset,
                             entries->list[k].size - RID_SUFFIX_SIZE, &found, &holder, error);
        if (status != TANSU_OK)
            return status;
        if (found && holder != rid)
            return unique_conflict_error(state->name, state->indexes[i].definition, doc, size,
                                         entries->bytes.data + entries->list[k].offset,
                                         entries->list[k].size, error);
    }
    return TANSU_OK;
}

/* reserve_sets -- a set for each index of a collection. */
static tansu_status reserve_sets(write_txn *wtxn, const collection_state *state,
                                 tansu_error *error) {
    if (wtxn->set_count >= state->index_count)
        return TANSU_OK;
    entry_set *sets = realloc(wtxn->sets, state->index_count * sizeof *sets);
    if (sets == NULL)
        return error_memory(error);
    memset(sets + wtxn->set_count, 0, (state->index_count - wtxn->set_count) * sizeof *sets);
    wtxn->sets = sets;
    wtxn->set_count = state->index_count;
    return TANSU_OK;
}

/* make_new_entries -- the document's entries in every index, checked. */
static tansu_status make_new_entries(write_txn *wtxn, const collection_state *state,
                                     const uint8_t *doc, size_t size, uint64_t rid,
                                     tansu_error *error) {
    tansu_status status = reserve_sets(wtxn, state, error);
    for (uint32_t i = 0; status == TANSU_OK && i < state->index_count; i++) {
        const index_definition *definition = state->indexes[i].definition;
        entry_set *set = &wtxn->sets[i];
        status = index_entries_make(&set->new_entries, definition, doc, size, rid, error);
        if (status == TANSU_OK && definition->unique && !wtxn->replay)
            status = check_unique(wtxn, state, i, doc, size, rid, error);
    }
    return status;
}

/* change_entry -- adds an entry to an index or removes it, now or when what waits is changed. */
static tansu_status change_entry(write_txn *wtxn, collection_state *state, uint32_t i,
                                 const index_entries *entries, uint32_t at, bool removes,
                                 bool waits, tansu_error *error) {
    const uint8_t *entry = entries->bytes.data + entries->list[at].offset;
    uint32_t size = entries->list[at].size;
    tree *t = &state->indexes[i].entries;
    if (waits)
        return write_txn_batch(wtxn, state, i, entry, size, removes, error);
    return removes ? tree_remove(&wtxn->writer, t, entry, size, NULL, error)
                   : tree_insert(&wtxn->writer, t, entry, size, NULL, error);
}

/* apply_index -- replaces a document's old entries by its new ones in one index. */
static tansu_status apply_index(write_txn *wtxn, collection_state *state, uint32_t number,
                                const index_entries *now, bool waits, tansu_error *error) {
    const index_entries *was = &wtxn->old_entries;
    uint32_t i = 0, k = 0;
    while (i < was->count || k < now->count) {
        int order = i == was->count ? 1 : k == now->count ? -1 : entry_compare(was, i, now, k);
        tansu_status status = TANSU_OK;
        if (order < 0)
            status = change_entry(wtxn, state, number, was, i, true, waits, error);
        else if (order > 0)
            status = change_entry(wtxn, state, number, now, k, false, waits, error);
        if (status != TANSU_OK)
            return status;
        i += order <= 0;
        k += order >= 0;
    }
    collection_index *index = &state->indexes[number];
    index->multikey = index->multikey || now->multikey;
    return TANSU_OK;
}

/* flush_own -- before a document that exists is changed: what waits of its own entries is made
 * first, for a batch has no order of its own. Entries of other documents are others. */
static tansu_status flush_own(write_txn *wtxn, const collection_state *state, uint64_t rid,
                              tansu_error *error) {
    bool changed = wtxn->replay || pending_find(&wtxn->pending, record_where(state->id, rid)) != 0;
    return changed ? write_txn_flush(wtxn, error) : TANSU_OK;
}

/* make_old_entries -- the entries in index i that the document had before the transaction changes
 * it; the index has a set. In lenient replay a document may precede an index that was created later
 * and would have rejected it: it has no entries there. */
static tansu_status make_old_entries(write_txn *wtxn, const collection_state *state, uint32_t i,
                                     const uint8_t *old, uint32_t old_size, uint64_t rid,
                                     tansu_error *error) {
    const index_definition *definition = state->indexes[i].definition;
    tansu_status status =
        index_entries_make(&wtxn->old_entries, definition, old, old_size, rid, error);
    if (status == TANSU_E_TOO_LARGE && wtxn->lenient) {
        wtxn->old_entries.count = 0;
        return TANSU_OK;
    }
    return status;
}

/* make_id_key -- makes wtxn->key the key of an `_id`. */
static tansu_status make_id_key(write_txn *wtxn, const doc_value *id, tansu_error *error) {
    wtxn->key.size = 0;
    return value_key(&wtxn->key, id, false) ? TANSU_OK : error_memory(error);
}

tansu_status write_txn_look_up_id(write_txn *wtxn, const collection_state *collection,
                                  const doc_value *id, bool *found, uint64_t *rid,
                                  tansu_error *error) {
    *found = false;
    tansu_status status = make_id_key(wtxn, id, error);
    if (status == TANSU_OK)
        status = index_current(collection, 0, error);
    return status == TANSU_OK ? tree_look_up(&wtxn->writer, &collection->ids, wtxn->key.data,
                                             wtxn->key.size, found, rid, error)
                              : status;
}

/* change_id_entry -- adds or removes the entry of a document in the `_id` index. wtxn->key is the
 * key of its `_id`. */
static tansu_status change_id_entry(write_txn *wtxn, collection_state *state, const doc_value *id,
                                    uint64_t rid, bool add, tansu_error *error) {
    uint8_t suffix[RID_SUFFIX_SIZE];
    suffix_put(suffix, rid, type_tag_make(id, 1));
    if (!buffer_append(&wtxn->key, suffix, sizeof suffix))
        return error_memory(error);
    return add ? tree_insert(&wtxn->writer, &state->ids, wtxn->key.data, wtxn->key.size, NULL,
                             error)
               : tree_remove(&wtxn->writer, &state->ids, wtxn->key.data, wtxn->key.size, NULL,
                             error);
}

/* write_txn_id_entry -- the same; the key is made. */
static tansu_status write_txn_id_entry(write_txn *wtxn, collection_state *state, const uint8_t *doc,
                                       size_t size, uint64_t rid, bool add, tansu_error *error) {
    doc_value id;
    doc_find_id(doc, size, &id);
    tansu_status status = make_id_key(wtxn, &id, error);
    return status == TANSU_OK ? change_id_entry(wtxn, state, &id, rid, add, error) : status;
}

/* write_txn_id_type_tag -- the document's entry in the `_id` index records the exact type of a
 * number, and 1 may be replaced by 1.0. */
static tansu_status write_txn_id_type_tag(write_txn *wtxn, collection_state *state,
                                          const uint8_t *doc, size_t size, uint64_t rid,
                                          const uint8_t *old, uint32_t old_size,
                                          tansu_error *error) {
    doc_value was, now;
    doc_find_id(old, old_size, &was);
    doc_find_id(doc, size, &now);
    if (type_tag_make(&was, 1) == type_tag_make(&now, 1))
        return TANSU_OK;
    tansu_status status = write_txn_id_entry(wtxn, state, doc, size, rid, true, error);
    if (status != TANSU_OK)
        return status;
    status = write_txn_id_entry(wtxn, state, old, old_size, rid, false, error);
    wtxn->broken = wtxn->broken || status != TANSU_OK;
    return status;
}

/* apply_put -- write_txn_apply_put(). `id` is the document's `_id`, and wtxn->key the key of that;
 * NULL: they are to be found. */
static tansu_status apply_put(write_txn *wtxn, collection_state *state, const uint8_t *doc,
                              size_t size, uint64_t rid, const uint8_t *old, uint32_t old_size,
                              const doc_value *id, tansu_error *error) {
    /* Everything is validated before the first change. */
    tansu_status status = make_new_entries(wtxn, state, doc, size, rid, error);
    if (status == TANSU_OK && old != NULL)
        status = flush_own(wtxn, state, rid, error);
    if (status == TANSU_OK && old == NULL)
        status = id != NULL ? change_id_entry(wtxn, state, id, rid, true, error)
                            : write_txn_id_entry(wtxn, state, doc, size, rid, true, error);
    else if (status == TANSU_OK)
        status = write_txn_id_type_tag(wtxn, state, doc, size, rid, old, old_size, error);
    if (status != TANSU_OK)
        return status;
    for (uint32_t i = 0; status == TANSU_OK && i < state->index_count; i++) {
        const index_definition *definition = state->indexes[i].definition;
        bool waits = write_txn_batches(wtxn, definition, old != NULL);
        wtxn->old_entries.count = 0;
        if (old != NULL)
            status = make_old_entries(wtxn, state, i, old, old_size, rid, error);
        if (status == TANSU_OK)
            status = apply_index(wtxn, state, i, &wtxn->sets[i].new_entries, waits, error);
    }
    wtxn->broken = wtxn->broken || status != TANSU_OK;
    return status;
}

tansu_status write_txn_apply_put(write_txn *wtxn, collection_state *state, const uint8_t *doc,
                                 size_t size, uint64_t rid, const uint8_t *old, uint32_t old_size,
                                 tansu_error *error) {
    return apply_put(wtxn, state, doc, size, rid, old, old_size, NULL, error);
}

tansu_status write_txn_apply_delete(write_txn *wtxn, collection_state *state, uint64_t rid,
                                    const uint8_t *old, uint32_t old_size, tansu_error *error) {
    static const index_entries none;
    tansu_status status = reserve_sets(wtxn, state, error);
    if (status == TANSU_OK)
        status = flush_own(wtxn, state, rid, error);
    if (status == TANSU_OK)
        status = write_txn_id_entry(wtxn, state, old, old_size, rid, false, error);
    if (status != TANSU_OK)
        return status;
    for (uint32_t i = 0; status == TANSU_OK && i < state->index_count; i++) {
        const index_definition *definition = state->indexes[i].definition;
        bool waits = write_txn_batches(wtxn, definition, true);
        status = make_old_entries(wtxn, state, i, old, old_size, rid, error);
        if (status == TANSU_OK)
            status = apply_index(wtxn, state, i, &none, waits, error);
    }
    wtxn->broken = wtxn->broken || status != TANSU_OK;
    return status;
}

/* with_id -- the document with a new ObjectID before its other fields, in the change's scratch. */
static bool with_id(write_txn *wtxn, const uint8_t *doc, size_t size) {
    uint8_t head[4 + 1 + 4 + 12] = {0, 0, 0, 0, DOC_OID, '_', 'i', 'd', 0};
    store_u32(head, (uint32_t)(size + sizeof head - 4));
    tansu_oid_generate(head + 9);
    wtxn->scratch.size = 0;
    return buffer_append(&wtxn->scratch, head, sizeof head) &&
           buffer_append(&wtxn->scratch, doc + 4, size - 4);
}

/* prepare_put -- reserves all that must not fail once the record is in the frame. */
static tansu_status prepare_put(write_txn *wtxn, collection_state *state, uint64_t rid, bool found,
                                tansu_error *error) {
    uint64_t limit = wtxn->db->options.transaction_memory_bytes;
    if (limit != 0 && write_txn_memory(wtxn) > limit)
        return error_set(
            error, TANSU_E_TOO_LARGE, "transaction",
            "Transaction exceeds its memory limit of %llu bytes; commit its changes in "
            "parts, or raise the option \"transaction_memory_bytes\"",
            (unsigned long long)limit);
    bool reserved = found ? pending_reserve(&wtxn->pending)
                          : pending_reserve_new(&wtxn->pending, record_where(state->id, rid));
    if (!reserved || !write_txn_step_reserve(wtxn))
        return error_memory(error);
    return locations_prepare(state->locations, rid, error);
}

/* drop_record -- takes the frame's last record back, which is a document's. */
static void drop_record(write_txn *wtxn, uint64_t record, uint64_t frame_size) {
    wtxn->records--;
    wtxn->frame_documents -= wtxn->frame_size - record;
    wtxn->frame_size = frame_size;
    wtxn->changed = wtxn->records != 0;
    log_shrink(wtxn->db->log, frame_size, wtxn->records);
}

/* mode_error -- whether the save mode forbids what was found. */
static tansu_status mode_error(const collection_state *state, tansu_save_mode mode, bool found,
                               tansu_error *error) {
    if (mode == TANSU_INSERT && found)
        return error_set(
            error, TANSU_E_EXISTS, "_id",
            "A document with this \"_id\" exists in collection \"%s\"; use save to replace it",
            state->name);
    if (mode == TANSU_REPLACE && !found)
        return error_set(error, TANSU_E_NOT_FOUND, "_id",
                         "No document with this \"_id\" exists in collection \"%s\"; use save or "
                         "insert to create one",
                         state->name);
    return TANSU_OK;
}

/* set_dates -- the document with the fields that the collection's option names; `keeps`: those that
 * it has are not replaced. */
static tansu_status set_dates(write_txn *wtxn, const collection_state *state,
                              const read_context *rctx, doc_ref old_ref, bool keeps,
                              const uint8_t **doc, size_t *size, tansu_error *error) {
    uint32_t old_size = 0;
    const uint8_t *old = old_ref == 0 ? NULL : read_document(rctx, old_ref, &old_size);
    if (!timestamp_fields_stamp(state->timestamps, *doc, *size, old, old_size, clock_date(), keeps,
                                &wtxn->stamped))
        return error_memory(error);
    *doc = wtxn->stamped.data;
    *size = wtxn->stamped.size;
    return *size <= TANSU_MAX_DOCUMENT_SIZE
               ? TANSU_OK
               : error_set(error, TANSU_E_TOO_LARGE, state->name,
                           "The document is too large to add its dates; make it smaller");
}

/* check_document -- whether a document may be stored in a collection, which may be NULL. */
static tansu_status check_document(write_txn *wtxn, const collection_state *state,
                                   const uint8_t *doc, size_t size, tansu_error *error) {
    database *db = wtxn->db;
    if (db->writer.shapes == NULL)
        db->writer.shapes = calloc(1, sizeof *db->writer.shapes);
    /* Without a shape, also for want of memory, the document is validated all the same. */
    shape *f =
        db->writer.shapes != NULL && state != NULL ? shape_of(db->writer.shapes, state->id) : NULL;
    return f == NULL ? doc_check(doc, size, DOC_CHECK_STORE, error)
                     : shape_check(f, doc, size, error);
}

/* note_id -- has the collection that the option "changeTracking" names contain an `_id`. */
static tansu_status note_id(write_txn *wtxn, const change_tracking *tracking, const doc_value *id,
                            tansu_error *error) {
    if (!writer_single(&wtxn->noted, "_id", id))
        return error_memory(error);
    doc_value noted;
    doc_find_id(wtxn->noted.data, wtxn->noted.size, &noted);
    const collection_state *to = snapshot_collection(wtxn->next, tracking->to);
    bool found = false;
    uint64_t rid;
    tansu_status status =
        to == NULL ? TANSU_OK : write_txn_look_up_id(wtxn, to, &noted, &found, &rid, error);
    return status != TANSU_OK || found
               ? status
               : write_txn_save(wtxn, tracking->to, wtxn->noted.data, wtxn->noted.size, TANSU_SAVE,
                                SAVE_COPY, NULL, error);
}

/* note_change -- notes the `_id` of a document that was saved or removed. Without steps to roll
 * that back by, the transaction can only be aborted after an error. */
static tansu_status note_change(write_txn *wtxn, const change_tracking *tracking,
                                const doc_value *id, tansu_error *error) {
    tansu_status status = note_id(wtxn, tracking, id, error);
    wtxn->broken = wtxn->broken || (status != TANSU_OK && !wtxn->keep_steps);
    return status;
}

/* validate -- whether a document may be saved in a collection with a validator; `old_ref` is what it
 * replaces, or 0. Errors: those of validator_check(). */
static tansu_status validate(write_txn *wtxn, const collection_state *state, doc_ref old_ref,
                             unsigned how, const uint8_t *doc, size_t size, tansu_error *error) {
    const validation_level level = validation_level_of(state->validation);
    const query_hooks *hooks = wtxn->db->hooks;
    tansu_error found;
    if (level == VALIDATION_OFF || (level != VALIDATION_STRICT && (how & SAVE_RESTORED) != 0))
        return TANSU_OK;
    tansu_status status = validator_check(state->validator, hooks, state->name, doc, size, &found);
    if (status == TANSU_E_INVALID_DOCUMENT && level == VALIDATION_MODERATE && old_ref != 0) {
        const read_context v = write_txn_read_context(wtxn);
        uint32_t old_size;
        const uint8_t *old = read_document(&v, old_ref, &old_size);
        status = validator_check(state->validator, hooks, state->name, old, old_size, NULL);
        status = status == TANSU_E_INVALID_DOCUMENT ? TANSU_OK
                 : status == TANSU_OK               ? TANSU_E_INVALID_DOCUMENT
                                                    : status;
    }
    if (status == TANSU_E_INVALID_DOCUMENT && level == VALIDATION_WARN) {
        __atomic_add_fetch(&wtxn->db->validation_warnings, 1, __ATOMIC_RELAXED);
        if (wtxn->warning_count < WARNINGS_REPORTED &&
            !validation_warn(&wtxn->warnings, doc, size, state->name, &found))
            return error_memory(error);
        wtxn->warning_count++;
        return TANSU_OK;
    }
    if (status != TANSU_OK && error != NULL)
        *error = found;
    return status;
}

tansu_status write_txn_save(write_txn *wtxn, const char *collection, const uint8_t *doc,
                            size_t size, tansu_save_mode mode, unsigned how, doc_value *id,
                            tansu_error *error) {
    collection_state *state;
    tansu_error lookup_error;
    tansu_status lookup = write_txn_collection(wtxn, collection, 0, &state, &lookup_error);
    tansu_status status = check_document(wtxn, state, doc, size, error);
    if (status != TANSU_OK)
        return status;
    doc_value own;
    if (!doc_find_id(doc, size, &own)) {
        if (size + 17 > TANSU_MAX_DOCUMENT_SIZE)
            return error_set(error, TANSU_E_TOO_LARGE, "_id",
                             "The document is too large to add an \"_id\"; make it smaller");
        if (!with_id(wtxn, doc, size))
            return error_memory(error);
        doc = wtxn->scratch.data;
        size = wtxn->scratch.size;
        doc_find_id(doc, size, &own);
    }
    if (lookup != TANSU_OK) {
        if (error != NULL)
            *error = lookup_error;
        return lookup;
    }
    if (state == NULL) {
        status = write_txn_collection_ensure(wtxn, collection, false, false, error);
        if (status == TANSU_OK)
            status = write_txn_collection(wtxn, collection, 0, &state, error);
    }
    if (status != TANSU_OK)
        return status;
    bool found;
    uint64_t rid;
    status = write_txn_look_up_id(wtxn, state, &own, &found, &rid, error);
    if (status == TANSU_OK)
        status = mode_error(state, mode, found, error);
    if (status != TANSU_OK)
        return status;
    if (!found)
        rid = state->next_rid;
    if (rid > MAX_RID)
        return error_set(
            error, TANSU_E_TOO_LARGE, collection,
            "The collection has used up its record ids; copy its documents to a new collection");
    status = prepare_put(wtxn, state, rid, found, error);
    read_context v = write_txn_read_context(wtxn);
    doc_ref old_ref = 0;
    if (status == TANSU_OK && found) {
        status = read_find(&v, state, rid, &old_ref, error);
        if (status == TANSU_DONE)
            status = error_set(error, TANSU_E_CORRUPT, collection,
                               "The \"_id\" index names a document that does not exist; delete the "
                               "folder \"index\" of the closed database to have it rebuilt");
    }
    uint64_t previous = 0;
    if (status == TANSU_OK && found)
        status = locations_get(state->locations, rid, &previous, error);
    const bool dated = state->timestamps != NULL && (how & SAVE_NO_DATES) == 0;
    if (status == TANSU_OK && dated)
        status =
            set_dates(wtxn, state, &v, old_ref, (how & SAVE_KEEPS_DATES) != 0, &doc, &size, error);
    if (status != TANSU_OK)
        return status;
    if (dated)
        doc_find_id(doc, size, &own);
    if (state->validator != NULL) {
        status = validate(wtxn, state, old_ref, how, doc, size, error);
        if (status != TANSU_OK)
            return status;
    }
    uint64_t at, frame_size = wtxn->frame_size, where = record_where(state->id, rid);
    status = write_txn_record(wtxn, RECORD_PUT, found ? RECORD_REPLACES : RECORD_INSERT, state->id,
                              rid, previous, doc, size, &at, error);
    if (status != TANSU_OK)
        return status;
    /* The record may have moved the frame, and what lay in it with it. */
    uint32_t old_size = 0;
    const uint8_t *old = old_ref == 0 ? NULL : read_document(&v, old_ref, &old_size);
    const bool noted = state->tracking != NULL && (how & SAVE_UNTRACKED) == 0 &&
                       (old == NULL || old_size != size || memcmp(old, doc, size) != 0);
    status = apply_put(wtxn, state, doc, size, rid, old, old_size, &own, error);
    if (status != TANSU_OK) {
        if (!wtxn->broken)
            drop_record(wtxn, at, frame_size);
        return status;
    }
    uint64_t before = 0;
    if (found) {
        before = pending_find(&wtxn->pending, where);
        pending_set(&wtxn->pending, where, at);
    } else {
        pending_add(&wtxn->pending, where, at);
        state->count++;
        state->next_rid++;
    }
    doc_ref new_ref = 0;
    if (wtxn->keep_steps)
        read_find(&v, state, rid, &new_ref, NULL);
    write_txn_step_add(wtxn, (write_txn_step){.kind = STEP_PUT,
                                              .collection = state->id,
                                              .rid = rid,
                                              .before = before,
                                              .old_ref = old_ref,
                                              .new_ref = new_ref});
    if (id != NULL)
        *id = own;
    return noted ? note_change(wtxn, state->tracking, &own, error) : TANSU_OK;
}

tansu_status write_txn_remove(write_txn *wtxn, const char *collection, uint64_t rid,
                              tansu_error *error) {
    collection_state *state;
    tansu_status status = write_txn_collection(wtxn, collection, 0, &state, error);
    if (status != TANSU_OK || state == NULL)
        return status == TANSU_OK ? TANSU_DONE : status;
    read_context v = write_txn_read_context(wtxn);
    doc_ref old_ref;
    status = read_find(&v, state, rid, &old_ref, error);
    if (status == TANSU_OK)
        status = prepare_put(wtxn, state, rid, true, error);
    uint64_t previous = 0;
    if (status == TANSU_OK)
        status = locations_get(state->locations, rid, &previous, error);
    if (status != TANSU_OK)
        return status;
    uint32_t old_size;
    const uint8_t *old = read_document(&v, old_ref, &old_size);
    doc_value id;
    if (!doc_find_id(old, old_size, &id))
        return log_check(wtxn->db->log, 0,
                         error_set(error, TANSU_E_CORRUPT, collection,
                                   "A stored document has no \"_id\"; verify the database"),
                         error);
    if (!writer_single(&wtxn->scratch, "_id", &id))
        return error_memory(error);
    uint64_t at, where = record_where(state->id, rid);
    status = write_txn_record(wtxn, RECORD_DELETE, 0, state->id, rid, previous, wtxn->scratch.data,
                              wtxn->scratch.size, &at, error);
    if (status != TANSU_OK)
        return status;
    old = read_document(&v, old_ref, &old_size);
    status = write_txn_apply_delete(wtxn, state, rid, old, old_size, error);
    if (status != TANSU_OK) {
        wtxn->broken = true; /* the record is in the frame and its index work is not */
        return status;
    }
    uint64_t before = pending_find(&wtxn->pending, where);
    pending_set(&wtxn->pending, where, at | LOCATION_DELETED);
    state->count--;
    write_txn_step_add(wtxn, (write_txn_step){.kind = STEP_DELETE,
                                              .collection = state->id,
                                              .rid = rid,
                                              .before = before,
                                              .old_ref = old_ref});
    if (state->tracking == NULL)
        return TANSU_OK;
    doc_find_id(wtxn->scratch.data, wtxn->scratch.size, &id);
    return note_change(wtxn, state->tracking, &id, error);
}

/* ---- The error for a value that a unique index already holds ---- */

/* Bytes of JSON that a message shows of a value. */
#define SHOWN 160

/* value_text -- appends {path: value, …} as JSON. */
static bool value_text(const index_definition *definition, const doc_value *values,
                       tansu_buffer *json) {
    tansu_buffer bson = TANSU_BUFFER_INIT;
    writer w = {.out = &bson};
    size_t document = writer_begin(&w);
    for (uint32_t i = 0; i < definition->path_count; i++)
        writer_value(&w, definition->paths[i].text, &values[i]);
    bool done = writer_finish(&w, document) &&
                json_write_document(json, bson.data, bson.size, false) &&
                buffer_append_byte(json, 0);
    tansu_buffer_free(&bson);
    return done;
}

/* shorten -- cuts a text that is too long, between two characters. */
static void shorten(char *text) {
    size_t size = strlen(text);
    if (size <= SHOWN)
        return;
    size = SHOWN - 3;
    while (size > 0 && ((unsigned char)text[size] & 0xC0) == 0x80)
        size--;
    memcpy(text + size, "...", 4);
}

/* advice -- what to do about the values: documents without a field are the usual surprise. */
static const char *advice(const index_definition *definition, const doc_value *values) {
    uint32_t nulls = 0, missing = 0;
    for (uint32_t i = 0; i < definition->path_count; i++) {
        nulls += value_kind_of(values[i].type) == KIND_NULL;
        missing += values[i].type == DOC_MISSING;
    }
    if (nulls == 0)
        return "give every document in it a value of its own";
    if (missing == definition->path_count && !definition->sparse)
        return "a missing field counts as null: create the index with the option \"sparse\", which "
               "leaves such documents out, or give every document a value of its own";
    if (nulls == definition->path_count)
        return definition->sparse
                   ? "remove the field instead of storing null, or give every document in it a "
                     "value of its own"
                   : "create the index with the option \"sparse\" and remove the field instead of "
                     "storing null, or give every document a value of its own";
    return "a missing field counts as null: create the index with a \"partialFilter\" that leaves "
           "such documents out, or give every document in it values of its own";
}

tansu_status unique_conflict_error(const char *collection, const index_definition *definition,
                                   const uint8_t *doc, size_t doc_size, const uint8_t *entry,
                                   size_t size, tansu_error *error) {
    doc_value values[TANSU_MAX_INDEX_PATHS];
    tansu_buffer json = TANSU_BUFFER_INIT;
    const char *shown = "a value", *remedy = "give every document in it a value of its own";
    if (doc != NULL && error != NULL) {
        index_entry_values(definition, doc, doc_size, entry, size, values);
        remedy = advice(definition, values);
        if (value_text(definition, values, &json)) {
            shown = (const char *)json.data;
            shorten((char *)json.data);
        }
    }
    error_set(error, TANSU_E_NOT_UNIQUE, definition->name,
              "Unique index \"%s\" of collection \"%s\" would contain %s twice; %s",
              definition->name, collection, shown, remedy);
    tansu_buffer_free(&json);
    return TANSU_E_NOT_UNIQUE;
}

tansu_status unique_conflict_of_build(const read_context *rctx, const collection_state *collection,
                                      const index_definition *definition,
                                      const index_conflict *conflict, tansu_error *error) {
    doc_ref ref;
    uint32_t size = 0;
    const uint8_t *doc = NULL;
    if (read_find(rctx, collection, conflict->rid, &ref, NULL) == TANSU_OK)
        doc = read_document(rctx, ref, &size);
    return unique_conflict_error(collection->name, definition, doc, size, conflict->entry.data,
                                 conflict->entry.size, error);
}
