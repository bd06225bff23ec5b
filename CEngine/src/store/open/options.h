/*
 * store/open/options.h -- the options of a database: their defaults and their limits.
 */
#ifndef TANSU_STORE_OPEN_OPTIONS_H
#define TANSU_STORE_OPEN_OPTIONS_H

#include "tansu.h"

/* options_set_defaults -- fills in every member. */
void options_set_defaults(tansu_options *options);

/* options_complete -- a whole struct: members that the caller's header did not have get their
 * defaults. Errors: INVALID_ARGUMENT. */
tansu_status options_complete(const tansu_options *given, tansu_options *whole, tansu_error *error);

/* options_check -- rejects settings of a whole struct that are invalid. Errors:
 * INVALID_ARGUMENT. */
tansu_status options_check(const tansu_options *options, tansu_error *error);

#endif
