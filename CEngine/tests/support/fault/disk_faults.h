/*
 * support/fault/disk_faults.h -- what disks do to the files of a closed database: blocks that were
 * written to another place, changed places, kept an older content or were never written, torn
 * sectors, flipped bits, segments that are cut, missing, or there twice.
 */
#ifndef SUPPORT_DISK_FAULTS_H
#define SUPPORT_DISK_FAULTS_H

#include "support/random/random.h"

#include <stdbool.h>

#define DISK_FAULTS_SEGMENTS 24

/* A database that is damaged, and what was done to it so far. */
typedef struct disk_faults {
    random_source *random;
    const char *folder;
    const char *earlier; /* the same database some commits before, and before compaction */
    bool manifest;       /* the MANIFEST is as it was */
    bool index;          /* the index files are as they were */
    char story[600];
} disk_faults;

/* disk_faults_make -- one fault at random. */
void disk_faults_make(disk_faults *f);

/* disk_faults_segments -- how many segments a folder has, and their numbers. */
unsigned disk_faults_segments(const char *folder, unsigned numbers[DISK_FAULTS_SEGMENTS]);

#endif
