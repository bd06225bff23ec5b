/*
 * support/workload/forged_use.h -- every kind of call on a database whose files were forged: each
 * may return any status, and must return. The collection is "c", of documents {_id, n, a}, with an
 * index on n.
 */
#ifndef SUPPORT_FORGED_USE_H
#define SUPPORT_FORGED_USE_H

#include "tansu.h"

/* forged_options -- with the smallest segments, so that little memory follows the bytes in use. */
tansu_options forged_options(const char *folder);

/* forged_use -- opens the database for reading, and then for writing, and uses it. */
void forged_use(const char *folder);

#endif
