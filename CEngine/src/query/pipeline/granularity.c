/*
 * query/pipeline/granularity.c -- rounding to preferred numbers.
 */
#include "query/pipeline/granularity.h"

#include "query/util/numeric_sum.h"

#include <math.h>
#include <string.h>

struct granularity {
    const char *name;
    const uint16_t *series; /* ascending, from 10 or 100 to less than ten times as much; NULL: the
                               powers of two */
    uint32_t count;
};

static const uint16_t series_r5[] = {10, 16, 25, 40, 63};
static const uint16_t series_r10[] = {100, 125, 160, 200, 250, 315, 400, 500, 630, 800};
static const uint16_t series_r20[] = {100, 112, 125, 140, 160, 180, 200, 224, 250, 280,
                                      315, 355, 400, 450, 500, 560, 630, 710, 800, 900};
static const uint16_t series_r40[] = {100, 106, 112, 118, 125, 132, 140, 150, 160, 170,
                                      180, 190, 200, 212, 224, 236, 250, 265, 280, 300,
                                      315, 335, 355, 375, 400, 425, 450, 475, 500, 530,
                                      560, 600, 630, 670, 710, 750, 800, 850, 900, 950};
static const uint16_t series_r80[] = {
    100, 103, 106, 109, 112, 115, 118, 122, 125, 128, 132, 136, 140, 145, 150, 155,
    160, 165, 170, 175, 180, 185, 190, 195, 200, 206, 212, 218, 224, 230, 236, 243,
    250, 258, 265, 272, 280, 290, 300, 307, 315, 325, 335, 345, 355, 365, 375, 387,
    400, 412, 425, 437, 450, 462, 475, 487, 500, 515, 530, 545, 560, 580, 600, 615,
    630, 650, 670, 690, 710, 730, 750, 775, 800, 825, 850, 875, 900, 925, 950, 975};
static const uint16_t series_1_2_5[] = {10, 20, 50};
static const uint16_t series_e6[] = {10, 15, 22, 33, 47, 68};
static const uint16_t series_e12[] = {10, 12, 15, 18, 22, 27, 33, 39, 47, 56, 68, 82};
static const uint16_t series_e24[] = {10, 11, 12, 13, 15, 16, 18, 20, 22, 24, 27, 30,
                                      33, 36, 39, 43, 47, 51, 56, 62, 68, 75, 82, 91};
static const uint16_t series_e48[] = {100, 105, 110, 115, 121, 127, 133, 140, 147, 154, 162, 169,
                                      178, 187, 196, 205, 215, 226, 237, 249, 261, 274, 287, 301,
                                      316, 332, 348, 365, 383, 402, 422, 442, 464, 487, 511, 536,
                                      562, 590, 619, 649, 681, 715, 750, 787, 825, 866, 909, 953};
static const uint16_t series_e96[] = {
    100, 102, 105, 107, 110, 113, 115, 118, 121, 124, 127, 130, 133, 137, 140, 143,
    147, 150, 154, 158, 162, 165, 169, 174, 178, 182, 187, 191, 196, 200, 205, 210,
    215, 221, 226, 232, 237, 243, 249, 255, 261, 267, 274, 280, 287, 294, 301, 309,
    316, 324, 332, 340, 348, 357, 365, 374, 383, 392, 402, 412, 422, 432, 442, 453,
    464, 475, 487, 499, 511, 523, 536, 549, 562, 576, 590, 604, 619, 634, 649, 665,
    681, 698, 715, 732, 750, 768, 787, 806, 825, 845, 866, 887, 909, 931, 953, 976};
static const uint16_t series_e192[] = {
    100, 101, 102, 104, 105, 106, 107, 109, 110, 111, 113, 114, 115, 117, 118, 120, 121, 123,
    124, 126, 127, 129, 130, 132, 133, 135, 137, 138, 140, 142, 143, 145, 147, 149, 150, 152,
    154, 156, 158, 160, 162, 164, 165, 167, 169, 172, 174, 176, 178, 180, 182, 184, 187, 189,
    191, 193, 196, 198, 200, 203, 205, 208, 210, 213, 215, 218, 221, 223, 226, 229, 232, 234,
    237, 240, 243, 246, 249, 252, 255, 258, 261, 264, 267, 271, 274, 277, 280, 284, 287, 291,
    294, 298, 301, 305, 309, 312, 316, 320, 324, 328, 332, 336, 340, 344, 348, 352, 357, 361,
    365, 370, 374, 379, 383, 388, 392, 397, 402, 407, 412, 417, 422, 427, 432, 437, 442, 448,
    453, 459, 464, 470, 475, 481, 487, 493, 499, 505, 511, 517, 523, 530, 536, 542, 549, 556,
    562, 569, 576, 583, 590, 597, 604, 612, 619, 626, 634, 642, 649, 657, 665, 673, 681, 690,
    698, 706, 715, 723, 732, 741, 750, 759, 768, 777, 787, 796, 806, 816, 825, 835, 845, 856,
    866, 876, 887, 898, 909, 920, 931, 942, 953, 965, 976, 988};

#define SERIES(name, list) \
    { (name), (list), sizeof(list) / sizeof *(list) }

static const granularity all[] = {
    SERIES("R5", series_r5),   SERIES("R10", series_r10), SERIES("R20", series_r20),
    SERIES("R40", series_r40), SERIES("R80", series_r80), SERIES("1-2-5", series_1_2_5),
    SERIES("E6", series_e6),   SERIES("E12", series_e12), SERIES("E24", series_e24),
    SERIES("E48", series_e48), SERIES("E96", series_e96), SERIES("E192", series_e192),
    {"POWERSOF2", NULL, 0},
};

const granularity *granularity_find(const char *name) {
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (strcmp(all[i].name, name) == 0)
            return &all[i];
    }
    return NULL;
}

/* ---- Doubles ---- */

/* product -- as a double, where a processor computes with more digits, too. */
static double product(double first, double multiplier) {
    return (double)(first * multiplier);
}

/* up -- the next number above a positive one. */
static double up(const granularity *g, double number) {
    double multiplier = 1, first = g->series[0], last = g->series[g->count - 1];
    while (number >= product(last, multiplier)) {
        multiplier *= 10;
        if (number < product(first, multiplier))
            return product(first, multiplier);
    }
    while (number < product(first, multiplier)) {
        double before = product(first, multiplier);
        multiplier /= 10;
        if (number >= product(last, multiplier))
            return before;
    }
    uint32_t i = 0;
    while (i + 1 < g->count && number >= product(g->series[i], multiplier))
        i++;
    return product(g->series[i], multiplier);
}

/* down -- the next number below a positive one. */
static double down(const granularity *g, double number) {
    double multiplier = 1, first = g->series[0], last = g->series[g->count - 1];
    while (number <= product(first, multiplier)) {
        /* Below all doubles there is zero. */
        if (multiplier == 0)
            return 0;
        multiplier /= 10;
        if (number > product(last, multiplier))
            return product(last, multiplier);
    }
    while (number > product(last, multiplier)) {
        double before = product(last, multiplier);
        multiplier *= 10;
        if (number <= product(first, multiplier))
            return before;
    }
    uint32_t i = g->count - 1;
    while (i > 0 && number <= product(g->series[i], multiplier))
        i--;
    return product(g->series[i], multiplier);
}

/* power -- the next power of two above or below a positive number. */
static double power(double number, bool above) {
    int exponent;
    double fraction = frexp(number, &exponent);
    /* The number is fraction * 2^exponent, the fraction at least a half. */
    if (above)
        return ldexp(1, exponent);
    return ldexp(1, fraction == 0.5 ? exponent - 2 : exponent - 1);
}

/* ---- Decimals ---- */

/* put_series -- a number of a series, times a power of ten. */
static void put_series(uint16_t digits, int32_t exponent, number *result) {
    const decimal d = {.coefficient = u128_of(digits), .exponent = exponent};
    number_decimal(&d, result);
}

/* step_decimal -- the next number above or below a positive decimal128. */
static void step_decimal(const granularity *g, const doc_value *value, bool above, number *result) {
    decimal d;
    uint8_t digits[40];
    decimal_read(&d, value->data);
    /* The power of ten with which the series spans the number. */
    int32_t size = (int32_t)decimal_digits(d.coefficient, digits);
    int32_t exponent = d.exponent + size - (g->series[0] == 10 ? 2 : 3);
    if (exponent < DECIMAL_MIN_EXPONENT)
        exponent = DECIMAL_MIN_EXPONENT;
    if (above) {
        for (uint32_t i = 0; i < g->count; i++) {
            put_series(g->series[i], exponent, result);
            const doc_value at = number_value(result);
            if (number_compare(&at, value) > 0)
                return;
        }
        put_series(g->series[0], exponent + 1, result);
        return;
    }
    for (uint32_t i = g->count; i-- > 0;) {
        put_series(g->series[i], exponent, result);
        const doc_value at = number_value(result);
        if (number_compare(&at, value) < 0)
            return;
    }
    if (exponent == DECIMAL_MIN_EXPONENT)
        put_series(0, exponent, result);
    else
        put_series(g->series[g->count - 1], exponent - 1, result);
}

/* ---- Both ---- */

/* step -- the next number above or below a number. */
static void step(const granularity *g, const doc_value *value, bool above, number *result) {
    static const doc_value zero = {(const uint8_t *)"\0\0\0", 4, DOC_INT32};
    if (number_compare(value, &zero) == 0) {
        memcpy(result->bytes, value->data, value->size);
        result->size = (uint8_t)value->size;
        result->type = value->type;
    } else if (value->type != DOC_DECIMAL128) {
        double number = number_to_double(value);
        number_double(!g->series ? power(number, above)
                      : above    ? up(g, number)
                                 : down(g, number),
                      result);
    } else if (g->series) {
        step_decimal(g, value, above, result);
    } else {
        decimal d;
        decimal_from_double(power(number_to_double(value), above), &d);
        number_decimal(&d, result);
    }
}

void granularity_up(const granularity *g, const doc_value *value, number *result) {
    step(g, value, true, result);
}

void granularity_down(const granularity *g, const doc_value *value, number *result) {
    step(g, value, false, result);
}
