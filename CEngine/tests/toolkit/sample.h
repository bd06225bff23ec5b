/*
 * toolkit/sample.h -- a small database that tests open, damage and look at: fifty documents {_id, n} and an
 * index over n.
 */
#ifndef TOOLKIT_SAMPLE_H
#define TOOLKIT_SAMPLE_H

#include "tansu.h"

#include <stdbool.h>
#include <stdint.h>

/* sample_fill -- makes the index and saves the documents in the collection "c". */
void sample_fill(tansu_db *db);

/* sample_check -- they are there, by scan and by index. */
void sample_check(tansu_db *db);

/* sample_folder -- a closed database with the sample, in a folder for folder_end(). */
char *sample_folder(void);

/* sample_unclean -- the same as a killed process leaves it, with one document {_id: 1} more in "late";
 * `checkpoint`: with index files. */
char *sample_unclean(bool checkpoint);

/* sample_checksum -- of the MANIFEST and the first log segment. */
uint64_t sample_checksum(const char *folder);

#endif
