/*
 * check/verify/verify_collection.h -- verifying a collection: its documents, its location table and
 * its indexes.
 */
#ifndef TANSU_CHECK_VERIFY_VERIFY_COLLECTION_H
#define TANSU_CHECK_VERIFY_VERIFY_COLLECTION_H

#include "check/verify/verify_state.h"

/* verify_collection -- checks one collection; verify_log() has run before. Errors: IO, MEMORY,
 * CANCELLED. */
tansu_status verify_collection(verification *c, const collection_state *state, tansu_error *error);

#endif
