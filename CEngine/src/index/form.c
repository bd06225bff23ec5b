/*
 * index/form.c -- see form.h.
 *
 * A form is 1 + the number types, base 3 with the first number's digit lowest, and above them the rank
 * of the order among all orders of so many values (0: that of the index's paths).
 */
#include "index/form.h"

#include "index/tail.h"

#include <math.h>

/* Orders of more values are not told apart: they have too many. */
#define MAX_ORDERED 4

static const uint8_t number_types[3] = {DOC_INT32, DOC_INT64, DOC_DOUBLE};

/* What a type says: 0: not all of a value is in its key; PLAIN: all; otherwise 1 + the digit of a number
 * type. */
enum { PLAIN = 4 };
static const uint8_t type_says[256] = {
    [DOC_INT32] = 1,      [DOC_INT64] = 2,         [DOC_DOUBLE] = 3,      [DOC_STRING] = PLAIN,
    [DOC_BINARY] = PLAIN, [DOC_OID] = PLAIN,       [DOC_BOOL] = PLAIN,    [DOC_DATE] = PLAIN,
    [DOC_NULL] = PLAIN,   [DOC_TIMESTAMP] = PLAIN, [DOC_MIN_KEY] = PLAIN, [DOC_MAX_KEY] = PLAIN,
};

/* order_rank -- among the orders of so many values, sorted as words: for each value, how many of
 * those behind it in the index stand before it in the document. */
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

/* index_form -- see form.h. */
uint32_t index_form(const doc_value *values, uint32_t count) {
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
        if (state >= INDEX_FORM_MASK)
            return 0;
    }
    if (!rising && count > MAX_ORDERED)
        return 0;
    if (!rising)
        rank = order_rank(values, count);
    if (rank > INDEX_FORM_MASK / factor)
        return 0;
    state += rank * factor;
    return state < INDEX_FORM_MASK ? state + 1 : 0;
}

/* form_number -- see form.h. */
uint8_t form_number(form_reader *reader) {
    uint32_t digit = reader->state % 3;
    reader->state /= 3;
    return number_types[digit];
}

/* form_order -- see form.h. The places that are still free are taken, each in its turn. */
bool form_order(form_reader *reader, uint32_t count, uint8_t *order) {
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
        uint32_t place = 0;
        for (uint32_t skip = before[i]; taken[place] || skip > 0; place++)
            skip -= !taken[place];
        taken[place] = true;
        order[place] = (uint8_t)i;
    }
    return rank == 0;
}
