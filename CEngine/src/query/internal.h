/*
 * query/internal.h -- what the files of the query part share: the parsed query, its stages' entry
 * points. No other part includes this.
 *
 *   selector.c, hints.c   BSON → nodes and hints, every unknown thing an error
 *   normalise.c           nodes → AND / OR over tests, negation pushed down to the tests
 *   match.c               nodes → matcher, run over raw BSON
 *   bounds.c              tests on a path → intervals of index keys
 *   plan.c, plan_cost.c   candidates, costs, the choice
 *   docnos.c, walk.c      docnos from index ranges: as a sorted set, or streamed in key order
 *   execute.c             plan → documents; sort.c and project.c stand behind it
 *   explain.c             the plan as a document
 */
#ifndef TANSU_QUERY_INTERNAL_H
#define TANSU_QUERY_INTERNAL_H

#include "base/buffer.h"
#include "base/error.h"
#include "base/value.h"
#include "query/arena.h"
#include "query/query.h"

/* ---- The parsed selector ---- */

enum test_op { TEST_EQ, TEST_GT, TEST_GTE, TEST_LT, TEST_LTE, TEST_IN, TEST_EXISTS, TEST_BEGIN };

/* One condition on one path. Operands point into the query's own copy of the selector. */
typedef struct test {
    enum test_op op;
    bool negated; /* selects exactly the documents that the positive form does not */
    const path *path;
    enum value_kind kind; /* of `operand` */
    doc_value operand;    /* EQ GT GTE LT LTE */
    doc_value *operands;  /* IN: sorted, no two equal; BEGIN: the prefixes */
    uint32_t operand_count;
    bool integral;   /* `operand` is an int32, or a whole number within ±2^53: */
    int64_t integer; /* its value, that int32, int64 and double compare with directly */
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
    enum index_choice index_choice;
    const char *index_name;
    projection *fields; /* NULL: whole documents */
} hints;

/* Paths are owned by the query: path_parse() allocates them one by one. */
typedef struct path_link {
    struct path_link *next;
    path path;
} path_link;

struct query {
    arena memory;
    path_link *paths;
    node *root;
    matcher *matcher;
    hints hints;
};

/* query_path -- parses a path that lives as long as the query; `context` names the place in
 * errors. */
tansu_status query_path(query *q, const char *text, size_t size, const char *context,
                        const path **result, tansu_error *error);

/* path_equal -- the same parts. */
bool path_equal(const path *a, const path *b);

/* selector_parse -- sets q->root from a checked document that outlives the query. */
tansu_status selector_parse(query *q, const uint8_t *doc, size_t size, tansu_error *error);

/* hints_parse -- sets q->hints likewise. */
tansu_status hints_parse(query *q, const uint8_t *doc, size_t size, tansu_error *error);

/* normalise -- the same meaning in the form that matcher and planner want; works in place. */
node *normalise(node *n);

/* node_append -- adds a child. */
void node_append(node *parent, node *child);

/* ---- Matching ---- */

/* matcher_compile -- NULL when memory is exhausted. The matcher lives in the arena. */
matcher *matcher_compile(arena *memory, const node *root);

/* matcher_run -- whether a stored document matches. Allocates nothing. */
bool matcher_run(const matcher *m, const uint8_t *doc, size_t size);

/* test_value -- whether one value, not looking into arrays and not negated, passes. */
bool test_value(const test *t, const doc_value *value);

/* ---- Projection ---- */

/* projection_parse -- the meaning of $fields; *result NULL when it asks for whole documents. */
tansu_status projection_parse(query *q, const doc_value *fields, projection **result,
                              tansu_error *error);

/* projection_apply -- replaces `out` by the projected document; false when memory is exhausted. */
bool projection_apply(const projection *p, const uint8_t *doc, size_t size, tansu_buffer *out);

#endif
