/*
 * bson/key_decode.h -- decoding the keys that value_key() writes.
 *
 * Keys come from a file, so invalid bytes are detected and never followed.
 */
#ifndef TANSU_BSON_KEY_DECODE_H
#define TANSU_BSON_KEY_DECODE_H

#include "bson/value.h"

/* value_key_size -- the size of the key at the beginning of the bytes; 0 if there is no valid
 * key. */
size_t value_key_size(const uint8_t *key, size_t size, bool descending);

/* value_key_is_number -- whether a key, of one byte at least, is a number's. */
static inline bool value_key_is_number(const uint8_t *key, bool descending) {
    return (uint8_t)(key[0] ^ (descending ? 0xFF : 0)) == KIND_NUMBER;
}

/*
 * value_key_decode -- appends the BSON bytes of the value with the key at the beginning of the
 * bytes, sets *type, and returns the size of the key. A key does not determine the type of a
 * number, so `number` is that type (int32, int64 or double). The other types are string, binary,
 * ObjectId, bool, date, timestamp, null, MinKey and MaxKey. 0 for keys of other values, and when
 * memory is exhausted.
 */
size_t value_key_decode(const uint8_t *key, size_t size, bool descending, uint8_t number,
                        uint8_t *type, tansu_buffer *bytes);

#endif
