/*
 * support/fault/crashed_database.h -- databases as a process leaves them that ends without
 * closing them, and their files as docs/file-format.md describes them. Uses the public API only.
 */
#ifndef SUPPORT_CRASHED_DATABASE_H
#define SUPPORT_CRASHED_DATABASE_H

#include "tansu.h"

#include <stdbool.h>
#include <stdint.h>

/* left_behind -- a database, in a folder for folder_end(), of a process that ended without
 * closing it: documents {_id: 0, 1, 2, ..., pad} of 2 KiB in the collection "c", one a commit,
 * in segments of 1 MiB, with no checkpoint. `synced`: all of it was forced to the disk before
 * (by a sync for each hundred); otherwise none of it was. */
char *crashed_database(bool synced, int documents);

/* crashed_segment -- the path of the newest segment, or of the one this many before it; in
 * memory that lasts. */
const char *crashed_segment(const char *folder, unsigned before);

/* crashed_data_end -- where what is not zero ends in a file, rounded up to 8. */
uint64_t crashed_data_end(const char *path);

/* crashed_set_manifest -- gives a line of the MANIFEST another value, and the file its checksum. */
void crashed_set_manifest(const char *folder, const char *line, const char *value);

/* crashed_before_restart -- the MANIFEST names another start of the machine than this one. */
void crashed_before_restart(const char *folder);

/* crashed_checksum -- of MANIFEST and log: names and bytes. */
uint64_t crashed_checksum(const char *folder);

/* crashed_recovers_prefix -- the database opens and holds the first documents, `least` to `most`
 * of them, and no others; verify finds nothing, and it can be written to: checked. */
bool crashed_recovers_prefix(const char *folder, int least, int most);

#endif
