/*
 * query/util/key_set.c -- a crit-bit tree.
 */
#include "query/util/key_set.h"
#include "query/util/merge_sort.h"
#include "util/error.h"
#include <stdlib.h>
#include <string.h>

/* The first position where the keys below differ: one bit of one byte. */
typedef struct branch {
    size_t byte;
    uint8_t others; /* all bits of the byte except the one that differs */
    key_set_slot child[2];
} branch;

/* direction -- the child below which a key belongs. */
static int direction(const branch *b, const uint8_t *key, size_t size) {
    uint8_t byte = b->byte < size ? key[b->byte] : 0;
    return (1 + (b->others | byte)) >> 8;
}

/* find -- the item that shares most bits with a key; NULL when the set is empty. */
static key_set_item *find(const key_set *set, const uint8_t *key, size_t size) {
    key_set_slot slot = set->root;
    while (slot.branch) {
        const branch *b = slot.to;
        slot = b->child[direction(b, key, size)];
    }
    return slot.to;
}

/* insert -- inserts an item next to one that first differs from it at `byte`. */
static void insert(key_set *set, key_set_item *item, branch *b, const key_set_item *other) {
    uint8_t bits = item->key[b->byte] ^ other->key[b->byte];
    bits |= bits >> 1;
    bits |= bits >> 2;
    bits |= bits >> 4;
    b->others = (uint8_t) ~(bits & ~(bits >> 1));
    key_set_slot *slot = &set->root;
    while (slot->branch) {
        branch *above = slot->to;
        if (above->byte > b->byte || (above->byte == b->byte && above->others > b->others))
            break;
        slot = &above->child[direction(above, item->key, item->key_size)];
    }
    int side = direction(b, item->key, item->key_size);
    b->child[side] = (key_set_slot){item, false};
    b->child[1 - side] = *slot;
    *slot = (key_set_slot){b, true};
}

key_set_item *key_set_add(key_set *set, arena *memory, const uint8_t *key, size_t size,
                          size_t item_size, bool *added, size_t *used) {
    key_set_item *other = find(set, key, size);
    size_t same = 0;
    *added = false;
    while (other && same < size && same < other->key_size && key[same] == other->key[same])
        same++;
    /* No key is a prefix of another, so keys that agree up to the end of one are equal. */
    if (other && (same == size || same == other->key_size))
        return other;
    key_set_item *item = arena_alloc(memory, item_size);
    branch *b = other ? arena_alloc(memory, sizeof *b) : NULL;
    const uint8_t *copy = arena_copy(memory, key, size);
    if (!item || !copy || (other && !b))
        return NULL;
    *used += item_size + size + 1 + (b ? sizeof *b : 0);
    *added = true;
    item->key = copy;
    item->key_size = size;
    if (b) {
        b->byte = same;
        insert(set, item, b, other);
    } else {
        set->root = (key_set_slot){item, false};
    }
    if (set->last)
        set->last->next = item;
    else
        set->first = item;
    set->last = item;
    set->count++;
    return item;
}

key_set_item *key_set_find_key(const key_set *set, const uint8_t *key, size_t size) {
    key_set_item *item = set->count != 0 ? find(set, key, size) : NULL;
    return item && item->key_size == size && memcmp(item->key, key, size) == 0 ? item : NULL;
}

#define FEW_NAMES 8 /* are searched one by one */

key_set_item *key_set_find_name(const key_set *set, const char *name, size_t size) {
    key_set_item *item = set->first;
    if (set->count > FEW_NAMES) {
        item = find(set, (const uint8_t *)name, size + 1);
        return item && item->key_size == size + 1 && memcmp(item->key, name, size + 1) == 0 ? item
                                                                                            : NULL;
    }
    while (item && (item->key_size != size + 1 || memcmp(item->key, name, size) != 0))
        item = item->next;
    return item;
}

/* compare_items -- by key. */
static int compare_items(const void *left, const void *right) {
    const key_set_item *a = *(key_set_item *const *)left, *b = *(key_set_item *const *)right;
    return memcmp(a->key, b->key, a->key_size < b->key_size ? a->key_size : b->key_size);
}

tansu_status key_set_sorted(const key_set *set, const deadline *deadline, key_set_item ***sorted,
                            tansu_error *error) {
    key_set_item **list = malloc((set->count + 1) * sizeof *list);
    size_t count = 0;
    if (!list)
        return error_memory(error);
    for (key_set_item *item = set->first; item; item = item->next)
        list[count++] = item;
    tansu_status status = merge_sort(list, count, sizeof *list, compare_items, deadline, error);
    if (status == TANSU_OK)
        *sorted = list;
    else
        free(list);
    return status;
}
