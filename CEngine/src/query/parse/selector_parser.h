/*
 * query/parse/selector_parser.h -- the parser of selectors, split into selector.c (structure),
 * operators_value.c (comparisons and strings), operators_in.c, operators_field.c (arrays, types,
 * keys) and operators_bits.c. Private to these.
 */
#ifndef TANSU_QUERY_PARSE_SELECTOR_PARSER_H
#define TANSU_QUERY_PARSE_SELECTOR_PARSER_H

#include "query/match/collation.h"
#include "query/match/match_value.h"
#include "query/parse/selector.h"

/* A key or an operator that the parser is inside of. Few queries have an error, so the text of its
 * context is made when there is one. */
typedef struct parse_place {
    const char *name;
    size_t size;
    int64_t number; /* of the operator's branch; negative: none */
    const struct parse_place *outer;
} parse_place;

/* The text of a path, of which the key of the query is all at the first level. */
typedef struct path_text {
    const char *data;
    size_t size;
} path_text;

typedef struct parser {
    query *q;
    tansu_error *error;
    tansu_buffer prefix;      /* inside an $elemMatch: the context of the enclosing condition */
    path_text path;           /* the current one */
    uint32_t depth;           /* how many keys it is made of; 0 at the top level */
    tansu_buffer joined;      /* `path`, if there are several */
    const parse_place *where; /* the innermost; NULL: none */
    tansu_buffer context;     /* scratch, for the context of an error */
    tansu_buffer scratch;
    const path *current;            /* `path`, parsed; NULL: not parsed yet */
    bool self;                      /* a condition on a value itself: there is no path */
    bool ignore_case;               /* inside $icase */
    enum wild wild;                 /* of the path */
    const collation *collation;     /* of string comparisons; NULL: by bytes */
    const doc_value *regex_options; /* $options next to the current $regex, or NULL */
} parser;

/* What is said where $text cannot be. */
#define PARSE_NO_TEXT                                                                       \
    "Operator is allowed only at the top level of a query that reads a collection, and of " \
    "\"$and\" "                                                                             \
    "there; of a pipeline in the first stage, a \"$match\""

/* parse_context -- "where.name", the context of an error. */
const char *parse_context(parser *p, const char *name);

/* parse_enter -- notes the operator (and, unless negative, the number of its branch) that the
 * parser enters, for the context of errors; until parse_leave(). */
void parse_enter(parser *p, const char *name, int64_t number, parse_place *place);

/* parse_leave -- ends what parse_enter() began. */
void parse_leave(parser *p, const parse_place *place);

/* parse_bad -- INVALID_QUERY at an operator of the current path. */
tansu_status parse_bad(parser *p, const char *name, const char *message);

/* parse_add -- adds a child to `parent`. */
tansu_status parse_add(parser *p, node *parent, enum node_kind kind, node **result);

/* parse_add_not -- adds a NOT to *parent and sets *parent to it. */
tansu_status parse_add_not(parser *p, node **parent);

/* parse_add_test -- adds a test of the current path to `parent`. */
tansu_status parse_add_test(parser *p, node *parent, enum test_op op, const char *name,
                            test **result);

/* parse_condition -- the condition on the current path: operators, a sub-query or a value. */
tansu_status parse_condition(parser *p, node *parent, const doc_value *value);

/* parse_branches -- $and, $or, $nor. */
tansu_status parse_branches(parser *p, node *parent, const char *name, const doc_value *operand);

/* parse_inner -- the operand of an operator on elements or keys: a condition with its own root. */
tansu_status parse_inner(parser *p, const char *name, const doc_value *operand,
                         const subcondition **result);

/* parse_operator -- one operator on the current path. */
tansu_status parse_operator(parser *p, node *parent, const char *name, const doc_value *operand);

/* parse_eq -- equality with a value. */
tansu_status parse_eq(parser *p, node *parent, const char *name, const doc_value *operand);

/* parse_order -- TEST_GT, GTE, LT or LTE with a value, in the order of all kinds, as expressions
 * compare. */
tansu_status parse_order(parser *p, node *parent, enum test_op op, const doc_value *operand);

/* parse_regex_value -- a BSON regex as an operand. */
tansu_status parse_regex_value(parser *p, node *parent, const char *name, const doc_value *operand);

/* parse_collate -- replaces a value by the collated one, which lives as long as the query. */
tansu_status parse_collate(parser *p, const collation *by, doc_value *value);

/* parse_check_operand -- rejects everything but strings inside $icase. */
tansu_status parse_check_operand(parser *p, const char *name, const doc_value *operand);

/* Parsers of operators, for the table in operators_value.c. */
typedef tansu_status (*operator_parser)(parser *p, node *parent, const char *name,
                                        const doc_value *operand);
tansu_status parse_in(parser *p, node *parent, const char *name, const doc_value *operand);
tansu_status parse_nin(parser *p, node *parent, const char *name, const doc_value *operand);
tansu_status parse_exists(parser *p, node *parent, const char *name, const doc_value *operand);
tansu_status parse_all(parser *p, node *parent, const char *name, const doc_value *operand);
tansu_status parse_size(parser *p, node *parent, const char *name, const doc_value *operand);
tansu_status parse_element(parser *p, node *parent, const char *name, const doc_value *operand);
tansu_status parse_type(parser *p, node *parent, const char *name, const doc_value *operand);
tansu_status parse_mod(parser *p, node *parent, const char *name, const doc_value *operand);
tansu_status parse_bits(parser *p, node *parent, const char *name, const doc_value *operand);

#endif
