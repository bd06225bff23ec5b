/*
 * store/open/open.h -- what opening consists of, for a handle with several states (states.h).
 */
#ifndef TANSU_STORE_OPEN_OPEN_H
#define TANSU_STORE_OPEN_OPEN_H

#include "store/database.h"

/* database_new -- the struct with its mutexes, settings taken over. Errors: MEMORY. */
tansu_status database_new(const tansu_options *options, const fs *calls, database **result,
                          tansu_error *error);

/* open_concurrent -- opens the files while another process may write. Errors: those of
 * database_open(). */
tansu_status open_concurrent(const tansu_options *options, const fs *calls,
                             const index_filter_calls *filters, database **result,
                             tansu_error *error);

#endif
