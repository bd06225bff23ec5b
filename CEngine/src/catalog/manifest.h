/*
 * catalog/manifest.h -- the MANIFEST file: what a database is and what is sure about its files. Part
 * catalog.
 *
 * A few lines of text with a CRC, replaced as a whole (write new, sync, rename):
 *
 *   tansu 1 | 2
 *   uuid 32 hex digits
 *   index clean | open | damaged
 *   boot text
 *   end sequence
 *   crc 8 hex digits (of all before this line)
 */
#ifndef TANSU_CATALOG_MANIFEST_H
#define TANSU_CATALOG_MANIFEST_H

#include "catalog/database.h"

/* 1 as long as the log has never been compacted: earlier versions of the library can't read it then. */
#define MANIFEST_FORMAT 1u
#define MANIFEST_FORMAT_COMPACTED 2u

/* manifest_read -- Errors: NOT_FOUND, CORRUPT, VERSION, IO. */
tansu_status manifest_read(const fs *calls, const char *folder, manifest *m, tansu_error *error);

/* manifest_write -- replaces it. Errors: IO, FULL, READ_ONLY. */
tansu_status manifest_write(const fs *calls, const char *folder, const manifest *m,
                            tansu_error *error);

/* manifest_new -- a fresh one with a random uuid. Errors: IO (no source of random bytes). */
tansu_status manifest_new(manifest *m, tansu_error *error);

#endif
