/*
 * catalog/compact.c -- one run of segments from the first record read to the last file removed.
 */
#include "catalog/compact.h"

#include "base/error.h"
#include "catalog/feed.h"
#include "catalog/manifest.h"
#include "catalog/pending.h"
#include "log/compact.h"

#include <bson/bson.h>
#include <stdlib.h>

/* Bytes read between two pauses. */
#define SLICE ((uint64_t)1024 * 1024)

/* A record that lies elsewhere when the new segment is in force. */
typedef struct moved {
    uint64_t where;
    log_place from; /* as the places have it, with PLACE_DELETED */
    log_place to;   /* 0: a deletion that nobody needs any more */
    uint64_t size;
} moved;

typedef struct compaction {
    database *db;
    const compact_run *run;
    log_compaction *out;
    version *v;      /* held: what it needs is kept */
    view view;       /* of it */
    uint64_t oldest; /* no reader is older, and no feed has been told less */
    bool from_start; /* nothing of the log lies before the run */
    bool behind;     /* a reader or a feed is somewhere within the run */
    moved *list;
    size_t count;
    size_t room;
    uint64_t left_out;            /* records */
    uint64_t for_readers;         /* bytes of deletions that are kept for a reader only */
    const collection_state *last; /* found last */
    pending newest;               /* as of the version, of documents that have changed since */
} compaction;

/* ---- What is kept ---- */

/* state_of -- the collection as of the version that is held. */
static const collection_state *state_of(compaction *c, uint32_t id) {
    if (c->last == NULL || c->last->id != id)
        c->last = version_collection_by_id(c->v, id);
    return c->last;
}

/* note_moved -- adds to the list of what is stored when the segment is installed. */
static tansu_status note_moved(compaction *c, const record_header *record, log_place from,
                               log_place to, tansu_error *error) {
    if (c->count == c->room) {
        size_t room = c->room == 0 ? 1024 : c->room * 2;
        moved *list = realloc(c->list, room * sizeof *list);
        if (list == NULL)
            return error_memory(error);
        c->list = list;
        c->room = room;
    }
    c->list[c->count++] =
        (moved){.where = record->where, .from = from, .to = to, .size = record->size};
    return TANSU_OK;
}

/* newest_place -- where a document was as of the version; PLACE_DELETED when it was not. A document that
 * is written all the time has a long way back to there, which is gone only once. */
static tansu_status newest_place(compaction *c, const collection_state *state,
                                 const record_header *record, log_place from, log_place *place,
                                 tansu_error *error) {
    tansu_status status = places_get(state->places, record_docno(record), place, error);
    if (status != TANSU_OK || *place == from)
        return status;
    *place = pending_find(&c->newest, record->where);
    if (*place != 0)
        return TANSU_OK;
    status = view_find(&c->view, state, record_docno(record), place, error);
    if (status == TANSU_DONE)
        *place = PLACE_DELETED;
    else if (status != TANSU_OK)
        return status;
    if (!pending_reserve(&c->newest))
        return error_memory(error);
    pending_set(&c->newest, record->where, *place);
    return TANSU_OK;
}

/* judge_put -- a document is kept if it is the newest one as of the version. */
static tansu_status judge_put(compaction *c, const record_header *record, log_place from,
                              log_place to, bool *keep, tansu_error *error) {
    const collection_state *state = state_of(c, record_collection(record));
    if (state == NULL)
        return TANSU_OK;
    log_place newest;
    tansu_status status = newest_place(c, state, record, from, &newest, error);
    if (status != TANSU_OK)
        return status;
    *keep = newest == from;
    return *keep ? note_moved(c, record, from, to, error) : TANSU_OK;
}

/* judge_delete -- a deletion is kept as long as the log may hold the document before it, or a reader
 * sees it. */
static tansu_status judge_delete(compaction *c, const record_header *record, log_place from,
                                 log_place to, bool *keep, tansu_error *error) {
    const collection_state *state = state_of(c, record_collection(record));
    if (state == NULL)
        return TANSU_OK;
    *keep = !c->from_start || record->sequence > c->oldest;
    if (c->from_start && *keep)
        c->for_readers += record->size;
    log_place word;
    tansu_status status = places_get(state->places, record_docno(record), &word, error);
    if (status != TANSU_OK || word != (from | PLACE_DELETED))
        return status;
    return note_moved(c, record, word, *keep ? to | PLACE_DELETED : 0, error);
}

/* judge -- a log_judge. */
static tansu_status judge(void *context, const record_header *record, log_place from, log_place to,
                          bool *keep, tansu_error *error) {
    compaction *c = context;
    tansu_status status = TANSU_OK;
    switch (record->type) {
    case RECORD_PUT: status = judge_put(c, record, from, to, keep, error); break;
    case RECORD_DELETE: status = judge_delete(c, record, from, to, keep, error); break;
    /* The checkpoint before this compaction lists the segment that it tells of, or a newer one. */
    case RECORD_COMPACTION: break;
    default: *keep = !c->from_start || c->behind || state_of(c, record_collection(record)) != NULL;
    }
    c->left_out += !*keep;
    return status;
}

/* ---- Copying ---- */

tansu_status compact_mark(database *db, tansu_error *error) {
    tansu_status status = TANSU_OK;
    pthread_mutex_lock(&db->checkpoint_mutex);
    if (!db->manifest.compacted) {
        manifest m = db->manifest;
        m.compacted = true;
        if (db->folder != NULL)
            status = manifest_write(db->calls, db->folder, &m, error);
        if (status == TANSU_OK)
            db->manifest.compacted = true;
    }
    pthread_mutex_unlock(&db->checkpoint_mutex);
    return status;
}

/* begin -- holds the version whose documents are kept. */
static tansu_status begin(compaction *c, tansu_error *error) {
    database *db = c->db;
    tansu_status status = compact_mark(db, error);
    if (status != TANSU_OK)
        return status;
    c->v = database_hold(db);
    pthread_mutex_lock(&db->version_mutex);
    c->oldest = db->oldest->sequence;
    pthread_mutex_unlock(&db->version_mutex);
    c->view = (view){.log = db->log, .trees = db->trees, .sequence = c->v->sequence};
    /* What replaced a record must be on the disk before the record is left out. */
    status = log_sync(db->log, c->v->sequence, error);
    if (status != TANSU_OK)
        return status;
    log_extent *list;
    uint32_t count;
    status = log_sealed(db->log, false, &list, &count, error);
    if (status != TANSU_OK)
        return status;
    /* All of the run must be seen by the version, and by the checkpoint. */
    uint64_t limit = db->folder == NULL
                         ? c->v->sequence
                         : __atomic_load_n(&db->checkpoint_sequence, __ATOMIC_RELAXED);
    uint32_t last = c->run->numbers[c->run->count - 1];
    uint64_t end = 0; /* the last commit of the run */
    for (uint32_t i = 0; i < count; i++)
        if (list[i].number == last && list[i].last <= limit)
            end = list[i].last;
    c->from_start = count != 0 && list[0].number == c->run->numbers[0];
    free(list);
    if (end == 0)
        return TANSU_DONE;
    c->oldest = feed_thin(db, c->oldest, c->from_start ? end : 0);
    c->behind = c->oldest < end;
    return log_compact_begin(db->log, c->run->numbers, c->run->count, &c->out, error);
}

/* copy -- reads the run and writes the new segment. */
static tansu_status copy(compaction *c, compact_pause pause, void *context, tansu_error *error) {
    tansu_status status = TANSU_OK;
    while (status == TANSU_OK) {
        uint64_t bytes = 0;
        status = log_compact_step(c->out, SLICE, judge, c, &bytes, error);
        tansu_status paused =
            status == TANSU_OK || status == TANSU_DONE ? pause(context, bytes, error) : TANSU_OK;
        if (paused != TANSU_OK)
            status = paused;
    }
    return status == TANSU_DONE ? log_compact_finish(c->out, error) : status;
}

/* ---- Installing ---- */

/* take_turn -- the writer's turn, and the checkpoint mutex with it. The turn is never held while another
 * thread is waited for that may want it. */
static tansu_status take_turn(database *db, tansu_error *error) {
    for (;;) {
        tansu_status status = database_begin_writing(db, NULL, error);
        if (status != TANSU_OK || pthread_mutex_trylock(&db->checkpoint_mutex) == 0)
            return status;
        database_end_writing(db);
        pthread_mutex_lock(&db->checkpoint_mutex);
        pthread_mutex_unlock(&db->checkpoint_mutex);
    }
}

/* write_record -- the RECORD_COMPACTION of the change. */
static tansu_status write_record(compaction *c, change *change, tansu_error *error) {
    bson_t payload = BSON_INITIALIZER, list;
    bool done = BSON_APPEND_INT64(&payload, "segment", log_compact_number(c->out)) &&
                BSON_APPEND_ARRAY_BEGIN(&payload, "replaces", &list);
    for (uint32_t i = 0; done && i < c->run->count; i++) {
        char key[16];
        const char *at;
        size_t length = bson_uint32_to_string(i, &at, key, sizeof key);
        done = bson_append_int64(&list, at, (int)length, c->run->numbers[i]);
    }
    done = done && bson_append_array_end(&payload, &list);
    uint64_t at;
    tansu_status status = done ? change_record(change, RECORD_COMPACTION, 0, 0, 0, 0,
                                               bson_get_data(&payload), payload.len, &at, error)
                               : error_memory(error);
    bson_destroy(&payload);
    return status;
}

/* forget -- takes the old segments out of the counts. */
static void forget(database *db, const version *v, uint32_t number) {
    usage_forget(db->written, number);
    for (uint32_t i = 0; i < v->count; i++)
        usage_forget(places_live(v->collections[i]->places), number);
}

/* store_places -- the places of what was moved and not changed since; nothing of it can fail. */
static void store_places(compaction *c, const version *v, uint32_t number) {
    const collection_state *state = NULL;
    uint64_t live = 0;
    for (size_t i = 0; i < c->count; i++) {
        const moved *m = &c->list[i];
        uint32_t id = (uint32_t)(m->where >> 40);
        if (state == NULL || state->id != id)
            state = version_collection_by_id(v, id);
        if (state == NULL || /* dropped since */
            !places_swing(state->places, m->where & (((uint64_t)1 << 40) - 1), m->from, m->to))
            continue;
        if (m->to == 0 || (m->to & PLACE_DELETED) != 0)
            continue;
        usage_add(places_live(state->places), number, (int64_t)m->size);
        live += m->size;
    }
    /* Deletions that must stay until the log's beginning is compacted, too, do not count as dead. */
    usage_add(c->db->written, number, (int64_t)(live + c->for_readers));
    for (uint32_t i = 0; i < c->run->count; i++)
        forget(c->db, v, c->run->numbers[i]);
}

/* install -- makes the new segment part of the log. */
static tansu_status install(compaction *c, tansu_error *error) {
    database *db = c->db;
    tansu_status status = take_turn(db, error);
    if (status != TANSU_OK)
        return status;
    change *change;
    status = change_begin(db, &change, error);
    if (status != TANSU_OK) {
        database_end_writing(db);
        pthread_mutex_unlock(&db->checkpoint_mutex);
        return status;
    }
    change->unread = true; /* there is no way back behind log_compact_install() */
    uint32_t number = log_compact_number(c->out);
    status = write_record(c, change, error);
    if (status == TANSU_OK && !retire_reserve(&change->retired, c->run->count))
        status = error_memory(error);
    if (status == TANSU_OK)
        status = log_compact_install(c->out, &change->retired, error);
    if (status == TANSU_OK) {
        c->out = NULL;
        store_places(c, change->base, number);
        db->installed_sequence = change->sequence;
        status = change_commit(change, TANSU_DURABILITY_FULL, NULL, error);
        if (status == TANSU_OK)
            status = checkpoint_write_locked(db, error);
    } else {
        change_abort(change);
    }
    pthread_mutex_unlock(&db->checkpoint_mutex);
    return status;
}

tansu_status compact_segments(database *db, const compact_run *run, compact_pause pause,
                              void *context, compact_figures *figures, tansu_error *error) {
    compaction c = {.db = db, .run = run};
    tansu_status status = begin(&c, error);
    if (status == TANSU_OK)
        status = copy(&c, pause, context, error);
    if (status == TANSU_OK)
        status = install(&c, error);
    log_compact_cancel(c.out);
    if (c.v != NULL)
        database_release(db, c.v);
    free(c.list);
    pending_free(&c.newest);
    if (status == TANSU_OK) {
        __atomic_add_fetch(&db->compactions, 1, __ATOMIC_RELAXED);
        figures->segments += run->count;
        figures->records += c.left_out;
    }
    return status == TANSU_DONE ? TANSU_OK : status;
}
