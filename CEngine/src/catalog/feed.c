/*
 * catalog/feed.c -- opening, waiting, and what compaction has to know of feeds (see feed.h).
 */
#include "catalog/feed.h"

#include "base/clock.h"
#include "base/error.h"

#include <stdlib.h>

/* ---- The list ---- */

/* enlist -- makes the feed known to compactions. Errors: NOT_FOUND. */
static tansu_status enlist(feed *f, uint64_t since, tansu_error *error) {
    database *db = f->db;
    pthread_mutex_lock(&db->feed_mutex);
    uint64_t floor = db->feed_floor;
    bool there = since == 0 || since >= floor;
    if (there) {
        f->position.told = since;
        f->pinned_to = since == 0 ? floor : 0;
        f->next = db->feeds;
        db->feeds = f;
    }
    pthread_mutex_unlock(&db->feed_mutex);
    return there ? TANSU_OK
                 : error_set(error, TANSU_E_NOT_FOUND, db->folder,
                             "the changes behind commit %llu can't be told, because compaction has "
                             "left out deletions up to commit %llu: read everything, and begin a "
                             "feed at the present, or at 0",
                             (unsigned long long)since, (unsigned long long)floor);
}

/* delist -- takes it out of the list. */
static void delist(feed *f) {
    pthread_mutex_lock(&f->db->feed_mutex);
    for (feed **at = &f->db->feeds; *at != NULL; at = &(*at)->next) {
        if (*at == f) {
            *at = f->next;
            break;
        }
    }
    pthread_mutex_unlock(&f->db->feed_mutex);
}

uint64_t feed_thin(database *db, uint64_t oldest, uint64_t last) {
    pthread_mutex_lock(&db->feed_mutex);
    for (const feed *f = db->feeds; f != NULL; f = f->next) {
        uint64_t told = __atomic_load_n(&f->position.told, __ATOMIC_RELAXED);
        if (told < oldest)
            oldest = told;
    }
    uint64_t floor = oldest < last ? oldest : last;
    if (floor > db->feed_floor)
        db->feed_floor = floor;
    pthread_mutex_unlock(&db->feed_mutex);
    return oldest;
}

/* look -- the status that reading came to, or IO when not all of what was read was there. Nobody knows then which
 * changes were passed over. */
static tansu_status look(feed *f, uint64_t faults, tansu_status status, tansu_error *error) {
    const log *l = f->db->log;
    f->unreadable = f->unreadable || log_faults(l) != faults;
    return log_check(l, status == TANSU_E_CORRUPT ? 0 : faults, status, error);
}

/* ---- Opening and closing ---- */

/* find_start -- looks at the log for the first time. */
static tansu_status find_start(feed *f, uint64_t since, tansu_error *error) {
    uint64_t faults = log_faults(f->db->log);
    tansu_status status = feed_hold(f, error);
    if (status == TANSU_DONE && f->held->sequence < since)
        return error_set(error, TANSU_E_NOT_FOUND, f->db->folder,
                         "commit %llu is not in the database, whose newest is %llu: read "
                         "everything, and begin a feed at the present, or at 0",
                         (unsigned long long)since, (unsigned long long)f->held->sequence);
    if (status == TANSU_OK)
        status = feed_survey(f, error);
    else if (status == TANSU_DONE)
        status = TANSU_OK;
    if (status == TANSU_OK && !feed_names_take(&f->names, f->held))
        status = error_memory(error);
    return look(f, faults, status, error);
}

/* to_newest -- passes over everything up to the version that is held. */
static tansu_status to_newest(feed *f, tansu_error *error) {
    feed_names_clear(&f->names);
    if (!feed_names_take(&f->names, f->held))
        return error_memory(error);
    __atomic_store_n(&f->position.told, f->held->sequence, __ATOMIC_RELAXED);
    f->hint = f->held->position;
    return TANSU_OK;
}

tansu_status feed_open(database *db, uint64_t since, const feed_options *options, feed **result,
                       tansu_error *error) {
    tansu_status status = database_enter(db, error);
    if (status != TANSU_OK)
        return status;
    feed *f = calloc(1, sizeof *f);
    if (f == NULL) {
        database_leave(db);
        return error_memory(error);
    }
    *f = (feed){.db = db, .before = options->before, .after = options->after};
    bool now = since == UINT64_MAX;
    if (!feed_names_filter(&f->names, options->collections, options->count))
        status = error_memory(error);
    if (status == TANSU_OK && now) {
        f->held = database_hold(db);
        status = enlist(f, f->held->sequence, error);
        if (status == TANSU_OK)
            status = to_newest(f, error);
    } else if (status == TANSU_OK) {
        status = enlist(f, since, error);
        if (status == TANSU_OK)
            status = find_start(f, since, error);
    }
    if (status != TANSU_OK) {
        feed_close(f);
        return status;
    }
    if (f->position.told >= f->pinned_to)
        feed_release(f);
    *result = f;
    return TANSU_OK;
}

void feed_cancel(feed *f) {
    interrupt_ask(&f->interrupt);
    feed_wake(f->db);
}

void feed_close(feed *f) {
    if (f == NULL)
        return;
    database *db = f->db;
    delist(f);
    feed_release(f);
    feed_names_free(&f->names);
    pending_free(&f->newest);
    tansu_buffer_free(&f->copy);
    tansu_buffer_free(&f->befores);
    tansu_buffer_free(&f->before_list);
    tansu_buffer_free(&f->id);
    free(f);
    database_leave(db);
}

/* ---- Waiting ---- */

void feed_wake(database *db) {
    pthread_mutex_lock(&db->feed_mutex);
    pthread_cond_broadcast(&db->feed_changed);
    pthread_mutex_unlock(&db->feed_mutex);
}

/* check -- whether the feed may go on. Errors: CANCELLED, CLOSED. */
static tansu_status check(const feed *f, tansu_error *error) {
    if (interrupt_asked(&f->interrupt))
        return error_set(error, TANSU_E_CANCELLED, "feed", "the feed was cancelled: close it");
    if (f->unreadable)
        return log_read_error(f->db->log, error);
    return database_check_open(f->db, error);
}

/* news -- whether there is a visible commit that is not told. */
static bool news(const feed *f) {
    database *db = f->db;
    pthread_mutex_lock(&db->version_mutex);
    bool there = db->visible->sequence > f->position.told;
    pthread_mutex_unlock(&db->version_mutex);
    return there;
}

/* await -- waits until there are news; DONE when there were none in time. `until` CLOCK_NEVER: for ever. */
static tansu_status await(feed *f, clock_time until, tansu_error *error) {
    database *db = f->db;
    tansu_status status;
    bool late = false;
    pthread_mutex_lock(&db->feed_mutex);
    /* A commit publishes first and looks for waiters then, this does it the other way round, and both
     * hold the version mutex in between: one of them sees the other. */
    __atomic_add_fetch(&db->feed_waiters, 1, __ATOMIC_RELAXED);
    while ((status = check(f, error)) == TANSU_OK && !news(f)) {
        if (late) {
            status = TANSU_DONE;
            break;
        }
        if (until == CLOCK_NEVER)
            pthread_cond_wait(&db->feed_changed, &db->feed_mutex);
        else
            late = clock_wait(&db->feed_changed, &db->feed_mutex, until);
    }
    __atomic_sub_fetch(&db->feed_waiters, 1, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&db->feed_mutex);
    return status;
}

/* A limit of the time that a call takes. */
typedef struct patience {
    int64_t milliseconds;
    clock_time until;
    bool known; /* `until` is */
} patience;

/* wait_more -- waits within the limit; the clock is asked only when there is something to wait for. */
static tansu_status wait_more(feed *f, patience *p, tansu_error *error) {
    if (p->milliseconds == 0)
        return news(f) ? TANSU_OK : TANSU_DONE;
    if (p->milliseconds < 0)
        return await(f, CLOCK_NEVER, error);
    if (!p->known)
        p->until = clock_in((uint64_t)p->milliseconds);
    p->known = true;
    return await(f, p->until, error);
}

/* let_go -- releases the version unless what is shown, or is yet to be, lies in it. */
static void let_go(feed *f) {
    if (f->position.told >= f->pinned_to && (f->at.frame == NULL || f->at.copied))
        feed_release(f);
}

tansu_status feed_next(feed *f, int64_t timeout_ms, tansu_change *change, tansu_error *error) {
    patience p = {.milliseconds = timeout_ms};
    let_go(f);
    for (;;) {
        uint64_t faults = log_faults(f->db->log);
        tansu_status status = check(f, error);
        if (status == TANSU_OK && f->at.frame == NULL) {
            status = f->held == NULL ? feed_hold(f, error) : TANSU_OK;
            if (status == TANSU_OK)
                status = look(f, faults, feed_frame_next(f, error), error);
        }
        if (status == TANSU_OK && f->at.searching) {
            status = look(f, faults, feed_frame_search(f, error), error);
            if (status == TANSU_DONE)
                continue;
            if (status != TANSU_OK)
                return status;
        }
        if (status == TANSU_OK) {
            bool copied = f->at.copied;
            status = look(f, faults, feed_frame_show(f, change, error), error);
            if (copied)
                let_go(f);
            return status;
        }
        feed_release(f);
        if (status == TANSU_DONE)
            status = wait_more(f, &p, error);
        if (status != TANSU_OK)
            return status;
    }
}

tansu_status feed_skip(feed *f, int64_t timeout_ms, uint64_t *sequence, tansu_error *error) {
    patience p = {.milliseconds = timeout_ms};
    feed_release(f);
    f->at.frame = NULL;
    tansu_status status = check(f, error);
    if (status == TANSU_OK)
        status = wait_more(f, &p, error);
    if (status == TANSU_OK)
        status = feed_hold(f, error);
    if (status == TANSU_OK) {
        status = to_newest(f, error);
        *sequence = f->position.told;
    }
    feed_release(f);
    return status;
}
