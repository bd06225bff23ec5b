/*
 * query/match/node.h -- a parsed selector: a tree of AND, OR and NOT over tests of one path each.
 *
 * The parser builds it, normalise() brings it into the form that everything after it reads, the
 * matcher is compiled from it, and the planner derives index bounds from it.
 */
#ifndef TANSU_QUERY_MATCH_NODE_H
#define TANSU_QUERY_MATCH_NODE_H

#include "bson/path.h"
#include "bson/value.h"

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
    TEST_TOKEN, /* one of the operands is a token of the string */
    TEST_REGEX,
    TEST_TYPE,
    TEST_MOD,
    TEST_BITS,
    TEST_SIZE,
    TEST_ELEMENT,      /* an element of the array satisfies `condition` */
    TEST_ALL_ELEMENTS, /* all elements satisfy it, and there is at least one */
    TEST_KEY,          /* a key of the document, as a string, satisfies it */
    TEST_RANGES,       /* in one of `ranges`; made of others by merging (merged_test.h) */
    TEST_DOCUMENT      /* `document` holds of the whole document */
};

/* Wildcard paths. */
enum wild {
    WILD_NONE,
    WILD_FIELDS,   /* "*" */
    WILD_ANYWHERE, /* "**" */
    WILD_NAMED,    /* "**.name": the second part of the path is the name */
    WILD_DOCUMENT  /* no path: a TEST_DOCUMENT */
};

typedef struct collation collation;
typedef struct regex regex;
typedef struct bit_test bit_test;
typedef struct subcondition subcondition;
typedef struct range_set range_set;
typedef struct string_search string_search;
typedef struct document_test document_test;

/* One test of one path. Operands point into the query's own copy of the selector. */
typedef struct test {
    enum test_op op;
    bool negated;     /* selects the complement of the positive test */
    bool special;     /* not one of the first eight operators, or with a collation */
    bool on_array;    /* applies to an array as a whole, not to its elements */
    bool other_kinds; /* GT GTE LT LTE: selects the kinds behind or before the operand's, too; of
                             MinKey and MaxKey, and what $expr implies */
    enum wild wild;   /* of the path */
    const path *path; /* NULL: inside a condition on a value itself */
    enum value_kind kind; /* of `operand` */
    doc_value operand;    /* EQ GT GTE LT LTE; BETWEEN: the lower bound; REGEX: itself as a value,
                             which equal stored ones pass, or nothing */
    doc_value *operands;  /* IN: sorted, distinct. BEGIN END CONTAINS TOKEN: the strings. BETWEEN:
                             the upper bound. REGEX: the prefix of all matches, if there is one */
    uint32_t operand_count;
    bool integral;   /* `operand` is an int32, or a whole number within ±2^53, so int32, int64 and
                        double compare with `integer` directly */
    int64_t integer; /* SIZE: the size; MOD: the remainder */
    int64_t divisor; /* MOD */
    const int64_t *integers;     /* SIZE MOD: of several that were merged, `operand_count` of them,
                                      sorted; NULL: `integer` */
    const string_search *search; /* CONTAINS of many operands; NULL: few */
    const range_set *ranges;     /* RANGES */
    const bit_test *bits;        /* BITS */
    const collation *collation;  /* how strings are compared; the operands are already collated.
                                   NULL: by their bytes */
    const regex *regex;          /* REGEX */
    const subcondition *condition; /* ELEMENT ALL_ELEMENTS KEY */
    const uint32_t *types;         /* TYPE: a bit for each type byte, 8 words */
    const document_test *document; /* DOCUMENT */
    const char *context;           /* REGEX: path and operator, for errors while it runs */
} test;

enum node_kind { NODE_TRUE, NODE_FALSE, NODE_AND, NODE_OR, NODE_NOT, NODE_TEST };

/* A normalised tree has no NODE_NOT, no AND directly inside an AND, no OR directly inside an OR,
 * and TRUE and FALSE only as its root. */
typedef struct node {
    enum node_kind kind;
    struct node *first; /* AND OR NOT */
    struct node *last;
    struct node *next; /* sibling */
    test *test;        /* TEST */
} node;

/* node_append -- adds a child after the others. */
static inline void node_append(node *parent, node *child) {
    child->next = NULL;
    if (parent->last)
        parent->last->next = child;
    else
        parent->first = child;
    parent->last = child;
}

#endif
