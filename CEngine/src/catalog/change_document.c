/*
 * catalog/change_document.c -- putting and deleting documents in a change.
 */
#include "catalog/change.h"

#include "base/buffer.h"
#include "base/error.h"
#include "base/value.h"
#include "catalog/collection.h"
#include "catalog/conflict.h"
#include "index/form.h"

#include <stdlib.h>

tansu_status change_find_id(tree_store *trees, const collection_state *collection,
                            const doc_value *id, tansu_buffer *key, bool *found, uint64_t *docno,
                            tansu_error *error) {
    key->size = 0;
    if (!value_key(key, id, false))
        return error_memory(error);
    return tree_find_prefix(trees, &collection->ids, key->data, key->size, found, docno, error);
}

/* entry_less -- orders two entries by memcmp, the shorter first. */
static int entry_compare(const index_entries *a, uint32_t i, const index_entries *b, uint32_t k) {
    const struct index_entry *x = &a->list[i], *y = &b->list[k];
    uint32_t size = x->size < y->size ? x->size : y->size;
    int order = memcmp(a->bytes.data + x->offset, b->bytes.data + y->offset, size);
    return order != 0 ? order : x->size < y->size ? -1 : x->size > y->size;
}

/* check_unique -- whether the new entries of a unique index are free, or the document's own. */
static tansu_status check_unique(change *c, const collection_state *state, uint32_t i,
                                 const uint8_t *doc, size_t size, uint64_t docno,
                                 tansu_error *error) {
    const index_entries *entries = &c->new_entries[i];
    for (uint32_t k = 0; k < entries->count; k++) {
        bool found;
        uint64_t holder;
        tansu_status status = tree_find_prefix(
            c->db->trees, &state->indexes[i].entries, entries->bytes.data + entries->list[k].offset,
            entries->list[k].size - INDEX_TAIL_SIZE, &found, &holder, error);
        if (status != TANSU_OK)
            return status;
        if (found && holder != docno)
            return conflict_error(state->name, state->indexes[i].definition, doc, size,
                                  entries->bytes.data + entries->list[k].offset,
                                  entries->list[k].size, error);
    }
    return TANSU_OK;
}

/* make_new_entries -- the document's entries in every index, checked. */
static tansu_status make_new_entries(change *c, const collection_state *state, const uint8_t *doc,
                                     size_t size, uint64_t docno, tansu_error *error) {
    if (c->entry_sets < state->index_count) {
        index_entries *sets = realloc(c->new_entries, state->index_count * sizeof *sets);
        if (sets == NULL)
            return error_memory(error);
        memset(sets + c->entry_sets, 0, (state->index_count - c->entry_sets) * sizeof *sets);
        c->new_entries = sets;
        c->entry_sets = state->index_count;
    }
    tansu_status status = TANSU_OK;
    for (uint32_t i = 0; status == TANSU_OK && i < state->index_count; i++) {
        const index_definition *definition = state->indexes[i].definition;
        status = index_entries_make(&c->new_entries[i], definition, doc, size, docno, error);
        if (status == TANSU_OK && definition->unique && !c->replay)
            status = check_unique(c, state, i, doc, size, docno, error);
    }
    return status;
}

/* apply_index -- replaces a document's old entries by its new ones in one index. */
static tansu_status apply_index(change *c, collection_index *index, const index_entries *now,
                                tansu_error *error) {
    const index_entries *was = &c->old_entries;
    uint32_t i = 0, k = 0;
    while (i < was->count || k < now->count) {
        int order = i == was->count ? 1 : k == now->count ? -1 : entry_compare(was, i, now, k);
        tansu_status status = TANSU_OK;
        if (order < 0) {
            status = tree_remove(&c->writer, &index->entries, was->bytes.data + was->list[i].offset,
                                 was->list[i].size, NULL, error);
        } else if (order > 0) {
            status = tree_insert(&c->writer, &index->entries, now->bytes.data + now->list[k].offset,
                                 now->list[k].size, NULL, error);
        }
        if (status != TANSU_OK)
            return status;
        i += order <= 0;
        k += order >= 0;
    }
    index->multikey = index->multikey || now->multikey;
    return TANSU_OK;
}

/* make_old_entries -- the entries, before the change, of the document that it changes. In lenient replay
 * a document may be met with an index that came only later and would have refused it: it has none
 * there. */
static tansu_status make_old_entries(change *c, const index_definition *definition,
                                     const uint8_t *old, uint32_t old_size, uint64_t docno,
                                     tansu_error *error) {
    tansu_status status =
        index_entries_make(&c->old_entries, definition, old, old_size, docno, error);
    if (status == TANSU_E_TOO_LARGE && c->lenient) {
        c->old_entries.count = 0;
        return TANSU_OK;
    }
    return status;
}

/* change_id_entry -- adds or removes the document's entry in the `_id` index. */
static tansu_status change_id_entry(change *c, collection_state *state, const uint8_t *doc,
                                    size_t size, uint64_t docno, bool add, tansu_error *error) {
    doc_value id;
    doc_find(doc, size, "_id", 3, &id);
    c->key.size = 0;
    uint8_t tail[INDEX_TAIL_SIZE];
    tail_put(tail, docno, index_form(&id, 1));
    if (!value_key(&c->key, &id, false) || !buffer_append(&c->key, tail, sizeof tail))
        return error_memory(error);
    return add ? tree_insert(&c->writer, &state->ids, c->key.data, c->key.size, NULL, error)
               : tree_remove(&c->writer, &state->ids, c->key.data, c->key.size, NULL, error);
}

/* change_id_form -- the document's entry in the `_id` index tells the exact type of a number, and 1 may
 * be replaced by 1.0. */
static tansu_status change_id_form(change *c, collection_state *state, const uint8_t *doc,
                                   size_t size, uint64_t docno, const uint8_t *old,
                                   uint32_t old_size, tansu_error *error) {
    doc_value was, now;
    doc_find(old, old_size, "_id", 3, &was);
    doc_find(doc, size, "_id", 3, &now);
    if (index_form(&was, 1) == index_form(&now, 1))
        return TANSU_OK;
    tansu_status status = change_id_entry(c, state, doc, size, docno, true, error);
    if (status != TANSU_OK)
        return status;
    status = change_id_entry(c, state, old, old_size, docno, false, error);
    c->broken = c->broken || status != TANSU_OK;
    return status;
}

tansu_status change_apply_put(change *c, collection_state *state, const uint8_t *doc, size_t size,
                              uint64_t docno, const uint8_t *old, uint32_t old_size,
                              tansu_error *error) {
    /* Everything that can be wrong with the document comes before the first change. */
    tansu_status status = make_new_entries(c, state, doc, size, docno, error);
    if (status == TANSU_OK && old == NULL)
        status = change_id_entry(c, state, doc, size, docno, true, error);
    else if (status == TANSU_OK)
        status = change_id_form(c, state, doc, size, docno, old, old_size, error);
    if (status != TANSU_OK)
        return status;
    for (uint32_t i = 0; status == TANSU_OK && i < state->index_count; i++) {
        collection_index *index = &state->indexes[i];
        c->old_entries.count = 0;
        if (old != NULL)
            status = make_old_entries(c, index->definition, old, old_size, docno, error);
        if (status == TANSU_OK)
            status = apply_index(c, index, &c->new_entries[i], error);
    }
    c->broken = c->broken || status != TANSU_OK;
    return status;
}

tansu_status change_apply_delete(change *c, collection_state *state, uint64_t docno,
                                 const uint8_t *old, uint32_t old_size, tansu_error *error) {
    static const index_entries none;
    tansu_status status = change_id_entry(c, state, old, old_size, docno, false, error);
    if (status != TANSU_OK)
        return status;
    for (uint32_t i = 0; status == TANSU_OK && i < state->index_count; i++) {
        status = make_old_entries(c, state->indexes[i].definition, old, old_size, docno, error);
        if (status == TANSU_OK)
            status = apply_index(c, &state->indexes[i], &none, error);
    }
    c->broken = c->broken || status != TANSU_OK;
    return status;
}

/* with_id -- the document with a new ObjectID before its other fields, in the change's scratch. */
static bool with_id(change *c, const uint8_t *doc, size_t size) {
    uint8_t head[4 + 1 + 4 + 12] = {0, 0, 0, 0, DOC_OID, '_', 'i', 'd', 0};
    store_u32(head, (uint32_t)(size + sizeof head - 4));
    tansu_oid_generate(head + 9);
    c->scratch.size = 0;
    return buffer_append(&c->scratch, head, sizeof head) &&
           buffer_append(&c->scratch, doc + 4, size - 4);
}

/* prepare_put -- reserves all that must not fail once the record is in the frame. */
static tansu_status prepare_put(change *c, collection_state *state, uint64_t docno,
                                tansu_error *error) {
    if (!pending_reserve(&c->pending) || !change_step_reserve(c))
        return error_memory(error);
    return places_prepare(state->places, docno, error);
}

/* drop_record -- takes the frame's last record back. */
static void drop_record(change *c, uint64_t frame_size) {
    c->records--;
    c->frame_size = frame_size;
    c->changed = c->records != 0;
    log_shrink(c->db->log, frame_size, c->records);
}

/* mode_error -- whether the save mode forbids what was found. */
static tansu_status mode_error(const collection_state *state, tansu_save_mode mode, bool found,
                               tansu_error *error) {
    if (mode == TANSU_INSERT && found)
        return error_set(
            error, TANSU_E_EXISTS, "_id",
            "a document with this `_id` exists in '%s': save replaces it, insert does not",
            state->name);
    if (mode == TANSU_REPLACE && !found)
        return error_set(error, TANSU_E_NOT_FOUND, "_id",
                         "no document with this `_id` exists in '%s': save or insert makes one",
                         state->name);
    return TANSU_OK;
}

tansu_status change_save(change *c, const char *collection, const uint8_t *doc, size_t size,
                         tansu_save_mode mode, doc_value *id, tansu_error *error) {
    tansu_status status = doc_check(doc, size, DOC_CHECK_STORE, error);
    if (status != TANSU_OK)
        return status;
    doc_value own;
    if (!doc_find(doc, size, "_id", 3, &own)) {
        if (size + 17 > TANSU_MAX_DOCUMENT_SIZE)
            return error_set(error, TANSU_E_TOO_LARGE, "_id",
                             "the document has no room left for an `_id`");
        if (!with_id(c, doc, size))
            return error_memory(error);
        doc = c->scratch.data;
        size = c->scratch.size;
        doc_find(doc, size, "_id", 3, &own);
    }
    collection_state *state;
    status = change_collection(c, collection, 0, &state, error);
    if (status == TANSU_OK && state == NULL) {
        status = change_collection_ensure(c, collection, false, false, error);
        if (status == TANSU_OK)
            status = change_collection(c, collection, 0, &state, error);
    }
    if (status != TANSU_OK)
        return status;
    bool found;
    uint64_t docno;
    status = change_find_id(c->db->trees, state, &own, &c->key, &found, &docno, error);
    if (status == TANSU_OK)
        status = mode_error(state, mode, found, error);
    if (status != TANSU_OK)
        return status;
    if (!found)
        docno = state->next_docno;
    if (docno > INDEX_MAX_DOCNO)
        return error_set(error, TANSU_E_TOO_LARGE, collection,
                         "the collection has used up its document numbers");
    status = prepare_put(c, state, docno, error);
    view v = change_view(c);
    doc_ref old_ref = 0;
    if (status == TANSU_OK && found) {
        status = view_find(&v, state, docno, &old_ref, error);
        if (status == TANSU_DONE)
            status = error_set(error, TANSU_E_CORRUPT, collection,
                               "the `_id` index names a document that is not there: delete the "
                               "folder 'index' of the closed database to have it rebuilt");
    }
    uint64_t previous = 0;
    if (status == TANSU_OK && found)
        status = places_get(state->places, docno, &previous, error);
    if (status != TANSU_OK)
        return status;
    uint64_t at, frame_size = c->frame_size, where = record_where(state->id, docno);
    status = change_record(c, RECORD_PUT, found ? RECORD_REPLACES : 0, state->id, docno, previous,
                           doc, size, &at, error);
    if (status != TANSU_OK)
        return status;
    /* The record may have moved the frame, and what lay in it with it. */
    uint32_t old_size = 0;
    const uint8_t *old = old_ref == 0 ? NULL : view_document(&v, old_ref, &old_size);
    status = change_apply_put(c, state, doc, size, docno, old, old_size, error);
    if (status != TANSU_OK) {
        if (!c->broken)
            drop_record(c, frame_size);
        return status;
    }
    uint64_t before = found ? pending_find(&c->pending, where) : 0;
    pending_set(&c->pending, where, at);
    if (!found) {
        state->count++;
        state->next_docno++;
    }
    doc_ref new_ref = 0;
    if (c->keep_steps)
        view_find(&v, state, docno, &new_ref, NULL);
    change_step_add(c, (change_step){.kind = STEP_PUT,
                                     .collection = state->id,
                                     .docno = docno,
                                     .before = before,
                                     .old_ref = old_ref,
                                     .new_ref = new_ref});
    if (id != NULL)
        *id = own;
    return TANSU_OK;
}

tansu_status change_remove(change *c, const char *collection, uint64_t docno, tansu_error *error) {
    collection_state *state;
    tansu_status status = change_collection(c, collection, 0, &state, error);
    if (status != TANSU_OK || state == NULL)
        return status == TANSU_OK ? TANSU_DONE : status;
    view v = change_view(c);
    doc_ref old_ref;
    status = view_find(&v, state, docno, &old_ref, error);
    if (status == TANSU_OK)
        status = prepare_put(c, state, docno, error);
    uint64_t previous = 0;
    if (status == TANSU_OK)
        status = places_get(state->places, docno, &previous, error);
    if (status != TANSU_OK)
        return status;
    uint32_t old_size;
    const uint8_t *old = view_document(&v, old_ref, &old_size);
    doc_value id;
    if (!doc_find(old, old_size, "_id", 3, &id))
        return log_check(c->db->log, 0,
                         error_set(error, TANSU_E_CORRUPT, collection,
                                   "A stored document has no \"_id\"; verify the database"),
                         error);
    uint8_t head[9] = {0, 0, 0, 0, id.type, '_', 'i', 'd', 0};
    store_u32(head, (uint32_t)(sizeof head + id.size + 1));
    c->scratch.size = 0;
    if (!buffer_append(&c->scratch, head, sizeof head) ||
        !buffer_append(&c->scratch, id.data, id.size) || !buffer_append_byte(&c->scratch, 0))
        return error_memory(error);
    uint64_t at, where = record_where(state->id, docno);
    status = change_record(c, RECORD_DELETE, 0, state->id, docno, previous, c->scratch.data,
                           c->scratch.size, &at, error);
    if (status != TANSU_OK)
        return status;
    old = view_document(&v, old_ref, &old_size);
    status = change_apply_delete(c, state, docno, old, old_size, error);
    if (status != TANSU_OK) {
        c->broken = true; /* the record is in the frame and its index work is not */
        return status;
    }
    uint64_t before = pending_find(&c->pending, where);
    pending_set(&c->pending, where, at | PLACE_DELETED);
    state->count--;
    change_step_add(c, (change_step){.kind = STEP_DELETE,
                                     .collection = state->id,
                                     .docno = docno,
                                     .before = before,
                                     .old_ref = old_ref});
    return TANSU_OK;
}
