/*
 * store/open/states_internal.h -- what a root has that other databases do not.
 */
#ifndef TANSU_STORE_OPEN_STATES_INTERNAL_H
#define TANSU_STORE_OPEN_STATES_INTERNAL_H

#include "store/open/states.h"
#include "store/readers/reader_registry.h"
#include "util/clock.h"

struct states {
    tansu_options options; /* of the next state */
    pthread_mutex_t mutex; /* one refresh at a time; guards the following */
    bool unusable;         /* the current state cannot be continued */
    uint64_t dirty_limit;  /* in bytes: then it is examined whether there is a newer checkpoint */
    uint64_t refreshes;    /* that found commits; atomic */
    uint64_t replacements; /* of the state; atomic */
    /* The current state was dropped because it kept too much on the disk; this was its commit.
     * Guarded by the root's state_mutex. */
    bool expired;
    uint64_t expired_commit;
    /* What the states keep on the disk (store/open/state_pins.h); taken after `mutex`. */
    pthread_mutex_t pins_mutex;
    database *first_state; /* all that are not closed */
    reader_entry *entry;   /* NULL where none can be written */
    reader_report report;
};

#endif
