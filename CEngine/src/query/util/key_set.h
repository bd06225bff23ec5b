/*
 * query/util/key_set.h -- sets of byte strings, none of which is a prefix of another, such as value
 * keys.
 *
 * A crit-bit tree. A lookup reads the key once and does not hash, so no choice of keys makes it
 * slow.
 */
#ifndef TANSU_QUERY_UTIL_KEY_SET_H
#define TANSU_QUERY_UTIL_KEY_SET_H

#include "query/util/deadline.h"
#include "util/arena.h"

/* The head of every item; the rest belongs to the caller. */
typedef struct key_set_item {
    const uint8_t *key;
    size_t key_size;
    struct key_set_item *next; /* in insertion order */
} key_set_item;

typedef struct key_set_slot {
    void *to; /* a branch, or an item */
    bool branch;
} key_set_slot;

/* Zero-initialised, it is empty. Its memory belongs to the arena. */
typedef struct key_set {
    key_set_slot root;
    key_set_item *first;
    key_set_item *last;
    size_t count;
} key_set;

/* key_set_add -- finds the item of a key, or adds it (`item_size` zeroed bytes) and sets *added.
 * *used grows by the bytes allocated. NULL when memory is exhausted. */
key_set_item *key_set_add(key_set *set, arena *memory, const uint8_t *key, size_t size,
                          size_t item_size, bool *added, size_t *used);

/* key_set_find_name -- the item of a name, or NULL. Keys of names include the terminating NUL, so
 * that none is a prefix of another. In small sets a linear search is faster. */
key_set_item *key_set_find_name(const key_set *set, const char *name, size_t size);

/* key_set_find_key -- the item of a key, or NULL. */
key_set_item *key_set_find_key(const key_set *set, const uint8_t *key, size_t size);

/* key_set_sorted -- all items, sorted by key, in an array that the caller frees. Errors: MEMORY,
 * TIMEOUT, CANCELLED. */
tansu_status key_set_sorted(const key_set *set, const deadline *deadline, key_set_item ***sorted,
                            tansu_error *error);

#endif
