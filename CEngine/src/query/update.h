/*
 * query/update.h -- update operations: compiled once, applied to one document after the other. Part
 * query; may call base.
 *
 * The stages, a file each: update_parse.c (operations → a list of operators on paths, every unknown
 * or conflicting one an error), update_target.c (`$`, `$[]` and `$[name]` → places in one document),
 * update_apply.c (places → changes), update_array.c (the operators on arrays), update_tree.c (a
 * document as a tree that is taken apart only where it changes), update_seed.c (the document that an
 * upsert begins with), update_filter.c (array filters), update_number.c (sums and products).
 */
#ifndef TANSU_QUERY_UPDATE_H
#define TANSU_QUERY_UPDATE_H

#include "query/condition.h"
#include "query/interrupt.h"
#include "query/query.h"

/* Operations, checked and compiled. Immutable; may be applied by many threads. */
typedef struct update update;

/* What the operations say besides their operators. */
typedef struct update_facts {
    bool replaces;    /* a whole document */
    bool positional;  /* there is an `arr.$` */
    bool drops;       /* $dropall: the matches are removed */
    bool inserts;     /* $upsert */
    doc_value upsert; /* $upsert's document; DOC_MISSING: the query's equalities */
} update_facts;

/*
 * update_compile -- checks and compiles. `operations` must be valid BSON, or NULL: none; `beside` is a
 * document of $upsert and $dropall from beside the query, or DOC_MISSING; `filters` an array of array
 * filters, or DOC_MISSING. What they point at is copied. Strings are compared as `like` compares them,
 * which must outlive the update. Errors: INVALID_QUERY (context: operator and path, such as
 * "$inc.a.b"), UNSUPPORTED, MEMORY.
 */
tansu_status update_compile(const uint8_t *operations, size_t size, const doc_value *beside,
                            const doc_value *filters, const query *like, update **result,
                            tansu_error *error);
void update_free(update *u);
const update_facts *update_tell(const update *u);

/* How one document is updated. */
typedef struct update_case {
    const query *matched;   /* the query that tells what `arr.$` means; NULL: none */
    match_context *context; /* for asking it, and conditions */
    bool inserting;         /* the document is an upsert's: $setOnInsert counts */
    uint64_t now;           /* for $currentDate: milliseconds since 1970 */
} update_case;

/*
 * update_apply -- replaces `out` by the updated document. What comes out has still to be checked by
 * doc_check(); it has the old one's `_id` as it was. Errors: INVALID_QUERY (an operator that does not
 * fit the document; conflicts that only this document brings out), INVALID_ID (it would change the
 * `_id`), TOO_LARGE, MEMORY.
 */
tansu_status update_apply(const update *u, const uint8_t *doc, size_t size, const update_case *how,
                          tansu_buffer *out, tansu_error *error);

/*
 * update_insert -- the same for the document that an upsert inserts: made of the selector's
 * equalities, or of $upsert's document, and the operations. An `_id` stands first. Errors: those of
 * update_apply(), and INVALID_QUERY when two equalities contradict each other.
 */
tansu_status update_insert(const update *u, const uint8_t *selector, size_t selector_size,
                           const update_case *how, tansu_buffer *out, tansu_error *error);

/* ---- What an update, and a removal, need of a query (update_query.c) ---- */

/* Documents that are changed between two looks at the clock. */
#define CHANGE_STEP 64

/* query_ask_for_one -- makes the hints ask for one match at most; before the query is run. */
void query_ask_for_one(query *q);

/* query_watch -- what stops the call: the rest of its $maxTimeMS, and `stop`. */
watch query_watch(const query *q, const interrupt *stop);

/* query_show -- replaces `out` by the document as the hints want it shown. Errors: those of a
 * match_context, MEMORY. */
tansu_status query_show(const query *q, match_context *context, const uint8_t *doc, size_t size,
                        tansu_buffer *out, tansu_error *error);

#endif
