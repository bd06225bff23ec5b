/*
 * index/type_tag.c -- encoding and decoding type tags.
 *
 * A tag is 1 + the number types, base 3 with the first number's digit lowest, and above them the
 * rank of the order among all orders of that many values (0: that of the index's paths).
 */
#include "index/type_tag.h"

#include "index/tree/rid_suffix.h"

#include <math.h>

/* Orders of more values are not distinguished: there are too many. */
#define MAX_ORDERED 4

static const uint8_t number_types[3] = {DOC_INT32, DOC_INT64, DOC_DOUBLE};

/* What a type says: 0: not all of a value is in its key; PLAIN: all; otherwise 1 + the digit of a
 * number type. */
enum { PLAIN = 4 };
static const uint8_t type_says[256] = {
    [DOC_INT32] = 1,      [DOC_INT64] = 2,         [DOC_DOUBLE] = 3,      [DOC_STRING] = PLAIN,
    [DOC_BINARY] = PLAIN, [DOC_OID] = PLAIN,       [DOC_BOOL] = PLAIN,    [DOC_DATE] = PLAIN,
    [DOC_NULL] = PLAIN,   [DOC_TIMESTAMP] = PLAIN, [DOC_MIN_KEY] = PLAIN, [DOC_MAX_KEY] = PLAIN,
};

/* order_rank -- among the orders of that many values, sorted as words: for each value, how many of
 * those after it in the index stand before it in the document. */
static uint32_t order_rank(const doc_value *values, uint32_t count) {
    uint32_t rank = 0;
    for (uint32_t i = 0; i + 1 < count; i++) {
        uint32_t before = 0;
        for (uint32_t k = i + 1; k < count; k++)
            before += values[k].data < values[i].data;
        rank = rank * (count - i) + before;
    }
    return rank;
}

/* is_odd -- NaN, whose bits are lost, and -0, which is as 0. */
static inline bool is_odd(double number) {
    return isnan(number) || (number == 0 && signbit(number));
}

uint32_t type_tag_make(const doc_value *values, uint32_t count) {
    uint32_t state = 0, factor = 1, rank = 0;
    const uint8_t *before = NULL;
    bool rising = true;
    for (uint32_t i = 0; i < count; i++) {
        uint8_t says = type_says[values[i].type];
        if (says == 0 || (says == 3 && is_odd(doc_double(&values[i]))))
            return 0;
        rising = rising && values[i].data > before;
        before = values[i].data;
        if (says == PLAIN)
            continue;
        state += factor * (says - 1u);
        factor *= 3;
        if (state >= TYPE_TAG_MASK)
            return 0;
    }
    if (!rising && count > MAX_ORDERED)
        return 0;
    if (!rising)
        rank = order_rank(values, count);
    if (rank > TYPE_TAG_MASK / factor)
        return 0;
    state += rank * factor;
    return state < TYPE_TAG_MASK ? state + 1 : 0;
}

uint8_t type_tag_number(type_tag_reader *reader) {
    uint32_t digit = reader->state % 3;
    reader->state /= 3;
    return number_types[digit];
}

/* The locations that are still free are taken, one after the other. */
bool type_tag_order(type_tag_reader *reader, uint32_t count, uint8_t *order) {
    uint32_t before[MAX_ORDERED] = {0}, rank = reader->state;
    if (rank == 0) {
        for (uint32_t i = 0; i < count; i++)
            order[i] = (uint8_t)i;
        return true;
    }
    if (count > MAX_ORDERED)
        return false;
    for (uint32_t i = count - 1; i-- > 0;) {
        before[i] = rank % (count - i);
        rank /= count - i;
    }
    bool taken[MAX_ORDERED] = {false};
    for (uint32_t i = 0; i < count; i++) {
        uint32_t location = 0;
        for (uint32_t skip = before[i]; taken[location] || skip > 0; location++)
            skip -= !taken[location];
        taken[location] = true;
        order[location] = (uint8_t)i;
    }
    return rank == 0;
}
