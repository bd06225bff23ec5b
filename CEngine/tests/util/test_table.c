/*
 * test_table.c -- the hash table finds what was added and not removed, items of one hash in the
 * order in which they were added; and binary search finds where a key is, or belongs.
 */
#include "support/check.h"
#include "support/random/random.h"
#include "util/bisect.h"
#include "util/table.h"

#include <stdlib.h>

#define ITEMS 3000

typedef struct item {
    table_link link;
    uint32_t number;
    uint32_t group; /* what its hash is made of */
} item;

static uint32_t freed;

static void free_item(void *memory) {
    free(memory);
    freed++;
}

/* check_group -- the items of a group are those of the list, in its order. */
static void check_group(const table *t, item *const *list, uint32_t count, uint32_t group) {
    const table_link *at = table_chain(t, table_hash_number(group));
    for (uint32_t i = 0; i < count; i++) {
        if (list[i] == NULL || list[i]->group != group)
            continue;
        while (at != NULL && ((const item *)at)->group != group)
            at = at->next;
        if (!CHECK(at == &list[i]->link))
            return;
        at = at->next;
    }
    for (; at != NULL; at = at->next)
        CHECK(((const item *)at)->group != group);
}

static void items_come_and_go(void) {
    random_source random = random_start(1);
    static item *list[ITEMS];
    table t = {.chains = NULL};
    uint32_t there = 0;
    CHECK(table_chain(&t, 5) == NULL);
    for (uint32_t i = 0; i < ITEMS; i++) {
        REQUIRE((list[i] = calloc(1, sizeof *list[i])) != NULL && table_reserve(&t));
        *list[i] = (item){.number = i, .group = (uint32_t)random_below(&random, ITEMS / 3)};
        table_add(&t, &list[i]->link, table_hash_number(list[i]->group));
        there++;
        uint32_t other = (uint32_t)random_below(&random, i + 1);
        if (random_chance(&random, 40) && list[other] != NULL) {
            table_remove(&t, &list[other]->link);
            free(list[other]);
            list[other] = NULL;
            there--;
        }
    }
    CHECK_INT(there, t.count);
    for (uint32_t group = 0; group < ITEMS / 3; group++)
        check_group(&t, list, ITEMS, group);
    freed = 0;
    table_clear(&t, free_item);
    CHECK_INT(there, freed);
    CHECK(t.count == 0 && table_chain(&t, table_hash_number(1)) == NULL);
    table_free(&t, free_item);
    CHECK(freed == there && t.chains == NULL);
}

static void texts_hash_differently(void) {
    CHECK(table_hash("ab", 2) != table_hash("ba", 2));
    CHECK(table_hash("ab", 2) == table_hash("abc", 2));
}

typedef struct pair {
    uint64_t wide;
    uint32_t narrow;
} pair;

static void binary_search_finds_the_place(void) {
    pair list[9];
    for (uint32_t i = 0; i < 9; i++)
        list[i] = (pair){((uint64_t)i << 40) + 5, 2 * i + 1};
    for (size_t count = 0; count <= 9; count++)
        for (uint32_t key = 0; key < 20; key++) {
            size_t expected = 0;
            while (expected < count && list[expected].narrow < key)
                expected++;
            CHECK_INT(expected, BISECT(list, count, pair, narrow, key));
            uint64_t wide = (uint64_t)key << 39;
            for (expected = 0; expected < count && list[expected].wide < wide;)
                expected++;
            CHECK_INT(expected, BISECT(list, count, pair, wide, wide));
        }
    const pair *none = NULL;
    CHECK_INT(0, BISECT(none, 0, pair, narrow, 1));
}

int main(void) {
    RUN(items_come_and_go);
    RUN(texts_hash_differently);
    RUN(binary_search_finds_the_place);
    return check_finish();
}
