/*
 * query/match/matcher.c -- whether a stored document matches, read in place.
 *
 * A compiled selector is a tree of conjunctions. Each groups its tests by the first part of their
 * paths, so one pass over the document evaluates them all and stops at the first test that fails.
 * An OR is the negated conjunction of its negated branches (De Morgan), so there is one kind of
 * tree node and one loop.
 */
#include "query/match/matcher.h"

#include "bson/number.h"
#include "query/match/match_value.h"
#include "query/match/merged_test.h"
#include "query/match/string_operands.h"

/* ---- A compiled selector, as compiling makes it and matching reads it ---- */

#define MAX_PENDING 64 /* fields of a conjunction that a bit mask tracks; more are searched for */

typedef struct match_test {
    merged_test is;
    struct match_test *next;
    struct match_test *next_of_path;
} match_test;

/* All tests whose paths begin with the same key. */
typedef struct match_field {
    const char *key;
    uint32_t key_size;
    bool passes_missing; /* the result for documents without the key */
    match_test *tests;
    match_test *last;
} match_field;

/* Tests by their paths. */
typedef struct path_tests {
    uint32_t count;
    const path *paths[LAYOUT_PATHS];
    match_test *tests[LAYOUT_PATHS];
} path_tests;

struct matcher {
    bool negated;
    match_test *wild; /* tests of wildcard paths */
    uint32_t field_count;
    uint32_t field_capacity;
    uint32_t required;   /* with more than MAX_PENDING fields: those that a document must have */
    match_field *fields; /* with more than MAX_PENDING: sorted by part_order() */
    const path *path;    /* that all tests are of, of a conjunction with one field; or NULL */
    path_tests *by_path; /* of the root, if its tests are of several paths, but of few; or NULL */
    matcher *children;
    matcher *next;
};

#define SHORT_STRING 64 /* bytes that are compared without a call */

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

/* equals_operand -- whether a value of the operand's kind equals the operand. */
static inline bool equals_operand(const test *t, const doc_value *value) {
    if (value->type == DOC_STRING && t->operand.type == DOC_STRING) {
        if (value->size != t->operand.size)
            return false;
        return value->size <= SHORT_STRING ? bytes_equal(value->data, t->operand.data, value->size)
                                           : memcmp(value->data, t->operand.data, value->size) == 0;
    }
    return compare_operand(t, value) == 0;
}

uint32_t test_find_operand(const test *t, const doc_value *value) {
    uint32_t low = 0, high = t->operand_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = value_compare(value, &t->operands[middle]);
        if (order == 0)
            return middle;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return UINT32_MAX;
}

/* has_prefix -- whether a value is a string that begins with an operand. */
static bool has_prefix(const test *t, const doc_value *value) {
    if (value_kind_of(value->type) != KIND_STRING)
        return false;
    size_t size;
    const char *text = doc_string(value, &size);
    return strings_match_prefix(t, text, size);
}

/* value_passes -- test_value(), inlined where a scan needs it. */
static inline bool value_passes(const test *t, match_context *c, const doc_value *value) {
    if (t->special)
        return test_special_value(t, c, value);
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
    /* Ranges of numbers never have NaN, which sorts below all. */
    case TEST_LT: return compare_operand(t, value) < 0 && !number_is_nan(value);
    case TEST_LTE: return compare_operand(t, value) <= 0 && !number_is_nan(value);
    default: return equals_operand(t, value);
    }
}

bool test_value(const test *t, match_context *c, const doc_value *value) {
    return value_passes(t, c, value);
}

/* ---- Testing what a path finds ---- */

/* holds_at -- tests the value at a path's end and, if it is an array, its elements (rule 4). */
static bool holds_at(const test *t, match_context *c, const doc_value *value) {
    if (test_value(t, c, value))
        return true;
    doc_iter iter;
    if (value->type != DOC_ARRAY || t->on_array || !doc_iter_value(&iter, value))
        return false;
    while (match_step(c, 1) && doc_iter_next(&iter)) {
        if (test_value(t, c, &iter.value))
            return true;
    }
    return false;
}

/* A test that a path walk evaluates. */
typedef struct visiting {
    const test *test;
    match_context *context;
} visiting;

/* visit -- ends the walk at the first value that passes. */
static bool visit(void *context, const doc_value *value) {
    const visiting *v = context;
    return !holds_at(v->test, v->context, value);
}

/* holds_walking -- whether a test holds for a value that its path finds in arrays. */
static bool holds_walking(const test *t, match_context *c, const uint8_t *doc, size_t size) {
    visiting v = {t, c};
    return !path_walk(t->path, doc, size, visit, &v, NULL);
}

/* find_key -- the first value of a key in a document; false when there is none. Nothing here takes
 * the address of the iterator, so all of it is in registers: this loop is most of what a collection
 * scan does. */
static inline bool find_key(const char *key, uint32_t key_size, const uint8_t *doc, size_t size,
                            doc_value *value) {
    doc_iter iter;
    if (!doc_iter_init(&iter, doc, size))
        return false;
    while (doc_iter_next(&iter)) {
        if (iter.key_size == key_size && iter.key[0] == key[0] &&
            memcmp(iter.key, key, key_size) == 0) {
            *value = iter.value;
            return true;
        }
    }
    return false;
}

/* find_part -- replaces a document by the value of one of its keys. */
static inline bool find_part(const path_part *part, doc_value *value) {
    return find_key(part->name, part->size, value->data, value->size, value);
}

/* holds -- whether a test holds, disregarding its negation, given the value of the path's first
 * part. */
static bool holds(const test *t, match_context *c, const doc_value *top, const uint8_t *doc,
                  size_t size) {
    static const doc_value missing = {NULL, 0, DOC_MISSING};
    const path *p = t->path;
    doc_value value = *top;
    for (uint32_t i = 1; i < p->count; i++) {
        if (!match_read(c, value.size))
            return false;
        if (value.type == DOC_ARRAY)
            return holds_walking(t, c, doc, size);
        if (value.type != DOC_DOCUMENT || !find_part(&p->parts[i], &value)) {
            value = missing;
            break;
        }
    }
    return holds_at(t, c, &value);
}

/* holds_below -- "**": tests a value at a depth and all values in it, down to the depth that is
 * allowed. */
static bool holds_below(const test *t, match_context *c, const doc_value *value, uint32_t depth) {
    if (test_value(t, c, value))
        return true;
    doc_iter iter;
    if ((value->type != DOC_DOCUMENT && value->type != DOC_ARRAY) || depth >= TANSU_MAX_DEPTH ||
        !doc_iter_value(&iter, value))
        return false;
    while (match_step(c, 1) && doc_iter_next(&iter)) {
        if (holds_below(t, c, &iter.value, depth + 1))
            return true;
    }
    return false;
}

/* holds_named -- "**.name": tests the values of the fields of that name, in a document or an array
 * at a depth and in all documents in it, down to the depth that is allowed. */
static bool holds_named(const test *t, match_context *c, const uint8_t *data, size_t size,
                        bool array, uint32_t depth) {
    const path_part *name = &t->path->parts[1];
    doc_iter iter;
    bool valid = depth < TANSU_MAX_DEPTH && doc_iter_init(&iter, data, size);
    while (valid && match_step(c, 1) && doc_iter_next(&iter)) {
        const doc_value *value = &iter.value;
        bool is_it =
            !array && iter.key_size == name->size && memcmp(iter.key, name->name, name->size) == 0;
        if (is_it && holds_at(t, c, value))
            return true;
        if ((value->type == DOC_DOCUMENT || value->type == DOC_ARRAY) &&
            holds_named(t, c, value->data, value->size, value->type == DOC_ARRAY, depth + 1))
            return true;
    }
    return false;
}

/* holds_anywhere -- evaluates a test of a wildcard path. */
static bool holds_anywhere(const test *t, match_context *c, const uint8_t *doc, size_t size) {
    if (t->wild == WILD_DOCUMENT)
        return t->document->holds(t->document, c, doc, size);
    if (t->wild == WILD_NAMED)
        return holds_named(t, c, doc, size, false, 0);
    doc_iter iter;
    bool valid = doc_iter_init(&iter, doc, size);
    while (valid && match_step(c, 1) && doc_iter_next(&iter)) {
        if (t->wild == WILD_FIELDS ? holds_at(t, c, &iter.value)
                                   : holds_below(t, c, &iter.value, 1))
            return true;
    }
    return false;
}

/* ---- Tests for each of many values ---- */

/* The operands found so far. */
typedef struct marking {
    const test *test;
    match_context *context;
    size_t marks; /* offset in the marks of the context */
    uint32_t left;
} marking;

/* mark -- marks an operand as found. True when all are. */
static bool mark(marking *m, uint32_t operand) {
    if (operand != UINT32_MAX && !m->context->marks.data[m->marks + operand]) {
        m->context->marks.data[m->marks + operand] = 1;
        m->left--;
    }
    return m->left == 0;
}

/* mark_value -- marks the operand that equals a value, or those that are tokens of it. */
static bool mark_value(marking *m, const doc_value *value) {
    const test *t = m->test;
    doc_value collated;
    bool tokens = t->op == TEST_TOKEN;
    if (tokens && value->type != DOC_STRING && value->type != DOC_SYMBOL)
        return false;
    if (!match_read(m->context, value->size) || !test_collate(t, m->context, value, &collated))
        return false;
    if (!tokens)
        return mark(m, test_find_operand(t, &collated));
    size_t size, token_size, at = 0;
    const char *token, *text = doc_string(&collated, &size);
    while (next_token(text, size, &at, &token, &token_size)) {
        if (mark(m, strings_find(t, token, token_size)))
            return true;
    }
    return false;
}

/* mark_at -- marks by the value at a path's end and, if it is an array, by its elements. */
static bool mark_at(marking *m, const doc_value *value) {
    doc_iter iter;
    if (mark_value(m, value))
        return true;
    if (value->type != DOC_ARRAY || !doc_iter_value(&iter, value))
        return false;
    while (doc_iter_next(&iter)) {
        if (mark_value(m, &iter.value))
            return true;
    }
    return false;
}

/* mark_visited -- ends the walk when all are found. */
static bool mark_visited(void *context, const doc_value *value) {
    return !mark_at(context, value);
}

/* push_marks -- appends zeroed marks to those in use and returns their offset. SIZE_MAX when memory
 * is exhausted. */
static size_t push_marks(match_context *c, size_t count) {
    size_t start = c->marks.size;
    if (!buffer_reserve(&c->marks, count)) {
        match_fail(c, TANSU_E_MEMORY, NULL, NULL);
        return SIZE_MAX;
    }
    memset(c->marks.data + start, 0, count);
    c->marks.size = start + count;
    return start;
}

/* all_hold -- whether merged tests all hold. The first is evaluated by itself, since it usually
 * fails. */
static bool all_hold(const merged_test *merged, match_context *c, const doc_value *top,
                     const uint8_t *doc, size_t size) {
    if (!holds(merged->all[0], c, top, doc, size))
        return false;
    if (!c) {
        for (uint32_t i = 1; i < merged->all_count; i++) {
            if (!holds(merged->all[i], c, top, doc, size))
                return false;
        }
        return true;
    }
    marking m = {.test = merged->test, .context = c, .left = merged->test->operand_count};
    m.marks = match_step(c, m.left / 64) ? push_marks(c, m.left) : SIZE_MAX;
    if (m.marks == SIZE_MAX)
        return false;
    /* From the top, since the value may be missing or below arrays. */
    bool found = !path_walk(merged->test->path, doc, size, mark_visited, &m, NULL);
    c->marks.size = m.marks;
    return found;
}

/* test_passes -- evaluates a test, or merged ones, given the value of the path's first part. */
static inline bool test_passes(const merged_test *m, match_context *c, const doc_value *value,
                               const uint8_t *doc, size_t size) {
    bool passes = m->all ? all_hold(m, c, value, doc, size) : holds(m->test, c, value, doc, size);
    return passes != m->inverted;
}

/* ---- Conjunctions ---- */

/* field_passes -- evaluates all tests of one key. */
static inline bool field_passes(const match_field *field, match_context *c, const doc_value *value,
                                const uint8_t *doc, size_t size) {
    for (const match_test *test = field->tests; test; test = test->next) {
        if (!match_step(c, 1) || !test_passes(&test->is, c, value, doc, size))
            return false;
    }
    return true;
}

/* search_field -- the field of a key among sorted fields, or NULL. */
static const match_field *search_field(const matcher *m, const char *key, size_t size) {
    uint32_t low = 0, high = m->field_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const match_field *field = &m->fields[middle];
        int order = part_order(key, size, field->key, field->key_size);
        if (order == 0)
            return field;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

/* many_pass -- evaluates very many fields: looks up each key of the document among them. Of a
 * duplicate key, which no stored document has, the first counts. */
static bool many_pass(const matcher *m, match_context *c, const uint8_t *doc, size_t size) {
    uint32_t left = m->required;
    size_t marks = c ? push_marks(c, m->field_count) : 0;
    doc_iter iter;
    bool passes = marks != SIZE_MAX && doc_iter_init(&iter, doc, size);
    while (passes && match_step(c, 1) && doc_iter_next(&iter)) {
        const match_field *field = search_field(m, iter.key, iter.key_size);
        uint8_t *seen = field && c ? &c->marks.data[marks + (size_t)(field - m->fields)] : NULL;
        if (!field || (seen && *seen))
            continue;
        if (seen)
            *seen = 1;
        left -= !field->passes_missing;
        passes = field_passes(field, c, &iter.value, doc, size);
    }
    if (c && marks != SIZE_MAX)
        c->marks.size = marks;
    return passes && left == 0;
}

/* path_passes -- evaluates the tests of a conjunction that are all of one path. */
static bool path_passes(const matcher *m, match_context *c, const uint8_t *doc, size_t size) {
    doc_value value;
    enum trail_end end = trail_find(c->trail, m->path, doc, size, &value);
    if (end == TRAIL_NO_FIELD)
        return m->fields->passes_missing;
    if (end == TRAIL_MISSING)
        value = (doc_value){NULL, 0, DOC_MISSING};
    for (const match_test *test = m->fields->tests; test; test = test->next) {
        if (!match_step(c, 1))
            return false;
        const struct test *t = test->is.test;
        bool passes;
        if (end == TRAIL_ARRAY)
            passes = holds_walking(t, c, doc, size);
        else if (value.type == DOC_ARRAY)
            passes = holds_at(t, c, &value);
        else
            passes = value_passes(t, c, &value);
        if (passes == test->is.inverted)
            return false;
    }
    return true;
}

/* follows_trail -- whether the conjunction is the one that the context's trail is for. */
static inline bool follows_trail(const matcher *m, match_context *c) {
    if (!m->path || !c || !c->trail)
        return false;
    if (!c->trail->owner)
        trail_begin(c->trail, m);
    return c->trail->owner == m;
}

/* one_passes -- evaluates the field of a conjunction that has no other. */
static bool one_passes(const matcher *m, match_context *c, const uint8_t *doc, size_t size) {
    const match_field *field = m->fields;
    doc_value value;
    if (follows_trail(m, c))
        return path_passes(m, c, doc, size);
    return find_key(field->key, field->key_size, doc, size, &value)
               ? field_passes(field, c, &value, doc, size)
               : field->passes_missing;
}

/* follows_layout -- whether the conjunction is the one that the context's layout is for. */
static inline bool follows_layout(const matcher *m, match_context *c) {
    if (!m->by_path || !c || !c->layout)
        return false;
    if (!c->layout->owner)
        layout_begin(c->layout, m);
    return c->layout->owner == m;
}

/* known_pass -- evaluates tests where the layout has their values, in the order of the document:
 * 1 when all hold, 0 when one does not, -1 when some are left. */
static int known_pass(const matcher *m, match_context *c, const uint8_t *doc, size_t size) {
    const path_tests *by_path = m->by_path;
    uint32_t left = by_path->count;
    layout_walk walk;
    doc_value value;
    int number;
    if (!layout_walk_begin(&walk, c->layout, doc, size))
        return -1;
    while (left != 0 && (number = layout_walk_next(&walk, &value)) >= 0) {
        for (const match_test *test = by_path->tests[number]; test; test = test->next_of_path) {
            const struct test *t = test->is.test;
            if (!match_step(c, 1))
                return 0;
            bool passes =
                value.type == DOC_ARRAY ? holds_at(t, c, &value) : value_passes(t, c, &value);
            if (passes == test->is.inverted)
                return 0;
        }
        left--;
    }
    if (left == 0) {
        backoff_succeeded(&c->layout->learning);
        return 1;
    }
    layout_learn(c->layout, by_path->paths, by_path->count, doc, size);
    return -1;
}

/* fields_pass -- evaluates all fields of a conjunction in one pass over the document. */
static bool fields_pass(const matcher *m, match_context *c, const uint8_t *doc, size_t size) {
    if (m->field_count > MAX_PENDING)
        return many_pass(m, c, doc, size);
    if (!match_read(c, size))
        return false;
    int known = follows_layout(m, c) ? known_pass(m, c, doc, size) : -1;
    if (known >= 0)
        return known == 1;
    if (m->field_count == 1)
        return one_passes(m, c, doc, size);
    uint64_t pending = UINT64_MAX >> (64 - m->field_count);
    doc_iter iter;
    bool valid = doc_iter_init(&iter, doc, size);
    while (valid && doc_iter_next(&iter)) {
        for (uint64_t left = pending; left != 0; left &= left - 1) {
            const match_field *field = &m->fields[__builtin_ctzll(left)];
            if (iter.key_size != field->key_size || iter.key[0] != field->key[0] ||
                memcmp(iter.key, field->key, field->key_size) != 0)
                continue;
            doc_value value = iter.value; /* a copy, so that the iterator stays in registers */
            if (!field_passes(field, c, &value, doc, size))
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

/* The depth of the selector bounds the recursion. */
bool matcher_run(const matcher *m, match_context *c, const uint8_t *doc, size_t size) {
    bool all = m->field_count == 0 || fields_pass(m, c, doc, size);
    for (const matcher *child = m->children; all && child; child = child->next)
        all = match_step(c, 1) && matcher_run(child, c, doc, size);
    for (const match_test *test = m->wild; all && test; test = test->next)
        all = holds_anywhere(test->is.test, c, doc, size) != test->is.inverted;
    return all != m->negated;
}

/* ---- From a normalised tree to a matcher ---- */

#define FEW_TESTS 16 /* tests of a conjunction that keep the order of the query */

/* add_child -- adds an empty conjunction below `m`. NULL when memory is exhausted. */
static matcher *add_child(arena *memory, matcher *m) {
    matcher *child = arena_alloc(memory, sizeof *child);
    if (child) {
        child->next = m->children;
        m->children = child;
    }
    return child;
}

/* grow_fields -- ensures capacity for one more field. */
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

/* find_field -- finds or adds the field of a key. `sorted`: the keys arrive in order, so it can
 * only be the last one. NULL when memory is exhausted. */
static match_field *find_field(arena *memory, matcher *m, const path_part *part, bool sorted) {
    for (uint32_t i = sorted && m->field_count != 0 ? m->field_count - 1 : 0; i < m->field_count;
         i++) {
        match_field *field = &m->fields[i];
        if (field->key_size == part->size && memcmp(field->key, part->name, part->size) == 0)
            return field;
    }
    if (!grow_fields(memory, m))
        return NULL;
    match_field *field = &m->fields[m->field_count++];
    *field = (match_field){.key = part->name, .key_size = part->size, .passes_missing = true};
    return field;
}

/* add_test -- adds a test to its field. Equalities go first, since they are the cheapest. */
static bool add_test(arena *memory, matcher *m, const merged_test *g, bool sorted) {
    static const doc_value missing = {NULL, 0, DOC_MISSING};
    match_test *entry = arena_alloc(memory, sizeof *entry);
    if (!entry)
        return false;
    if (g->test->wild != WILD_NONE) {
        *entry = (match_test){.is = *g, .next = m->wild};
        m->wild = entry;
        return true;
    }
    match_field *field = find_field(memory, m, &g->test->path->parts[0], sorted);
    if (!field)
        return false;
    bool first = g->test->op == TEST_EQ;
    *entry = (match_test){.is = *g, .next = first ? field->tests : NULL};
    if (first || !field->tests)
        field->tests = entry;
    else
        field->last->next = entry;
    if (!entry->next)
        field->last = entry;
    bool holds_missing = test_value(g->test, NULL, &missing);
    for (uint32_t i = 0; holds_missing && i < g->all_count; i++)
        holds_missing = test_value(g->all[i], NULL, &missing);
    field->passes_missing = field->passes_missing && holds_missing != g->inverted;
    return true;
}

/* only_path -- the path of all tests of the only field; NULL when there are others. */
static const path *only_path(const matcher *m) {
    const path *only = m->field_count == 1 ? m->fields->tests->is.test->path : NULL;
    for (const match_test *test = only ? m->fields->tests : NULL; test; test = test->next) {
        if (test->is.all || !path_equal(test->is.test->path, only))
            return NULL;
    }
    return only;
}

/* add_tests -- adds the tests of a conjunction. Of many, those of one path are merged. */
static bool add_tests(arena *memory, matcher *m, const node *n, bool invert, uint32_t count) {
    merged_test *list = arena_alloc(memory, (count + 1) * sizeof *list);
    if (!list)
        return false;
    count = 0;
    for (const node *child = n->first; child; child = child->next) {
        if (child->kind == NODE_TEST) {
            list[count] = (merged_test){
                .test = child->test, .inverted = child->test->negated != invert, .number = count};
            count++;
        }
    }
    bool sorted = count > FEW_TESTS;
    if (sorted && !merge_tests(memory, list, &count))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (!add_test(memory, m, &list[i], sorted))
            return false;
    }
    for (uint32_t i = 0; i < m->field_count; i++)
        m->required += !m->fields[i].passes_missing;
    m->path = only_path(m);
    return true;
}

/* compile -- fills a conjunction from a node, or with `negate` from its negation. */
static bool compile(arena *memory, matcher *m, const node *n, bool negate) {
    switch (n->kind) {
    case NODE_TRUE:
    case NODE_FALSE: m->negated = (n->kind == NODE_FALSE) != negate; return true;
    case NODE_TEST: {
        merged_test one = {.test = n->test, .inverted = n->test->negated != negate};
        bool added = add_test(memory, m, &one, false);
        m->path = only_path(m);
        return added;
    }
    default: break;
    }
    /* An AND is the conjunction of its children, an OR the negated conjunction of their
     * negations. */
    bool invert = n->kind == NODE_OR;
    uint32_t tests = 0;
    m->negated = invert != negate;
    for (const node *child = n->first; child; child = child->next) {
        if (child->kind == NODE_TEST) {
            tests++;
            continue;
        }
        matcher *below = add_child(memory, m);
        if (!below || !compile(memory, below, child, invert))
            return false;
    }
    return add_tests(memory, m, n, invert, tests);
}

/* list_paths -- lists the tests of a conjunction by their paths, if these are several, but few. */
static bool list_paths(arena *memory, matcher *m) {
    path_tests by_path = {.count = 0};
    for (uint32_t i = 0; i < m->field_count; i++) {
        for (match_test *test = m->fields[i].tests; test; test = test->next) {
            const path *path = test->is.test->path;
            uint32_t at = 0;
            while (at < by_path.count && !path_equal(by_path.paths[at], path))
                at++;
            if (at == LAYOUT_PATHS || test->is.all || path->count > LAYOUT_DEPTH)
                return true;
            by_path.paths[at] = path;
            by_path.count += at == by_path.count;
            test->next_of_path = by_path.tests[at];
            by_path.tests[at] = test;
        }
    }
    if (by_path.count < 2)
        return true;
    m->by_path = arena_copy(memory, &by_path, sizeof by_path);
    return m->by_path != NULL;
}

matcher *matcher_compile(arena *memory, const node *root) {
    matcher *m = arena_alloc(memory, sizeof *m);
    return m && compile(memory, m, root, false) && list_paths(memory, m) ? m : NULL;
}
