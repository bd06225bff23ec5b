/*
 * index/tree/tree_page.h -- the packed block of sorted byte strings that leaves consist of and that
 * inner blocks keep their separators in. Private to index/tree.
 *
 * A page is one piece of memory (the block store has another form of it: index/tree/tree_stored.h):
 *
 *   head | prefix, padded to 4 | slot 0 … slot count-1 | gap | heap
 *
 * The common prefix of all strings is stored once; the heap holds the rest of each (suffix), after
 * its length: one byte below 128, otherwise four bytes, big-endian, with the top bit set. A slot
 * has the suffix's first four bytes as a number, so that a binary search touches the heap on ties
 * only, and the suffix's offset, counted back from the page's end: a page's gap can be removed or
 * enlarged without touching a slot.
 */
#ifndef TANSU_INDEX_TREE_TREE_PAGE_H
#define TANSU_INDEX_TREE_TREE_PAGE_H

#include "tansu.h"
#include "util/bytes.h"
#include <stdbool.h>

typedef struct tree_slot {
    uint32_t head;   /* first four bytes of the suffix, big-endian, missing ones zero */
    uint32_t offset; /* of the length byte, counted back from the page's end */
} tree_slot;

typedef struct tree_page {
    uint8_t level; /* 0 is a leaf */
    uint8_t reserved[3];
    uint32_t count;       /* strings */
    uint32_t prefix_size; /* bytes that all strings begin with */
    uint32_t heap;        /* bytes of the heap */
    uint32_t dead;        /* of these, bytes that no slot refers to any more */
    uint32_t capacity;    /* bytes of the page, head and gap included */
    uint8_t bytes[];
} tree_page;

/* A string in two pieces, as it lies in a page. */
typedef struct tree_ref {
    const uint8_t *prefix;
    const uint8_t *suffix;
    uint32_t prefix_size;
    uint32_t suffix_size;
} tree_ref;

/* page_align -- rounds a prefix's size up to where the slots begin. */
static inline uint32_t page_align(uint32_t size) {
    return (size + 3) & ~(uint32_t)3;
}

/* page_slots -- the first slot. */
static inline tree_slot *page_slots(const tree_page *page) {
    return (tree_slot *)(void *)(page->bytes + page_align(page->prefix_size));
}

/* page_suffix -- where the suffix of a slot lies, and its size. */
static inline const uint8_t *page_suffix(const tree_page *page, uint32_t slot, uint32_t *size) {
    const uint8_t *at = (const uint8_t *)page + page->capacity - page_slots(page)[slot].offset;
    if (at[0] < 0x80) {
        *size = at[0];
        return at + 1;
    }
    *size = load_be32(at) & 0x7FFFFFFF;
    return at + 4;
}

/* page_put_size -- writes the length that precedes a suffix; where the suffix goes. */
static inline uint8_t *page_put_size(uint8_t *at, uint32_t size) {
    if (size < 0x80) {
        *at = (uint8_t)size;
        return at + 1;
    }
    store_be32(at, size | 0x80000000);
    return at + 4;
}

/* page_head -- the first four bytes of a suffix as a number, missing ones zero. */
static inline uint32_t page_head(const uint8_t *suffix, size_t size) {
    if (size >= 4)
        return load_be32(suffix);
    uint32_t head = 0;
    for (size_t i = 0; i < size; i++)
        head |= (uint32_t)suffix[i] << (24 - 8 * i);
    return head;
}

/* page_entry_size -- heap bytes of a suffix with its length. */
static inline uint32_t page_entry_size(uint32_t suffix_size) {
    return suffix_size + (suffix_size < 0x80 ? 1 : 4);
}

/* page_front -- bytes up to the end of the slots. */
static inline uint32_t page_front(const tree_page *page) {
    return (uint32_t)sizeof(tree_page) + page_align(page->prefix_size) +
           page->count * (uint32_t)sizeof(tree_slot);
}

/* page_live -- bytes that the page needs without gap and dead heap. */
static inline uint32_t page_live(const tree_page *page) {
    return page_front(page) + page->heap - page->dead;
}

/* page_ref -- a string of the page. */
static inline tree_ref page_ref(const tree_page *page, uint32_t slot) {
    tree_ref ref = {page->bytes, NULL, page->prefix_size, 0};
    ref.suffix = page_suffix(page, slot, &ref.suffix_size);
    return ref;
}

/* ref_size -- bytes of both pieces. */
static inline uint32_t ref_size(const tree_ref *ref) {
    return ref->prefix_size + ref->suffix_size;
}

/* page_search -- the first slot whose string is not less than the key; *exact: it is the key. */
uint32_t page_search(const tree_page *page, const uint8_t *key, size_t size, bool *exact);

/* page_compare -- the string in a slot against a key: <0, 0, >0. */
int page_compare(const tree_page *page, uint32_t slot, const uint8_t *key, size_t size);

/* page_begins_with -- whether the string in a slot begins with the bytes. */
bool page_begins_with(const tree_page *page, uint32_t slot, const uint8_t *bytes, size_t size);

/* page_fits_prefix -- the key begins with the page's prefix. */
static inline bool page_fits_prefix(const tree_page *page, const uint8_t *key, size_t size) {
    return size >= page->prefix_size && bytes_equal(page->bytes, key, page->prefix_size);
}

/* page_has_capacity -- the key can be inserted as the page is. */
static inline bool page_has_capacity(const tree_page *page, const uint8_t *key, size_t size) {
    return page_fits_prefix(page, key, size) &&
           page->capacity - page_front(page) - page->heap >=
               sizeof(tree_slot) + page_entry_size((uint32_t)size - page->prefix_size);
}

/* page_insert -- puts a key for which the capacity is reserved before a slot. */
void page_insert(tree_page *page, uint32_t slot, const uint8_t *key, size_t size);

/* page_remove -- takes a slot out. */
void page_remove(tree_page *page, uint32_t slot);

/* page_copy -- makes `to` the same page with another capacity, which must hold front and heap. */
void page_copy(tree_page *to, uint32_t capacity, const tree_page *from);

/* page_measure -- bytes that a page of these sorted strings takes; *prefix_size: what they
 * share. */
uint64_t page_measure(const tree_ref *refs, uint32_t count, uint32_t *prefix_size);

/* page_fill -- makes a page of sorted strings that page_measure() found to fit. */
void page_fill(tree_page *page, uint32_t capacity, uint8_t level, const tree_ref *refs,
               uint32_t count, uint32_t prefix_size);

/* page_refs -- stores `count` strings from `slot` on. */
void page_refs(const tree_page *page, uint32_t slot, uint32_t count, tree_ref *refs);

/* ref_common -- how many bytes two strings share at their beginning. */
uint32_t ref_common(const tree_ref *a, const tree_ref *b);

/* ref_less -- a is less than b. */
bool ref_less(const tree_ref *a, const tree_ref *b);

/* ref_copy -- writes `size` bytes of a string from `from` on. */
void ref_copy(uint8_t *to, const tree_ref *ref, uint32_t from, uint32_t size);

/* page_rid -- of the suffix (index/tree/rid_suffix.h) that a string ends with. */
uint64_t page_rid(const tree_page *page, uint32_t slot);

#endif
