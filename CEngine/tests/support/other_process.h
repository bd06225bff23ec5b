/*
 * support/other_process.h -- opens databases in another process. The process starts before any
 * database is opened, so that it shares nothing with the test: a child of fork() would inherit
 * the descriptors of its parent's databases.
 */
#ifndef SUPPORT_OTHER_PROCESS_H
#define SUPPORT_OTHER_PROCESS_H

#include "tansu.h"

/* other_process_start -- once, at the beginning of main(). */
void other_process_start(void);

/* other_process_open -- the status of opening the database there; it is closed again. */
tansu_status other_process_open(const char *path, int read_only);

/* other_process_save -- the same, and of saving the JSON document in the collection "c" when it
 * opened. */
tansu_status other_process_save(const char *path, const char *json);

/* other_process_end -- ends the process; a failed check when it did not live until then. */
void other_process_end(void);

#endif
