/*
 * bson/value.h -- the order of BSON values (rules 7 and 8 of docs/query-language.md): comparing in
 * place, and keys, byte strings in the same order, for indexes and sorts.
 *
 * value_compare(a, b) and memcmp() of value_key(a), value_key(b) always agree; a property test
 * compares them on random pairs.
 */
#ifndef TANSU_BSON_VALUE_H
#define TANSU_BSON_VALUE_H

#include "bson/document.h"

/*
 * Kinds in their order; each is also the first byte of the keys of its values. There are unused
 * bytes between two kinds, and no kind is 0x00 or 0xFF. MinKey and MaxKey sort first and last;
 * undefined is like null; symbol is like string; dbPointer, code and code with scope follow regex.
 */
enum value_kind {
    KIND_NOTHING =
        0x04, /* in index keys only: a path through an empty array, which yields neither a
                            value nor a missing one */
    KIND_MIN_KEY = 0x08,
    KIND_NULL = 0x10, /* null, undefined and missing */
    KIND_NUMBER = 0x18,
    KIND_STRING = 0x20,
    KIND_DOCUMENT = 0x28,
    KIND_ARRAY = 0x30,
    KIND_BINARY = 0x38,
    KIND_OID = 0x40,
    KIND_BOOL = 0x48,
    KIND_DATE = 0x50,
    KIND_TIMESTAMP = 0x58,
    KIND_REGEX = 0x60,
    KIND_DBPOINTER = 0x68,
    KIND_CODE = 0x70,
    KIND_CODE_SCOPE = 0x78,
    KIND_MAX_KEY = 0xF0
};

/* value_kind_of -- the kind of a BSON type byte (DOC_MISSING is KIND_NULL). */
enum value_kind value_kind_of(uint8_t type);

/*
 * value_compare -- <0, 0 or >0 in the total order: first by kind, then within it. Numbers by exact
 * mathematical value across int32, int64, double and decimal128 (NaN, of either kind, is equal to
 * NaN and below all others; -0 equals 0); strings by UTF-8 bytes; documents element by element
 * (kind of value, then key bytes, then value), the shorter first; arrays value by value, the
 * shorter first; binary by length, subtype, bytes; bool false first; timestamps by seconds then
 * increment; regex by pattern then options.
 */
int value_compare(const doc_value *a, const doc_value *b);

/*
 * value_key -- appends the order-preserving key of a value: memcmp order is value_compare() order,
 * equal values (1, 1.0, int64 1, decimal 1.0) have equal keys, and no key is a prefix of another
 * (so keys may be concatenated). Strings: 0x00 becomes 00 FF, the end is 00 01. Descending keys
 * have all bits complemented. What is deeper than allowed is empty, as it is to value_compare().
 * False when memory is exhausted.
 */
bool value_key(tansu_buffer *key, const doc_value *value, bool descending);

/* value_key_prefix_string -- appends the common prefix of the keys of all strings that begin with
 * the given bytes (kind and escaped bytes, no end), ascending; for the bounds of $begin. */
bool value_key_prefix_string(tansu_buffer *key, const char *prefix, size_t size);

#endif
