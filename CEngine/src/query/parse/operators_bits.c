/*
 * query/parse/operators_bits.c -- parses $bitsAllSet, $bitsAnySet, $bitsAllClear and $bitsAnyClear.
 */
#include "query/match/bit_test.h"
#include "query/parse/selector_parser.h"
#include "util/error.h"

static const char wrong[] =
    "Operand must be a whole number from 0 to 9223372036854775807, binary data, or an array of the "
    "positions of bits, each from 0 to 2147483647";

/* read_mask -- the bits of a number, or of binary data. */
static tansu_status read_mask(parser *p, bit_test *t, const char *name, const doc_value *operand) {
    int64_t number;
    if (operand->type == DOC_BINARY) {
        t->mask = operand->data + 5;
        t->count = operand->size - 5;
        return TANSU_OK;
    }
    if (!doc_is_number(operand) || !doc_as_int64(operand, &number) || number < 0)
        return parse_bad(p, name, wrong);
    uint8_t *mask = arena_alloc(&p->q->memory, 8);
    if (!mask)
        return error_memory(p->error);
    store_u64(mask, (uint64_t)number);
    t->mask = mask;
    t->count = 8;
    return TANSU_OK;
}

/* read_positions -- the bits of a list. */
static tansu_status read_positions(parser *p, bit_test *t, const char *name,
                                   const doc_value *operand, uint32_t count) {
    doc_iter iter;
    uint32_t *positions = arena_alloc(&p->q->memory, ((size_t)count + 1) * sizeof *positions);
    if (!positions)
        return error_memory(p->error);
    for (bool valid = doc_iter_value(&iter, operand); valid && doc_iter_next(&iter);) {
        int64_t position;
        if (!doc_is_number(&iter.value) || !doc_as_int64(&iter.value, &position) || position < 0 ||
            position > INT32_MAX)
            return parse_bad(p, name, wrong);
        positions[t->count++] = (uint32_t)position;
    }
    t->positions = positions;
    return TANSU_OK;
}

tansu_status parse_bits(parser *p, node *parent, const char *name, const doc_value *operand) {
    test *t;
    uint32_t count;
    tansu_status status = parse_add_test(p, parent, TEST_BITS, name, &t);
    if (status != TANSU_OK)
        return status;
    bit_test *bits = arena_alloc(&p->q->memory, sizeof *bits);
    if (!bits)
        return error_memory(p->error);
    bits->all = strncmp(name, "$bitsAll", 8) == 0;
    bits->set = strcmp(name + 8, "Set") == 0;
    t->special = true;
    t->bits = bits;
    return doc_array_size(operand, &count) ? read_positions(p, bits, name, operand, count)
                                           : read_mask(p, bits, name, operand);
}
