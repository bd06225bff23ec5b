/*
 * store/open/state_pins.c -- what the states of a reader keep on the disk.
 *
 * A state is measured again only when the file TAIL says that segments have been removed since, or
 * that another writer has begun, which may have removed some before it counted.
 */
#include "store/open/state_pins.h"

#include "log/follow/follow.h"
#include "store/open/states_internal.h"
#include "util/error.h"

#include <inttypes.h>
#include <time.h>
#include <unistd.h>

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
    log_follow_measure(state->log, &state->pins.mapped, &removed);
    __atomic_store_n(&state->pins.removed, removed, __ATOMIC_RELAXED);
    __atomic_store_n(&state->pins.bytes, now.bytes, __ATOMIC_RELAXED);
    __atomic_store_n(&state->pins.sessions, now.sessions, __ATOMIC_RELAXED);
}

/* pinned -- the bytes that a state keeps, when it was last measured. */
static uint64_t pinned(const database *state) {
    return state->pins.copied + __atomic_load_n(&state->pins.removed, __ATOMIC_RELAXED);
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
    for (const database *state = s->first_state; state != NULL; state = state->next_state) {
        r->copied += state->pins.copied;
        r->mapped += state->pins.mapped;
        r->removed += __atomic_load_n(&state->pins.removed, __ATOMIC_RELAXED);
        uint64_t bytes = __atomic_load_n(&state->pins.bytes, __ATOMIC_RELAXED);
        if (bytes < r->removals)
            r->removals = bytes;
    }
    reader_update(s->entry, r);
}

void state_pins_enter(database *root) {
    struct states *s = root->states;
    struct timespec now = {0};
    clock_gettime(CLOCK_REALTIME, &now);
    pthread_mutex_lock(&s->pins_mutex);
    s->report.process = (uint64_t)getpid();
    s->report.opened = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
    s->entry = reader_enter(root->calls, root->folder, &s->report);
    pthread_mutex_unlock(&s->pins_mutex);
}

void state_pins_leave(database *root) {
    reader_leave(root->states->entry);
    root->states->entry = NULL;
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
    struct states *s = root->states;
    log_removals now = log_follow_removals(state->log);
    uint64_t limit = limit_of(s, &now);
    state->pins.copied = state->bs == NULL ? 0 : block_store_size(state->bs);
    if (limit != 0 && state->pins.copied > limit)
        return exceeded(state->pins.copied, limit, error);
    measure(state);
    pthread_mutex_lock(&s->pins_mutex);
    state->next_state = s->first_state;
    s->first_state = state;
    s->report.commit = state->head->sequence;
    report(s);
    pthread_mutex_unlock(&s->pins_mutex);
    return TANSU_OK;
}

void state_pins_remove(database *state) {
    struct states *s = state->root->states;
    pthread_mutex_lock(&s->pins_mutex);
    for (database **at = &s->first_state; *at != NULL; at = &(*at)->next_state) {
        if (*at == state) {
            *at = state->next_state;
            break;
        }
    }
    report(s);
    pthread_mutex_unlock(&s->pins_mutex);
}

void state_pins_refreshed(database *root, database *state, uint64_t commit) {
    struct states *s = root->states;
    log_removals now = log_follow_removals(state->log);
    pthread_mutex_lock(&s->pins_mutex);
    bool removed = !is_current(&state->pins, &now);
    if (removed)
        measure(state);
    else if (commit != s->report.commit) /* it may have mapped more */
        log_follow_measure(state->log, &state->pins.mapped, NULL);
    if (removed || commit != s->report.commit) {
        s->report.commit = commit;
        report(s);
    }
    pthread_mutex_unlock(&s->pins_mutex);
}

tansu_status snapshot_pins_exceeded(database *db, const snapshot *v, tansu_error *error) {
    uint64_t bytes = log_pinned(db->log, v->sequence), limit = db->max_pinned_bytes;
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
    struct states *s = state->root->states;
    log_removals now = log_follow_removals(state->log);
    uint64_t limit = limit_of(s, &now);
    if (limit == 0)
        return TANSU_OK;
    /* A refresh under way measures by itself. */
    if (!is_current(&state->pins, &now) && pthread_mutex_trylock(&s->mutex) == 0) {
        pthread_mutex_lock(&s->pins_mutex);
        measure(state);
        report(s);
        pthread_mutex_unlock(&s->pins_mutex);
        pthread_mutex_unlock(&s->mutex);
    }
    uint64_t bytes = pinned(state);
    return bytes <= limit ? TANSU_OK : exceeded(bytes, limit, error);
}
