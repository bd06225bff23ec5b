/*
 * store/name_check.h -- which names collections and indexes may have.
 */
#ifndef TANSU_STORE_NAME_CHECK_H
#define TANSU_STORE_NAME_CHECK_H

#include "tansu.h"

/* name_check -- whether a collection's or index's name is allowed: 1 to TANSU_MAX_NAME bytes of
 * UTF-8 without control characters, not beginning with `$`. `what` is "collection" or "index".
 * Errors: INVALID_NAME. */
tansu_status name_check(const char *name, const char *what, tansu_error *error);

#endif
