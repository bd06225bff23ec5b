/*
 * query/match/merged_test.c -- merges tests of one path, so that a value is searched for in one
 * sorted list instead of being compared with every operand.
 *
 * The conjunction that represents an OR (matcher.c) has inverted tests: "a is not 1 and a is not 2
 * …" is "a is not in [1, 2, …]"; likewise ranges become their union, and strings, sizes and
 * remainders become lists. The others must all hold, each by a value of its own (rule 4): one walk
 * over the values finds all equalities and marks those found; of lower bounds, and of upper bounds,
 * the value that passes the strictest one passes all.
 */
#include "query/match/merged_test.h"

#include "query/match/string_operands.h"

#include <stdlib.h>

/* Fewer tests than this are not merged. */
#define FEW_TESTS 8

/* How tests of one path can be merged. */
enum merge_kind {
    MERGE_NOT,
    /* One of them holds. */
    MERGE_VALUES,
    MERGE_RANGES,
    MERGE_STRINGS,
    MERGE_SIZES,
    MERGE_REMAINDERS,
    /* All of them hold. */
    MERGE_ALL_VALUES,
    MERGE_ALL_TOKENS,
    MERGE_LOWER_BOUNDS,
    MERGE_UPPER_BOUNDS
};

/* merge_kind_of_any -- for one of several of which one must hold. */
static enum merge_kind merge_kind_of_any(const test *t) {
    switch (t->op) {
    case TEST_EQ:
    case TEST_IN: return MERGE_VALUES;
    case TEST_BEGIN:
    case TEST_END:
    case TEST_CONTAINS:
    case TEST_TOKEN: return MERGE_STRINGS;
    case TEST_SIZE: return MERGE_SIZES;
    case TEST_MOD: return MERGE_REMAINDERS;
    default: return range_set_takes(t) ? MERGE_RANGES : MERGE_NOT;
    }
}

/* merge_kind_of -- for one test. */
static enum merge_kind merge_kind_of(const merged_test *g) {
    const test *t = g->test;
    if (t->op == TEST_DOCUMENT)
        return MERGE_NOT;
    if (g->inverted)
        return merge_kind_of_any(t);
    if (t->wild != WILD_NONE || t->other_kinds)
        return MERGE_NOT;
    switch (t->op) {
    case TEST_EQ: return MERGE_ALL_VALUES;
    case TEST_TOKEN: return t->operand_count == 1 ? MERGE_ALL_TOKENS : MERGE_NOT;
    case TEST_GT:
    case TEST_GTE: return MERGE_LOWER_BOUNDS;
    case TEST_LT:
    case TEST_LTE: return MERGE_UPPER_BOUNDS;
    default: return MERGE_NOT;
    }
}

/* merge_group -- what else tests that are merged have in common. */
static int64_t merge_group(const merged_test *g) {
    switch (merge_kind_of(g)) {
    case MERGE_STRINGS: return (int64_t)g->test->op;
    case MERGE_REMAINDERS: return g->test->divisor;
    case MERGE_LOWER_BOUNDS:
    case MERGE_UPPER_BOUNDS: return (int64_t)g->test->kind;
    default: return 0;
    }
}

int part_order(const char *a, size_t a_size, const char *b, size_t b_size) {
    return a_size != b_size ? (a_size > b_size) - (a_size < b_size) : memcmp(a, b, a_size);
}

/* path_order -- part by part. Equal paths are usually one object. */
static int path_order(const path *a, const path *b) {
    if (a == b)
        return 0;
    uint32_t count = a->count < b->count ? a->count : b->count;
    for (uint32_t i = 0; i < count; i++) {
        const path_part *x = &a->parts[i], *y = &b->parts[i];
        int order = part_order(x->name, x->size, y->name, y->size);
        if (order != 0)
            return order;
    }
    return (a->count > b->count) - (a->count < b->count);
}

/* merge_order -- 0 for tests that can be merged. */
static int merge_order(const merged_test *a, const merged_test *b) {
    int order = a->test->path && b->test->path ? path_order(a->test->path, b->test->path) : 0;
    if (order == 0)
        order = (int)merge_kind_of(a) - (int)merge_kind_of(b);
    if (order == 0)
        order = (int)a->test->wild - (int)b->test->wild;
    int64_t a_group = merge_group(a), b_group = merge_group(b);
    if (order == 0)
        order = (a_group > b_group) - (a_group < b_group);
    uintptr_t x = (uintptr_t)a->test->collation, y = (uintptr_t)b->test->collation;
    return order != 0 ? order : (x > y) - (x < y);
}

/* compare_tests -- by merge_order(), then by position in the query. */
static int compare_tests(const void *left, const void *right) {
    const merged_test *a = left, *b = right;
    int order = merge_order(a, b);
    return order != 0 ? order : (a->number > b->number) - (a->number < b->number);
}

/* compare_values -- value_compare() for qsort(). */
static int compare_values(const void *a, const void *b) {
    return value_compare(a, b);
}

/* collect -- collects the operands of tests to be merged. */
static bool collect(arena *memory, const merged_test *list, uint32_t count, test *result) {
    size_t total = 0;
    for (uint32_t i = 0; i < count; i++)
        total += list[i].test->op == TEST_EQ ? 1 : list[i].test->operand_count;
    result->operands =
        total <= UINT32_MAX ? arena_alloc(memory, total * sizeof *result->operands) : NULL;
    if (!result->operands)
        return false;
    result->operand_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        const test *t = list[i].test;
        const doc_value *from = t->op == TEST_EQ ? &t->operand : t->operands;
        uint32_t several = t->op == TEST_EQ ? 1 : t->operand_count;
        for (uint32_t k = 0; k < several; k++)
            result->operands[result->operand_count++] = from[k];
    }
    return true;
}

/* sort_values -- sorts the operands and removes duplicates. */
static void sort_values(test *t) {
    qsort(t->operands, t->operand_count, sizeof *t->operands, compare_values);
    uint32_t kept = 1;
    for (uint32_t i = 1; i < t->operand_count; i++) {
        if (value_compare(&t->operands[i], &t->operands[kept - 1]) != 0)
            t->operands[kept++] = t->operands[i];
    }
    t->operand_count = kept;
}

/* compare_integers -- for qsort(). */
static int compare_integers(const void *left, const void *right) {
    const int64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* collect_integers -- the sizes or remainders of tests. */
static bool collect_integers(arena *memory, const merged_test *list, uint32_t count, test *t) {
    int64_t *integers = arena_alloc(memory, count * sizeof *integers);
    if (!integers)
        return false;
    for (uint32_t i = 0; i < count; i++)
        integers[i] = list[i].test->integer;
    qsort(integers, count, sizeof *integers, compare_integers);
    t->integers = integers;
    t->operand_count = count;
    return true;
}

/* collect_ranges -- the union of tests. */
static bool collect_ranges(arena *memory, const merged_test *list, uint32_t count, test *t) {
    const test **tests = arena_alloc(memory, count * sizeof *tests);
    if (!tests)
        return false;
    for (uint32_t i = 0; i < count; i++)
        tests[i] = list[i].test;
    t->op = TEST_RANGES;
    t->special = true;
    t->ranges = range_set_new(memory, tests, count);
    return t->ranges != NULL;
}

/* collect_strings -- the operands of tests, for one search. */
static bool collect_strings(arena *memory, const merged_test *list, uint32_t count, test *t) {
    if (!collect(memory, list, count, t))
        return false;
    strings_sort(t);
    t->search = NULL;
    return strings_prepare(memory, t);
}

/* collect_values -- the values of tests, sorted. */
static bool collect_values(arena *memory, const merged_test *list, uint32_t count, test *t) {
    if (!collect(memory, list, count, t))
        return false;
    sort_values(t);
    t->op = TEST_IN;
    t->special = t->collation != NULL;
    return true;
}

/* strictest -- of lower bounds, or of upper bounds, of one kind of values. */
static const test *strictest(const merged_test *list, uint32_t count, bool lower) {
    const test *best = list[0].test;
    for (uint32_t i = 1; i < count; i++) {
        const test *t = list[i].test;
        int order = value_compare(&t->operand, &best->operand);
        if (order == 0 ? t->op == TEST_GT || t->op == TEST_LT : (order > 0) == lower)
            best = t;
    }
    return best;
}

/* collect_operands -- makes a test of the operands of several. */
static bool collect_operands(arena *memory, const merged_test *list, uint32_t count, test *t) {
    switch (merge_kind_of(&list[0])) {
    case MERGE_SIZES:
    case MERGE_REMAINDERS: return collect_integers(memory, list, count, t);
    case MERGE_RANGES: return collect_ranges(memory, list, count, t);
    case MERGE_STRINGS:
    case MERGE_ALL_TOKENS: return collect_strings(memory, list, count, t);
    default: return collect_values(memory, list, count, t);
    }
}

/* merge -- merges tests into one. */
static bool merge(arena *memory, const merged_test *list, uint32_t count, merged_test *result) {
    enum merge_kind kind = merge_kind_of(&list[0]);
    *result = (merged_test){.inverted = list[0].inverted, .number = list[0].number};
    if (kind == MERGE_LOWER_BOUNDS || kind == MERGE_UPPER_BOUNDS) {
        result->test = strictest(list, count, kind == MERGE_LOWER_BOUNDS);
        return true;
    }
    test *t = arena_alloc(memory, sizeof *t);
    if (!t)
        return false;
    *t = *list[0].test;
    t->negated = false;
    result->test = t;
    if (!collect_operands(memory, list, count, t))
        return false;
    if (list[0].inverted)
        return true;
    const test **all = arena_alloc(memory, count * sizeof *all);
    if (!all)
        return false;
    for (uint32_t i = 0; i < count; i++)
        all[i] = list[i].test;
    result->all = all;
    result->all_count = count;
    return true;
}

bool merge_tests(arena *memory, merged_test *list, uint32_t *count) {
    uint32_t kept = 0;
    qsort(list, *count, sizeof *list, compare_tests);
    for (uint32_t from = 0, to; from < *count; from = to) {
        for (to = from + 1; to < *count && merge_order(&list[from], &list[to]) == 0;)
            to++;
        if (to - from >= FEW_TESTS && merge_kind_of(&list[from]) != MERGE_NOT) {
            merged_test one;
            if (!merge(memory, list + from, to - from, &one))
                return false;
            list[kept++] = one;
        } else {
            for (uint32_t i = from; i < to; i++)
                list[kept++] = list[i];
        }
    }
    *count = kept;
    return true;
}

/* Merges what holds if one of them does: in an OR tests as they are, in an AND negated ones. */
node *merge_value_tests(arena *memory, node *n) {
    if (n->kind != NODE_AND && n->kind != NODE_OR)
        return n;
    uint32_t count = 0, kept = 0;
    for (node *child = n->first; child; child = child->next)
        count++;
    merged_test *list = arena_alloc(memory, count * sizeof *list);
    node **nodes = arena_alloc(memory, count * sizeof *nodes);
    if (!list || !nodes)
        return NULL;
    uint32_t mergeable = 0;
    for (node *child = n->first; child; child = child->next) {
        merged_test g = {.test = child->test, .inverted = true, .number = mergeable};
        bool taken = child->kind == NODE_TEST && child->test->negated == (n->kind == NODE_AND) &&
                     merge_kind_of(&g) != MERGE_NOT;
        if (taken)
            list[mergeable++] = g;
        else
            nodes[kept++] = child;
    }
    if (mergeable < FEW_TESTS) {
        for (uint32_t i = 0; i < kept; i++) {
            if (!merge_value_tests(memory, nodes[i]))
                return NULL;
        }
        return n;
    }
    if (!merge_tests(memory, list, &mergeable))
        return NULL;
    n->first = n->last = NULL;
    for (uint32_t i = 0; i < mergeable; i++) {
        node *child = arena_alloc(memory, sizeof *child);
        test *t = arena_alloc(memory, sizeof *t);
        if (!child || !t)
            return NULL;
        *t = *list[i].test;
        t->negated = n->kind == NODE_AND;
        *child = (node){.kind = NODE_TEST, .test = t};
        node_append(n, child);
    }
    for (uint32_t i = 0; i < kept; i++) {
        if (!merge_value_tests(memory, nodes[i]))
            return NULL;
        node_append(n, nodes[i]);
    }
    return n->first == n->last ? n->first : n;
}

/* ---- Ranges sorted by their lower ends; those that overlap are one ---- */

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

/* ---- The automaton of Aho and Corasick ---- */

/*
 * A node is a prefix of some of the strings; the nodes are in order of length, those of one parent in the order of their bytes. Where a text leaves the prefixes, its fallback is the longest prefix that it still ends with. So the search reads each byte of the text once, however many strings there are and however they repeat themselves.
 */

typedef struct search_node {
    uint32_t fallback; /* while the nodes are made: the first string with this prefix */
    uint32_t first;    /* child; while the nodes are made: after the last string */
    uint16_t count;    /* of children */
    uint8_t byte;      /* the last one of the prefix */
    bool found;        /* a text that ends with the prefix contains a string */
} search_node;

struct string_search {
    uint32_t count;
    search_node *nodes;
};

#define NO_NODE 0  /* the root is nobody's child */
#define PIECE 4096 /* bytes between two looks at the deadline */

/* count_nodes -- the number of prefixes that the strings have, the empty one among them. */
static size_t count_nodes(const doc_value *operands, uint32_t count) {
    size_t total = 1, last_size = 0;
    const char *last = NULL;
    for (uint32_t i = 0; i < count; i++) {
        size_t size, common = 0;
        const char *text = doc_string(&operands[i], &size);
        while (common < size && common < last_size && text[common] == last[common])
            common++;
        total += size - common;
        last = text;
        last_size = size;
    }
    return total;
}

/* add_children -- of one node, whose prefix has `depth` bytes. */
static void add_children(string_search *s, uint32_t at, const doc_value *operands, size_t depth) {
    search_node *node = &s->nodes[at];
    uint32_t from = node->fallback, to = node->first;
    size_t size;
    (void)doc_string(&operands[from], &size);
    node->first = s->count;
    /* No other string begins with this one. */
    node->found = size == depth;
    for (uint32_t i = from; i < to && !node->found; i++) {
        uint8_t byte = (uint8_t)doc_string(&operands[i], &size)[depth];
        if (node->count == 0 || s->nodes[s->count - 1].byte != byte) {
            s->nodes[s->count++] = (search_node){.fallback = i, .byte = byte};
            node->count++;
        }
        s->nodes[s->count - 1].first = i + 1;
    }
}

/* child_of -- the child of a node by its byte, or NO_NODE. */
static uint32_t child_of(const string_search *s, uint32_t at, uint8_t byte) {
    uint32_t low = s->nodes[at].first, high = low + s->nodes[at].count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (s->nodes[middle].byte == byte)
            return middle;
        if (s->nodes[middle].byte < byte)
            low = middle + 1;
        else
            high = middle;
    }
    return NO_NODE;
}

/* next_of -- the node after one more byte: the longest prefix that the text now ends with. */
static uint32_t next_of(const string_search *s, uint32_t at, uint8_t byte) {
    for (;;) {
        uint32_t next = child_of(s, at, byte);
        if (next != NO_NODE || at == 0)
            return next;
        at = s->nodes[at].fallback;
    }
}

/* set_fallbacks -- of the children of a node; its own is set. */
static void set_fallbacks(string_search *s, uint32_t at) {
    for (uint32_t i = 0; i < s->nodes[at].count; i++) {
        search_node *child = &s->nodes[s->nodes[at].first + i];
        child->fallback = at == 0 ? 0 : next_of(s, s->nodes[at].fallback, child->byte);
        child->found = child->found || s->nodes[child->fallback].found;
    }
}

const string_search *string_search_new(arena *memory, const doc_value *operands, uint32_t count) {
    size_t total = count_nodes(operands, count), depth = 0;
    string_search *s = arena_alloc(memory, sizeof *s);
    if (!s || total > UINT32_MAX)
        return NULL;
    s->nodes = arena_alloc(memory, total * sizeof *s->nodes);
    if (!s->nodes)
        return NULL;
    s->nodes[0].first = count;
    s->count = 1;
    for (uint32_t at = 0, level_end = 1; at < s->count; at++) {
        if (at == level_end) {
            depth++;
            level_end = s->count;
        }
        add_children(s, at, operands, depth);
    }
    s->nodes[0].fallback = 0;
    for (uint32_t at = 0; at < s->count; at++)
        set_fallbacks(s, at);
    return s;
}

bool string_search_finds(const string_search *s, match_context *c, const char *text, size_t size) {
    uint32_t node = 0;
    for (size_t i = 0; i < size; i++) {
        if (i % PIECE == 0 && !match_read(c, size - i < PIECE ? size - i : PIECE))
            return false;
        node = next_of(s, node, (uint8_t)text[i]);
        if (s->nodes[node].found)
            return true;
    }
    return false;
}
