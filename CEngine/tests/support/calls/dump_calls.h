/*
 * support/calls/dump_calls.h -- dumps in memory, and loads from there.
 */
#ifndef SUPPORT_DUMP_CALLS_H
#define SUPPORT_DUMP_CALLS_H

#include "tansu.h"

/* dump_all -- a checked dump of all collections, for tansu_buffer_free(). */
tansu_buffer dump_all(tansu_db *db);

/* load_bytes -- the status of tansu_load() of a text; call_error says what failed. */
tansu_status load_bytes(tansu_db *db, const void *text, size_t size, tansu_document options);

/* load_text -- the same; the options are JSON in which single quotes stand for double ones. */
tansu_status load_text(tansu_db *db, const void *text, size_t size, const char *options);

#endif
