/*
 * query/parse/parsed_query.h -- what a compiled query consists of, for the later stages.
 */
#ifndef TANSU_QUERY_PARSE_PARSED_QUERY_H
#define TANSU_QUERY_PARSE_PARSED_QUERY_H

#include "query/expression/expression.h"
#include "query/match/matcher.h"
#include "query/parse/hints.h"
#include "query/text/text_query.h"

/* A parsed path, in the arena of its owner. */
typedef struct path_link {
    struct path_link *next;
    path path;
} path_link;

struct query {
    arena memory;
    deadline deadline; /* of the compilation */
    uint64_t spent;    /* nanoseconds of $maxTimeMS that compiling took */
    uint32_t nodes;    /* created so far */
    path_link *paths;
    regex *regexes;
    expression_compiler *scope;      /* with the variables of $expr; NULL: none */
    struct query *outer;             /* of a subquery: the query that it is part of */
    struct subquery *subqueries;     /* in the order of the selector (subquery_spec.h) */
    struct subquery *last_subquery;  /* NULL: none */
    const struct subquery *resolved; /* the next one whose values the parser takes; NULL: it makes
                                        subqueries */
    uint32_t subquery_total;         /* at any depth */
    bool takes_subqueries;
    bool takes_text; /* a collection is read by it: $text is an operator */
    bool all_resolved;
    doc_value selector;         /* to be parsed again with their values */
    bool exact_documents;       /* a nested document without operators is compared as a whole */
    const collation *collation; /* $collation; NULL: strings compare by their bytes */
    const text_condition *text; /* $text, which is not in the tree; NULL: none */
    bool scored;                /* the scores of documents are asked for */
    node *root;
    node *planned;    /* selects the same, for the planner (query_compile.h) */
    bool runs;        /* it is for runs, which make a matcher where their plan needs one */
    matcher *matcher; /* otherwise */
    hints hints;
};

/* query_path -- parses a path that lives as long as the query. Errors: INVALID_QUERY (with the
 * given context), MEMORY. */
tansu_status query_path(query *q, const char *text, size_t size, const char *context,
                        const path **result, tansu_error *error);

/* query_path_keys -- the same for a path that only looks for values: an empty part is the key "",
 * and parts may begin with `$`. */
tansu_status query_path_keys(query *q, const char *text, size_t size, const char *context,
                             const path **result, tansu_error *error);

/* query_wild_path -- the same for a path that may be "*", "**" or "**.name". */
tansu_status query_wild_path(query *q, const char *text, size_t size, const char *context,
                             const path **result, tansu_error *error);

/* query_compile_inner -- compiles the selector of a subquery, with hints. Errors: as
 * query_compile(). */
tansu_status query_compile_inner(query *outer, const doc_value *selector, const tansu_buffer *hints,
                                 query **result, tansu_error *error);

/* query_compile_resolved -- compiles the selector again, with the values of all subqueries. `d`:
 * the deadline of the run. Errors: as query_compile(). */
tansu_status query_compile_resolved(query *q, const deadline *d, tansu_error *error);

/* query_compile_expanded -- compiles another selector in the place of its own, with subqueries of
 * its own that are to be run. Errors: as query_compile(). */
tansu_status query_compile_expanded(query *q, const tansu_buffer *selector, const deadline *d,
                                    tansu_error *error);

/* query_free_members -- frees what the struct owns, but not the struct. */
void query_free_members(query *q);

/* query_too_large -- turns MEMORY into TOO_LARGE where the cause was the limit of an arena,
 * QUERY_MEMORY. */
tansu_status query_too_large(const arena *memory, tansu_status status, tansu_error *error);

/* query_make_matcher -- makes the matcher of a query that is not only run, for query_matches().
 * Errors: MEMORY. */
tansu_status query_make_matcher(query *q, tansu_error *error);

#endif
