/*
 * support/fault/file_faults.h -- file calls that are counted, and of which a chosen kind fails: a
 * table for a database or a log in place of the operating system's. The state is shared by the
 * whole program.
 */
#ifndef SUPPORT_FILE_FAULTS_H
#define SUPPORT_FILE_FAULTS_H

#include "util/fs.h"

#include <stdatomic.h>

typedef struct file_faults {
    atomic_uint syncs;         /* calls of sync so far */
    atomic_uint syncs_failed;  /* those that were made to fail */
    atomic_uint folder_syncs;  /* calls of sync_folder so far */
    atomic_uint populate_most; /* bytes of the largest piece that was populated so far */
    atomic_int sync_errno;     /* not 0: every sync fails with it */
    atomic_int sync_wait_ms;   /* how long a sync takes */
    atomic_int allocate_errno; /* not 0: every allocate fails with it */
    atomic_int truncate_errno;
    atomic_int rename_errno;
    atomic_int open_errno; /* every open for writing */
} file_faults;

extern file_faults faults;

/* The calls. Those without an order are the operating system's. */
extern const fs file_faults_fs;

/* file_faults_reset -- no orders, all counts zero. */
void file_faults_reset(void);

#endif
