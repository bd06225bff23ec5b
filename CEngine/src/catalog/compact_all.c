/*
 * catalog/compact_all.c -- compaction on demand, and what the background does in one go.
 */
#include "base/clock.h"
#include "base/error.h"
#include "catalog/compact.h"
#include "log/compact.h"
#include "log/reserve.h"

/* On demand, a segment with so many percent of dead bytes is written anew. */
#define PERCENT_ON_DEMAND 5

/* ---- On demand ---- */

typedef struct demand {
    database *db;
    tansu_task_progress progress;
    void *context;
    uint64_t done;
    uint64_t total;
} demand;

/* tell -- a compact_pause: calls the progress function, and looks whether the database is being closed. */
static tansu_status tell(void *context, uint64_t bytes, tansu_error *error) {
    demand *d = context;
    tansu_status status = database_check_open(d->db, error);
    d->done += bytes;
    if (d->done > d->total)
        d->total = d->done;
    if (status == TANSU_OK && d->progress != NULL && !d->progress(d->context, d->done, d->total))
        status = error_set(error, TANSU_E_CANCELLED, NULL,
                           "the compaction was cancelled; segments that were done stay so");
    return status;
}

/* make_plan -- what is worth it, in the writer's turn; the head is sealed if it belongs to it. */
static tansu_status make_plan(database *db, uint64_t room, compact_plan *plan, tansu_error *error) {
    tansu_status status = database_begin_writing(db, NULL, error);
    if (status != TANSU_OK)
        return status;
    status = compact_plan_make(db, PERCENT_ON_DEMAND, true, room, plan, error);
    if (status == TANSU_OK && plan->head) {
        status = log_seal(db->log, error);
        if (status != TANSU_OK)
            compact_plan_free(plan);
    }
    database_end_writing(db);
    return status;
}

/* settle -- brings everything so far to the disk and into the cabinet. */
static tansu_status settle(database *db, tansu_error *error) {
    version *v = database_hold_head(db);
    uint64_t sequence = v->sequence;
    database_release(db, v);
    tansu_status status = log_sync(db->log, sequence, error);
    if (status != TANSU_OK)
        return status;
    database_show(db, sequence);
    return checkpoint_write(db, error);
}

/* measure -- bytes of the files. */
static uint64_t measure(database *db) {
    return log_measure(db->log).bytes + (db->cab == NULL ? 0 : cabinet_size(db->cab));
}

/* compact_within -- what is worth it and takes so much room at most. */
static tansu_status compact_within(demand *d, uint64_t room, compact_figures *figures,
                                   tansu_error *error) {
    database *db = d->db;
    compact_plan plan;
    tansu_status status = make_plan(db, room, &plan, error);
    if (status != TANSU_OK)
        return status;
    d->total += plan.bytes;
    status = settle(db, error);
    for (uint32_t i = 0; status == TANSU_OK && i < plan.count; i++)
        if (plan.runs[i].left <= room || room == db->log->segment_size)
            status = compact_segments(db, &plan.runs[i], tell, d, figures, error);
    compact_plan_free(&plan);
    return status;
}

/* What can always be tried on a full disk. */
#define ROOM_LEAST (64u * 1024u)

/* tight_room -- spends the reserve: how much a segment that is written may take of it. */
static uint64_t tight_room(database *db) {
    uint64_t spent = reserve_spend(db->log, true);
    return spent > RESERVE_CHECKPOINT + ROOM_LEAST ? spent - RESERVE_CHECKPOINT : ROOM_LEAST;
}

/* compact_tight -- on a full disk: the reserve serves for segments of which little is left, or nothing, and those give
 * the room for others. DONE when there are none. */
static tansu_status compact_tight(demand *d, compact_figures *figures, tansu_error *error) {
    uint64_t before = figures->segments;
    for (uint64_t room = tight_room(d->db);; room = ROOM_LEAST) {
        tansu_status status = compact_within(d, room, figures, error);
        if (status != TANSU_OK && (status != TANSU_E_FULL || room == ROOM_LEAST))
            return status;
        if (figures->segments != before)
            return TANSU_OK;
        if (room == ROOM_LEAST)
            return TANSU_DONE;
    }
}

/* compact_held -- compact_all() as upkeep. */
static tansu_status compact_held(demand *d, compact_figures *figures, tansu_error *error) {
    database *db = d->db;
    uint64_t all = db->log->segment_size;
    figures->before = measure(db);
    /* Without the reserve there may be room for a segment, and none for the checkpoint that lets the old ones go. */
    tansu_status status = TANSU_OK;
    bool more = true;
    while (more) {
        int number = reserve_keep(db->log);
        status = number != 0 ? error_errno(error, db->folder, "keep room for a compaction", number)
                             : compact_within(d, all, figures, error);
        if (status != TANSU_E_FULL)
            break;
        tansu_status tight = compact_tight(d, figures, error);
        more = tight == TANSU_OK;
        if (!more && tight != TANSU_DONE)
            status = tight;
    }
    (void)reserve_keep(db->log);
    if (status == TANSU_OK)
        status = checkpoint_shrink(db, error);
    figures->after = measure(db);
    return status;
}

tansu_status compact_all(database *db, tansu_task_progress progress, void *context,
                         compact_figures *figures, tansu_error *error) {
    *figures = (compact_figures){0};
    tansu_status status = database_check_turn(db, error);
    if (status != TANSU_OK)
        return status;
    status = upkeep_begin(db, error);
    if (status != TANSU_OK)
        return status;
    demand d = {.db = db, .progress = progress, .context = context};
    status = compact_held(&d, figures, error);
    upkeep_end(db);
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
    uint64_t share = s->db->compaction_share, took = clock_now() - s->began;
    bool go_on = compactor_wait(s->db, took * (100 - share) / share);
    s->began = clock_now();
    return go_on ? TANSU_OK
                 : error_set(error, TANSU_E_CANCELLED, NULL, "something else goes first");
}

/* background_within -- what the options ask for and takes so much room at most. */
static tansu_status background_within(database *db, uint64_t room, compact_figures *figures) {
    compact_plan plan;
    tansu_status status = compact_plan_make(db, db->compaction_percent, false, room, &plan, NULL);
    if (status != TANSU_OK)
        return status;
    if (plan.count > 0)
        status = checkpoint_write(db, NULL);
    for (uint32_t i = 0; status == TANSU_OK && i < plan.count; i++) {
        slices s = {db, clock_now()};
        if (plan.runs[i].left <= room || room == db->log->segment_size)
            status = compact_segments(db, &plan.runs[i], rest, &s, figures, NULL);
    }
    compact_plan_free(&plan);
    return status;
}

void compact_background(database *db) {
    compact_figures figures = {0};
    if (reserve_keep(db->log) == 0 &&
        background_within(db, db->log->segment_size, &figures) != TANSU_E_FULL)
        return;
    uint64_t room = tight_room(db);
    if (background_within(db, room, &figures) == TANSU_E_FULL && room != ROOM_LEAST)
        (void)background_within(db, ROOM_LEAST, &figures);
    (void)reserve_keep(db->log);
}
