/*
 * query/match/match_value.c -- the less frequent tests of one value: strings other than prefixes,
 * arrays, types, and comparisons with a collation. The frequent ones are inlined in matcher.c.
 */
#include "query/match/match_value.h"

#include "bson/number.h"
#include "query/match/collation.h"
#include "query/match/match_context.h"
#include "query/match/merged_test.h"
#include "query/match/regex.h"
#include "query/match/string_operands.h"
#include "util/error.h"

bool test_collate(const test *t, match_context *c, const doc_value *value, doc_value *collated) {
    *collated = *value;
    if (!t->collation || !collation_applies(value))
        return true;
    if (!match_read(c, value->size))
        return false;
    return collation_value(t->collation, &c->text, value, collated) ||
           match_fail(c, TANSU_E_MEMORY, NULL, NULL);
}

/* ---- Comparisons ---- */

/* compares -- the comparisons with one operand, or with two. */
static bool compares(const test *t, match_context *c, const doc_value *value) {
    doc_value collated;
    if (value_kind_of(value->type) != t->kind)
        return t->other_kinds &&
               (value_kind_of(value->type) > t->kind) == (t->op == TEST_GT || t->op == TEST_GTE);
    if (!test_collate(t, c, value, &collated))
        return false;
    int order = value_compare(&collated, &t->operand);
    switch (t->op) {
    case TEST_GT: return order > 0;
    case TEST_GTE: return order >= 0;
    case TEST_LT: return order < 0;
    case TEST_LTE: return order <= 0;
    case TEST_BETWEEN: return order >= 0 && value_compare(&collated, &t->operands[0]) <= 0;
    default: return order == 0;
    }
}

/* is_among -- $in with a collation: the operands are sorted as collated. */
static bool is_among(const test *t, match_context *c, const doc_value *value) {
    doc_value collated;
    if (!test_collate(t, c, value, &collated))
        return false;
    return test_has_operand(t, &collated);
}

/* in_ranges -- a union of ranges. */
static bool in_ranges(const test *t, match_context *c, const doc_value *value) {
    doc_value collated;
    return test_collate(t, c, value, &collated) && range_set_has(t->ranges, &collated);
}

/* ---- Strings ---- */

/* contains -- whether a text contains one of the operands. */
static bool contains(const test *t, match_context *c, const char *text, size_t size) {
    if (t->search)
        return string_search_finds(t->search, c, text, size);
    for (uint32_t i = 0; i < t->operand_count; i++) {
        size_t part_size;
        const char *part = doc_string(&t->operands[i], &part_size);
        /* memmem() is linear. A loop of memchr() and memcmp() is not: "aaaab" in a text of "a". */
        if (!match_read(c, size))
            return false;
        if (part_size == 0 || memmem(text, size, part, part_size))
            return true;
    }
    return false;
}

/* has_token -- whether a token of the text is one of the operands. */
static bool has_token(const test *t, match_context *c, const char *text, size_t size) {
    const char *token;
    size_t token_size, at = 0;
    while (next_token(text, size, &at, &token, &token_size)) {
        if (!match_step(c, 1))
            return false;
        if (strings_find(t, token, token_size) != UINT32_MAX)
            return true;
    }
    return false;
}

/* string_passes -- an operator on strings; one of its operands is enough. */
static bool string_passes(const test *t, match_context *c, const doc_value *value) {
    if (value->type == DOC_REGEX)
        return t->op == TEST_REGEX && t->operand.type == DOC_REGEX &&
               value_compare(value, &t->operand) == 0;
    if (value->type != DOC_STRING && value->type != DOC_SYMBOL)
        return false;
    doc_value collated;
    if (!test_collate(t, c, value, &collated))
        return false;
    size_t size;
    const char *text = doc_string(&collated, &size);
    switch (t->op) {
    /* Nobody knows how long an expression will take. */
    case TEST_REGEX:
        return match_step(c, MATCH_STEPS) && regex_matches(t->regex, c, text, size, t->context);
    case TEST_BEGIN: return strings_match_prefix(t, text, size);
    case TEST_END: return strings_match_suffix(t, text, size);
    case TEST_CONTAINS: return contains(t, c, text, size);
    default: return has_token(t, c, text, size);
    }
}

/* ---- Conditions ---- */

/* test_field -- whether a value passes a test as the value of a field does: an array by itself
 * or by any of its elements (rule 4). */
static bool test_field(const test *t, match_context *c, const doc_value *value) {
    doc_iter iter;
    if (test_value(t, c, value))
        return true;
    if (value->type != DOC_ARRAY || t->on_array || !doc_iter_value(&iter, value))
        return false;
    while (match_step(c, 1) && doc_iter_next(&iter)) {
        if (test_value(t, c, &iter.value))
            return true;
    }
    return false;
}

/* value_holds -- AND and OR of tests of the value itself; `field`: as of a field's value. */
static bool value_holds(const node *n, match_context *c, const doc_value *value, bool field) {
    switch (n->kind) {
    case NODE_TRUE: return true;
    case NODE_FALSE: return false;
    case NODE_TEST:
        return (field ? test_field(n->test, c, value) : test_value(n->test, c, value)) !=
               n->test->negated;
    case NODE_NOT: return !value_holds(n->first, c, value, field);
    default: break;
    }
    bool all = n->kind == NODE_AND;
    for (const node *child = n->first; child && match_step(c, 1); child = child->next) {
        if (value_holds(child, c, value, field) != all)
            return !all;
    }
    return all;
}

/* The elements of an array are its fields by position. */
bool subcondition_holds(const subcondition *s, match_context *c, const doc_value *value) {
    if (s->value)
        return value_holds(s->value, c, value, false);
    return (value->type == DOC_DOCUMENT || value->type == DOC_ARRAY) &&
           matcher_run(s->matcher, c, value->data, value->size);
}

bool subcondition_pulls(const subcondition *s, match_context *c, const doc_value *value) {
    if (s->value)
        return value_holds(s->value, c, value, true);
    return value->type == DOC_DOCUMENT && matcher_run(s->matcher, c, value->data, value->size);
}

/* ---- Numbers, arrays, keys ---- */

/* has_integer -- whether a number is the one that the test asks for, or one of several. */
static bool has_integer(const test *t, int64_t number) {
    if (!t->integers)
        return number == t->integer;
    uint32_t low = 0, high = t->operand_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (t->integers[middle] < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < t->operand_count && t->integers[low] == number;
}

/* has_remainder -- $mod, disregarding fractions. The remainder has the sign of the value. */
static bool has_remainder(const test *t, const doc_value *value) {
    int64_t number;
    if (!number_whole(value, FRACTION_CUT, &number))
        return false;
    /* INT64_MIN % -1 is not defined in C. */
    return has_integer(t, t->divisor == -1 ? 0 : number % t->divisor);
}

/* has_size -- $size; counts no further than necessary. */
static bool has_size(const test *t, match_context *c, const doc_value *value) {
    doc_iter iter;
    if (value->type != DOC_ARRAY || !match_read(c, value->size) || !doc_iter_value(&iter, value))
        return false;
    int64_t count = 0, most = t->integers ? t->integers[t->operand_count - 1] : t->integer;
    while (count <= most && doc_iter_next(&iter))
        count++;
    return has_integer(t, count);
}

/* elements_pass -- $elemMatch and $allMatch. */
static bool elements_pass(const test *t, match_context *c, const doc_value *value) {
    doc_iter iter;
    if (value->type != DOC_ARRAY || !doc_iter_value(&iter, value))
        return false;
    bool every = t->op == TEST_ALL_ELEMENTS, any = false;
    while (match_step(c, 1) && doc_iter_next(&iter)) {
        any = true;
        if (subcondition_holds(t->condition, c, &iter.value) != every)
            return !every;
    }
    return every && any;
}

/* keys_pass -- $keyMapMatch: a key of the document, as a string. */
static bool keys_pass(const test *t, match_context *c, const doc_value *value) {
    doc_iter iter;
    if (value->type != DOC_DOCUMENT || !doc_iter_value(&iter, value))
        return false;
    while (match_step(c, 1) && doc_iter_next(&iter)) {
        uint8_t size[4];
        store_u32(size, iter.key_size + 1);
        if (!buffer_set(&c->key, size, 4) || !buffer_append(&c->key, iter.key, iter.key_size + 1))
            return match_fail(c, TANSU_E_MEMORY, NULL, NULL);
        doc_value key = {c->key.data, (uint32_t)c->key.size, DOC_STRING};
        if (subcondition_holds(t->condition, c, &key))
            return true;
    }
    return false;
}

bool test_special_value(const test *t, match_context *c, const doc_value *value) {
    switch (t->op) {
    case TEST_IN: return is_among(t, c, value);
    case TEST_BEGIN:
    case TEST_END:
    case TEST_CONTAINS:
    case TEST_TOKEN:
    case TEST_REGEX: return string_passes(t, c, value);
    case TEST_TYPE:
        return value->type != DOC_MISSING && t->types[value->type / 32] >> value->type % 32 & 1;
    case TEST_MOD: return has_remainder(t, value);
    case TEST_BITS: return bits_pass(t->bits, c, value);
    case TEST_SIZE: return has_size(t, c, value);
    case TEST_ELEMENT:
    case TEST_ALL_ELEMENTS: return elements_pass(t, c, value);
    case TEST_KEY: return keys_pass(t, c, value);
    case TEST_RANGES: return in_ranges(t, c, value);
    default: return compares(t, c, value);
    }
}

/* ---- Tests of single bits ---- */

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

/* ---- Errors, cancellation and memory of matching ---- */

void match_context_free(match_context *c) {
    buffer_free(&c->text);
    buffer_free(&c->key);
    buffer_free(&c->marks);
    buffer_free(&c->error_context);
    regex_memory_free(c->regex);
    if (c->evaluation_free)
        c->evaluation_free(c->evaluation);
    memset(c, 0, sizeof *c);
}

tansu_status match_context_status(const match_context *c, tansu_error *error) {
    if (c->status == TANSU_OK)
        return TANSU_OK;
    if (c->status == TANSU_E_TIMEOUT || c->status == TANSU_E_CANCELLED)
        return deadline_error(c->deadline, c->status, error);
    if (!c->message)
        return error_memory(error);
    const char *where = c->error_context.size != 0 ? (const char *)c->error_context.data : "";
    return error_set(error, c->status, where, "%s", c->message);
}

bool match_fail(match_context *c, tansu_status status, const char *error_context,
                const char *message) {
    if (c->status == TANSU_OK) {
        c->status = status;
        c->message = message;
        if (!error_context ||
            !buffer_set(&c->error_context, error_context, strlen(error_context) + 1))
            c->error_context.size = 0;
    }
    return false;
}

bool match_continues(match_context *c) {
    if (c->status == TANSU_OK && c->deadline)
        c->status = deadline_status(c->deadline);
    return c->status == TANSU_OK;
}
