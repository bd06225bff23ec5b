/*
 * test_batch_sort.c -- sorting byte strings against qsort() with memcmp().
 */
#include "index/index_batch.h"
#include "support/check.h"
#include "support/random/random.h"

#include <stdlib.h>
#include <string.h>

#define MOST 3000
#define SIZE_MOST 40

static uint8_t bytes[MOST * SIZE_MOST];
static batch_item items[MOST], expected[MOST];

/* by_bytes -- memcmp order, the shorter first. For qsort(). */
static int by_bytes(const void *left, const void *right) {
    const batch_item *a = left, *b = right;
    size_t size = a->size < b->size ? a->size : b->size;
    int order = memcmp(bytes + a->offset, bytes + b->offset, size);
    return order != 0 ? order : a->size < b->size ? -1 : a->size > b->size;
}

/* make -- entries that begin alike, go on with one of some values, and end with a number of their
 * own, which makes them different: rising or in any order. */
static void make(random_source *random, size_t count) {
    size_t common = random_below(random, 12), varying = random_below(random, 20);
    uint64_t letters = 1 + random_below(random, 256);
    bool rising = random_chance(random, 50);
    uint32_t at = 0;
    for (size_t i = 0; i < count; i++) {
        size_t size = varying == 0 ? 0 : random_below(random, varying);
        uint32_t number = (uint32_t)(rising ? i : i * 7919 % MOST);
        items[i] = (batch_item){.offset = at, .removes = number & 1};
        for (size_t k = 0; k < common; k++)
            bytes[at++] = (uint8_t)(k * 37);
        for (size_t k = 0; k < size; k++)
            bytes[at++] = (uint8_t)random_below(random, letters);
        for (unsigned shift = 24; shift != 0; shift -= 8)
            bytes[at++] = (uint8_t)(number >> (shift - 8));
        items[i].size = (at - items[i].offset) & INT32_MAX;
    }
    memcpy(expected, items, count * sizeof *items);
}

static void sorts_as_memcmp_does(void) {
    random_source random = random_start(1);
    for (int round = 0; round < 400 && check_failures() == 0; round++) {
        size_t count = random_below(&random, round % 4 == 0 ? MOST : 300);
        make(&random, count);
        qsort(expected, count, sizeof *expected, by_bytes);
        CHECK(batch_sort(bytes, items, count, NULL));
        for (size_t i = 0; i < count; i++) {
            CHECK_INT(0, by_bytes(&expected[i], &items[i]));
            CHECK_INT(bytes[items[i].offset + items[i].size - 1] & 1, items[i].removes);
        }
    }
}

/* An entry that another one begins with, and zeros, which missing bytes count as. */
static void the_shorter_is_first(void) {
    for (size_t count = 2; count <= 200; count += 99) {
        memset(bytes, 0, sizeof bytes);
        for (size_t i = 0; i < count; i++)
            items[i] = (batch_item){.offset = 0, .size = (uint32_t)(count - i) & INT32_MAX};
        CHECK(batch_sort(bytes, items, count, NULL));
        for (size_t i = 0; i < count; i++)
            CHECK_INT((int)i + 1, (int)items[i].size);
    }
}

int main(void) {
    RUN(sorts_as_memcmp_does);
    RUN(the_shorter_is_first);
    return check_finish();
}
