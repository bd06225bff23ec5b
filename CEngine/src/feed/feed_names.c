/*
 * feed/feed_names.c -- collections' names by id, in a hash table.
 */
#include "feed/feed_names.h"

#include <stdlib.h>

/* by_text -- for sorting and finding names. */
static int by_text(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

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
    if (count > 1 && n->filter != NULL)
        qsort(n->filter, count, sizeof *n->filter, by_text);
    return n->filter != NULL;
}

bool feed_names_want(const feed_names *n, const char *name) {
    return n->filter == NULL ||
           bsearch(&name, n->filter, n->filter_count, sizeof *n->filter, by_text) != NULL;
}

const feed_name *feed_names_find(feed_names *n, uint32_t id) {
    if (n->last != NULL && n->last->id == id)
        return n->last;
    table_link *at = table_chain(&n->ids, table_hash_number(id));
    while (at != NULL && ((const feed_name *)at)->id != id)
        at = at->next;
    n->last = (const feed_name *)at;
    return n->last;
}

/* add -- an id that is not there. */
static bool add(feed_names *n, uint32_t id, const char *name) {
    size_t length = strlen(name);
    if (!table_reserve(&n->ids))
        return false;
    feed_name *named = calloc(1, sizeof *named + length + 1);
    if (named == NULL)
        return false;
    named->id = id;
    named->wanted = feed_names_want(n, name);
    memcpy(named->text, name, length);
    table_add(&n->ids, &named->link, table_hash_number(id));
    return true;
}

bool feed_names_set(feed_names *n, uint32_t id, const char *name) {
    feed_names_drop(n, id);
    return !feed_names_want(n, name) || add(n, id, name);
}

bool feed_names_note(feed_names *n, uint32_t id, const char *name) {
    return feed_names_find(n, id) != NULL || add(n, id, name);
}

void feed_names_drop(feed_names *n, uint32_t id) {
    feed_name *named = (feed_name *)feed_names_find(n, id);
    if (named == NULL)
        return;
    n->last = NULL;
    table_remove(&n->ids, &named->link);
    free(named);
}

bool feed_names_take(feed_names *n, const snapshot *v) {
    for (size_t i = 0; i < n->filter_count; i++) {
        const collection_state *state = snapshot_collection(v, n->filter[i]);
        if (state != NULL && !feed_names_note(n, state->id, state->name))
            return false;
    }
    if (n->filter != NULL)
        return true;
    const collection_name *named;
    catalog_cursor all = catalog_from(&v->numbers, order_of_numbers, NULL);
    while ((named = catalog_next(&all)) != NULL)
        if (!feed_names_note(n, named->id, named->text))
            return false;
    return true;
}

void feed_names_clear(feed_names *n) {
    n->last = NULL;
    table_clear(&n->ids, free);
}

void feed_names_free(feed_names *n) {
    for (size_t i = 0; i < n->filter_count; i++)
        free(n->filter[i]);
    free(n->filter);
    table_free(&n->ids, free);
    *n = (feed_names){.filter = NULL};
}
