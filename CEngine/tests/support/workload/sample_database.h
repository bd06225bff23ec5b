/*
 * support/workload/sample_database.h -- a fixture: a small database of fifty documents {_id, n}
 * and an index on n.
 */
#ifndef SUPPORT_SAMPLE_DATABASE_H
#define SUPPORT_SAMPLE_DATABASE_H

#include "tansu.h"

#include <stdbool.h>
#include <stdint.h>

/* sample_fill -- makes the index and saves the documents in the collection "c". */
void sample_fill(tansu_db *db);

/* sample_check -- they are there, by scan and by index. */
void sample_check(tansu_db *db);

/* sample_folder -- a closed database with the sample, in a folder for folder_end(). */
char *sample_folder(void);

/* sample_unclean -- the same as a killed process leaves it, with one document {_id: 1} more in
 * "late"; `checkpoint`: with index files. */
char *sample_unclean(bool checkpoint);

/* sample_checksum -- of the MANIFEST and the first log segment. */
uint64_t sample_checksum(const char *folder);

#endif
