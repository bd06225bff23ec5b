/*
 * test_index_scan_cancellation.c -- reading one long range of an index ends when it is asked to.
 */
#include "index/tree/rid_suffix.h"
#include "query/exec/run.h"
#include "support/check.h"

/* numbered_key -- entry after entry for tree_build(). */
static bool numbered_key(void *context, const uint8_t **key, size_t *size) {
    static uint8_t entry[3 + RID_SUFFIX_SIZE];
    uint32_t *number = context;
    entry[0] = (uint8_t)(*number >> 16);
    entry[1] = (uint8_t)(*number >> 8);
    entry[2] = (uint8_t)*number;
    suffix_put(entry + 3, *number, 0);
    *key = entry;
    *size = sizeof entry;
    return (*number)++ < 100000;
}

/* One range may hold all of a huge index: reading it ends when somebody asks, with
 * and without the entries. */
static void reading_a_long_range_can_be_stopped(void) {
    tansu_error error;
    tree_store *store;
    retire_list retired = {.count = 0};
    tree t;
    uint32_t number = 0;
    CHECK_OK(tree_store_new(&store, &error), &error);
    tree_writer writer = {.store = store, .epoch = 1, .retired = &retired};
    CHECK_OK(tree_build(&writer, numbered_key, &number, &t, &error), &error);
    static const bool descending = false;
    key_range all = {.low = (const uint8_t *)""}, few = {.high = (const uint8_t *)"\0\0\24"};
    few.low = all.low;
    few.high_size = 3;
    access_path a = {.name = "", .entries = &t, .descending = &descending, .path_count = 1};
    interrupt asked = {.outer = NULL};
    query_run run = {.rctx = {.trees = store, .interrupt = &asked}};
    run.deadline = deadline_begin(&asked, 0);
    run.cancellable = true;
    rid_list list = {.items = NULL};
    CHECK_OK(rid_list_add_range(&list, &run, &a, &all, &error), &error);
    CHECK_INT(100000, list.count);
    interrupt_ask(&asked);
    for (int keeps = 0; keeps < 2; keeps++) {
        rid_list_free(&list);
        list.keep_entries = keeps;
        REQUIRE(rid_list_clear(&list));
        CHECK_STATUS(TANSU_E_CANCELLED, rid_list_add_range(&list, &run, &a, &all, &error));
        CHECK(list.count > 0 && list.count < 10000);
    }
    rid_list_free(&list);
    CHECK_OK(rid_list_add_range(&list, &run, &a, &few, &error), &error);
    CHECK_INT(20, list.count);
    rid_list_free(&list);
    tree_release(store, &t);
    tree_store_free(store);
}

int main(void) {
    RUN(reading_a_long_range_can_be_stopped);
    return check_finish();
}
