/*
 * toolkit/marks.h -- the file TAIL of a log, made to tell what it would after power loss.
 */
#ifndef TOOLKIT_MARKS_H
#define TOOLKIT_MARKS_H

#include <stdbool.h>
#include <stdint.h>

/* marks_read -- the numbers of the file in that folder of segments; false when it does not check out. */
bool marks_read(const char *log_folder, uint64_t *written, uint64_t *synced, uint64_t *state);

/* marks_move -- lets them tell of the page cache of that name (fs_cache_id()): with any other than the present
 * one they are from before a loss of power. Fine when the file is missing or does not check out. */
void marks_move(const char *log_folder, const char *cache);

/* marks_lose_power -- marks_move() to another start of the machine, whose marks of syncs, if `synced` is 0,
 * never reached the disk. */
void marks_lose_power(const char *log_folder, bool synced);

/* marks_say -- another state of syncs (enum tail_state). */
void marks_say(const char *log_folder, uint64_t state);

#endif
