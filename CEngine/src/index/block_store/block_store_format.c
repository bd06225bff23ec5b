/*
 * index/block_store/block_store_format.c -- the layout of the block store's file: a Tokyo Cabinet
 * hash database with 64-bit offsets, records at multiples of 64 bytes and 2^12 remembered free
 * extents.
 *
 *   head       256 bytes; our own fields from 128 on, which Tokyo Cabinet leaves to its users
 *   buckets    8 bytes each: the offset of a record, divided by 64
 *   pool       free extents, as Tokyo Cabinet writes them when it closes a file
 *   records    and free extents, back to back
 *
 * A value is the record and its CRC-32. In an encrypted database it is the mark, the tag and the
 * ciphertext (crypt/keyring.h), which are bound to the key, and the CRC-32 of these.
 *
 * Its numbers are big-endian, as those of Debian's Tokyo Cabinet on every machine. Our fields, from
 * 128 on, are little-endian.
 */
#include "index/block_store/block_store_internal.h"
#include "util/bytes.h"
#include "util/checksum/checksum.h"

#include <stdio.h>
#include <stdlib.h>

#define HEAD_TYPE 32
#define HEAD_FLAGS 33
#define HEAD_APOW 34
#define HEAD_FPOW 35
#define HEAD_OPTS 36
#define HEAD_BUCKETS 40
#define HEAD_RECORDS 48
#define HEAD_SIZE 56
#define HEAD_FIRST 64
#define HEAD_OURS 128
#define HEAD_SESSION 136
#define HEAD_CRC 144

#define TYPE_HASH 0
/* While we write the file: Tokyo Cabinet refuses it. */
#define TYPE_SESSION 0x54
#define FLAG_OPEN 1
#define ALIGN_POWER 6
#define FREE_POWER 12
#define OPTION_LARGE 1

#define MAGIC_RECORD 0xC8
#define MAGIC_FREE 0xB0
#define POOL_BASE 64 /* bytes of the pool in addition to four for each of 2^FREE_POWER locations */

static const char magic[] = "ToKyO CaBiNeT\n";
static const char ours[] = "TANSU\0\0\1";

static const uint64_t bucket_counts[] = {8191, 32749, 131071, 524287, 2097143, 8388593};
#define BUCKET_COUNTS (sizeof bucket_counts / sizeof *bucket_counts)

/* ---- Numbers ---- */

/* take_number -- a number of seven bits a byte, all but the last of them inverted; false when it
 * ends after `end` or is too large. */
static bool take_number(const uint8_t **at, const uint8_t *end, uint64_t most, uint64_t *number) {
    uint64_t sum = 0;
    for (unsigned shift = 0; *at < end && shift < 63; shift += 7) {
        uint8_t byte = *(*at)++;
        sum |= (uint64_t)(byte < 128 ? byte : (uint8_t)~byte) << shift;
        if (byte < 128) {
            *number = sum;
            return sum <= most;
        }
    }
    return false;
}

/* put_number -- writes such a number; the end of it. */
static uint8_t *put_number(uint8_t *at, uint64_t number) {
    for (; number >= 128; number >>= 7)
        *at++ = (uint8_t) ~(number & 127);
    *at++ = (uint8_t)number;
    return at;
}

/* ---- Records ---- */

void block_store_fill_key(uint8_t key[BLOCK_STORE_KEY], enum block_store_kind kind,
                          uint64_t number) {
    key[0] = (uint8_t)kind;
    store_u64(key + 1, number);
}

uint32_t block_store_checksum(const uint8_t key[BLOCK_STORE_KEY], const void *record, size_t size) {
    return checksum(checksum(0, key, BLOCK_STORE_KEY), record, size);
}

uint64_t block_store_hash(uint64_t buckets, const uint8_t key[BLOCK_STORE_KEY], uint8_t *second) {
    uint64_t first = 19780211;
    uint32_t other = 751;
    for (unsigned i = 0; i < BLOCK_STORE_KEY; i++) {
        first = first * 37 + key[i];
        other = other * 31 ^ key[BLOCK_STORE_KEY - 1 - i];
    }
    *second = (uint8_t)other;
    return first % buckets;
}

int block_store_order(const uint8_t key[BLOCK_STORE_KEY], uint8_t hash,
                      const block_store_node *node) {
    int order =
        hash != node->hash ? (hash > node->hash ? 1 : -1) : memcmp(key, node->key, BLOCK_STORE_KEY);
    return order > 0 ? -1 : order < 0;
}

bool block_store_parse(uint64_t offset, const uint8_t *bytes, uint64_t end,
                       block_store_node *node) {
    uint64_t key_size, value_size;
    const uint8_t *at = bytes + 20;
    if (bytes[0] != MAGIC_RECORD || !take_number(&at, bytes + 32, BLOCK_STORE_KEY, &key_size) ||
        key_size != BLOCK_STORE_KEY || !take_number(&at, bytes + 32, INT32_MAX, &value_size) ||
        value_size < BLOCK_STORE_CRC)
        return false;
    uint64_t padding = (uint64_t)bytes[18] << 8 | bytes[19];
    node->offset = offset;
    node->hash = bytes[1];
    node->left = load_be64(bytes + BLOCK_STORE_LEFT) << ALIGN_POWER;
    node->right = load_be64(bytes + BLOCK_STORE_RIGHT) << ALIGN_POWER;
    node->body = (uint32_t)(at - bytes);
    node->value_size = (uint32_t)value_size;
    node->size = node->body + key_size + value_size + padding;
    memcpy(node->key, at, BLOCK_STORE_KEY);
    return node->size % BLOCK_STORE_ALIGN == 0 && node->size <= end - offset;
}

uint64_t block_store_fill_record(uint8_t *bytes, const uint8_t key[BLOCK_STORE_KEY], uint8_t hash,
                                 uint64_t left, uint64_t right, uint32_t value_size,
                                 uint32_t *body) {
    uint8_t start[48] = {MAGIC_RECORD, hash};
    store_be64(start + BLOCK_STORE_LEFT, left >> ALIGN_POWER);
    store_be64(start + BLOCK_STORE_RIGHT, right >> ALIGN_POWER);
    uint8_t *at = put_number(start + 20, BLOCK_STORE_KEY);
    at = put_number(at, value_size);
    *body = (uint32_t)(at - start);
    memcpy(at, key, BLOCK_STORE_KEY);
    uint64_t used = *body + BLOCK_STORE_KEY + (uint64_t)value_size;
    uint64_t size = (used + BLOCK_STORE_ALIGN - 1) / BLOCK_STORE_ALIGN * BLOCK_STORE_ALIGN;
    start[19] = (uint8_t)(size - used); /* less than BLOCK_STORE_ALIGN */
    if (bytes != NULL)
        memcpy(bytes, start, *body + BLOCK_STORE_KEY);
    return size;
}

/* ---- The head ---- */

uint64_t block_store_buckets_for(uint64_t records) {
    size_t i = 0;
    while (i + 1 < BUCKET_COUNTS && bucket_counts[i] < records)
        i++;
    return bucket_counts[i];
}

uint64_t block_store_first(uint64_t buckets) {
    uint64_t end = BLOCK_STORE_HEAD + 8 * buckets + POOL_BASE + ((uint64_t)4 << FREE_POWER);
    return (end + BLOCK_STORE_ALIGN - 1) / BLOCK_STORE_ALIGN * BLOCK_STORE_ALIGN;
}

void block_store_head_fill(block_store *bs) {
    uint8_t *head = bs->head;
    if (head[0] == 0) /* a new file; otherwise it says which Tokyo Cabinet made it */
        snprintf((char *)head, HEAD_TYPE, "%s1.0:911\n", magic);
    head[HEAD_TYPE] = TYPE_HASH;
    head[HEAD_FLAGS] = 0;
    head[HEAD_APOW] = ALIGN_POWER;
    head[HEAD_FPOW] = FREE_POWER;
    head[HEAD_OPTS] = OPTION_LARGE;
    store_be64(head + HEAD_BUCKETS, bs->bucket_count);
    store_be64(head + HEAD_RECORDS, bs->records);
    store_be64(head + HEAD_SIZE, bs->size);
    store_be64(head + HEAD_FIRST, bs->first);
}

/* session_crc -- of what a head in session says and what does not change while it does. */
static uint32_t session_crc(const uint8_t head[BLOCK_STORE_HEAD]) {
    uint32_t crc = checksum(0, head + HEAD_APOW, HEAD_RECORDS - HEAD_APOW);
    crc = checksum(crc, head + HEAD_FIRST, 8);
    return checksum(crc, head + HEAD_OURS, HEAD_CRC - HEAD_OURS);
}

int block_store_head_session(block_store *bs) {
    static const uint8_t type = TYPE_SESSION;
    uint8_t *head = bs->head;
    memset(head + HEAD_OURS, 0, BLOCK_STORE_HEAD - HEAD_OURS);
    memcpy(head + HEAD_OURS, ours, sizeof ours - 1);
    store_u64(head + HEAD_SESSION, bs->session);
    store_u32(head + HEAD_CRC, session_crc(head));
    return fs_write_all(bs->calls, bs->fd, head + HEAD_OURS, BLOCK_STORE_HEAD - HEAD_OURS,
                        HEAD_OURS) == 0
               ? fs_write_all(bs->calls, bs->fd, &type, 1, HEAD_TYPE)
               : -1;
}

int block_store_head_commit(block_store *bs) {
    uint8_t commit[8];
    store_u64(commit, bs->commit);
    return fs_write_all(bs->calls, bs->fd, commit, sizeof commit, BLOCK_STORE_HEAD_COMMIT);
}

int block_store_head_sizes(block_store *bs) {
    block_store_head_fill(bs);
    return fs_write_all(bs->calls, bs->fd, bs->head + HEAD_FLAGS, HEAD_OURS - HEAD_FLAGS,
                        HEAD_FLAGS);
}

int block_store_head_closed(block_store *bs) {
    return fs_write_all(bs->calls, bs->fd, bs->head + HEAD_TYPE, 1, HEAD_TYPE);
}

/* known_count -- whether a number of buckets is one that we ever use. */
static bool known_count(uint64_t buckets) {
    for (size_t i = 0; i < BUCKET_COUNTS; i++)
        if (bucket_counts[i] == buckets)
            return true;
    return false;
}

bool block_store_head_read(const uint8_t bytes[BLOCK_STORE_HEAD], uint64_t file_size,
                           block_store_head *head) {
    *head = (block_store_head){.in_session = bytes[HEAD_TYPE] == TYPE_SESSION,
                               .buckets = load_be64(bytes + HEAD_BUCKETS),
                               .records = load_be64(bytes + HEAD_RECORDS),
                               .size = load_be64(bytes + HEAD_SIZE),
                               .first = load_be64(bytes + HEAD_FIRST)};
    if (memcmp(bytes, magic, sizeof magic - 1) != 0 ||
        (!head->in_session &&
         (bytes[HEAD_TYPE] != TYPE_HASH || (bytes[HEAD_FLAGS] & FLAG_OPEN) != 0)) ||
        bytes[HEAD_APOW] != ALIGN_POWER || bytes[HEAD_FPOW] != FREE_POWER ||
        bytes[HEAD_OPTS] != OPTION_LARGE || !known_count(head->buckets) ||
        head->first % BLOCK_STORE_ALIGN != 0 ||
        head->first < BLOCK_STORE_HEAD + 8 * head->buckets + POOL_BASE ||
        head->first > block_store_first(head->buckets) || head->first > file_size)
        return false;
    if (head->in_session) {
        if (memcmp(bytes + HEAD_OURS, ours, sizeof ours - 1) != 0 ||
            load_u32(bytes + HEAD_CRC) != session_crc(bytes))
            return false;
        head->session = load_u64(bytes + HEAD_SESSION);
        head->commit = load_u64(bytes + BLOCK_STORE_HEAD_COMMIT);
    }
    /* After a session's first commit its journals say these, and here they may be half written. */
    return head->commit != 0 ||
           (head->size >= head->first && head->size % BLOCK_STORE_ALIGN == 0 &&
            head->size <= file_size && head->records <= block_store_room(head->first, head->size));
}

/* ---- The pool of free extents ---- */

bool block_store_pool_read(const block_store *bs, const uint8_t *bytes, size_t size,
                           block_store_extents *list) {
    const uint8_t *at = bytes, *end = bytes + size;
    uint64_t base = 0, offset, length, last = bs->first;
    while (at < end && *at != 0) {
        if (!take_number(&at, end, UINT64_MAX >> (ALIGN_POWER + 1), &offset) ||
            !take_number(&at, end, UINT32_MAX, &length))
            break;
        base += offset << ALIGN_POWER;
        length <<= ALIGN_POWER;
        /* One that can't be is damage, and then none of them is to be trusted. */
        if (base < last || base > bs->size || length == 0 || length > bs->size - base) {
            list->count = 0;
            return true;
        }
        last = base + length;
        if (!extents_add(list, base, length))
            return false;
    }
    return true;
}

/* by_size -- for qsort(): the largest first. */
static int by_size(const void *a, const void *b) {
    const block_store_extent *x = a, *y = b;
    return x->size > y->size ? -1 : x->size < y->size;
}

/* by_offset -- for qsort(). */
static int by_offset(const void *a, const void *b) {
    const block_store_extent *x = a, *y = b;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* split -- the extents in pieces that Tokyo Cabinet can count; NULL when memory is exhausted. */
static block_store_extent *split(const block_store_extents *list, size_t *count) {
    block_store_extents pieces = {NULL, 0, 0};
    for (size_t i = 0; i < list->count; i++)
        for (uint64_t done = 0; done < list->items[i].size; done += BLOCK_STORE_MAX_FREE) {
            uint64_t rest = list->items[i].size - done;
            if (!extents_add(&pieces, list->items[i].offset + done,
                             rest < BLOCK_STORE_MAX_FREE ? rest : BLOCK_STORE_MAX_FREE)) {
                extents_free(&pieces);
                return NULL;
            }
        }
    *count = pieces.count;
    return pieces.items;
}

void block_store_pool_write(const block_store_extents *list, uint8_t *bytes, size_t size) {
    size_t all = 0;
    block_store_extent *chosen = split(list, &all);
    if (chosen == NULL)
        return; /* an empty pool is valid, too */
    qsort(chosen, all, sizeof *chosen, by_size);
    size_t count = all < (size_t)2 << FREE_POWER ? all : (size_t)2 << FREE_POWER;
    for (bool fits = false; !fits; count -= count / 8 + 1) {
        qsort(chosen, count, sizeof *chosen, by_offset);
        uint64_t base = 0;
        uint8_t *at = bytes;
        fits = true;
        for (size_t i = 0; fits && i < count; i++) {
            fits = (size_t)(bytes + size - at) >= 24; /* two numbers, and zeros to end with */
            if (!fits)
                break;
            at = put_number(at, (chosen[i].offset - base) >> ALIGN_POWER);
            at = put_number(at, chosen[i].size >> ALIGN_POWER);
            base = chosen[i].offset;
        }
        if (!fits) {
            memset(bytes, 0, size);
            qsort(chosen, count, sizeof *chosen, by_size);
        }
    }
    free(chosen);
}

void block_store_fill_free(uint8_t bytes[5], uint64_t size) {
    bytes[0] = MAGIC_FREE;
    store_be32(bytes + 1, (uint32_t)size);
}
