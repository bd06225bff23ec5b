/*
 * store/write_txn/online_index_build.h -- creating an index while others continue to write.
 */
#ifndef TANSU_STORE_WRITE_TXN_ONLINE_INDEX_BUILD_H
#define TANSU_STORE_WRITE_TXN_ONLINE_INDEX_BUILD_H

#include "store/database.h"

/*
 * index_build_online -- creates an index in a commit of its own. A collection with more than a few
 * documents is read as of one commit while others continue writing; only what changed since then is
 * done with the write lock held. `progress` may be NULL. Takes the definition over. Errors: those
 * of tansu_index_build().
 */
tansu_status index_build_online(database *db, const char *collection, index_definition *definition,
                                tansu_progress progress, void *context, tansu_error *error);

#endif
