/*
 * store/open/options.h -- the options of a database: their defaults and their limits.
 */
#ifndef TANSU_STORE_OPEN_OPTIONS_H
#define TANSU_STORE_OPEN_OPTIONS_H

#include "tansu.h"

/* options_set_defaults -- fills in every member. */
void options_set_defaults(tansu_options *options);

/* options_check -- rejects settings that are invalid. Errors: INVALID_ARGUMENT. */
tansu_status options_check(const tansu_options *options, tansu_error *error);

#endif
