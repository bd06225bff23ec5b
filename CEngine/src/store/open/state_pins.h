/*
 * store/open/state_pins.h -- what the states of a reader keep on the disk that nobody else needs:
 * copies of the index file, and segments that the writer has removed. It is told to other processes
 * (store/readers/reader_registry.h), and may be limited (max_pinned_bytes).
 */
#ifndef TANSU_STORE_OPEN_STATE_PINS_H
#define TANSU_STORE_OPEN_STATE_PINS_H

#include "store/database_internal.h"

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
    return __builtin_expect(state->max_pinned_bytes == 0, 1) || v == NULL
               ? TANSU_OK
               : snapshot_pins_exceeded(state, v, error);
}

#endif
