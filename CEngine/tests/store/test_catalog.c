/*
 * test_catalog.c -- the trees of a snapshot's collections next to a plain array: what versions that
 * are kept contain does not change.
 */
#include "store/catalog/catalog.h"
#include "support/check.h"
#include "support/random/random.h"

#include <stdlib.h>
#include <string.h>

#define KEYS 6000
#define VERSIONS 8

/* A version of the catalog, and what it contains. */
typedef struct version {
    catalog_page root;
    retire_list replaced; /* by the next version */
    bool there[KEYS];
    uint32_t count;
} version;

/* The items are the addresses of these, and the keys too. */
static uint32_t numbers[KEYS];

static int order(const void *item, const void *key) {
    uint32_t a = *(const uint32_t *)item, b = *(const uint32_t *)key;
    return (a > b) - (a < b);
}

/* check_version -- all keys are found or not, and listed in their order, from any key on. */
static void check_version(const version *v, random_source *random) {
    for (uint32_t i = 0; i < KEYS; i++)
        CHECK(catalog_find(&v->root, order, &numbers[i]) == (v->there[i] ? &numbers[i] : NULL));
    uint32_t from = (uint32_t)random_below(random, KEYS), listed = 0;
    for (int round = 0; round < 2; round++) {
        catalog_cursor all = catalog_from(&v->root, order, round == 0 ? NULL : &numbers[from]);
        for (uint32_t i = round == 0 ? 0 : from; i < KEYS; i++) {
            if (!v->there[i])
                continue;
            CHECK(catalog_next(&all) == &numbers[i]);
            listed += round == 0;
        }
        CHECK(catalog_next(&all) == NULL && catalog_next(&all) == NULL);
    }
    CHECK_INT(v->count, listed);
}

/* change -- adds or removes a key, or says that its item changes. */
static void change(version *v, const catalog_writer *writer, uint32_t i, bool add) {
    void **place;
    CHECK(catalog_own(&v->root, writer, &numbers[i], &place));
    CHECK(v->there[i] ? place != NULL && *place == &numbers[i] : place == NULL);
    if (v->there[i] == add)
        return;
    CHECK(add ? catalog_insert(&v->root, writer, &numbers[i], &numbers[i])
              : catalog_remove(&v->root, writer, &numbers[i]));
    v->there[i] = add;
    v->count += add ? 1 : UINT32_MAX;
}

static void versions_stay_as_they_are(void) {
    random_source random = random_start(1);
    version *versions = calloc(VERSIONS, sizeof *versions);
    REQUIRE(versions != NULL);
    for (uint32_t i = 0; i < KEYS; i++)
        numbers[i] = i;
    for (uint32_t k = 0; k < VERSIONS; k++) {
        version *v = &versions[k], *before = &versions[k == 0 ? 0 : k - 1];
        *v = *before;
        v->replaced = (retire_list){NULL, 0, 0};
        catalog_copy(&v->root, &before->root, k + 1);
        const catalog_writer writer = {
            .order = order, .epoch = k + 1, .retired = &before->replaced};
        /* Versions grow and shrink in turn, by runs and at random. */
        uint32_t changes = (uint32_t)random_below(&random, 2 * KEYS);
        for (uint32_t i = 0; i < changes; i++) {
            uint32_t at = k % 3 == 0 ? i % KEYS : (uint32_t)random_below(&random, KEYS);
            change(v, &writer, at, random_chance(&random, k % 2 == 0 ? 90 : 10));
        }
    }
    for (uint32_t k = 0; k < VERSIONS; k++)
        check_version(&versions[k], &random);
    /* One that is given up takes nothing along that others have. */
    version given_up = versions[VERSIONS - 1];
    retire_list replaced = {NULL, 0, 0};
    catalog_copy(&given_up.root, &versions[VERSIONS - 1].root, VERSIONS + 1);
    const catalog_writer writer = {.order = order, .epoch = VERSIONS + 1, .retired = &replaced};
    for (uint32_t i = 0; i < KEYS; i++)
        change(&given_up, &writer, (uint32_t)random_below(&random, KEYS), i % 2 == 0);
    catalog_end(&given_up.root, VERSIONS + 1, NULL, NULL);
    retire_forget(&replaced);
    for (uint32_t k = 0; k < VERSIONS; k++)
        check_version(&versions[k], &random);
    for (uint32_t k = 0; k < VERSIONS; k++)
        retire_run(&versions[k].replaced);
    check_version(&versions[VERSIONS - 1], &random);
    catalog_end(&versions[VERSIONS - 1].root, UINT64_MAX, NULL, NULL);
    free(versions);
}

/* All keys go, one after the other in three orders, and come again. */
static void a_catalog_that_becomes_empty(void) {
    catalog_page *root = calloc(1, sizeof *root);
    retire_list replaced = {NULL, 0, 0};
    const catalog_writer writer = {.order = order, .retired = &replaced};
    REQUIRE(root != NULL);
    for (uint32_t i = 0; i < KEYS; i++)
        numbers[i] = i;
    for (uint32_t way = 0; way < 3; way++) {
        for (uint32_t i = 0; i < KEYS; i++)
            CHECK(catalog_insert(root, &writer, &numbers[i], &numbers[i]));
        for (uint32_t i = 0; i < KEYS; i++) {
            uint32_t at = way == 0 ? i : way == 1 ? KEYS - 1 - i : i * 13 % (KEYS - 1);
            if (way == 2 && i == KEYS - 1)
                at = KEYS - 1;
            CHECK(catalog_remove(root, &writer, &numbers[at]));
            CHECK(catalog_find(root, order, &numbers[at]) == NULL);
        }
        CHECK_INT(0, root->count);
        CHECK_INT(0, root->level);
    }
    CHECK_INT(0, replaced.count);
    retire_forget(&replaced);
    free(root);
}

int main(void) {
    RUN(versions_stay_as_they_are);
    RUN(a_catalog_that_becomes_empty);
    return check_finish();
}
