/*
 * query/test.c -- the tests of one value that are not in every query: strings beyond their
 * beginnings, arrays, types, and comparisons by a collation. match.c has the others.
 */
#include "query/collation.h"
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

/* in_form -- a value in the form of the test's collation. */
static bool in_form(const test *t, match_context *c, const doc_value *value, doc_value *form) {
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
    if (value_kind_of(value->type) != t->kind || !in_form(t, c, value, &form))
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
    if (!in_form(t, c, value, &form))
        return false;
    return test_has_operand(t, &form);
}

/* ---- Strings ---- */

/* find_text -- whether one byte string is part of another. */
static bool find_text(const char *text, size_t size, const char *part, size_t part_size) {
    if (part_size == 0)
        return true;
    const char *end = text + size;
    while ((size_t)(end - text) >= part_size) {
        const char *at = memchr(text, part[0], (size_t)(end - text) - part_size + 1);
        if (!at)
            return false;
        if (memcmp(at, part, part_size) == 0)
            return true;
        text = at + 1;
    }
    return false;
}

/* is_separator -- what stands between tokens. */
static bool is_separator(char c) {
    return c == ' ' || c == ',' || (c >= '\t' && c <= '\r');
}

/* has_token -- whether a text between separators, or the ends, is the token. */
static bool has_token(const char *text, size_t size, const char *token, size_t token_size) {
    for (size_t at = 0; at < size;) {
        size_t end = at;
        while (end < size && !is_separator(text[end]))
            end++;
        if (end - at == token_size && memcmp(text + at, token, token_size) == 0)
            return true;
        at = end + 1;
    }
    return false;
}

/* text_passes -- one operand of an operator on strings. */
static bool text_passes(const test *t, const char *text, size_t size, const doc_value *operand) {
    size_t part_size;
    const char *part = doc_string(operand, &part_size);
    switch (t->op) {
    case TEST_BEGIN: return part_size <= size && memcmp(text, part, part_size) == 0;
    case TEST_END:
        return part_size <= size && memcmp(text + size - part_size, part, part_size) == 0;
    case TEST_CONTAINS: return find_text(text, size, part, part_size);
    default: return has_token(text, size, part, part_size);
    }
}

/* string_passes -- an operator on strings: any of its operands. */
static bool string_passes(const test *t, match_context *c, const doc_value *value) {
    if (value->type != DOC_STRING && value->type != DOC_SYMBOL)
        return false;
    doc_value form;
    if (!in_form(t, c, value, &form))
        return false;
    size_t size;
    const char *text = doc_string(&form, &size);
    if (t->op == TEST_REGEX)
        return regex_matches(t->regex, c, text, size, t->place);
    for (uint32_t i = 0; i < t->operand_count; i++) {
        if (text_passes(t, text, size, &t->operands[i]))
            return true;
    }
    return false;
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
    while (doc_iter_next(&iter)) {
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
    while (doc_iter_next(&iter)) {
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
