/*
 * store/open/states.h -- a handle that reads while another process writes (allow_writer).
 *
 * What such a handle reads is an opened database of its own, its *state*. A refresh applies the
 * commits that came since to the state, as the next snapshot. Where that is not possible any more,
 * or the state has grown too large, another one is opened from the files, and takes the place of
 * the first. Calls, cursors, transactions and feeds keep the state that they began with; the last
 * of them frees it.
 *
 * The database behind the handle is the *root*. Of a handle without allow_writer, root and state
 * are the same.
 */
#ifndef TANSU_STORE_OPEN_STATES_H
#define TANSU_STORE_OPEN_STATES_H

#include "store/database_internal.h"
#include "store/readers/reader_registry.h"
#include "util/clock.h"

/* states_open -- a root with its first state. Errors: those of database_open(). */
tansu_status states_open(const tansu_options *options, const fs *calls,
                         const index_filter_calls *filters, database **result, tansu_error *error);

/* states_close -- closes the state, or defers that to its last user. */
void states_close(database *root);

/* states_end -- database_close() of a root. */
void states_end(database *root);

/* states_handles -- the transactions, cursors and feeds that are open; mutex is held. */
uint64_t states_handles(const database *root);

/* states_refresh -- tansu_refresh(); on any database. */
tansu_status states_refresh(database *db, bool *changed, uint64_t *sequence, tansu_error *error);

/* How often the newest commit became another one since opening. */
typedef struct states_statistics {
    uint64_t refreshes;
    uint64_t replacements; /* of the state, among them */
} states_statistics;

/* states_measure -- of a root with states. */
states_statistics states_measure(const database *root);

/* states_enter, states_leave -- see database_enter(), for roots with states. */
tansu_status states_enter(database *root, database **state, tansu_error *error);
void states_leave(database *state);

/* database_enter -- what a call on a handle reads: it stays until database_leave(). With the option
 * `follow`, it has the newest commit. Errors: those of tansu_refresh(), CLOSED. */
static inline tansu_status database_enter(database *db, database **state, tansu_error *error) {
    *state = db;
    return db->states.all == NULL ? TANSU_OK : states_enter(db, state, error);
}

static inline void database_leave(database *state) {
    if (state->root != state)
        states_leave(state);
}

/* database_enter_handle -- the same for what lasts longer: until handle_release(). Errors: those of
 * handle_acquire() as well. */
tansu_status database_enter_handle(database *db, database **state, tansu_error *error);

/* ---- What a root has that other databases do not ---- */

struct states {
    tansu_options options; /* of the next state */
    pthread_mutex_t mutex; /* one refresh at a time; guards the following */
    bool unusable;         /* the current state cannot be continued */
    uint64_t dirty_limit;  /* in bytes: then it is examined whether there is a newer checkpoint */
    uint64_t refreshes;    /* that found commits; atomic */
    uint64_t replacements; /* of the state; atomic */
    /* The current state was dropped because it kept too much on the disk; this was its commit.
     * Guarded by the root's mutex. */
    bool expired;
    uint64_t expired_commit;
    /* What the states keep on the disk (store/open/states.h); taken after `mutex`. */
    pthread_mutex_t pins_mutex;
    database *first_state; /* all that are not closed */
    reader_entry *entry;   /* NULL where none can be written */
    reader_report report;
};

/* ---- State pins ---- */

/*
 * What the states of a reader keep on the disk that nobody else needs:
 * copies of the index file, and segments that the writer has removed. It is told to other processes
 * (store/readers/reader_registry.h), and may be limited (max_pinned_bytes).
 */

/* state_pins_enter, state_pins_leave -- the root's entry in the registry. */
void state_pins_enter(database *root);
void state_pins_leave(database *root);

/* state_pins_add -- a new state, which is the root's. Errors: TOO_LARGE (its copy alone exceeds the
 * limit). */
tansu_status state_pins_add(database *root, database *state, tansu_error *error);

/* state_pins_remove -- before one that was added is closed. */
void state_pins_remove(database *state);

/* state_pins_refreshed -- the root's current state, which the caller is in, has that commit. The
 * mutex of the root's states is held. */
void state_pins_refreshed(database *root, database *state, uint64_t commit);

/* state_pins_exceeded, snapshot_pins_exceeded -- state_pins_check() for a state of a root with
 * states, and for a snapshot of another database with a limit. */
tansu_status state_pins_exceeded(database *state, tansu_error *error);
tansu_status snapshot_pins_exceeded(database *db, const snapshot *v, tansu_error *error);

/* state_pins_check -- TOO_LARGE when what a state keeps on the disk exceeds the limit, or what a
 * snapshot of the writer's process does; `v` NULL: none is held. Without a limit, two comparisons,
 * and for a state some loads. */
static inline tansu_status state_pins_check(database *state, const snapshot *v,
                                            tansu_error *error) {
    if (state->root != state)
        return state_pins_exceeded(state, error);
    return __builtin_expect(state->options.max_pinned_bytes == 0, 1) || v == NULL
               ? TANSU_OK
               : snapshot_pins_exceeded(state, v, error);
}

#endif
