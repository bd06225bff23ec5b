/*
 * query/pipeline/value_hash.c -- values as keys of hash tables.
 */
#include "query/pipeline/value_hash.h"

#include "bson/number.h"
#include "bson/value.h"
#include "util/array.h"

/* Tags beside those of the kinds. */
#define TAG_MISSING 0
#define TAG_UNDEFINED (KIND_NULL + 1)
#define TAG_WHOLE (KIND_NUMBER + 1)

bool hashed_value_of(evaluation *ev, const doc_value *value, tansu_buffer *buffer,
                     hashed_value *key) {
    int64_t number;
    key->tag = (uint8_t)value_kind_of(value->type);
    key->bytes = value->data;
    key->size = value->size;
    switch (value->type) {
    case DOC_MISSING: key->tag = TAG_MISSING; return true;
    case DOC_UNDEFINED: key->tag = TAG_UNDEFINED; return true;
    case DOC_STRING:
    case DOC_SYMBOL:
        if (ev->collation)
            break;
        key->bytes = value->data + 4;
        key->size = value->size - 5;
        return true;
    case DOC_NULL:
    case DOC_OID:
    case DOC_BOOL:
    case DOC_DATE:
    case DOC_TIMESTAMP: return true;
    case DOC_INT32:
    case DOC_INT64:
    case DOC_DOUBLE:
    case DOC_DECIMAL128:
        if (!doc_as_int64(value, &number))
            break;
        key->tag = TAG_WHOLE;
        key->bytes = key->number;
        key->size = sizeof key->number;
        store_u64(key->number, (uint64_t)number);
        return true;
    default: break;
    }
    buffer->size = 0;
    if (!collation_key(ev->collation, &ev->collated[0], buffer, value, false))
        return false;
    key->bytes = buffer->data;
    key->size = (uint32_t)buffer->size;
    return true;
}

bool hashed_value_append(tansu_buffer *out, const hashed_value *key) {
    uint8_t head[5];
    head[0] = key->tag;
    store_u32(head + 1, key->size);
    return buffer_append(out, head, sizeof head) && buffer_append(out, key->bytes, key->size);
}

/* mix -- a bijection of 64 bits, each of which depends on all. */
static inline uint64_t mix(uint64_t h) {
    h = (h ^ h >> 32) * UINT64_C(0xD6E8FEB86659FD93);
    return (h ^ h >> 29) * UINT64_C(0x9E3779B97F4A7C15);
}

uint64_t value_hash(uint64_t seed, uint8_t tag, const uint8_t *bytes, size_t size) {
    uint64_t h = seed ^ (uint64_t)size << 8 ^ tag;
    for (; size >= 8; bytes += 8, size -= 8)
        h = mix(h ^ load_u64(bytes));
    if (size != 0) {
        uint8_t rest[8] = {0};
        memcpy(rest, bytes, size);
        h = mix(h ^ load_u64(rest));
    }
    h = mix(h);
    return h ^ h >> 32;
}

/* ---- Sets ---- */

#define ENTRY_HEAD 16 /* hash 8, size 4, tag 1 */

/* entry_size -- bytes of a key in the set. */
static size_t entry_size(uint32_t size) {
    return ENTRY_HEAD + ((size_t)size + 15) / 16 * 16;
}

/* slot_of -- the slot of a key, or the empty one where it belongs. */
static uint32_t *slot_of(const hashed_set *set, uint64_t hash, uint8_t tag, const uint8_t *bytes,
                         uint32_t size) {
    for (uint32_t i = (uint32_t)hash;; i++) {
        uint32_t *slot = &set->slots[i & (set->slot_count - 1)];
        if (*slot == 0)
            return slot;
        const uint8_t *entry = set->bytes + (size_t)(*slot - 1) * 16;
        if (load_u64(entry) == hash && load_u32(entry + 8) == size && entry[12] == tag &&
            hashed_value_equal(entry + ENTRY_HEAD, bytes, size))
            return slot;
    }
}

/* grow_slots -- twice as many. */
static bool grow_slots(hashed_set *set, size_t *used) {
    uint32_t count = set->slot_count == 0 ? 8 : set->slot_count * 2;
    uint32_t *slots = count > UINT32_MAX / 8 ? NULL : calloc(count, sizeof *slots);
    if (!slots)
        return false;
    *used += (count - set->slot_count) * sizeof *slots;
    free(set->slots);
    set->slots = slots;
    set->slot_count = count;
    for (size_t at = 0; at < set->size;) {
        const uint8_t *entry = set->bytes + at;
        uint32_t size = load_u32(entry + 8);
        *slot_of(set, load_u64(entry), entry[12], entry + ENTRY_HEAD, size) =
            (uint32_t)(at / 16) + 1;
        at += entry_size(size);
    }
    return true;
}

bool hashed_set_add(hashed_set *set, uint64_t seed, const hashed_value *key, bool *added,
                    size_t *used) {
    uint64_t hash = value_hash(seed, key->tag, key->bytes, key->size);
    if (set->count >= set->slot_count / 4 * 3 && !grow_slots(set, used))
        return false;
    uint32_t *slot = slot_of(set, hash, key->tag, key->bytes, key->size);
    *added = *slot == 0;
    if (!*added)
        return true;
    size_t size = entry_size(key->size), before = set->capacity;
    if (set->size / 16 >= UINT32_MAX - 1 ||
        !ARRAY_RESERVE(set->bytes, set->size, set->capacity, size))
        return false;
    *used += set->capacity - before;
    uint8_t *entry = set->bytes + set->size;
    memset(entry, 0, size);
    store_u64(entry, hash);
    store_u32(entry + 8, key->size);
    entry[12] = key->tag;
    if (key->size != 0)
        memcpy(entry + ENTRY_HEAD, key->bytes, key->size);
    *slot = (uint32_t)(set->size / 16) + 1;
    set->size += size;
    set->count++;
    return true;
}

void hashed_set_free(hashed_set *set) {
    free(set->bytes);
    free(set->slots);
}
