/*
 * test_tree.c -- ordered sets of byte strings against a plain sorted array: every operation,
 * several versions at once, aborts, and trees of all shapes.
 */
#include "index/tree/tree_change.h"
#include "support/check.h"
#include "support/model/tree_model.h"

#include <stdlib.h>
#include <string.h>

static tansu_error error;
static uint8_t key[MODEL_KEY_MAX], bound[MODEL_KEY_MAX];

/* ---- Versions: what the catalog does with trees ---- */

#define HELD 4

typedef struct version {
    tree t;
    model m;
    retire_list retired; /* by the version that followed */
} version;

/* versions_of -- commits of random sizes, some aborted, with the last few versions held and
 * compared. */
static void versions_of(enum key_kind kind, int commits, int most_steps) {
    random_source random = random_start(100 + kind);
    tree_store *store;
    REQUIRE(tree_store_new(&store, &error) == TANSU_OK);
    version held[HELD] = {{.t = {NULL, 0}}};
    size_t newest = 0;
    tree_writer writer = {.store = store, .epoch = 1, .retired = NULL};

    for (int commit = 0; commit < commits && check_failures() == 0; commit++) {
        /* Grows, shrinks to nothing, grows again. */
        unsigned inserts = commit * 3 / commits == 1 ? 20 : 80;
        retire_list retired = {NULL, 0, 0};
        tree_writer_begin(&writer, store, writer.epoch + 1, &retired);
        tree t = held[newest].t;
        model m = model_copy(&held[newest].m);
        uint64_t first = writer.epoch;
        for (uint64_t steps = random_below(&random, (uint64_t)most_steps) + 1; steps > 0; steps--) {
            if (random_chance(&random, 2))
                writer.epoch++; /* as for a statement of its own in a transaction */
            model_step(&random, kind, &writer, &t, &m, inserts);
        }
        if (random_chance(&random, 25)) {
            uint64_t last = writer.epoch;
            writer.epoch = first;
            tree_discard(&writer, &t);
            tree_model_discard_retired(&writer, &retired, 0);
            CHECK_INT(0, retired.count);
            retire_forget(&retired);
            free(m.items);
            writer.epoch = last;
        } else {
            held[newest].retired = retired;
            newest = (newest + 1) % HELD;
            /* The oldest goes, and with it what its follower had replaced. */
            retire_run(&held[newest].retired);
            free(held[newest].m.items);
            held[newest] = (version){.t = t, .m = m};
        }
        for (int i = 0; i < 5; i++) {
            const version *v = &held[random_below(&random, HELD)];
            size_t size = model_key(&random, kind, key);
            size_t bound_size = model_key(&random, kind, bound);
            model_same_at(store, &v->t, &v->m, key, size, bound, bound_size);
        }
        if (commit % 16 == 0)
            for (int i = 0; i < HELD; i++)
                model_same(store, &held[i].t, &held[i].m);
    }
    for (size_t i = 0; i < HELD; i++) {
        size_t at = (newest + 1 + i) % HELD;
        model_same(store, &held[at].t, &held[at].m);
        if (at == newest)
            tree_release(store, &held[at].t);
        retire_run(&held[at].retired);
        free(held[at].m.items);
    }
    CHECK_INT(0, tree_store_memory(store));
    tree_store_free(store);
    model_end();
}

static void versions_of_short_keys(void) {
    versions_of(SHORT_KEYS, 150, 80);
}
static void versions_of_usual_keys(void) {
    versions_of(USUAL_KEYS, 150, 80);
}
static void versions_of_near_keys(void) {
    versions_of(NEAR_KEYS, 150, 80);
}
static void versions_of_long_keys(void) {
    versions_of(LONG_KEYS, 60, 30);
}

/* ---- Neighbours: one insertion follows another without a search ---- */

/* insert_counted -- in tree and model; before it, whether the key is known to exceed all. */
static void insert_counted(tree_writer *writer, tree *t, model *m, uint32_t n) {
    size_t size = counted_key(n, key);
    if (tree_exceeds(writer, t, key, size))
        CHECK_INT(m->count, model_rank(m, key, size));
    if (n % 3 != 0)
        model_look_up(writer, t, m, key, size - n % 2);
    model_change(writer, t, m, key, size, true);
}

static void remove_counted(tree_writer *writer, tree *t, model *m, uint32_t n) {
    size_t size = counted_key(n, key);
    if (n % 3 != 0)
        model_look_up(writer, t, m, key, size - n % 2);
    model_change(writer, t, m, key, size, false);
}

/* neighbours_step -- some keys that ascend by few, from somewhere or from the end on; some that are
 * removed, of which a few are inserted again; or one removal; or a tree of its own comes and goes.
 */
static void neighbours_step(random_source *random, tree_writer *writer, tree *t, model *m,
                            uint32_t *end) {
    uint32_t n = (uint32_t)random_below(random, *end + 1);
    switch (random_below(random, 9)) {
    case 0:
        remove_counted(writer, t, m, random_chance(random, 50) && *end > 0 ? *end - 1 : n);
        break;
    case 1:
        if (random_chance(random, 50))
            tree_writer_begin(writer, writer->store, writer->epoch + 1, writer->retired);
        break;
    case 2: {
        tree other = {NULL, 0};
        for (uint32_t i = 0; i < 300; i++)
            CHECK_OK(tree_insert(writer, &other, key, counted_key(i, key), NULL, &error), &error);
        tree_discard(writer, &other);
        break;
    }
    case 3:
    case 4:
        for (uint64_t i = random_below(random, 400); i > 0; i--, *end += 1 + i % 3)
            insert_counted(writer, t, m, *end);
        break;
    case 5:
        for (uint64_t i = random_below(random, 300); i > 0 && n < *end; i--, n += 1 + i % 2) {
            remove_counted(writer, t, m, n);
            if (i % 5 == 0)
                insert_counted(writer, t, m, n + (uint32_t)(i % 3));
        }
        break;
    default:
        for (uint64_t i = random_below(random, 200); i > 0; i--, n += 1 + i % 2)
            insert_counted(writer, t, m, n);
        *end = n > *end ? n : *end;
    }
}

static void neighbours_go_where_a_search_finds_them(void) {
    random_source random = random_start(200);
    for (int round = 0; round < 40; round++) {
        tree_store *store;
        REQUIRE(tree_store_new(&store, &error) == TANSU_OK);
        retire_list retired = {NULL, 0, 0};
        tree_writer writer = {.store = store, .epoch = 1, .retired = &retired};
        tree t = {NULL, 0};
        model m = {NULL, 0, 0};
        uint32_t end = 0;
        for (int steps = 0; steps < 60 && check_failures() == 0; steps++)
            neighbours_step(&random, &writer, &t, &m, &end);
        model_same(store, &t, &m);
        tree_release(store, &t);
        retire_run(&retired);
        CHECK_INT(0, tree_store_memory(store));
        tree_store_free(store);
        free(m.items);
        model_end();
    }
}

static void ascending_keys_are_known_to_exceed_all(void) {
    tree_store *store;
    REQUIRE(tree_store_new(&store, &error) == TANSU_OK);
    retire_list retired = {NULL, 0, 0};
    tree_writer writer = {.store = store, .epoch = 1, .retired = &retired};
    tree t = {NULL, 0};
    uint32_t known = 0, count = 20000;
    for (uint32_t i = 0; i < count; i++) {
        size_t size = counted_key(i, key);
        known += tree_exceeds(&writer, &t, key, size);
        CHECK_OK(tree_insert(&writer, &t, key, size, NULL, &error), &error);
        CHECK(!tree_exceeds(&writer, &t, key, size));
    }
    CHECK(known > count / 100 * 97); /* but for the first of each leaf */
    tree_release(store, &t);
    retire_run(&retired);
    tree_store_free(store);
}

/* commit_one -- a transaction of one change: an entry more, or one less; what it replaced is freed
 * at once, so that the next has its memory. */
static void commit_one(tree_writer *writer, tree *t, model *m, uint32_t n, bool inserts) {
    tree_writer_begin(writer, writer->store, writer->epoch + 1, writer->retired);
    if (inserts)
        insert_counted(writer, t, m, n);
    else
        remove_counted(writer, t, m, n);
    retire_run(writer->retired);
}

/* Where the keys of another tree begin. */
#define OTHER_KEYS 1000000

/* The trees have as many entries most of the time, and their roots take turns in memory. */
static void commits_in_two_trees_find_where_they_belong(void) {
    random_source random = random_start(300);
    for (int round = 0; round < 20; round++) {
        tree_store *store;
        REQUIRE(tree_store_new(&store, &error) == TANSU_OK);
        retire_list retired = {NULL, 0, 0};
        tree_writer writer = {.store = store, .epoch = 1, .retired = &retired};
        tree trees[2] = {{NULL, 0}, {NULL, 0}};
        model models[2] = {{NULL, 0, 0}, {NULL, 0, 0}};
        uint32_t end[2] = {0, OTHER_KEYS};
        for (int steps = 0; steps < 300 && check_failures() == 0; steps++) {
            int one = (int)random_below(&random, 2), other = 1 - one;
            for (uint64_t i = random_below(&random, 12); i > 0; i--, end[one] += 1 + i % 3) {
                commit_one(&writer, &trees[one], &models[one], end[one], true);
                for (int again = 0; again < 2 && random_chance(&random, 50); again++)
                    commit_one(&writer, &trees[one], &models[one], end[one], again == 1);
            }
            for (; trees[one].count > trees[other].count; end[other] += 2)
                commit_one(&writer, &trees[other], &models[other], end[other], true);
            uint32_t first = one == 0 ? 0 : OTHER_KEYS;
            for (uint64_t i = random_below(&random, 6); i > 0 && trees[one].count > 0; i--) {
                uint32_t n = first + (uint32_t)random_below(&random, end[one] - first);
                commit_one(&writer, &trees[one], &models[one], n, random_chance(&random, 60));
            }
        }
        for (int i = 0; i < 2; i++) {
            model_same(store, &trees[i], &models[i]);
            CHECK_OK(tree_visit(store, &trees[i], NULL, &error), &error);
            tree_release(store, &trees[i]);
            free(models[i].items);
        }
        CHECK_INT(0, tree_store_memory(store));
        tree_store_free(store);
        model_end();
    }
}

/* A tree goes, as with a dropped collection, and another takes its memory, with as many entries. */
static void a_built_tree_is_not_the_one_that_was_dropped(void) {
    tree_store *store;
    REQUIRE(tree_store_new(&store, &error) == TANSU_OK);
    retire_list retired = {NULL, 0, 0};
    tree_writer writer = {.store = store, .epoch = 1, .retired = &retired};
    for (uint32_t count = 1; count < 300; count++) {
        tree dropped = {NULL, 0}, built;
        model m = {NULL, 0, 0}, keys = {NULL, 0, 0};
        for (uint32_t i = 0; i < count; i++)
            commit_one(&writer, &dropped, &m, i, true);
        tree_writer_begin(&writer, store, writer.epoch + 1, &retired);
        CHECK_OK(tree_retire_all(store, &dropped, &retired, &error), &error);
        retire_run(&retired);
        tree_writer_begin(&writer, store, writer.epoch + 1, &retired);
        counting c = {.next = OTHER_KEYS, .count = OTHER_KEYS + count};
        CHECK_OK(tree_build(&writer, next_counted, &c, &built, &error), &error);
        for (uint32_t i = 0; i < count; i++)
            model_insert(&keys, key, counted_key(OTHER_KEYS + i, key));
        insert_counted(&writer, &built, &keys, count / 2);
        commit_one(&writer, &built, &keys, count, true);
        model_same(store, &built, &keys);
        tree_release(store, &built);
        retire_run(&retired);
        free(m.items);
        free(keys.items);
        model_end();
    }
    CHECK_INT(0, tree_store_memory(store));
    tree_store_free(store);
}

/* Within a transaction; a finger ends with it, and no memory of an aborted one is used again. */
static void a_finger_ends_with_its_transaction(void) {
    tree_store *store;
    REQUIRE(tree_store_new(&store, &error) == TANSU_OK);
    retire_list retired = {NULL, 0, 0};
    tree_writer writer = {.store = store, .epoch = 1, .retired = &retired};
    tree t = {NULL, 0};
    uint32_t known = 0, count = 20000;
    for (uint32_t i = 0; i < count; i++) {
        size_t size = counted_key(i, key);
        if (i % 100 == 0) {
            tree_writer_begin(&writer, store, writer.epoch + 1, &retired);
            tree aborted = t;
            CHECK(!tree_exceeds(&writer, &t, key, size));
            CHECK_OK(tree_insert(&writer, &aborted, key, counted_key(count + i, key), NULL, &error),
                     &error);
            tree_discard(&writer, &aborted);
            tree_model_discard_retired(&writer, &retired, 0);
            retire_forget(&retired);
            tree_writer_begin(&writer, store, writer.epoch + 1, &retired);
            size = counted_key(i, key);
        }
        known += tree_exceeds(&writer, &t, key, size);
        CHECK_OK(tree_insert(&writer, &t, key, size, NULL, &error), &error);
        CHECK(!tree_exceeds(&writer, &t, key, size));
        retire_run(&retired);
    }
    CHECK(known > count / 100 * 97);
    CHECK_OK(tree_visit(store, &t, NULL, &error), &error);
    tree_release(store, &t);
    CHECK_INT(0, tree_store_memory(store));
    tree_store_free(store);
}

/* ---- Shapes ---- */

static void rising_keys_fill_the_blocks(void) {
    tree_store *store;
    REQUIRE(tree_store_new(&store, &error) == TANSU_OK);
    retire_list retired = {NULL, 0, 0};
    tree_writer writer = {.store = store, .epoch = 1, .retired = &retired};
    tree t = {NULL, 0};
    uint32_t count = 50000;
    for (uint32_t i = 0; i < count; i++) {
        writer.epoch++;
        size_t size = counted_key(i, key);
        CHECK_OK(tree_insert(&writer, &t, key, size, NULL, &error), &error);
        retire_run(&retired);
    }
    CHECK_OK(tree_visit(store, &t, NULL, &error), &error);
    /* A slot, a length byte and at most four bytes each, and little else. */
    CHECK(tree_store_memory(store) < count * 15);
    uint64_t rank;
    size_t size = counted_key(31234, key);
    CHECK_OK(tree_rank(store, &t, key, size, &rank, &error), &error);
    CHECK_INT(31234, rank);
    /* Taking all out in the same order leaves nothing. */
    for (uint32_t i = 0; i < count; i++) {
        bool found;
        writer.epoch += i % 3;
        size = counted_key(i, key);
        CHECK_OK(tree_remove(&writer, &t, key, size, &found, &error), &error);
        if (!CHECK(found))
            break;
        if (i % 1000 == 0)
            CHECK_OK(tree_visit(store, &t, NULL, &error), &error);
    }
    CHECK(t.root == NULL && t.count == 0);
    retire_run(&retired);
    CHECK_INT(0, tree_store_memory(store));
    tree_store_free(store);
}

/* Leaves with few entries join their neighbours, so that memory follows the number of entries. */
static void removals_from_everywhere_leave_no_sparse_leaves(void) {
    tree_store *store;
    REQUIRE(tree_store_new(&store, &error) == TANSU_OK);
    retire_list retired = {NULL, 0, 0};
    tree_writer writer = {.store = store, .epoch = 1, .retired = &retired};
    tree t = {NULL, 0};
    uint32_t count = 50000;
    for (uint32_t i = 0; i < count; i++)
        CHECK_OK(tree_insert(&writer, &t, key, counted_key(i, key), NULL, &error), &error);
    uint64_t full = tree_store_memory(store);
    for (uint32_t i = 0; i < count; i++)
        if (i % 20 != 0) {
            writer.epoch += i % 3;
            CHECK_OK(tree_remove(&writer, &t, key, counted_key(i, key), NULL, &error), &error);
        }
    retire_run(&retired);
    CHECK_INT(count / 20, t.count);
    CHECK_OK(tree_visit(store, &t, NULL, &error), &error);
    CHECK(tree_store_memory(store) < full / 8);
    for (uint32_t i = 0; i < count; i += 20) {
        bool found;
        writer.epoch++;
        CHECK_OK(tree_remove(&writer, &t, key, counted_key(i, key), &found, &error), &error);
        CHECK(found);
    }
    CHECK(t.root == NULL);
    retire_run(&retired);
    tree_store_free(store);
}

static void built_trees_are_like_others(void) {
    tree_store *store;
    REQUIRE(tree_store_new(&store, &error) == TANSU_OK);
    retire_list retired = {NULL, 0, 0};
    tree_writer writer = {.store = store, .epoch = 1, .retired = &retired};
    for (uint32_t count = 0; count < 30000; count = count * 3 + 1) {
        tree t;
        counting source = {.count = count};
        writer.epoch++;
        CHECK_OK(tree_build(&writer, next_counted, &source, &t, &error), &error);
        CHECK_INT(count, t.count);
        CHECK_OK(tree_visit(store, &t, NULL, &error), &error);
        model m = {NULL, 0, 0};
        for (uint32_t i = 0; i < count; i++) {
            size_t size = counted_key(i, key);
            model_insert(&m, key, size);
        }
        model_same(store, &t, &m);
        random_source random = random_start(7);
        for (int i = 0; i < 300; i++) {
            size_t size = counted_key((uint32_t)random_below(&random, count + 1000), key);
            model_change(&writer, &t, &m, key, size, true);
        }
        model_same(store, &t, &m);
        tree_release(store, &t);
        free(m.items);
        model_end();
    }
    retire_run(&retired);
    CHECK_INT(0, tree_store_memory(store));
    tree_store_free(store);
}

static void huge_and_empty_keys(void) {
    tree_store *store;
    REQUIRE(tree_store_new(&store, &error) == TANSU_OK);
    retire_list retired = {NULL, 0, 0};
    tree_writer writer = {.store = store, .epoch = 1, .retired = &retired};
    tree t = {NULL, 0};
    size_t size = 3 * 1024 * 1024;
    uint8_t *huge = malloc(size);
    REQUIRE(huge != NULL);
    memset(huge, 'h', size);
    for (int i = 0; i < 12; i++) { /* they differ in their last byte only */
        huge[size - 1] = (uint8_t)(i * 5 % 12);
        if (i % 4 == 0)
            writer.epoch++;
        CHECK_OK(tree_insert(&writer, &t, huge, size, NULL, &error), &error);
    }
    CHECK_OK(tree_visit(store, &t, NULL, &error), &error);
    CHECK_INT(12, t.count);
    for (int i = 0; i < 12; i++) {
        uint64_t rank;
        bool found;
        huge[size - 1] = (uint8_t)i;
        CHECK_OK(tree_rank(store, &t, huge, size, &rank, &error), &error);
        CHECK_INT(0, rank);
        CHECK_OK(tree_remove(&writer, &t, huge, size, &found, &error), &error);
        CHECK(found);
    }
    CHECK(t.root == NULL);
    CHECK_STATUS(TANSU_E_TOO_LARGE, tree_insert(&writer, &t, huge, 0, NULL, &error));
    free(huge);
    retire_run(&retired);
    CHECK_INT(0, tree_store_memory(store));
    tree_store_free(store);
}

/* Numbers that are free in one block store are other blocks in the next. */
static void free_numbers_do_not_outlive_their_block_store(void) {
    static const uint64_t numbers[] = {3, 4};
    tree_store *store;
    uint64_t *taken = NULL;
    size_t count = 0;
    REQUIRE(tree_store_new(&store, NULL) == TANSU_OK);
    tree_store_return_free(store, numbers, 2);
    tree_store_attach(store, NULL, 1);
    CHECK(tree_store_take_free(store, &taken, &count, NULL) == TANSU_OK && count == 0);
    free(taken);
    tree_store_free(store);
}

int main(void) {
    RUN(free_numbers_do_not_outlive_their_block_store);
    RUN(versions_of_short_keys);
    RUN(versions_of_usual_keys);
    RUN(versions_of_near_keys);
    RUN(versions_of_long_keys);
    RUN(neighbours_go_where_a_search_finds_them);
    RUN(ascending_keys_are_known_to_exceed_all);
    RUN(a_finger_ends_with_its_transaction);
    RUN(commits_in_two_trees_find_where_they_belong);
    RUN(a_built_tree_is_not_the_one_that_was_dropped);
    RUN(rising_keys_fill_the_blocks);
    RUN(removals_from_everywhere_leave_no_sparse_leaves);
    RUN(built_trees_are_like_others);
    RUN(huge_and_empty_keys);
    return check_finish();
}
