/*
 * query/match/string_operands.c -- string operands, sorted for binary search.
 *
 * A prefix that begins with another operand is redundant. Of the remaining ones none begins
 * another, so a text can begin only with the greatest operand that is not greater than the text: an
 * operand between the two would begin with it as well. Suffixes are prefixes read backward.
 */
#include "query/match/string_operands.h"
#include "query/match/merged_test.h"
#include <stdlib.h>

/* text_order -- by bytes, the shorter first. */
static int text_order(const char *a, size_t a_size, const char *b, size_t b_size) {
    int order = memcmp(a, b, a_size < b_size ? a_size : b_size);
    return order != 0 ? order : (a_size > b_size) - (a_size < b_size);
}

/* text_order_backward -- the same, reading from the ends. */
static int text_order_backward(const char *a, size_t a_size, const char *b, size_t b_size) {
    size_t common = a_size < b_size ? a_size : b_size;
    for (size_t i = 1; i <= common; i++) {
        unsigned char x = (unsigned char)a[a_size - i], y = (unsigned char)b[b_size - i];
        if (x != y)
            return x < y ? -1 : 1;
    }
    return (a_size > b_size) - (a_size < b_size);
}

typedef int (*text_orderer)(const char *, size_t, const char *, size_t);

/* compare_with -- two operands for qsort(). */
static int compare_with(text_orderer order, const void *left, const void *right) {
    size_t a_size, b_size;
    const char *a = doc_string(left, &a_size), *b = doc_string(right, &b_size);
    return order(a, a_size, b, b_size);
}

static int compare_forward(const void *left, const void *right) {
    return compare_with(text_order, left, right);
}

static int compare_backward(const void *left, const void *right) {
    return compare_with(text_order_backward, left, right);
}

/* begins -- whether a text begins (or ends) with an operand. */
static bool begins(const doc_value *operand, const char *text, size_t size, bool backward) {
    size_t part_size;
    const char *part = doc_string(operand, &part_size);
    return part_size <= size &&
           memcmp(backward ? text + size - part_size : text, part, part_size) == 0;
}

void strings_sort(test *t) {
    bool backward = t->op == TEST_END;
    if (t->operand_count < 2)
        return;
    qsort(t->operands, t->operand_count, sizeof *t->operands,
          backward ? compare_backward : compare_forward);
    uint32_t kept = 1;
    for (uint32_t i = 1; i < t->operand_count; i++) {
        size_t size;
        const char *text = doc_string(&t->operands[i], &size);
        const doc_value *last = &t->operands[kept - 1];
        bool redundant = t->op == TEST_TOKEN ? compare_forward(last, &t->operands[i]) == 0
                                             : begins(last, text, size, backward);
        if (!redundant)
            t->operands[kept++] = t->operands[i];
    }
    t->operand_count = kept;
}

/* Operands of CONTAINS up to this number are searched for one after the other. */
#define FEW_STRINGS 16

bool strings_prepare(arena *memory, test *t) {
    if (t->op != TEST_CONTAINS || t->operand_count <= FEW_STRINGS)
        return true;
    t->search = string_search_new(memory, t->operands, t->operand_count);
    return t->search != NULL;
}

/* not_above -- the number of operands that are not greater than a text. */
static uint32_t not_above(const test *t, const char *text, size_t size, text_orderer order) {
    uint32_t low = 0, high = t->operand_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        size_t part_size;
        const char *part = doc_string(&t->operands[middle], &part_size);
        if (order(part, part_size, text, size) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool strings_match_prefix(const test *t, const char *text, size_t size) {
    uint32_t count = t->operand_count == 1 ? 1 : not_above(t, text, size, text_order);
    return count != 0 && begins(&t->operands[count - 1], text, size, false);
}

bool strings_match_suffix(const test *t, const char *text, size_t size) {
    uint32_t count = t->operand_count == 1 ? 1 : not_above(t, text, size, text_order_backward);
    return count != 0 && begins(&t->operands[count - 1], text, size, true);
}

uint32_t strings_find(const test *t, const char *text, size_t size) {
    uint32_t count = not_above(t, text, size, text_order);
    if (count == 0)
        return UINT32_MAX;
    size_t part_size;
    const char *part = doc_string(&t->operands[count - 1], &part_size);
    return text_order(part, part_size, text, size) == 0 ? count - 1 : UINT32_MAX;
}

/* is_separator -- whether a byte separates tokens. */
static bool is_separator(char c) {
    return c == ' ' || c == ',' || (c >= '\t' && c <= '\r');
}

bool next_token(const char *text, size_t size, size_t *at, const char **token, size_t *token_size) {
    size_t begin = *at;
    while (begin < size && is_separator(text[begin]))
        begin++;
    size_t end = begin;
    while (end < size && !is_separator(text[end]))
        end++;
    *token = text + begin;
    *token_size = end - begin;
    *at = end;
    return end > begin;
}
