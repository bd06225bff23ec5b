/*
 * check/verify/verify.h -- verifying everything that an open database stores, as of one snapshot.
 */
#ifndef TANSU_CHECK_VERIFY_VERIFY_H
#define TANSU_CHECK_VERIFY_VERIFY_H

#include "store/database.h"

/* database_verify -- all of tansu_verify(); the caller has acquired a handle. */
tansu_status database_verify(database *db, tansu_progress progress, void *context,
                             tansu_buffer *report, tansu_error *error);

#endif
