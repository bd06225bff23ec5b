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

/* states_open -- a root with its first state. Errors: those of database_open(). */
tansu_status states_open(const tansu_options *options, const fs *calls,
                         const index_filter_calls *filters, database **result, tansu_error *error);

/* states_close -- closes the state, or defers that to its last user. */
void states_close(database *root);

/* states_end -- database_close() of a root. */
void states_end(database *root);

/* states_handles -- the transactions, cursors and feeds that are open; state_mutex is held. */
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
    return db->states == NULL ? TANSU_OK : states_enter(db, state, error);
}

static inline void database_leave(database *state) {
    if (state->root != state)
        states_leave(state);
}

/* database_enter_handle -- the same for what lasts longer: until handle_release(). Errors: those of
 * handle_acquire() as well. */
tansu_status database_enter_handle(database *db, database **state, tansu_error *error);

#endif
