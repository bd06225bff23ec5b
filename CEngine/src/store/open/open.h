/*
 * store/open/open.h -- what opening consists of, for a handle with several instances (instances.h).
 */
#ifndef TANSU_STORE_OPEN_OPEN_H
#define TANSU_STORE_OPEN_OPEN_H

#include "crypt/keyring.h"
#include "store/database.h"
#include "store/key_file.h"
#include "tansu.h"

/* database_new -- the struct with its mutexes, settings taken over. Errors: MEMORY. */
tansu_status database_new(const tansu_options *options, const fs *calls, database **result,
                          tansu_error *error);

/* open_concurrent -- opens the files while another process may write. *keys: those of an encrypted
 * database; NULL: they are read, with the key in the options, and belong to the caller, also after
 * an error. Errors: those of database_open(). */
tansu_status open_concurrent(const tansu_options *options, const fs *calls,
                             const query_hooks *hooks, keyring **keys, database **result,
                             tansu_error *error);

/* ---- The options of a database: their defaults and their limits ---- */

/* options_set_defaults -- fills in every member. */
void options_set_defaults(tansu_options *options);

/* options_complete -- a whole struct: members that the caller's header did not have get their
 * defaults. Errors: INVALID_ARGUMENT. */
tansu_status options_complete(const tansu_options *given, tansu_options *whole, tansu_error *error);

/* options_check -- rejects settings of a whole struct that are invalid. Errors:
 * INVALID_ARGUMENT. */
tansu_status options_check(const tansu_options *options, tansu_error *error);

/* options_key -- the key in the options. In the build that tests everything encrypted, one for those
 * that have none. */
user_key options_key(const tansu_options *options);

#endif
