/*
 * support/model/explored_states.c -- the states that an exhaustive search of a model has met.
 */
#include "support/model/explored_states.h"

#include "support/check.h"

#include <stdlib.h>
#include <string.h>

#define CAPACITY_FIRST ((size_t)1 << 16)

/* fingerprint_of -- never zero in its first half. */
static state_fingerprint fingerprint_of(const void *state, size_t size) {
    state_fingerprint f = {0x9E3779B97F4A7C15u, 0xC2B2AE3D27D4EB4Fu};
    for (size_t at = 0; at < size; at += 8) {
        uint64_t word = 0;
        memcpy(&word, (const uint8_t *)state + at, size - at < 8 ? size - at : 8);
        f.a = (f.a ^ word) * 0xBF58476D1CE4E5B9u;
        f.a ^= f.a >> 31;
        f.b = (f.b + word) * 0x94D049BB133111EBu;
        f.b ^= f.b >> 29;
    }
    f.a |= 1;
    return f;
}

/* slot_of -- where a fingerprint is in the table, or would be. */
static state_fingerprint *slot_of(const explored_states *e, state_fingerprint f) {
    size_t at = (size_t)(f.a >> 7) & (e->capacity - 1);
    while (e->table[at].a != 0 && (e->table[at].a != f.a || e->table[at].b != f.b))
        at = (at + 1) & (e->capacity - 1);
    return &e->table[at];
}

/* grow -- makes the table twice as large. */
static void grow(explored_states *e) {
    explored_states larger = {.capacity = e->capacity == 0 ? CAPACITY_FIRST : e->capacity * 2};
    larger.table = calloc(larger.capacity, sizeof *larger.table);
    REQUIRE(larger.table != NULL);
    for (size_t i = 0; i < e->capacity; i++)
        if (e->table[i].a != 0)
            *slot_of(&larger, e->table[i]) = e->table[i];
    free(e->table);
    e->table = larger.table;
    e->capacity = larger.capacity;
}

bool explored_add(explored_states *e, const void *state, size_t size) {
    if (2 * (e->count + 1) > e->capacity)
        grow(e);
    state_fingerprint f = fingerprint_of(state, size), *slot = slot_of(e, f);
    if (slot->a != 0)
        return false;
    *slot = f;
    e->count++;
    return true;
}

void explored_free(explored_states *e) {
    free(e->table);
    *e = (explored_states){0};
}
