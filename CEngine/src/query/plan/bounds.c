/*
 * query/plan/bounds.c -- index bounds of tests, and operations on lists of intervals.
 */
#include "query/plan/bounds.h"
#include "index/definition.h"
#include "query/match/match_value.h"
#include <stdlib.h>

int bounds_compare(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size) {
    size_t common = a_size < b_size ? a_size : b_size;
    int order = common == 0 ? 0 : memcmp(a, b, common);
    return order != 0 ? order : (a_size > b_size) - (a_size < b_size);
}

/* compare_ends -- two upper ends; NULL is the highest. */
static int compare_ends(const interval *a, const interval *b) {
    if (!a->high || !b->high)
        return (a->high == NULL) - (b->high == NULL);
    return bounds_compare(a->high, a->high_size, b->high, b->high_size);
}

/* keep -- copies the scratch bytes to the arena; NULL when memory is exhausted. */
static const uint8_t *keep(bounds_memory *memory) {
    return arena_copy(memory->arena, memory->scratch.data, memory->scratch.size);
}

/* set_low -- sets the lower bound to the key of a value: inclusive, or exclusive. */
static bool set_low(bounds_memory *memory, interval *i, const doc_value *value, bool exclusive) {
    memory->scratch.size = 0;
    if (!value_key(&memory->scratch, value, false))
        return false;
    /* A key begins with its kind, which is never 0xFF, so it has a successor. */
    if (exclusive)
        (void)key_successor(&memory->scratch);
    i->low_size = memory->scratch.size;
    i->low = keep(memory);
    return i->low != NULL;
}

/* set_high -- likewise the upper bound. */
static bool set_high(bounds_memory *memory, interval *i, const doc_value *value, bool inclusive) {
    memory->scratch.size = 0;
    if (!value_key(&memory->scratch, value, false))
        return false;
    if (inclusive)
        (void)key_successor(&memory->scratch);
    i->high_size = memory->scratch.size;
    i->high = keep(memory);
    return i->high != NULL;
}

/* set_kind -- sets the interval to all keys of one kind. */
static bool set_kind(bounds_memory *memory, interval *i, enum value_kind kind) {
    uint8_t *tags = arena_alloc(memory->arena, 2);
    if (!tags)
        return false;
    tags[0] = (uint8_t)kind;
    tags[1] = (uint8_t)(kind + 1);
    *i = (interval){.low = tags, .low_size = 1, .high = tags + 1, .high_size = 1};
    return true;
}

/* new_list -- an empty list with a capacity. */
static bool new_list(bounds_memory *memory, size_t capacity, interval_list *list) {
    list->count = 0;
    list->items = arena_alloc(memory->arena, (capacity == 0 ? 1 : capacity) * sizeof *list->items);
    return list->items != NULL;
}

/* set_point -- sets the interval to the keys of one value. */
static bool set_point(bounds_memory *memory, interval *i, const doc_value *value) {
    *i = (interval){.point = true, .lower = {"$eq", value}, .upper = {"$eq", value}};
    if (!set_low(memory, i, value, false))
        return false;
    (void)key_successor(&memory->scratch);
    i->high_size = memory->scratch.size;
    i->high = keep(memory);
    return i->high != NULL;
}

/* of_other_kinds -- everything behind the operand or before it, or with $gte and $lte from it or up
 * to it. A path through an empty array has no value at all. */
static bool of_other_kinds(bounds_memory *memory, const test *t, interval_list *list) {
    static const uint8_t first = KIND_MIN_KEY;
    interval *i = &list->items[0];
    *i = (interval){.low = &first, .low_size = 1};
    list->count = 1;
    if (t->op == TEST_GT || t->op == TEST_GTE) {
        i->lower = (bound){t->op == TEST_GTE ? "$gte" : "$gt", &t->operand};
        return set_low(memory, i, &t->operand, t->op == TEST_GT);
    }
    i->upper = (bound){t->op == TEST_LTE ? "$lte" : "$lt", &t->operand};
    return set_high(memory, i, &t->operand, t->op == TEST_LTE);
}

/* of_compare -- a range within the operand's kind (rule 7). NaN is in no range of numbers. */
static bool of_compare(bounds_memory *memory, const test *t, interval_list *list) {
    static const uint8_t nan_bytes[] = {0, 0, 0, 0, 0, 0, 0xF8, 0x7F};
    static const doc_value nan = {nan_bytes, sizeof nan_bytes, DOC_DOUBLE};
    interval *i = &list->items[0];
    if (t->other_kinds)
        return of_other_kinds(memory, t, list);
    if (!set_kind(memory, i, t->kind) ||
        (t->kind == KIND_NUMBER && !set_low(memory, i, &nan, true)))
        return false;
    switch (t->op) {
    case TEST_GT:
        i->lower = (bound){"$gt", &t->operand};
        if (!set_low(memory, i, &t->operand, true))
            return false;
        break;
    case TEST_GTE:
        i->lower = (bound){"$gte", &t->operand};
        if (!set_low(memory, i, &t->operand, false))
            return false;
        break;
    case TEST_LT:
        i->upper = (bound){"$lt", &t->operand};
        if (!set_high(memory, i, &t->operand, false))
            return false;
        break;
    default:
        i->upper = (bound){"$lte", &t->operand};
        if (!set_high(memory, i, &t->operand, true))
            return false;
        break;
    }
    /* $gt and $lt of the first, last or only value of a kind are empty. */
    list->count = bounds_compare(i->low, i->low_size, i->high, i->high_size) < 0;
    return true;
}

/* of_between -- an inclusive range of one kind. */
static bool of_between(bounds_memory *memory, const test *t, interval_list *list) {
    interval *i = &list->items[0];
    *i = (interval){.lower = {"$gte", &t->operand}, .upper = {"$lte", &t->operands[0]}};
    if (!set_low(memory, i, &t->operand, false) || !set_high(memory, i, &t->operands[0], true))
        return false;
    list->count = bounds_compare(i->low, i->low_size, i->high, i->high_size) < 0;
    return true;
}

/* of_absent -- the keys of a path without a value: null and KIND_NOTHING. */
static bool of_absent(bounds_memory *memory, interval_list *list) {
    if (!new_list(memory, 2, list) || !set_kind(memory, &list->items[0], KIND_NOTHING) ||
        !set_kind(memory, &list->items[1], KIND_NULL))
        return false;
    list->count = 2;
    for (uint32_t i = 0; i < 2; i++) {
        static const doc_value null = {NULL, 0, DOC_NULL};
        bound b = {"$eq", &null};
        list->items[i].point = true;
        list->items[i].lower = list->items[i].upper = b;
    }
    return true;
}

/* compare_lows -- by lower bound, for qsort(). */
static int compare_lows(const void *a, const void *b) {
    const interval *x = a, *y = b;
    return bounds_compare(x->low, x->low_size, y->low, y->low_size);
}

/* of_prefixes -- an interval for each prefix; those within another one are dropped. */
static bool of_prefixes(bounds_memory *memory, const test *t, interval_list *list) {
    for (uint32_t n = 0; n < t->operand_count; n++) {
        size_t size;
        const char *text = doc_string(&t->operands[n], &size);
        interval *i = &list->items[n];
        bound b = {"$begin", &t->operands[n]};
        *i = (interval){.lower = b, .upper = b};
        memory->scratch.size = 0;
        if (!value_key_prefix_string(&memory->scratch, text, size))
            return false;
        i->low_size = memory->scratch.size;
        i->low = keep(memory);
        (void)key_successor(&memory->scratch);
        i->high_size = memory->scratch.size;
        i->high = keep(memory);
        if (!i->low || !i->high)
            return false;
    }
    qsort(list->items, t->operand_count, sizeof *list->items, compare_lows);
    for (uint32_t n = 0; n < t->operand_count; n++) {
        if (list->count == 0 || compare_ends(&list->items[n], &list->items[list->count - 1]) > 0)
            list->items[list->count++] = list->items[n];
    }
    return true;
}

/* after -- the lower bound of the interval that begins at an upper bound. */
static bound after(bound b) {
    if (b.op && strcmp(b.op, "$lt") == 0)
        return (bound){"$gte", b.value};
    if (b.op && (strcmp(b.op, "$lte") == 0 || strcmp(b.op, "$eq") == 0))
        return (bound){"$gt", b.value};
    return (bound){NULL, NULL};
}

/* before -- the upper bound of the interval that ends at a lower bound. */
static bound before(bound b) {
    if (b.op && strcmp(b.op, "$gt") == 0)
        return (bound){"$lte", b.value};
    if (b.op && strcmp(b.op, "$begin") != 0)
        return (bound){"$lt", b.value};
    return (bound){NULL, NULL};
}

/* complement -- the keys that are in none of the intervals. */
static bool complement(bounds_memory *memory, interval_list *list) {
    interval_list result;
    if (!new_list(memory, (size_t)list->count + 1, &result))
        return false;
    interval rest = {.low = (const uint8_t *)""};
    for (uint32_t n = 0; n < list->count; n++) {
        const interval *i = &list->items[n];
        rest.high = i->low;
        rest.high_size = i->low_size;
        rest.upper = before(i->lower);
        if (bounds_compare(rest.low, rest.low_size, rest.high, rest.high_size) < 0)
            result.items[result.count++] = rest;
        if (!i->high) {
            *list = result;
            return true;
        }
        rest = (interval){.low = i->high, .low_size = i->high_size, .lower = after(i->upper)};
    }
    result.items[result.count++] = rest;
    *list = result;
    return true;
}

/* of_regex -- an interval for the prefix of all strings that match, and the regular expression
 * itself. */
static bool of_regex(bounds_memory *memory, const test *t, interval_list *list) {
    if (!of_prefixes(memory, t, list))
        return false;
    return t->operand.type != DOC_REGEX ||
           set_point(memory, &list->items[list->count++], &t->operand);
}

/* of_positive -- the keys of the values that pass the test, disregarding its negation. */
static bool of_positive(bounds_memory *memory, const test *t, interval_list *list) {
    size_t capacity = t->operand_count == 0 ? 1 : (size_t)t->operand_count + 1;
    if (!new_list(memory, capacity, list))
        return false;
    if (t->op == TEST_EQ) {
        list->count = 1;
        return set_point(memory, &list->items[0], &t->operand);
    }
    if (t->op == TEST_BEGIN)
        return of_prefixes(memory, t, list);
    if (t->op == TEST_REGEX)
        return of_regex(memory, t, list);
    if (t->op == TEST_BETWEEN)
        return of_between(memory, t, list);
    if (t->op != TEST_IN)
        return of_compare(memory, t, list);
    for (uint32_t n = 0; n < t->operand_count; n++) {
        if (!set_point(memory, &list->items[list->count++], &t->operands[n]))
            return false;
    }
    return true;
}

/* has_bounds -- whether a positive test selects intervals of keys. */
static bool has_bounds(const test *t) {
    if (t->operand_count > MAX_RANGES)
        return false;
    switch (t->op) {
    case TEST_EQ:
    case TEST_GT:
    case TEST_GTE:
    case TEST_LT:
    case TEST_LTE:
    case TEST_IN:
    case TEST_BEGIN: return true;
    case TEST_BETWEEN:
        return t->operand_count == 1 && value_kind_of(t->operands[0].type) == t->kind;
    case TEST_REGEX: return t->operand_count == 1;
    default: return false;
    }
}

/* of_value -- bounds_of_test() for a test of one value. */
static bool of_value(bounds_memory *memory, const test *t, interval_list *list, bool *usable) {
    *usable = has_bounds(t) && !t->collation && (!t->negated || t->op != TEST_REGEX);
    if (!*usable)
        return true;
    return of_positive(memory, t, list) && (!t->negated || complement(memory, list));
}

/* of_element -- the keys of an element that passes all tests of $elemMatch or $allMatch. An array
 * has an entry for each element, so at least one is within these bounds. Conditions on fields of
 * elements have none. */
static bool of_element(bounds_memory *memory, const test *t, interval_list *result, bool *usable) {
    const node *all = t->condition->value;
    const node *n = all && all->kind == NODE_AND ? all->first : all;
    for (; n; n = all->kind == NODE_AND ? n->next : NULL) {
        interval_list list;
        bool found;
        if (n->kind != NODE_TEST)
            continue;
        if (!of_value(memory, n->test, &list, &found))
            return false;
        if (!found)
            continue;
        if (*usable && !bounds_intersect(memory, result, &list, result))
            return false;
        if (!*usable)
            *result = list;
        *usable = true;
    }
    return true;
}

bool bounds_of_test(bounds_memory *memory, const test *t, bool single, interval_list *result,
                    bool *usable, bool *exact) {
    *usable = false;
    if (!t->negated && (t->op == TEST_ELEMENT || t->op == TEST_ALL_ELEMENTS)) {
        *exact = false;
        return t->wild != WILD_NONE || !t->path || of_element(memory, t, result, usable);
    }
    if (!t->path || t->wild != WILD_NONE || t->on_array)
        return true;
    *exact = t->op != TEST_EXISTS && t->op != TEST_REGEX;
    if (t->op == TEST_EXISTS) {
        *usable = t->negated;
        return !t->negated || of_absent(memory, result);
    }
    *usable = has_bounds(t) && (!t->negated || (single && *exact));
    if (!*usable)
        return true;
    return of_positive(memory, t, result) && (!t->negated || complement(memory, result));
}

/* Intervals that overlap become one. Points that merely touch remain points, so that bounds of
 * further paths can be appended to them. */
bool bounds_unite(bounds_memory *memory, const interval *items, size_t count,
                  interval_list *result) {
    if (!new_list(memory, count, result))
        return false;
    if (count != 0)
        memcpy(result->items, items, count * sizeof *items);
    qsort(result->items, count, sizeof *result->items, compare_lows);
    uint32_t kept = 0;
    for (size_t n = 0; n < count; n++) {
        const interval *i = &result->items[n];
        interval *last = kept == 0 ? NULL : &result->items[kept - 1];
        if (last &&
            (!last->high || bounds_compare(i->low, i->low_size, last->high, last->high_size) < 0)) {
            if (compare_ends(i, last) > 0) {
                if (last->point)
                    last->lower = (bound){"$gte", last->lower.value};
                last->high = i->high;
                last->high_size = i->high_size;
                last->upper = i->upper;
                last->point = false;
            }
            continue;
        }
        result->items[kept++] = *i;
    }
    result->count = kept;
    return true;
}

/* Intervals of one list are disjoint, so an interval within `b` is within one of its intervals: the
 * last that begins no later. Both lists ascend, so one pass over both is enough. */
bool bounds_within(const interval_list *a, const interval_list *b) {
    for (uint32_t x = 0, y = 0; x < a->count; x++) {
        const interval *i = &a->items[x];
        while (y + 1 < b->count && bounds_compare(b->items[y + 1].low, b->items[y + 1].low_size,
                                                  i->low, i->low_size) <= 0)
            y++;
        if (y == b->count ||
            bounds_compare(b->items[y].low, b->items[y].low_size, i->low, i->low_size) > 0 ||
            compare_ends(i, &b->items[y]) > 0)
            return false;
    }
    return true;
}

bool bounds_include_missing(const interval_list *list) {
    static const uint8_t keys[] = {KIND_NOTHING, KIND_NULL};
    for (uint32_t n = 0; n < list->count; n++) {
        const interval *i = &list->items[n];
        for (size_t k = 0; k < sizeof keys; k++) {
            if (bounds_compare(i->low, i->low_size, &keys[k], 1) <= 0 &&
                (!i->high || bounds_compare(&keys[k], 1, i->high, i->high_size) < 0))
                return true;
        }
    }
    return false;
}

bool bounds_are_scalar(const interval_list *list) {
    static const uint8_t low = KIND_DOCUMENT, high = KIND_ARRAY + 1; /* the one follows the other */
    for (uint32_t n = 0; n < list->count; n++) {
        const interval *i = &list->items[n];
        if (bounds_compare(i->low, i->low_size, &high, 1) < 0 &&
            (!i->high || bounds_compare(&low, 1, i->high, i->high_size) < 0))
            return false;
    }
    return true;
}

/* One pass over both lists. */
bool bounds_intersect(bounds_memory *memory, const interval_list *a, const interval_list *b,
                      interval_list *result) {
    interval_list list;
    if (!new_list(memory, (size_t)a->count + b->count, &list))
        return false;
    for (uint32_t x = 0, y = 0; x < a->count && y < b->count;) {
        const interval *i = &a->items[x], *j = &b->items[y];
        const interval *low = bounds_compare(i->low, i->low_size, j->low, j->low_size) >= 0 ? i : j;
        const interval *high = compare_ends(i, j) <= 0 ? i : j;
        if (!high->high ||
            bounds_compare(low->low, low->low_size, high->high, high->high_size) < 0) {
            interval *both = &list.items[list.count++];
            *both = i->point ? *i : *low;
            if (!i->point && !j->point) {
                both->high = high->high;
                both->high_size = high->high_size;
                both->upper = high->upper;
            } else if (j->point) {
                *both = *j;
            }
        }
        if (high == i)
            x++;
        else
            y++;
    }
    *result = list;
    return true;
}

/* inverted_bound -- a bound for complemented keys: all bits complemented, then the successor, so
 * that the keys that begin with it remain on the same side. NULL in *result: unbounded. */
static bool inverted_bound(bounds_memory *memory, const uint8_t *bytes, size_t size,
                           const uint8_t **result, size_t *result_size) {
    memory->scratch.size = 0;
    for (size_t i = 0; i < size; i++) {
        if (!buffer_append_byte(&memory->scratch, (uint8_t)~bytes[i]))
            return false;
    }
    *result = NULL;
    *result_size = 0;
    if (!key_successor(&memory->scratch))
        return true;
    *result_size = memory->scratch.size;
    *result = keep(memory);
    return *result != NULL;
}

/*
 * With k a whole key and ~ for complemented bits: no key is a prefix of `low` (nor of `high`), so k
 * >= low if and only if ~k is less than the successor of ~low, and k < high if and only if ~k is
 * not less than the successor of ~high.
 */
bool bounds_invert(bounds_memory *memory, const interval_list *list, interval_list *result) {
    interval_list inverted;
    if (!new_list(memory, list->count, &inverted))
        return false;
    for (uint32_t n = list->count; n-- > 0;) {
        const interval *from = &list->items[n];
        interval *to = &inverted.items[inverted.count++];
        *to = *from;
        to->low = (const uint8_t *)"";
        to->low_size = 0;
        if (from->high &&
            !inverted_bound(memory, from->high, from->high_size, &to->low, &to->low_size))
            return false;
        to->high = NULL;
        to->high_size = 0;
        if (from->low_size != 0 &&
            !inverted_bound(memory, from->low, from->low_size, &to->high, &to->high_size))
            return false;
        if (from->point) {
            /* The key itself, so that bounds of further paths can be appended to it. */
            memory->scratch.size = 0;
            for (size_t i = 0; i < from->low_size; i++) {
                if (!buffer_append_byte(&memory->scratch, (uint8_t)~from->low[i]))
                    return false;
            }
            to->low_size = from->low_size;
            to->low = keep(memory);
            if (!to->low)
                return false;
        }
    }
    *result = inverted;
    return true;
}
