/*
 * query/parse.h -- what the readers of selectors share: selector.c (structure), operators.c
 * (comparisons and strings) and operators_field.c (arrays, types, keys). Private to the three.
 */
#ifndef TANSU_QUERY_PARSE_H
#define TANSU_QUERY_PARSE_H

#include "query/collation.h"
#include "query/internal.h"

typedef struct parser {
    query *q;
    tansu_error *error;
    tansu_buffer prefix;  /* the place of the condition that is being read, inside an $elemMatch */
    tansu_buffer path;    /* the text of the path that is being read; empty at the top */
    tansu_buffer context; /* room for an error's place */
    tansu_buffer scratch;
    const path *present;            /* what `path` was parsed to; NULL: it was not yet */
    bool self;                      /* it is a condition on a value itself: no path */
    bool ignore_case;               /* inside $icase */
    enum wild wild;                 /* of the path */
    const collation *collation;     /* what comparisons of strings use; NULL: bytes */
    const doc_value *regex_options; /* beside the $regex that is being read, or NULL */
} parser;

/* parse_place -- "path.name", for an error's context. */
const char *parse_place(parser *p, const char *name);

/* parse_bad -- INVALID_QUERY at an operator of the present path. */
tansu_status parse_bad(parser *p, const char *name, const char *message);

/* parse_at_top -- whether fields and $and, $or are expected, not what a field must be. */
bool parse_at_top(const parser *p);

/* parse_add -- a new child of `parent`. */
tansu_status parse_add(parser *p, node *parent, enum node_kind kind, node **result);

/* parse_add_not -- a NOT as a child of `parent`, for what follows to be put into. */
tansu_status parse_add_not(parser *p, node **parent);

/* parse_add_test -- a new test of the present path as a child of `parent`. */
tansu_status parse_add_test(parser *p, node *parent, enum test_op op, const char *name,
                            test **result);

/* parse_condition -- what the present path must be: operators, a sub-query or a value. */
tansu_status parse_condition(parser *p, node *parent, const doc_value *value);

/* parse_branches -- $and, $or, $nor. */
tansu_status parse_branches(parser *p, node *parent, const char *name, const doc_value *operand);

/* parse_inner -- the operand of an operator that asks something else than the path's value. */
tansu_status parse_inner(parser *p, const char *name, const doc_value *operand,
                         const subcondition **result);

/* parse_operator -- one operator of the present path. */
tansu_status parse_operator(parser *p, node *parent, const char *name, const doc_value *operand);

/* parse_eq -- equal to a value. parse_regex_value -- matches a BSON regex. */
tansu_status parse_eq(parser *p, node *parent, const char *name, const doc_value *operand);
tansu_status parse_regex_value(parser *p, node *parent, const char *name, const doc_value *operand);

/* parse_array_size -- how many elements; false when it is not an array. */
bool parse_array_size(const doc_value *value, uint32_t *count);

/* Readers of operators, for the table in operators.c. */
typedef tansu_status (*operator_reader)(parser *p, node *parent, const char *name,
                                        const doc_value *operand);
tansu_status parse_exists(parser *p, node *parent, const char *name, const doc_value *operand);
tansu_status parse_all(parser *p, node *parent, const char *name, const doc_value *operand);
tansu_status parse_size(parser *p, node *parent, const char *name, const doc_value *operand);
tansu_status parse_element(parser *p, node *parent, const char *name, const doc_value *operand);
tansu_status parse_type(parser *p, node *parent, const char *name, const doc_value *operand);
tansu_status parse_mod(parser *p, node *parent, const char *name, const doc_value *operand);

#endif
