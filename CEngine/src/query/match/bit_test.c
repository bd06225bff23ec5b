/*
 * query/match/bit_test.c -- tests of single bits.
 */
#include "query/match/bit_test.h"

/* The bytes of a value, the lowest first. */
typedef struct bit_string {
    uint8_t whole[8];
    const uint8_t *bytes; /* NULL: `whole` */
    uint32_t size;
    uint8_t beyond; /* every further byte */
} bit_string;

/* read_bits -- the bytes of a value; false when it has none. */
static bool read_bits(const doc_value *value, bit_string *bits) {
    int64_t number;
    if (value->type == DOC_BINARY) {
        /* After the size and the subtype. */
        *bits = (bit_string){.bytes = value->data + 5, .size = value->size - 5};
        return true;
    }
    if (!doc_is_number(value) || !doc_as_int64(value, &number))
        return false;
    *bits = (bit_string){.size = 8, .beyond = number < 0 ? 0xFF : 0};
    store_u64(bits->whole, (uint64_t)number);
    return true;
}

/* byte_at -- a byte of the value. */
static uint8_t byte_at(const bit_string *bits, uint32_t at) {
    if (at >= bits->size)
        return bits->beyond;
    return bits->bytes ? bits->bytes[at] : bits->whole[at];
}

/* Bytes that count as one step of the deadline. */
#define STEP_BYTES 64

bool bits_pass(const struct bit_test *t, match_context *c, const doc_value *value) {
    bit_string bits;
    if (!read_bits(value, &bits) || !match_step(c, t->count / STEP_BYTES))
        return false;
    for (uint32_t i = 0; i < t->count; i++) {
        uint32_t byte = t->mask ? i : t->positions[i] / 8;
        uint8_t asked = t->mask ? t->mask[i] : (uint8_t)(1 << t->positions[i] % 8);
        uint8_t found = byte_at(&bits, byte);
        uint8_t passed = asked & (t->set ? found : (uint8_t)~found);
        if (t->all ? passed != asked : passed != 0)
            return !t->all;
    }
    return t->all;
}
