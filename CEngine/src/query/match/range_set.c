/*
 * query/match/range_set.c -- ranges sorted by their lower ends; those that overlap are one.
 */
#include "query/match/range_set.h"
#include <stdlib.h>

/* Values of one kind between two ends. */
typedef struct range {
    enum value_kind kind;
    bool low_open, high_open;    /* the end itself is not in the range */
    const doc_value *low, *high; /* NULL: as low, or as high, as the kind goes */
} range;

struct range_set {
    uint32_t count;
    range *ranges;
};

bool range_set_takes(const test *t) {
    switch (t->op) {
    case TEST_GT:
    case TEST_GTE:
    case TEST_LT:
    case TEST_LTE: return !t->other_kinds;
    case TEST_BETWEEN: return t->operand_count == 1;
    default: return false;
    }
}

/* range_of -- the range of a test. */
static range range_of(const test *t) {
    /* The least number; a range does not have it. */
    static const uint8_t nan_bytes[8] = {0, 0, 0, 0, 0, 0, 0xF8, 0x7F};
    static const doc_value nan = {nan_bytes, sizeof nan_bytes, DOC_DOUBLE};
    range r = {.kind = t->kind};
    if (t->op == TEST_LT || t->op == TEST_LTE) {
        r.high = &t->operand;
        r.high_open = t->op == TEST_LT;
        r.low = t->kind == KIND_NUMBER ? &nan : NULL;
        r.low_open = true;
    } else {
        r.low = &t->operand;
        r.low_open = t->op == TEST_GT;
        r.high = t->op == TEST_BETWEEN ? &t->operands[0] : NULL;
    }
    return r;
}

/* compare_low -- ranges by their lower ends, for qsort(). */
static int compare_low(const void *left, const void *right) {
    const range *a = left, *b = right;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->low == NULL || b->low == NULL)
        return (a->low != NULL) - (b->low != NULL);
    int order = value_compare(a->low, b->low);
    return order != 0 ? order : (int)a->low_open - (int)b->low_open;
}

/* overlaps -- whether a range continues one with a lower end that is not above its own. */
static bool overlaps(const range *before, const range *r) {
    if (before->kind != r->kind)
        return false;
    if (before->high == NULL || r->low == NULL)
        return true;
    int order = value_compare(r->low, before->high);
    return order < 0 || (order == 0 && !(before->high_open && r->low_open));
}

/* extend -- raises the upper end of a range to that of another one. */
static void extend(range *r, const range *by) {
    int order = r->high == NULL ? 1 : by->high == NULL ? -1 : value_compare(r->high, by->high);
    if (order < 0) {
        r->high = by->high;
        r->high_open = by->high_open;
    } else if (order == 0) {
        r->high_open = r->high_open && by->high_open;
    }
}

const range_set *range_set_new(arena *memory, const test *const *tests, uint32_t count) {
    range_set *set = arena_alloc(memory, sizeof *set);
    if (!set || count == 0)
        return set;
    set->ranges = arena_alloc(memory, count * sizeof *set->ranges);
    if (!set->ranges)
        return NULL;
    for (uint32_t i = 0; i < count; i++)
        set->ranges[i] = range_of(tests[i]);
    qsort(set->ranges, count, sizeof *set->ranges, compare_low);
    set->count = 1;
    for (uint32_t i = 1; i < count; i++) {
        range *last = &set->ranges[set->count - 1];
        if (overlaps(last, &set->ranges[i]))
            extend(last, &set->ranges[i]);
        else
            set->ranges[set->count++] = set->ranges[i];
    }
    return set;
}

/* begins_before -- whether a value is not below a range. */
static bool begins_before(const range *r, enum value_kind kind, const doc_value *value) {
    if (r->kind != kind)
        return r->kind < kind;
    if (r->low == NULL)
        return true;
    int order = value_compare(r->low, value);
    return order < 0 || (order == 0 && !r->low_open);
}

bool range_set_has(const range_set *set, const doc_value *value) {
    enum value_kind kind = value_kind_of(value->type);
    uint32_t low = 0, high = set->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (begins_before(&set->ranges[middle], kind, value))
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || set->ranges[low - 1].kind != kind)
        return false;
    const range *r = &set->ranges[low - 1];
    int order = r->high == NULL ? -1 : value_compare(value, r->high);
    return order < 0 || (order == 0 && !r->high_open);
}
