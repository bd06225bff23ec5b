/*
 * store/catalog/catalog.h -- the collections of a snapshot, ordered by name and by number:
 * copy-on-write B+ trees of pointers.
 *
 * The root is a part of its snapshot, and is copied with it; the pages below it are shared by all
 * snapshots, and a writer copies those on the path to what it changes. So a transaction costs the
 * same however many collections there are, and with up to CATALOG_ITEMS of them no page is needed.
 */
#ifndef TANSU_STORE_CATALOG_CATALOG_H
#define TANSU_STORE_CATALOG_CATALOG_H

#include "util/retire.h"

#include <string.h>

#define CATALOG_ITEMS 64
#define CATALOG_LEVELS 12 /* more than 2^24 collections need, however few items pages have */

#define CATALOG_REPLACED (3 * CATALOG_LEVELS) /* pages that one change replaces at most */

typedef struct catalog_page {
    uint64_t epoch; /* of the writer that made it */
    uint32_t level; /* 0: the items are what is listed; otherwise pages of the level below */
    uint32_t count;
    void *items[CATALOG_ITEMS];
} catalog_page;

/* Compares an item with a key, as strcmp() does. */
typedef int (*catalog_order)(const void *item, const void *key);

/* Who changes a catalog. */
typedef struct catalog_writer {
    catalog_order order;
    uint64_t epoch;       /* pages of this one are its own */
    retire_list *retired; /* receives the pages that were replaced */
} catalog_writer;

/* catalog_copy -- a page as that of another writer; of the root, for the next snapshot. */
static inline void catalog_copy(catalog_page *to, const catalog_page *from, uint64_t epoch) {
    to->epoch = epoch;
    to->level = from->level;
    to->count = from->count;
    if (from->count != 0)
        memcpy(to->items, from->items, from->count * sizeof from->items[0]);
}

/* catalog_slot -- on a leaf: the first item that is not less than the key; *found: it is the key's.
 * On an inner page: the child in which the key is, or belongs. */
static inline uint32_t catalog_slot(const catalog_page *page, catalog_order order, const void *key,
                                    bool *found) {
    uint32_t low = page->level > 0, high = page->count;
    *found = false;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const void *item = page->items[middle];
        for (uint32_t level = page->level; level > 0; level--) /* a child's key is its first item */
            item = ((const catalog_page *)item)->items[0];
        int compared = order(item, key);
        if (compared == 0) {
            *found = true;
            return middle;
        }
        if (compared < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return page->level > 0 ? low - 1 : low;
}

/* catalog_find -- the item of a key, or NULL. */
static inline void *catalog_find(const catalog_page *root, catalog_order order, const void *key) {
    for (;;) {
        bool found;
        uint32_t slot = catalog_slot(root, order, key, &found);
        if (root->level == 0)
            return found ? root->items[slot] : NULL;
        root = root->items[slot];
    }
}

/* catalog_own -- the same to be replaced: *place is where its pointer is, on a page of the writer's
 * own, or NULL. False when memory is exhausted. */
bool catalog_own(catalog_page *root, const catalog_writer *writer, const void *key, void ***place);

/* catalog_insert -- adds an item under a key that is not there. False when memory is exhausted. */
bool catalog_insert(catalog_page *root, const catalog_writer *writer, const void *key, void *item);

/* catalog_remove -- takes an item out. False when memory is exhausted: it is still there. */
bool catalog_remove(catalog_page *root, const catalog_writer *writer, const void *key);

/* catalog_end -- frees the pages below the root that are of that epoch (UINT64_MAX: all), and shows
 * `see`, unless it is NULL, the items of those and of the root. */
void catalog_end(catalog_page *root, uint64_t epoch, retire_free see, void *context);

/* The items in their order. The catalog is not changed meanwhile. */
typedef struct catalog_cursor {
    const catalog_page *page[CATALOG_LEVELS];
    uint32_t slot[CATALOG_LEVELS];
    uint32_t depth; /* of the leaf */
} catalog_cursor;

/* catalog_from -- from the first item on that is not less than the key (NULL: from the first). */
catalog_cursor catalog_from(const catalog_page *root, catalog_order order, const void *key);

/* catalog_next -- the next item; NULL at the end. */
void *catalog_next(catalog_cursor *cursor);

#endif
