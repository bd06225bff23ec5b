/*
 * store/index_backlog/index_backlog.c -- bringing indexes up to date with the log after the
 * checkpoint.
 */
#include "store/index_backlog/index_backlog.h"

#include "index/index_batch.h"
#include "log/scan.h"
#include "store/database_internal.h"
#include "store/index_backlog/backlog_changes.h"
#include "util/array.h"
#include "util/error.h"

#include <stdatomic.h>
#include <stdlib.h>

/* Of each index. */
typedef struct backlog_index {
    pthread_mutex_t mutex; /* held by the thread that brings it up to date, or counts in it */
    bool counted;          /* a count was answered before it was brought up to date */
} backlog_index;

typedef struct index_backlog {
    database *db;
    uint64_t epoch;
    struct index_backlog *next; /* of the database's list */
    pthread_mutex_t mutex;      /* held while the changes are sorted */
    backlog_changes changes;
    atomic_uint waiting; /* indexes that are not current; the last one frees the changes */
    uint32_t index_count;
    atomic_bool *current; /* which are; that of `_id` first */
    backlog_index indexes[];
} index_backlog;

tansu_status index_backlog_attach(database *db, collection_state *state, backlog_changes *changes,
                                  uint64_t epoch, tansu_error *error) {
    uint32_t count = state->index_count + 1;
    index_backlog *backlog = calloc(1, sizeof *backlog + count * sizeof backlog->indexes[0]);
    atomic_bool *current = calloc(count, sizeof *current);
    if (backlog == NULL || current == NULL) {
        free(backlog);
        free(current);
        return error_memory(error);
    }
    *backlog = (index_backlog){
        .db = db, .epoch = epoch, .changes = *changes, .index_count = count, .current = current};
    *changes = (backlog_changes){.items = NULL};
    atomic_init(&backlog->waiting, count);
    pthread_mutex_init(&backlog->mutex, NULL);
    for (uint32_t i = 0; i < count; i++) {
        pthread_mutex_init(&backlog->indexes[i].mutex, NULL);
        atomic_init(&current[i], false);
    }
    backlog->next = db->backlogs;
    db->backlogs = backlog;
    state->backlog = backlog;
    state->current = current;
    return TANSU_OK;
}

void index_backlogs_free(database *db) {
    while (db->backlogs != NULL) {
        index_backlog *backlog = db->backlogs;
        db->backlogs = backlog->next;
        for (uint32_t i = 0; i < backlog->index_count; i++)
            pthread_mutex_destroy(&backlog->indexes[i].mutex);
        pthread_mutex_destroy(&backlog->mutex);
        backlog_changes_free(&backlog->changes);
        free(backlog->current);
        free(backlog);
    }
}

/* sort_changes -- sorts them, once for all indexes. */
static void sort_changes(index_backlog *backlog) {
    pthread_mutex_lock(&backlog->mutex);
    backlog_changes_sort(&backlog->changes);
    pthread_mutex_unlock(&backlog->mutex);
}

/* bring_up -- makes the changes in one index of a published state; its mutex is held. The blocks
 * that are replaced are the checkpoint's, which no snapshot refers to, and can be freed at once. */
static tansu_status bring_up(index_backlog *backlog, collection_state *state, uint32_t number,
                             tansu_error *error) {
    database *db = backlog->db;
    retire_list retired = {.items = NULL};
    tree_writer writer = {.store = db->trees, .epoch = backlog->epoch, .retired = &retired};
    tree *published = number == 0 ? &state->ids : &state->indexes[number - 1].entries;
    tree entries = *published;
    bool multikey = number != 0 && state->indexes[number - 1].multikey;
    sort_changes(backlog);
    uint64_t faults = log_faults(db->log);
    tansu_status status = backlog_changes_apply(&backlog->changes, db->log, &writer, state, number,
                                                &entries, &multikey, error);
    status = log_check(db->log, faults, status, error);
    if (status != TANSU_OK) {
        tree_discard(&writer, &entries);
        retire_forget(&retired);
        if (status == TANSU_E_CORRUPT && db->bs != NULL)
            block_store_mark_damaged(db->bs); /* the next opening reads all of the log */
        return status;
    }
    tree_published(&retired);
    retire_run(&retired);
    *published = entries;
    if (number != 0)
        state->indexes[number - 1].multikey = multikey;
    return TANSU_OK;
}

tansu_status index_backlog_apply(const collection_state *state, uint32_t number,
                                 tansu_error *error) {
    index_backlog *backlog = state->backlog;
    if (!index_waits(state, number))
        return TANSU_OK;
    tansu_status status = TANSU_OK;
    pthread_mutex_lock(&backlog->indexes[number].mutex);
    if (index_waits(state, number)) {
        /* Nobody reads these members of the published state before they are current. */
        status = bring_up(backlog, (collection_state *)state, number, error);
        if (status == TANSU_OK) {
            atomic_store_explicit(&backlog->current[number], true, memory_order_release);
            if (atomic_fetch_sub(&backlog->waiting, 1) == 1)
                backlog_changes_free(&backlog->changes);
        }
    }
    pthread_mutex_unlock(&backlog->indexes[number].mutex);
    return status;
}

/* count_waiting -- index_backlog_count() for an index that is not current, which stays so
 * meanwhile. */
static tansu_status count_waiting(index_backlog *backlog, const collection_state *state,
                                  uint32_t number, const backlog_counting *counting,
                                  uint64_t *count, bool *counted) {
    tansu_error ignored;
    int64_t more = 0;
    sort_changes(backlog);
    uint64_t faults = log_faults(backlog->db->log);
    tansu_status status = counting->stored(counting->context, counted, count, &ignored);
    if (status == TANSU_OK && *counted)
        status = backlog_changes_count(&backlog->changes, backlog->db->log, state, number, counting,
                                       &more, counted, &ignored);
    *count += (uint64_t)more;
    return log_check(backlog->db->log, faults, status, &ignored);
}

bool index_backlog_count(const collection_state *state, uint32_t number,
                         const backlog_counting *counting, uint64_t *count) {
    index_backlog *backlog = state->backlog;
    bool counted = false;
    pthread_mutex_lock(&backlog->indexes[number].mutex);
    if (index_waits(state, number) && !backlog->indexes[number].counted) {
        backlog->indexes[number].counted = true;
        if (count_waiting(backlog, state, number, counting, count, &counted) != TANSU_OK)
            counted = false;
    }
    pthread_mutex_unlock(&backlog->indexes[number].mutex);
    return counted;
}

tansu_status indexes_current(const collection_state *state, tansu_error *error) {
    tansu_status status = TANSU_OK;
    for (uint32_t i = 0; status == TANSU_OK && i <= state->index_count; i++)
        status = index_current(state, i, error);
    return status;
}

tansu_status snapshot_indexes_current(const snapshot *v, tansu_error *error) {
    tansu_status status = TANSU_OK;
    const collection_state *state;
    catalog_cursor all = snapshot_from(v, NULL);
    while (status == TANSU_OK && (state = snapshot_next(&all)) != NULL)
        status = indexes_current(state, error);
    return status;
}

/* ---- Tail changes ---- */

/*
 * Noting what the log after the checkpoint changed, and making
 * the changes in an index.
 */

/* Changed entries take at most so much memory, and are then made. */
#define BATCH_BYTES ((size_t)8 * 1024 * 1024)

/* How many changes ahead documents are asked for. */
#define PREFETCH_AHEAD 8u
#define PREFETCH_LINES 4u

/* Room for so many changes is reserved before they come. */
#define MOST_EXPECTED 65536u

tansu_status backlog_changes_add(backlog_changes *changes, uint64_t rid, log_location from,
                                 log_location to, tansu_error *error) {
    if (!ARRAY_RESERVE(changes->items, changes->count, changes->capacity, 1))
        return error_memory(error);
    if (changes->count == 0)
        changes->sorted = true;
    else if (changes->items[changes->count - 1].rid >= rid)
        changes->sorted = false;
    changes->items[changes->count++] = (backlog_change){.rid = rid, .from = from, .to = to};
    return TANSU_OK;
}

void backlog_changes_expect(backlog_changes *changes, uint64_t count) {
    size_t room = count < MOST_EXPECTED ? count : MOST_EXPECTED;
    if (room > changes->capacity)
        (void)ARRAY_RESERVE(changes->items, changes->count, changes->capacity, room);
}

void backlog_changes_free(backlog_changes *changes) {
    free(changes->items);
    changes->items = NULL;
    changes->count = changes->capacity = 0;
}

/* compare_changes -- by record id, and those of one document by their order in the log: within the
 * log after a checkpoint locations rise. For qsort(). */
static int compare_changes(const void *left, const void *right) {
    const backlog_change *a = left, *b = right;
    if (a->rid != b->rid)
        return a->rid < b->rid ? -1 : 1;
    return (a->to > b->to) - (a->to < b->to);
}

/* backlog_changes_sort -- from the record as of the checkpoint to the newest one. */
void backlog_changes_sort(backlog_changes *changes) {
    size_t kept = 0;
    if (changes->sorted)
        return;
    qsort(changes->items, changes->count, sizeof *changes->items, compare_changes);
    for (size_t i = 0; i < changes->count; i++) {
        if (kept != 0 && changes->items[kept - 1].rid == changes->items[i].rid)
            changes->items[kept - 1].to = changes->items[i].to;
        else
            changes->items[kept++] = changes->items[i];
    }
    changes->count = kept;
    changes->sorted = true;
}

/* ---- Making the changes in one index ---- */

/* What one index is changed with. */
typedef struct application {
    const log *log;
    log_pins pins; /* of the documents that are read */
    uint32_t collection;
    const index_definition *definition; /* NULL: that of `_id` */
    tree_writer *writer;
    tree *entries;
    bool *multikey;
    index_batch batch;
    index_entries was;
    index_entries now;
} application;

/* document_at -- the document at a location; *doc NULL if there is none. */
static inline tansu_status document_at(application *a, uint64_t rid, log_location at,
                                       const uint8_t **doc, uint32_t *size, tansu_error *error) {
    *doc = NULL;
    if (at == 0 || (at & LOCATION_DELETED) != 0)
        return TANSU_OK;
    uint64_t room;
    const record_header *record = log_record(a->log, &a->pins, at, &room);
    *doc = record_document(record, room, record_where(a->collection, rid), size);
    if (*doc != NULL)
        return TANSU_OK;
    char name[32];
    segment_name((uint32_t)(at >> 32), name);
    return error_at(error, TANSU_E_CORRUPT, name, (int64_t)(uint32_t)at,
                    "There is a corrupt document at \"%s\", offset %u; restore a backup or "
                    "salvage what is readable with \"tansu repair\"",
                    name, (uint32_t)at);
}

/* make_entries -- the entries of a document. */
static inline tansu_status make_entries(application *a, index_entries *made, uint64_t rid,
                                        const uint8_t *doc, uint32_t size, tansu_error *error) {
    return a->definition == NULL ? index_entries_make_id(made, doc, size, rid, error)
                                 : index_entries_make(made, a->definition, doc, size, rid, error);
}

/* make_entries_at -- those of the document at a location; none if there is none. */
static inline tansu_status make_entries_at(application *a, index_entries *made, uint64_t rid,
                                           log_location at, tansu_error *error) {
    const uint8_t *doc;
    uint32_t size;
    made->count = 0;
    made->multikey = false;
    tansu_status status = document_at(a, rid, at, &doc, &size, error);
    return status != TANSU_OK || doc == NULL ? status
                                             : make_entries(a, made, rid, doc, size, error);
}

/* compare_entries -- orders two entries by memcmp, the shorter first. */
static int compare_entries(const index_entries *a, uint32_t i, const index_entries *b, uint32_t k) {
    const struct index_entry *x = &a->list[i], *y = &b->list[k];
    uint32_t size = x->size < y->size ? x->size : y->size;
    int order = memcmp(a->bytes.data + x->offset, b->bytes.data + y->offset, size);
    return order != 0 ? order : x->size < y->size ? -1 : x->size > y->size;
}

/* add_change -- notes the entries that a document lost and got. */
static tansu_status add_change(application *a, const backlog_change *change, tansu_error *error) {
    const index_entries *was = &a->was, *now = &a->now;
    tansu_status status = make_entries_at(a, &a->was, change->rid, change->from, error);
    if (status == TANSU_OK)
        status = make_entries_at(a, &a->now, change->rid, change->to, error);
    bool added = true;
    for (uint32_t i = 0, k = 0;
         status == TANSU_OK && added && (i < was->count || k < now->count);) {
        int order = i == was->count ? 1 : k == now->count ? -1 : compare_entries(was, i, now, k);
        if (order < 0)
            added = index_batch_add(&a->batch, was->bytes.data + was->list[i].offset,
                                    was->list[i].size, true);
        else if (order > 0)
            added = index_batch_add(&a->batch, now->bytes.data + now->list[k].offset,
                                    now->list[k].size, false);
        i += order <= 0;
        k += order >= 0;
    }
    *a->multikey = *a->multikey || now->multikey;
    return status == TANSU_OK && !added ? error_memory(error) : status;
}

/* prefetch -- asks for the documents of a change some places ahead. */
static void prefetch(const application *a, const backlog_changes *changes, size_t at) {
    if (at + PREFETCH_AHEAD >= changes->count)
        return;
    const backlog_change *ahead = &changes->items[at + PREFETCH_AHEAD];
    if (ahead->from != 0)
        log_prefetch(a->log, ahead->from, PREFETCH_LINES, UINT64_MAX);
    log_prefetch(a->log, ahead->to, PREFETCH_LINES, UINT64_MAX);
}

/* apply -- makes all changes in one index. */
static tansu_status apply(application *a, const backlog_changes *changes, tansu_error *error) {
    tansu_status status = TANSU_OK;
    for (size_t i = 0; status == TANSU_OK && i < changes->count; i++) {
        prefetch(a, changes, i);
        status = add_change(a, &changes->items[i], error);
        if (status == TANSU_OK && index_batch_memory(&a->batch) >= BATCH_BYTES)
            status = index_batch_apply(&a->batch, a->definition, a->writer, a->entries, error);
    }
    if (status == TANSU_OK)
        status = index_batch_apply(&a->batch, a->definition, a->writer, a->entries, error);
    log_pins_release(&a->pins);
    index_batch_free(&a->batch);
    index_entries_free(&a->was);
    index_entries_free(&a->now);
    return status;
}

tansu_status backlog_changes_apply(const backlog_changes *changes, const log *l,
                                   tree_writer *writer, const collection_state *state,
                                   uint32_t number, tree *entries, bool *multikey,
                                   tansu_error *error) {
    application a = {.log = l,
                     .collection = state->id,
                     .definition = number == 0 ? NULL : state->indexes[number - 1].definition,
                     .writer = writer,
                     .entries = entries,
                     .multikey = multikey};
    return apply(&a, changes, error);
}

/* A count by one index. */
typedef struct backlog_count {
    application application;
    const backlog_counting *counting;
} backlog_count;

/* count_inside -- how many of a document's entries are counted. */
static int64_t count_inside(const index_entries *made, const backlog_counting *counting) {
    int64_t count = 0;
    for (uint32_t i = 0; i < made->count; i++)
        count += counting->inside(counting->context, made->bytes.data + made->list[i].offset,
                                  made->list[i].size);
    return count;
}

/* count_document -- how many of the entries of the document at a location are counted; `made` is
 * memory for them. *multikey: that they make the index so. */
static tansu_status count_document(backlog_count *c, index_entries *made, uint64_t rid,
                                   log_location at, int64_t *count, bool *multikey,
                                   tansu_error *error) {
    application *a = &c->application;
    const uint8_t *doc;
    uint32_t size;
    *count = 0;
    *multikey = false;
    tansu_status status = document_at(a, rid, at, &doc, &size, error);
    if (status != TANSU_OK || doc == NULL)
        return status;
    status = make_entries(a, made, rid, doc, size, error);
    if (status != TANSU_OK)
        return status;
    *count = count_inside(made, c->counting);
    *multikey = made->multikey;
    return TANSU_OK;
}

tansu_status backlog_changes_count(const backlog_changes *changes, const log *l,
                                   const collection_state *state, uint32_t number,
                                   const backlog_counting *counting, int64_t *more, bool *usable,
                                   tansu_error *error) {
    backlog_count c = {.counting = counting};
    application *a = &c.application;
    a->log = l;
    a->collection = state->id;
    a->definition = number == 0 ? NULL : state->indexes[number - 1].definition;
    tansu_status status = TANSU_OK;
    *more = 0;
    *usable = true;
    for (size_t i = 0; status == TANSU_OK && *usable && i < changes->count; i++) {
        const backlog_change *change = &changes->items[i];
        int64_t was, now;
        bool ignored, multikey = false;
        prefetch(a, changes, i);
        status = count_document(&c, &a->was, change->rid, change->from, &was, &ignored, error);
        if (status == TANSU_OK)
            status = count_document(&c, &a->now, change->rid, change->to, &now, &multikey, error);
        if (status == TANSU_OK)
            *more += now - was;
        *usable = !multikey;
    }
    log_pins_release(&a->pins);
    index_entries_free(&a->was);
    index_entries_free(&a->now);
    return status;
}

tansu_status backlog_changes_apply_all(backlog_changes *changes, const log *l, tree_writer *writer,
                                       collection_state *state, tansu_error *error) {
    bool ignored = false;
    backlog_changes_sort(changes);
    tansu_status status =
        backlog_changes_apply(changes, l, writer, state, 0, &state->ids, &ignored, error);
    for (uint32_t i = 0; status == TANSU_OK && i < state->index_count; i++)
        status = backlog_changes_apply(changes, l, writer, state, i + 1, &state->indexes[i].entries,
                                       &state->indexes[i].multikey, error);
    changes->count = 0;
    return status;
}
