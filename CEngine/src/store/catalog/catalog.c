/*
 * store/catalog/catalog.c -- copy-on-write B+ trees of pointers.
 *
 * Inner pages have no keys: the key of a child is that of its first item. A full page is split on
 * the way down, and a page that became small takes its neighbour's items over.
 */
#include "store/catalog/catalog.h"

#include <stdlib.h>
#include <string.h>

/* Two neighbours that have at most so many items become one. */
#define JOINED (CATALOG_ITEMS / 2)

/* last_of -- the last item of an item of that level. */
static const void *last_of(const void *item, uint32_t level) {
    for (; level > 0; level--) {
        const catalog_page *page = item;
        item = page->items[page->count - 1];
    }
    return item;
}

/* page_retire -- a page that no later snapshot has; the capacity was reserved. */
static void page_retire(const catalog_writer *writer, catalog_page *page) {
    if (page->epoch == writer->epoch)
        free(page);
    else
        retire_add_born(writer->retired, retire_memory, NULL, page, page->epoch);
}

/* own_child -- makes a child the writer's own; NULL when memory is exhausted. */
static catalog_page *own_child(catalog_page *page, uint32_t slot, const catalog_writer *writer) {
    catalog_page *child = page->items[slot];
    if (child->epoch == writer->epoch)
        return child;
    catalog_page *copy = retire_reserve(writer->retired, 1) ? malloc(sizeof *copy) : NULL;
    if (copy == NULL)
        return NULL;
    catalog_copy(copy, child, writer->epoch);
    page_retire(writer, child);
    page->items[slot] = copy;
    return copy;
}

bool catalog_own(catalog_page *root, const catalog_writer *writer, const void *key, void ***place) {
    while (root != NULL) {
        bool found;
        uint32_t slot = catalog_slot(root, writer->order, key, &found);
        if (root->level == 0) {
            *place = found ? &root->items[slot] : NULL;
            return true;
        }
        root = own_child(root, slot, writer);
    }
    return false;
}

/* open_slot -- makes space for an item. */
static void open_slot(catalog_page *page, uint32_t slot, void *item) {
    memmove(page->items + slot + 1, page->items + slot,
            (page->count - slot) * sizeof page->items[0]);
    page->items[slot] = item;
    page->count++;
}

/* close_slot -- takes an item out. */
static void close_slot(catalog_page *page, uint32_t slot) {
    page->count--;
    memmove(page->items + slot, page->items + slot + 1,
            (page->count - slot) * sizeof page->items[0]);
}

/* split -- moves the upper items of a full child to a new one after it: half of them, or one where
 * keys are added at the end. False when memory is exhausted. */
static bool split(catalog_page *page, uint32_t slot, const catalog_writer *writer,
                  const void *key) {
    catalog_page *child = page->items[slot], *upper = malloc(sizeof *upper);
    if (upper == NULL)
        return false;
    bool at_end =
        slot + 1 == page->count && writer->order(last_of(child, child->level + 1), key) < 0;
    uint32_t kept = at_end ? CATALOG_ITEMS - 1 : CATALOG_ITEMS / 2;
    upper->epoch = writer->epoch;
    upper->level = child->level;
    upper->count = child->count - kept;
    memcpy(upper->items, child->items + kept, upper->count * sizeof upper->items[0]);
    child->count = kept;
    open_slot(page, slot + 1, upper);
    return true;
}

/* grow -- gives a full root one child with all of its items. False when memory is exhausted. */
static bool grow(catalog_page *root, const catalog_writer *writer) {
    catalog_page *child = malloc(sizeof *child);
    if (child == NULL)
        return false;
    catalog_copy(child, root, writer->epoch);
    root->level++;
    root->count = 1;
    root->items[0] = child;
    return true;
}

bool catalog_insert(catalog_page *root, const catalog_writer *writer, const void *key, void *item) {
    bool found;
    if (root->count == CATALOG_ITEMS && !grow(root, writer))
        return false;
    catalog_page *page = root;
    while (page->level > 0) {
        uint32_t slot = catalog_slot(page, writer->order, key, &found);
        catalog_page *child = own_child(page, slot, writer);
        if (child == NULL)
            return false;
        if (child->count == CATALOG_ITEMS) {
            if (!split(page, slot, writer, key))
                return false;
            child = page->items[catalog_slot(page, writer->order, key, &found)];
        }
        page = child;
    }
    open_slot(page, catalog_slot(page, writer->order, key, &found), item);
    return true;
}

/* join -- has a child take over the items of a neighbour, if both together are few. One that is
 * empty goes. The capacity to retire a page was reserved. */
static void join(catalog_page *page, uint32_t slot, const catalog_writer *writer) {
    catalog_page *child = page->items[slot];
    bool has_next = slot + 1 < page->count;
    uint32_t other = has_next ? slot + 1 : slot - 1;
    if (child->count != 0 && page->count > 1) {
        catalog_page *neighbour = page->items[other];
        if (child->count + neighbour->count > JOINED)
            return;
        void **to = child->items + (has_next ? child->count : neighbour->count);
        if (!has_next)
            memmove(to, child->items, child->count * sizeof child->items[0]);
        memcpy(has_next ? to : child->items, neighbour->items,
               neighbour->count * sizeof child->items[0]);
        child->count += neighbour->count;
        close_slot(page, other);
        page_retire(writer, neighbour);
    } else if (child->count == 0) {
        close_slot(page, slot);
        page_retire(writer, child);
    }
}

bool catalog_remove(catalog_page *root, const catalog_writer *writer, const void *key) {
    catalog_page *path[CATALOG_LEVELS] = {root};
    uint32_t slots[CATALOG_LEVELS], depth = 0;
    bool found;
    slots[0] = catalog_slot(root, writer->order, key, &found);
    while (path[depth]->level > 0) {
        catalog_page *child = own_child(path[depth], slots[depth], writer);
        if (child == NULL)
            return false;
        path[++depth] = child;
        slots[depth] = catalog_slot(child, writer->order, key, &found);
    }
    if (!retire_reserve(writer->retired, 2 * (size_t)depth + 1))
        return false;
    close_slot(path[depth], slots[depth]);
    while (depth-- > 0)
        join(path[depth], slots[depth], writer);
    while (root->level > 0 && root->count == 1) {
        catalog_page *child = root->items[0];
        catalog_copy(root, child, writer->epoch);
        page_retire(writer, child);
    }
    if (root->count == 0)
        root->level = 0;
    return true;
}

void catalog_end(catalog_page *root, uint64_t epoch, retire_free see, void *context) {
    for (uint32_t i = 0; i < root->count; i++) {
        catalog_page *child = root->items[i];
        if (root->level == 0) {
            if (see != NULL)
                see(context, child);
        } else if (epoch == UINT64_MAX || child->epoch == epoch) {
            catalog_end(child, epoch, see, context);
            free(child);
        }
    }
}

catalog_cursor catalog_from(const catalog_page *root, catalog_order order, const void *key) {
    catalog_cursor cursor;
    cursor.page[0] = root;
    cursor.depth = 0;
    for (;;) {
        bool found;
        const catalog_page *page = cursor.page[cursor.depth];
        uint32_t slot =
            key == NULL || page->count == 0 ? 0 : catalog_slot(page, order, key, &found);
        cursor.slot[cursor.depth] = slot;
        if (page->level == 0)
            return cursor;
        cursor.slot[cursor.depth]++;
        cursor.page[++cursor.depth] = page->items[slot];
    }
}

void *catalog_next(catalog_cursor *cursor) {
    uint32_t depth = cursor->depth;
    while (cursor->slot[depth] == cursor->page[depth]->count) {
        if (depth == 0)
            return NULL;
        depth--;
    }
    for (; depth < cursor->depth; depth++) {
        cursor->page[depth + 1] = cursor->page[depth]->items[cursor->slot[depth]++];
        cursor->slot[depth + 1] = 0;
    }
    return cursor->page[depth]->items[cursor->slot[depth]++];
}
