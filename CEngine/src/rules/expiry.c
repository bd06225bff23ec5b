/*
 * rules/expiry.c -- passes over the indexes by which documents expire.
 */
#include "rules/expiry.h"

#include "bson/value.h"
#include "rules/rules.h"
#include "store/background/background.h"
#include "store/database_internal.h"
#include "store/files.h"
#include "store/index_backlog/index_backlog.h"
#include "store/write_txn/write_txn.h"
#include "util/array.h"
#include "util/buffer.h"
#include "util/bytes.h"
#include "util/clock.h"
#include "util/error.h"

#include <stdlib.h>

/* Index entries of a batch. One that took longer than BATCH_NS is followed by one of half as many,
 * down to BATCH_LEAST; fewer than these are tried when a removal is denied. */
#define BATCH_MOST 100
#define BATCH_LEAST 10
#define BATCH_NS ((uint64_t)4000000)

/* After a batch others have the write lock for as long as the batch took, and at least so long. */
#define PAUSE_LEAST_NS ((uint64_t)1000000)

/* An index of a collection, by their numbers. */
typedef struct expiring_index {
    uint32_t collection;
    uint32_t index;
} expiring_index;

/* A pass. */
typedef struct pass {
    database *db;
    expiry_result *result;
    tansu_error *error;
    const interrupt *stop; /* NULL: it is called, and not the background's */
    int64_t now;           /* the wall clock when it began */
    expiring_index *list;
    size_t count;
    size_t capacity;
    /* Of the current index: the entries that are left, and how many the next batch has. */
    tansu_buffer low;
    tansu_buffer high;
    tansu_buffer next; /* the first entry after the batch */
    uint32_t most;
    clock_time began; /* since when the batch has the write lock */
} pass;

/* ---- The indexes ---- */

/* list_indexes -- those of all collections by which documents expire. */
static tansu_status list_indexes(pass *p) {
    snapshot *v = snapshot_acquire_head(p->db);
    tansu_status status = TANSU_OK;
    catalog_cursor all = snapshot_from(v, NULL);
    const collection_state *state;
    while (v->expiring != 0 && status == TANSU_OK && (state = snapshot_next(&all)) != NULL) {
        for (uint32_t i = 0; status == TANSU_OK && i < state->index_count; i++) {
            const index_definition *definition = state->indexes[i].definition;
            if (!definition->expires)
                continue;
            if (ARRAY_RESERVE(p->list, p->count, p->capacity, 1))
                p->list[p->count++] = (expiring_index){state->id, definition->id};
            else
                status = error_memory(p->error);
        }
    }
    snapshot_release(p->db, v);
    return status;
}

/* find_index -- the index in a snapshot, brought up to date; *index is NULL when it was dropped. */
static tansu_status find_index(const pass *p, const snapshot *v, const expiring_index *which,
                               const collection_state **state, const collection_index **index) {
    *index = NULL;
    *state = snapshot_collection_by_id(v, which->collection);
    for (uint32_t i = 0; *state != NULL && i < (*state)->index_count; i++) {
        if ((*state)->indexes[i].definition->id != which->index)
            continue;
        *index = &(*state)->indexes[i];
        return index_current(*state, i + 1, p->error);
    }
    return TANSU_OK;
}

/* date_key -- replaces a key by that of a date in the index. */
static bool date_key(tansu_buffer *key, int64_t date, bool descending) {
    uint8_t bytes[8];
    store_u64(bytes, (uint64_t)date);
    key->size = 0;
    return value_key(key, &(doc_value){.data = bytes, .size = sizeof bytes, .type = DOC_DATE},
                     descending);
}

/* set_range -- the entries of dates that are past: those of an array of dates begin with its
 * earliest. */
static tansu_status set_range(pass *p, const index_definition *definition) {
    bool descending = definition->descending[0];
    int64_t last = p->now - (int64_t)definition->expire_after * 1000;
    return date_key(&p->low, descending ? last : INT64_MIN, descending) &&
                   date_key(&p->high, descending ? INT64_MIN : last, descending) &&
                   key_successor(&p->high)
               ? TANSU_OK
               : error_memory(p->error);
}

/* take -- the record ids of the next entries, and where those after them begin; p->next is empty
 * when there are none. */
static tansu_status take(pass *p, const collection_index *index, uint64_t *rids, size_t *count) {
    tree_cursor cursor;
    bool valid;
    *count = 0;
    p->next.size = 0;
    tree_cursor_init(&cursor, p->db->trees, &index->entries);
    tansu_status status = tree_cursor_seek(&cursor, p->low.data, p->low.size, &valid, p->error);
    if (status == TANSU_OK && valid)
        status =
            tree_cursor_rids(&cursor, p->high.data, p->high.size, rids, p->most, count, p->error);
    if (status == TANSU_OK && *count == p->most && cursor.height > 0 &&
        !tree_cursor_key(&cursor, &p->next))
        status = error_memory(p->error);
    tree_cursor_end(&cursor);
    return status;
}

/* compare_rids -- the order of record ids, for qsort(). */
static int compare_rids(const void *a, const void *b) {
    uint64_t first = *(const uint64_t *)a, second = *(const uint64_t *)b;
    return (first > second) - (first < second);
}

/* unique_rids -- sorts record ids, of which a document with several dates has several. */
static size_t unique_rids(uint64_t *rids, size_t count) {
    size_t kept = 0;
    qsort(rids, count, sizeof *rids, compare_rids);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || rids[i] != rids[kept - 1])
            rids[kept++] = rids[i];
    return kept;
}

/* ---- Batches ---- */

/* is_denial -- whether a removal fails because of its documents: a reference denies it, or a value
 * that it would take out of another document has to stay. */
static bool is_denial(tansu_status status) {
    return status == TANSU_E_REFERENCED || status == TANSU_E_INVALID_DOCUMENT ||
           status == TANSU_E_NOT_UNIQUE || status == TANSU_E_TOO_LARGE;
}

/* begin -- a write transaction. */
static tansu_status begin(pass *p, write_txn **wtxn) {
    tansu_status status = write_lock_acquire(p->db, p->stop, p->error);
    if (status != TANSU_OK)
        return status;
    p->began = clock_now();
    status = write_txn_begin(p->db, wtxn, p->error);
    if (status != TANSU_OK)
        write_lock_release(p->db);
    return status;
}

/* durability -- of a batch. Nobody relies on it: what a power failure undoes is removed again. */
static tansu_durability durability(const database *db) {
    return db->options.durability == TANSU_DURABILITY_FULL ? TANSU_DURABILITY_INTERVAL
                                                           : db->options.durability;
}

/* remove_batch -- removes the documents of the next entries in a commit. *count: of the documents;
 * 0: none was left, or the index was dropped. */
static tansu_status remove_batch(pass *p, const expiring_index *which, size_t *count) {
    uint64_t rids[BATCH_MOST];
    write_txn *wtxn;
    const collection_state *state;
    const collection_index *index;
    const deadline time = {.interrupt = p->stop};
    *count = 0;
    p->next.size = 0;
    tansu_status status = begin(p, &wtxn);
    if (status != TANSU_OK)
        return status;
    status = find_index(p, wtxn->next, which, &state, &index);
    if (status == TANSU_OK && index != NULL)
        status = take(p, index, rids, count);
    if (status == TANSU_OK && *count != 0) {
        *count = unique_rids(rids, *count);
        status = delete_rules_remove(wtxn, state->name, rids, *count, &time, p->error);
    }
    if (status == TANSU_OK && *count != 0)
        return write_txn_commit(wtxn, durability(p->db), NULL, p->error);
    if (status != TANSU_OK)
        status = log_check(p->db->log, wtxn->faults, status, p->error);
    write_txn_abort(wtxn);
    return status;
}

/* step -- goes on behind a batch, or, when its removal was denied, to fewer documents. Afterwards
 * p->low is empty at the end of the index. */
static void step(pass *p, bool denied, size_t documents, uint64_t took) {
    if (denied && documents > 1) {
        p->most = (uint32_t)documents / 2;
        return;
    }
    tansu_buffer next = p->next;
    p->next = p->low;
    p->low = next;
    if (denied)
        return;
    if (took > BATCH_NS && p->most > BATCH_LEAST)
        p->most /= 2;
    else if (took < BATCH_NS / 2 || p->most < BATCH_LEAST)
        p->most = p->most * 2 < BATCH_MOST ? p->most * 2 : BATCH_MOST;
}

/* rest -- lets others write. False when the pass is to stop. */
static bool rest(const pass *p, uint64_t took) {
    uint64_t pause = took > PAUSE_LEAST_NS ? took : PAUSE_LEAST_NS;
    if (p->stop != NULL)
        return expirer_wait(p->db, pause);
    clock_sleep(pause);
    return true;
}

/* any_left -- whether the index has an entry of the range, without the write lock; makes what the
 * index lacks of a replayed log before it is taken, too. */
static tansu_status any_left(pass *p, const expiring_index *which, bool *any) {
    const collection_state *state;
    const collection_index *index;
    snapshot *v = snapshot_acquire_head(p->db);
    uint64_t rids[BATCH_MOST];
    size_t count = 0;
    tansu_status status = find_index(p, v, which, &state, &index);
    if (status == TANSU_OK && index != NULL)
        status = set_range(p, index->definition);
    if (status == TANSU_OK && index != NULL)
        status = take(p, index, rids, &count);
    snapshot_release(p->db, v);
    *any = count != 0;
    return status;
}

/* run_index -- the batches of one index. */
static tansu_status run_index(pass *p, const expiring_index *which) {
    p->most = BATCH_MOST;
    bool more = false;
    tansu_status status = any_left(p, which, &more);
    while (status == TANSU_OK && more) {
        size_t documents = 0;
        status = remove_batch(p, which, &documents);
        uint64_t took = clock_now() - p->began;
        bool denied = documents != 0 && is_denial(status);
        if (!denied && status != TANSU_OK)
            break;
        status = TANSU_OK;
        if (denied && documents == 1) {
            p->result->denied++;
        } else if (!denied && documents != 0) {
            p->result->removed += documents;
            p->result->batches++;
        }
        step(p, denied, documents, took);
        more = documents != 0 && p->low.size != 0;
        if (more && !rest(p, took))
            break;
    }
    return status;
}

/* run -- one pass. `stop`: in the background. */
static tansu_status run(database *db, const interrupt *stop, expiry_result *result,
                        tansu_error *error) {
    pass p = {.db = db, .result = result, .error = error, .stop = stop, .now = clock_date()};
    *result = (expiry_result){0};
    tansu_status status = list_indexes(&p);
    for (size_t i = 0; status == TANSU_OK && i < p.count && !interrupt_asked(stop); i++)
        status = run_index(&p, &p.list[i]);
    free(p.list);
    tansu_buffer_free(&p.low);
    tansu_buffer_free(&p.high);
    tansu_buffer_free(&p.next);
    return status;
}

tansu_status expiry_run(database *db, expiry_result *result, tansu_error *error) {
    *result = (expiry_result){0};
    tansu_status status = write_lock_check(db, error);
    return status == TANSU_OK ? run(db, NULL, result, error) : status;
}

/* any_expiring -- whether there is an index by which documents expire. */
static bool any_expiring(database *db) {
    snapshot *v = snapshot_acquire_head(db);
    bool any = v->expiring != 0;
    snapshot_release(db, v);
    return any;
}

/* background -- a pass of the thread. What fails is tried again in the next one. */
static bool background(database *db) {
    expiry_result result;
    if (folder_check(db, NULL) == TANSU_OK)
        (void)run(db, &db->expirer.stop, &result, NULL);
    return any_expiring(db);
}

void expiry_enable(database *db) {
    if (db->options.read_only)
        return;
    expirer_enable(db, background);
    if (any_expiring(db))
        expirer_request(db);
}
