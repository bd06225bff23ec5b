/*
 * rules/dangling.h -- finding, and repairing, references that lead to no document.
 *
 * Removals keep the delete rules, so such references come from elsewhere: they were stored so,
 * their document was removed before the reference was declared, or the rule is "ignore".
 */
#ifndef TANSU_RULES_DANGLING_H
#define TANSU_RULES_DANGLING_H

#include "query/util/deadline.h"
#include "rules/rules_internal.h"
#include "store/write_txn/write_txn.h"

/* A search for them. */
typedef struct dangling_search {
    const char *collection; /* only what it holds; NULL: all */
    uint64_t limit;         /* of those that are listed */
    const deadline *time;
} dangling_search;

/* dangling_find -- replaces `result` by {"count": n, "documents": n, "references": [{"collection",
 * "_id", "path", "to", "value"}, ...]}. Errors: NOT_FOUND (the collection), TIMEOUT, CANCELLED,
 * MEMORY, and those of reading. */
tansu_status dangling_find(const dangling_search *search, const snapshot *v,
                           const read_context *rctx, tansu_buffer *result, tansu_error *error);

/* dangling_repair -- applies the rules of the references that dangle: "nullify" takes the value
 * out, "cascade" removes the document that holds it, and what refers to that one; "deny" and
 * "ignore" leave it. *values: those taken out; *documents: those removed, but for what cascades
 * further. Errors: the same, REFERENCED, and those of a save and a removal. */
tansu_status dangling_repair(const dangling_search *search, write_txn *wtxn, uint64_t *values,
                             uint64_t *documents, tansu_error *error);

#endif
