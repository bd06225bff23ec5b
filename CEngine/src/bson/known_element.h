/*
 * bson/known_element.h -- an element of a document before, which the next is expected to have too,
 * and how often to go on expecting it.
 *
 * Its type and key are compared as a whole, in words: nothing looks for the end of a key, or asks
 * what the size of such a value follows from.
 */
#ifndef TANSU_BSON_KNOWN_ELEMENT_H
#define TANSU_BSON_KNOWN_ELEMENT_H

#include "bson/document.h"

#include <stdbool.h>
#include <stdint.h>

/* ---- Back-off ---- */

/*
 * Exponential back-off for optional fast paths (skips 1, 3, 7 … 64 attempts after
 * failures).
 */

#define BACKOFF_MAX_WAIT 64

/* Zeroed, it has nothing to wait for. */
typedef struct backoff {
    uint32_t wait;  /* occasions that are still to be passed over */
    uint32_t waits; /* how many there are after the next failure */
} backoff;

/* backoff_passes_over -- whether this occasion is to be passed over. */
static inline bool backoff_passes_over(backoff *b) {
    if (b->wait == 0)
        return false;
    b->wait--;
    return true;
}

/* backoff_failed -- twice as many occasions are passed over as after the last failure. */
static inline void backoff_failed(backoff *b) {
    b->wait = b->waits;
    b->waits = b->waits < BACKOFF_MAX_WAIT ? b->waits * 2 + 1 : b->waits;
}

/* backoff_succeeded -- half as many will be. */
static inline void backoff_succeeded(backoff *b) {
    b->waits /= 2;
}

/* ---- Elements ---- */

/* Bytes of type and key that are in the struct; whoever has one keeps the others. */
#define KNOWN_ELEMENT_WORD 8

typedef struct known_element {
    uint64_t word;       /* the type, the key and its NUL, as far as there is room; then zeros */
    uint64_t mask;       /* which of its bytes are compared */
    uint32_t least;      /* bytes that must follow up to the NUL that ends the document, so that all
                            that is read is in it; UINT32_MAX: nothing fits */
    uint32_t own_mask;   /* of the length that the value begins with; 0: it begins with none */
    uint32_t size;       /* of the type, the key and its NUL */
    uint8_t fixed;       /* bytes of the value in addition to that length */
    uint8_t least_value; /* of a valid value */
} known_element;

/* known_element_of -- the element that an iterator is at. Nothing fits one whose size does not
 * follow from its type and a length (DOC_SIZE_ODD). */
static inline known_element known_element_of(const doc_iter *iter) {
    uint8_t rule = doc_value_sizes[iter->value.type];
    bool prefixed = (rule & DOC_SIZE_PREFIXED) != 0;
    uint32_t size = iter->key_size + 2;
    /* Eight bytes are read of type and key, and four of the value; one of them may be the NUL after
     * the last element. */
    uint32_t least = size + (prefixed ? 5 : 3);
    known_element e = {.mask = size >= 8 ? UINT64_MAX : UINT64_MAX >> (64 - 8 * size),
                       .least = least < 7 ? 7 : least,
                       .own_mask = prefixed ? UINT32_MAX : 0,
                       .size = size,
                       .fixed = rule & DOC_SIZE_FIXED,
                       .least_value = prefixed ? 5 : 0};
    if ((rule & DOC_SIZE_ODD) != 0)
        e.least = UINT32_MAX;
    memcpy(&e.word, iter->value.data - size, size < 8 ? size : 8);
    return e;
}

/* known_element_rest -- how many bytes of type and key are not in the struct. */
static inline uint32_t known_element_rest(const known_element *e) {
    return e->size > KNOWN_ELEMENT_WORD ? e->size - KNOWN_ELEMENT_WORD : 0;
}

/* known_element_fits -- whether the element at `at`, where `left` bytes follow up to the NUL that
 * ends the document, has this type and key and a value that is in the document, by the rules of
 * doc_iter_next(). `rest`: what the struct has no room for. *size: of the value. */
static inline bool known_element_fits(const known_element *e, const uint8_t *rest,
                                      const uint8_t *at, uint64_t left, uint64_t *size) {
    if (left < e->least || ((load_u64(at) ^ e->word) & e->mask) != 0)
        return false;
    if (e->size > KNOWN_ELEMENT_WORD &&
        !bytes_equal(at + KNOWN_ELEMENT_WORD, rest, e->size - KNOWN_ELEMENT_WORD))
        return false;
    *size = (uint64_t)(load_u32(at + e->size) & e->own_mask) + e->fixed;
    return *size >= e->least_value && e->size + *size <= left;
}

#endif
