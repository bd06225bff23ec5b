/*
 * support/fault/small_disk.h -- tests on a full disk: a file system of a few megabytes (a tmpfs in
 * a mount namespace of its own), and saves until it is full.
 */
#ifndef SUPPORT_SMALL_DISK_H
#define SUPPORT_SMALL_DISK_H

#include "tansu.h"

/* small_disk_run -- runs a test in a child process, with an empty folder on a file system of that
 * many MiB; 0: on the one of the temporary folders. Checks that fail in the child fail here. Skips
 * the test where no file system can be mounted. */
void small_disk_run(unsigned megabytes, void (*test)(const char *folder));

/* small_disk_fill -- saves documents {_id: from, n: from}, {_id: from + 1, ...} of 8 KiB in the
 * collection "c", one a commit, until one is rejected with *status. Returns the `_id` of that
 * one. */
int small_disk_fill(tansu_db *db, int from, tansu_status *status);

#endif
