/*
 * catalog/replay.c -- applying the log's tail at opening.
 *
 * The whole tail is one change: nobody reads yet, so no versions in between are needed.
 *
 * A cabinet may hold places that are newer than its checkpoint (chunks are written while the writer
 * goes on). So the version that a put replaces is not looked up there but taken from the frame itself
 * (`pending`, here from docno to place), when an earlier record of it put one, or from the record's
 * `previous` link, which names the version that was committed before the frame.
 */
#include "catalog/change.h"

#include "base/doc.h"
#include "base/error.h"
#include "catalog/collection.h"
#include "catalog/compact.h"
#include "log/walk.h"

#include <stdlib.h>

/* damaged -- a record that passed its CRC but makes no sense here. */
static tansu_status damaged(log_place place, const char *what, tansu_error *error) {
    char name[32];
    segment_name((uint32_t)(place >> 32), name);
    return error_at(error, TANSU_E_CORRUPT, name, (int64_t)(uint32_t)place, "%s at %s, offset %u",
                    what, name, (uint32_t)place);
}

/* old_version -- the document that a put or delete replaces; *doc NULL and *at 0 when there is none. */
static tansu_status old_version(change *c, const collection_state *state,
                                const record_header *record, log_place *at, const uint8_t **doc,
                                uint32_t *size, tansu_error *error) {
    uint64_t docno = record_docno(record);
    log_place place = pending_find(&c->pending, record->where);
    *at = 0;
    if (place == 0 && c->exact) {
        tansu_status status = places_get(state->places, docno, &place, error);
        if (status != TANSU_OK)
            return status;
    } else if (place == 0) {
        place = record->previous;
    }
    *doc = NULL;
    *size = 0;
    if (place == 0 || (place & PLACE_DELETED) != 0)
        return TANSU_OK;
    *at = place;
    *doc = record_document(log_record(c->db->log, place), record->where, size);
    return *doc != NULL ? TANSU_OK : damaged(place, "a damaged document", error);
}

/* replay_document -- a put or a delete. */
static tansu_status replay_document(change *c, const record_header *record, log_place place,
                                    tansu_error *error) {
    collection_state *state = change_collection_by_id(c, record_collection(record));
    const uint8_t *payload = record_payload(record);
    uint32_t room = record->size - RECORD_HEADER_SIZE - record->meta_words * 8u;
    uint32_t size = load_u32(payload);
    usage_add(c->db->written, (uint32_t)(place >> 32), record->size);
    if (state == NULL && c->lenient)
        return TANSU_OK;
    if (state == NULL)
        return damaged(place, "a document of a collection that does not exist", error);
    if (size < 5 || size > room)
        return damaged(place, "a document that is longer than its record", error);
    char name[TANSU_MAX_NAME + 1];
    memcpy(name, state->name, sizeof name);
    tansu_status status = change_collection(c, name, 0, &state, error);
    uint64_t docno = record_docno(record);
    /* Memory and time follow from a number, so that none is taken that can't be right. */
    if (status == TANSU_OK && docno > state->next_docno)
        c->passed_over += docno - state->next_docno;
    if (docno > INDEX_MAX_DOCNO || c->passed_over > log_docnos_most(c->db->log))
        return damaged(place, "a document with a number that was never given out", error);
    if (status == TANSU_OK)
        status = places_prepare(state->places, docno, error);
    if (status == TANSU_OK && c->several && !pending_reserve(&c->pending))
        status = error_memory(error);
    if (status != TANSU_OK)
        return status;
    const uint8_t *old = NULL;
    uint32_t old_size = 0;
    log_place from = 0;
    bool replaces = record->type == RECORD_DELETE || (record->flags & RECORD_REPLACES) != 0;
    if (replaces) {
        status = old_version(c, state, record, &from, &old, &old_size, error);
        if (status == TANSU_OK && old == NULL && !c->lenient)
            status = damaged(place, "a change of a document that does not exist", error);
    }
    if (status != TANSU_OK)
        return status;
    if (docno >= state->next_docno)
        state->next_docno = docno + 1;
    if (record->type == RECORD_PUT) {
        status = change_apply_put(c, state, payload, size, docno, old, old_size, error);
        state->count += old == NULL;
    } else if (old != NULL) {
        status = change_apply_delete(c, state, docno, old, old_size, error);
        state->count--;
        place |= PLACE_DELETED;
    } else { /* compaction has left out what is deleted here */
        return TANSU_OK;
    }
    if (status != TANSU_OK)
        return status;
    change_count_live(c->db, state, from, place);
    places_set(state->places, docno, place);
    if (c->several)
        pending_set(&c->pending, record->where, place);
    return TANSU_OK;
}

/* text_of -- a string member of a record's payload as a NUL-terminated text, NULL without one. */
static const char *text_of(const uint8_t *payload, uint32_t size, const char *key) {
    doc_value value;
    if (!doc_find(payload, size, key, strlen(key), &value) || value.type != DOC_STRING)
        return NULL;
    size_t length;
    const char *text = doc_string(&value, &length);
    return strlen(text) == length && length <= TANSU_MAX_NAME ? text : NULL;
}

/* index_of -- the definition in an index creation's payload. */
static tansu_status index_of(const change *c, const uint8_t *payload, uint32_t size,
                             index_definition **definition, tansu_error *error) {
    doc_value id, keys, options;
    int64_t number;
    const char *name = text_of(payload, size, "name");
    if (name == NULL || !doc_find(payload, size, "id", 2, &id) || !doc_as_int64(&id, &number) ||
        !doc_find(payload, size, "keys", 4, &keys) || keys.type != DOC_DOCUMENT ||
        !doc_find(payload, size, "options", 7, &options) || options.type != DOC_DOCUMENT)
        return TANSU_E_CORRUPT;
    tansu_status status = index_definition_parse(name, keys.data, keys.size, options.data,
                                                 options.size, definition, error);
    if (status != TANSU_OK)
        return status;
    (*definition)->id = (uint32_t)number;
    status = index_definition_compile(*definition, c->db->filters, error);
    if (status != TANSU_OK)
        index_definition_free(*definition);
    return status;
}

/* replay_catalog -- a change of collections or indexes. */
static tansu_status replay_catalog(change *c, const record_header *record, log_place place,
                                   tansu_error *error) {
    const uint8_t *payload = record_payload(record);
    uint32_t size = load_u32(payload);
    uint32_t room = record->size - RECORD_HEADER_SIZE - record->meta_words * 8u;
    const char *name = size < 5 || size > room ? NULL : text_of(payload, size, "name");
    if (name == NULL)
        return damaged(place, "a catalog record without a name", error);
    uint32_t id = record_collection(record);
    const collection_state *state = change_collection_by_id(c, id);
    if (state == NULL && record->type != RECORD_COLLECTION_CREATE && c->lenient)
        return TANSU_OK;
    if (state == NULL && record->type != RECORD_COLLECTION_CREATE)
        return damaged(place, "a catalog record of a collection that does not exist", error);
    switch (record->type) {
    case RECORD_COLLECTION_CREATE: {
        doc_value local;
        bool is_local = doc_find(payload, size, "local", 5, &local) && local.type == DOC_BOOL &&
                        doc_bool(&local);
        return change_add_collection(c, id, name, is_local, error);
    }
    case RECORD_COLLECTION_DROP: return change_remove_collection(c, name, error);
    case RECORD_COLLECTION_RENAME: {
        const char *to = text_of(payload, size, "to");
        return to == NULL ? damaged(place, "a rename without a new name", error)
                          : change_move_collection(c, name, to, error);
    }
    case RECORD_INDEX_CREATE: {
        index_definition *definition;
        tansu_status status = index_of(c, payload, size, &definition, error);
        if (status == TANSU_E_MEMORY || status == TANSU_E_UNSUPPORTED)
            return status;
        if (status != TANSU_OK)
            return damaged(place, "an index definition that makes no sense", error);
        return change_add_index(c, state->name, definition, NULL, error);
    }
    case RECORD_INDEX_DROP: return change_remove_index(c, state->name, name, error);
    default: return damaged(place, "a record of an unknown type", error);
    }
}

/* replay_record -- one record of any type. */
static tansu_status replay_record(change *c, const record_header *record, log_place place,
                                  tansu_error *error) {
    /* Numbers of what compaction has left out are not given out again. */
    if (record_collection(record) >= c->next_collection)
        c->next_collection = record_collection(record) + 1;
    switch (record->type) {
    case RECORD_PUT:
    case RECORD_DELETE: return replay_document(c, record, place, error);
    case RECORD_COMPACTION: return c->exact ? TANSU_OK : compact_replay(c, record, place, error);
    default: return replay_catalog(c, record, place, error);
    }
}

/* replay_frame -- all records of one commit. */
static tansu_status replay_frame(void *context, const frame_header *frame, log_place place,
                                 tansu_error *error) {
    change *c = context;
    const uint8_t *at = (const uint8_t *)frame + FRAME_HEADER_SIZE;
    const uint8_t *end = (const uint8_t *)frame + frame->size;
    tansu_status status = TANSU_OK;
    c->several = !c->exact && frame->count > 1;
    while (status == TANSU_OK && at < end) {
        const record_header *record = (const record_header *)at;
        status = replay_record(c, record, place, error);
        at += record_step(record);
        place += record->size;
    }
    if (c->several)
        pending_clear(&c->pending);
    c->changed = true;
    c->next->sequence = frame->sequence;
    return status;
}

tansu_status change_replay(database *db, tansu_progress progress, void *progress_context,
                           bool exact, bool *reached, tansu_error *error) {
    change *c;
    tansu_status status = change_begin(db, &c, error);
    if (status != TANSU_OK)
        return status;
    c->replay = true;
    c->exact = exact;
    c->lenient = exact && log_compacted(db->log);
    c->next->sequence = c->base->sequence;
    status = log_replay(db->log, c->base->sequence, c->base->position, db->manifest.end_sequence,
                        replay_frame, c, progress, progress_context, reached, error);
    if (status != TANSU_OK || !*reached) {
        change_abort(c);
        return status;
    }
    /* Of the last commits compaction may have left nothing; their numbers are taken all the same. */
    c->next->sequence = log_last(db->log);
    c->changed = c->next->sequence != c->base->sequence;
    c->next->position = log_position(db->log);
    return change_commit(c, TANSU_DURABILITY_PROCESS, NULL, error);
}
