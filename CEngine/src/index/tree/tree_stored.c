/*
 * index/tree/tree_stored.c -- decoding stored blocks.
 *
 * A record whose checksum is right may still hold anything: every size is compared with what is
 * left of the record, or of the page that is filled, before it is used.
 */
#include "index/tree/tree_block.h"

#include "index/tree/rid_suffix.h"
#include "util/buffer.h"
#include "util/error.h"

/* A page takes less than this, so that no sum of sizes exceeds 32 bits. */
#define PAGE_MOST ((uint64_t)1 << 30)

/* What strings take at most in the heap in addition to their bytes: their length, the tail. */
#define HEAP_MORE (4 + RID_SUFFIX_SIZE)

/* What a record says before its strings. */
typedef struct stored_front {
    uint32_t level, tail, count, prefix_size, heap;
    const uint8_t *prefix;
} stored_front;

/* take_front -- where the strings begin; NULL: it is invalid. */
static const uint8_t *take_front(const uint8_t *at, const uint8_t *end, stored_front *front) {
    uint64_t count, prefix_size, heap;
    if (end - at < 2)
        return NULL;
    front->level = *at++ & ~(uint32_t)STORED_DELTAS;
    front->tail = *at++;
    if (front->tail > RID_SUFFIX_SIZE || !varint_take(&at, end, &count) ||
        !varint_take(&at, end, &prefix_size) || !varint_take(&at, end, &heap) ||
        prefix_size > (uint64_t)(end - at))
        return NULL;
    front->prefix = at;
    at += prefix_size;
    /* A string takes a byte at least, and has no byte that the record does not have, but a tail. */
    uint64_t left = (uint64_t)(end - at);
    if (count > left || heap > count * (left + HEAP_MORE) || heap > PAGE_MOST ||
        prefix_size + count * sizeof(tree_slot) + heap > PAGE_MOST)
        return NULL;
    front->count = (uint32_t)count;
    front->prefix_size = (uint32_t)prefix_size;
    front->heap = (uint32_t)heap;
    return at;
}

/* page_bytes -- what the page takes in memory. */
static uint64_t page_bytes(const stored_front *front) {
    return sizeof(tree_page) + page_align(front->prefix_size) +
           (uint64_t)front->count * sizeof(tree_slot) + front->heap;
}

/* A string that is being decoded, with what is kept of the one before. */
typedef struct stored_string {
    const uint8_t *before; /* the value before */
    uint32_t before_size;
    uint32_t kept; /* bytes at its beginning */
    uint32_t left_out;
    uint32_t inserted;
    const uint8_t *inserted_at;
    uint64_t rid_suffix; /* of the one before, and then of this one */
} stored_string;

/* take_size -- a size that follows, less `from`; false: it is invalid. */
static bool take_size(const uint8_t **at, const uint8_t *end, uint32_t from, uint32_t *size) {
    uint64_t more;
    if (!varint_take(at, end, &more) || more > PAGE_MOST)
        return false;
    *size = from + (uint32_t)more;
    return true;
}

/* take_bytes -- the next `size` bytes as a number; they are there. */
static uint64_t take_bytes(const uint8_t *at, const uint8_t *end, uint32_t size) {
    if (end - at >= 8)
        return load_u64(at) & (((uint64_t)1 << 8 * size) - 1);
    uint64_t number = 0;
    for (uint32_t i = 0; i < size; i++)
        number |= (uint64_t)at[i] << 8 * i;
    return number;
}

/* take_same -- after the code of a string that has the value of the one before. */
static inline bool take_same(const uint8_t **at, const uint8_t *end, uint32_t code,
                             stored_string *string) {
    uint64_t more = code & ~(uint32_t)STORED_SAME_VALUE;
    if (more >= STORED_NEAR) {
        uint32_t size = (uint32_t)more - (STORED_NEAR - 1);
        bool other_tag = more == STORED_OTHER_TAG;
        size = other_tag ? RID_SUFFIX_SIZE : size;
        if (more > STORED_OTHER_TAG || (size_t)(end - *at) < size)
            return false;
        more = take_bytes(*at, end, size);
        *at += size;
        if (other_tag) {
            string->rid_suffix = more;
            return true;
        }
    }
    string->rid_suffix += (more + 1) << TYPE_TAG_BITS;
    return true;
}

/* take_other -- after the code of a string that has another value. */
static inline bool take_other(const uint8_t **at, const uint8_t *end, uint32_t code,
                              stored_string *string) {
    uint32_t kept = code >> 3 & 3, inserted = code & 7, left_out;
    if ((kept == STORED_KEPT_LONG && !take_size(at, end, kept, &kept)) ||
        (inserted == STORED_INSERTED_LONG && !take_size(at, end, inserted, &inserted)))
        return false;
    left_out = inserted;
    if ((code & STORED_OTHER_SIZE) != 0 && !take_size(at, end, 0, &left_out))
        return false;
    if (kept > string->before_size || left_out > string->before_size - kept ||
        inserted > (size_t)(end - *at))
        return false;
    string->kept = kept;
    string->left_out = left_out;
    string->inserted = inserted;
    string->inserted_at = *at;
    *at += inserted;
    if ((code & STORED_RID) == 0) {
        string->rid_suffix += (uint64_t)1 << TYPE_TAG_BITS;
        return true;
    }
    uint64_t number;
    if (!varint_take(at, end, &number))
        return false;
    uint64_t tag = string->rid_suffix & TYPE_TAG_MASK;
    if ((number & 1) != 0) {
        if (*at == end)
            return false;
        tag = *(*at)++ & TYPE_TAG_MASK;
    }
    uint64_t rid = (string->rid_suffix >> TYPE_TAG_BITS) + unfold_sign(number >> 1);
    string->rid_suffix = rid << TYPE_TAG_BITS | tag;
    return true;
}

/* copy_16 -- sixteen bytes, of which the last may be anything. */
static inline void copy_16(uint8_t *to, const uint8_t *from) {
    uint64_t a = load_u64(from), b = load_u64(from + 8);
    store_u64(to, a);
    store_u64(to + 8, b);
}

/* put_string -- writes a string's bytes. With short pieces and enough space on both sides they are
 * copied in words, of which the next ones overwrite what is too much. */
static inline void put_string(uint8_t *to, const uint8_t *to_end, const stored_string *string,
                              const uint8_t *end, uint32_t tail) {
    const uint8_t *rest = string->before + string->kept + string->left_out;
    uint32_t rest_size = string->before_size - string->kept - string->left_out;
    if (string->kept <= 16 && string->inserted <= 16 && rest_size <= 16 && to_end - to >= 56 &&
        end - string->inserted_at >= 16) {
        if (string->before_size != 0)
            copy_16(to, string->before);
        if (string->kept != string->before_size || string->inserted != 0) {
            copy_16(to + string->kept, string->inserted_at);
            copy_16(to + string->kept + string->inserted, rest);
        }
        if (tail != 0)
            store_be64(to + string->kept + string->inserted + rest_size,
                       string->rid_suffix << (64 - 8 * tail));
        return;
    }
    if (string->kept != 0)
        memcpy(to, string->before, string->kept);
    to += string->kept;
    if (string->inserted != 0)
        memcpy(to, string->inserted_at, string->inserted);
    to += string->inserted;
    if (rest_size != 0)
        memcpy(to, rest, rest_size);
    to += rest_size;
    for (uint32_t i = 0; i < tail; i++)
        to[i] = (uint8_t)(string->rid_suffix >> 8 * (tail - 1 - i));
}

/* take_strings -- fills a page's heap from its low end, and the slots; where the strings end in the
 * record; NULL: they are invalid. */
static const uint8_t *take_strings(tree_page *page, const uint8_t *at, const uint8_t *end,
                                   uint32_t tail) {
    uint8_t *to_end = (uint8_t *)page + page->capacity, *to = to_end - page->heap;
    tree_slot *slots = page_slots(page);
    stored_string string = {.before = to};
    for (uint32_t i = 0; i < page->count; i++) {
        if (at == end)
            return NULL;
        uint32_t code = *at++;
        string.kept = string.before_size;
        string.left_out = string.inserted = 0;
        string.inserted_at = at;
        if (!(code >= STORED_SAME_VALUE ? take_same(&at, end, code, &string)
                                        : take_other(&at, end, code, &string)))
            return NULL;
        uint32_t value_size = string.before_size - string.left_out + string.inserted;
        uint32_t size = value_size + tail;
        if (page_entry_size(size) > (size_t)(to_end - to))
            return NULL;
        slots[i].offset = (uint32_t)(to_end - to);
        to = page_put_size(to, size);
        put_string(to, to_end, &string, end, tail);
        slots[i].head = page_head(to, size);
        string.before = to;
        string.before_size = value_size;
        to += size;
    }
    return to == to_end ? at : NULL;
}

/* take_page -- makes the page that a record's front describes; its capacity is set. */
static const uint8_t *take_page(tree_page *page, const stored_front *front, const uint8_t *at,
                                const uint8_t *end) {
    uint32_t capacity = page->capacity;
    *page = (tree_page){.level = (uint8_t)front->level,
                        .count = front->count,
                        .prefix_size = front->prefix_size,
                        .heap = front->heap,
                        .capacity = capacity};
    if (front->prefix_size != 0)
        memcpy(page->bytes, front->prefix, front->prefix_size);
    memset(page->bytes + front->prefix_size, 0,
           page_align(front->prefix_size) - front->prefix_size);
    return take_strings(page, at, end, front->tail);
}

/* ---- Children ---- */

/* drop_children -- the handles that were made for the first of them. */
static void drop_children(tree_store *store, tree_inner *inner, uint32_t count) {
    while (count > 0)
        block_forget(store, inner->child[--count]);
}

void stored_drop(tree_store *store, tree_content *content) {
    if (content->level > 0)
        drop_children(store, inner_of(content), inner_children(inner_of(content)));
    content_free(store, content);
}

/* make_child -- the handle of a child. Errors: CORRUPT (a number that no block has, or no block has
 * so many entries), MEMORY. */
static tansu_status make_child(tree_store *store, tree_inner *inner, uint32_t slot, uint64_t number,
                               uint64_t count, tansu_error *error) {
    if (number == 0 || (number & NUMBER_PENDING) != 0 || count == 0 || count >> 48 != 0)
        return TANSU_E_CORRUPT;
    inner->count[slot] = count;
    inner->child[slot] = block_new(store, 0, NULL, number);
    return inner->child[slot] != NULL ? TANSU_OK : error_memory(error);
}

/* take_children -- all that is left of a record. */
static tansu_status take_children(tree_store *store, tree_inner *inner, const uint8_t *at,
                                  const uint8_t *end, tansu_error *error) {
    uint64_t number = 0;
    for (uint32_t i = 0; i < inner_children(inner); i++) {
        uint64_t more, count;
        bool taken = varint_take(&at, end, &more) && varint_take(&at, end, &count);
        number += taken ? unfold_sign(more) : 0;
        tansu_status status =
            taken ? make_child(store, inner, i, number, count, error) : TANSU_E_CORRUPT;
        if (status != TANSU_OK) {
            drop_children(store, inner, i);
            return status;
        }
    }
    if (at == end)
        return TANSU_OK;
    drop_children(store, inner, inner_children(inner));
    return TANSU_E_CORRUPT;
}

/* ---- Blocks ---- */

/* decode_deltas -- a block of the right level. */
static tansu_status decode_deltas(tree_store *store, const uint8_t *record, size_t size,
                                  tree_content **content, tansu_error *error) {
    const uint8_t *end = record + size;
    stored_front front;
    const uint8_t *at = take_front(record, end, &front);
    if (at == NULL || (front.level > 0 && front.count >= INNER_MAX))
        return TANSU_E_CORRUPT;
    tree_content *made = front.level == 0 ? content_leaf(store, page_bytes(&front))
                                          : content_inner(store, page_bytes(&front));
    if (made == NULL)
        return error_memory(error);
    made->level = front.level;
    tree_page *page = front.level == 0 ? leaf_page(made) : &inner_of(made)->keys;
    at = take_page(page, &front, at, end);
    tansu_status status = TANSU_OK;
    if (at == NULL || (front.level == 0 && at != end))
        status = TANSU_E_CORRUPT;
    else if (front.level > 0)
        status = take_children(store, inner_of(made), at, end, error);
    if (status == TANSU_OK)
        *content = made;
    else
        content_free(store, made);
    return status;
}

tansu_status stored_decode(tree_store *store, const uint8_t *record, size_t size, int level,
                           tree_content **content, const char **fault, tansu_error *error) {
    *fault = "the layout of a stored block is invalid";
    if (size == 0 || (record[0] & STORED_DELTAS) == 0)
        return TANSU_E_CORRUPT;
    int found = record[0] & ~STORED_DELTAS;
    if (level < 0 ? found >= TREE_MAX_HEIGHT : found != level) {
        *fault = "a stored block has the wrong level";
        return TANSU_E_CORRUPT;
    }
    return decode_deltas(store, record, size, content, error);
}

/* ---- Encoding blocks for a checkpoint ---- */

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
