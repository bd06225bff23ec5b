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
 *
 * After a checkpoint only catalog, counts and location tables are brought up to date: which
 * documents were changed is noted for each collection, and left to the first user of each index
 * (store/index_backlog/index_backlog.h). A change of a collection's catalog, which may read the
 * documents, has the changes before it made first, and so does a compaction, which moves records.
 */
#include "store/recovery/recovery.h"

#include "bson/document.h"
#include "log/follow/follow.h"
#include "log/scan.h"
#include "store/background/background.h"
#include "store/collection.h"
#include "store/collection_options.h"
#include "store/database_internal.h"
#include "store/index_backlog/backlog_changes.h"
#include "store/index_backlog/index_backlog.h"
#include "store/write_txn/write_txn_internal.h"
#include "util/array.h"
#include "util/error.h"

#include <stdlib.h>

/* From that many commits on room for their changes is reserved before they come. */
#define FEW_COMMITS 256u

/* What is replayed into. */
typedef struct replaying {
    write_txn *wtxn;
    bool exact;             /* locations hold what was replayed (no block store was loaded) */
    bool several;           /* what the frame has put is noted in the transaction's `pending` */
    bool waits;             /* the indexes are left to their first users */
    uint64_t passed_over;   /* record ids that no record has */
    uint64_t commits;       /* that are to be replayed, as far as is known */
    backlog_changes *lists; /* of the collections, in the order of their first changes */
    uint32_t list_count;
    uint32_t list_capacity;
    collection_state *state; /* the transaction's own, used last; or NULL */
    /* bytes of the newest segment that are not yet counted in `state` and among those written */
    uint32_t segment;
    int64_t live;
    int64_t written;
} replaying;

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
static tansu_status old_snapshot(const replaying *r, const collection_state *state,
                                 const record_header *record, log_location *at, const uint8_t **doc,
                                 uint32_t *size, tansu_error *error) {
    write_txn *wtxn = r->wtxn;
    uint64_t rid = record_rid(record);
    log_location location = pending_find(&wtxn->pending, record->where);
    *at = 0;
    if (location == 0 && r->exact) {
        tansu_status status = locations_get(state->locations, rid, &location, error);
        if (status != TANSU_OK)
            return status;
    } else if (location == 0) {
        location = record_previous(record);
    }
    *doc = NULL;
    *size = 0;
    if (location == 0 || (location & LOCATION_DELETED) != 0)
        return TANSU_OK;
    *at = location;
    if (!log_has_segment(wtxn->db->log, (uint32_t)(location >> 32)))
        return damaged(location, "There is a change of a document in a missing segment", error);
    uint64_t room;
    const record_header *old = log_record(wtxn->db->log, &wtxn->pins, location, &room);
    *doc = record_document(old, room, record->where, size);
    return *doc != NULL ? TANSU_OK : damaged(location, "There is a corrupt document", error);
}

/* end_sums -- counts what was summed up. */
static void end_sums(replaying *r) {
    if (r->written != 0)
        segment_usage_add(r->wtxn->db->written, r->segment, r->written);
    if (r->live != 0)
        segment_usage_add(locations_live(r->state->locations), r->segment, r->live);
    r->written = r->live = 0;
}

/* leave_state -- before a state other than the last one is used, or the last one may be freed. */
static void leave_state(replaying *r) {
    end_sums(r);
    r->state = NULL;
}

/* enter_state -- has `state` be the transaction's own state of a collection, NULL if there is
 * none. */
static tansu_status enter_state(replaying *r, uint32_t collection, tansu_error *error) {
    if (r->state != NULL && r->state->id == collection)
        return TANSU_OK;
    leave_state(r);
    const collection_state *state = write_txn_collection_by_id(r->wtxn, collection);
    if (state == NULL)
        return TANSU_OK;
    return write_txn_collection(r->wtxn, state->name, 0, &r->state, error);
}

/* count_record -- counts a record that was written. */
static void count_record(replaying *r, log_location location, uint32_t size) {
    if (r->segment != (uint32_t)(location >> 32))
        end_sums(r);
    r->segment = (uint32_t)(location >> 32);
    r->written += size;
}

/* count_live -- a document's newest record is the one that was counted last, unless it is a
 * deletion, and was at `from` (0: it is new). */
static void count_live(replaying *r, log_location from, const record_header *record) {
    uint32_t segment = (uint32_t)(from >> 32);
    if (record->type == RECORD_PUT)
        r->live += record->size;
    if (from == 0)
        return;
    uint64_t room;
    uint32_t size = log_record(r->wtxn->db->log, &r->wtxn->pins, from, &room)->size;
    if (segment == r->segment)
        r->live -= size;
    else
        segment_usage_add(locations_live(r->state->locations), segment, -(int64_t)size);
}

/* list_of -- the changes of the collection that was entered; NULL when memory is exhausted. */
static backlog_changes *list_of(replaying *r) {
    if (r->state->changes != 0)
        return &r->lists[r->state->changes - 1];
    if (!ARRAY_RESERVE(r->lists, r->list_count, r->list_capacity, 1))
        return NULL;
    backlog_changes *list = &r->lists[r->list_count++];
    *list = (backlog_changes){.collection = r->state->id};
    r->state->changes = r->list_count;
    /* Most commits change one document, mostly of one collection. */
    if (r->list_count == 1 && r->commits > FEW_COMMITS)
        backlog_changes_expect(list, r->commits);
    return list;
}

/* change_indexes -- has a change of a document made in the indexes, now or by their first users. */
static tansu_status change_indexes(replaying *r, const record_header *record, log_location from,
                                   log_location location, const uint8_t *old, uint32_t old_size,
                                   tansu_error *error) {
    uint64_t rid = record_rid(record);
    const uint8_t *payload = record_payload(record);
    if (r->waits) {
        backlog_changes *list = list_of(r);
        if (list == NULL)
            return error_memory(error);
        if (!list->made_at_once)
            return backlog_changes_add(list, rid, from, location, error);
    }
    return record->type == RECORD_PUT
               ? write_txn_apply_put(r->wtxn, r->state, payload, load_u32(payload), rid, old,
                                     old_size, error)
               : write_txn_apply_delete(r->wtxn, r->state, rid, old, old_size, error);
}

/* replay_document -- a put or a delete. */
static tansu_status replay_document(replaying *r, const record_header *record,
                                    log_location location, tansu_error *error) {
    write_txn *wtxn = r->wtxn;
    uint32_t room = record->size - record_front(record);
    uint32_t size = load_u32(record_payload(record));
    tansu_status status = enter_state(r, record_collection(record), error);
    if (status != TANSU_OK)
        return status;
    count_record(r, location, record->size);
    if (r->state == NULL && wtxn->lenient)
        return TANSU_OK;
    if (r->state == NULL)
        return damaged(location, "There is a document of a collection that does not exist", error);
    if (size < 5 || size > room)
        return damaged(location, "There is a document that is longer than its record", error);
    collection_state *state = r->state;
    uint64_t rid = record_rid(record);
    /* Memory and time follow from a number, so that none is taken that can't be right. */
    if (rid > state->next_rid)
        r->passed_over += rid - state->next_rid;
    if (rid > MAX_RID || r->passed_over > log_max_rid(wtxn->db->log))
        return damaged(location, "There is a document with a record id that was never assigned",
                       error);
    status = locations_prepare(state->locations, rid, error);
    if (status == TANSU_OK && r->several && !pending_reserve(&wtxn->pending))
        status = error_memory(error);
    if (status != TANSU_OK)
        return status;
    const uint8_t *old = NULL;
    uint32_t old_size = 0;
    log_location from = 0;
    bool replaces = record->type == RECORD_DELETE || (record->flags & RECORD_REPLACES) != 0;
    if (replaces) {
        status = old_snapshot(r, state, record, &from, &old, &old_size, error);
        if (status == TANSU_OK && old == NULL && !wtxn->lenient)
            status =
                damaged(location, "There is a change of a document that does not exist", error);
    }
    if (status != TANSU_OK)
        return status;
    if (rid >= state->next_rid)
        state->next_rid = rid + 1;
    if (record->type == RECORD_DELETE) {
        if (old == NULL) /* compaction has left out what is deleted here */
            return TANSU_OK;
        location |= LOCATION_DELETED;
    }
    status = change_indexes(r, record, from, location, old, old_size, error);
    if (record->type == RECORD_DELETE)
        state->count--;
    else
        state->count += old == NULL;
    if (status != TANSU_OK)
        return status;
    count_live(r, from, record);
    locations_set(state->locations, rid, location);
    if (r->several)
        pending_set(&wtxn->pending, record->where, location);
    return TANSU_OK;
}

/* make_changes -- makes the changes that wait in the indexes of a collection. */
static tansu_status make_changes(replaying *r, backlog_changes *list, tansu_error *error) {
    if (list->count == 0)
        return TANSU_OK;
    tansu_status status = enter_state(r, list->collection, error);
    if (status == TANSU_OK && r->state != NULL)
        status =
            backlog_changes_apply_all(list, r->wtxn->db->log, &r->wtxn->writer, r->state, error);
    r->wtxn->broken = r->wtxn->broken || status != TANSU_OK;
    return status;
}

/* make_all_changes -- those of every collection. */
static tansu_status make_all_changes(replaying *r, tansu_error *error) {
    tansu_status status = TANSU_OK;
    for (uint32_t i = 0; status == TANSU_OK && i < r->list_count; i++)
        status = make_changes(r, &r->lists[i], error);
    return status;
}

/* leave_changes -- leaves what waits to the first users of the indexes. */
static tansu_status leave_changes(replaying *r, tansu_error *error) {
    database *db = r->wtxn->db;
    tansu_status status = TANSU_OK;
    bool left = false;
    for (uint32_t i = 0; status == TANSU_OK && i < r->list_count; i++) {
        if (r->lists[i].count == 0)
            continue;
        status = enter_state(r, r->lists[i].collection, error);
        if (status == TANSU_OK && r->state != NULL) {
            /* Their blocks are of an epoch of their own, for the trees may have blocks of the
             * transaction's, which must not be changed in place. */
            status = index_backlog_attach(db, r->state, &r->lists[i], r->wtxn->epoch + 1, error);
            left = true;
        }
    }
    if (left) {
        db->writer.next_epoch++;
        r->wtxn->next->epoch = r->wtxn->epoch + 1;
    }
    return status;
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
    status = index_definition_compile(*definition, wtxn->db->hooks, error);
    if (status != TANSU_OK)
        index_definition_free(*definition);
    return status;
}

/* before_catalog_change -- makes the changes that wait in the indexes of a collection. What is
 * built of an index that is created now may be of versions that are replayed later, for which the
 * location table may be ahead. So it gets each change of a document that follows, one after the
 * other: what lies between the first and the last one must not stay in it. */
static tansu_status before_catalog_change(replaying *r, const record_header *record,
                                          tansu_error *error) {
    tansu_status status = TANSU_OK;
    bool creates = record->type == RECORD_INDEX_CREATE;
    if (r->waits)
        status = enter_state(r, record_collection(record), error);
    if (r->waits && status == TANSU_OK && r->state != NULL && (creates || r->state->changes != 0)) {
        backlog_changes *list = list_of(r);
        status = list == NULL ? error_memory(error) : make_changes(r, list, error);
        if (status == TANSU_OK && creates)
            list->made_at_once = true;
    }
    leave_state(r);
    return status;
}

/* replay_options -- the options of a collection that a record sets. */
static tansu_status replay_options(write_txn *wtxn, const collection_state *state,
                                   const uint8_t *payload, uint32_t size, log_location location,
                                   tansu_error *error) {
    const char *compression = text_of(payload, size, "compression");
    const char *name = state->name; /* a copy of the state frees nothing before the end */
    doc_value option;
    tansu_status status = TANSU_OK;
    if (compression != NULL) {
        enum codec codec;
        (void)codec_of_name(compression, &codec); /* an unknown one is none */
        status = write_txn_set_codec(wtxn, state->name, codec, error);
    }
    for (int i = 0; status == TANSU_OK && i < OPTION_COUNT; i++) {
        const char *member = collection_options[i].name;
        void *value;
        if (!doc_find(payload, size, member, strlen(member), &option))
            continue;
        status = collection_options[i].parse(&option, &value, error);
        if (status == TANSU_OK)
            status = write_txn_set_option(wtxn, name, i, value, error);
    }
    return status == TANSU_E_INVALID_QUERY
               ? damaged(location, "There are invalid options of a collection", error)
               : status;
}

/* replay_catalog -- a change of collections or indexes. */
static tansu_status replay_catalog(replaying *r, const record_header *record, log_location location,
                                   tansu_error *error) {
    write_txn *wtxn = r->wtxn;
    const uint8_t *payload = record_payload(record);
    uint32_t size = load_u32(payload);
    uint32_t room = record->size - record_front(record);
    const char *name = size < 5 || size > room ? NULL : text_of(payload, size, "name");
    if (name == NULL)
        return damaged(location, "There is a catalog record without a name", error);
    uint32_t id = record_collection(record);
    tansu_status made = before_catalog_change(r, record, error);
    if (made != TANSU_OK)
        return made;
    const collection_state *state = write_txn_collection_by_id(wtxn, id);
    if (state == NULL && record->type != RECORD_COLLECTION_CREATE && wtxn->lenient)
        return TANSU_OK;
    if (state == NULL && record->type != RECORD_COLLECTION_CREATE)
        return damaged(location, "There is a catalog record of a collection that does not exist",
                       error);
    if (state != NULL && record->type == RECORD_COLLECTION_CREATE)
        return damaged(location, "There is a collection with the number of another one", error);
    /* Counted as when it was written. */
    segment_usage_add(wtxn->db->written, (uint32_t)(location >> 32),
                      (int64_t)write_txn_dead(record->type, record->size));
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
    case RECORD_COLLECTION_OPTIONS:
        return replay_options(wtxn, state, payload, size, location, error);
    case RECORD_INDEX_CREATE: {
        index_definition *definition;
        tansu_status status = index_of(wtxn, payload, size, &definition, error);
        if (status == TANSU_E_MEMORY || status == TANSU_E_UNSUPPORTED)
            return status;
        if (status != TANSU_OK)
            return damaged(location, "There is an invalid index definition", error);
        return write_txn_add_index(wtxn, state->name, definition, NULL, error);
    }
    case RECORD_INDEX_DROP: {
        tansu_status status = write_txn_remove_index(wtxn, state->name, name, error);
        /* Compaction may have left out what is dropped here. */
        return status == TANSU_E_NOT_FOUND && wtxn->lenient ? TANSU_OK : status;
    }
    default: return damaged(location, "There is a record of an unknown type", error);
    }
}

/* replay_compaction -- the installation of a compacted segment. */
static tansu_status replay_compaction(replaying *r, const record_header *record,
                                      log_location location, tansu_error *error) {
    if (r->exact)
        return TANSU_OK;
    tansu_status status = make_all_changes(r, error);
    leave_state(r);
    /* The records that it replaced are there until the next checkpoint only. */
    r->waits = false;
    return status == TANSU_OK ? recovery_compaction(r->wtxn, record, location, error) : status;
}

/* replay_record -- one record of any type. */
static tansu_status replay_record(replaying *r, const record_header *record, log_location location,
                                  tansu_error *error) {
    /* Numbers of what compaction has left out are not assigned again. */
    if (record_collection(record) >= r->wtxn->next_collection)
        r->wtxn->next_collection = record_collection(record) + 1;
    switch (record->type) {
    case RECORD_PUT:
    case RECORD_DELETE: return replay_document(r, record, location, error);
    case RECORD_COMPACTION: return replay_compaction(r, record, location, error);
    default: return replay_catalog(r, record, location, error);
    }
}

/* replay_frame -- all records of one commit. */
static tansu_status replay_frame(void *context, const frame_header *frame, log_location location,
                                 tansu_error *error) {
    replaying *r = context;
    write_txn *wtxn = r->wtxn;
    const uint8_t *at = (const uint8_t *)frame + FRAME_HEADER_SIZE;
    const uint8_t *end = (const uint8_t *)frame + frame->size;
    tansu_status status = TANSU_OK;
    worker_note_replayed(wtxn->db, frame->size, frame->count);
    r->several = !r->exact && frame->count > 1;
    while (status == TANSU_OK && at < end) {
        const record_header *record = (const record_header *)at;
        status = replay_record(r, record, location, error);
        at += record_step(record);
        location += record->size;
    }
    if (r->several)
        pending_clear(&wtxn->pending);
    wtxn->changed = true;
    wtxn->next->sequence = frame->sequence;
    return status;
}

/* replaying_free -- frees what was noted. */
static void replaying_free(replaying *r) {
    for (uint32_t i = 0; i < r->list_count; i++)
        backlog_changes_free(&r->lists[i]);
    free(r->lists);
}

tansu_status recovery_replay(database *db, tansu_progress progress, void *progress_context,
                             bool exact, bool *reached, tansu_error *error) {
    write_txn *wtxn;
    tansu_status status = write_txn_begin(db, &wtxn, error);
    if (status != TANSU_OK)
        return status;
    wtxn->replay = true;
    wtxn->lenient = exact && log_compacted(db->log);
    wtxn->next->sequence = wtxn->base->sequence;
    replaying r = {.wtxn = wtxn, .exact = exact, .waits = !exact};
    if (db->log->found.written > wtxn->base->sequence)
        r.commits = db->log->found.written - wtxn->base->sequence;
    status = log_replay(db->log, wtxn->base->sequence, wtxn->base->position,
                        db->manifest.known.end_sequence, replay_frame, &r, progress,
                        progress_context, reached, error);
    leave_state(&r);
    if (status == TANSU_OK && *reached)
        status = leave_changes(&r, error);
    replaying_free(&r);
    if (status != TANSU_OK || !*reached) {
        write_txn_abort(wtxn);
        return status;
    }
    /* Of the last commits compaction may have left nothing; their numbers are taken all the
     * same. */
    wtxn->next->sequence = log_last(db->log);
    wtxn->changed = wtxn->next->sequence != wtxn->base->sequence;
    wtxn->next->position = log_position(db->log);
    return write_txn_publish_replayed(wtxn, error);
}

tansu_status recovery_follow(database *db, uint64_t to, bool *reached, tansu_error *error) {
    write_txn *wtxn;
    tansu_status status = write_txn_begin(db, &wtxn, error);
    if (status != TANSU_OK)
        return status;
    wtxn->replay = true;
    wtxn->next->sequence = wtxn->base->sequence;
    replaying r = {.wtxn = wtxn};
    /* What waits needs records of segments that a compaction may have replaced since. */
    status = snapshot_indexes_current(wtxn->base, error);
    if (status == TANSU_OK)
        status = log_follow(db->log, to, replay_frame, &r, reached, error);
    leave_state(&r);
    replaying_free(&r);
    if (status == TANSU_OK && *reached)
        status = log_follow_retire(db->log, &wtxn->retired, error);
    if (status != TANSU_OK || !*reached) {
        write_txn_abort(wtxn);
        return status;
    }
    wtxn->next->position = log_position(db->log);
    status = write_txn_publish_replayed(wtxn, error);
    if (status != TANSU_OK)
        log_follow_keep(db->log);
    return status;
}
