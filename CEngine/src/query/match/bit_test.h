/*
 * query/match/bit_test.h -- $bitsAllSet, $bitsAnySet, $bitsAllClear and $bitsAnyClear.
 */
#ifndef TANSU_QUERY_MATCH_BIT_TEST_H
#define TANSU_QUERY_MATCH_BIT_TEST_H

#include "query/match/match_context.h"

#include "bson/document.h"

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
