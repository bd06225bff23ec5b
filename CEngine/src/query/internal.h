/*
 * query/internal.h -- what the files of the query part share: the parsed query, its stages' entry
 * points. No other part includes this.
 *
 *   selector.c, hints.c   BSON → nodes and hints, every unknown thing an error; operators.c and
 *                         operators_field.c read the operators, parse.h is between the three
 *   normalise.c           nodes → AND / OR over tests, negation pushed down to the tests
 *   match.c               nodes → matcher, run over raw BSON; test.c has the rarer tests, with
 *                         regex.c (PCRE2) and collation.c (forms of strings) behind it
 *   gather.c, texts.c     many tests of one path put together; sorted texts
 *   condition.c           the same for one value, and which element matched
 *   interrupt.c           time limits and cancellation
 *   sort_steps.c          sorting that can be stopped
 *   bounds.c              tests on a path → intervals of index keys
 *   plan.c, plan_order.c  candidates, costs, the choice; the order that an index gives
 *   docnos.c, walk.c      docnos from index ranges: as a sorted set, or streamed in key order
 *   merge.c               several such streams as one
 *   cover.c               projected documents from an index alone
 *   execute.c             plan → documents; sort.c and project.c stand behind it
 *   explain.c             the plan as a document
 */
#ifndef TANSU_QUERY_INTERNAL_H
#define TANSU_QUERY_INTERNAL_H

#include "base/buffer.h"
#include "base/error.h"
#include "base/value.h"
#include "query/arena.h"
#include "query/condition.h"
#include "query/interrupt.h"
#include "query/keyset.h"
#include "query/query.h"

/* ---- The parsed selector ---- */

enum test_op {
    TEST_EQ,
    TEST_GT,
    TEST_GTE,
    TEST_LT,
    TEST_LTE,
    TEST_IN,
    TEST_EXISTS,
    TEST_BEGIN,
    TEST_BETWEEN,
    TEST_END,
    TEST_CONTAINS,
    TEST_TOKEN, /* any of the operands is a token of the string */
    TEST_REGEX,
    TEST_TYPE,
    TEST_MOD,
    TEST_SIZE,
    TEST_ELEMENT,      /* some element of an array meets `condition` */
    TEST_ALL_ELEMENTS, /* every one does, and there is one */
    TEST_KEY           /* some key of a document does, as a string */
};

/* Paths that find more than what they name. */
enum wild { WILD_NONE, WILD_FIELDS /* "*" */, WILD_ANYWHERE /* "**" */ };

typedef struct collation collation;
typedef struct regex regex;
typedef struct subcondition subcondition;

/* One condition on one path. Operands point into the query's own copy of the selector. */
typedef struct test {
    enum test_op op;
    bool negated; /* selects exactly the documents that the positive form does not */
    bool special; /* not one of the first eight operators, or with a collation */
    bool whole;   /* speaks of an array, not of its elements */
    enum wild wild;
    const path *path;     /* NULL: inside a condition on a value itself */
    enum value_kind kind; /* of `operand` */
    doc_value operand;    /* EQ GT GTE LT LTE; BETWEEN: the lower */
    doc_value *operands;  /* IN: sorted, no two equal; BEGIN END CONTAINS TOKEN: the texts; BETWEEN:
                             the upper; REGEX: the text that all matches begin with, if any */
    uint32_t operand_count;
    bool integral;   /* `operand` is an int32, or a whole number within ±2^53: */
    int64_t integer; /* its value, that int32, int64 and double compare with directly. SIZE: the
                        size; MOD: the remainder */
    int64_t divisor; /* MOD */
    const collation *collation; /* strings of values take its form before they are compared, as the
                                   operands have; NULL: strings are compared by their bytes */
    const regex *regex;         /* REGEX */
    const subcondition *condition; /* ELEMENT ALL_ELEMENTS KEY */
    const uint32_t *types;         /* TYPE: a bit for each type byte, 8 words */
    const char *place;             /* path and operator, for errors of a run (REGEX) */
} test;

enum node_kind { NODE_TRUE, NODE_FALSE, NODE_AND, NODE_OR, NODE_NOT, NODE_TEST };

/* After normalise there is no NODE_NOT, no AND inside an AND, no OR inside an OR, and TRUE and
 * FALSE only at the root. */
typedef struct node {
    enum node_kind kind;
    struct node *first; /* AND OR NOT */
    struct node *last;
    struct node *next; /* sibling */
    test *test;        /* TEST */
} node;

/* ---- The parsed hints ---- */

#define MAX_ORDER_PATHS 32

typedef struct order_path {
    const path *path;
    bool descending;
} order_path;

typedef struct projection projection;
typedef struct matcher matcher;

enum index_choice { INDEX_ANY, INDEX_NONE, INDEX_NAMED };

typedef struct hints {
    order_path order[MAX_ORDER_PATHS];
    uint32_t order_count;
    uint64_t skip;
    uint64_t max; /* UINT64_MAX: no bound */
    bool only_count;
    bool explain;
    bool no_disk; /* $allowDiskUse is false: what does not fit into memory is an error */
    enum index_choice index_choice;
    const char *index_name;
    projection *fields;        /* NULL: whole documents */
    keyset *joins;             /* $do, as join.c has it; NULL: none */
    uint64_t max_milliseconds; /* 0: no bound */
} hints;

/* Paths are owned by the query: path_parse() allocates them one by one. */
typedef struct path_link {
    struct path_link *next;
    path path;
} path_link;

struct query {
    arena memory;
    watch watch;    /* what stops its compilation */
    uint64_t spent; /* nanoseconds of $maxTimeMS that compiling took */
    uint32_t nodes; /* made so far */
    path_link *paths;
    regex *regexes;
    const collation *collation; /* $collation; NULL: by bytes */
    node *root;
    matcher *matcher;
    hints hints;
};

/* query_path -- parses a path that lives as long as the query; `context` names the place in
 * errors. */
tansu_status query_path(query *q, const char *text, size_t size, const char *context,
                        const path **result, tansu_error *error);

/* query_too_large -- the error of a compilation: TOO_LARGE where a bound, and not the machine, made memory
 * exhausted. */
tansu_status query_too_large(const query *q, tansu_status status, tansu_error *error);

/* path_equal -- the same parts. */
bool path_equal(const path *a, const path *b);

/* selector_parse -- sets q->root from a checked document that outlives the query. */
tansu_status selector_parse(query *q, const uint8_t *doc, size_t size, tansu_error *error);

/* hints_parse -- sets q->hints likewise. */
tansu_status hints_parse(query *q, const uint8_t *doc, size_t size, tansu_error *error);

/* hints_watch -- starts the clock of $maxTimeMS for what compiling is left; a value that is none is an error
 * later. */
void hints_watch(query *q, const uint8_t *doc, size_t size);

/* hints_collation -- sets q->collation from the hints; before selector_parse(), which needs it. */
tansu_status hints_collation(query *q, const uint8_t *doc, size_t size, tansu_error *error);

/* normalise -- the same meaning in the form that matcher and planner want; works in place. */
node *normalise(node *n);

/* node_append -- adds a child. */
void node_append(node *parent, node *child);

/* ---- Matching ---- */

/* What an element, or a key, must be. */
struct subcondition {
    matcher *matcher; /* asks the fields of a document, or of an array by position; NULL: */
    node *value;      /* asks the value itself; the tests have no path */
};

/* subcondition_holds -- whether one value meets it. */
bool subcondition_holds(const subcondition *s, match_context *c, const doc_value *value);

/* subcondition_parse -- reads a condition of its own inside a selector, or by itself. */
tansu_status subcondition_parse(query *q, const doc_value *operand, const char *place,
                                subcondition **result, tansu_error *error);

/* matcher_compile -- NULL when memory is exhausted. The matcher lives in the arena. */
matcher *matcher_compile(arena *memory, const node *root);

/* matcher_run -- whether a stored document matches; c->status tells whether that could be found
 * out. Allocates nothing but what the context keeps. */
bool matcher_run(const matcher *m, match_context *c, const uint8_t *doc, size_t size);

/* test_find_operand -- the place of a value among the sorted operands; UINT32_MAX when it is not there. */
uint32_t test_find_operand(const test *t, const doc_value *value);

/* test_has_operand -- whether it is there. */
static inline bool test_has_operand(const test *t, const doc_value *value) {
    return test_find_operand(t, value) != UINT32_MAX;
}

/* ---- Sorted texts (texts.c) ---- */

/* texts_sort -- sorts the operands of BEGIN and END (there those go that another one makes needless),
 * and of TOKEN. */
void texts_sort(test *t);

/* texts_begin, texts_end -- whether a text begins, or ends, with one of the sorted operands. */
bool texts_begin(const test *t, const char *text, size_t size);
bool texts_end(const test *t, const char *text, size_t size);

/* texts_find -- the place of a text among the sorted operands; UINT32_MAX when it is not there. */
uint32_t texts_find(const test *t, const char *text, size_t size);

/* next_token -- the next token of a text from *at on, which is moved behind it; false at the end. */
bool next_token(const char *text, size_t size, size_t *at, const char **token, size_t *token_size);

/* test_form -- a value in the form of the test's collation. False: no memory, which the context has. */
bool test_form(const test *t, match_context *c, const doc_value *value, doc_value *form);

/* ---- Many tests of one path (gather.c) ---- */

/* A test as a conjunction has it. */
typedef struct gathered {
    const test *test;
    bool inverse;    /* it must not hold */
    uint32_t number; /* its place in the query */
    const test *
        *every; /* `test` has the operands of all these, which must all hold; NULL: it is one */
    uint32_t every_count;
} gathered;

/* gather_tests -- sorts the tests of one conjunction by the keys that they begin at (see part_order()), and puts
 * those together that ask one path for one of many values, or for each of many values. *count: so many are
 * left. False when memory is exhausted. */
bool gather_tests(arena *memory, gathered *list, uint32_t *count);

/* gather_values -- the same for a condition on a value itself: an OR of equalities becomes one test. NULL
 * when memory is exhausted. */
node *gather_values(arena *memory, node *n);

/* part_order -- an order of keys: the shorter first. */
int part_order(const char *a, size_t a_size, const char *b, size_t b_size);

/* test_value -- whether one value, not looking into arrays and not negated, passes. `c` may be NULL
 * for a missing value. */
bool test_value(const test *t, match_context *c, const doc_value *value);

/* test_special -- the same for the tests that are marked so. */
bool test_special(const test *t, match_context *c, const doc_value *value);

/* match_goes_on -- asks what stops a match, and notes it. */
bool match_goes_on(match_context *c);

#define MATCH_STEPS 4096 /* between two looks at what stops a match */

/* match_step -- counts tests and values that are about to be looked at, in whatever may be long within one
 * document. False when the match is over. */
static inline bool match_step(match_context *c, uint32_t count) {
    if (!c)
        return true;
    uint64_t before = c->steps;
    c->steps += count;
    return c->status == TANSU_OK && ((before ^ c->steps) < MATCH_STEPS || match_goes_on(c));
}

/* match_fail -- the context's first error; false. `message` NULL is memory. */
bool match_fail(match_context *c, tansu_status status, const char *place, const char *message);

/* ---- Projection ---- */

/* projection_parse -- the meaning of $fields; *result NULL when it asks for whole documents. */
tansu_status projection_parse(query *q, const doc_value *fields, projection **result,
                              tansu_error *error);

/* projection_within -- whether a projection includes some of the paths and nothing else: those in
 * `shown`. */
bool projection_within(const projection *p, const path *paths, uint32_t count, bool *shown);

/* projection_apply -- replaces `out` by what q->hints.fields leaves of `shown`; "path.$" asks how
 * `stored`, the document that it was before any join, matched. Errors: MEMORY, and what stops a
 * match. */
tansu_status projection_apply(const query *q, match_context *context, const tansu_document *stored,
                              const tansu_document *shown, tansu_buffer *out, tansu_error *error);

#endif
