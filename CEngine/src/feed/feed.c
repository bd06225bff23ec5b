/*
 * feed/feed.c -- opening feeds, waiting for commits, and what compaction must keep for them.
 */
#include "feed/feed.h"

#include "feed/feed_internal.h"
#include "store/database_internal.h"
#include "store/handle.h"
#include "store/open/instances.h"
#include "store/write_lock.h"
#include "util/clock.h"
#include "util/error.h"

#include <stdlib.h>

/* ---- The list ---- */

/* incomplete -- the error for a feed whose events have been compacted. */
static tansu_status incomplete(const feed *f, uint64_t since, uint64_t floor, tansu_error *error) {
    return error_set(error, TANSU_E_NOT_FOUND, f->root->files.folder,
                     "The events after commit %llu are not complete any more, because "
                     "compaction may have dropped removals up to commit %llu; read everything, "
                     "and open a feed at the present or at 0",
                     (unsigned long long)since, (unsigned long long)floor);
}

/* list_add -- adds a feed to the database's list, where compactions find it. Errors: NOT_FOUND. */
static tansu_status list_add(feed *f, uint64_t since, tansu_error *error) {
    database *db = f->db;
    pthread_mutex_lock(&db->feeds.mutex);
    uint64_t floor = db->feeds.floor;
    bool there = since == 0 || since >= floor;
    if (there) {
        f->position.delivered = since;
        f->pinned_to = since == 0 ? floor : 0;
        f->next = db->feeds.first;
        db->feeds.first = f;
    }
    pthread_mutex_unlock(&db->feeds.mutex);
    return there ? TANSU_OK : incomplete(f, since, floor, error);
}

/* feed_unlist -- removes it. */
static void feed_unlist(feed *f) {
    pthread_mutex_lock(&f->db->feeds.mutex);
    for (feed **at = &f->db->feeds.first; *at != NULL; at = &(*at)->next) {
        if (*at == f) {
            *at = f->next;
            break;
        }
    }
    pthread_mutex_unlock(&f->db->feeds.mutex);
}

uint64_t feed_begin_compaction(database *db, uint64_t oldest, uint64_t last) {
    pthread_mutex_lock(&db->feeds.mutex);
    for (const feed *f = db->feeds.first; f != NULL; f = f->next) {
        uint64_t delivered = __atomic_load_n(&f->position.delivered, __ATOMIC_RELAXED);
        if (delivered < oldest)
            oldest = delivered;
    }
    uint64_t floor = oldest < last ? oldest : last;
    if (floor > db->feeds.floor)
        db->feeds.floor = floor;
    pthread_mutex_unlock(&db->feeds.mutex);
    return oldest;
}

bool feed_end_compaction(database *db, uint64_t dropped, uint64_t last) {
    bool delivered = true;
    pthread_mutex_lock(&db->feeds.mutex);
    for (const feed *f = db->feeds.first; f != NULL; f = f->next)
        delivered =
            delivered && __atomic_load_n(&f->position.delivered, __ATOMIC_RELAXED) >= dropped;
    if (delivered && last > db->feeds.floor)
        db->feeds.floor = last;
    pthread_mutex_unlock(&db->feeds.mutex);
    return delivered;
}

/* check_faults -- the status of a read from the log, or IO when the system could not read all of
 * it: nobody knows which events the feed has missed then. */
static tansu_status check_faults(feed *f, uint64_t faults, tansu_status status,
                                 tansu_error *error) {
    const log *l = f->db->log;
    /* A block that could not be decompressed can be read again. */
    f->unreadable = f->unreadable || (log_faults(l) != faults && guard_faults(&l->tally) != 0);
    return log_check(l, status == TANSU_E_CORRUPT ? 0 : faults, status, error);
}

/* ---- Opening and closing ---- */

/* find_start -- reads the log for the first time. */
static tansu_status find_start(feed *f, uint64_t since, tansu_error *error) {
    uint64_t faults = log_faults(f->db->log);
    tansu_status status = feed_acquire(f, error);
    if (status == TANSU_DONE && f->snapshot->sequence < since)
        return error_set(error, TANSU_E_NOT_FOUND, f->db->files.folder,
                         "Commit %llu is not in the database, whose newest commit is %llu; read "
                         "everything, and open a feed at the present or at 0",
                         (unsigned long long)since, (unsigned long long)f->snapshot->sequence);
    return check_faults(f, faults, status == TANSU_DONE ? TANSU_OK : status, error);
}

/* skip_to_newest -- skips everything up to the snapshot. */
static void skip_to_newest(feed *f) {
    f->named = false;
    feed_set_delivered(&f->position, f->snapshot->sequence);
    f->hint = f->snapshot->position;
}

/* next_commit -- feed_next_commit(). The names are those of the snapshot, but where one of the
 * commits up to it has changed them: they are found for the first commit only, because a feed of
 * which all commits are skipped needs none. */
static tansu_status next_commit(feed *f, tansu_error *error) {
    if (!f->named) {
        feed_names_clear(&f->names);
        tansu_status status = feed_find_names(f, error);
        if (status != TANSU_OK)
            return status;
        if (!feed_names_take(&f->names, f->snapshot))
            return error_memory(error);
        f->named = true;
    }
    return feed_next_commit(f, error);
}

tansu_status feed_open(database *root, uint64_t since, const feed_options *options, feed **result,
                       tansu_error *error) {
    database *db;
    tansu_status status = database_enter_handle(root, &db, error);
    if (status != TANSU_OK)
        return status;
    feed *f = calloc(1, sizeof *f);
    if (f == NULL) {
        handle_release(db);
        return error_memory(error);
    }
    *f = (feed){.db = db, .root = root, .before = options->before, .after = options->after};
    bool now = since == UINT64_MAX;
    if (!feed_names_filter(&f->names, options->collections, options->count))
        status = error_memory(error);
    if (status == TANSU_OK && now) {
        f->snapshot = snapshot_acquire(db);
        status = list_add(f, f->snapshot->sequence, error);
        if (status == TANSU_OK)
            skip_to_newest(f);
    } else if (status == TANSU_OK) {
        status = list_add(f, since, error);
        if (status == TANSU_OK)
            status = find_start(f, since, error);
    }
    if (status != TANSU_OK) {
        feed_close(f);
        return status;
    }
    if (f->position.delivered >= f->pinned_to)
        feed_release(f);
    *result = f;
    return TANSU_OK;
}

void feed_cancel(feed *f) {
    if (handle_inherited(f->root))
        return;
    interrupt_ask(&f->interrupt);
    if (f->root->instances.all == NULL) /* otherwise it asks by itself */
        commit_wait_wake(f->root);
}

void feed_close(feed *f) {
    if (f == NULL || handle_inherited(f->root))
        return;
    database *db = f->db;
    feed_unlist(f);
    feed_release(f);
    feed_names_free(&f->names);
    pending_free(&f->newest);
    tansu_buffer_free(&f->copy);
    tansu_buffer_free(&f->pre_images);
    tansu_buffer_free(&f->pre_image_offsets);
    tansu_buffer_free(&f->id);
    free(f);
    handle_release(db);
}

/* ---- Waiting ---- */

/* check -- whether the feed may continue. Errors: CANCELLED, CLOSED, IO. */
static tansu_status check(void *context, tansu_error *error) {
    const feed *f = context;
    if (interrupt_asked(&f->interrupt))
        return error_set(error, TANSU_E_CANCELLED, "feed", "The feed was cancelled; close it");
    if (f->unreadable)
        return log_read_error(f->db->log, error);
    return handle_check_open(f->db, error);
}

/* The deadline of a call. */
typedef struct feed_deadline {
    int64_t milliseconds;
    clock_time until;
    bool known; /* `until` is */
} feed_deadline;

/* Nanoseconds between two looks at what another process has committed. */
#define LOOK_PAUSE_LEAST ((uint64_t)1000000)
#define LOOK_PAUSE_MOST ((uint64_t)32000000)

/* continue_in -- goes on with another instance, from the commit that was delivered last. */
static tansu_status continue_in(feed *f, database *instance, tansu_error *error) {
    tansu_status status = handle_acquire(instance, error);
    if (status != TANSU_OK)
        return status;
    database *old = f->db;
    feed_unlist(f);
    f->db = instance;
    f->hint = 0;
    pthread_mutex_lock(&instance->feeds.mutex);
    f->next = instance->feeds.first;
    instance->feeds.first = f;
    pthread_mutex_unlock(&instance->feeds.mutex);
    handle_release(old);
    return TANSU_OK;
}

/* renew -- between two commits of a database that another process writes: goes on with its present
 * instance, unless events are missing there. The feed holds no snapshot. */
static tansu_status renew(feed *f, tansu_error *error) {
    if (f->root->instances.all == NULL)
        return TANSU_OK;
    database *instance;
    tansu_status status = database_enter(f->root, &instance, error);
    if (status != TANSU_OK)
        return status;
    if (instance != f->db)
        status = continue_in(f, instance, error);
    pthread_mutex_lock(&instance->feeds.mutex);
    uint64_t floor = instance->feeds.floor;
    pthread_mutex_unlock(&instance->feeds.mutex);
    if (status == TANSU_OK && f->position.delivered != 0 && f->position.delivered < floor)
        status = incomplete(f, f->position.delivered, floor, error);
    database_leave(instance);
    return status;
}

/* wait_for_writer -- commit_wait() for commits of another process. */
static tansu_status wait_for_writer(feed *f, clock_time until, tansu_error *error) {
    for (uint64_t pause = LOOK_PAUSE_LEAST;; pause = pause < LOOK_PAUSE_MOST ? pause * 2 : pause) {
        tansu_status status = check(f, error);
        if (status == TANSU_OK)
            status = renew(f, error);
        if (status != TANSU_OK || commit_is_newer(f->db, f->position.delivered))
            return status;
        clock_time next = clock_after(clock_now(), pause);
        bool last = until != CLOCK_NEVER && until <= next;
        status = commit_wait(f->db, f->position.delivered, last ? until : next, check, f, error);
        if (status != TANSU_DONE || last)
            return status;
    }
}

/* wait_more -- waits until the deadline; the clock is read only when there is something to wait
 * for. */
static tansu_status wait_more(feed *f, feed_deadline *p, tansu_error *error) {
    if (p->milliseconds == 0) {
        tansu_status status = renew(f, error);
        if (status != TANSU_OK)
            return status;
        return commit_is_newer(f->db, f->position.delivered) ? TANSU_OK : TANSU_DONE;
    }
    if (!p->known)
        p->until = p->milliseconds < 0 ? CLOCK_NEVER : clock_in((uint64_t)p->milliseconds);
    p->known = true;
    if (f->root->instances.all != NULL)
        return wait_for_writer(f, p->until, error);
    return commit_wait(f->db, f->position.delivered, p->until, check, f, error);
}

/* release_unused -- releases the snapshot unless the current event, or the next one, lies in it. */
static void release_unused(feed *f) {
    if (f->position.delivered >= f->pinned_to && (f->commit.frame == NULL || f->commit.copied))
        feed_release(f);
}

tansu_status feed_next(feed *f, int64_t timeout_ms, tansu_change *change, tansu_error *error) {
    feed_deadline p = {.milliseconds = timeout_ms};
    tansu_status status = handle_check_process(f->db, error);
    if (status != TANSU_OK)
        return status;
    release_unused(f);
    if (f->root->instances.all == NULL)
        status = instance_pins_check(f->db, f->snapshot, error);
    if (status != TANSU_OK)
        return status;
    for (;;) {
        uint64_t faults = log_faults(f->db->log);
        status = check(f, error);
        if (status == TANSU_OK && f->commit.frame == NULL) {
            if (f->snapshot == NULL)
                status = renew(f, error);
            if (status == TANSU_OK && f->snapshot == NULL)
                status = feed_acquire(f, error);
            if (status == TANSU_OK)
                status = check_faults(f, faults, next_commit(f, error), error);
        }
        if (status == TANSU_OK && f->commit.searching) {
            status = check_faults(f, faults, feed_find_event(f, error), error);
            if (status == TANSU_DONE)
                continue;
            if (status != TANSU_OK)
                return status;
        }
        if (status == TANSU_OK) {
            bool copied = f->commit.copied;
            status = check_faults(f, faults, feed_fill_event(f, change, error), error);
            if (copied)
                release_unused(f);
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
    feed_deadline p = {.milliseconds = timeout_ms};
    tansu_status status = handle_check_process(f->db, error);
    if (status != TANSU_OK)
        return status;
    feed_release(f);
    f->commit.frame = NULL;
    status = check(f, error);
    if (status == TANSU_OK)
        status = wait_more(f, &p, error);
    if (status == TANSU_OK)
        status = feed_acquire(f, error);
    if (status == TANSU_OK) {
        skip_to_newest(f);
        *sequence = f->position.delivered;
    }
    feed_release(f);
    return status;
}

/* ---- Collections' names by id, in a hash table ---- */

/* by_text -- for sorting and finding names. */
static int by_text(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool feed_names_filter(feed_names *n, const char *const *names, size_t count) {
    if (names == NULL)
        return true;
    n->filter = calloc(count + 1, sizeof *n->filter);
    for (size_t i = 0; n->filter != NULL && i < count; i++) {
        n->filter[i] = strdup(names[i]);
        if (n->filter[i] == NULL)
            return false;
        n->filter_count++;
    }
    if (count > 1 && n->filter != NULL)
        qsort(n->filter, count, sizeof *n->filter, by_text);
    return n->filter != NULL;
}

bool feed_names_want(const feed_names *n, const char *name) {
    return n->filter == NULL ||
           bsearch(&name, n->filter, n->filter_count, sizeof *n->filter, by_text) != NULL;
}

const feed_name *feed_names_find(feed_names *n, uint32_t id) {
    if (n->last != NULL && n->last->id == id)
        return n->last;
    table_link *at = table_chain(&n->ids, table_hash_number(id));
    while (at != NULL && ((const feed_name *)at)->id != id)
        at = at->next;
    n->last = (const feed_name *)at;
    return n->last;
}

/* add -- an id that is not there. */
static bool add(feed_names *n, uint32_t id, const char *name) {
    size_t length = strlen(name);
    if (!table_reserve(&n->ids))
        return false;
    feed_name *named = calloc(1, sizeof *named + length + 1);
    if (named == NULL)
        return false;
    named->id = id;
    named->wanted = feed_names_want(n, name);
    memcpy(named->text, name, length);
    table_add(&n->ids, &named->link, table_hash_number(id));
    return true;
}

bool feed_names_set(feed_names *n, uint32_t id, const char *name) {
    feed_names_drop(n, id);
    return !feed_names_want(n, name) || add(n, id, name);
}

bool feed_names_note(feed_names *n, uint32_t id, const char *name) {
    return feed_names_find(n, id) != NULL || add(n, id, name);
}

void feed_names_drop(feed_names *n, uint32_t id) {
    feed_name *named = (feed_name *)feed_names_find(n, id);
    if (named == NULL)
        return;
    n->last = NULL;
    table_remove(&n->ids, &named->link);
    free(named);
}

bool feed_names_take(feed_names *n, const snapshot *v) {
    for (size_t i = 0; i < n->filter_count; i++) {
        const collection_state *state = snapshot_collection(v, n->filter[i]);
        if (state != NULL && !feed_names_note(n, state->id, state->name))
            return false;
    }
    if (n->filter != NULL)
        return true;
    const collection_name *named;
    catalog_cursor all = catalog_from(&v->numbers, order_of_numbers, NULL);
    while ((named = catalog_next(&all)) != NULL)
        if (!feed_names_note(n, named->id, named->text))
            return false;
    return true;
}

void feed_names_clear(feed_names *n) {
    n->last = NULL;
    table_clear(&n->ids, free);
}

void feed_names_free(feed_names *n) {
    for (size_t i = 0; i < n->filter_count; i++)
        free(n->filter[i]);
    free(n->filter);
    table_free(&n->ids, free);
    *n = (feed_names){.filter = NULL};
}
