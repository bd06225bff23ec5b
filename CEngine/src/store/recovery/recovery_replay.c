/*
 * store/recovery/recovery_replay.c -- replaying the log after the checkpoint.
 *
 * All of it is applied as one transaction: nobody reads yet, so no snapshots in between are needed.
 *
 * A block store may hold locations that are newer than its checkpoint (chunks are written while the
 * writer continues). So the version that a put replaces is not looked up there. It is taken from
 * the frame itself (`pending`, here from record id to location), when an earlier record of the
 * frame put one, or from the record's `previous` link, which names the version that was committed
 * before the frame.
 */
#include "store/recovery/recovery.h"

#include "bson/document.h"
#include "log/follow/follow.h"
#include "log/scan.h"
#include "store/collection.h"
#include "store/database_internal.h"
#include "store/write_txn/write_txn_internal.h"
#include "util/error.h"

#include <stdlib.h>

/* damaged -- a record that passed its CRC but is invalid here. */
static tansu_status damaged(log_location location, const char *what, tansu_error *error) {
    char name[32];
    segment_name((uint32_t)(location >> 32), name);
    return error_at(error, TANSU_E_CORRUPT, name, (int64_t)(uint32_t)location,
                    "%s at \"%s\", offset %u; restore a backup or salvage what is readable with "
                    "\"tansu repair\"",
                    what, name, (uint32_t)location);
}

/* old_snapshot -- the document that a put or delete replaces; *doc NULL and *at 0 when there is
 * none. */
static tansu_status old_snapshot(write_txn *wtxn, const collection_state *state,
                                 const record_header *record, log_location *at, const uint8_t **doc,
                                 uint32_t *size, tansu_error *error) {
    uint64_t rid = record_rid(record);
    log_location location = pending_find(&wtxn->pending, record->where);
    *at = 0;
    if (location == 0 && wtxn->exact) {
        tansu_status status = locations_get(state->locations, rid, &location, error);
        if (status != TANSU_OK)
            return status;
    } else if (location == 0) {
        location = record->previous;
    }
    *doc = NULL;
    *size = 0;
    if (location == 0 || (location & LOCATION_DELETED) != 0)
        return TANSU_OK;
    *at = location;
    if (!log_has_segment(wtxn->db->log, (uint32_t)(location >> 32)))
        return damaged(location, "There is a change of a document in a missing segment", error);
    *doc = record_document(log_record(wtxn->db->log, location), record->where, size);
    return *doc != NULL ? TANSU_OK : damaged(location, "There is a corrupt document", error);
}

/* replay_document -- a put or a delete. */
static tansu_status replay_document(write_txn *wtxn, const record_header *record,
                                    log_location location, tansu_error *error) {
    collection_state *state = write_txn_collection_by_id(wtxn, record_collection(record));
    const uint8_t *payload = record_payload(record);
    uint32_t room = record->size - RECORD_HEADER_SIZE - record->meta_words * 8u;
    uint32_t size = load_u32(payload);
    segment_usage_add(wtxn->db->written, (uint32_t)(location >> 32), record->size);
    if (state == NULL && wtxn->lenient)
        return TANSU_OK;
    if (state == NULL)
        return damaged(location, "There is a document of a collection that does not exist", error);
    if (size < 5 || size > room)
        return damaged(location, "There is a document that is longer than its record", error);
    char name[TANSU_MAX_NAME + 1];
    memcpy(name, state->name, sizeof name);
    tansu_status status = write_txn_collection(wtxn, name, 0, &state, error);
    uint64_t rid = record_rid(record);
    /* Memory and time follow from a number, so that none is taken that can't be right. */
    if (status == TANSU_OK && rid > state->next_rid)
        wtxn->passed_over += rid - state->next_rid;
    if (rid > MAX_RID || wtxn->passed_over > log_max_rid(wtxn->db->log))
        return damaged(location, "There is a document with a record id that was never assigned",
                       error);
    if (status == TANSU_OK)
        status = locations_prepare(state->locations, rid, error);
    if (status == TANSU_OK && wtxn->several && !pending_reserve(&wtxn->pending))
        status = error_memory(error);
    if (status != TANSU_OK)
        return status;
    const uint8_t *old = NULL;
    uint32_t old_size = 0;
    log_location from = 0;
    bool replaces = record->type == RECORD_DELETE || (record->flags & RECORD_REPLACES) != 0;
    if (replaces) {
        status = old_snapshot(wtxn, state, record, &from, &old, &old_size, error);
        if (status == TANSU_OK && old == NULL && !wtxn->lenient)
            status =
                damaged(location, "There is a change of a document that does not exist", error);
    }
    if (status != TANSU_OK)
        return status;
    if (rid >= state->next_rid)
        state->next_rid = rid + 1;
    if (record->type == RECORD_PUT) {
        status = write_txn_apply_put(wtxn, state, payload, size, rid, old, old_size, error);
        state->count += old == NULL;
    } else if (old != NULL) {
        status = write_txn_apply_delete(wtxn, state, rid, old, old_size, error);
        state->count--;
        location |= LOCATION_DELETED;
    } else { /* compaction has left out what is deleted here */
        return TANSU_OK;
    }
    if (status != TANSU_OK)
        return status;
    write_txn_count_live(wtxn->db, state, from, location);
    locations_set(state->locations, rid, location);
    if (wtxn->several)
        pending_set(&wtxn->pending, record->where, location);
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
static tansu_status index_of(const write_txn *wtxn, const uint8_t *payload, uint32_t size,
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
    status = index_definition_compile(*definition, wtxn->db->filters, error);
    if (status != TANSU_OK)
        index_definition_free(*definition);
    return status;
}

/* replay_catalog -- a change of collections or indexes. */
static tansu_status replay_catalog(write_txn *wtxn, const record_header *record,
                                   log_location location, tansu_error *error) {
    const uint8_t *payload = record_payload(record);
    uint32_t size = load_u32(payload);
    uint32_t room = record->size - RECORD_HEADER_SIZE - record->meta_words * 8u;
    const char *name = size < 5 || size > room ? NULL : text_of(payload, size, "name");
    if (name == NULL)
        return damaged(location, "There is a catalog record without a name", error);
    uint32_t id = record_collection(record);
    const collection_state *state = write_txn_collection_by_id(wtxn, id);
    if (state == NULL && record->type != RECORD_COLLECTION_CREATE && wtxn->lenient)
        return TANSU_OK;
    if (state == NULL && record->type != RECORD_COLLECTION_CREATE)
        return damaged(location, "There is a catalog record of a collection that does not exist",
                       error);
    switch (record->type) {
    case RECORD_COLLECTION_CREATE: {
        doc_value local;
        bool is_local = doc_find(payload, size, "local", 5, &local) && local.type == DOC_BOOL &&
                        doc_bool(&local);
        return write_txn_add_collection(wtxn, id, name, is_local, error);
    }
    case RECORD_COLLECTION_DROP: return write_txn_remove_collection(wtxn, name, error);
    case RECORD_COLLECTION_RENAME: {
        const char *to = text_of(payload, size, "to");
        return to == NULL ? damaged(location, "There is a rename without a new name", error)
                          : write_txn_move_collection(wtxn, name, to, error);
    }
    case RECORD_INDEX_CREATE: {
        index_definition *definition;
        tansu_status status = index_of(wtxn, payload, size, &definition, error);
        if (status == TANSU_E_MEMORY || status == TANSU_E_UNSUPPORTED)
            return status;
        if (status != TANSU_OK)
            return damaged(location, "There is an invalid index definition", error);
        return write_txn_add_index(wtxn, state->name, definition, NULL, error);
    }
    case RECORD_INDEX_DROP: return write_txn_remove_index(wtxn, state->name, name, error);
    default: return damaged(location, "There is a record of an unknown type", error);
    }
}

/* replay_record -- one record of any type. */
static tansu_status replay_record(write_txn *wtxn, const record_header *record,
                                  log_location location, tansu_error *error) {
    /* Numbers of what compaction has left out are not assigned again. */
    if (record_collection(record) >= wtxn->next_collection)
        wtxn->next_collection = record_collection(record) + 1;
    switch (record->type) {
    case RECORD_PUT:
    case RECORD_DELETE: return replay_document(wtxn, record, location, error);
    case RECORD_COMPACTION:
        return wtxn->exact ? TANSU_OK : recovery_compaction(wtxn, record, location, error);
    default: return replay_catalog(wtxn, record, location, error);
    }
}

/* replay_frame -- all records of one commit. */
static tansu_status replay_frame(void *context, const frame_header *frame, log_location location,
                                 tansu_error *error) {
    write_txn *wtxn = context;
    const uint8_t *at = (const uint8_t *)frame + FRAME_HEADER_SIZE;
    const uint8_t *end = (const uint8_t *)frame + frame->size;
    tansu_status status = TANSU_OK;
    wtxn->several = !wtxn->exact && frame->count > 1;
    while (status == TANSU_OK && at < end) {
        const record_header *record = (const record_header *)at;
        status = replay_record(wtxn, record, location, error);
        at += record_step(record);
        location += record->size;
    }
    if (wtxn->several)
        pending_clear(&wtxn->pending);
    wtxn->changed = true;
    wtxn->next->sequence = frame->sequence;
    return status;
}

tansu_status recovery_replay(database *db, tansu_progress progress, void *progress_context,
                             bool exact, bool *reached, tansu_error *error) {
    write_txn *wtxn;
    tansu_status status = write_txn_begin(db, &wtxn, error);
    if (status != TANSU_OK)
        return status;
    wtxn->replay = true;
    wtxn->exact = exact;
    wtxn->lenient = exact && log_compacted(db->log);
    wtxn->next->sequence = wtxn->base->sequence;
    status =
        log_replay(db->log, wtxn->base->sequence, wtxn->base->position, db->manifest.end_sequence,
                   replay_frame, wtxn, progress, progress_context, reached, error);
    if (status != TANSU_OK || !*reached) {
        write_txn_abort(wtxn);
        return status;
    }
    /* Of the last commits compaction may have left nothing; their numbers are taken all the
     * same. */
    wtxn->next->sequence = log_last(db->log);
    wtxn->changed = wtxn->next->sequence != wtxn->base->sequence;
    wtxn->next->position = log_position(db->log);
    return write_txn_commit(wtxn, TANSU_DURABILITY_PROCESS, NULL, error);
}

tansu_status recovery_follow(database *db, uint64_t to, bool *reached, tansu_error *error) {
    write_txn *wtxn;
    tansu_status status = write_txn_begin(db, &wtxn, error);
    if (status != TANSU_OK)
        return status;
    wtxn->replay = true;
    wtxn->next->sequence = wtxn->base->sequence;
    status = log_follow(db->log, to, replay_frame, wtxn, reached, error);
    if (status == TANSU_OK && *reached)
        status = log_follow_retire(db->log, &wtxn->retired, error);
    if (status != TANSU_OK || !*reached) {
        write_txn_abort(wtxn);
        return status;
    }
    wtxn->next->position = log_position(db->log);
    status = write_txn_commit(wtxn, TANSU_DURABILITY_PROCESS, NULL, error);
    if (status != TANSU_OK)
        log_follow_keep(db->log);
    return status;
}
