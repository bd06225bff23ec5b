/*
 * rules/rules.h -- removing documents together with what the delete rules of references make
 * of it (store/references/reference_list.h), in the transaction of the removal; and finding
 * references that lead to no document.
 *
 * First everything is determined: which documents are removed, over any number of references, and
 * which lose a value; then it is changed. So a document that is removed in any case does not deny
 * the removal of another one, cycles end, and an error changes nothing.
 */
#ifndef TANSU_RULES_RULES_H
#define TANSU_RULES_RULES_H

#include "query/util/deadline.h"
#include "store/write_txn/write_txn.h"

/* delete_rules_concern -- whether removing a document of that collection has to look for references
 * to it. */
bool delete_rules_concern(const snapshot *v, const char *collection);

/*
 * delete_rules_remove -- removes documents of a collection. Those that are not there (any more) are
 * passed over. Where delete_rules_concern(), nothing may wait in the indexes (write_txn_flush()).
 * Errors: REFERENCED (a reference with the rule "deny"; context: the collection that holds it), and
 * those of a removal, a save and a query; TIMEOUT, CANCELLED.
 */
tansu_status delete_rules_remove(write_txn *wtxn, const char *collection, const uint64_t *rids,
                                 size_t count, const deadline *time, tansu_error *error);

/* delete_rules_drop -- drops a collection, which removes all its documents. Errors: NOT_FOUND, and
 * the same. */
tansu_status delete_rules_drop(write_txn *wtxn, const char *collection, const deadline *time,
                               tansu_error *error);

/* ---- Dangling references ---- */

/*
 * Finding, and repairing, references that lead to no document.
 *
 * Removals keep the delete rules, so such references come from elsewhere: they were stored so,
 * their document was removed before the reference was declared, or the rule is "ignore".
 */

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
