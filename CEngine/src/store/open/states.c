/*
 * store/open/states.c -- states of a handle that reads while another process writes.
 *
 * root->states.current, and the number of calls in each state, are guarded by the root's mutex. A
 * state counts one of its own handles for all calls and for being the current one, and the root one
 * for each state.
 */
#include "store/open/states.h"

#include "log/follow/follow.h"
#include "log/scan.h"
#include "store/files.h"
#include "store/handle.h"
#include "store/open/database_folder.h"
#include "store/open/open.h"
#include "store/recovery/recovery.h"
#include "store/write_lock.h"
#include "util/error.h"
#include "util/file_size_limit.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* A state is replaced, if there is a newer checkpoint, when more than this part of
 * options.index_cache_bytes is in blocks that only it has, and that is more than the least. */
#define DIRTY_PART 2
#define DIRTY_LEAST ((uint64_t)1024 * 1024)

/* It is replaced as well when its snapshots keep more than that of removed segments, and more than
 * it reads. */
#define KEEPS_LEAST ((uint64_t)4 * 1024 * 1024)

/* ---- States ---- */

/* close_state -- a state that nobody uses any more. */
static tansu_status close_state(database *state, tansu_error *error) {
    database *root = state->root;
    state_pins_remove(state);
    tansu_status status = database_close(state, error);
    handle_release(root);
    return status;
}

/* install -- makes a state the current one; NULL: the root has none any more. False when the handle
 * is being closed, and takes no other one. */
static bool install(database *root, database *state) {
    pthread_mutex_lock(&root->mutex);
    database *old = root->states.current;
    bool taken = state == NULL || !__atomic_load_n(&root->handles.closing, __ATOMIC_RELAXED);
    if (taken && state != NULL) {
        state->close = close_state;
        state->handles.count = 1;
        root->handles.count++;
        root->states.all->expired = false;
    }
    bool unused = taken && old != NULL && old->states.calls_inside == 0;
    if (taken)
        root->states.current = state;
    if (taken && old != NULL) {
        pthread_mutex_lock(&old->mutex);
        __atomic_store_n(&old->handles.closing, true, __ATOMIC_RELAXED);
        pthread_mutex_unlock(&old->mutex);
    }
    pthread_mutex_unlock(&root->mutex);
    if (unused)
        handle_release(old);
    return taken;
}

/* expire -- gives up a state that keeps too much on the disk, if it is the current one still: its
 * last user frees it. */
static void expire(database *root, database *state) {
    pthread_mutex_lock(&root->mutex);
    if (root->states.current == state) {
        root->states.current = NULL;
        root->states.all->expired = true;
        root->states.all->expired_commit = state->snapshots.head->sequence;
        pthread_mutex_lock(&state->mutex);
        __atomic_store_n(&state->handles.closing, true, __ATOMIC_RELAXED);
        pthread_mutex_unlock(&state->mutex);
    }
    pthread_mutex_unlock(&root->mutex);
}

/* no_state -- the error for a call that finds none. */
static tansu_status no_state(database *root, tansu_error *error) {
    tansu_status status = handle_check_open(root, error);
    if (status == TANSU_OK)
        status = error_set(error, TANSU_E_TOO_LARGE, "max_pinned_bytes",
                           "The snapshot was given up, because it kept more on the disk than "
                           "max_pinned_bytes; refresh the database");
    return status;
}

/* pin -- the current state, until states_leave(); NULL when the handle is being closed, or the
 * state was given up. */
static database *pin(database *root) {
    pthread_mutex_lock(&root->mutex);
    database *state =
        __atomic_load_n(&root->handles.closing, __ATOMIC_RELAXED) ? NULL : root->states.current;
    if (state != NULL)
        state->states.calls_inside++;
    pthread_mutex_unlock(&root->mutex);
    return state;
}

tansu_status states_enter(database *root, database **state, tansu_error *error) {
    bool looked = !root->options.follow;
    for (;;) {
        database *d = pin(root);
        tansu_status status = TANSU_OK;
        if (d == NULL && looked)
            return no_state(root, error);
        if (root->options.follow && (status = folder_check_often(root, error)) != TANSU_OK) {
            if (d != NULL)
                states_leave(d);
            return status;
        }
        if (d != NULL && (looked || log_follow_unchanged(d->log))) {
            *state = d;
            status = state_pins_check(d, NULL, error);
            if (status == TANSU_OK)
                return TANSU_OK;
            expire(root, d);
            states_leave(d);
            if (looked)
                return status;
            continue; /* one that follows goes to a newer state */
        }
        looked = true;
        status = states_refresh(root, NULL, NULL, error);
        if (d != NULL)
            states_leave(d);
        if (status != TANSU_OK)
            return status;
    }
}

void states_leave(database *state) {
    database *root = state->root;
    pthread_mutex_lock(&root->mutex);
    bool last = --state->states.calls_inside == 0 && state != root->states.current;
    pthread_mutex_unlock(&root->mutex);
    if (last)
        handle_release(state);
}

tansu_status database_enter_handle(database *db, database **state, tansu_error *error) {
    tansu_status status = handle_check_open(db, error);
    if (status == TANSU_OK)
        status = database_enter(db, state, error);
    if (status != TANSU_OK)
        return status;
    status = handle_acquire(*state, error);
    database_leave(*state);
    return status;
}

uint64_t states_handles(const database *root) {
    database *state = root->states.current;
    if (state == NULL)
        return root->handles.count;
    pthread_mutex_lock(&state->mutex);
    uint64_t handles = root->handles.count + state->handles.count - 2;
    pthread_mutex_unlock(&state->mutex);
    return handles;
}

states_statistics states_measure(const database *root) {
    const struct states *s = root->states.all;
    return (states_statistics){.refreshes = __atomic_load_n(&s->refreshes, __ATOMIC_RELAXED),
                               .replacements = __atomic_load_n(&s->replacements, __ATOMIC_RELAXED)};
}

/* ---- Opening and closing ---- */

/* free_root -- the root's database_close(), when it has no state any more. */
static tansu_status free_root(database *root, tansu_error *error) {
    (void)error;
    state_pins_leave(root);
    pthread_mutex_destroy(&root->states.all->pins_mutex);
    pthread_mutex_destroy(&root->states.all->mutex);
    free(root->states.all);
    root->states.all = NULL;
    return database_close(root, NULL);
}

/* add -- a state of the root; on failure it is closed. */
static tansu_status add(database *root, database *state, tansu_error *error) {
    state->root = root;
    tansu_status status = state_pins_add(root, state, error);
    if (status != TANSU_OK) {
        state->root = state;
        database_close(state, NULL);
    }
    return status;
}

tansu_status states_open(const tansu_options *options, const fs *calls,
                         const index_filter_calls *filters, database **result, tansu_error *error) {
    database *root;
    tansu_status status = options_check(options, error);
    if (status == TANSU_OK)
        status = database_new(options, calls, &root, error);
    if (status != TANSU_OK)
        return status;
    root->discard = true;
    root->filters = filters;
    struct states *r = calloc(1, sizeof *r);
    if (r == NULL || pthread_mutex_init(&r->mutex, NULL) != 0 ||
        pthread_mutex_init(&r->pins_mutex, NULL) != 0) {
        free(r);
        database_close(root, NULL);
        return error_memory(error);
    }
    root->states.all = r;
    root->close = free_root;
    database *state = NULL;
    r->options = *options;
    status = folder_set(root, options->path, error);
    if (status == TANSU_OK) {
        r->options.path = root->files.folder;
        (void)folder_anchor(root, NULL); /* opening says what is wrong */
        status = folder_anchor_parts(root, error);
    }
    if (status == TANSU_OK)
        status = open_concurrent(&r->options, root->files.calls, filters, &state, error);
    if (status != TANSU_OK) {
        free_root(root, NULL);
        return status;
    }
    r->options.progress = NULL;
    root->states.current = NULL;
    status = add(root, state, error);
    if (status != TANSU_OK) {
        free_root(root, NULL);
        return status;
    }
    install(root, state);
    state_pins_enter(root);
    *result = root;
    return TANSU_OK;
}

void states_close(database *root) {
    pthread_mutex_lock(&root->mutex);
    root->handles.count++; /* where there is no state, nobody else's end frees the root */
    pthread_mutex_unlock(&root->mutex);
    install(root, NULL);
    handle_release(root);
}

void states_end(database *root) {
    __atomic_store_n(&root->handles.closing, true, __ATOMIC_RELAXED);
    states_close(root);
}

/* ---- Refreshing ---- */

/* replace -- opens the files again. The mutex is held. */
static tansu_status replace(database *root, database *old, tansu_error *error) {
    struct states *r = root->states.all;
    database *fresh = NULL;
    limit_guard guard;
    limit_enter(&guard);
    tansu_status status =
        open_concurrent(&r->options, root->files.calls, root->filters, &fresh, error);
    limit_leave(&guard);
    if (status == TANSU_OK)
        status = add(root, fresh, error);
    if (status != TANSU_OK)
        return status;
    r->unusable = false;
    r->dirty_limit = 0;
    __atomic_add_fetch(&r->replacements, 1, __ATOMIC_RELAXED);
    if (old != NULL)
        commit_wait_wake(old); /* its feeds go on in the new one */
    if (!install(root, fresh)) {
        state_pins_remove(fresh);
        fresh->root = fresh;
        database_close(fresh, NULL);
        return handle_check_open(root, error);
    }
    return TANSU_OK;
}

/* lock_segments -- keeps those that need the segments as they are waiting; false when there is one.
 * Then a compaction cannot be applied. */
static bool lock_segments(database *state) {
    pthread_mutex_lock(&state->mutex);
    bool free = state->maintenance.running == MAINTENANCE_NONE;
    if (free)
        state->maintenance.running = MAINTENANCE_BACKGROUND;
    pthread_mutex_unlock(&state->mutex);
    return free;
}

static void unlock_segments(database *state) {
    pthread_mutex_lock(&state->mutex);
    state->maintenance.running = MAINTENANCE_NONE;
    pthread_cond_broadcast(&state->changed);
    pthread_mutex_unlock(&state->mutex);
}

/* raise_floor -- feeds that have not delivered what a compaction may have dropped cannot go on. */
static void raise_floor(database *state) {
    uint64_t floor = log_compacted_to(state->log);
    pthread_mutex_lock(&state->feeds.mutex);
    if (floor > state->feeds.floor)
        state->feeds.floor = floor;
    pthread_mutex_unlock(&state->feeds.mutex);
}

/* advance -- applies the commits up to `to`; false when that is not possible. */
static bool advance(database *state, uint64_t to) {
    bool reached = false;
    bool locked = lock_segments(state);
    state->states.keeps_segments = !locked;
    tansu_status status = recovery_follow(state, to, &reached, NULL);
    if (locked)
        unlock_segments(state);
    if (status != TANSU_OK || !reached)
        return false;
    raise_floor(state);
    return true;
}

/* is_large -- whether a state has so much in memory alone that a newer checkpoint would help, and
 * there is one. */
static bool is_large(struct states *r, const database *state) {
    uint64_t dirty = tree_store_dirty(state->trees),
             bound = state->options.index_cache_bytes / DIRTY_PART;
    if (bound < DIRTY_LEAST)
        bound = DIRTY_LEAST;
    if (dirty < bound || dirty < r->dirty_limit)
        return false;
    r->dirty_limit = dirty + bound / 4;
    return files_stamp_check(state, NULL) == TANSU_E_BUSY;
}

/* keeps_much -- whether snapshots of a state keep more of removed segments than all that it reads:
 * the next one has a state of its own, and the old ones keep what this one has now, and no more. */
static bool keeps_much(const database *state) {
    return __atomic_load_n(&state->log->retired, __ATOMIC_RELAXED) >
           log_measure(state->log).bytes + KEEPS_LEAST;
}

/* log_end -- the last commit of the log, where the marks do not say it: nobody has written since
 * the last clean end. */
static tansu_status log_end(const database *root, uint64_t *to, tansu_error *error) {
    manifest m;
    tansu_status status = manifest_read(root->files.calls, root->files.folder, &m, error);
    *to = status == TANSU_OK ? m.end_sequence : 0;
    return status;
}

/* refresh -- states_refresh() with the mutex held. `state`: the current one. */
static tansu_status refresh(database *root, database *state, tansu_error *error) {
    struct states *r = root->states.all;
    log_seen seen;
    uint64_t to, now = state->snapshots.head->sequence;
    tansu_status status = folder_check_often(root, error);
    if (status != TANSU_OK)
        return status;
    if (r->unusable || !log_follow_look(state->log, &seen, &to))
        return replace(root, state, error);
    bool marked = to != 0;
    status = marked ? TANSU_OK : log_end(root, &to, error);
    if (status != TANSU_OK)
        return status;
    if (marked && to < now) /* commits have been taken out of the log */
        return replace(root, state, error);
    if (to > now && !advance(state, to)) {
        r->unusable = true;
        return replace(root, state, error);
    }
    log_follow_seen(state->log, &seen);
    if (to > now && (is_large(r, state) || keeps_much(state)))
        (void)replace(root, state, NULL); /* it goes on with the state that it has */
    return TANSU_OK;
}

/* newest -- the commit that a call would see. */
static uint64_t newest(database *state) {
    snapshot *v = snapshot_acquire(state);
    uint64_t sequence = v->sequence;
    snapshot_release(state, v);
    return sequence;
}

/* refresh_counted -- states_refresh() of a handle that stays while it runs. */
static tansu_status refresh_counted(database *root, bool *changed, uint64_t *sequence,
                                    tansu_error *error) {
    struct states *r = root->states.all;
    pthread_mutex_lock(&r->mutex);
    database *state = pin(root);
    tansu_status status = state == NULL ? handle_check_open(root, error) : TANSU_OK;
    if (status == TANSU_OK) {
        uint64_t before = state == NULL ? r->expired_commit : newest(state);
        *sequence = before;
        status = state == NULL ? replace(root, NULL, error) : refresh(root, state, error);
        database *after = pin(root);
        if (after != NULL) {
            *sequence = newest(after);
            state_pins_refreshed(root, after, *sequence);
            states_leave(after);
        }
        *changed = *sequence != before;
        if (state != NULL)
            states_leave(state);
    }
    pthread_mutex_unlock(&r->mutex);
    if (*changed)
        __atomic_add_fetch(&r->refreshes, 1, __ATOMIC_RELAXED);
    return status;
}

tansu_status states_refresh(database *db, bool *changed, uint64_t *sequence, tansu_error *error) {
    bool newer = false;
    uint64_t number = 0;
    tansu_status status = handle_acquire(db, error);
    if (status != TANSU_OK)
        return status;
    if (db->states.all != NULL)
        status = refresh_counted(db, &newer, &number, error);
    else
        number = newest(db);
    handle_release(db);
    if (changed != NULL)
        *changed = newer;
    if (sequence != NULL)
        *sequence = number;
    return status;
}

/* ---- What the states of a reader keep on the disk ---- */

/*
 * A state is measured again only when the file TAIL says that segments have been removed since, or
 * that another writer has begun, which may have removed some before it counted.
 */

/* ---- Measuring ---- */

/* is_current -- whether nothing was removed since the state was measured. */
static bool is_current(const state_pins *pins, const log_removals *now) {
    return __atomic_load_n(&pins->bytes, __ATOMIC_RELAXED) == now->bytes &&
           __atomic_load_n(&pins->sessions, __ATOMIC_RELAXED) == now->sessions;
}

/* measure -- a state; its log must not be changing. */
static void measure(database *state) {
    log_removals now = log_follow_removals(state->log);
    uint64_t removed;
    log_follow_measure(state->log, &state->states.pins.mapped, &removed);
    __atomic_store_n(&state->states.pins.removed, removed, __ATOMIC_RELAXED);
    __atomic_store_n(&state->states.pins.bytes, now.bytes, __ATOMIC_RELAXED);
    __atomic_store_n(&state->states.pins.sessions, now.sessions, __ATOMIC_RELAXED);
}

/* pinned -- the bytes that a state keeps, when it was last measured. */
static uint64_t pinned(const database *state) {
    return state->states.pins.copied +
           __atomic_load_n(&state->states.pins.removed, __ATOMIC_RELAXED);
}

/* limit_of -- the smaller one of this reader's and the writer's limit; 0: there is none. */
static uint64_t limit_of(const struct states *s, const log_removals *now) {
    uint64_t own = s->options.max_pinned_bytes;
    if (now->limit != 0 && (own == 0 || now->limit < own))
        return now->limit;
    return own;
}

/* ---- The entry ---- */

/* report -- tells what all states keep. The pins mutex is held. */
static void report(struct states *s) {
    reader_report *r = &s->report;
    r->copied = r->mapped = r->removed = 0;
    r->removals = UINT64_MAX;
    for (const database *state = s->first_state; state != NULL; state = state->states.next) {
        r->copied += state->states.pins.copied;
        r->mapped += state->states.pins.mapped;
        r->removed += __atomic_load_n(&state->states.pins.removed, __ATOMIC_RELAXED);
        uint64_t bytes = __atomic_load_n(&state->states.pins.bytes, __ATOMIC_RELAXED);
        if (bytes < r->removals)
            r->removals = bytes;
    }
    reader_update(s->entry, r);
}

void state_pins_enter(database *root) {
    struct states *s = root->states.all;
    struct timespec now = {0};
    clock_gettime(CLOCK_REALTIME, &now);
    pthread_mutex_lock(&s->pins_mutex);
    s->report.process = (uint64_t)getpid();
    s->report.opened = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
    s->entry = reader_enter(root->files.calls, root->files.folder, &s->report);
    pthread_mutex_unlock(&s->pins_mutex);
}

void state_pins_leave(database *root) {
    reader_leave(root->states.all->entry);
    root->states.all->entry = NULL;
}

/* ---- States ---- */

/* exceeded -- the error for a state that keeps too much. */
static tansu_status exceeded(uint64_t bytes, uint64_t limit, tansu_error *error) {
    return error_set(error, TANSU_E_TOO_LARGE, "max_pinned_bytes",
                     "The snapshot keeps %" PRIu64 " bytes on the disk that nobody else needs, and "
                     "max_pinned_bytes is %" PRIu64 "; refresh the database, and end older "
                     "transactions and cursors, or set a larger limit",
                     bytes, limit);
}

tansu_status state_pins_add(database *root, database *state, tansu_error *error) {
    struct states *s = root->states.all;
    log_removals now = log_follow_removals(state->log);
    uint64_t limit = limit_of(s, &now);
    state->states.pins.copied = state->bs == NULL ? 0 : block_store_size(state->bs);
    if (limit != 0 && state->states.pins.copied > limit)
        return exceeded(state->states.pins.copied, limit, error);
    measure(state);
    pthread_mutex_lock(&s->pins_mutex);
    state->states.next = s->first_state;
    s->first_state = state;
    s->report.commit = state->snapshots.head->sequence;
    report(s);
    pthread_mutex_unlock(&s->pins_mutex);
    return TANSU_OK;
}

void state_pins_remove(database *state) {
    struct states *s = state->root->states.all;
    pthread_mutex_lock(&s->pins_mutex);
    for (database **at = &s->first_state; *at != NULL; at = &(*at)->states.next) {
        if (*at == state) {
            *at = state->states.next;
            break;
        }
    }
    report(s);
    pthread_mutex_unlock(&s->pins_mutex);
}

void state_pins_refreshed(database *root, database *state, uint64_t commit) {
    struct states *s = root->states.all;
    log_removals now = log_follow_removals(state->log);
    pthread_mutex_lock(&s->pins_mutex);
    bool removed = !is_current(&state->states.pins, &now);
    if (removed)
        measure(state);
    else if (commit != s->report.commit) /* it may have mapped more */
        log_follow_measure(state->log, &state->states.pins.mapped, NULL);
    if (removed || commit != s->report.commit) {
        s->report.commit = commit;
        report(s);
    }
    pthread_mutex_unlock(&s->pins_mutex);
}

tansu_status snapshot_pins_exceeded(database *db, const snapshot *v, tansu_error *error) {
    uint64_t bytes = log_pinned(db->log, v->sequence), limit = db->options.max_pinned_bytes;
    if (bytes <= limit)
        return TANSU_OK;
    return error_set(error, TANSU_E_TOO_LARGE, "max_pinned_bytes",
                     "The snapshot keeps %" PRIu64 " bytes on the disk that nobody else needs, and "
                     "max_pinned_bytes is %" PRIu64
                     "; end the transaction, cursor or feed and begin "
                     "another one, or set a larger limit",
                     bytes, limit);
}

tansu_status state_pins_exceeded(database *state, tansu_error *error) {
    struct states *s = state->root->states.all;
    log_removals now = log_follow_removals(state->log);
    uint64_t limit = limit_of(s, &now);
    if (limit == 0)
        return TANSU_OK;
    /* A refresh under way measures by itself. */
    if (!is_current(&state->states.pins, &now) && pthread_mutex_trylock(&s->mutex) == 0) {
        pthread_mutex_lock(&s->pins_mutex);
        measure(state);
        report(s);
        pthread_mutex_unlock(&s->pins_mutex);
        pthread_mutex_unlock(&s->mutex);
    }
    uint64_t bytes = pinned(state);
    return bytes <= limit ? TANSU_OK : exceeded(bytes, limit, error);
}
