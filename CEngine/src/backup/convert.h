/*
 * backup/convert.h -- encrypting the files of a database that was plain, and the reverse.
 */
#ifndef TANSU_BACKUP_CONVERT_H
#define TANSU_BACKUP_CONVERT_H

#include "backup/backup.h"

/* database_convert -- tansu_encrypt() and tansu_decrypt(): the database at `path`, which opens with
 * `from`, becomes one that opens with `to`; each without bytes: it is plain. `calls` and `hooks` as
 * in database_open(). */
tansu_status database_convert(const char *path, const user_key *from, const user_key *to,
                              const fs *calls, const query_hooks *hooks, task *progress,
                              tansu_error *error);

/* database_convert_clear -- removes what an interrupted call left beside the database at `path`, which
 * is open for writing with a key: perhaps its plain form. */
void database_convert_clear(const char *path, const fs *calls);

#endif
