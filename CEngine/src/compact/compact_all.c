/*
 * compact/compact_all.c -- compaction on demand, and one pass of background compaction.
 */
#include "compact/compact.h"
#include "log/reserve.h"
#include "log/rewrite.h"
#include "store/background/background.h"
#include "store/checkpoint/checkpoint.h"
#include "store/database_internal.h"
#include "store/files.h"
#include "store/handle.h"
#include "store/key_file.h"
#include "store/write_lock.h"
#include "util/clock.h"
#include "util/error.h"

/* On demand, a segment with that many percent of dead bytes is rewritten. */
#define PERCENT_ON_DEMAND 5

/* For a new data key every segment is. */
#define PERCENT_ALL 0

/* ---- On demand ---- */

typedef struct demand {
    database *db;
    tansu_progress progress;
    void *context;
    uint32_t percent;
    uint64_t done;
    uint64_t total;
} demand;

/* report_progress -- a compact_pause: calls the progress function, and checks whether the database
 * is being closed. */
static tansu_status report_progress(void *context, uint64_t bytes, tansu_error *error) {
    demand *d = context;
    tansu_status status = handle_check_open(d->db, error);
    d->done += bytes;
    if (d->done > d->total)
        d->total = d->done;
    if (status == TANSU_OK && d->progress != NULL && !d->progress(d->context, d->done, d->total))
        status = error_set(error, TANSU_E_CANCELLED, NULL,
                           "The compaction was cancelled; segments that are done stay compacted");
    return status;
}

/* make_plan -- what is worth it from that share of dead bytes on, with the write lock held; the
 * head is sealed if it belongs to it. */
static tansu_status make_plan(database *db, uint32_t percent, const write_lock_caller *caller,
                              uint64_t limit, compact_plan *plan, tansu_error *error) {
    tansu_status status = folder_check(db, error);
    if (status == TANSU_OK)
        status = write_lock_acquire_asking(db, caller, error);
    if (status != TANSU_OK)
        return status;
    status = compact_plan_make(db, percent, true, limit, plan, error);
    if (status == TANSU_OK && plan->head) {
        status = log_seal(db->log, error);
        if (status != TANSU_OK)
            compact_plan_free(plan);
    }
    write_lock_release(db);
    return status;
}

/* sync_and_checkpoint -- syncs everything so far and writes a checkpoint. */
static tansu_status sync_and_checkpoint(database *db, tansu_error *error) {
    snapshot *v = snapshot_acquire_head(db);
    uint64_t sequence = v->sequence;
    snapshot_release(db, v);
    tansu_status status = log_sync(db->log, sequence, error);
    if (status != TANSU_OK)
        return status;
    snapshot_make_visible(db, sequence);
    return checkpoint_write(db, error);
}

/* measure -- bytes of the files. */
static uint64_t measure(database *db) {
    return log_measure(db->log).bytes + (db->bs == NULL ? 0 : block_store_size(db->bs));
}

/* compact_within -- what is worth it and takes that much space at most. */
static tansu_status compact_within(demand *d, uint64_t limit, compact_result *result,
                                   tansu_error *error) {
    database *db = d->db;
    compact_plan plan;
    tansu_status status = make_plan(db, d->percent, NULL, limit, &plan, error);
    if (status != TANSU_OK)
        return status;
    d->total += plan.bytes;
    status = sync_and_checkpoint(db, error);
    for (uint32_t i = 0; status == TANSU_OK && i < plan.count; i++)
        if (plan.runs[i].left <= limit || limit == db->log->segment_size)
            status = compact_segments(db, &plan.runs[i], report_progress, d, result, error);
    compact_plan_free(&plan);
    return status;
}

/* What can always be tried on a full disk. */
#define MIN_LIMIT (64u * 1024u)

/* tight_capacity -- spends the reserve: how much a segment that is written may take of it. */
static uint64_t tight_capacity(database *db) {
    uint64_t spent = reserve_spend(db->log, true);
    return spent > RESERVE_CHECKPOINT + MIN_LIMIT ? spent - RESERVE_CHECKPOINT : MIN_LIMIT;
}

/* compact_tight -- on a full disk: the reserve is used for segments of which little or nothing is
 * left, and those free space for others. DONE when there are none. */
static tansu_status compact_tight(demand *d, compact_result *result, tansu_error *error) {
    uint64_t before = result->segments;
    for (uint64_t limit = tight_capacity(d->db);; limit = MIN_LIMIT) {
        tansu_status status = compact_within(d, limit, result, error);
        if (status != TANSU_OK && (status != TANSU_E_FULL || limit == MIN_LIMIT))
            return status;
        if (result->segments != before)
            return TANSU_OK;
        if (limit == MIN_LIMIT)
            return TANSU_DONE;
    }
}

/* What compacting on a full disk must free to be tried again. */
#define LEAST_GAIN 4096u

/* compact_held -- compact_all() as maintenance. */
static tansu_status compact_held(demand *d, compact_result *result, tansu_error *error) {
    database *db = d->db;
    uint64_t all = db->log->segment_size;
    result->before = measure(db);
    /* Without the reserve there may be capacity for a segment, and none for the checkpoint that
     * lets the old ones go. */
    tansu_status status = TANSU_OK;
    uint64_t size = result->before;
    for (;;) {
        int number = reserve_keep(db->log);
        status = number != 0 ? error_errno(error, db->files.folder,
                                           "reserve space for a compaction", number)
                             : compact_within(d, all, result, error);
        if (status != TANSU_E_FULL)
            break;
        tansu_status tight = compact_tight(d, result, error);
        if (tight != TANSU_OK && tight != TANSU_DONE)
            status = tight;
        /* Small segments can be rewritten without end: each time the commit that tells of it makes
         * one more. */
        uint64_t now = measure(db);
        if (tight != TANSU_OK || now + LEAST_GAIN > size)
            break;
        size = now;
    }
    (void)reserve_keep(db->log);
    if (status == TANSU_OK)
        status = checkpoint_shrink(db, false, NULL, error);
    result->after = measure(db);
    return status;
}

tansu_status compact_all(database *db, tansu_progress progress, void *context,
                         compact_result *result, tansu_error *error) {
    *result = (compact_result){0};
    tansu_status status = write_lock_check(db, error);
    if (status == TANSU_OK)
        status = folder_check(db, error); /* before the reserve is written */
    if (status != TANSU_OK)
        return status;
    status = maintenance_begin(db, error);
    if (status != TANSU_OK)
        return status;
    demand d = {.db = db, .progress = progress, .context = context, .percent = PERCENT_ON_DEMAND};
    status = compact_held(&d, result, error);
    maintenance_end(db);
    return status;
}

/* ---- With a new data key ---- */

/* begin_key -- a new data key, which is on the disk before it seals anything. */
static tansu_status begin_key(database *db, const user_key *key, tansu_error *error) {
    tansu_status status = keyring_renew(db->keys, error);
    if (status != TANSU_OK)
        return status;
    status = key_file_replace(db, key, false, error);
    keyring_switch(db->keys, status != TANSU_OK);
    if (status != TANSU_OK)
        return status;
    pthread_mutex_lock(&db->checkpoints.mutex);
    const manifest m = db->manifest.known;
    status = manifest_replace(db, &m, error); /* authenticated with the new one */
    pthread_mutex_unlock(&db->checkpoints.mutex);
    return status;
}

/* encrypt_anew -- everything with the data key that seals; then the file KEY has no other one. */
static tansu_status encrypt_anew(demand *d, const user_key *key, tansu_error *error) {
    database *db = d->db;
    compact_result result = {0};
    tansu_status status = compact_within(d, db->log->segment_size, &result, error);
    if (status == TANSU_OK)
        status = checkpoint_write(db, error);
    if (status == TANSU_OK)
        status = checkpoint_shrink(db, true, NULL, error);
    if (status == TANSU_OK)
        status = log_sync_removed(db->log, error);
    if (status == TANSU_OK)
        status = key_file_replace(db, key, true, error);
    if (status != TANSU_OK)
        return status;
    keyring_retire(db->keys);
    /* What snapshots read still is what the segments before were. */
    if (log_pinned(db->log, UINT64_MAX) == 0)
        keyring_forget(db->keys);
    return status;
}

tansu_status compact_rekey(database *db, const user_key *key, tansu_progress progress,
                           void *context, tansu_error *error) {
    demand d = {.db = db, .progress = progress, .context = context, .percent = PERCENT_ALL};
    tansu_status status = write_lock_check(db, error);
    if (status == TANSU_OK)
        status = maintenance_begin(db, error);
    if (status != TANSU_OK)
        return status;
    /* Changes that were interrupted have left data keys: they are completed first where there is no
     * place for another one. */
    if (keyring_full(db->keys))
        status = encrypt_anew(&d, key, error);
    if (status == TANSU_OK)
        status = begin_key(db, key, error);
    if (status == TANSU_OK)
        status = encrypt_anew(&d, key, error);
    maintenance_end(db);
    return status;
}

/* ---- In the background ---- */

typedef struct slices {
    database *db;
    clock_time began; /* the slice */
} slices;

/* rest -- a compact_pause: leaves the rest of the time to others. */
static tansu_status rest(void *context, uint64_t bytes, tansu_error *error) {
    (void)bytes;
    slices *s = context;
    uint64_t share = s->db->options.compaction_share, took = clock_now() - s->began;
    bool go_on = compactor_wait(s->db, took * (100 - share) / share);
    s->began = clock_now();
    return go_on ? TANSU_OK
                 : error_set(error, TANSU_E_CANCELLED, NULL, "Another task has priority");
}

/* ask_go_on -- a write_lock_caller's: waits no longer when another task has priority. */
static tansu_status ask_go_on(void *context, tansu_error *error) {
    return compactor_wait(context, 0)
               ? TANSU_OK
               : error_set(error, TANSU_E_CANCELLED, NULL, "Another task has priority");
}

/* background_within -- what the options ask for and takes that much space at most. */
static tansu_status background_within(database *db, uint64_t limit, compact_result *result) {
    compact_plan plan;
    const write_lock_caller caller = {ask_go_on, db};
    tansu_status status =
        compact_plan_make(db, db->options.compaction_percent, false, limit, &plan, NULL);
    if (status == TANSU_OK && plan.head_due) {
        compact_plan_free(&plan);
        status = make_plan(db, db->options.compaction_percent, &caller, limit, &plan, NULL);
    }
    if (status != TANSU_OK)
        return status;
    if (plan.count > 0)
        status = sync_and_checkpoint(db, NULL);
    for (uint32_t i = 0; status == TANSU_OK && i < plan.count; i++) {
        slices s = {db, clock_now()};
        if (plan.runs[i].left <= limit || limit == db->log->segment_size)
            status = compact_segments(db, &plan.runs[i], rest, &s, result, NULL);
    }
    compact_plan_free(&plan);
    return status;
}

/* background_log -- background() for the log. */
static void background_log(database *db) {
    compact_result result = {0};
    if (folder_check(db, NULL) != TANSU_OK)
        return;
    if (reserve_keep(db->log) == 0 &&
        background_within(db, db->log->segment_size, &result) != TANSU_E_FULL)
        return;
    uint64_t limit = tight_capacity(db);
    if (background_within(db, limit, &result) == TANSU_E_FULL && limit != MIN_LIMIT)
        (void)background_within(db, MIN_LIMIT, &result);
    (void)reserve_keep(db->log);
}

/* background -- what the options ask for, at their share of the time; ends early when the database
 * is being closed. The maintenance lock is held. */
static void background(database *db) {
    const block_store_caller caller = {ask_go_on, db};
    if (compact_log_due(db))
        background_log(db);
    if (checkpoint_wasteful(db))
        (void)checkpoint_shrink(db, false, &caller, NULL);
}

/* is_due -- whether background() would do anything. */
static bool is_due(database *db) {
    return compact_log_due(db) || checkpoint_wasteful(db);
}

void compact_enable(database *db) {
    static const compactor_calls calls = {.due = is_due, .run = background};
    if (db->options.read_only || db->options.compaction_percent == 0)
        return;
    compactor_enable(db, &calls);
    /* What processes before have left. Closing would have compacted most of it. */
    bool closed = !db->checkpoints.index_was_open && db->worker.log_written == 0;
    if (!closed && compact_is_behind(db))
        compactor_catch_up(db);
    else
        compactor_request(db);
}
