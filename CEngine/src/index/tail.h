/*
 * index/tail.h -- the last five bytes of every index entry: the document's number, and in the low
 * bits the entry's form (index/form.h). Part index; calls nothing.
 *
 * The number stands before the form, so that entries of equal values lie in insertion order. That a
 * collection can number 2^35 documents in its life is no bound that anybody meets: the places of
 * so many take 256 GiB.
 */
#ifndef TANSU_INDEX_TAIL_H
#define TANSU_INDEX_TAIL_H

#include <stdint.h>

#define INDEX_TAIL_SIZE 5
#define INDEX_FORM_BITS 5
#define INDEX_FORM_MASK ((1u << INDEX_FORM_BITS) - 1)
#define INDEX_MAX_DOCNO (((uint64_t)1 << 35) - 1)

/* tail_docno -- of an entry's last five bytes. */
static inline uint64_t tail_docno(const uint8_t *tail) {
    uint64_t number = (uint64_t)tail[0] << 32 | (uint64_t)tail[1] << 24 | (uint64_t)tail[2] << 16 |
                      (uint64_t)tail[3] << 8 | tail[4];
    return number >> INDEX_FORM_BITS;
}

/* tail_form -- likewise. */
static inline uint32_t tail_form(const uint8_t *tail) {
    return tail[4] & INDEX_FORM_MASK;
}

/* tail_put -- writes the five bytes. */
static inline void tail_put(uint8_t *tail, uint64_t docno, uint32_t form) {
    uint64_t number = docno << INDEX_FORM_BITS | form;
    tail[0] = (uint8_t)(number >> 32);
    tail[1] = (uint8_t)(number >> 24);
    tail[2] = (uint8_t)(number >> 16);
    tail[3] = (uint8_t)(number >> 8);
    tail[4] = (uint8_t)number;
}

#endif
