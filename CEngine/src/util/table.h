/*
 * util/table.h -- a hash table of structs that their owner allocates: each has a table_link as its
 * first member.
 *
 *     for (table_link *at = table_chain(&t, hash); at != NULL; at = at->next)
 *         if (at->hash == hash && is_wanted((item *)at))
 *             return (item *)at;
 */
#ifndef TANSU_UTIL_TABLE_H
#define TANSU_UTIL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first member of an item. */
typedef struct table_link {
    struct table_link *next; /* in its chain */
    uint32_t hash;
} table_link;

/* All zero: an empty one. */
typedef struct table {
    table_link **chains;
    uint32_t chain_count; /* a power of two, or 0 */
    uint32_t count;
} table;

/* table_hash -- of bytes. table_hash_number -- of a number. */
uint32_t table_hash(const void *bytes, size_t size);
static inline uint32_t table_hash_number(uint32_t number) {
    uint32_t product = number * UINT32_C(0x9E3779B1);
    return product ^ product >> 16;
}

/* table_reserve -- capacity for one item more; false when memory is exhausted. */
bool table_reserve(table *t);

/* table_add -- adds an item after table_reserve(), behind those of its hash. */
void table_add(table *t, table_link *item, uint32_t hash);

/* table_chain -- the first item of the chain in which those of a hash are, in the order in which
 * they were added, among others; NULL: there is none. */
static inline table_link *table_chain(const table *t, uint32_t hash) {
    return t->count == 0 ? NULL : t->chains[hash & (t->chain_count - 1)];
}

/* table_remove -- takes an item out, which is the caller's to free. */
void table_remove(table *t, table_link *item);

/* table_clear -- frees all items by free_item, which gets what malloc() gave for each, and keeps
 * the chains. table_free -- frees those, too. */
void table_clear(table *t, void (*free_item)(void *item));
void table_free(table *t, void (*free_item)(void *item));

#endif
