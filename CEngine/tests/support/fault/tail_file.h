/*
 * support/fault/tail_file.h -- reads and changes the file TAIL of a log, for example to what it
 * holds after power loss.
 */
#ifndef SUPPORT_TAIL_FILE_H
#define SUPPORT_TAIL_FILE_H

#include <stdbool.h>
#include <stdint.h>

/* tail_file_read -- the numbers of the file in that folder of segments; false when it does not
 * check out. */
bool tail_file_read(const char *log_folder, uint64_t *written, uint64_t *synced, uint64_t *state);

/* tail_file_set_cache -- lets them tell of the page cache of that name (fs_cache_id()): with any
 * other than the present one they are from before a loss of power. Fine when the file is missing
 * or does not check out. */
void tail_file_set_cache(const char *log_folder, const char *cache);

/* tail_file_lose_power -- tail_file_set_cache() to another start of the machine, whose marks of
 * syncs, if `synced` is 0, never reached the disk. */
void tail_file_lose_power(const char *log_folder, bool synced);

/* tail_file_set_state -- another state of syncs (enum tail_state). */
void tail_file_set_state(const char *log_folder, uint64_t state);

/* tail_file_set_written -- another last commit that was written. */
void tail_file_set_written(const char *log_folder, uint64_t written);

/* tail_file_resets -- how many writers rewrote the end of the log. */
uint64_t tail_file_resets(const char *log_folder);

/* tail_file_add_reset -- as a writer does that had to write the end of the log again. */
void tail_file_add_reset(const char *log_folder);

#endif
