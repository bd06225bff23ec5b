/*
 * index/type_tag.h -- what an entry's key does not record of its values: the types of its numbers,
 * and the order of the values in the document.
 *
 * With its type tag an entry determines its values byte by byte, so that a projection onto an
 * index's paths need not read the document (covering index). Tag 0 means that it does not: the
 * document has an array on a path, or nothing there; a value is of a type that keys do not
 * distinguish from others (decimal128, NaN, -0, symbol, undefined), or is composed of others; or
 * there are more combinations of number types and orders than the bits of a tag can name.
 */
#ifndef TANSU_INDEX_TYPE_TAG_H
#define TANSU_INDEX_TYPE_TAG_H

#include "bson/document.h"

/* type_tag_make -- of an entry made from these values of one document, one a path. */
uint32_t type_tag_make(const doc_value *values, uint32_t count);

/* Decoding a type tag that is not 0: what remains of it. */
typedef struct type_tag_reader {
    uint32_t state;
} type_tag_reader;

static inline type_tag_reader type_tag_read(uint32_t tag) {
    return (type_tag_reader){tag - 1};
}

/* type_tag_number -- the BSON type of the next number among the values. */
uint8_t type_tag_number(type_tag_reader *reader);

/* type_tag_order -- after all numbers are read: the numbers of the paths in the order of their
 * values in the document. False when no type tag has that value. */
bool type_tag_order(type_tag_reader *reader, uint32_t count, uint8_t *order);

#endif
