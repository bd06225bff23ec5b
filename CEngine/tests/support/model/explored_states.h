/*
 * support/model/explored_states.h -- the states that an exhaustive search of a model has met.
 *
 * Of each state only 128 bits are kept, made of all of its bytes: padding has to be zero.
 */
#ifndef TANSU_TESTS_MODEL_EXPLORED_STATES_H
#define TANSU_TESTS_MODEL_EXPLORED_STATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct state_fingerprint {
    uint64_t a, b;
} state_fingerprint;

/* All zero: none was met. */
typedef struct explored_states {
    state_fingerprint *table; /* an open hash table */
    size_t capacity, count;
} explored_states;

/* explored_add -- false when the state was met before. */
bool explored_add(explored_states *e, const void *state, size_t size);

void explored_free(explored_states *e);

#endif
