/*
 * query/match.c -- whether a stored document matches, read in place.
 *
 * A compiled selector is a tree of conjunctions. Each groups its tests by the top-level key that
 * they begin at, so that one pass over the document serves them all and stops at the first test
 * that fails. An OR is the negated conjunction of its negated branches (De Morgan), so that there
 * is one kind of tree node and one loop.
 */
#include "query/internal.h"

#define MAX_FIELDS 64 /* fields of one conjunction; more go into a conjunction below it */

typedef struct match_test {
    const test *test;
    bool inverse; /* the test must not hold */
    struct match_test *next;
} match_test;

/* All tests whose paths begin with one key. */
typedef struct match_field {
    const char *key;
    uint32_t key_size;
    bool passes_missing; /* the result when a document does not have the key */
    match_test *tests;
} match_field;

struct matcher {
    bool negated;
    match_test *wild; /* tests of "*" and "**" */
    uint32_t field_count;
    uint32_t field_capacity;
    match_field *fields;
    matcher *children;
    matcher *next;
};

/* ---- Testing one value ---- */

/* compare_double -- a double with a whole number that is exact as a double; NaN is the least. */
static inline int compare_double(double value, int64_t whole) {
    double other = (double)whole;
    return value > other ? 1 : value == other ? 0 : -1;
}

/* compare_bytes -- two strings by their bytes. */
static inline int compare_bytes(const char *a, size_t a_size, const char *b, size_t b_size) {
    int order = memcmp(a, b, a_size < b_size ? a_size : b_size);
    return order != 0 ? order : (a_size > b_size) - (a_size < b_size);
}

/* compare_operand -- orders a value of the operand's kind against the operand. */
static inline int compare_operand(const test *t, const doc_value *value) {
    if (t->integral) {
        if (value->type == DOC_INT32) {
            int64_t number = doc_int32(value);
            return (number > t->integer) - (number < t->integer);
        }
        if (value->type == DOC_INT64) {
            int64_t number = doc_int64(value);
            return (number > t->integer) - (number < t->integer);
        }
        if (value->type == DOC_DOUBLE)
            return compare_double(doc_double(value), t->integer);
    } else if (value->type == DOC_STRING && t->operand.type == DOC_STRING) {
        size_t a_size, b_size;
        const char *a = doc_string(value, &a_size);
        const char *b = doc_string(&t->operand, &b_size);
        return compare_bytes(a, a_size, b, b_size);
    }
    return value_compare(value, &t->operand);
}

/* equals_operand -- whether a value of the operand's kind is the operand. */
static inline bool equals_operand(const test *t, const doc_value *value) {
    if (value->type == DOC_STRING && t->operand.type == DOC_STRING)
        return value->size == t->operand.size &&
               memcmp(value->data, t->operand.data, value->size) == 0;
    return compare_operand(t, value) == 0;
}

/* test_has_operand -- see internal.h. */
bool test_has_operand(const test *t, const doc_value *value) {
    uint32_t low = 0, high = t->operand_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = value_compare(value, &t->operands[middle]);
        if (order == 0)
            return true;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return false;
}

/* has_prefix -- whether a value is a string that begins with one of the operands. */
static bool has_prefix(const test *t, const doc_value *value) {
    if (value_kind_of(value->type) != KIND_STRING)
        return false;
    size_t size;
    const char *text = doc_string(value, &size);
    for (uint32_t i = 0; i < t->operand_count; i++) {
        size_t prefix_size;
        const char *prefix = doc_string(&t->operands[i], &prefix_size);
        if (prefix_size <= size && memcmp(text, prefix, prefix_size) == 0)
            return true;
    }
    return false;
}

/* test_value -- one value by itself (see internal.h). */
bool test_value(const test *t, match_context *c, const doc_value *value) {
    if (t->special)
        return test_special(t, c, value);
    switch (t->op) {
    case TEST_EXISTS: return value->type != DOC_MISSING;
    case TEST_IN: return test_has_operand(t, value);
    case TEST_BEGIN: return has_prefix(t, value);
    default: break;
    }
    /* Rule 7: values of another kind are never compared. */
    if (value->type != t->operand.type && value_kind_of(value->type) != t->kind)
        return false;
    switch (t->op) {
    case TEST_GT: return compare_operand(t, value) > 0;
    case TEST_GTE: return compare_operand(t, value) >= 0;
    case TEST_LT: return compare_operand(t, value) < 0;
    case TEST_LTE: return compare_operand(t, value) <= 0;
    default: return equals_operand(t, value);
    }
}

/* ---- Testing what a path finds ---- */

/* holds_at -- the value at a path's end, and if it is an array its elements too (rule 4). */
static bool holds_at(const test *t, match_context *c, const doc_value *value) {
    if (test_value(t, c, value))
        return true;
    doc_iter iter;
    if (value->type != DOC_ARRAY || t->whole || !doc_iter_value(&iter, value))
        return false;
    while (doc_iter_next(&iter)) {
        if (test_value(t, c, &iter.value))
            return true;
    }
    return false;
}

/* A test on its way through a path. */
typedef struct visiting {
    const test *test;
    match_context *context;
} visiting;

/* visit -- ends the walk at the first value that passes. */
static bool visit(void *context, const doc_value *value) {
    const visiting *v = context;
    return !holds_at(v->test, v->context, value);
}

/* find_part -- the value of a key in a document that is a value. */
static inline bool find_part(const path_part *part, doc_value *value) {
    doc_iter iter;
    if (!doc_iter_value(&iter, value))
        return false;
    while (doc_iter_next(&iter)) {
        if (iter.key_size == part->size && iter.key[0] == part->name[0] &&
            memcmp(iter.key, part->name, part->size) == 0) {
            *value = iter.value;
            return true;
        }
    }
    return false;
}

/* holds -- whether a test, not negated, holds, given the value of the path's first part. */
static bool holds(const test *t, match_context *c, const doc_value *top, const uint8_t *doc,
                  size_t size) {
    static const doc_value missing = {NULL, 0, DOC_MISSING};
    const path *p = t->path;
    doc_value value = *top;
    for (uint32_t i = 1; i < p->count; i++) {
        if (value.type == DOC_ARRAY) {
            visiting v = {t, c};
            return !path_walk(p, doc, size, visit, &v, NULL);
        }
        if (value.type != DOC_DOCUMENT || !find_part(&p->parts[i], &value)) {
            value = missing;
            break;
        }
    }
    return holds_at(t, c, &value);
}

/* holds_below -- "**": a value, or any that it holds. Recursion is bounded by the document's checked
 * depth. */
static bool holds_below(const test *t, match_context *c, const doc_value *value) {
    if (test_value(t, c, value))
        return true;
    doc_iter iter;
    if ((value->type != DOC_DOCUMENT && value->type != DOC_ARRAY) || !doc_iter_value(&iter, value))
        return false;
    while (doc_iter_next(&iter)) {
        if (holds_below(t, c, &iter.value))
            return true;
    }
    return false;
}

/* holds_anywhere -- a test of "*" or "**". */
static bool holds_anywhere(const test *t, match_context *c, const uint8_t *doc, size_t size) {
    doc_iter iter;
    bool valid = doc_iter_init(&iter, doc, size);
    while (valid && doc_iter_next(&iter)) {
        if (t->wild == WILD_FIELDS ? holds_at(t, c, &iter.value) : holds_below(t, c, &iter.value))
            return true;
    }
    return false;
}

/* field_passes -- all tests that begin at one key. */
static inline bool field_passes(const match_field *field, match_context *c, const doc_value *value,
                                const uint8_t *doc, size_t size) {
    for (const match_test *test = field->tests; test; test = test->next) {
        if (holds(test->test, c, value, doc, size) == test->inverse)
            return false;
    }
    return true;
}

/* fields_pass -- all fields of a conjunction, in one pass over the document. */
static bool fields_pass(const matcher *m, match_context *c, const uint8_t *doc, size_t size) {
    uint64_t pending = UINT64_MAX >> (64 - m->field_count);
    doc_iter iter;
    bool valid = doc_iter_init(&iter, doc, size);
    while (valid && doc_iter_next(&iter)) {
        for (uint64_t left = pending; left != 0; left &= left - 1) {
            const match_field *field = &m->fields[__builtin_ctzll(left)];
            if (iter.key_size != field->key_size || iter.key[0] != field->key[0] ||
                memcmp(iter.key, field->key, field->key_size) != 0)
                continue;
            if (!field_passes(field, c, &iter.value, doc, size))
                return false;
            pending &= ~(left & -left);
            if (pending == 0)
                return true;
            break;
        }
    }
    for (; pending != 0; pending &= pending - 1) {
        if (!m->fields[__builtin_ctzll(pending)].passes_missing)
            return false;
    }
    return true;
}

/* matcher_run -- see internal.h. Recursion is as deep as the selector at most. */
bool matcher_run(const matcher *m, match_context *c, const uint8_t *doc, size_t size) {
    bool all = m->field_count == 0 || fields_pass(m, c, doc, size);
    for (const matcher *child = m->children; all && child; child = child->next)
        all = matcher_run(child, c, doc, size);
    for (const match_test *test = m->wild; all && test; test = test->next)
        all = holds_anywhere(test->test, c, doc, size) != test->inverse;
    return all != m->negated;
}

/* ---- Compiling ---- */

/* add_child -- an empty conjunction below `m`; NULL when memory is exhausted. */
static matcher *add_child(arena *memory, matcher *m) {
    matcher *child = arena_alloc(memory, sizeof *child);
    if (child) {
        child->next = m->children;
        m->children = child;
    }
    return child;
}

/* grow_fields -- room for one more field. */
static bool grow_fields(arena *memory, matcher *m) {
    if (m->field_count < m->field_capacity)
        return true;
    uint32_t capacity = m->field_capacity == 0 ? 2 : m->field_capacity * 2;
    match_field *fields = arena_alloc(memory, capacity * sizeof *fields);
    if (!fields)
        return false;
    if (m->field_count != 0)
        memcpy(fields, m->fields, m->field_count * sizeof *fields);
    m->fields = fields;
    m->field_capacity = capacity;
    return true;
}

/* find_field -- the field of a key, made if need be. When `*open` is full it moves on to a new
 * conjunction below `m`. NULL when memory is exhausted. */
static match_field *find_field(arena *memory, matcher *m, matcher **open, const path_part *part) {
    for (uint32_t i = 0; i < (*open)->field_count; i++) {
        match_field *field = &(*open)->fields[i];
        if (field->key_size == part->size && memcmp(field->key, part->name, part->size) == 0)
            return field;
    }
    if ((*open)->field_count == MAX_FIELDS) {
        *open = add_child(memory, m);
        if (!*open)
            return NULL;
    }
    if (!grow_fields(memory, *open))
        return NULL;
    match_field *field = &(*open)->fields[(*open)->field_count++];
    *field = (match_field){part->name, part->size, true, NULL};
    return field;
}

/* add_test -- puts a test into its field. Equalities go first: they are the cheapest. */
static bool add_test(arena *memory, matcher *m, matcher **open, const test *t, bool inverse) {
    static const doc_value missing = {NULL, 0, DOC_MISSING};
    match_test *entry = arena_alloc(memory, sizeof *entry);
    if (!entry)
        return false;
    if (t->wild != WILD_NONE) {
        *entry = (match_test){t, inverse, m->wild};
        m->wild = entry;
        return true;
    }
    match_field *field = find_field(memory, m, open, &t->path->parts[0]);
    if (!field)
        return false;
    match_test **where = &field->tests;
    while (t->op != TEST_EQ && *where)
        where = &(*where)->next;
    *entry = (match_test){t, inverse, *where};
    *where = entry;
    field->passes_missing = field->passes_missing && test_value(t, NULL, &missing) != inverse;
    return true;
}

/* compile -- fills a conjunction from a node; `negate` asks for the node's negation. */
static bool compile(arena *memory, matcher *m, const node *n, bool negate) {
    matcher *open = m;
    switch (n->kind) {
    case NODE_TRUE:
    case NODE_FALSE: m->negated = (n->kind == NODE_FALSE) != negate; return true;
    case NODE_TEST: return add_test(memory, m, &open, n->test, n->test->negated != negate);
    default: break;
    }
    /* An AND is the conjunction of its children; an OR the negated one of its children's
     * negations. */
    bool turn = n->kind == NODE_OR;
    m->negated = turn != negate;
    for (const node *child = n->first; child; child = child->next) {
        if (child->kind == NODE_TEST) {
            if (!add_test(memory, m, &open, child->test, child->test->negated != turn))
                return false;
            continue;
        }
        matcher *below = add_child(memory, m);
        if (!below || !compile(memory, below, child, turn))
            return false;
    }
    return true;
}

/* matcher_compile -- see internal.h. */
matcher *matcher_compile(arena *memory, const node *root) {
    matcher *m = arena_alloc(memory, sizeof *m);
    return m && compile(memory, m, root, false) ? m : NULL;
}
