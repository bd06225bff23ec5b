/*
 * util/table.c -- a chained hash table that doubles when it has as many items as chains.
 */
#include "util/table.h"

#include <stdlib.h>
#include <string.h>

#define CHAINS_LEAST 16u

uint32_t table_hash(const void *bytes, size_t size) {
    const uint8_t *at = bytes;
    uint32_t hash = UINT32_C(2166136261); /* FNV-1a */
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ at[i]) * UINT32_C(16777619);
    return hash ^ hash >> 16;
}

/* append -- puts an item at the end of its chain. */
static void append(table_link **chains, uint32_t chain_count, table_link *item) {
    table_link **place = &chains[item->hash & (chain_count - 1)];
    while (*place != NULL)
        place = &(*place)->next;
    item->next = NULL;
    *place = item;
}

bool table_reserve(table *t) {
    if (t->count < t->chain_count)
        return true;
    if (t->chain_count > UINT32_MAX / 2)
        return false;
    uint32_t chain_count = t->chain_count == 0 ? CHAINS_LEAST : t->chain_count * 2;
    table_link **chains = calloc(chain_count, sizeof(table_link *));
    if (chains == NULL)
        return false;
    for (uint32_t i = 0; i < t->chain_count; i++)
        for (table_link *item = t->chains[i], *next; item != NULL; item = next) {
            next = item->next;
            append(chains, chain_count, item);
        }
    free(t->chains);
    t->chains = chains;
    t->chain_count = chain_count;
    return true;
}

void table_add(table *t, table_link *item, uint32_t hash) {
    item->hash = hash;
    append(t->chains, t->chain_count, item);
    t->count++;
}

void table_remove(table *t, table_link *item) {
    table_link **place = &t->chains[item->hash & (t->chain_count - 1)];
    while (*place != item)
        place = &(*place)->next;
    *place = item->next;
    t->count--;
}

void table_clear(table *t, void (*free_item)(void *item)) {
    for (uint32_t i = 0; t->count != 0 && i < t->chain_count; i++)
        for (table_link *next; t->chains[i] != NULL; t->chains[i] = next, t->count--) {
            next = t->chains[i]->next;
            free_item(t->chains[i]);
        }
}

void table_free(table *t, void (*free_item)(void *item)) {
    table_clear(t, free_item);
    free(t->chains);
    *t = (table){.chains = NULL};
}
