/*
 * test_array.c -- growable arrays keep their items as they grow, and refuse what overflows.
 */
#include "support/check.h"
#include "util/array.h"

#include <stdlib.h>

typedef struct {
    uint64_t a, b, c;
} item;

static void items_stay_as_the_array_grows(void) {
    item *items = NULL;
    uint32_t count = 0, capacity = 0, growths = 0;
    for (uint32_t i = 0; i < 100000; i++) {
        uint32_t before = capacity;
        CHECK(ARRAY_RESERVE(items, count, capacity, 1));
        growths += capacity != before;
        CHECK(capacity > count && (before == capacity || capacity >= 2 * before));
        items[count++] = (item){i, 2 * (uint64_t)i, 3 * (uint64_t)i};
    }
    CHECK(growths < 20);
    for (uint32_t i = 0; i < count; i++)
        CHECK(items[i].a == i && items[i].c == 3 * (uint64_t)i);
    free(items);
}

static void many_items_are_reserved_at_once(void) {
    uint8_t *bytes = NULL;
    size_t count = 0, capacity = 0;
    CHECK(ARRAY_RESERVE(bytes, count, capacity, 0) && bytes == NULL);
    CHECK(ARRAY_RESERVE(bytes, count, capacity, 1) && capacity == 64);
    CHECK(ARRAY_RESERVE(bytes, count, capacity, 1000) && capacity == 1000);
    count = 999;
    CHECK(ARRAY_RESERVE(bytes, count, capacity, 1) && capacity == 1000);
    CHECK(ARRAY_RESERVE(bytes, count, capacity, 2) && capacity == 2000);
    free(bytes);
}

static void what_overflows_is_refused(void) {
    item *items = NULL;
    size_t capacity = 0;
    CHECK(ARRAY_RESERVE(items, 0, capacity, 10) && capacity >= 10);
    item *before = items;
    size_t old = capacity;
    CHECK(!ARRAY_RESERVE(items, old, capacity, SIZE_MAX / sizeof *items));
    CHECK(!ARRAY_RESERVE(items, old, capacity, SIZE_MAX - old));
    CHECK(!ARRAY_RESERVE(items, old, capacity, SIZE_MAX));
    CHECK(items == before && capacity == old);
    free(items);

    uint8_t *bytes = NULL;
    uint32_t narrow = 0;
    /* What 32 bits do not count, where a size has more. */
    if (SIZE_MAX > UINT32_MAX)
        CHECK(!ARRAY_RESERVE(bytes, 0, narrow, (size_t)UINT32_MAX + 1));
    CHECK(!ARRAY_RESERVE(bytes, 0, narrow, SIZE_MAX));
    CHECK(bytes == NULL && narrow == 0);
    free(bytes);
}

int main(void) {
    RUN(items_stay_as_the_array_grows);
    RUN(many_items_are_reserved_at_once);
    RUN(what_overflows_is_refused);
    return check_finish();
}
