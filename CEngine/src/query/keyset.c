/*
 * query/keyset.c -- see keyset.h.
 */
#include "query/keyset.h"
#include "base/error.h"
#include "query/sort_steps.h"
#include <stdlib.h>

/* Where the keys below differ for the first time: one bit of one byte. */
typedef struct branch {
    size_t byte;
    uint8_t others; /* all bits of the byte but the one that differs */
    keyset_slot child[2];
} branch;

/* direction -- the child that a key belongs to. */
static int direction(const branch *b, const uint8_t *key, size_t size) {
    uint8_t byte = b->byte < size ? key[b->byte] : 0;
    return (1 + (b->others | byte)) >> 8;
}

/* find -- the item that shares most of a key's bits; NULL when the set is empty. */
static keyset_item *find(const keyset *set, const uint8_t *key, size_t size) {
    keyset_slot slot = set->root;
    while (slot.branch) {
        const branch *b = slot.to;
        slot = b->child[direction(b, key, size)];
    }
    return slot.to;
}

/* insert -- hangs an item into the tree, beside one that differs from it first at `byte`. */
static void insert(keyset *set, keyset_item *item, branch *b, const keyset_item *other) {
    uint8_t bits = item->key[b->byte] ^ other->key[b->byte];
    bits |= bits >> 1;
    bits |= bits >> 2;
    bits |= bits >> 4;
    b->others = (uint8_t) ~(bits & ~(bits >> 1));
    keyset_slot *slot = &set->root;
    while (slot->branch) {
        branch *above = slot->to;
        if (above->byte > b->byte || (above->byte == b->byte && above->others > b->others))
            break;
        slot = &above->child[direction(above, item->key, item->key_size)];
    }
    int side = direction(b, item->key, item->key_size);
    b->child[side] = (keyset_slot){item, false};
    b->child[1 - side] = *slot;
    *slot = (keyset_slot){b, true};
}

/* keyset_add -- see keyset.h. */
keyset_item *keyset_add(keyset *set, arena *memory_of, const uint8_t *key, size_t size,
                        size_t item_size, bool *added, size_t *memory) {
    keyset_item *other = find(set, key, size);
    size_t same = 0;
    *added = false;
    while (other && same < size && same < other->key_size && key[same] == other->key[same])
        same++;
    /* No key is the beginning of another: the same up to the end of one is the same. */
    if (other && (same == size || same == other->key_size))
        return other;
    keyset_item *item = arena_alloc(memory_of, item_size);
    branch *b = other ? arena_alloc(memory_of, sizeof *b) : NULL;
    const uint8_t *copy = arena_copy(memory_of, key, size);
    if (!item || !copy || (other && !b))
        return NULL;
    *memory += item_size + size + 1 + (b ? sizeof *b : 0);
    *added = true;
    item->key = copy;
    item->key_size = size;
    if (b) {
        b->byte = same;
        insert(set, item, b, other);
    } else {
        set->root = (keyset_slot){item, false};
    }
    if (set->last)
        set->last->next = item;
    else
        set->first = item;
    set->last = item;
    set->count++;
    return item;
}

/* keyset_find -- see keyset.h. */
keyset_item *keyset_find(const keyset *set, const uint8_t *key, size_t size) {
    keyset_item *item = find(set, key, size);
    return item && item->key_size == size && memcmp(item->key, key, size) == 0 ? item : NULL;
}

#define FEW_NAMES 8

/* keyset_name -- see keyset.h. */
keyset_item *keyset_name(const keyset *set, const char *name, size_t size) {
    if (set->count > FEW_NAMES)
        return keyset_find(set, (const uint8_t *)name, size + 1);
    keyset_item *item = set->first;
    while (item && (item->key_size != size + 1 || memcmp(item->key, name, size) != 0))
        item = item->next;
    return item;
}

/* compare_items -- by key; none begins another. */
static int compare_items(const void *left, const void *right) {
    const keyset_item *a = *(keyset_item *const *)left, *b = *(keyset_item *const *)right;
    return memcmp(a->key, b->key, a->key_size < b->key_size ? a->key_size : b->key_size);
}

/* keyset_sorted -- see keyset.h. */
tansu_status keyset_sorted(const keyset *set, const watch *w, keyset_item ***sorted,
                           tansu_error *error) {
    keyset_item **list = malloc((set->count + 1) * sizeof *list);
    size_t count = 0;
    if (!list)
        return error_memory(error);
    for (keyset_item *item = set->first; item; item = item->next)
        list[count++] = item;
    tansu_status status = sort_steps(list, count, sizeof *list, compare_items, w, error);
    if (status == TANSU_OK)
        *sorted = list;
    else
        free(list);
    return status;
}
