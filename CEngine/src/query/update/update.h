/*
 * query/update/update.h -- update operations: compiled once, applied to one document after another.
 *
 * The stages, a file each: update_parse.c (operations to a list of operators on paths; everything
 * unknown or conflicting is an error), update_target.c (`$`, `$[]` and `$[name]` to targets in one
 * document), update_apply.c (applies operators to targets), update_array.c (operators on arrays),
 * update_tree.c (a document as a tree that is expanded only where it changes), update_upsert.c (the
 * initial document of an upsert), update_filter.c (array filters).
 */
#ifndef TANSU_QUERY_UPDATE_UPDATE_H
#define TANSU_QUERY_UPDATE_UPDATE_H

#include "query/parse/query_compile.h"

/* Validated and compiled operations. Immutable: many threads may apply them, but those of a $pipeline
 * one thread at a time. */
typedef struct update update;

/* Properties of the operations. */
typedef struct update_facts {
    bool replaces;    /* $replace: by a whole document */
    bool positional;  /* a path has a `$` */
    bool drops;       /* $dropall: removes the matches */
    bool inserts;     /* $upsert */
    doc_value upsert; /* $upsert's document; DOC_MISSING: the query's equalities */
} update_facts;

/*
 * update_compile -- validates and compiles. `operations` must be valid BSON, or NULL: none.
 * `options` is a document with the $upsert and $dropall of the query, or DOC_MISSING; `filters` an
 * array of array filters, or DOC_MISSING. All are copied. Strings are collated as in `q`, which
 * must outlive the update. Errors: INVALID_QUERY (context: operator and path, such as "$inc.a.b"),
 * UNSUPPORTED, MEMORY.
 */
tansu_status update_compile(const uint8_t *operations, size_t size, const doc_value *options,
                            const doc_value *filters, const query *q, update **result,
                            tansu_error *error);

/* update_free -- NULL is allowed. */
void update_free(update *u);

const update_facts *update_get_facts(const update *u);

/* How one document is updated. */
typedef struct update_case {
    const query *matched;   /* determines the element of `arr.$`; NULL: none */
    match_context *context; /* for evaluating it, and conditions */
    bool inserting;         /* an upsert inserts the document: $setOnInsert applies */
    uint64_t now;           /* for $currentDate: milliseconds since 1970 */
} update_case;

/*
 * update_apply -- replaces `out` by the updated document, with the `_id` unchanged. The caller must
 * validate it with doc_check(). Errors: INVALID_QUERY (an operator does not fit the document;
 * operators conflict in this document), INVALID_ID (it would change the `_id`), TOO_LARGE, MEMORY.
 */
tansu_status update_apply(const update *u, const uint8_t *doc, size_t size, const update_case *how,
                          tansu_buffer *out, tansu_error *error);

/*
 * update_insert -- the same for the document that an upsert inserts: made of the equalities of the
 * selector, or of the document of $upsert, and the operations. An `_id` is first. Errors: those of
 * update_apply(), and INVALID_QUERY when two equalities contradict each other.
 */
tansu_status update_insert(const update *u, const uint8_t *selector, size_t selector_size,
                           const update_case *how, tansu_buffer *out, tansu_error *error);

/* ---- What updates and removals need of a query (update_query.c) ---- */

/* Documents that are changed between two checks of the deadline. */
#define CHANGE_STEP 64

/* query_limit_to_one -- limits the query to one match; before it is run. */
void query_limit_to_one(query *q);

/* query_deadline -- the deadline of the call: the rest of $maxTimeMS, and `stop`. */
deadline query_deadline(const query *q, const interrupt *stop);

/* query_project -- replaces `out` by the document as $fields projects it. Errors: those of
 * matching, MEMORY. */
tansu_status query_project(const query *q, match_context *context, const uint8_t *doc, size_t size,
                           tansu_buffer *out, tansu_error *error);

#endif
