/*
 * query/test.c -- the tests of one value that are not in every query: strings beyond their
 * beginnings, arrays, types, and comparisons by a collation. match.c has the others.
 */
#include "query/collation.h"
#include "query/interrupt.h"
#include "query/regex.h"

/* match_fail -- see internal.h. */
bool match_fail(match_context *c, tansu_status status, const char *place, const char *message) {
    if (c->status == TANSU_OK) {
        c->status = status;
        c->message = message;
        size_t size = place ? strlen(place) : 0;
        if (size >= sizeof c->place)
            size = sizeof c->place - 1;
        if (size != 0)
            memcpy(c->place, place, size);
        c->place[size] = 0;
    }
    return false;
}

/* match_goes_on -- see internal.h. */
bool match_goes_on(match_context *c) {
    if (c->status == TANSU_OK && c->watch)
        c->status = watch_asks(c->watch);
    return c->status == TANSU_OK;
}

/* test_form -- see internal.h. */
bool test_form(const test *t, match_context *c, const doc_value *value, doc_value *form) {
    *form = *value;
    if (!t->collation || !collation_touches(value))
        return true;
    return collation_value(t->collation, &c->text, value, form) ||
           match_fail(c, TANSU_E_MEMORY, NULL, NULL);
}

/* ---- Comparisons ---- */

/* compares -- the comparisons with one value, or with two. */
static bool compares(const test *t, match_context *c, const doc_value *value) {
    doc_value form;
    if (value_kind_of(value->type) != t->kind || !test_form(t, c, value, &form))
        return false;
    int order = value_compare(&form, &t->operand);
    switch (t->op) {
    case TEST_GT: return order > 0;
    case TEST_GTE: return order >= 0;
    case TEST_LT: return order < 0;
    case TEST_LTE: return order <= 0;
    case TEST_BETWEEN: return order >= 0 && value_compare(&form, &t->operands[0]) <= 0;
    default: return order == 0;
    }
}

/* is_among -- $in with a collation: the operands are sorted in their forms. */
static bool is_among(const test *t, match_context *c, const doc_value *value) {
    doc_value form;
    if (!test_form(t, c, value, &form))
        return false;
    return test_has_operand(t, &form);
}

/* ---- Strings ---- */

/* contains -- whether a text has one of the operands in it. */
static bool contains(const test *t, match_context *c, const char *text, size_t size) {
    for (uint32_t i = 0; i < t->operand_count; i++) {
        size_t part_size;
        const char *part = doc_string(&t->operands[i], &part_size);
        /* Not a loop of memchr() and memcmp(): "aaaab" in a long text of "a" would take it too long. */
        if (!match_step(c, 1 + (uint32_t)(size / 256)))
            return false;
        if (part_size == 0 || memmem(text, size, part, part_size))
            return true;
    }
    return false;
}

/* has_token -- whether what stands between separators, or the ends, is one of the operands. */
static bool has_token(const test *t, match_context *c, const char *text, size_t size) {
    const char *token;
    size_t token_size, at = 0;
    while (next_token(text, size, &at, &token, &token_size)) {
        if (!match_step(c, 1))
            return false;
        if (texts_find(t, token, token_size) != UINT32_MAX)
            return true;
    }
    return false;
}

/* A regular expression counts as so many steps: it may have much work. */
#define REGEX_STEPS 64

/* string_passes -- an operator on strings: any of its operands. */
static bool string_passes(const test *t, match_context *c, const doc_value *value) {
    if (value->type != DOC_STRING && value->type != DOC_SYMBOL)
        return false;
    doc_value form;
    if (!test_form(t, c, value, &form))
        return false;
    size_t size;
    const char *text = doc_string(&form, &size);
    switch (t->op) {
    case TEST_REGEX:
        return match_step(c, REGEX_STEPS) && regex_matches(t->regex, c, text, size, t->place);
    case TEST_BEGIN: return texts_begin(t, text, size);
    case TEST_END: return texts_end(t, text, size);
    case TEST_CONTAINS: return contains(t, c, text, size);
    default: return has_token(t, c, text, size);
    }
}

/* ---- Numbers, arrays, keys ---- */

/* leaves -- $mod: of whole numbers only, the sign of the remainder being that of the value. */
static bool leaves(const test *t, const doc_value *value) {
    int64_t number;
    if (!doc_is_number(value) || !doc_as_int64(value, &number))
        return false;
    /* INT64_MIN % -1 is not defined in C. */
    return (t->divisor == -1 ? 0 : number % t->divisor) == t->integer;
}

/* has_size -- $size; counts no further than it must. */
static bool has_size(const test *t, const doc_value *value) {
    doc_iter iter;
    if (value->type != DOC_ARRAY || !doc_iter_value(&iter, value))
        return false;
    int64_t count = 0;
    while (count <= t->integer && doc_iter_next(&iter))
        count++;
    return count == t->integer;
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

/* keys_pass -- $keyMapMatch: some key of a document, as a string. */
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

/* test_special -- see internal.h. */
bool test_special(const test *t, match_context *c, const doc_value *value) {
    switch (t->op) {
    case TEST_IN: return is_among(t, c, value);
    case TEST_BEGIN:
    case TEST_END:
    case TEST_CONTAINS:
    case TEST_TOKEN:
    case TEST_REGEX: return string_passes(t, c, value);
    case TEST_TYPE:
        return value->type != DOC_MISSING && t->types[value->type / 32] >> value->type % 32 & 1;
    case TEST_MOD: return leaves(t, value);
    case TEST_SIZE: return has_size(t, value);
    case TEST_ELEMENT:
    case TEST_ALL_ELEMENTS: return elements_pass(t, c, value);
    case TEST_KEY: return keys_pass(t, c, value);
    default: return compares(t, c, value);
    }
}
