/*
 * sqlite/hash.h -- SipHash-2-4, for rowids.
 */
#ifndef TANSU_SQLITE_HASH_H
#define TANSU_SQLITE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* sql_hash -- the hash of a value: of its bytes and, beside them, its type. */
uint64_t sql_hash(const uint64_t key[2], uint8_t type, const uint8_t *bytes, size_t size);

#endif
