/*
 * query/expression/operators_bitwise.c -- and, or, exclusive or and not of the bits of whole
 * numbers.
 */
#include "query/expression/expression_internal.h"

/* whole_argument -- the value of an operand, an int32 or int64; or *null is set. */
static tansu_status whole_argument(evaluation *ev, const expression *e, uint32_t i, int64_t *whole,
                                   bool *wide, bool *null) {
    doc_value value;
    tansu_status status = argument(ev, e, i, &value);
    if (status != TANSU_OK)
        return status;
    *null = is_nullish(&value);
    if (value.type == DOC_INT64) {
        *whole = doc_int64(&value);
        *wide = true;
    } else if (value.type == DOC_INT32) {
        *whole = doc_int32(&value);
    } else if (!*null) {
        return evaluation_error(ev, e, "Takes int32 and int64 numbers, not a value of type %s",
                                type_name(&value));
    }
    return TANSU_OK;
}

/* result_whole -- an int64 if one operand was one. */
static tansu_status result_whole(evaluation *ev, int64_t whole, bool wide, doc_value *result) {
    return wide ? result_int64(ev, whole, result) : result_int32(ev, (int32_t)whole, result);
}

enum bit_operation { BITS_AND, BITS_OR, BITS_XOR };

static tansu_status combine_bits(evaluation *ev, const expression *e, doc_value *result) {
    enum bit_operation operation = (enum bit_operation)e->op->variant;
    int64_t bits = operation == BITS_AND ? -1 : 0, whole = 0;
    bool wide = false, null;
    for (uint32_t i = 0; i < e->count; i++) {
        tansu_status status = whole_argument(ev, e, i, &whole, &wide, &null);
        if (status != TANSU_OK)
            return status;
        if (null)
            return result_null(result);
        bits = operation == BITS_AND  ? bits & whole
               : operation == BITS_OR ? bits | whole
                                      : bits ^ whole;
    }
    return result_whole(ev, bits, wide, result);
}

static tansu_status bit_not(evaluation *ev, const expression *e, doc_value *result) {
    bool wide = false, null;
    int64_t whole = 0;
    tansu_status status = whole_argument(ev, e, 0, &whole, &wide, &null);
    if (status != TANSU_OK)
        return status;
    return null ? result_null(result) : result_whole(ev, ~whole, wide, result);
}

const operator_info operators_bitwise[] = {
    {.name = "$bitAnd", .evaluate = combine_bits, .max = ANY_COUNT, .variant = BITS_AND},
    {.name = "$bitOr", .evaluate = combine_bits, .max = ANY_COUNT, .variant = BITS_OR},
    {.name = "$bitXor", .evaluate = combine_bits, .max = ANY_COUNT, .variant = BITS_XOR},
    {.name = "$bitNot", .evaluate = bit_not, .min = 1, .max = 1},
    {.name = NULL},
};
