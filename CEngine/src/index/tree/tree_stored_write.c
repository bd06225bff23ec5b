/*
 * index/tree/tree_stored_write.c -- encoding blocks for a checkpoint.
 */
#include "index/tree/rid_suffix.h"
#include "index/tree/tree_stored.h"
#include "util/buffer.h"

/* Bytes that a string takes at most in addition to those of its suffix: code, three sizes, the
 * difference of record ids, the type tag. */
#define STRING_MORE (1 + 3 * 5 + 6 + 1)
/* A form byte, a tail, three numbers. */
#define FRONT_MOST (2 + 3 * 5)

/* tail_of -- how many bytes of each suffix are written as a number: all strings end with a whole
 * rid suffix, or they differ in the last bytes of it only. */
static uint32_t tail_of(const tree_page *page) {
    uint32_t least = UINT32_MAX, most = 0;
    if (page->level != 0)
        return 0;
    for (uint32_t i = 0; i < page->count; i++) {
        uint32_t size;
        page_suffix(page, i, &size);
        least = size < least ? size : least;
        most = size > most ? size : most;
    }
    if (page->count == 0)
        return 0;
    if (least >= RID_SUFFIX_SIZE)
        return RID_SUFFIX_SIZE;
    return least == most && page->prefix_size + least >= RID_SUFFIX_SIZE ? least : 0;
}

/* common_size -- how many bytes two strings share at their beginning. */
static uint32_t common_size(const uint8_t *a, uint32_t a_size, const uint8_t *b, uint32_t b_size) {
    uint32_t limit = a_size < b_size ? a_size : b_size, at = 0;
    while (limit - at >= 8) {
        uint64_t difference = load_u64(a + at) ^ load_u64(b + at);
        if (difference != 0)
            return at + (uint32_t)__builtin_ctzll(difference) / 8;
        at += 8;
    }
    while (at < limit && a[at] == b[at])
        at++;
    return at;
}

/* put_bytes -- writes the lowest bytes of a number. */
static uint8_t *put_bytes(uint8_t *at, uint64_t number, uint32_t size) {
    for (uint32_t i = 0; i < size; i++)
        *at++ = (uint8_t)(number >> 8 * i);
    return at;
}

/* put_same -- a string with the value of the one before, whose rid suffix is less. */
static uint8_t *put_same(uint8_t *at, uint64_t rid_suffix, uint64_t before) {
    uint64_t more = (rid_suffix >> TYPE_TAG_BITS) - (before >> TYPE_TAG_BITS) - 1;
    if (((rid_suffix ^ before) & TYPE_TAG_MASK) != 0) {
        *at++ = STORED_SAME_VALUE | STORED_OTHER_TAG;
        return put_bytes(at, rid_suffix, RID_SUFFIX_SIZE);
    }
    if (more < STORED_NEAR) {
        *at++ = (uint8_t)(STORED_SAME_VALUE | more);
        return at;
    }
    uint32_t size = (63 - (uint32_t)__builtin_clzll(more)) / 8 + 1;
    *at++ = (uint8_t)(STORED_SAME_VALUE | (STORED_NEAR - 1 + size));
    return put_bytes(at, more, size);
}

/* put_rid -- the rid suffix of a string with another value than the one before. */
static uint8_t *put_rid(uint8_t *at, uint64_t rid_suffix, uint64_t before) {
    bool other_tag = ((rid_suffix ^ before) & TYPE_TAG_MASK) != 0;
    uint64_t more = (rid_suffix >> TYPE_TAG_BITS) - (before >> TYPE_TAG_BITS);
    at = varint_put(at, fold_sign(more) << 1 | other_tag);
    if (other_tag)
        *at++ = (uint8_t)(rid_suffix & TYPE_TAG_MASK);
    return at;
}

/* A value as that of the string before with some bytes replaced. */
typedef struct replacement {
    uint32_t kept;     /* bytes at the beginning of the value before */
    uint32_t left_out; /* after them */
    uint32_t inserted; /* in their place */
} replacement;

/* common_end -- how many bytes two strings share at their end. */
static uint32_t common_end(const uint8_t *a_end, const uint8_t *b_end, uint32_t limit) {
    uint32_t count = 0;
    while (count < limit && a_end[-1 - (int64_t)count] == b_end[-1 - (int64_t)count])
        count++;
    return count;
}

/* compare_values -- a value and the one before. */
static replacement compare_values(const uint8_t *before, uint32_t before_size, const uint8_t *value,
                                  uint32_t size) {
    uint32_t kept = common_size(before, before_size, value, size);
    uint32_t limit = (before_size < size ? before_size : size) - kept;
    uint32_t end = common_end(before + before_size, value + size, limit);
    return (replacement){kept, before_size - kept - end, size - kept - end};
}

/* put_other -- a string whose value is not that of the one before. */
static uint8_t *put_other(uint8_t *at, const replacement *r, const uint8_t *value, bool with_rid) {
    bool kept_long = r->kept >= STORED_KEPT_LONG;
    bool inserted_long = r->inserted >= STORED_INSERTED_LONG;
    bool other_size = r->left_out != r->inserted;
    *at++ = (uint8_t)((with_rid ? STORED_RID : 0) | (other_size ? STORED_OTHER_SIZE : 0) |
                      (kept_long ? STORED_KEPT_LONG : r->kept) << 3 |
                      (inserted_long ? STORED_INSERTED_LONG : r->inserted));
    if (kept_long)
        at = varint_put(at, r->kept - STORED_KEPT_LONG);
    if (inserted_long)
        at = varint_put(at, r->inserted - STORED_INSERTED_LONG);
    if (other_size)
        at = varint_put(at, r->left_out);
    if (r->inserted != 0)
        memcpy(at, value + r->kept, r->inserted);
    return at + r->inserted;
}

/* rid_suffix_of -- of a string; its first bytes may be in the page's prefix. */
static uint64_t rid_suffix_of(const tree_page *page, const uint8_t *suffix, uint32_t size) {
    uint64_t number = 0;
    uint32_t in_prefix = size < RID_SUFFIX_SIZE ? RID_SUFFIX_SIZE - size : 0;
    for (uint32_t i = page->prefix_size - in_prefix; i < page->prefix_size; i++)
        number = number << 8 | page->bytes[i];
    for (uint32_t i = in_prefix; i < RID_SUFFIX_SIZE; i++)
        number = number << 8 | suffix[size - RID_SUFFIX_SIZE + i];
    return number;
}

/* put_strings -- all strings of a page. */
static uint8_t *put_strings(uint8_t *at, const tree_page *page, uint32_t tail) {
    const uint8_t *value = page->bytes;
    uint32_t value_size = 0;
    uint64_t before = 0;
    for (uint32_t i = 0; i < page->count; i++) {
        uint32_t size;
        const uint8_t *suffix = page_suffix(page, i, &size);
        uint64_t rid_suffix = tail == 0 ? 0 : rid_suffix_of(page, suffix, size);
        size -= tail;
        replacement r = compare_values(value, value_size, suffix, size);
        if (i != 0 && tail != 0 && r.left_out == 0 && r.inserted == 0) {
            at = put_same(at, rid_suffix, before);
        } else {
            bool next = rid_suffix == before + ((uint64_t)1 << TYPE_TAG_BITS);
            bool with_rid = tail != 0 && !next;
            at = put_other(at, &r, suffix, with_rid);
            if (with_rid)
                at = put_rid(at, rid_suffix, before);
        }
        value = suffix;
        value_size = size;
        before = rid_suffix;
    }
    return at;
}

/* put_page -- the page of a leaf, or an inner block's separators. */
static uint8_t *put_page(uint8_t *at, const tree_page *page) {
    uint32_t tail = tail_of(page);
    *at++ = STORED_DELTAS | page->level;
    *at++ = (uint8_t)tail;
    at = varint_put(at, page->count);
    at = varint_put(at, page->prefix_size);
    at = varint_put(at, page->heap - page->dead);
    if (page->prefix_size != 0)
        memcpy(at, page->bytes, page->prefix_size);
    return put_strings(at + page->prefix_size, page, tail);
}

/* put_children -- numbers of blocks that were written after each other differ by little. */
static uint8_t *put_children(uint8_t *at, const tree_inner *inner) {
    uint64_t before = 0;
    for (uint32_t i = 0; i < inner_children(inner); i++) {
        uint64_t number = atomic_load(&inner->child[i]->number) & ~NUMBER_PENDING;
        at = varint_put(at, fold_sign(number - before));
        at = varint_put(at, inner->count[i]);
        before = number;
    }
    return at;
}

/* stored_encode -- space for the longest encoding is reserved at once. */
bool stored_encode(tansu_buffer *record, const tree_content *content) {
    const tree_inner *inner = as_inner(content);
    const tree_page *page = content->level == 0 ? &as_leaf(content)->page : &inner->keys;
    size_t most =
        FRONT_MOST + (size_t)page->prefix_size + page->heap + (size_t)page->count * STRING_MORE;
    if (content->level != 0)
        most += (size_t)inner_children(inner) * 2 * VARINT_MAX;
    if (!buffer_reserve(record, most))
        return false;
    uint8_t *at = put_page(record->data + record->size, page);
    if (content->level != 0)
        at = put_children(at, inner);
    record->size = (size_t)(at - record->data);
    return true;
}
