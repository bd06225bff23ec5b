/*
 * index/form.h -- what an entry's key does not tell of the values that it was made from: the types of
 * its numbers, and the order in which the values stand in the document. Part index; may call base.
 *
 * With its form an entry gives back the values byte by byte, so that a projection onto an index's
 * paths need not read the document. Form 0 says that it can't: the document has an array on a path, or
 * nothing there; a value is of a kind that keys do not tell from others (decimal128, NaN, -0,
 * symbol, undefined), or made of others; or there are more numbers in more orders than the bits of
 * a form can name.
 */
#ifndef TANSU_INDEX_FORM_H
#define TANSU_INDEX_FORM_H

#include "base/doc.h"

/* index_form -- of an entry made from these values of one document, one a path. */
uint32_t index_form(const doc_value *values, uint32_t count);

/* Reading a form that is not 0: what is left of it. */
typedef struct form_reader {
    uint32_t state;
} form_reader;

static inline form_reader form_read(uint32_t form) {
    return (form_reader){form - 1};
}

/* form_number -- the BSON type of the next number among the values. */
uint8_t form_number(form_reader *reader);

/* form_order -- when all numbers are read: the numbers of the paths as their values stand in the
 * document. False when no form says so. */
bool form_order(form_reader *reader, uint32_t count, uint8_t *order);

#endif
