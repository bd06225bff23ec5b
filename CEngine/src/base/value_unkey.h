/*
 * base/value_unkey.h -- reading the keys that value_key() writes. Part base; uses base/doc.h.
 *
 * Keys come from a file: bytes that are no key are told, never followed.
 */
#ifndef TANSU_BASE_VALUE_UNKEY_H
#define TANSU_BASE_VALUE_UNKEY_H

#include "base/value.h"

/* value_key_size -- how many bytes the key takes that the bytes begin with; 0 when none does. */
size_t value_key_size(const uint8_t *key, size_t size, bool descending);

/* value_key_is_number -- whether a key, of one byte at least, is a number's. */
static inline bool value_key_is_number(const uint8_t *key, bool descending) {
    return (uint8_t)(key[0] ^ (descending ? 0xFF : 0)) == KIND_NUMBER;
}

/*
 * value_unkey -- appends the bytes, as BSON has them, of the value whose key comes first, sets *type,
 * and returns the key's size. A key does not tell number types apart, nor some kinds from others:
 * `number` is the type of a number (int32, int64 or double); the others are string, binary, ObjectId,
 * bool, date, timestamp, null, MinKey and MaxKey. 0 when the key is of none of them, and when
 * memory is exhausted.
 */
size_t value_unkey(const uint8_t *key, size_t size, bool descending, uint8_t number, uint8_t *type,
                   tansu_buffer *bytes);

#endif
