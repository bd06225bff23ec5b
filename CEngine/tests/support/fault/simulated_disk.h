/*
 * support/fault/simulated_disk.h -- a disk that can lose power: file calls that keep, for every
 * file under one folder, both what a program has written (also through mappings) and what it has
 * forced to the disk, and that can make any state which a real disk may hold when the power fails
 * at that time:
 *
 *  - of each file's sectors of 512 bytes that were written since its last sync, none, all, a first
 *    or last part, or any selection; its size old or new; of pages that a failed sync has lost,
 *    what was there before, until they are written again;
 *  - of the names made, renamed and removed since the folder's last sync, a first part or any
 *    selection, in order.
 *
 * And, now and then, more than a disk may lose: the file of index blocks cut, gone or garbage,
 * unless the MANIFEST of that state calls it clean.
 *
 * One disk for the whole program; its calls may come from several threads.
 */
#ifndef SUPPORT_SIMULATED_DISK_H
#define SUPPORT_SIMULATED_DISK_H

#include "store/key_file.h"
#include "support/random/random.h"
#include "util/fs.h"

/* The calls, to open a database with in place of the operating system's. */
extern const fs simulated_disk_fs;

/* disk_start -- an empty disk for the database folder `root`, which does not exist or was made
 * by disk_lose_power(): then its files are on the disk. `before_call` (may be NULL) is called
 * before each call that changes something, by the thread that makes it. */
void disk_start(const char *root, void (*before_call)(void *context), void *context);

/* disk_set_keys -- the keys, at most two, one of which an encrypted database on the disk has: its
 * MANIFEST is authenticated, and is changed by disk_lose_power(). They are the caller's, until
 * disk_end(). */
void disk_set_keys(const user_key *keys, unsigned count);

/* disk_fail_sync -- the next sync of a file fails, as on Linux: of the pages that were to be
 * written some are not, and all count as written from then on. What programs read stays as it
 * is. False: takes that back; the result is whether the order was still waiting. */
bool disk_fail_sync(bool fail);

/* disk_lose_power -- writes one of the states that are possible now to the new folder `to`;
 * false when in that state there is no such folder. The disk itself goes on. MANIFEST and TAIL
 * there tell of another start of the machine, or of the same one and another mount of the file
 * system. */
bool disk_lose_power(random_source *source, const char *to);

/* disk_end -- frees everything. */
void disk_end(void);

#endif
