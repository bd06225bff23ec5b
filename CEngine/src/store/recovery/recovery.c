/*
 * store/recovery/recovery.c -- the order of recovery: checkpoint, log, checks.
 */
#include "store/recovery/recovery.h"

#include "bson/document.h"
#include "log/follow/follow.h"
#include "log/scan.h"
#include "store/checkpoint/checkpoint.h"
#include "store/checkpoint/stored_catalog.h"
#include "store/database_internal.h"
#include "store/files.h"
#include "store/snapshot.h"
#include "store/write_txn/write_txn_internal.h"
#include "util/error.h"

#include <stdio.h>
#include <stdlib.h>

tansu_status recovery_start_empty(database *db, tansu_error *error) {
    snapshot *v = snapshot_new();
    if (v == NULL)
        return error_memory(error);
    db->snapshots.oldest = db->snapshots.visible = db->snapshots.head = v;
    return TANSU_OK;
}

/* check_expected_end -- the log holds what the index files, which were rebuilt, had seen in it; now
 * all of that is synced, for the MANIFEST says so since checkpoint_discard(). */
static tansu_status check_expected_end(database *db, tansu_error *error) {
    uint64_t seen = db->log->expected_end;
    if (db->snapshots.head->sequence < seen)
        return error_at(error, TANSU_E_CORRUPT, "log", 0,
                        "The log ends with commit %llu and had contained commit %llu; restore a "
                        "backup or salvage what is readable with \"tansu repair\"",
                        (unsigned long long)db->snapshots.head->sequence, (unsigned long long)seen);
    if (db->options.read_only || seen <= db->manifest.known.end_sequence)
        return TANSU_OK;
    tansu_status status = log_sync(db->log, db->snapshots.head->sequence, error);
    if (status == TANSU_OK)
        db->manifest.known.end_sequence = seen;
    return status;
}

/* run -- recovery_run() without noting the end. */
static tansu_status run(database *db, const tansu_options *options, tansu_error *error) {
    snapshot *stored = NULL;
    tansu_status status = checkpoint_load(db, &stored, error);
    bool reached = true;
    if (status == TANSU_OK && stored != NULL)
        db->snapshots.oldest = db->snapshots.visible = db->snapshots.head = stored;
    /* All is read now or mapped, and nothing of it used: an index that is newer than the segments
     * would lead to ones that are not there. */
    if (status == TANSU_OK && db->options.concurrent)
        status = files_stamp_check(db, error);
    if (status == TANSU_OK && stored != NULL) {
        db->checkpoints.index_was_open = db->manifest.known.index_open;
        status = log_activate_segments(db->log, db->checkpoints.segments,
                                       db->checkpoints.segment_count, error);
        if (status == TANSU_OK)
            status = recovery_replay(db, options->progress, options->progress_context, false,
                                     &reached, error);
        else if (status == TANSU_E_CORRUPT)
            return status;
        if (status == TANSU_OK && reached) {
            log_drop_inactive(db->log);
            return TANSU_OK;
        }
        /* An index that is ahead of the log, or holds blocks that are invalid, is rebuilt;
         * damage to the log itself shows once more then. */
        snapshot_free_all(db);
        snprintf(db->checkpoints.rebuilt, sizeof db->checkpoints.rebuilt,
                 "they did not match the log");
        if (status == TANSU_OK || status == TANSU_E_CORRUPT || status == TANSU_E_NOT_FOUND)
            status = checkpoint_discard(db, error);
    }
    if (status == TANSU_OK)
        status = log_activate_segments(db->log, NULL, 0, error);
    if (status == TANSU_OK)
        status = recovery_start_empty(db, error);
    if (status == TANSU_OK)
        status = recovery_replay(db, options->progress, options->progress_context, true, &reached,
                                 error);
    if (status == TANSU_OK)
        status = check_expected_end(db, error);
    if (status == TANSU_OK && db->snapshots.head->sequence == 0)
        db->checkpoints.rebuilt[0] = 0; /* there was nothing to make */
    if (status == TANSU_OK)
        log_drop_inactive(db->log);
    return status;
}

/* note_end -- commits that a process before has left behind the end that the MANIFEST of an encrypted
 * database notes could be cut off, with the marks in TAIL: so the MANIFEST notes them before anything
 * is written behind them. Without disk space the next checkpoint does. */
static tansu_status note_end(database *db, uint64_t noted, tansu_error *error) {
    uint64_t end = db->snapshots.head->sequence;
    if (db->keys == NULL || db->options.read_only || end <= noted)
        return TANSU_OK;
    tansu_status status = log_sync(db->log, end, error);
    if (status == TANSU_OK)
        status = checkpoint_note_end(db, noted, error);
    return status == TANSU_E_FULL ? TANSU_OK : status;
}

tansu_status recovery_run(database *db, const tansu_options *options, tansu_error *error) {
    uint64_t noted = db->manifest.known.end_sequence;
    tansu_status status = run(db, options, error);
    return status == TANSU_OK ? note_end(db, noted, error) : status;
}

/* ---- Recovery compaction ---- */

/*
 * Replaying a compaction whose process crashed before the
 * checkpoint that follows it.
 */

typedef struct replayed_compaction {
    write_txn *wtxn;
    uint32_t number;
    uint32_t *replaced;
    uint32_t count;
    uint64_t oldest; /* commit of the oldest snapshot that somebody may read */
} replayed_compaction;

/* corrupt -- a record that is invalid here. */
static tansu_status corrupt(log_location location, tansu_error *error) {
    char name[32];
    segment_name((uint32_t)(location >> 32), name);
    return error_at(error, TANSU_E_CORRUPT, name, (int64_t)(uint32_t)location,
                    "A compaction does not match the segments at \"%s\", offset %u; restore a "
                    "backup or salvage what is readable with \"tansu repair\"",
                    name, (uint32_t)location);
}

/* in_use -- the error for a compaction that cannot be applied while others read. */
static tansu_status in_use(tansu_error *error) {
    return error_set(error, TANSU_E_BUSY, NULL,
                     "What was compacted is being read; open the database again");
}

/* oldest_snapshot -- nobody reads at opening. */
static uint64_t oldest_snapshot(database *db) {
    if (db->root == db)
        return UINT64_MAX;
    pthread_mutex_lock(&db->snapshots.mutex);
    uint64_t oldest = db->snapshots.oldest->sequence;
    pthread_mutex_unlock(&db->snapshots.mutex);
    return oldest;
}

/* read_record -- the numbers in the payload. */
static tansu_status read_record(replayed_compaction *a, const record_header *record,
                                log_location location, tansu_error *error) {
    const uint8_t *payload = record_payload(record);
    uint32_t room = record->size - record_front(record);
    uint32_t size = load_u32(payload);
    doc_value segment, list;
    int64_t number;
    if (size < 5 || size > room || !doc_find(payload, size, "segment", 7, &segment) ||
        !doc_as_int64(&segment, &number) || number <= 0 || number > UINT32_MAX ||
        !doc_find(payload, size, "replaces", 8, &list) || list.type != DOC_ARRAY)
        return corrupt(location, error);
    a->number = (uint32_t)number;
    a->replaced = malloc((size_t)size * sizeof *a->replaced); /* an item takes more than one byte */
    if (a->replaced == NULL)
        return error_memory(error);
    doc_iter iter;
    for (doc_iter_value(&iter, &list); doc_iter_next(&iter);) {
        if (!doc_as_int64(&iter.value, &number) || number <= 0 || number > UINT32_MAX)
            return corrupt(location, error);
        a->replaced[a->count++] = (uint32_t)number;
    }
    return TANSU_OK;
}

/* check_replaced -- a segment can be replaced once, if it is there, and not the one that the record
 * is in. */
static tansu_status check_replaced(const replayed_compaction *a, log_location location,
                                   tansu_error *error) {
    if (a->count > log_segment_count(a->wtxn->db->log))
        return corrupt(location, error);
    for (uint32_t i = 0; i < a->count; i++) {
        if (a->replaced[i] == (uint32_t)(location >> 32) || a->replaced[i] == a->number)
            return corrupt(location, error);
        for (uint32_t k = 0; k < i; k++)
            if (a->replaced[k] == a->replaced[i])
                return corrupt(location, error);
    }
    return TANSU_OK;
}

/* is_replaced -- whether a location lies in one of the old segments. */
static bool is_replaced(const replayed_compaction *a, log_location location) {
    for (uint32_t i = 0; i < a->count; i++)
        if (a->replaced[i] == (uint32_t)(location >> 32))
            return true;
    return false;
}

/* Called for one document or deletion of a segment; `word` is what the locations say. */
typedef tansu_status (*record_visitor)(replayed_compaction *a, const collection_state *state,
                                       const record_header *record, log_location location,
                                       log_location word, tansu_error *error);

/* visit_records -- the documents and deletions of a frame whose collections are still there. */
static tansu_status visit_records(replayed_compaction *a, const frame_header *frame,
                                  log_location location, record_visitor see, tansu_error *error) {
    const uint8_t *at = (const uint8_t *)frame + FRAME_HEADER_SIZE;
    tansu_status status = TANSU_OK;
    for (uint32_t i = 0; status == TANSU_OK && i < frame->count; i++) {
        const record_header *record = (const record_header *)at;
        const collection_state *state =
            record->type == RECORD_PUT || record->type == RECORD_DELETE
                ? write_txn_collection_by_id(a->wtxn, record_collection(record))
                : NULL;
        log_location word = 0;
        if (state != NULL)
            status = locations_get(state->locations, record_rid(record), &word, error);
        if (status == TANSU_OK && is_replaced(a, word))
            status = see(a, state, record, location, word, error);
        at += record_step(record);
        location += record->size;
    }
    return status;
}

/* relocate_record -- a record of the new segment: the location is changed to it from the same
 * record in an old segment. */
static tansu_status relocate_record(replayed_compaction *a, const collection_state *state,
                                    const record_header *record, log_location location,
                                    log_location word, tansu_error *error) {
    (void)error;
    uint64_t room;
    const record_header *old = log_record(a->wtxn->db->log, &a->wtxn->pins, word, &room);
    bool deleted = record->type == RECORD_DELETE;
    if (old->where != record->where || !record_same_commit(old, record) ||
        ((word & LOCATION_DELETED) != 0) != deleted)
        return TANSU_OK;
    stored_catalog_mark(a->wtxn->db, state->id, a->wtxn->epoch);
    locations_relocate(state->locations, record_rid(record), word,
                       deleted ? location | LOCATION_DELETED : location);
    if (!deleted)
        segment_usage_add(locations_live(state->locations), a->number, record->size);
    return TANSU_OK;
}

/* clear_deletion -- a record of an old segment that the locations still name: a deletion that was
 * left out. */
static tansu_status clear_deletion(replayed_compaction *a, const collection_state *state,
                                   const record_header *record, log_location location,
                                   log_location word, tansu_error *error) {
    if ((word & LOCATION_MASK) != location)
        return TANSU_OK;
    if (record->type != RECORD_DELETE)
        return corrupt(location, error);
    /* The writer keeps the deletions that its own readers need, and knows of no others. */
    if (record_visible_from(record) > a->oldest)
        return in_use(error);
    stored_catalog_mark(a->wtxn->db, state->id, a->wtxn->epoch);
    locations_relocate(state->locations, record_rid(record), word, 0);
    return TANSU_OK;
}

/* relocate_frame -- a log_visitor over the new segment. What was changed while it was written is
 * dead in it, and counts as written. */
static tansu_status relocate_frame(void *context, const frame_header *frame, log_location location,
                                   tansu_error *error) {
    const replayed_compaction *a = context;
    const uint8_t *at = (const uint8_t *)frame + FRAME_HEADER_SIZE;
    for (uint32_t i = 0; i < frame->count; i++) {
        const record_header *record = (const record_header *)at;
        if (record->type == RECORD_PUT)
            segment_usage_add(a->wtxn->db->written, a->number, record->size);
        at += record_step(record);
    }
    return visit_records(context, frame, location, relocate_record, error);
}

/* clear_frame -- a log_visitor over an old segment. */
static tansu_status clear_frame(void *context, const frame_header *frame, log_location location,
                                tansu_error *error) {
    return visit_records(context, frame, location, clear_deletion, error);
}

tansu_status recovery_compaction(write_txn *wtxn, const record_header *record,
                                 log_location location, tansu_error *error) {
    replayed_compaction a = {.wtxn = wtxn, .oldest = oldest_snapshot(wtxn->db)};
    bool adopted = false;
    tansu_status status = read_record(&a, record, location, error);
    if (status == TANSU_OK)
        status = check_replaced(&a, location, error);
    if (status == TANSU_OK && wtxn->db->instances.keeps_segments)
        status = in_use(error);
    if (status == TANSU_OK && wtxn->db->options.concurrent)
        status = log_follow_compacted(wtxn->db->log, a.number, error);
    if (status == TANSU_OK)
        status = log_activate(wtxn->db->log, a.number, &adopted, error);
    if (status == TANSU_OK && !adopted)
        status = corrupt(location, error);
    if (status == TANSU_OK)
        status = log_scan(wtxn->db->log, a.number, relocate_frame, &a, error);
    for (uint32_t i = 0; status == TANSU_OK && i < a.count; i++)
        status = log_scan(wtxn->db->log, a.replaced[i], clear_frame, &a, error);
    for (uint32_t i = 0; status == TANSU_OK && i < a.count; i++) {
        segment_usage_forget(wtxn->db->written, a.replaced[i]);
    }
    const collection_state *state;
    catalog_cursor all = snapshot_from(wtxn->next, NULL);
    while (status == TANSU_OK && (state = snapshot_next(&all)) != NULL) {
        for (uint32_t i = 0; i < a.count; i++)
            segment_usage_forget(locations_live(state->locations), a.replaced[i]);
    }
    if (status == TANSU_E_NOT_FOUND)
        status = corrupt(location, error);
    free(a.replaced);
    return status;
}
