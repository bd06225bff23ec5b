/*
 * query/match/match_value.h -- applying one test, or a condition, to one value.
 */
#ifndef TANSU_QUERY_MATCH_MATCH_VALUE_H
#define TANSU_QUERY_MATCH_MATCH_VALUE_H

#include "bson/document.h"
#include "query/match/match_context.h"
#include "query/match/matcher.h"

/* test_value -- whether a value passes a test, disregarding `negated` and the elements of an array.
 * A missing field is DOC_MISSING. `c` may be NULL for a missing value. */
bool test_value(const test *t, match_context *c, const doc_value *value);

/* test_special_value -- the same for tests that are marked `special`. */
bool test_special_value(const test *t, match_context *c, const doc_value *value);

/* test_find_operand -- the position of a value among the sorted operands; UINT32_MAX if absent. */
uint32_t test_find_operand(const test *t, const doc_value *value);

/* test_has_operand -- whether a value is among the sorted operands. */
static inline bool test_has_operand(const test *t, const doc_value *value) {
    return test_find_operand(t, value) != UINT32_MAX;
}

/* test_collate -- collates a value as the test compares it. False when memory is exhausted; the
 * context then has the error. */
bool test_collate(const test *t, match_context *c, const doc_value *value, doc_value *collated);

/* A condition on an array element or on a key. */
struct subcondition {
    matcher *matcher; /* on the fields of a document, or of an array by position; NULL: */
    node *fields;     /* what the matcher was compiled from */
    node *value;      /* on the value itself; the tests have no path */
};

/* subcondition_holds -- whether a value satisfies the condition. An array is one value. */
bool subcondition_holds(const subcondition *s, match_context *c, const doc_value *value);

/* subcondition_pulls -- whether $pull removes an element: operators on the value ask it as they ask
 * the value of a field, an array by its elements, too; a query on fields asks documents only. */
bool subcondition_pulls(const subcondition *s, match_context *c, const doc_value *value);

/* ---- $bitsAllSet, $bitsAnySet, $bitsAllClear and $bitsAnyClear ---- */

/* What is asked of the bits; the bits are those of a mask, or are listed by their positions. */
struct bit_test {
    bool all;                  /* of all of them; otherwise of at least one */
    bool set;                  /* whether they are set; otherwise whether they are clear */
    const uint8_t *mask;       /* the lowest byte first; NULL: `positions` */
    const uint32_t *positions; /* counted from the lowest bit, which is 0 */
    uint32_t count;            /* bytes of the mask, or positions */
};

/* bits_pass -- whether a value passes: a whole number, whose sign goes on beyond its 64 bits, or
 * binary data, which has no bit set beyond its end. Other values never do. */
bool bits_pass(const struct bit_test *t, match_context *c, const doc_value *value);

#endif
