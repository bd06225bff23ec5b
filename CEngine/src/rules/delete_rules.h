/*
 * rules/delete_rules.h -- removing documents together with what the delete rules of references make
 * of it (store/references/reference_list.h), in the transaction of the removal.
 *
 * First everything is determined: which documents are removed, over any number of references, and
 * which lose a value; then it is changed. So a document that is removed in any case does not deny
 * the removal of another one, cycles end, and an error changes nothing.
 */
#ifndef TANSU_RULES_DELETE_RULES_H
#define TANSU_RULES_DELETE_RULES_H

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

#endif
