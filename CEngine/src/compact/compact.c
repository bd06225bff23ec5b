/*
 * compact/compact.c -- compacting one run of segments, from the first record read to the last file
 * removed.
 */
#include "compact/compact.h"

#include "bson/writer.h"
#include "feed/feed.h"
#include "log/rewrite.h"
#include "store/checkpoint/checkpoint.h"
#include "store/checkpoint/stored_catalog.h"
#include "store/database_internal.h"
#include "store/files.h"
#include "store/index_backlog/index_backlog.h"
#include "store/manifest.h"
#include "store/pending.h"
#include "store/read_context.h"
#include "store/write_lock.h"
#include "store/write_txn/write_txn_internal.h"
#include "util/array.h"
#include "util/error.h"

#include <stdlib.h>

/* Bytes read between two pauses. */
#define SLICE ((uint64_t)1024 * 1024)

/* A record that lies elsewhere when the new segment is active. */
typedef struct moved {
    uint64_t where;
    log_location from; /* as the location table has it, with LOCATION_DELETED */
    log_location to;   /* 0: a deletion that is not needed any more */
    uint64_t size;
} moved;

typedef struct compaction {
    database *db;
    const compact_run *run;
    log_compaction *out;
    snapshot *v;        /* held: what it needs is kept */
    read_context rctx;  /* of it */
    log_pins pins;      /* of that */
    uint64_t oldest;    /* no reader is older, and every feed has delivered at least this commit */
    bool from_start;    /* nothing of the log lies before the run */
    uint64_t end;       /* the last commit of the run */
    bool reader_within; /* a reader or a feed is somewhere within the run */
    table settled;      /* of compact_keeps_setting() */
    pending born;       /* documents whose first record is in the run and is left out */
    uint64_t dropped;   /* the newest commit of which a deletion of one of them is left out, or a
                           record of a collection that was created in the run; 0: none */
    moved *list;
    size_t count;
    size_t capacity;
    uint64_t left_out;            /* records */
    uint64_t for_readers;         /* bytes of deletions that are kept for a reader only */
    const collection_state *last; /* found last */
    kept_versions kept;           /* of snapshots that see nothing of the run */
    pending newest;               /* as of the snapshot, of documents that have changed since */
} compaction;

/* ---- What is kept ---- */

/* state_of -- the collection as of the snapshot that is held. */
static const collection_state *state_of(compaction *c, uint32_t id) {
    if (c->last == NULL || c->last->id != id)
        c->last = snapshot_collection_by_id(c->v, id);
    return c->last;
}

/* note_moved -- adds to the list of what is stored when the segment is installed. */
static tansu_status note_moved(compaction *c, const record_header *record, log_location from,
                               log_location to, tansu_error *error) {
    if (!ARRAY_RESERVE(c->list, c->count, c->capacity, 1))
        return error_memory(error);
    c->list[c->count++] =
        (moved){.where = record->where, .from = from, .to = to, .size = record->size};
    return TANSU_OK;
}

/* newest_location -- where a document was as of the snapshot; LOCATION_DELETED when it did not
 * exist. A document that is written all the time has a long chain of versions back to there, so the
 * result is kept. */
static tansu_status newest_location(compaction *c, const collection_state *state,
                                    const record_header *record, log_location from,
                                    log_location *location, tansu_error *error) {
    tansu_status status = locations_get(state->locations, record_rid(record), location, error);
    if (status != TANSU_OK || *location == from)
        return status;
    *location = pending_find(&c->newest, record->where);
    if (*location != 0)
        return TANSU_OK;
    status = read_find(&c->rctx, state, record_rid(record), location, error);
    if (status == TANSU_DONE)
        *location = LOCATION_DELETED;
    else if (status != TANSU_OK)
        return status;
    if (!pending_reserve(&c->newest))
        return error_memory(error);
    pending_set(&c->newest, record->where, *location);
    return TANSU_OK;
}

/* So many documents, or collections, are noted, 16 to 48 bytes each. */
#define BORN_MOST ((uint64_t)1 << 20)

/* note_born -- the first record of a document or a collection is left out: nothing of it lies
 * before the run. Memory that is exhausted costs no more than some bytes of the log. */
static void note_born(compaction *c, uint64_t where) {
    if (!c->from_start && c->born.count < BORN_MOST && pending_reserve(&c->born))
        pending_set(&c->born, where, 1);
}

/* is_born -- whether all records of a document or a collection are in the run, or before it are
 * none. */
static bool is_born(const compaction *c, uint64_t where) {
    return c->from_start || pending_find(&c->born, where) != 0;
}

/* note_dropped -- a record that tells of a removal is left out. */
static void note_dropped(compaction *c, uint64_t commit) {
    if (!c->from_start && commit > c->dropped)
        c->dropped = commit;
}

/* filter_put -- a document is kept if it is the newest one as of the snapshot. */
static tansu_status filter_put(compaction *c, const record_header *record, log_location from,
                               log_location to, bool *keep, tansu_error *error) {
    const collection_state *state = state_of(c, record_collection(record));
    if (state == NULL)
        return TANSU_OK;
    log_location newest;
    tansu_status status = newest_location(c, state, record, from, &newest, error);
    if (status != TANSU_OK)
        return status;
    *keep = newest == from;
    if (!*keep && record_is_insert(record))
        note_born(c, record->where);
    return *keep ? note_moved(c, record, from, to, error) : TANSU_OK;
}

/* filter_delete -- a deletion is kept as long as the log may hold the document before it, or a
 * reader sees it. The log does not when the run begins with the log, or holds the insertion: the
 * commits of a document are those from that one on. */
static tansu_status filter_delete(compaction *c, const record_header *record, log_location from,
                                  log_location to, bool *keep, tansu_error *error) {
    const collection_state *state = state_of(c, record_collection(record));
    if (state == NULL)
        return TANSU_OK;
    bool born = is_born(c, record->where);
    *keep = !born || record_visible_from(record) > c->oldest;
    if (!*keep)
        note_dropped(c, record_visible_from(record));
    else if (born)
        c->for_readers += record->size;
    log_location word;
    tansu_status status = locations_get(state->locations, record_rid(record), &word, error);
    if (status != TANSU_OK || word != (from | LOCATION_DELETED))
        return status;
    return note_moved(c, record, word, *keep ? to | LOCATION_DELETED : 0, error);
}

/* keeps_catalog -- whether a record of the catalog is kept: those of a collection that was dropped
 * are not, if nothing of it lies before the run. */
static bool keeps_catalog(compaction *c, const record_header *record) {
    const collection_state *state = state_of(c, record_collection(record));
    if (state != NULL)
        return compact_keeps_setting(&c->settled, state, record, c->from_start);
    if (c->reader_within)
        return true;
    if (record->type == RECORD_COLLECTION_CREATE)
        note_born(c, record->where);
    if (!is_born(c, record->where))
        return true;
    if (record->type != RECORD_COLLECTION_CREATE)
        note_dropped(c, record_visible_from(record));
    return false;
}

/* judge -- a log_compaction_filter. */
static tansu_status filter_record(void *context, const record_header *record, log_location from,
                                  log_location to, bool *keep, tansu_error *error) {
    compaction *c = context;
    tansu_status status = TANSU_OK;
    kept_note(&c->kept, record);
    switch (record->type) {
    case RECORD_PUT: status = filter_put(c, record, from, to, keep, error); break;
    case RECORD_DELETE: status = filter_delete(c, record, from, to, keep, error); break;
    /* The checkpoint before this compaction lists the segment of that record, or a newer one. */
    case RECORD_COMPACTION: break;
    default: *keep = keeps_catalog(c, record);
    }
    c->left_out += !*keep;
    return status;
}

/* is_compressed -- a log_compaction_compresses. */
static bool is_compressed(void *context, uint32_t collection) {
    const collection_state *state = state_of(context, collection);
    return state != NULL && state->codec != CODEC_NONE;
}

/* ---- Copying ---- */

/* begin -- holds the snapshot whose documents are kept. */
static tansu_status begin(compaction *c, tansu_error *error) {
    database *db = c->db;
    tansu_status status = manifest_mark_compacted(db, error);
    if (status != TANSU_OK)
        return status;
    c->v = snapshot_acquire(db);
    pthread_mutex_lock(&db->snapshots.mutex);
    c->oldest = db->snapshots.oldest->sequence;
    pthread_mutex_unlock(&db->snapshots.mutex);
    /* Indexes that are not current need the old records. */
    status = snapshot_indexes_current(c->v, error);
    if (status != TANSU_OK)
        return status;
    c->rctx = (read_context){.log = db->log,
                             .pins = &c->pins,
                             .trees = db->trees,
                             .sequence = c->v->sequence,
                             .kept = &c->v->kept};
    /* What replaced a record must be on the disk before the record is left out. */
    status = log_sync(db->log, c->v->sequence, error);
    if (status != TANSU_OK)
        return status;
    log_extent *list;
    uint32_t count;
    status = log_sealed(db->log, false, &list, &count, error);
    if (status != TANSU_OK)
        return status;
    /* All of the run must be seen by the snapshot, and by the checkpoint. */
    uint64_t limit = db->files.folder == NULL
                         ? c->v->sequence
                         : __atomic_load_n(&db->checkpoints.sequence, __ATOMIC_RELAXED);
    uint32_t last = c->run->numbers[c->run->count - 1];
    for (uint32_t i = 0; i < count; i++)
        if (list[i].number == last && list[i].last <= limit)
            c->end = list[i].last;
    c->from_start = count != 0 && list[0].number == c->run->numbers[0];
    free(list);
    if (c->end == 0)
        return TANSU_DONE;
    c->oldest = feed_begin_compaction(db, c->oldest, c->from_start ? c->end : 0);
    c->reader_within = c->oldest < c->end;
    status =
        log_compact_begin(db->log, c->run->numbers, c->run->count, c->v->sequence, &c->out, error);
    if (status == TANSU_OK)
        kept_begin(&c->kept, db, log_compact_first(c->out));
    if (status != TANSU_OK || !c->run->compress)
        return status;
    return log_compact_compress(c->out, CODEC_LZ4, is_compressed, c, error);
}

/* copy -- reads the run and writes the new segment. */
static tansu_status copy(compaction *c, compact_pause pause, void *context, tansu_error *error) {
    tansu_status status = TANSU_OK;
    while (status == TANSU_OK) {
        uint64_t bytes = 0;
        status = log_compact_step(c->out, SLICE, filter_record, c, &bytes, error);
        tansu_status paused =
            status == TANSU_OK || status == TANSU_DONE ? pause(context, bytes, error) : TANSU_OK;
        if (paused != TANSU_OK)
            status = paused;
    }
    if (status == TANSU_DONE)
        status = folder_check(c->db, error);
    return status == TANSU_OK ? log_compact_finish(c->out, c->dropped != 0, error) : status;
}

/* ---- Installing ---- */

/* acquire_locks -- the write lock and the checkpoint mutex. The write lock is never held while
 * waiting for another thread that may want it. */
static tansu_status acquire_locks(database *db, tansu_error *error) {
    for (;;) {
        tansu_status status = write_lock_acquire(db, NULL, error);
        if (status != TANSU_OK || pthread_mutex_trylock(&db->checkpoints.mutex) == 0)
            return status;
        write_lock_release(db);
        pthread_mutex_lock(&db->checkpoints.mutex);
        pthread_mutex_unlock(&db->checkpoints.mutex);
    }
}

/* write_record -- the RECORD_COMPACTION of the change. */
static tansu_status write_record(compaction *c, write_txn *wtxn, tansu_error *error) {
    tansu_buffer payload = TANSU_BUFFER_INIT;
    writer w = {.out = &payload};
    size_t document = writer_begin(&w);
    writer_int64(&w, "segment", log_compact_number(c->out));
    size_t list = writer_open(&w, "replaces", DOC_ARRAY);
    for (uint32_t i = 0; i < c->run->count; i++)
        writer_index_int64(&w, i, c->run->numbers[i]);
    writer_end(&w, list);
    uint64_t at;
    tansu_status status = writer_finish(&w, document)
                              ? write_txn_record(wtxn, RECORD_COMPACTION, 0, 0, 0, 0, payload.data,
                                                 payload.size, &at, error)
                              : error_memory(error);
    tansu_buffer_free(&payload);
    return status;
}

/* forget -- takes the old segments out of the counts. */
static void forget(const compaction *c, const snapshot *v) {
    const compact_run *run = c->run;
    const collection_state *state;
    catalog_cursor all = snapshot_from(v, NULL);
    for (uint32_t i = 0; i < run->count; i++)
        segment_usage_forget(c->db->written, run->numbers[i]);
    while ((state = snapshot_next(&all)) != NULL)
        for (uint32_t i = 0; i < run->count; i++)
            segment_usage_forget(locations_live(state->locations), run->numbers[i]);
}

/* relocate_moved -- the locations of what was moved and not changed since; nothing of it can
 * fail. */
static void relocate_moved(compaction *c, const snapshot *v, uint64_t epoch, uint32_t number) {
    const collection_state *state = NULL;
    uint64_t written = 0;
    for (size_t i = 0; i < c->count; i++) {
        const moved *m = &c->list[i];
        uint32_t id = where_collection(m->where);
        bool document = m->to != 0 && (m->to & LOCATION_DELETED) == 0;
        if (document) /* dead if it was changed since */
            written += m->size;
        if (state == NULL || state->id != id)
            state = snapshot_collection_by_id(v, id);
        if (state == NULL || /* dropped since */
            !locations_relocate(state->locations, where_rid(m->where), m->from, m->to))
            continue;
        stored_catalog_mark(c->db, id, epoch);
        if (document)
            segment_usage_add(locations_live(state->locations), number, (int64_t)m->size);
    }
    /* Deletions that must stay until the log's beginning is compacted, too, do not count as
     * dead. */
    segment_usage_add(c->db->written, number, (int64_t)(written + c->for_readers));
    forget(c, v);
}

/* install -- makes the new segment part of the log. */
static tansu_status install(compaction *c, tansu_error *error) {
    database *db = c->db;
    tansu_status status = acquire_locks(db, error);
    if (status != TANSU_OK)
        return status;
    write_txn *wtxn;
    status = write_txn_begin(db, &wtxn, error);
    if (status != TANSU_OK) {
        write_lock_release(db);
        pthread_mutex_unlock(&db->checkpoints.mutex);
        return status;
    }
    /* A feed that was opened meanwhile is known to the next compaction. */
    if (c->dropped != 0 && !feed_end_compaction(db, c->dropped, c->end)) {
        write_txn_abort(wtxn);
        pthread_mutex_unlock(&db->checkpoints.mutex);
        return TANSU_DONE;
    }
    wtxn->ignores_read_faults = true; /* nothing can be undone after log_compact_install() */
    uint32_t number = log_compact_number(c->out);
    status = write_record(c, wtxn, error);
    if (status == TANSU_OK && !retire_reserve(&wtxn->retired, c->run->count))
        status = error_memory(error);
    if (status == TANSU_OK)
        status = log_compact_install(c->out, wtxn->sequence, kept_birth(&c->kept), &wtxn->retired,
                                     error);
    if (status == TANSU_OK) {
        c->out = NULL;
        relocate_moved(c, wtxn->base, wtxn->epoch, number);
        db->checkpoints.installed_sequence = wtxn->sequence;
        status = write_txn_commit(wtxn, TANSU_DURABILITY_FULL, NULL, error);
        if (status == TANSU_OK)
            status = checkpoint_write_locked(db, error);
    } else {
        write_txn_abort(wtxn);
    }
    pthread_mutex_unlock(&db->checkpoints.mutex);
    return status;
}

tansu_status compact_segments(database *db, const compact_run *run, compact_pause pause,
                              void *context, compact_result *result, tansu_error *error) {
    compaction c = {.db = db, .run = run};
    tansu_status status = begin(&c, error);
    if (status == TANSU_OK)
        status = copy(&c, pause, context, error);
    if (status == TANSU_OK)
        status = install(&c, error);
    log_compact_cancel(c.out);
    log_pins_release(&c.pins);
    kept_end(&c.kept);
    if (c.v != NULL)
        snapshot_release(db, c.v);
    free(c.list);
    pending_free(&c.newest);
    pending_free(&c.born);
    table_free(&c.settled, free);
    if (status == TANSU_OK) {
        __atomic_add_fetch(&db->compactor.compactions, 1, __ATOMIC_RELAXED);
        result->segments += run->count;
        result->records += c.left_out;
    }
    return status == TANSU_DONE ? TANSU_OK : status;
}
