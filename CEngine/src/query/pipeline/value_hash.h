/*
 * query/pipeline/value_hash.h -- values as bytes that are equal where the values are, for hash
 * tables: the key of a group, the members of a set.
 *
 * Unlike those of value_key() they have no order, and those of the common types are in place.
 */
#ifndef TANSU_QUERY_PIPELINE_VALUE_HASH_H
#define TANSU_QUERY_PIPELINE_VALUE_HASH_H

#include "query/pipeline/pipeline_internal.h"

/* The tag says how the bytes are made. */
typedef struct hashed_value {
    const uint8_t *bytes;
    uint32_t size;
    uint8_t tag;
    uint8_t number[8]; /* where the bytes of a whole number are */
} hashed_value;

/* hashed_value_of -- the key of a value, in place, in `key` itself or in the buffer, which is
 * replaced. Missing and undefined are not null. False when memory is exhausted. */
bool hashed_value_of(evaluation *ev, const doc_value *value, tansu_buffer *buffer,
                     hashed_value *key);

/* hashed_value_append -- appends a key with its size, as a part of a longer one. */
bool hashed_value_append(tansu_buffer *out, const hashed_value *key);

/* value_hash -- of a key. The seed makes it differ from run to run. */
uint64_t value_hash(uint64_t seed, uint8_t tag, const uint8_t *bytes, size_t size);

/* hashed_value_equal -- whether two keys of one size and tag are equal; inline, because most are short.
 */
static inline bool hashed_value_equal(const uint8_t *a, const uint8_t *b, size_t size) {
    if (size >= 8 && size <= 16)
        return load_u64(a) == load_u64(b) && load_u64(a + size - 8) == load_u64(b + size - 8);
    if (size >= 4 && size < 8)
        return load_u32(a) == load_u32(b) && load_u32(a + size - 4) == load_u32(b + size - 4);
    return size == 0 || memcmp(a, b, size) == 0;
}

/* A set of keys. Zeroed, it is empty. */
typedef struct hashed_set {
    uint8_t *bytes; /* each key: hash, size, tag, bytes */
    size_t size, capacity;
    uint32_t *slots; /* 1 + offset / 16 of a key; 0: none */
    uint32_t slot_count;
    uint32_t count;
} hashed_set;

/* hashed_set_add -- adds a key; *added is false when it was there. *used grows by the bytes
 * allocated. False when memory is exhausted. */
bool hashed_set_add(hashed_set *set, uint64_t seed, const hashed_value *key, bool *added,
                    size_t *used);
void hashed_set_free(hashed_set *set);

#endif
