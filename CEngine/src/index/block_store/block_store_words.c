/*
 * index/block_store/block_store_words.c -- changed words of the block store's file, by offset.
 */
#include "index/block_store/block_store_internal.h"

#include <stdlib.h>
#include <string.h>

#define WORDS_LEAST 64

/* slot_of -- where an offset is in the table, or would be. */
static uint64_t *slot_of(const block_store_words *words, uint64_t offset) {
    size_t at = (size_t)(offset * 0x9E3779B97F4A7C15u >> 20) & (words->capacity - 1);
    while (words->pairs[2 * at] != 0 && words->pairs[2 * at] != offset)
        at = (at + 1) & (words->capacity - 1);
    return &words->pairs[2 * at];
}

bool words_reserve(block_store_words *words, size_t more) {
    size_t capacity = words->capacity == 0 ? WORDS_LEAST : words->capacity;
    while ((words->count + more) * 4 > capacity * 3)
        capacity *= 2;
    if (capacity == words->capacity)
        return true;
    block_store_words larger = {calloc(capacity, 2 * sizeof *words->pairs), capacity, words->count};
    if (larger.pairs == NULL)
        return false;
    for (size_t i = 0; i < words->capacity; i++)
        if (words->pairs[2 * i] != 0)
            memcpy(slot_of(&larger, words->pairs[2 * i]), &words->pairs[2 * i],
                   2 * sizeof *words->pairs);
    free(words->pairs);
    *words = larger;
    return true;
}

bool words_set(block_store_words *words, uint64_t offset, uint64_t value) {
    if (!words_reserve(words, 1))
        return false;
    uint64_t *slot = slot_of(words, offset);
    words->count += slot[0] == 0;
    slot[0] = offset;
    slot[1] = value;
    return true;
}

const uint64_t *words_find(const block_store_words *words, uint64_t offset) {
    if (words->count == 0)
        return NULL;
    const uint64_t *slot = slot_of(words, offset);
    return slot[0] == 0 ? NULL : &slot[1];
}

void words_free(block_store_words *words) {
    free(words->pairs);
    *words = (block_store_words){NULL, 0, 0};
}

/* by_offset -- for qsort(). */
static int by_offset(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

uint64_t *words_sorted(const block_store_words *words) {
    uint64_t *list = malloc((words->count + 1) * 2 * sizeof *list);
    if (list == NULL)
        return NULL;
    size_t n = 0;
    for (size_t i = 0; i < words->capacity; i++)
        if (words->pairs[2 * i] != 0) {
            list[2 * n] = words->pairs[2 * i];
            list[2 * n++ + 1] = words->pairs[2 * i + 1];
        }
    qsort(list, n, 2 * sizeof *list, by_offset);
    return list;
}
