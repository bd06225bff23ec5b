/*
 * query/keyset.h -- sets of byte strings of which none is the beginning of another, such as value
 * keys. Part query; calls nothing but the arena and
 * sort_steps.c.
 *
 * A crit-bit tree: finding a key looks at it once and never hashes, so that no choice of keys can
 * make it slow.
 */
#ifndef TANSU_QUERY_KEYSET_H
#define TANSU_QUERY_KEYSET_H

#include "query/arena.h"
#include "query/interrupt.h"

/* What every item begins with; the rest is the caller's. */
typedef struct keyset_item {
    const uint8_t *key;
    size_t key_size;
    struct keyset_item *next; /* in order of adding */
} keyset_item;

typedef struct keyset_slot {
    void *to; /* a branch, or an item */
    bool branch;
} keyset_slot;

/* Zeroed, it is empty. Its memory is the arena's. */
typedef struct keyset {
    keyset_slot root;
    keyset_item *first;
    keyset_item *last;
    size_t count;
} keyset;

/* keyset_add -- the item of a key, made (`item_size` zeroed bytes) when there is none: *added.
 * *memory grows by what was allocated. NULL when memory is exhausted. */
keyset_item *keyset_add(keyset *set, arena *memory_of, const uint8_t *key, size_t size,
                        size_t item_size, bool *added, size_t *memory);

/* keyset_find -- the item of a key, or NULL. */
keyset_item *keyset_find(const keyset *set, const uint8_t *key, size_t size);

/* keyset_name -- the same for names, whose keys have the NUL behind them: so none begins another. Few are
 * compared one by one. */
keyset_item *keyset_name(const keyset *set, const char *name, size_t size);

/* keyset_sorted -- all items by key in an array that the caller frees. Errors: MEMORY, TIMEOUT,
 * CANCELLED. */
tansu_status keyset_sorted(const keyset *set, const watch *w, keyset_item ***sorted,
                           tansu_error *error);

#endif
