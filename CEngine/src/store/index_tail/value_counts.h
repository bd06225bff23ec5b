/*
 * store/index_tail/value_counts.h -- whether the entry of a value is counted, for values that many
 * documents have.
 *
 * A count by an index that is not current compares the entry of each changed document with the
 * ranges of the query. With the same value, as it lies in the document, the answer is the same: so
 * the values that came last are kept with theirs, and their keys are not made again.
 */
#ifndef TANSU_STORE_INDEX_TAIL_VALUE_COUNTS_H
#define TANSU_STORE_INDEX_TAIL_VALUE_COUNTS_H

#include "bson/document.h"
#include "util/bytes.h"

#include <string.h>

#define VALUE_COUNTS_BITS 8
#define VALUE_COUNT_BYTES 29

/* One value with its answer. */
typedef struct value_count {
    uint8_t bytes[VALUE_COUNT_BYTES];
    uint8_t size;
    uint8_t type;
    uint8_t known; /* 0: it is none; 1: its entry is not counted, or it has none; 2: it is */
} value_count;

/* Zeroed, it has none. */
typedef struct value_counts {
    value_count values[1u << VALUE_COUNTS_BITS];
} value_counts;

/* value_counts_at -- where a value is or belongs; NULL for one that is too long to be kept. */
static inline value_count *value_counts_at(value_counts *counts, const doc_value *value) {
    uint64_t first = 0, last = 0;
    if (value->size > VALUE_COUNT_BYTES)
        return NULL;
    if (value->size >= 8) {
        first = load_u64(value->data);
        last = load_u64(value->data + value->size - 8);
    } else if (value->size != 0) {
        memcpy(&first, value->data, value->size);
    }
    uint64_t mixed = (first ^ (last << 29 | last >> 35)) + value->type;
    return &counts->values[(mixed * UINT64_C(0x9E3779B97F4A7C15)) >> (64 - VALUE_COUNTS_BITS)];
}

/* value_count_is -- whether this is the value. */
static inline bool value_count_is(const value_count *one, const doc_value *value) {
    return one->known != 0 && one->type == value->type && one->size == value->size &&
           (value->size == 0 || bytes_equal(one->bytes, value->data, value->size));
}

/* value_count_set -- keeps the value in place of another. */
static inline void value_count_set(value_count *one, const doc_value *value, bool counted) {
    if (value->size != 0)
        memcpy(one->bytes, value->data, value->size);
    one->size = (uint8_t)value->size;
    one->type = value->type;
    one->known = counted ? 2 : 1;
}

#endif
