/*
 * toolkit/left_behind.h -- databases as a process leaves them that ends in the middle of its work, and their files as
 * docs/file-format.md describes them. Uses the public API only.
 */
#ifndef TOOLKIT_LEFT_BEHIND_H
#define TOOLKIT_LEFT_BEHIND_H

#include "tansu.h"

#include <stdbool.h>
#include <stdint.h>

/* left_behind -- a database, in a folder for folder_end(), of a process that ended without closing it: documents {_id: 0, 1, 2, ...,
 * pad} of 2 KiB in the collection "c", one a commit, in segments of 1 MiB, with no checkpoint. `synced`: all of it was
 * forced to the disk before (by a sync for each hundred); otherwise none of it was. */
char *left_behind(bool synced, int documents);

/* left_segment -- the path of the newest segment, or of the one so many before it; in memory that lasts. */
const char *left_segment(const char *folder, unsigned before);

/* left_end -- where what is not zero ends in a file, rounded up to 8. */
uint64_t left_end(const char *path);

/* left_manifest -- gives a line of the MANIFEST another value, and the file its checksum. */
void left_manifest(const char *folder, const char *line, const char *value);

/* left_before_restart -- the MANIFEST tells of another start of the machine than this one. */
void left_before_restart(const char *folder);

/* left_checksum -- of MANIFEST and log: names and bytes. */
uint64_t left_checksum(const char *folder);

/* left_holds_first -- the database opens and holds the first documents, `least` to `most` of them, and no others; verify finds
 * nothing, and it can be written to: checked. */
bool left_holds_first(const char *folder, int least, int most);

#endif
