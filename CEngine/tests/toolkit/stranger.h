/*
 * toolkit/stranger.h -- another process that opens databases on request. It is started before any database is opened, so that it
 * shares nothing with this one: a child of fork() would know what its parent has open.
 */
#ifndef TOOLKIT_STRANGER_H
#define TOOLKIT_STRANGER_H

#include "tansu.h"

/* stranger_start -- once, at the beginning of main(). */
void stranger_start(void);

/* stranger_open -- the status of opening the database there; it is closed again. */
tansu_status stranger_open(const char *path, int read_only);

/* stranger_save -- the same, and of saving the JSON document in the collection "c" when it opened. */
tansu_status stranger_save(const char *path, const char *json);

/* stranger_end -- ends the process; a failed check when it did not live until then. */
void stranger_end(void);

#endif
