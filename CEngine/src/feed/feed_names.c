/*
 * feed/feed_names.c -- collections' names by id, as a sorted array.
 */
#include "feed/feed_names.h"

#include "util/array.h"

#include <stdlib.h>

bool feed_names_filter(feed_names *n, const char *const *names, size_t count) {
    if (names == NULL)
        return true;
    n->filter = calloc(count + 1, sizeof *n->filter);
    for (size_t i = 0; n->filter != NULL && i < count; i++) {
        n->filter[i] = strdup(names[i]);
        if (n->filter[i] == NULL)
            return false;
        n->filter_count++;
    }
    return n->filter != NULL;
}

bool feed_names_want(const feed_names *n, const char *name) {
    if (n->filter == NULL)
        return true;
    for (size_t i = 0; i < n->filter_count; i++)
        if (strcmp(n->filter[i], name) == 0)
            return true;
    return false;
}

/* slot_of -- the index of an id, or where it belongs. */
static size_t slot_of(const feed_names *n, uint32_t id) {
    size_t low = 0, high = n->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (n->list[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const feed_name *feed_names_find(feed_names *n, uint32_t id) {
    if (n->last < n->count && n->list[n->last].id == id)
        return &n->list[n->last];
    n->last = slot_of(n, id);
    return n->last < n->count && n->list[n->last].id == id ? &n->list[n->last] : NULL;
}

bool feed_names_set(feed_names *n, uint32_t id, const char *name, bool over) {
    size_t slot = slot_of(n, id);
    bool known = slot < n->count && n->list[slot].id == id;
    if (known && !over)
        return true;
    if (!known && !ARRAY_RESERVE(n->list, n->count, n->capacity, 1))
        return false;
    feed_name *to = &n->list[slot];
    if (!known) {
        memmove(to + 1, to, (n->count - slot) * sizeof *to);
        n->count++;
    }
    *to = (feed_name){.id = id, .wanted = feed_names_want(n, name)};
    memcpy(to->name, name, strnlen(name, TANSU_MAX_NAME));
    return true;
}

void feed_names_drop(feed_names *n, uint32_t id) {
    size_t slot = slot_of(n, id);
    if (slot == n->count || n->list[slot].id != id)
        return;
    n->count--;
    memmove(n->list + slot, n->list + slot + 1, (n->count - slot) * sizeof *n->list);
}

bool feed_names_take(feed_names *n, const snapshot *v) {
    const collection_name *named;
    catalog_cursor all = catalog_from(&v->numbers, order_of_numbers, NULL);
    while ((named = catalog_next(&all)) != NULL)
        if (!feed_names_set(n, named->id, named->text, false))
            return false;
    return true;
}

void feed_names_clear(feed_names *n) {
    n->count = 0;
}

void feed_names_free(feed_names *n) {
    for (size_t i = 0; i < n->filter_count; i++)
        free(n->filter[i]);
    free(n->filter);
    free(n->list);
    *n = (feed_names){.list = NULL};
}
